typedef struct __attribute__((packed)) {
    short a;
    short b;
} Pair;
typedef struct {
    char tag;
    Pair pair;
} Item;

kernel void k(global Item *o, int n)
{
    o[n].pair.b = 2;
}
