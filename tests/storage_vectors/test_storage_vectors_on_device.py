"""Vectors of types for storage: every code and every half, in every rounding, and components, on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from differential import Launch, Value, execute

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.frontend.storage_types import STORAGE_TYPES
from coopmat.matrices.numpy_reference import decode_bits, encode_bits, from_memory, in_memory
from coopmat.matrices.variants import BIT_PATTERNS, COMPONENT_TYPES, ComponentType

Array = np.ndarray[Any, Any]
TYPES = {row.name: row for row in BIT_PATTERNS if row.bits == 8}
ML_DTYPES = {
    **{"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "e2m1": "float4_e2m1fn", "e2m3": "float6_e2m3fn"},
    **{"e3m2": "float6_e3m2fn", "e8m0": "float8_e8m0fnu", "s4": "int4", "u4": "uint4"},
}
SIZES = (2, 4, 8, 16)
SUFFIXES = ("", "_rte", "_rtz", "_rtp", "_rtn")
# (suffix of convert_, rounding, whether it saturates)
ROUNDINGS = [("_sat" * sat + suffix, suffix[1:], sat) for sat in (False, True) for suffix in SUFFIXES]
HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)


def test_every_storage_type_is_tested() -> None:
    assert {t.name for t in STORAGE_TYPES} == {row.opencl_c for row in TYPES.values()}


def codes_of(t: ComponentType) -> Array:
    """Return every code; integers are extended to bytes."""
    codes = np.arange(1 << t.width, dtype=np.uint8)
    return from_memory(t, in_memory(t, codes), len(codes))


@pytest.mark.parametrize("name", TYPES)
def test_reference(name: str) -> None:
    """The numpy reference is ml_dtypes, for every code and every half."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    t, dtype = TYPES[name], np.dtype(getattr(ml_dtypes, ML_DTYPES[name]))
    codes = codes_of(t)
    np.testing.assert_array_equal(decode_bits(t, codes), codes.view(dtype).astype(np.float32))
    # The sign of a NaN decides in ml_dtypes which zero it becomes.
    x = HALVES.astype(np.float32)[~(np.isnan(HALVES) & np.signbit(HALVES))]
    if t.is_integer:
        # ml_dtypes wraps out of the range.
        x = x[(x > t.least - 1) & (x < t.largest + 1)]
    low = (1 << t.width) - 1
    np.testing.assert_array_equal(encode_bits(t, x) & low, x.astype(dtype).view(np.uint8) & low)


CONVERSIONS = """
kernel void decode(const global {t} *p, global float *out, global half *halves)
{{
    const size_t i = get_global_id(0);
    vstore{n}(convert_float{n}(vload{n}(i, p)), i, out);
    vstore{n}(convert_half{n}(vload{n}(i, p)), i, halves);
}}
kernel void encode(const global float *x, const global half *h, global {t} *out, ulong count)
{{
    const size_t i = get_global_id(0);
{stores}
}}
"""


