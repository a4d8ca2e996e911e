"""Programs for all devices: OpenCL C 1.2 without half, vectors of no more than 256 bits."""

from __future__ import annotations

import numpy as np
from differential import Launch, Local, Value, values

LANGUAGE = """
struct point { char tag; int2 at; union { float f; uint u; }; };
struct list { struct point items[3]; short count; } __attribute__((packed));
constant int table[] = { 3, -1, 4, -1, 5, 9 };
constant struct point origin = { 7, (int2)(1, -2), { 0.5f } };

static int sum(constant int *p, int n) { int s = 0; while (n--) s += *p++; return s; }
static long __attribute__((overloadable)) pick(int x) { return x; }
static long __attribute__((overloadable)) pick(ulong x) { return x * 2; }
static void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
static struct point moved(struct point p, int by) { p.at += by; p.tag ^= by; return p; }

kernel void integers(global const int *x, global const uint *y, global long *o)
{
    const size_t i = get_global_id(0);
    int a = x[i]; uint b = y[i]; char c = a; ushort d = b; ulong e = (ulong)a << 32 | b;
    o += i * 24;
    o[0] = a + c; o[1] = b - c; o[2] = (short)(a * 3u); o[3] = a / (c | 1); o[4] = b % (d + 1u); o[5] = e >> (b & 63);
    o[6] = a < b; o[7] = c < d; o[8] = -(char)-128 + ~d; o[9] = a >> 40 % 32; o[10] = (uchar)c << 9; o[11] = !b + !!c;
    o[12] = pick(c) + pick(e) + pick((short)d); c += a; d *= 3; o[13] = c; o[14] = d; o[15] = c++ + --d;
    o[16] = a ? b : -1; o[17] = (a, d) ^ c; o[18] = (bool)a + (bool)0.5f;
    o[19] = mul_hi(a, 123456789) + rotate(d, (ushort)3);
    o[20] = add_sat(c, (char)100); o[21] = clz(b) + popcount(e); o[22] = upsample((char)a, (uchar)b);
    o[23] = INT_MIN + LONG_MIN;
}

kernel void floats(global const float *x, global const int *y, global float *o, global double *p)
{
    const int i = get_global_id(0);
    float a = x[i], b = x[i + 1];
    o += i * 8; p += i * 4;
    o[0] = a * b; o[1] = a - y[i]; o[2] = fma(a, b, 0.1f); o[3] = (int)a; o[4] = convert_float(y[i]) / 3;
    o[5] = as_float(y[i] & 0x3fffffff); o[6] = fmin(a, b) + clamp(a, -1.0f, 1.0f); o[7] = y[i] > 3 ? a : 2;
    p[0] = a * 2.0; p[1] = y[i] * 0.1; p[2] = (double)a / b; p[3] = (float)(y[i] / 7.0);
}

kernel void vectors(global const int *x, global const float *y, global int *o, global float *p)
{
    const int i = get_global_id(0);
    int4 v = vload4(i, x), w = v.wzyx; float4 f = vload4(i, y), g = f * 2 + (float4)(f.s0, f.yx, 1);
    uchar4 c = convert_uchar4_sat(v); short8 s = (short8)(convert_short4(v), (short4)(i));
    w.even = v.odd; w.s1 += 3; g.xw = -g.wx; s.s7 = 5; s.lo ^= s.hi; v++;
    vstore4(v * w - (v > w) + select(v, w, f < g) + (v & 3 ? w : -v) + !v, i * 3, o);
    vstore4(convert_int4(c) + as_int4(g) + convert_int4(s.s0246), i * 3 + 1, o);
    vstore4(as_int4(convert_uint4(w)) << (v & 7), i * 3 + 2, o);
    vstore4(g - 0.5f, i, p);
    p[i * 4] += dot(f, g) + any(v < 0) + all(isequal(f, f)) + shuffle(f, (uint4)(3, 2, 1, 0)).z;
}

kernel void objects(global int *o, const struct point given, global struct list *lists)
{
    struct point a = { .tag = 3, .u = 9 }, b = origin, many[2] = { { 1 } };
    struct list l = { .items[1] = given, .count = -3 };
    int grid[2][3] = { { 1, 2 }, { [2] = 4 } }, x = 5, *px = &x, **ppx = &px, (*row)[3] = grid;
    swap(px, &grid[1][2]); (*ppx)++; row[1][0] += 8; (*row)[2] = row[1] - grid[0];
    many[1] = moved(a, 4); l.items[0] = x > 2 ? many[1] : b; l.items[2].at = moved(given, 2).at.yx;
    o[0] = x; o[1] = grid[1][2]; o[2] = grid[1][0]; o[3] = grid[0][2]; o[4] = b.u; o[5] = l.items[0].at.y;
    o[6] = l.items[0].tag;
    o[7] = l.items[1].at.x; o[8] = l.count; o[9] = l.items[2].at.y; o[10] = sizeof(struct list);
    o[11] = sum(table + 1, 5);
    o[12] = ((struct point){ 4, 6 }).at.y; o[13] = "hello"[1] + sizeof("hey"); o[14] = (char)given.tag;
    o[15] = many[0].tag;
    lists[get_global_id(0)] = l;
}

kernel void flow(global const int *x, global int *o, local int *t)
{
    const int i = get_local_id(0), n = get_local_size(0);
    local int last[2];
    int s = 0, max = 3;
    t[i] = x[i];
    if (i < 2) last[i] = x[i] * 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0, k = n - 1; j < n; j++, k--) {
        if (t[j] < 0) continue;
        if (t[k] > 90) break;
        s += t[j] * (k & 1 ? 1 : -1);
        switch (t[k] & 7) {
        case 0: s++;
        case 1: case 5: s += 2; break;
        case 2: { int s = 3; max += s; } break;
        default: if (s & 1) s ^= max; else goto next;
            max = s > max ? s : max;
        }
    next:;
    }
    do { s -= max; if (s < -1000) break; } while (s > max && max > 0);
    #pragma unroll
    for (int j = 0; j < 2; j++) s += last[j];
    atomic_add(&o[n], s); atomic_max(o + n + 1, i * 7 % 5);
    o[i] = s;
}
"""


