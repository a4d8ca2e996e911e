// Overloads are chosen by the arguments' types; arguments are converted to the parameters'.
int twice(int x) { return 2 * x; }
kernel void k(global float4 *p, uint n)
{
    uint i = get_global_id(0);
    float4 v = p[i];
    v = fmax(v, 0.0f) + sqrt(v.x) + vload4(n, (global float *)p);
    p[twice(i)] = clamp(v, -1.0f, 1.0f);
    barrier(CLK_LOCAL_MEM_FENCE);
    p[0].x = convert_int_sat(v.x) + as_uint(v.y) + convert_char4(v).z + min(n, 3u);
}
