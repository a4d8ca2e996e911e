"""Objects in memory: pointers, arrays, records, address spaces, parameters; against the device's own compiler."""

from __future__ import annotations

import numpy as np
import pytest
from differential import NUMPY, PLAIN_AND_OPTIMISED, Launch, Local, Value, compare, values

from coopmat.devices import DeviceInfo

ITEMS = 16


def ints(count: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(-50, 50, count).astype(np.int32)


POINTERS = """
constant int table[4] = {10, 20, 30, 40};
constant int *constant second = table + 1;
void bump(int *p, int by) { *p += by; p[1] -= by; }
void bump_global(global int *p) { ++*p; }
int sum(constant int *p, int n) { int s = 0; while (n--) s += *p++; return s; }
int *later(int *p, int n) { return p + n; }
void swap(int **a, int **b) { int *t = *a; *a = *b; *b = t; }
kernel void k(global int *o, const global int *x, local int *l, constant int *c) {
    int i = get_global_id(0), n = get_local_id(0), a[6] = {1, 2, 3};
    global int *g = o + i * 32; local int *m = l + n * 2;
    bump(a + (i & 3), x[i]); bump(&a[1], 3); int *p = &a[4]; *p-- = 7; *--p += 5; p -= 2; p[-1 + 2] ^= 9;
    g[0] = a[0]; g[1] = a[1]; g[2] = a[2]; g[3] = a[3]; g[4] = a[4]; g[5] = a[5]; g[6] = p - a; g[7] = &a[5] - p;
    const global int *q = x + i; int *later2 = later(a, 2); g[8] = *q + q[1] * *(q + 2) + 1[q]; g[9] = *later2;
    int u = 1, v = 2, *pu = &u, *pv = &v; swap(&pu, &pv); *pu = 9; g[10] = u * 10 + v; g[11] = pu == &v && pv != pu;
    g[12] = p < a + 3; g[13] = !p + (p ? 4 : 8); bump_global(g + 12); g[14] = sum(table, 4) + sum(c, 3) + second[1];
    m[0] = x[i]; m[1] = -x[i]; barrier(CLK_LOCAL_MEM_FENCE); g[15] = l[(n * 2 + 3) % 16]; g[16] = *(m + 1);
    global char *bytes = (global char *)(x + i); g[17] = bytes[0] + bytes[3] * 2; g[18] = *(global short *)(bytes + 2);
    global const float *f = (global const float *)q; g[19] = as_int(f[0]); ulong address = (ulong)q;
    g[20] = address & 3;
    g[21] = (int)((global int *)(address + 4) - x) - i; int2 *w = (int2 *)&a[2]; int2 pair = {a[2], a[3]};
    g[22] = pair.y;
    int (*rows)[3] = (int (*)[3])a; g[23] = rows[1][2] + (*rows)[1] + sizeof(*rows); void *any = a;
    g[24] = ((int *)any)[1];
    bool null = (global int *)0 == 0; g[25] = null; *(g + 26) = *&a[0]; (*(g + 27))++; (*&g[28])--;
    int *const fixed = a; *fixed = 3; const int *volatile vp = a; g[29] = *vp + (0 ? *vp : 1);
    g[30] = (i & 1 ? a : &a[2])[1];
    restrict_free: g[31] = c[i & 3] - table[i & 3];
}
"""


def test_pointers(device: DeviceInfo) -> None:
    arguments = [ints(ITEMS * 32), ints(ITEMS + 4, 2), Local(64), ints(4, 3)]
    compare(device, POINTERS, [Launch("k", arguments, (ITEMS,), (8,))], PLAIN_AND_OPTIMISED)


ARRAYS = """
constant float weights[2][3] = {{1.5f, 2.5f}, {3.5f, 4.5f, 5.5f}};
constant uchar4 colors[] = {(uchar4)(1, 2, 3, 4), (uchar4)(5), (uchar4)(6, 7, 8, 9)};
constant char name[] = "kernel"; constant long wide[3] = {[1] = -5, [2] = 1L << 40};
constant int cube[2][2][2] = {1, 2, 3, 4, {5, 6, 7}}; constant half halves[2] = {0.5h, -2.0h};
constant double limits[] = {1e300, -0.0, 1.0 / 3}; constant float3 points[2] = {(float3)(1, 2, 3), (float3)(4, 5, 6)};
constant bool flags[3] = {1, 0, 5}; constant float lone = 2.25f * 2; constant int4 whole = (int4)(1, 2, 3, 4);
int trace(int m[3][3]) { int s = 0; for (int i = 0; i < 3; ++i) { s += m[i][i]; m[i][i] = 0; } return s; }
int third(constant int (*p)[2], int i) { return p[i][1] + (*p)[0] + p[0][i]; }
kernel void k(global float *f, global int *o, global double *d, const global int *x) {
    int i = get_global_id(0); o += i * 32; f += i * 8;
    f[0] = weights[i & 1][i % 3]; f[1] = weights[0][2] + lone + halves[i & 1]; vstore3(points[i & 1], 1, f);
    f[7] = points[1].y;
    o[0] = colors[i % 3].z + sizeof(colors); o[1] = name[i % 7] + sizeof name; o[2] = (int)(wide[i % 3] >> 3);
    o[3] = cube[i & 1][i >> 1 & 1][i >> 2 & 1]; o[4] = third(cube[1], i & 1); o[5] = flags[i % 3]; o[6] = whole.w;
    d[i] = limits[i % 3];
    int m[3][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, x[i]}}; o[7] = trace(m); o[8] = m[2][2] + m[1][0];
    m[i % 3][(i + 1) % 3] = 99;
    for (int j = 0; j < 9; ++j) o[9 + j] = m[j / 3][j % 3]; int *flat = m[1]; o[18] = flat[4] + *m[0] + **m;
    int big[40] = {1, [10] = 5, 6, [39] = 7}; big[i] += x[i]; o[19] = big[10] + big[11] * 10 + big[39] + big[i];
    o[20] = big[i + 5];
    float4 v[2] = {(float4)(1), (float4)(i)}; v[i & 1].z = 5; o[21] = (int)(v[0].z + v[1].z * 10 + v[1].x);
    char text[8] = "abc"; text[i & 3] += 1; o[22] = text[0] + text[1] * 2 + text[2] * 3 + text[7];
    uchar raw[3] = {255, 256 + 2};
    o[23] = raw[0] + raw[1] + raw[2]; long l[2][2] = {{x[i]}}; l[1][1] = l[0][0] * l[0][0];
    o[24] = (int)(l[1][1] - l[1][0]);
    bool b[4] = {true, x[i] > 0}; b[2] = x[i]; o[25] = b[0] + b[1] * 2 + b[2] * 4 + b[3] * 8;
    half h[2] = {1.5h, (half)x[i]}; h[0] += h[1]; o[26] = (int)h[0]; int3 t[2] = {(int3)(1, 2, 3)}; t[1] = t[0].zyx;
    o[27] = t[1].x;
    int zero[5] = {0}; o[28] = zero[i % 5]; o[29] = (int[]){4, 5, 6}[i % 3]; int n[] = {1, 2, 3, 4, 5};
    o[30] = sizeof n / sizeof *n;
    o[31] = ((int[2][2]){{1, 2}, {3, 4}})[1][i & 1];
}
"""


def test_arrays_and_constant_tables(device: DeviceInfo) -> None:
    arguments = [np.zeros(ITEMS * 8, np.float32), np.zeros(ITEMS * 32, np.int32), np.zeros(ITEMS), ints(ITEMS)]
    compare(device, ARRAYS, [Launch("k", arguments, (ITEMS,))], PLAIN_AND_OPTIMISED)


RECORDS = """
typedef struct { char c; short s; int i; long l; } Padded;
typedef struct { float3 v; uchar tail; } Vectors;
typedef union { uint u; float f; uchar b[4]; ushort2 h; } Bits;
typedef struct node { int key; struct { Bits bits; Padded list[2]; } inner; Vectors v; } Node;
struct __attribute__((packed)) Tight { char c; int i; double d; };
typedef struct { int x __attribute__((aligned(16))); char y; } Aligned;
typedef struct { int m[3][2]; } Matrix; typedef enum { LOW = -1, HIGH = 7 } Level; typedef struct { Level level;
    bool on; half h; } Flags;
union { struct { int a, b; } pair; long both; };
constant Padded defaults = {1, -2, 3, 4};
    constant Node tree[2] = {{1, {{0x3f800000}, {{1, 2, 3, 4}}}, {(float3)(1, 2, 3), 9}}, {.key = 2}};
constant Bits one = {.f = 1.5f}; constant Matrix identity = {{{1, 0}, {0, 1}, {5}}};
Padded make(int x) { Padded p = {(char)x, x, .l = x * 2}; return p; }
Padded change(Padded p) { p.i += 100; p.l = p.s; return p; }
long total(Padded p) { p.c++; return p.c + p.s + p.i + p.l; }
Node grow(Node n, int by) { n.key += by; n.inner.list[by & 1] = make(by); n.v.v.y += by; return n; }
Bits pun(float f) { Bits b; b.f = f; return b; }
void fill(Padded *p, int n) { for (int i = 0; i < n; ++i, ++p) { p->c = i; p->l = -i; (*p).s = p->c + 1; p->i = n; } }
Matrix transposed(Matrix m) { Matrix r = m; for (int i = 0; i < 2; ++i) for (int j = 0; j < 2;
    ++j) r.m[i][j] = m.m[j][i]; return r; }
int read(global Node *n) { return n->key + n->inner.list[1].i; } Vectors scaled(Vectors v, float s) { v.v *= s;
    return v; }
kernel void k(global long *o, global Node *nodes, global Padded *flat, global float *f, const global int *x) {
    int i = get_global_id(0), n = x[i]; o += i * 32; f += i * 8;
    Padded a = make(n), b = a, c; b.i = 5; c = b; c.l -= 1; o[0] = total(a); o[1] = a.c;
    o[2] = total(change(b)) + b.i; o[3] = c.l;
    Padded list[3]; fill(list, 3); list[2] = list[i % 3]; o[4] = list[2].l + list[1].s * 10;
    o[5] = change(make(n)).l + make(3).s;
    Node t = {n}; Node u = grow(t, i); o[6] = u.key; o[7] = t.inner.list[i & 1].c; o[8] = u.inner.list[i & 1].l;
    f[0] = u.v.v.y;
    nodes[i] = u; nodes[i].inner.bits.f = 2.5f; nodes[i].inner.list[0].c = 3; o[9] = read(nodes + i); Node w = nodes[i];
    o[10] = w.inner.bits.u; o[11] = w.inner.bits.b[3]; o[12] = w.inner.bits.h.y; w.inner.bits.b[i & 3] ^= 0xff;
    f[1] = w.inner.bits.f;
    flat[i] = i & 1 ? a : b; flat[i].s++; Padded *p = i & 1 ? &a : &c; p->i = 77; o[13] = a.i + c.i;
    o[14] = (i & 1 ? a : c).i;
    o[15] = sizeof(Padded) + sizeof(Vectors) * 100L + sizeof(Node) * 10000L;
    o[16] = sizeof(struct Tight) + sizeof(Aligned) * 100;
    struct Tight tight = {1, n, 0.5}; tight.i++; int *inside = (int *)((char *)&tight + 1);
    o[17] = *(char *)inside + (long)tight.d;
    o[18] = pun(1.0f).u; o[19] = tree[i & 1].key + tree[0].inner.list[0].s + (int)tree[0].v.v.z;
    f[2] = one.f + tree[0].inner.bits.f;
    Matrix m = identity; m.m[i % 3][i & 1] = n; m = transposed(m); o[20] = m.m[0][1] * 100 + m.m[1][0];
    o[21] = m.m[2][0];
    Flags g = {HIGH, n > 0, (half)n}; Flags h = g; h.level = LOW; o[22] = g.level + h.level * 10 + h.on; f[3] = h.h;
    Vectors v = {(float3)(1, 2, n), 3}; v = scaled(v, 2); vstore3(v.v, 1, f); v.v.xy = v.v.zx; f[6] = v.v.x;
    o[23] = v.tail;
    struct { int a; struct { int b; } in; } anon = {1, {2}}; anon.in.b += n; o[24] = anon.a + anon.in.b;
    o[25] = (Padded){4, 5, 6, 7}.i;
    o[26] = total((Padded){.i = n}); o[27] = defaults.s + defaults.l; Aligned al = {n, 2};
    o[28] = (long)&al % 16 + al.x;
    Padded nested[2][2] = {{{1}}, {{2}, {3, 4, 5, 6}}}; nested[i & 1][1] = make(9);
    o[29] = nested[1][1].i + nested[1][0].c;
    a = b = c; o[30] = a.l + b.i; union { int i; float f; } z = {n}; z.f = z.i; o[31] = z.i; (&a)->s = 4; f[7] = a.s;
}
"""


def record(itemsize: int, **fields: tuple[int, object]) -> np.dtype:
    """A dtype from the offsets and dtypes of its fields."""
    offsets, formats = zip(*fields.values(), strict=True)
    return np.dtype({"names": [*fields], "formats": formats, "offsets": offsets, "itemsize": itemsize})


PADDED = record(16, c=(0, np.int8), s=(2, np.int16), i=(4, np.int32), l=(8, np.int64))
NODE = record(
    80, key=(0, np.int32), bits=(8, np.uint32), list=(16, (PADDED, 2)), v=(48, (np.float32, 3)), tail=(64, "u1")
)


def test_records(device: DeviceInfo) -> None:
    buffers = [np.zeros(ITEMS * 32, np.int64), np.zeros(ITEMS, NODE), np.zeros(ITEMS, PADDED)]
    compare(
        device,
        RECORDS,
        [Launch("k", [*buffers, np.zeros(ITEMS * 8, np.float32), ints(ITEMS)], (ITEMS,))],
        PLAIN_AND_OPTIMISED,
    )


LOCALS = """
typedef struct { int a; float4 v; } S;
void fill(local int *p, int n) { p[get_local_id(0)] = n; }
int reduce(local int *p, int size) {
    for (int half_size = size / 2; half_size; half_size >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_local_id(0) < half_size) p[get_local_id(0)] += p[get_local_id(0) + half_size];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return p[0];
}
kernel void k(global int *o, const global int *x, local float4 *extra) {
    local int scratch[8], grid[2][4]; local S records[8]; local char bytes[8]; local int shared;
    int n = get_local_id(0), i = get_global_id(0);
    fill(scratch, x[i]); o[i * 8] = reduce(scratch, 8); grid[n / 4][n % 4] = x[i] * 2; bytes[n] = x[i];
    records[n].a = n; records[n].v = (float4)(x[i], 1, 2, 3); extra[n] = records[n].v.wzyx; if (n == 3) shared = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    o[i * 8 + 1] = grid[1 - n / 4][3 - n % 4]; S r = records[7 - n]; o[i * 8 + 2] = r.a + (int)r.v.x;
    o[i * 8 + 3] = bytes[(n + 1) & 7];
    o[i * 8 + 4] = (int)extra[n ^ 1].w + shared; local int *row = grid[n & 1]; o[i * 8 + 5] = row[2];
    records[n].v.s0 += records[n].a; o[i * 8 + 6] = (int)records[n].v.x;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    o[i * 8 + 7] = o[(i ^ 1) * 8 + 1]; atomic_free: ;
}
kernel void two(global int *o) { local int scratch[8]; fill(scratch, get_group_id(0) + 1);
    o[get_global_id(0)] = reduce(scratch, 8); }
"""


def test_local_memory_and_barriers(device: DeviceInfo) -> None:
    launches = [
        Launch("k", [np.zeros(32 * 8, np.int32), ints(32), Local(128)], (32,), (8,)),
        Launch("two", [np.zeros(32, np.int32)], (32,), (8,)),
    ]
    compare(device, LOCALS, launches, PLAIN_AND_OPTIMISED)


def test_parameters_of_every_scalar_and_vector(device: DeviceInfo) -> None:
    """Scalars, vectors and pointers to all spaces."""
    kernels, launches = [], []
    for name in NUMPY:
        lines, parameters, arguments = [], [], []
        for at, size in enumerate((1, 2, 3, 4, 8, 16)):
            t = name if size == 1 else f"{name}{size}"
            parameters.append(f"{t} a{size}, const global {t} *g{size}, constant {t} *c{size}, local {t} *l{size}")
            lines.append(f"l{size}[i] = g{size}[i & 3]; barrier(CLK_LOCAL_MEM_FENCE);")
            value = f"a{size} + l{size}[1 - i] * c{size}[1]"
            target = f"out + {at * 64}"
            lines.append(f"({target})[i] = {value};" if size == 1 else f"vstore{size}({value}, i, {target});")
            stride = 4 if size == 3 else size
            small = [(values(name, stride * 4, s) % 7 if name[0] != "h" else ints(64)[: stride * 4]) for s in (1, 2, 3)]
            data = [np.nan_to_num(v.astype(NUMPY[name])) for v in small]
            arguments += [Value(data[0][:stride]), data[1], data[2], Local(stride * data[0].itemsize * 2)]
        body = "\n    ".join(["size_t i = get_global_id(0);", *lines])
        kernels.append(f"kernel void k_{name}(global {name} *out, {', '.join(parameters)}) {{\n    {body}\n}}\n")
        launches.append(Launch(f"k_{name}", [np.zeros(6 * 64, NUMPY[name]), *arguments], (2,), (2,)))
    compare(device, "".join(kernels), launches)


BY_VALUE = """
typedef struct { char c; float3 v; int a[2]; union { int i; uchar b[4]; } u; } S;
typedef struct { char one; } Tiny; typedef union { long l; float4 v; } U; typedef struct { S s[2]; Tiny t; } Big;
kernel void k(global int *o, S s, Tiny t, U u, Big b, global S *g, constant S *c, Tiny t2) {
    int i = get_global_id(0); o[0] = s.c + (int)s.v.z * 10 + s.a[1] * 100; o[1] = s.u.b[1]; o[2] = t.one - t2.one;
    o[3] = (int)u.v.y;
    s.a[0] += 7; o[4] = s.a[i]; b.s[1].a[i] = 5; o[5] = b.s[1].a[0] + b.s[0].a[1]; o[6] = b.t.one; *g = s;
    g[1] = b.s[1]; g[1].c = 3;
    S copy = c[i]; copy.v.x += 1; o[7] = (int)copy.v.x + c[1].c; S *p = &s; p->v = p->v.zyx; g[2] = *p;
    o[8] = sizeof(Big);
}
"""
S = record(48, c=(0, np.int8), v=(16, (np.float32, 3)), a=(32, (np.int32, 2)), u=(40, np.int32))


def test_records_as_parameters(device: DeviceInfo) -> None:
    s = np.zeros(2, S)
    s["c"], s["v"], s["a"], s["u"] = [3, -4], [[1, 2, 3], [5, 6, 7]], [[5, 6], [7, 8]], [0x01020304, -1]
    big = np.zeros(112, np.uint8)
    big[:96], big[96] = s.view(np.uint8), 42
    union = np.array([1.5, 2.5, 3.5, 4.5], np.float32)
    tiny = [Value(np.int8(n)) for n in (9, -7)]
    arguments = [np.zeros(16, np.int32), Value(s[:1]), tiny[0], Value(union), Value(big)]
    launch = Launch("k", [*arguments, np.zeros(3, S), s, tiny[1]], (1,))
    compare(device, BY_VALUE, [launch], PLAIN_AND_OPTIMISED)


@pytest.mark.parametrize(("dimensions", "offset"), [(1, None), (1, (5,)), (2, (3, 7)), (3, None), (3, (1, 2, 4))])
def test_work_item_functions(device: DeviceInfo, dimensions: int, offset: tuple[int, ...] | None) -> None:
    names = ["global_id", "local_id", "group_id", "global_size", "local_size", "num_groups", "global_offset"]
    names += ["enqueued_local_size"]
    calls = [f"get_{name}({d})" for name in names for d in (0, 1, 2, 3)]
    calls += [f"get_{name}(which)" for name in names]
    calls += ["get_work_dim()", "get_global_linear_id()", "get_local_linear_id()"]
    body = "".join(f"    o[at * {len(calls)} + {n}] = {call};\n" for n, call in enumerate(calls))
    source = "kernel void k(global ulong *o, uint which) {\n    size_t at = get_global_linear_id();\n" + body + "}\n"
    size, local = ((8,), (4, 6), (4, 2, 6))[dimensions - 1], ((4,), (2, 3), (2, 1, 3))[dimensions - 1]
    out = np.zeros(int(np.prod(size)) * len(calls), np.uint64)
    compare(device, source, [Launch("k", [out, Value(np.uint32(1))], size, local, offset)])


SUBGROUPS = r"""
#define ATTRIBUTES \
    __attribute__((reqd_work_group_size(SIZE * 2, 1, 1))) __attribute__((intel_reqd_sub_group_size(SIZE)))
int helper(int x) { return sub_group_reduce_add(x) + sub_group_broadcast(x, 1); }
ATTRIBUTES kernel void k(global int *o, global float *f, const global int *x) {
    int i = get_global_id(0), n = get_sub_group_local_id(); o += i * 16; f += i * 4;
    o[0] = get_sub_group_size(); o[1] = n; o[2] = get_sub_group_id(); o[3] = get_num_sub_groups();
    o[4] = get_max_sub_group_size();
    o[5] = get_enqueued_num_sub_groups(); o[6] = helper(x[i]); o[7] = sub_group_scan_inclusive_max(x[i]);
    o[8] = sub_group_scan_exclusive_add(x[i]); o[9] = sub_group_any(x[i] > 40) + 2 * sub_group_all(x[i] > -60);
    f[0] = sub_group_reduce_min((float)x[i]); f[1] = sub_group_broadcast(x[i] * 0.5f, SIZE - 1);
    f[2] = sub_group_reduce_max(x[i] * 2.0f);
    local int l[SIZE * 2]; l[get_local_id(0)] = x[i]; sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    o[10] = l[get_local_id(0) ^ 1];
    long w = sub_group_reduce_add((long)x[i] << 33); o[11] = (int)(w >> 33);
    o[12] = (int)sub_group_reduce_max((uint)x[i]);
}
"""


@pytest.mark.parametrize("size", [8, 16, 32])
def test_subgroups(device: DeviceInfo, size: int) -> None:
    if size not in device.sub_group_sizes:
        pytest.skip(f"the device has no subgroups of {size}")
    items = size * 4
    buffers = [np.zeros(items * 16, np.int32), np.zeros(items * 4, np.float32), ints(items)]
    compare(
        device, f"#define SIZE {size}\n{SUBGROUPS}", [Launch("k", buffers, (items,), (size * 2,))], ["native", "lanes"]
    )


ATTRIBUTES = """
__attribute__((reqd_work_group_size(4, 2, 1))) kernel void required(global int *o) {
    o[get_global_linear_id()] = get_local_size(1); }
__attribute__((work_group_size_hint(8, 1, 1), vec_type_hint(float4))) kernel void hinted(global int *o) {
    o[get_global_id(0)] = 3; }
kernel __attribute__((vec_type_hint(int))) __attribute__((reqd_work_group_size(8, 1, 1)))
__attribute__((intel_reqd_sub_group_size(8))) void both(global int *restrict o) {
    o[get_global_id(0)] = get_sub_group_size(); }
__kernel void plain(__global int *o, const int n) { if (get_global_id(0) >= n) return; o[get_global_id(0)] = n; }
kernel void calls(global int *o) { plain(o, 3); }
"""


def test_kernel_attributes_and_kernels_that_call_kernels(device: DeviceInfo) -> None:
    launches = [
        Launch("required", [np.zeros(16, np.int32)], (8, 2), (4, 2)),
        *[Launch(name, [np.zeros(16, np.int32)], (16,), (8,)) for name in ("hinted", "both", "calls")],
        Launch("plain", [np.zeros(16, np.int32), Value(np.int32(5))], (16,), (8,)),
    ]
    compare(device, ATTRIBUTES, launches, ["native", "lanes"])


FIRST_ELEMENTS = """
constant float table[8] = {1, 2, 3, 4, 5}; typedef struct { float a[4]; int i; } S;
kernel void k(global float *o, const global float *x, int n) {
    local float l[8], m[2][8]; local half h[8]; local S s[2]; float p[8]; S t[2]; int e[2]; int i = get_local_id(0);
    l[i] = x[i] + n; m[1][i] = x[i]; s[i >> 2].a[i & 3] = x[i]; for (int j = 0; j < 8; ++j) p[j] = x[j]; t[n].a[n] = 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0) { vstore4((float4)(n), 0, m[0]); vstore_half4((float4)(n), 0, h); vstore_half(x[3], n, h);
    vstore_half2_rtz(vload2(1, x), 2, h); }
    barrier(CLK_LOCAL_MEM_FENCE); o += i * 64; vstore8(vload8(0, l), 0, o); vstore4(vload4(0, s[0].a), 2, o);
    o[12] = vload_half(0, h);
    vstore4(vload_half4(0, h), 4, o); vstore3(vload3(0, m[0]), 7, o); vstore4(vload4(0, table), 6, o);
    o[28] = vloada_half2(0, h).y;
    vstore4((float4)(n), 0, p); p[n] = 9; vstore8(vload8(0, p), 4, o); vstore4((float4)(n, 1, 2, 3), 0, t[0].a);
    o[40] = t[n - 1].a[n];
    o[41] = modf(x[1], p) + fract(x[2], &t[0].a[0]) + frexp(x[3], e) + remquo(x[4], 3.0f, e + n);
    o[42] = p[n - 1] + t[n - 1].a[0] + e[n] + e[0];
}
"""


def test_vector_loads_and_stores_at_the_start_of_objects(device: DeviceInfo) -> None:
    x = np.array([1.25, -2.5, 3.75, 4.5, 5.0, 6.0, -7.0, 8.5], np.float32)
    arguments = [np.zeros(8 * 64, np.float32), x, Value(np.int32(1))]
    compare(device, FIRST_ELEMENTS, [Launch("k", arguments, (8,), (8,))], PLAIN_AND_OPTIMISED)


ARRAYS_OF_POINTERS = """
typedef struct { global short *at[2]; int tag; } Cursor;
kernel void k(global int *in, global short *g) {
    global short *p[3];
    p[0] = g; p[1] = g + 17; p[2] = g;
    p[in[0]] = g + 24;
    p[1][0] = 7;
    for (int i = 0; i < in[1]; ++i)
        p[in[0]] = &g[in[2]];
    in[3] = p[0] - g; in[4] = p[1] - g; in[5] = p[2] - g;
}
kernel void structs(global int *in, global short *g) {
    Cursor c[2] = {{{g, g + 3}, 5}, {{g + 9, g + 1}, 6}};
    global short **first = c[0].at;
    for (int i = 0; i < in[1]; ++i) c[in[0] - 1].at[i & 1] = first[in[0] - 1] + i;
    in[3] = c[0].at[in[0] - 1] - g; in[4] = c[1].at[0] - g; in[5] = c[1].at[1] - g + c[1].tag;
}
"""


def test_arrays_of_pointers(device: DeviceInfo) -> None:
    launches = [
        Launch(name, [np.array([2, 3, 5, 0, 0, 0], np.int32), ints(32).astype(np.int16)]) for name in ("k", "structs")
    ]
    compare(device, ARRAYS_OF_POINTERS, launches, PLAIN_AND_OPTIMISED)


OVERLAPPING_COPIES = """
typedef struct { float e[4]; } Row;
void rotate_rows(Row *m) { Row t = m[0]; for (int i = 0; i < 2; i++) m[i] = m[i + 1]; m[2] = t; }
kernel void k(const global float *p, global float *out) {
    Row m[3];
    for (int i = 0; i < 4; i++) { m[0].e[i] = p[i]; m[1].e[i] = p[4 + i]; m[2].e[i] = 3; }
    rotate_rows(m); rotate_rows(m);
    for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) out[i * 4 + j] = m[i].e[j];
}
kernel void down(global char *p, int n) {
    local char t[64];
    for (int i = 0; i < 13; i++) t[i] = p[i];
    for (int i = 0; i < 12; i++) t[i] = t[i + 1];
    for (int i = n; i > 0; i--) t[i] = t[i - 1];
    for (int i = 0; i < 13; i++) p[i] = t[i];
    for (int i = 13; i > 0; i--) p[i + 16] = p[i + 15];
}
"""


def test_copies_between_overlapping_objects(device: DeviceInfo) -> None:
    """LLVM makes memmoves of these loops."""
    rows = [np.arange(8, dtype=np.float32), np.zeros(12, np.float32)]
    launches = [Launch("k", rows), Launch("down", [np.arange(32, dtype=np.int8), Value(np.array(9, np.int32))])]
    compare(device, OVERLAPPING_COPIES, launches, PLAIN_AND_OPTIMISED)