def launches() -> list[Launch]:
    ints, floats = values("int", 40), np.random.default_rng(5).uniform(-9, 9, 33).astype(np.float32)
    small = np.random.default_rng(6).integers(-100, 100, 40, np.int32)
    fields = {"names": ["tag", "at", "u"], "formats": ["i1", "2i4", "f4"], "offsets": [0, 8, 16], "itemsize": 24}
    point_type = np.dtype(fields)
    point = np.array([(-5, (11, -12), 1.25)], point_type)
    lists = np.zeros(2, np.dtype([(f"item{i}", point_type) for i in range(3)] + [("count", "i2")]))
    return [
        Launch("integers", [ints, values("uint", 40, 2), np.zeros((32, 24), np.int64)], (32,)),
        Launch("floats", [floats, small, np.zeros((32, 8), np.float32), np.zeros((32, 4), np.float64)], (32,)),
        Launch("vectors", [ints, floats, np.zeros((8, 12), np.int32), np.zeros((8, 4), np.float32)], (8,)),
        Launch("objects", [np.zeros(16, np.int32), Value(point), lists], (2,)),
        Launch("flow", [small[:16].copy(), np.zeros(18, np.int32), Local(64)], (16,), (16,)),
    ]


MATRICES = """
#define MATRIX(T, R, C, USE) \\
    T __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, R, C, CLK_COOPERATIVE_MATRIX_##USE)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
typedef MATRIX(float, 4, 8, ACCUMULATOR) C;
struct pair { C first, second; };

C halved(C m)
{
    for (uint i = 0; i < coop_mat_length(C); i++)
        m[i] /= 2;
    return m;
}

void add_to(C *target, C m) { *target += m; }

SIZE kernel void program(global const char *a, global const uchar *b, global float *c, global int *d, global uint *e,
                         const uint n, const float f)
{
    MATRIX(char, 4, 6, A) x = coop_mat_load(a, ROW, n);
    MATRIX(uchar, 6, 8, B) y = coop_mat_load_checked(b, COLUMN, 6, 1, 2, 5, 9);
    MATRIX(int, 4, 8, ACCUMULATOR) z = coop_mat_mulAdd(x, y, (MATRIX(int, 4, 8, ACCUMULATOR))coop_mat_init(3));
    coop_mat_store(d, z, ROW, 8);
    struct pair p = { coop_mat_load(c, ROW, 8), coop_mat_init(1) };
    C *which = n ? &p.first : &p.second;
    *which = halved(p.first - p.second) * 0.5f + -p.second;
    add_to(&p.second, *which);
    for (uint i = 0; i < coop_mat_length(C); i++) {
        uint2 at = coop_mat_coord(p.first, i);
        if (at.x < 4 && at.y < 8)
            e[at.x * 8 + at.y] = at.x * 100 + at.y;
    }
    bfloat16 narrow = f;
    MATRIX(bfloat16, 4, 8, ACCUMULATOR) m = coop_mat_init(narrow);
    p.second += (C)m * (C)z;
    coop_mat_store_checked(c, p.second, ROW, 8, 0, 0, 4, 7);
}

typedef MATRIX(int, 4, 4, ACCUMULATOR) I;

SIZE kernel void operators(global const int *x, global const char *y, global int *o, global float *f, local int *tile)
{
    I a = coop_mat_load((global const int4 *)x, ROW, 1), b = coop_mat_load(x + 16, COLUMN, 5), many[2], r;
    coop_mat_store(o, a + b, ROW, 4);
    coop_mat_store(o + 16, a - b, COLUMN, 4);
    coop_mat_store(o + 32, a * b, ROW, 4);
    coop_mat_store(o + 48, a / b, ROW, 4);
    coop_mat_store(o + 64, -a, ROW, 4);
    coop_mat_store(o + 80, 3 * a * 5, ROW, 4);
    r = a; r += b; r -= a * 2; r *= b; r /= b; r *= 7;
    many[1] = r; many[0] = b; r = x[0] > 0 ? many[1] : many[0];
    coop_mat_store((global int4 *)(o + 96), r, ROW, 1);
    coop_mat_store(tile + get_sub_group_id() * 16, r, COLUMN, 4);
    I back = coop_mat_load(tile + get_sub_group_id() * 16, COLUMN, 4);
    coop_mat_store(o + 112, back + coop_mat_init(1), ROW, 4);
    MATRIX(char, 4, 8, A) p = coop_mat_load(y, COLUMN, 4);
    MATRIX(char, 8, 4, B) q = coop_mat_load(y + 32, CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED, 16);
    coop_mat_store(o + 128, coop_mat_mulAdd(p, q, a, CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_A_SIGNED
        | CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_B_SIGNED | CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_C_SIGNED
        | CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_RESULT_SIGNED
        | CLK_COOPERATIVE_MATRIX_OPERAND_SATURATING_ACCUMULATION), ROW, 4);
    MATRIX(float, 4, 4, ACCUMULATOR) g = coop_mat_convert(a * b), h = (MATRIX(float, 4, 4, ACCUMULATOR))b;
    coop_mat_store(f, g - h * 0.25f, ROW, 4);
    I whole = coop_mat_convert_sat_rtn(g * 4096.0f - h * 0.5f * h);
    coop_mat_store(o + 144, whole, ROW, 4);
}
"""


