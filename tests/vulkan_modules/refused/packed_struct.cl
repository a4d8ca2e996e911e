typedef struct __attribute__((packed)) {
    char tag;
    int value;
} Item;

kernel void k(global Item *o, global int *a)
{
    a[0] = 3;
    o[1].value = 2;
}
