kernel void k(global ulong *o)
{
    o[0] = clock_read_device();
}
