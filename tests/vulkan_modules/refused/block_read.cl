kernel void k(global uint *o, global const uint *a)
{
    o[get_global_id(0)] = intel_sub_group_block_read(a);
}
