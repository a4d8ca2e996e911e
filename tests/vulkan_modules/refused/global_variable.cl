global int count = 3;

kernel void k(global int *o)
{
    o[0] = count++;
}
