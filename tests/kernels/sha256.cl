// SHA-256 of messages of any length below 2^29 bytes; one work-item hashes one message.

__constant uint k[64] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
    0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
    0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
    0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u,
    0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
    0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
    0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u,
};

__constant uint H0[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19, };

#define rotr(x, n) rotate((uint)(x), (uint)(32 - (n)))
#ifdef BITSELECT
#define Ch(x, y, z) bitselect((z), (y), (x))
#define Maj(x, y, z) bitselect((x), (y), (z) ^ (x))
#else
#define Ch(x, y, z) ((z) ^ ((x) & ((y) ^ (z))))
#define Maj(x, y, z) (((x) & (y)) | ((z) & ((x) | (y))))
#endif
#define S0(x) (rotr(x, 2) ^ rotr(x, 13) ^ rotr(x, 22))
#define S1(x) (rotr(x, 6) ^ rotr(x, 11) ^ rotr(x, 25))
#define s0(x) (rotr(x, 7) ^ rotr(x, 18) ^ ((x) >> 3))
#define s1(x) (rotr(x, 17) ^ rotr(x, 19) ^ ((x) >> 10))
#define SWAP32(x) as_uint(as_uchar4(x).wzyx)

#define ROUND(a, b, c, d, e, f, g, h, i) do { \
        uint t1 = (h) + S1(e) + Ch(e, f, g) + k[i] + w[(i) & 15]; \
        (d) += t1; \
        (h) = t1 + S0(a) + Maj(a, b, c); \
    } while (0)

#define EXPAND(i) w[(i) & 15] += s1(w[((i) + 14) & 15]) + w[((i) + 9) & 15] + s0(w[((i) + 1) & 15])

static void sha256_block(uint *H, uint *w)
{
    uint A = H[0], B = H[1], C = H[2], D = H[3], E = H[4], F = H[5], G = H[6], I = H[7];

    #pragma unroll 1
    for (int i = 0; i < 64; i += 8) {
        if (i >= 16) {
            for (int j = i; j < i + 8; j++) { EXPAND(j); }
        }
        ROUND(A, B, C, D, E, F, G, I, i + 0); ROUND(I, A, B, C, D, E, F, G, i + 1);
        ROUND(G, I, A, B, C, D, E, F, i + 2); ROUND(F, G, I, A, B, C, D, E, i + 3);
        ROUND(E, F, G, I, A, B, C, D, i + 4); ROUND(D, E, F, G, I, A, B, C, i + 5);
        ROUND(C, D, E, F, G, I, A, B, i + 6); ROUND(B, C, D, E, F, G, I, A, i + 7);
    }
    H[0] += A; H[1] += B; H[2] += C; H[3] += D; H[4] += E; H[5] += F; H[6] += G; H[7] += I;
}

__kernel void sha256(__global const uchar *messages, __global const uint2 *where, __global uchar *digests)
{
    const uint id = get_global_id(0);
    const uint start = where[id].x, length = where[id].lo ? where[id].y : where[id].hi;
    __global const uchar *text = &messages[start];
    uint state[8], w[16];
    for (int i = 0; i < 8; ++i) state[i] = H0[i];

    uint done = 0;
    for (; done + 64 <= length; done += 64) {
        for (int i = 0; i < 16; i++)
            w[i] = SWAP32(as_uint(vload4(i, text + done)));
        sha256_block(state, w);
    }
    // The last one or two blocks: the rest, a one bit, zeros, the length in bits.
    const uint rest = length - done;
    union { uchar b[64]; uint w[16]; } last;
    for (uint i = 0; i < 64; i++)
        last.b[i] = i < rest ? text[done + i] : i == rest ? 0x80 : 0;
    #pragma unroll
    for (int i = 0; i < 16; i++) w[i] = SWAP32(last.w[i]);
    if (rest > 55) {
        sha256_block(state, w);
        for (int i = 0; i < 15; i++) w[i] = 0;
    }
    w[14] = length >> 29;
    w[15] = length << 3;
    sha256_block(state, w);
    for (int i = 0; i < 8; ++i)
        vstore4(as_uchar4(state[i]).s3210, i, digests + 32 * id);
}
