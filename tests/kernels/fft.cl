// Forward or inverse Fourier transforms of N = 4^a * 2^b complex numbers, one work-group of N / 4 each, in local memory.

#ifndef N
#define N 256
#endif
#ifndef DIRECTION
#define DIRECTION -1
#endif
#define ITEMS (N / 4)
#define SQRT1_2 0.70710678118654752440f

typedef float2 cpx;

#define cmul(a, b) ((cpx)(mad(-(a).y, (b).y, (a).x * (b).x), mad((a).y, (b).x, (a).x * (b).y)))
#define mul_i(a) ((cpx)(-(DIRECTION) * (a).y, (DIRECTION) * (a).x))   /* by i, or by -i forwards */
#define conjugate(a) ((cpx)((a).x, -(a).y))

inline cpx twiddle(int k, int of)
{
    float c, s;
    s = sincos(DIRECTION * 2.0f * M_PI_F * (float)k / (float)of, &c);
    return (cpx)(c, s);
}

#define FFT2(a, b) { cpx t_ = (a) - (b); a = (a) + (b); b = t_; }

inline void fft4(cpx *x0, cpx *x1, cpx *x2, cpx *x3)
{
    FFT2(*x0, *x2); FFT2(*x1, *x3);
    *x3 = mul_i(*x3);
    FFT2(*x0, *x1); FFT2(*x2, *x3);
    const cpx swap = *x1; *x1 = *x2, *x2 = swap;
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void fft(__global const cpx *restrict in, __global cpx *restrict out)
{
    __local cpx a[N], b[N];
    __local cpx *src = a, *dst = b;
    const int t = get_local_id(0);
    size_t batch = get_group_id(0);
    in += batch * N, out += batch * N;

    for (int i = t; i < N; i += ITEMS) src[i] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);

    int p = 1;
    for (; p * 4 <= N; p *= 4) {
        const int k = t & (p - 1), j = ((t - k) << 2) + k;
        cpx u0 = src[t], u1 = src[t + ITEMS], u2 = src[t + 2 * ITEMS], u3 = src[t + 3 * ITEMS];
        const cpx w = twiddle(k, 4 * p), w2 = cmul(w, w);
        u1 = cmul(u1, w);
        u2 = cmul(u2, w2);
        u3 = cmul(u3, cmul(w, w2));
        fft4(&u0, &u1, &u2, &u3);
        dst[j] = u0, dst[j + p] = u1, dst[j + 2 * p] = u2, dst[j + 3 * p] = u3;
        __local cpx *other = src; src = dst; dst = other;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (p < N) {            // N is no power of four: one pass of radix 2
        for (int i = t; i < N / 2; i += ITEMS) {
            const int k = i & (p - 1), j = ((i - k) << 1) + k;
            cpx u0 = src[i], u1 = cmul(src[i + N / 2], twiddle(k, 2 * p));
            FFT2(u0, u1);
            dst[j] = u0;
            dst[j + p] = u1;
        }
        __local cpx *other = src; src = dst; dst = other;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const float scale = DIRECTION > 0 ? 1.0f / N : 1.0f;
    for (int i = t; i < N; i += ITEMS) out[i] = src[i] * scale;
}
