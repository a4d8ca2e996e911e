// Declarators read outwards: modifiers list what is applied to the name, nearest first.
constant int table[2][3] = { 0 };
constant char *constant names[1] = { "a" };
int *first(int *const p, int (*rows)[3], const int n[4]);
int *first(int *const p, int (*rows)[3], const int n[4]) { return p + rows[0][1] + n[2]; }
