// Swizzles write their components only; comparisons are sign extended; a select by the sign bit.
kernel void k(global float4 *p, global int4 *q, float s)
{
    float4 v = p[0];
    v.zx = p[1].xy * s;
    q[0] = v < p[2] ? q[1] : -q[2];
    p[3] = (float4)(v.hi, 1, v.y);
}