def floats(t: ComponentType) -> Array:
    """Return floats of all magnitudes: near the type's numbers and the halves between these, and random patterns."""
    numbers = decode_bits(t, codes_of(t)).astype(np.float64)
    finite = np.unique(numbers[np.isfinite(numbers)])
    between = (finite[1:] + finite[:-1]) / 2
    with np.errstate(over="ignore"):
        x = np.concatenate([finite, between, -between, 1.5 * finite, np.array([np.inf, -np.inf, np.nan])])
        x = x.astype(np.float32)
    near = [np.nextafter(x, np.float32(end)) for end in (np.inf, -np.inf)]
    random = np.random.default_rng(1).integers(0, 1 << 32, 1 << 15, np.uint32).view(np.float32)
    every = np.concatenate([x, *near, random]).astype(np.float32)
    return every[: len(every) // 16 * 16]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", TYPES)
def test_conversions(device: DeviceInfo, name: str, n: int) -> None:
    t, x = TYPES[name], floats(TYPES[name])
    # Each size has other roundings.
    chosen = ROUNDINGS[SIZES.index(n) :: len(SIZES)]
    count = len(x) + len(HALVES)
    first = len(x) // n
    lines = []
    for number, (suffix, _, _) in enumerate(chosen):
        place = f"{number} * count / {n} + i"
        lines.append(f"    if (i < {first})")
        lines.append(f"        vstore{n}(convert_{t.opencl_c}{n}{suffix}(vload{n}(i, x)), {place}, out);")
        lines.append("    else")
        lines.append(f"        vstore{n}(convert_{t.opencl_c}{n}{suffix}(vload{n}(i - {first}, h)), {place}, out);")
    source = CONVERSIONS.format(t=t.opencl_c, n=n, stores="\n".join(lines))
    codes = np.resize(codes_of(t), max(16, len(codes_of(t))))
    numbers = decode_bits(t, codes)
    results = in_memory(t, np.zeros(len(chosen) * count, np.uint8))
    launches = [
        Launch("decode", [in_memory(t, codes), np.zeros(len(codes), np.float32), np.zeros(len(codes), np.float16)],
               (len(codes) // n,)),
        Launch("encode", [x, HALVES, results, Value(np.array(count, np.uint64))], (count // n,)),
    ]  # fmt: skip
    module = coopmat.compile(source, ["-w", "--matrices", "one"])
    decoded, encoded = execute(device, module.spirv, launches)
    np.testing.assert_array_equal(decoded[1], numbers)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(decoded[2], numbers.astype(np.float16))
    inputs = np.concatenate([x, HALVES.astype(np.float32)])
    expected = [encode_bits(t, inputs, rounding, saturate) for _, rounding, saturate in chosen]
    found = from_memory(t, encoded[2], len(chosen) * count).reshape(len(chosen), count)
    np.testing.assert_array_equal(found, expected)


OTHERS = """
kernel void others(const global {t} *p, const global int *x, const global double *d, global int *out, global {t} *codes)
{{
    {t}4 v = vload4(0, p);
    vstore4(convert_int4_rte(v), 0, out);
    vstore4(convert_int4(v), 1, out);
    vstore4(convert_{t}4_sat(vload4(0, x)), 0, codes);
    vstore4(convert_{t}4_sat_rtz(vload4(0, d)), 1, codes);
    vstore4(convert_{t}4_sat(convert_floate5m2_t4(v)), 2, codes);
}}
"""


@pytest.mark.parametrize("name", ["e4m3", "e2m1", "e3m2", "s4"])
def test_integers_doubles_and_other_storage_types(device: DeviceInfo, name: str) -> None:
    t = TYPES[name]
    codes = encode_bits(t, np.float32([1.5, -2.0, 0.5, 3.0]))
    x, d = np.array([1, -3, 7, 1 << 30], np.int32), np.array([1 + 2.0**-40, -3.5, 1e300, -0.5])
    buffers = [in_memory(t, codes), x, d, np.zeros(8, np.int32), in_memory(t, np.zeros(12, np.uint8))]
    module = coopmat.compile(OTHERS.format(t=t.opencl_c), ["-w"])
    (found,) = execute(device, module.spirv, [Launch("others", buffers)])
    numbers = decode_bits(t, codes)
    np.testing.assert_array_equal(found[3], np.concatenate([np.rint(numbers), np.trunc(numbers)]).astype(np.int32))
    through = decode_bits(COMPONENT_TYPES["e5m2"], encode_bits(COMPONENT_TYPES["e5m2"], numbers))
    wanted = [encode_bits(t, x, "", True), encode_bits(t, d, "rtz", True), encode_bits(t, through, "", True)]
    np.testing.assert_array_equal(from_memory(t, found[4], 12), np.concatenate(wanted))


COMPONENTS = """
constant {t}4 K = ({t}4)(1.0f, 2.0f, -3.0f, 0.0f);
constant {t}4 TABLE[2] = {{({t}4)(1.0f, 1.5f, 2.0f, 3.0f), ({t}4)(-1.0f)}};
typedef struct {{ {t}8 v; uint after; }} Record;

static {t}4 swapped({t}4 v, bool b)
{{
    {t}4 r = v.wzyx;
    r.x = v.y;
    r.s12 = v.lo;
    return b ? r : v;
}}

kernel void components(const global {t} *p, global {t} *out, global {t}8 *vectors, global uint *words, int n)
{{
    {t}8 v = vload8(0, p);
    vstore4(swapped(v.lo, true), 0, out);
    vstore4(swapped(v.hi, false), 1, out);
    v.s3 = ({t})-2.0f;
    v.even = v.odd;
    vstore8(v, 1, out);
    Record r = {{v, 7}};
    r.v.hi = K;
    vstore8(r.v, 2, out);
    vstore4(TABLE[n], 6, out);
    vstore4(TABLE[n - 1].zyxw, 7, out);
    vectors[1] = ({t}8)(v.s01, K.xy, v.s7, v.s6, ({t}2)(v.s1));
    local {t}2 shared[2];
    shared[1] = v.s67;
    words[0] = sizeof({t}16) + 100 * sizeof(Record) + 10000 * sizeof(shared) + 1000000 * sizeof({t});
    vstore2(shared[1], 16, out);
    private {t}2 own[2] = {{v.s01, v.s23}};
    vstore2(own[n], 17, out);
    words[1] = {as_uint};
    {t}{whole} w = as_{t}{whole}(words[3]);
    words[2] = as_uint(w) == words[3];
}}
"""


@pytest.mark.parametrize("route", ["native", "one"])
@pytest.mark.parametrize("name", ["e4m3", "e2m1", "s4"])
def test_components(device: DeviceInfo, name: str, route: str) -> None:
    t = TYPES[name]
    n = 8 if t.is_nibble else 4
    source = COMPONENTS.format(t=t.opencl_c, whole=n, as_uint=f"as_uint({'v' if t.is_nibble else 'v.hi'})")
    codes = encode_bits(t, np.float32([1, 2, 3, 0, -1, 1.5, 0.5, 4]))
    size = in_memory(t, np.zeros(8, np.uint8)).size
    vectors, words = np.zeros(2 * size, np.uint8), np.array([0, 0, 0, 0x81234567], np.uint32)
    buffers = [in_memory(t, codes), in_memory(t, np.zeros(36, np.uint8)), vectors, words, Value(np.array(1, np.int32))]
    module = coopmat.compile(source, ["-w", "--matrices", route])
    (found,) = execute(device, module.spirv, [Launch("components", buffers)])
    x = codes.copy()
    of = lambda *numbers: encode_bits(t, np.float32(numbers))  # noqa: E731
    wanted = [x[[1, 0, 1, 0]], x[4:].copy()]
    x[3] = of(-2)[0]
    x[0::2] = x[1::2]
    k = of(1, 2, -3, 0)
    wanted += [x, np.concatenate([x[:4], k]), of(-1, -1, -1, -1), of(2, 1.5, 1, 3), x[6:], x[2:4]]
    np.testing.assert_array_equal(from_memory(t, found[1], 36), np.concatenate(wanted))
    literal = np.concatenate([x[:2], k[:2], x[[7, 6, 1, 1]]])
    np.testing.assert_array_equal(from_memory(t, found[2], 16)[8:], literal)
    record = 8 if t.is_nibble else 12
    record = -(-record // (4 if t.is_nibble else 8)) * (4 if t.is_nibble else 8)
    sizes = 2 * size + 100 * record + 10000 * (size // 2) + 1000000
    word = int.from_bytes(in_memory(t, x if t.is_nibble else x[4:]).tobytes(), "little")
    assert found[3].tolist() == [sizes, word, 1, 0x81234567]
