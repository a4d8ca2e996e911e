// Copies a batch of matrices between any strides, which are in components and may be negative. One work-item copies one
// component.
kernel void copy(const global TYPE *from, global TYPE *to, long offset_from, long batch_from, long down_from,
                 long right_from, long offset_to, long batch_to, long down_to, long right_to)
{
    const long item = get_global_id(2), row = get_global_id(1), column = get_global_id(0);
    to[offset_to + item * batch_to + row * down_to + column * right_to] =
        from[offset_from + item * batch_from + row * down_from + column * right_from];
}
