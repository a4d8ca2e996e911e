kernel void k(global int *o)
{
    o[0] = 1;
    printf("%d %s\n", o[0], "items");
}
