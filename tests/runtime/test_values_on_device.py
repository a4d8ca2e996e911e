"""Values: conversions, arithmetic, vectors and builtins, against the device's own OpenCL C compiler."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from differential import FLOATS, INTEGERS, NUMPY, SIZES, Array, Launch, Local, Value, compare, execute, values
from repeats import SAME_WIDTH, slow_where

import coopmat
from coopmat.devices import DeviceInfo

ITEMS = 32
TYPES = tuple(NUMPY)
EACH_WIDTH = slow_where(SAME_WIDTH.__contains__, TYPES)
ROUNDINGS = ("_rte", "_rtz", "_rtp", "_rtn")
SIGNED = {name: name if name in FLOATS or name[0] != "u" else name[1:] for name in TYPES}
# The signed integer as wide as the type: what vector comparisons give.
MASKS = {name: f"{['char', 'short', 'int', 'long'][np.dtype(NUMPY[name]).itemsize.bit_length() - 1]}" for name in TYPES}


def vector(name: str, size: int) -> str:
    return name if size == 1 else f"{name}{size}"


def load(pointer: str, size: int, index: str = "i") -> str:
    return f"{pointer}[{index}]" if size == 1 else f"vload{size}({index}, {pointer})"


def store(value: str, size: int, index: str, pointer: str = "out") -> str:
    return f"{pointer}[{index}] = {value};" if size == 1 else f"vstore{size}({value}, {index}, {pointer});"


class Outputs:
    """Collects results by type: each is stored to the buffer of its element type, ITEMS vectors of it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.used: dict[str, int] = {}

    def add(self, element: str, size: int, expression: str) -> None:
        at = self.used.get(element, 0)
        self.used[element] = at + size * ITEMS
        self.lines.append(store(f"({expression})", size, "i", f"(out_{element} + {at})"))

    def kernel(self, name: str, parameters: Sequence[str], prelude: str = "") -> str:
        outs = [f"global {element} *out_{element}" for element in self.used]
        body = "\n    ".join(["size_t i = get_global_id(0);", prelude, *self.lines])
        return f"kernel void {name}({', '.join([*parameters, *outs])}) {{\n    {body}\n}}\n"

    def buffers(self) -> list[Array]:
        return [np.full(count, 77, NUMPY[element]) for element, count in self.used.items()]


# --- conversions ---------------------------------------------------------------------------------


def fitting(source: str, seed: int, unsigned: bool) -> Array:
    """Values of the type that every integer type of that sign can hold; fractions among floats."""
    low, high = (0, 127) if unsigned or source[0] == "u" else (-128, 127)
    found = np.random.default_rng(seed).uniform(low, high, ITEMS * 16)
    if source in FLOATS:
        found[:8] = (
            [0, 0.5, 1.5, 2.5, 0.25, 126.5, 127, 3.75] if low == 0 else [-0.5, -1.5, -2.5, -127.75, 0.5, 7, 0, 1]
        )
    return found.astype(NUMPY[source])


@pytest.mark.parametrize("source", EACH_WIDTH)
def test_casts_of_every_pair(device: DeviceInfo, source: str) -> None:
    """Implicit conversions, casts, vector conversions, bool among them."""
    kernels, launches = [], []
    for unsigned in (False, True):
        out = Outputs()
        targets = [t for t in TYPES if unsigned == (t[0] == "u")]
        for target in targets:
            out.add(target, 1, f"({target})x[i]")
            out.add(target, 1, f"implicit_{target}(x[i])")
            for size in SIZES[1:]:
                out.add(target, size, f"convert_{target}{size}({load('x', size)})")
            out.add(target, 4, f"({target}4)(({target})x[i])")
            out.add(target, 1, f"({target})(bool)x[i]")
        condition = "x[i]" if source in INTEGERS else "(bool)x[i]"
        out.add("int", 1, f"({condition} ? 1 : 0) + (!x[i] ? 2 : 0) + (x[i] && 1 ? 4 : 0)")
        name = f"k{int(unsigned)}"
        helpers = "".join(f"{t} implicit_{t}({source} x) {{ return x; }}\n" for t in targets)
        kernels.append(helpers + out.kernel(name, [f"const global {source} *x"]))
        data = fitting(source, 3, unsigned) if source in FLOATS else values(source, ITEMS * 16)
        launches.append(Launch(name, [data, *out.buffers()], (ITEMS,)))
    compare(device, "".join(kernels), launches)


