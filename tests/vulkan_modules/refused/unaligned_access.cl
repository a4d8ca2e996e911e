typedef struct __attribute__((packed)) {
    int value;
} Item;

kernel void k(global int *o, global const char *bytes)
{
    o[0] = 2;
    o[1] = ((global const Item *)(bytes + o[2]))->value;
}
