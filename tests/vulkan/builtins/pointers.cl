// Generic pointers, pointers to pointers' targets, casts, arithmetic, local arrays of several dimensions.
#define N 14

int sum(const int *p, int n)
{
    int total = 0;
    for (int k = 0; k < n; k++)
        total = total * 3 + p[k];
    return total;
}

void swap(uint *x, uint *y)
{
    const uint t = *x;
    *x = *y;
    *y = t;
}

uint first(const uchar *p)
{
    return p[0] | p[1] << 8 | p[3] << 16;
}

constant int squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};

kernel void test(global uint *o, global const uint *a)
{
    const size_t i = get_global_id(0), l = get_local_id(0);
    global uint *r = o + N * i;
    local int tile[4][16];
    local uint words[16];
    int own[5] = {1, 2, 3, (int)a[i], 5};
    for (int n = 0; n < 4; n++)
        tile[n][l] = (int)(a[i] >> n) + n;
    words[l] = a[i + 7];
    barrier(CLK_LOCAL_MEM_FENCE);
    r[0] = sum(own + 1, 4);
    r[1] = sum(tile[2] + 3, 9);
    r[2] = sum((const int *)(const global int *)a + i, 6);
    uint x = a[i], y = a[i + 1];
    swap(&x, &y);
    r[3] = x * 3u + y;
    r[4] = first((const uchar *)(own + 3)) + first((const uchar *)&words[(l + 1) & 15]) + first((const uchar *)(a + i));
    local int *p = &tile[0][0] + 5, *q = p + (a[i] & 31);
    r[5] = *q + (uint)(q - p);
    const int *z = a[i] & 1 ? own : own + 2;
    r[6] = z[1] + *z++ + z[1];
    r[7] = squares[a[i] & 7] + *(squares + (a[i + 1] & 7));
    global const ushort *h = (global const ushort *)(a + i) + 1;
    r[8] = h[0] + 3u * h[2] + (uint)((size_t)h & 2u);
    r[9] = (get_fence((const void *)own) != 0) + 2 * (to_global(r) == r) + 4 * (p < q + 1);
    global const uint *end = a + i + 8, *w = a + i;
    uint h2 = 0u;
    while (w != end)
        h2 = h2 * 5u + *w++;
    r[10] = h2;
    uint bytes = 0x04030201u;
    uchar *b = (uchar *)&bytes;
    b[a[i] & 3] = 0xaau;
    r[11] = bytes;
    ulong *wide = (ulong *)own;
    r[12] = sizeof(*wide) + (uint)(a + 3 - (a + 1));
    int matrix[3][3];
    for (int n = 0; n < 9; n++)
        matrix[n / 3][n % 3] = (int)a[i + n];
    int (*row)[3] = matrix + 1;
    r[13] = row[0][1] * 3 + row[1][a[i] % 3u] + row[-1][2];
}