@pytest.mark.parametrize("source", EACH_WIDTH)
def test_convert_with_rounding_and_saturation(device: DeviceInfo, source: str) -> None:
    """convert_T[_sat][_rt*] of scalars, and of a vector size that varies from pair to pair."""
    out, safe = Outputs(), Outputs()
    for number, target in enumerate(TYPES):
        for saturation, rounding in product(("", "_sat"), ("", *ROUNDINGS)):
            if (saturation and target in FLOATS) or not saturation + rounding:
                continue
            # Out of range is undefined without _sat.
            to = safe if source in FLOATS and target in INTEGERS and not saturation else out
            for size in (1, SIZES[1 + number % 5]):
                name = f"convert_{vector(target, size)}{saturation}{rounding}"
                data = "u" if to is safe and target[0] == "u" else "x"
                to.add(target, size, f"{name}({load(data, size)})")
    text = out.kernel("wide", [f"const global {source} *x"])
    wide = values(source, ITEMS * 16)
    if source in FLOATS:
        wide[np.isnan(wide)] = 0  # which becomes 0 with _sat (section 6.4.3.3), but not with all of this device's
    launches = [Launch("wide", [wide, *out.buffers()], (ITEMS,))]
    if safe.lines:
        text += safe.kernel("safe", [f"const global {source} *x", f"const global {source} *u"])
        both = [fitting(source, 3, False), fitting(source, 4, True)]
        launches.append(Launch("safe", [*both, *safe.buffers()], (ITEMS,)))
    compare(device, text, launches)


def test_as_type(device: DeviceInfo) -> None:
    kernels, launches = [], []
    for source in TYPES:
        out, width = Outputs(), np.dtype(NUMPY[source]).itemsize
        for target, size in product(TYPES, SIZES):
            have = size * np.dtype(NUMPY[target]).itemsize // width
            if have in (1, 2, 4, 8, 16) and have * width == size * np.dtype(NUMPY[target]).itemsize and size != 3:
                out.add(target, size, f"as_{vector(target, size)}({load('x', have)})")
        kernels.append(out.kernel(f"k_{source}", [f"const global {source} *x"]))
        launches.append(Launch(f"k_{source}", [values(source, ITEMS * 16), *out.buffers()], (ITEMS,)))
    text = "kernel void threes(global int *o, const global float4 *x) { int i = get_global_id(0);\n"
    text += (
        "vstore3(as_int3(x[i]), i, o); vstore3(as_int3(x[i].zyx), i, o + 48); vstore3(as_int3(x[i].s012), i, o + 96); }"
    )
    launches.append(Launch("threes", [np.zeros(144, np.int32), values("float", 64)], (16,)))
    compare(device, "".join([*kernels, text]), launches)


# --- operators -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", INTEGERS)
def test_integer_operators(device: DeviceInfo, name: str) -> None:
    """Wrap-around, shifts by more than the width, division and remainder of every sign, on scalars and vectors."""
    out, wraps = Outputs(), "uint" if np.dtype(NUMPY[name]).itemsize == 4 else "ulong"
    unsigned = name if name[0] == "u" else "u" + name
    for size in (1, 2, 3, 8):
        t = vector(name, size)
        x, y, s = load("x", size), load("y", size), load("shift", size)
        d = f"({y} | ({t})1)"
        exact = x if name[0] == "u" else f"({x} >> ({t})1)"  # INT_MIN / -1 is undefined
        for operator in ("&", "|", "^"):
            out.add(name, size, f"{x} {operator} {y}")
        for operator in ("+", "-", "*"):
            # Signed overflow is undefined, but not of what is narrower than int.
            cast = f"as_{vector(unsigned, size)}"
            out.add(unsigned, size, f"{cast}({x}) {operator} {cast}({y})")
        out.add(name, size, f"{exact} / {d}")
        out.add(name, size, f"{exact} % {d}")
        out.add(name, size, f"{x} << {s}")
        out.add(name, size, f"{x} >> {s}")
        out.add(name, size, f"~{x}")
        out.add(unsigned, size, f"-as_{vector(unsigned, size)}({x})")
        for operator in ("<", "<=", ">", ">=", "==", "!=", "&&", "||"):
            out.add("int" if size == 1 else MASKS[name], size, f"{x} {operator} {y}")
        out.add("int" if size == 1 else MASKS[name], size, f"!{x}")
        out.add(name, size, f"{x} < {y} ? {x} : {y}")
        if size > 1:
            out.add(name, size, f"{x} ^ y[i]")
            out.add(name, size, f"y[i] | {x}")
            out.add(name, size, f"{x} << shift[i]")
    out.add(wraps, 1, f"({wraps})x[i] * ({wraps})y[i] + ({wraps})shift[i]")
    source = out.kernel("k", [f"const global {name} *{p}" for p in ("x", "y", "shift")])
    shifts = np.random.default_rng(5).integers(0, 100, ITEMS * 8).astype(NUMPY[name])
    data = [values(name, ITEMS * 8, 1), values(name, ITEMS * 8, 2)[::-1], shifts]
    compare(device, source, [Launch("k", [*data, *out.buffers()], (ITEMS,))])


