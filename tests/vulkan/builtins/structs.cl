// Structs and unions: by value, nested, returned by functions, copied whole, in all address spaces.
#define N 12

typedef struct {
    char tag;
    short pair[3];
    float4 vector;
} Inner;

typedef struct {
    Inner inner[2];
    long count;
    union {
        float f;
        uint u;
        uchar bytes[4];
    } bits;
    double last;
} Outer;

constant Outer table[2] = {
    {{{1, {2, 3, 4}, (float4)(5.0f)}, {6, {7, 8, 9}, (float4)(1.5f, 2.5f, 3.5f, 4.5f)}}, 10, {2.0f}, 0.5},
    {{{-1, {-2, -3, -4}, (float4)(-5.0f)}, {-6, {-7, -8, -9}, (float4)(8.0f)}}, -10, {-2.0f}, -0.5},
};

Outer changed(Outer x, int n)
{
    x.inner[n & 1].pair[n % 3] += (short)n;
    x.inner[0].vector.y = n;
    x.count *= n;
    x.bits.bytes[n & 3] = (uchar)n;
    return x;
}

uint hash(const Outer *x)
{
    uint h = (uint)x->count + x->bits.u + (uint)(int)(x->last * 16.0);
    for (int n = 0; n < 2; n++) {
        h = h * 31u + x->inner[n].tag + as_uint(x->inner[n].vector.y) + as_uint(x->inner[n].vector.w);
        for (int k = 0; k < 3; k++)
            h = h * 7u + x->inner[n].pair[k];
    }
    return h;
}

kernel void test(global uint *o, global const uint *a)
{
    const size_t i = get_global_id(0);
    local Outer shared[16];
    Outer x = table[a[i] & 1], y = x, list[3];
    const int n = a[i + 64] & 0xffff;
    x = changed(x, n);
    shared[get_local_id(0)] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    const Outer z = shared[15 - get_local_id(0)];
    list[n % 3] = y;
    list[(n + 1) % 3] = z;
    list[(n + 2) % 3] = changed(z, n + 1);
    o[N * i] = hash(&x);
    o[N * i + 1] = hash(&y);
    o[N * i + 2] = hash(&z);
    for (int k = 0; k < 3; k++)
        o[N * i + 3 + k] = hash(&list[k]);
    o[N * i + 6] = sizeof(Outer) + 1000u * sizeof(Inner);
    x.bits.f = as_float(a[i] & 0x3fffffffu);
    o[N * i + 7] = x.bits.u + x.bits.bytes[1];
    const Inner *p = &list[n & 1].inner[1];
    o[N * i + 8] = p->pair[2] + (uint)p->vector.z;
    o[N * i + 9] = as_uint(table[n & 1].inner[n >> 1 & 1].vector.x);
    o[N * i + 10] = (uint)((char *)&x.count - (char *)&x);
    o[N * i + 11] = (uint)shared[n & 15].count;
}