def bfloat16(value: float) -> np.float32:
    """Rounded to nearest even."""
    bits = int(np.float32(value).view(np.uint32))
    return np.array((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16, np.uint32).view(np.float32)[()]


def matrix_launch(local_size: int) -> tuple[Launch, dict[int, np.ndarray]]:
    """The launch, and what must come out by argument."""
    random = np.random.default_rng(7)
    a, b = random.integers(-128, 128, (4, 6)).astype(np.int8), random.integers(0, 256, (9, 6)).astype(np.uint8)
    c = random.integers(-64, 64, (4, 8)).astype(np.float32)
    tile = np.zeros((6, 8), np.int64)
    # From row 1 and column 2 of a 5 x 9 matrix, whose columns lie in rows of b.
    inside = b.T[:5].astype(np.int64)[1:, 2:]
    tile[: inside.shape[0], : inside.shape[1]] = inside
    z = a.astype(np.int64) @ tile + 3
    second = 1 + (c - 1) / 2 * 0.5 - 1
    second += bfloat16(-1.2345) * z
    result = c.copy()
    result[:, :7] = second[:, :7]
    coordinates = np.add.outer(np.arange(4) * 100, np.arange(8)).astype(np.uint32)
    arguments = [a, b, c, np.zeros((4, 8), np.int32), np.zeros((4, 8), np.uint32), Value(np.array(6, np.uint32))]
    arguments.append(Value(np.array(-1.2345, np.float32)))
    return Launch("program", arguments, (local_size,), (local_size,)), {
        2: result,
        3: z.astype(np.int32),
        4: coordinates,
    }


def operators_launch(local_size: int) -> tuple[Launch, dict[int, np.ndarray]]:
    """The launch of the kernel of that name, and what must come out by argument."""
    random = np.random.default_rng(8)
    x = random.integers(-1000, 1000, 36).astype(np.int32)
    x[0] = 5
    x[x == 0] = 1
    y = random.integers(-128, 128, 64).astype(np.int8)
    a, b = x[:16].reshape(4, 4), x[16:].reshape(4, 5)[:, :4].T
    r = (b - a) * 7
    p, q = y[:32].reshape(8, 4).T.astype(np.int32), y[32:].reshape(2, 4, 4).transpose(0, 2, 1).reshape(8, 4)
    g, h = (a * b).astype(np.float32), b.astype(np.float32)
    large = np.floor(g * np.float32(4096) - h / 2 * h).astype(np.float64)
    whole = np.clip(large, -(2**31), 2**31 - 1).astype(np.int32)
    results = [a + b, (a - b).T, a * b, np.trunc(a / b), -a, a * 15, r, r + 1, p @ q.astype(np.int32) + a, whole]
    o = np.concatenate([part.astype(np.int32).ravel() for part in results])
    arguments = [x, y, np.zeros(160, np.int32), np.zeros((4, 4), np.float32), Local(64 * local_size)]
    return Launch("operators", arguments, (local_size,), (local_size,)), {2: o, 3: g - h * np.float32(0.25)}