def test_operators_on_mixed_types(device: DeviceInfo) -> None:
    """The usual arithmetic conversions and integer promotions of every pair of scalars."""
    kernels, launches = [], []
    for left in TYPES:
        out, ranks = Outputs(), list(TYPES)
        for right in TYPES:
            a, b = f"x_{left}[i]", f"x_{right}[i + 1]"
            for operator in ("<", ">=", "=="):
                out.add("int", 1, f"{a} {operator} {b}")
            if left in FLOATS or right in FLOATS:
                operands = max([t for t in (left, right) if t in FLOATS], key=ranks.index)
                out.add(operands, 1, f"{a} * {b}")
                out.add(operands, 1, f"get_global_id(0) & 1 ? {a} : {b}")
            else:
                out.add("ulong", 1, f"(ulong)({a} & {b})")
                out.add("long", 1, f"(long)({a} | {b}) >> 1")
                out.add("ulong", 1, f"get_global_id(0) & 1 ? {a} : {b}")
                out.add("ulong", 1, f"(ulong)(({a} >> 1) / ({b} | 1))")
                out.add("long", 1, f"(long)(({a} >> 2) % ({b} | 1))")
                out.add("int", 1, f"{a} >> ({b} & 7)")
            out.add("uint", 1, f"(uint)(sizeof({a} + {b}) + 16 * sizeof(i ? {a} : {b}) + 256 * sizeof({a} < {b}))")
        kernels.append(out.kernel(f"k_{left}", [f"const global {t} *x_{t}" for t in TYPES]))
        data = [fitting(t, 9, False) if t in FLOATS else values(t, 64, 4) for t in TYPES]
        launches.append(Launch(f"k_{left}", [*data, *out.buffers()], (ITEMS,)))
    compare(device, "".join(kernels), launches)


@pytest.mark.parametrize("name", FLOATS)
def test_float_operators(device: DeviceInfo, name: str) -> None:
    out = Outputs()
    for size in (1, 2, 3, 4, 16):
        x, y = load("x", size), load("y", size)
        for operator in ("+", "-", "*"):
            out.add(name, size, f"{x} {operator} {y}")
        for operator in ("<", "<=", ">", ">=", "==", "!=", "&&", "||"):
            out.add("int" if size == 1 else MASKS[name], size, f"{x} {operator} {y}")
        out.add("int" if size == 1 else MASKS[name], size, f"!{x}")
        out.add(name, size, f"-{x}")
        out.add(name, size, f"+{x}")
        out.add(name, size, f"{x} < {y} ? {x} : {y}")
        out.add(name, size, f"({x} - {y}) * {y} - ({vector(name, size)})1")
        if size > 1:
            out.add(name, size, f"{x} * y[i] - 2")
    quotient = Outputs()
    for size in (1, 3, 4):
        quotient.add(name, size, f"{load('x', size)} / {load('y', size)}")
    parameters = [f"const global {name} *x", f"const global {name} *y"]
    source = out.kernel("k", parameters) + quotient.kernel("q", parameters)
    data = [values(name, ITEMS * 16, 1), np.roll(values(name, ITEMS * 16, 2), 5)]
    # 7.4: division is within 1, 2.5 and 0 ulp of the exact quotient.
    off = {2: {"half": 1.0, "float": 2.5, "double": 0.0}[name]}
    launches = [
        Launch("k", [*data, *out.buffers()], (ITEMS,)),
        Launch("q", [*data, *quotient.buffers()], (ITEMS,), ulps=off),
    ]
    compare(device, source, launches)


