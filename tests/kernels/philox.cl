// Random numbers by counters (Philox 4x32 of ten rounds), as integers, uniform and normal floats.

typedef struct { uint4 v; } philox_ctr_t;
typedef struct { uint2 v; } philox_key_t;
typedef union { uint4 vec; uint s[4]; ulong2 wide; } philox_out;

#define MULTIPLIER_0 ((uint)0xD2511F53)
#define MULTIPLIER_1 ((uint)0xCD9E8D57)
#define WEYL (uint2)(0x9E3779B9u, 0xBB67AE85u)
#ifdef WIDE
#define MULHILO(a, b, hi, lo) { const ulong p_ = (ulong)(a) * (b); hi = p_ >> 32; lo = (uint)p_; }
#else
#define MULHILO(a, b, hi, lo) { hi = mul_hi((uint)(a), (uint)(b)); lo = (a) * (b); }
#endif

static inline void philox_round(philox_ctr_t *ctr, const philox_key_t *key)
{
    uint hi0, lo0, hi1, lo1;
    MULHILO(MULTIPLIER_0, ctr->v.x, hi0, lo0);
    MULHILO(MULTIPLIER_1, ctr->v.z, hi1, lo1)
    ctr->v = (uint4)(hi1 ^ ctr->v.y ^ key->v.x, lo1, hi0 ^ ctr->v.w ^ key->v.y, lo0);
}

philox_out philox4x32(philox_ctr_t ctr, philox_key_t key)
{
    for (int round = 0; round < 10; ++round, key.v += WEYL)
        philox_round(&ctr, &key);
    return (philox_out){ .vec = ctr.v };
}

float4 to_uniform(uint4 x) { return (convert_float4(x >> 8) + 0.5f) * 0x1p-24f; }

float4 box_muller(float4 u)
{
    const float2 radius = sqrt(-2.0f * log(u.even)), angle = 2.0f * M_PI_F * u.odd;
    return (float4)(radius * cos(angle), radius * sin(angle)).xzyw;
}

// splitmix of 64 bits makes keys out of a seed
ulong splitmix(ulong *state)
{
    ulong z = (*state += 0x9E3779B97F4A7C15ul);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9UL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBuL;
    return z ^ z >> 31;
}

__kernel void generate(ulong seed, __global uint4 *bits, __global float4 *uniform, __global float4 *normal,
                       __global ulong2 *products)
{
    const size_t id = get_global_id(0);
    ulong state = seed;
    philox_key_t key = { as_uint2(splitmix(&state)) };
    philox_ctr_t ctr = { { (uint)id, (uint)(id >> 32), 0, 0 } };
    philox_out out = philox4x32(ctr, key);
    bits[id] = out.vec;
    const float4 u = to_uniform(out.vec);
    uniform[id] = u;
    normal[id] = box_muller(u);
    products[id] = mul_hi(out.wide, (ulong2)(state, ~state));
}
