"""Statements and functions, as lowered and optimised, against the device's own OpenCL C compiler."""

from __future__ import annotations

import numpy as np
import pytest
from differential import PLAIN_AND_OPTIMISED, Launch, compare

from coopmat.devices import DeviceInfo

ITEMS = 24
LOOPS = """
int collatz(uint n) { int steps = 0; while (n != 1) { n = n & 1 ? 3 * n + 1 : n >> 1; if (++steps == 200) break; }
    return steps; }
int triangle(int n) { int s = 0; for (int i = 0; i < n; ++i) for (int j = i; j < n; ++j) { if (j == 3) continue;
    s += i ^ j; } return s; }
int primes(int n) {
    int count = 0;
    for (int i = 2; i <= n; ++i) {
        bool prime = true;
        for (int j = 2; j * j <= i; ++j) if (i % j == 0) { prime = false; break; }
        if (!prime) continue;
        ++count;
    }
    return count;
}
int digits(int n) { int s = 0; do { s = s * 16 + n % 10; if (s > 5000) continue; n /= 10; } while (n && s < 10000);
    return s; }
int find(const global int *x, int n, int key) { for (int i = 0; i < n; i++) if (x[i] == key) return i; return -1; }
int gcd(int a, int b) { while (b) { int t = a % b; a = b; b = t; } return a < 0 ? -a : a; }
int comma(int n) { int a, b, c = 0; for (a = 0, b = n; a < b; a++, --b) c += (a, b) * 2; return c + a; }
int odd(int n) { int s = 0; for (;;) { if (!n) break; s += n--; if (s > 30) return -s; } for (; n < 5;) n += 2;
    while (0) s = 99; return s * n; }
int deep(int n) {
    int s = 0, i = 0;
    while (i < n) { int j = 0; do { for (int k = 0; k < 3; ++k) { if (k == j) break; s += k + i; } if (j == 2) break;
    j++; } while (true); i++; }
    return s;
}
float series(float x, int n) { float t = 1, s = 0; for (int i = 1; i <= n; ++i) { s = s + t; t = t * x;
    t = t / (float)i; } return s; }
kernel void k(global int *o, global float *f, const global int *x) {
    int i = get_global_id(0), n = x[i]; o += i * 16;
    o[0] = collatz(i + 1); o[1] = triangle(n & 15); o[2] = primes(n & 127); o[3] = digits(n & 0xffff);
    o[4] = find(x, 24, n + 1);
    o[5] = gcd(n, i + 6); o[6] = comma(n & 31); o[7] = odd(n & 15); o[8] = deep(n & 7); f[i] = series(n * 0.25f, 6);
    int s = 0; for (int j = 0; j < 24; j += 1 + (x[j] & 1)) { if (x[j] < 0) continue; if (s > 100) break; s += x[j];
    } o[9] = s;
    for (uint u = 3; u-- > 0;) o[10] += u * n; for (char c = 120; c > 0; c += 3) o[11]++; float y = 1;
    while (y < n) y *= 1.5f; o[12] = (int)y;
    __attribute__((opencl_unroll_hint(4))) for (int j = 0; j < 10; j++) o[13] += x[j] * j; { { int s = 5; o[14] = s;
    } } o[15] = s; ;
}
"""
SWITCHES = """
int fallthrough(int n) { int r = 0; switch (n) { case 0: r = 1; case 1: r += 10; break; case 5: case 6: r = 7;
    default: r += 100; case 9: r++; } return r; }
int middle(int n) { switch (n) { default: n = 50; break; case 3: return 33; case -2: n *= 2; } return n; }
int nested(int a, int b) {
    int r = 0;
    for (int i = 0; i < 4; ++i) {
        switch (a + i) {
        case 1: switch (b) { case 0: r += 1; break; case 1: continue; default: r += 5; } r += 10; break;
        case 2: if (b) { case 3: r += 100; } else break; r += 1000; continue;
        case 4: return r;
        }
        r += 10000;
    }
    return r;
}
int wide(long n, uchar c) { switch (n) { case 1L << 40: return 1; case -1: return 2; } switch (c) {
    case 255: return 3; case 'a': return 4; } return 5; }
enum kind { A, B = 7, C }; int kinds(enum kind k) { switch (k) { case A: return 10; case B: return 20;
    case C: return 30; } return 0; }
int duff(int n) { int s = 0, i = (n + 3) / 4; switch (n % 4) { case 0: do { s += 1; case 3: s += 10;
    case 2: s += 100; case 1: s += 1000; } while (--i > 0); } return s; }
int none(int n) { switch (n) { } switch (n) default: n++; switch (n) case 4: return 99; return n; }
int scopes(int n) { switch (n & 3) { int y; case 0: y = 4; n += y; break; case 1: { int z = n; y = z; } n += y;
    break; default: y = 1; for (;; y++) if (y > n) break; n = y; } return n; }
kernel void k(global int *o, const global int *x) {
    int i = get_global_id(0), n = i - 6; o += i * 16;
    o[0] = fallthrough(n); o[1] = middle(n); o[2] = nested(i % 5, i / 5); o[3] = wide(n == 1 ? 1L << 40 : n, n * 51);
    o[4] = kinds((enum kind)n);
    o[5] = duff(i + 1); o[6] = none(n); o[7] = scopes(x[i] & 15); switch (x[i] & 1) { case 1: o[8] = 5; break;
    case 0: o[8] = x[i]; }
}
"""
JUMPS = """
int again(int n) { int s = 0; again: s += n; if (--n > 0) goto again; return s; }
int escape(int n) { int s = 0; for (int i = 0; i < 9; ++i) for (int j = 0; j < 9; ++j) { s += i * j;
    if (i * j == n) goto done; } s = -s; done: return s; }
int inside(int n) { int s = 0; if (n & 1) goto middle; while (n > 0) { s += 100; middle: s += n; n -= 2; } return s; }
int forward(int n) { if (n > 3) goto large; n *= 10; goto end; large: n += 1; if (n & 1) goto end; n = -n;
    end: return n; }
int crossing(int n) { int i = 0, s = 0; a: if (i++ > n) goto c; if (i & 1) goto b; s += 2; goto a; b: s += i; goto a;
    c: return s; }
int dead(int n) { return n; n = 5; goto x; { x: n++; } return n; }
int declared(int n) { int i = 0, s = 0; top: { int fresh = i * n; s += fresh; } if (++i < 4) goto top; return s; }
int both(int n) { if (n > 2) { if (n > 5) return 1; else n = 7; } else if (n < 0) return 2; else { n--; } return n; }
void nothing(global int *p) { if (*p > 3) return; *p = 3; } void empty(void) {} int early(int n) { for (;;) {
    if (n > 5) return n; n++; } }
int many(int a, char b, uchar c, short d, float e, double f, long g, half h, bool k, float4 v) {
    return a + b + c + d + (int)e + (int)f + (int)g + (int)h + k + (int)v.w; }
static inline int fold(int n) { return n * 2; } int prototype(int, float); int uses(int n) {
    return prototype(n, 2.5f); } int prototype(int n, float f) { return (int)(n * f); }
int even_odd(int n, int m) { const int c = n; int r = c; { const int c = m; r += c * 10; } return r + c * 100; }
int effects(int n) { int a = n, b = a++ + 1, c = (a += 2, a * 2); a = b = c - a; int d[3] = {1, 2, 3}; int i = 0;
    d[i++] += 10; d[i] = i; return a * 1000 + b + c + d[0] + d[1] * i; }
int logic(int n) { int k = 0; if (n > 2 && ++k && n < 9 || (k += 10, n == 0)) k += 100;
    if (!(n & 1) || k++ > 200) k += 1000; bool b = n > 3; int c = b && n; return k + c * 10000 + (n && !b ? 7 : 0); }
int conditional(int n) { int a = 1, b = 2; *(n & 1 ? &a : &b) = 9;
    int r = n > 3 ? n > 6 ? a : b : (n < 0 ? -a : a++); return r * 10 + a; }
kernel void k(global int *o, const global int *x) {
    int i = get_global_id(0), n = i - 4; o += i * 32;
    o[0] = again(n); o[1] = escape(i); o[2] = inside(n); o[3] = forward(n); o[4] = crossing(n); o[5] = dead(n);
    o[6] = declared(n); o[7] = both(n);
    o[8] = n; nothing(o + 8); empty(); o[9] = early(n);
    o[10] = many(n, n * 50, n * 50, n * 20000, n * 1.5f, n / 4.0, (long)n << 3, (half)n, n, (float4)(n));
    o[11] = fold(n) + uses(n); o[12] = even_odd(n, 3); o[13] = effects(n); o[14] = logic(n); o[15] = conditional(n);
    int s = 0; if (n > 0) s = 1; else; if (n > 3) { if (n > 6) s += 2; } else s += 4; o[16] = s;
    if (n == 2) goto out; o[17] = 5; out: o[18] = x[i];
}
"""
# A barrier in a loop, reached by all.
UNIFORM = """
kernel void k(global int *o, const global int *x) {
    local int l[8]; int n = get_local_id(0), i = get_global_id(0), s = 0; l[n] = x[i];
    for (int step = 0; step < 4; ++step) {
        barrier(CLK_LOCAL_MEM_FENCE); int other = l[(n + step) & 7]; barrier(CLK_LOCAL_MEM_FENCE);
        switch (step) { case 1: l[n] += other; break; case 2: if (n & 1) { s += other; break; } s -= other;
        default: s ^= step; }
        if (get_group_id(0) == 1 && step == 2) break;
    }
    o[i] = s + l[n];
}
"""


@pytest.mark.parametrize(
    ("source", "columns"), [(SWITCHES, 16), (JUMPS, 32), (UNIFORM, 1)], ids=["switch", "goto", "barrier"]
)
def test_statements(device: DeviceInfo, source: str, columns: int) -> None:
    x = np.random.default_rng(1).integers(-99, 99, ITEMS).astype(np.int32)
    launch = Launch("k", [np.zeros(ITEMS * columns, np.int32), x], (ITEMS,), (8,))
    compare(device, source, [launch], PLAIN_AND_OPTIMISED)


def test_loops(device: DeviceInfo) -> None:
    x = np.random.default_rng(2).integers(-99, 99, ITEMS).astype(np.int32)
    arguments = [np.zeros(ITEMS * 16, np.int32), np.zeros(ITEMS, np.float32), x]
    compare(device, LOOPS, [Launch("k", arguments, (ITEMS,), ulps={1: 8.0})], PLAIN_AND_OPTIMISED)