def test_assignments_and_increments(device: DeviceInfo) -> None:
    """Every compound assignment on every type, its value, and both kinds of ++ and --."""
    kernels, launches = [], []
    for name in TYPES:
        lines, count = [], 0
        operators = ["+", "-", "*"] + ([] if name in FLOATS else ["&", "|", "^", "<<", ">>", "/", "%"])
        for size in (1, 4):
            t, start = vector(name, size), load("x", size)
            if name in INTEGERS:
                start += f" >> ({t})4"  # no signed overflow
            for operator in operators:
                y = f"(({t})2 | ({load('y', size)} & ({t})7))" if name in INTEGERS else load("y", size)
                lines.append(
                    f"{{ {t} v = {load('x', size)} >> ({t})4; "
                    if name in INTEGERS
                    else f"{{ {t} v = {load('x', size)};"
                )
                lines.append(f"{store(f'(v {operator}= {y})', size, f'{count} * {ITEMS // size} + i')}")
                lines.append(f"{store('v', size, f'{count + 4} * {ITEMS // size} + i')} }}")
                count += 8
            for step in ("v++", "++v", "v--", "--v"):
                if name in FLOATS and size > 1:
                    continue
                lines.append(
                    f"{{ {t} v = {load('x', size)} >> ({t})1; "
                    if name in INTEGERS
                    else f"{{ {t} v = {load('x', size)};"
                )
                lines.append(f"{store(step, size, f'{count} * {ITEMS // size} + i')}")
                lines.append(f"{store('v', size, f'{count + 4} * {ITEMS // size} + i')} }}")
                count += 8
        body = "\n".join(lines)
        kernels.append(
            f"kernel void k_{name}(const global {name} *x, const global {name} *y, global {name} *out) {{\n"
            f"size_t i = get_global_id(0);\n{body}\n}}\n"
        )
        buffers = [values(name, 128, 1), values(name, 128, 2), np.full((count + 8) * ITEMS, 77, NUMPY[name])]
        launches.append(Launch(f"k_{name}", buffers, (ITEMS // 4,)))
    compare(device, "".join(kernels), launches)


MIXED_ASSIGNMENTS = """
kernel void k(global int *o, global float *f, global uchar *c, const global int *x) {
    int i = get_global_id(0);
    uchar u = 250; u += x[i]; u <<= 1; o[i * 8] = u;
    char s = 100; s += s; o[i * 8 + 1] = s;
    short h = (short)x[i]; h *= 1.5f; o[i * 8 + 2] = h;
    int n = x[i]; n /= 2.5; o[i * 8 + 3] = n;
    uint w = 7; w -= (uchar)9; o[i * 8 + 4] = w >> 3;
    long l = -1; l = (uint)l; o[i * 8 + 5] = (int)(l >> 31);
    bool b = x[i] & 6; b |= 2; o[i * 8 + 6] = b + (b == true) * 4;
    b = 0.5f; int e = b; b = (global int *)0; o[i * 8 + 7] = e * 2 + b;
    float g = x[i]; g += 0.5; g = -g; f[i] = g;
    c[i] = (uchar)(u + s) ^ (uchar)~0;
    int4 v = (int4)(1, 2, 3, 4); v.xz += 10; v.w *= v.x; v.even = v.odd - x[i]; v.lo.y = 99; v.s3 <<= 2;
    vstore4(v, i, o + 256);
    char8 k = (char8)(1); k.s7 = 5; k.hi.lo = (char2)(7, 8); k -= (char8)(0, 1, 2, 3, 4, 5, 6, 7);
    vstore4(convert_int4(k.odd), i, o + 512);
    uint4 m = (uint4)(x[i]); m >>= (uint4)(1, 2, 3, 33); m ^= 5u; m |= ~m & 1u; m %= 1000u;
    vstore4(as_int4(m), i, o + 768);
}
"""


def test_assignments_between_types(device: DeviceInfo) -> None:
    x = np.random.default_rng(1).integers(-100, 100, ITEMS).astype(np.int32)
    buffers = [np.zeros(1024, np.int32), np.zeros(ITEMS, np.float32), np.zeros(ITEMS, np.uint8), x]
    compare(device, MIXED_ASSIGNMENTS, [Launch("k", buffers, (ITEMS,))])


LITERALS = """
enum { RED, GREEN = 5, BLUE, MASK = (1 << 4) | GREEN, LAST = -1 };
enum color { CYAN = 'a', YELLOW = 010 + 0x10 };
kernel void k(global long *o, global double *d, global float *f, global half *h) {
    o[0] = 4294967295; o[1] = 0xFFFFFFFF; o[2] = -2147483648; o[3] = 1u - 2; o[4] = 18446744073709551615UL >> 1;
    o[5] = 'A' + '\\n' + '\\x41' + '\\101'; o[6] = 0777; o[7] = sizeof(1L) + sizeof(1) * 16 + sizeof('a') * 256;
    o[8] = RED + GREEN * 10 + BLUE * 100 + MASK * 1000 + LAST; o[9] = CYAN + YELLOW; o[10] = 0b101;
    o[11] = sizeof(1.0f) + sizeof(1.0) * 16 + sizeof(1.0h) * 256; o[12] = (char)200; o[13] = (uchar)-1;
    o[14] = 3 / 2 * 2.0f; o[15] = -7 / 2 + -7 % 3 * 100; o[16] = 1 ? -1 : 1u; o[17] = (1, 2, 3);
    o[18] = 0x7fffffffffffffff; o[19] = 5 && 0 || !3 == 0; o[20] = ~0u >> 4 << 2 & 0xff | 0x1000 ^ 3;
    enum color c = YELLOW; o[21] = c + sizeof(c); o[22] = (int)3.99f + (int)-3.99; o[23] = CHAR_BIT + INT_MAX;
    o[24] = SHRT_MIN; o[25] = LONG_MAX - ULONG_MAX; o[26] = UINT_MAX; o[27] = __OPENCL_C_VERSION__ >= 120;
    d[0] = 1.0; d[1] = 1e300; d[2] = 0x1.8p3; d[3] = .5; d[4] = 3.; d[5] = 1.0f / 3; d[6] = M_PI; d[7] = DBL_MAX;
    d[8] = 0.1f; d[9] = 0.1; d[10] = 1 / 3.0; d[11] = HUGE_VAL;
    f[0] = 1e-3f; f[1] = 3.4028235e38f; f[2] = 1e-45f; f[3] = M_PI_F; f[4] = FLT_EPSILON; f[5] = INFINITY; f[6] = NAN;
    f[7] = 16777217; f[8] = 0x1p-126f; f[9] = MAXFLOAT; f[10] = 1.00000005960464477539062500001; f[11] = -0.0f;
    h[0] = 1.0h; h[1] = 65504; h[2] = 0.1f; h[3] = HALF_EPSILON; h[4] = 2049; h[5] = (half)1e-7f; h[6] = HALF_MAX;
}
kernel void v(global float *f, global int *o, float s) {
    float4 a = (float4)(1, 2, 3, 4), b = (float4)(a.xy, s, 4.0f), c = (float4)(a.zyx, 9), d = (float4)(s);
    float8 e = (float8)(a, b), g = (float8)((float2)(1, 2), 3, (float3)(4, 5, 6), a.lo);
    float16 h = (float16)(e, g);
    vstore4(a + b * c - d, 0, f); vstore8(e + g, 1, f); vstore16(h, 1, f);
    int3 t = (int3)(1, 2, 3), u = {4, 5, 6}; t = t * u + (int3)(7); int4 few = {o[1], t.yz, 2.5f};
    float2 pairs[2] = {{1, s}, {3, t.x}}; f[40] = pairs[0].y + pairs[1].x + few.w; vstore3(t + few.xyz, 0, o);
    vstore3(((int4)(1, 2, 3, 4)).wzy, 1, o); vstore2((int2)(t.x, u.z), 4, o);
    uchar4 w = (uchar4)(255, 254, 1, 2) + (uchar4)(3); vstore4(convert_int4(w), 3, o);
    int4 z = -((int4)(1, 2, 3, 4)) % 3 << (int4)(1, 2, 3, 33); vstore4(z, 4, o);
    o[20] = sizeof(int3) + sizeof(float16) * 100; o[21] = ((int4)(1, 2, 3, 4)).s2;
    o[23] = (int)sizeof(char3) + (int)sizeof(double2);
}
"""


def test_literals(device: DeviceInfo) -> None:
    scalars = [np.zeros(32, np.int64), np.zeros(16), np.zeros(16, np.float32), np.zeros(8, np.float16)]
    vectors = [np.zeros(48, np.float32), np.zeros(32, np.int32), Value(np.float32(2.5))]
    compare(device, LITERALS, [Launch("k", scalars), Launch("v", vectors)])


SWIZZLES = """
kernel void k(global float *o, const global float16 *x) {
    int i = get_global_id(0); o += i * 128;
    float16 a = x[i]; float8 b = a.hi; float4 c = b.even; float2 d = c.yx; float3 e = c.xyz;
    vstore8(a.odd, 0, o); vstore4(a.lo.hi, 2, o); vstore4(a.sFeDc, 3, o); vstore4(a.s0a1b, 4, o);
    vstore3(e.zzx, 7, o); vstore2(e.lo, 12, o); vstore2(d.yy, 13, o); vstore16(a.s0123456789abcdef, 2, o);
    a.s0F = d; a.hi.lo.even = (float2)(-1, -2); a.sabc = e; b.s7654 = b.s0123; b.lo.x += 10; c.xyzw = c.wzyx;
    e.yz = e.zy; e.x = 7; d.x = d.y = 3;
    c.s1 = c.w * 2; c.odd *= 3; (c.zw).x = 5;
    vstore16(a, 3, o); vstore8(b, 8, o); vstore4(c, 18, o); vstore3(e, 25, o); vstore2(d, 39, o);
    int n = i & 3; float *p = (float *)&c; o[80] = p[n]; p[n] = -1; o[81] = c.x + c.y;
    float3 t[2]; t[0] = e; t[1].xyz = e.zyx; t[1].y += t[0].x; vstore3(t[1], 28, o); o[88] = sizeof(t);
    uchar4 u = (uchar4)(1, 2, 3, 4); u.xy = u.zw; u.w++; --u.x; uint *q = (uint *)&u; o[89] = *q;
    float4 m[2] = {c, (float4)(1)}; m[i & 1].yx = m[1 - (i & 1)].zw; vstore4(m[0], 23, o); vstore4(m[1], 24, o);
    global float4 *g = (global float4 *)(o + 100); g->xz = (float2)(4, 5); g[1].w = 8; g[1].lo = g->zx;
}
"""


def test_swizzles(device: DeviceInfo) -> None:
    x = np.random.default_rng(2).integers(-50, 50, 16 * 8).astype(np.float32)
    compare(device, SWIZZLES, [Launch("k", [np.zeros(128 * 8, np.float32), x], (8,))])


UNDEFINED_COMPONENT = """
kernel void k(global float3 *v, global float *o) {
    float2 x = (float2)(10, 20); float3 a = v[0]; a.hi = x; v[0] = a; a.odd += x; v[1] = a; v[2].hi = x; v[2].lo = x.yx;
    o[0] = a.hi.x; o[1] = v[0].odd.x; o[2] = a.even.y; float2 y = v[2].hi; o[3] = y.x; o[4] = (a + a).odd.x;
}
"""


def test_the_undefined_component_of_three(device: DeviceInfo) -> None:
    """`.hi` and `.odd` of a vector of 3 read anything as their second component, and write only the first one."""
    padded = np.dtype({"names": ["value"], "formats": ["3f4"], "offsets": [0], "itemsize": 16})
    vectors = np.arange(12, dtype=np.float32).view(padded)
    launches = [Launch("k", [vectors, np.zeros(5, np.float32)], (1,))]
    compare(device, UNDEFINED_COMPONENT, launches, routes=("native", "one"))


TERNARIES = """
kernel void k(global int *o, global float *f, const global int4 *x, const global float4 *y, const global long2 *l) {
    int i = get_global_id(0); int4 a = x[i], b = x[i + 1]; float4 c = y[i], d = y[i + 1];
    vstore4(a < b ? a : b, i, o); vstore4(a & 1 ? a : -b, i + 16, o); vstore4(c < d ? a : b, i + 32, o);
    vstore4(a > 0 ? c : d, i, f); vstore4(c == c ? c : 1.0f, i + 16, f); vstore4(select(c, d, a < b), i + 32, f);
    o[192 + i] = a.x > b.x ? a.y : b.y; f[192 + i] = a.x ? c.x : 2; o[208 + i] = a.x < 0 ? a.x ? 1 : 2 : b.x ? 3 : 4;
    vstore4(a.x > 0 ? a : b, i + 56, o); vstore2(convert_int2(l[i] > 0L ? l[i] : l[i + 1]), i + 144, o);
    vstore4(a && b, i + 80, o); vstore4(a || 0, i + 96, o); vstore4(!a, i + 112, o); vstore4(!c, i + 128, o);
    o[640 + i] = any(a < b) + 2 * all(a != b) + 4 * (a.x && b.y++ || a.z) + 8 * b.y;
    o[656 + i] = bitselect(a.x, b.x, 0x0ff0) + isnan(c.x) + isless(c.y, d.y) + signbit(c.z);
    vstore4(isgreater(c, d) + isequal(c, c), i + 168, o);
}
"""


def test_ternaries_and_logic(device: DeviceInfo) -> None:
    x = np.random.default_rng(3).integers(-3, 4, 4 * 17).astype(np.int32)
    y, long = values("float", 4 * 17, 3), values("long", 2 * 17, 3)
    buffers = [np.zeros(1024, np.int32), np.zeros(256, np.float32), x, y, long]
    compare(device, TERNARIES, [Launch("k", buffers, (16,))])


# --- builtins ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", slow_where(SAME_WIDTH.__contains__, INTEGERS))
def test_integer_builtins(device: DeviceInfo, name: str) -> None:
    """mad_sat is left out: this device's own is wrong."""
    out, unsigned = Outputs(), "u" + SIGNED[name].lstrip("u")
    for size in (1, 3, 4):
        x, y, z = (load(p, size) for p in "xyz")
        for function in ("add_sat", "sub_sat", "hadd", "rhadd", "max", "min", "mul_hi", "rotate"):
            out.add(name, size, f"{function}({x}, {y})")
        for function in ("clz", "popcount", "ctz"):
            out.add(name, size, f"{function}({x})")
        out.add(unsigned, size, f"abs({x})")
        out.add(unsigned, size, f"abs_diff({x}, {y})")
        out.add(name, size, f"mad_hi({x}, {y}, {z})")
        out.add(name, size, f"clamp({x}, min({y}, {z}), max({y}, {z}))")
        out.add(name, size, f"bitselect({x}, {y}, {z})")
        out.add(name, size, f"select({x}, {y}, {z})")
        if name in ("int", "uint"):
            # Operands of more than 24 bits give what the device likes.
            out.add(name, size, f"mul24({x} >> 8, {y} >> 8)")
            out.add(name, size, f"mad24({x} >> 8, {y} >> 8, {z})")
        if "long" not in name:
            wide = {"char": "short", "short": "int", "int": "long"}[SIGNED[name].lstrip("u")]
            wide = wide if name[0] != "u" else "u" + wide
            out.add(wide, size, f"upsample({x}, as_{vector(unsigned, size)}({y}))")
    source = out.kernel("k", [f"const global {name} *{p}" for p in "xyz"])
    data = [values(name, ITEMS * 4, seed) for seed in (1, 2, 3)]
    data[1] = np.roll(data[1], 3)
    compare(device, source, [Launch("k", [*data, *out.buffers()], (ITEMS,))])


ONE = "sin cos tan exp exp2 exp10 expm1 cbrt sinh cosh tanh asinh atan erf erfc sinpi cospi"
EXACT = "fabs floor ceil rint round trunc"
POSITIVE = "log log2 log10 log1p sqrt rsqrt tgamma lgamma acosh logb"
TWO = "pow powr atan2 hypot fmod fdim copysign fmax fmin nextafter remainder maxmag minmag max min step"


@pytest.mark.parametrize("name", FLOATS)
def test_math_builtins(device: DeviceInfo, name: str) -> None:
    """Both compilers call the same library; a few ulp are for what each expands by itself."""
    out = Outputs()
    for size in (1, 3, 4):
        x, y, z = (load(p, size) for p in "xyz")
        for function in f"{ONE} {EXACT}".split():
            out.add(name, size, f"{function}({x} - ({vector(name, size)})2)")
        for function in POSITIVE.split():
            out.add(name, size, f"{function}({x} + ({vector(name, size)})1)")
        for function in TWO.split():
            out.add(name, size, f"{function}({x}, {y})")
        for function in ("fma", "clamp", "mix", "smoothstep", "mad"):
            out.add(name, size, f"{function}({x}, {y}, {z})")
        for function in ("sign", "degrees", "radians"):
            out.add(name, size, f"{function}({x})")
        out.add("int", size, f"ilogb({x})")
        out.add(name, size, f"ldexp({x}, {'(int)' if size == 1 else f'convert_int{size}'}({y}))")
        out.add(name, size, f"pown({x}, ({vector('int', size)})3)")
        t = vector(name, size)
        out.lines.append(f"{t} r{size}; {vector('int', size)} e{size}; {t} c{size};")
        for call in (f"modf({x}, &r{size})", f"fract({x}, &r{size})", f"sincos({x}, &r{size})"):
            out.add(name, size, f"{call}")
            out.add(name, size, f"r{size}")
        for call in (f"frexp({x}, &e{size})", f"lgamma_r({x}, &e{size})"):
            out.add(name, size, f"{call}")
            out.add("int", size, f"e{size}")
    for size in (1, 2, 3, 4):
        x, y = load("x", size), load("y", size)
        if size > 1 or name != "half":  # the device's own are wrong for scalar halves
            out.add(name, 1, f"dot({x}, {y})")
        if name != "half":  # and these for short vectors of them
            out.add(name, 1, f"length({x})")
            out.add(name, 1, f"distance({x}, {y})")
            out.add(name, size, f"normalize({x})")
    for size in (3, 4):
        out.add(name, size, f"cross({load('x', size)}, {load('y', size)})")
    source = out.kernel("k", [f"const global {name} *{p}" for p in "xyz"])
    generator = np.random.default_rng(4)
    data = [generator.uniform(low, high, ITEMS * 4).astype(NUMPY[name]) for low, high in ((0.1, 4), (1, 3), (3.5, 6))]
    ulps = dict.fromkeys(range(3, 3 + len(out.used)), 4.0)
    compare(device, source, [Launch("k", [*data, *out.buffers()], (ITEMS,), ulps=ulps)])


COMPARISONS = "isequal isnotequal isgreater isgreaterequal isless islessequal islessgreater isordered isunordered"


@pytest.mark.parametrize("name", FLOATS)
def test_relational_builtins(device: DeviceInfo, name: str) -> None:
    out = Outputs()
    for size in (1, 2, 3, 4):
        x, y = load("x", size), load("y", size)
        mask = "int" if size == 1 else MASKS[name]
        for function in COMPARISONS.split():
            out.add(mask, size, f"{function}({x}, {y})")
        for function in ("isfinite", "isinf", "isnan", "isnormal", "signbit"):
            out.add(mask, size, f"{function}({x})")
        out.add(name, size, f"select({x}, {y}, as_{vector(MASKS[name], size)}({y}))")
        out.add(name, size, f"bitselect({x}, {y}, {y})")
        out.add("int", 1, f"any(as_{vector(MASKS[name], size)}({x})) + 2 * all(as_{vector(MASKS[name], size)}({x}))")
    source = out.kernel("k", [f"const global {name} *x", f"const global {name} *y"])
    data = [values(name, ITEMS * 4, 1), np.roll(values(name, ITEMS * 4, 2), 3)]
    compare(device, source, [Launch("k", [*data, *out.buffers()], (ITEMS,))])


HALVES = """
kernel void k(global half *h, global float *f, global double *d, const global float *x, local half *l) {
    int i = get_global_id(0), n = get_local_id(0); float16 v = vload16(i, x); double4 w = convert_double4(v.lo.lo);
    vstore_half(v.x, i * 16, h); vstore_half_rtz(v.y, i * 16 + 1, h); vstore_half2(v.s23, i * 8 + 1, h);
    vstore_half3_rtp(v.s456, i * 4 + 1, h + i * 4 + 1); vstore_half4_rtn(v.s789a, i * 4 + 2, h);
    vstore_half2_rte(w.xy, i * 8 + 6, h); vstore_half(w.z, i * 16 + 14, h);
    vstorea_half4(v.s0123, i * 4, h + 512); vstorea_half8(v.hi, i * 2 + 1, h + 512);
    vstorea_half3(v.s456, i * 4 + 1, h + 512); h[512 + i * 16 + 7] = 7.0h;
    vstore_half4(v.s89ab, n, l); barrier(CLK_LOCAL_MEM_FENCE);
    vstore4(vload_half4(n ^ 1, l), i, f); f[128 + i] = vload_half(n, l); vstore3(vload_half3(n, l), i, f + 256);
    vstore4(vloada_half4(n, l), i, f + 384); vstore3(vloada_half3(n, l), i, f + 512);
    half a = h[i * 16], b = (half)v.z; half4 c = (half4)(a, b, 1.0h, (half)v.w); c = c * c + a; c.x += 1;
    vstore4(c, i, h + 1024); half m[2] = {a, b}; h[1300 + i] = m[i & 1] - 0.5h; h[1400 + i] = -a / 3;
    d[i] = (double)a + b; f[700 + i] = a < b ? a : b; d[32 + i] = vload_half(i * 16, h);
}
"""


def test_half_loads_and_stores(device: DeviceInfo) -> None:
    """What vstorea_half3 leaves in the fourth place is the device's own, another with AVX2 than with AVX-512."""
    x = np.random.default_rng(6).uniform(-9, 9, 16 * 16).astype(np.float32)
    buffers = [np.zeros(2048, np.float16), np.zeros(1024, np.float32), np.zeros(64), x]
    launch = Launch("k", [*buffers, Local(256)], (16,), (8,), ulps={0: 1.0})
    compare(device, HALVES, [launch])


def test_vector_data_builtins(device: DeviceInfo) -> None:
    """vload and vstore of all widths and sizes in all address spaces, shuffle and shuffle2."""
    kernels, launches = [], []
    for number, name in enumerate(("char", "half", "ushort", "float", "ulong")):
        lines = [f"size_t i = get_global_id(0); local {name} l[128]; {name} p[64];"]
        lines.append("for (int j = 0; j < 64; ++j) { p[j] = x[j + i]; l[j] = x[j]; } barrier(CLK_LOCAL_MEM_FENCE);")
        mask = MASKS[name] if MASKS[name][0] == "u" else "u" + MASKS[name]
        at = 0
        for step, size in enumerate(SIZES[1:]):
            for space in (0, 1):
                # Each size meets two of the spaces; over the types, all.
                source = ("x + 1", "p + 3", "l + 1", "c + 1")[(step + number + 2 * space) % 4]
                lines.append(f"vstore{size}(vload{size}(1, {source}), i, out + {at});")
                at += 4 * size
            lines.append(f"vstore{size}(vload{size}(i, x), 0, p + 1); vstore{size}(vload{size}(0, p), i, out + {at});")
            at += 4 * size
            if size != 3 and name != "half":  # the device's compiler has no shuffle for it
                picks = f"convert_{mask}{size}(vload{size}(0, k))"
                lines.append(f"vstore{size}(shuffle(vload4(i, x), {picks}), i, out + {at});")
                lines.append(f"vstore{size}(shuffle2(vload8(i, x), vload8(i, c), {picks}), i, out + {at + 4 * size});")
                at += 8 * size
        body = "\n    ".join(lines)
        head = f"const global {name} *x, constant {name} *c, const global int *k, global {name} *out"
        kernels.append(f"kernel void k_{name}({head}) {{\n    {body}\n}}\n")
        picks = np.random.default_rng(8).integers(0, 64, 16).astype(np.int32)
        data = [values(name, 128, 1), values(name, 128, 2), picks, np.zeros(at, NUMPY[name])]
        launches.append(Launch(f"k_{name}", data, (4,), (4,)))
    compare(device, "".join(kernels), launches)


def test_shuffles_of_half(device: DeviceInfo) -> None:
    source = "kernel void k(global half *o, const global half8 *x, const global ushort4 *m) {"
    source += "vstore4(shuffle(x[0], m[0]), 0, o); vstore4(shuffle2(x[0], x[1], m[0]), 1, o); }"
    x, mask = np.arange(16, dtype=np.float16), np.array([14, 3, 0, 9], np.uint16)
    module = coopmat.compile(source)
    (results,) = execute(device, module.spirv, [Launch("k", [np.zeros(8, np.float16), x, mask])])
    assert results[0].tolist() == [*(mask % 8), *mask]
