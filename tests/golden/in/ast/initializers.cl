// Braces, designators and strings; `{ }` is allowed.
struct point { int x, y; };
constant int a[4] = { 1, [2] = 3, 4, };
constant struct point p = { .y = 1 };
constant struct point q[] = { { 1, 2 }, { } };
constant char s[] = "ab" "\n";
