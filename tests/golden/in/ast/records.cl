// Records, enumerations, and attributes where they stand.
enum colour { RED, GREEN = 3, BLUE };
struct __attribute__((packed)) pair { char a; int b[2], *c; } __attribute__((aligned(8)));
typedef union { int i; float f; } bits;
struct pair *next(struct pair *p, enum colour c) { bits u = { .f = 1 }; p->b[c] = u.i; return p + 1; }
