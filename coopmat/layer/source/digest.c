/* BLAKE2b (RFC 7693) with a 256-bit digest and no key, which the cache uses for the names and contents of entries. */
#include "layer.h"

#include <string.h>

enum { BLOCK = 128, ROUNDS = 12 };

/* The initialisation vector, section 2.6. */
static const uint64_t initial[8] = { 0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179 };

/* The message schedule, section 2.7; rounds 10 and 11 repeat rounds 0 and 1. */
static const unsigned char order[10][16] = {
    { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
    { 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
    { 11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4 },
    { 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8 },
    { 9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13 },
    { 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9 },
    { 12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11 },
    { 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10 },
    { 6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5 },
    { 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0 },
};

static uint64_t rotated(uint64_t x, int count) { return x >> count | x << (64 - count); }

static void mix(uint64_t *v, int a, int b, int c, int d, uint64_t x, uint64_t y)
{
    v[a] += v[b] + x;
    v[d] = rotated(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = rotated(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = rotated(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = rotated(v[b] ^ v[c], 63);
}

static void compress(digest *d, bool is_last)
{
    uint64_t m[16] = { 0 }, v[16];
    for (int i = 0; i < BLOCK; i++)
        m[i / 8] |= (uint64_t)d->block[i] << 8 * (i % 8);
    memcpy(v, d->state, sizeof d->state);
    memcpy(v + 8, initial, sizeof initial);
    v[12] ^= d->count;
    v[14] ^= is_last ? UINT64_MAX : 0;
    for (int round = 0; round < ROUNDS; round++) {
        const unsigned char *s = order[round % 10];
        for (int i = 0; i < 4; i++)
            mix(v, i, 4 + i, 8 + i, 12 + i, m[s[2 * i]], m[s[2 * i + 1]]);
        for (int i = 0; i < 4; i++)
            mix(v, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
    }
    for (int i = 0; i < 8; i++)
        d->state[i] ^= v[i] ^ v[8 + i];
}

void digest_begin(digest *d)
{
    memset(d, 0, sizeof *d);
    memcpy(d->state, initial, sizeof initial);
    d->state[0] ^= 0x01010000 ^ DIGEST_SIZE;
}

void digest_add(digest *d, const void *data, size_t size)
{
    for (const unsigned char *at = data; size;) {
        /* A full block is compressed only when more data follows: the last block is compressed with another flag. */
        if (d->filled == BLOCK) {
            d->count += BLOCK;
            compress(d, false);
            d->filled = 0;
        }
        size_t part = BLOCK - d->filled < size ? BLOCK - d->filled : size;
        memcpy(d->block + d->filled, at, part);
        d->filled += part;
        at += part;
        size -= part;
    }
}

void digest_end(digest *d, unsigned char result[DIGEST_SIZE])
{
    d->count += d->filled;
    memset(d->block + d->filled, 0, BLOCK - d->filled);
    compress(d, true);
    for (int i = 0; i < DIGEST_SIZE; i++)
        result[i] = (unsigned char)(d->state[i / 8] >> 8 * (i % 8));
}
