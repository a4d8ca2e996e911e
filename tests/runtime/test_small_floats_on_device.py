"""Scalars of floating-point types that devices hold as bits: conversions from and to every type, in every rounding
mode, against numpy's numbers rounded once."""

from __future__ import annotations

import numpy as np
import pytest
from differential import FLOATS, INTEGERS, NUMPY, Array, Launch, execute, values

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.matrices.numpy_reference import decode_bits, encode_bits
from coopmat.matrices.variants import SMALL_FLOATS, ComponentType

ROUNDINGS = ("", "_rte", "_rtz", "_rtp", "_rtn")


def numbers(component: ComponentType, name: str) -> Array:
    """All of what halves and bytes are; of others any, and what lies on and about the component type's numbers, the
    ties between them, and the ends of its range."""
    dtype = np.dtype(NUMPY[name])
    if dtype.itemsize <= 2:
        return np.arange(2 ** (8 * dtype.itemsize)).astype(f"u{dtype.itemsize}").view(dtype)
    own = decode_bits(component, np.arange(2**component.bits, dtype=component.numpy)).astype(np.float64)
    own = np.sort(own[np.isfinite(own)])
    own = own[:: max(1, len(own) // 1024)]
    ties = (own[1:] + own[:-1]) / 2
    ends = component.largest * np.array([1, 1 + component.epsilon / 4, 1 + component.epsilon / 2, 2, 1e9])
    least = component.normal * component.epsilon * np.array([1, 0.5, 0.25, 2.0**-20, 1.5])
    special = np.concatenate([ends, -ends, least, -least])
    exact = np.concatenate([own, ties, special])
    with np.errstate(all="ignore"):
        if dtype.kind != "f":
            whole = np.clip(exact, np.iinfo(dtype).min, np.iinfo(dtype).max // 2)
            near = np.concatenate([np.trunc(whole).astype(dtype) + dtype.type(step) for step in (0, 1, 2)])
            return np.concatenate([near, values(name, 512)])
        floats = exact.astype(dtype)
        both = [np.nextafter(floats, dtype.type(end)) for end in (-np.inf, np.inf)]
        odd = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0], dtype)
        return np.concatenate([floats, *both, odd, values(name, 512)])


def same(component: ComponentType, got: Array, expected: Array) -> Array:
    nan = np.isnan(decode_bits(component, got)) & np.isnan(decode_bits(component, expected))
    return np.asarray((got == expected) | nan)


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
@pytest.mark.parametrize("component", SMALL_FLOATS, ids=str)
def test_conversions_to_it_round_once(device: DeviceInfo, component: ComponentType, name: str) -> None:
    ways = [sat + rounding for sat in ["", "_sat"][: 1 + component.saturates] for rounding in ROUNDINGS]
    t, x = component.opencl_c, numbers(component, name)
    lines = "".join(f"out{n}[i] = convert_{t}{way}(in[i]);\n" for n, way in enumerate(ways))
    parameters = "".join(f", global {t} *out{n}" for n in range(len(ways)))
    source = f"kernel void k(const global {name} *in, global {t} *cast{parameters}) {{\n"
    source += f"size_t i = get_global_id(0); cast[i] = ({t})in[i];\n{lines}}}\n"
    outs = [np.zeros(len(x), component.numpy) for _ in ("", *ways)]
    module = coopmat.compile(source, ["--matrices", "one"])
    results = execute(device, module.spirv, [Launch("k", [x, *outs], (len(x),))])[0]
    for n, way in enumerate(("", *ways)):
        got = results[1 + n]
        expected = encode_bits(component, x, way[-3:] if "_rt" in way else "", "_sat" in way)
        wrong = np.flatnonzero(~same(component, got, expected))
        assert not wrong.size, [(way, x[i], hex(got[i]), hex(expected[i])) for i in wrong[:5]]


@pytest.mark.parametrize("component", SMALL_FLOATS, ids=str)
def test_every_pattern_to_floats(device: DeviceInfo, component: ComponentType) -> None:
    t, patterns = component.opencl_c, np.arange(2**component.bits, dtype=component.numpy)
    bits = component.library_c
    source = f"""
        kernel void k(const global {t} *in, global half *h, global float *f, global double *d, global {bits} *b) {{
            size_t i = get_global_id(0);
            h[i] = convert_half_rtz(in[i]); f[i] = (float)in[i]; d[i] = convert_double(in[i]);
            b[i] = as_{bits}(as_{t}(as_{bits}(in[i])));
        }}"""
    outs = [np.zeros(len(patterns), dtype) for dtype in (np.float16, np.float32, np.float64, component.numpy)]
    module = coopmat.compile(source, ["--matrices", "one"])
    results = execute(device, module.spirv, [Launch("k", [patterns, *outs], (len(patterns),))])[0]
    numbers = decode_bits(component, patterns)
    exact = np.abs(numbers) <= 65504 if component.bits == 16 else np.ones(len(patterns), bool)
    exact &= (np.abs(numbers) >= 2.0**-14) | (component.bits == 8)
    with np.errstate(over="ignore", under="ignore"):
        assert np.array_equal(results[1][exact], numbers.astype(np.float16)[exact], equal_nan=True)
    assert np.array_equal(results[2], numbers, equal_nan=True)
    assert np.array_equal(results[3], numbers.astype(np.float64), equal_nan=True)
    assert np.array_equal(results[4], patterns)


@pytest.mark.parametrize("other", SMALL_FLOATS, ids=str)
@pytest.mark.parametrize("component", SMALL_FLOATS, ids=str)
def test_from_one_to_another(device: DeviceInfo, component: ComponentType, other: ComponentType) -> None:
    patterns = np.arange(2**component.bits, dtype=component.numpy)
    source = f"""
        kernel void k(const global {component.opencl_c} *in, global {other.opencl_c} *cast, global {other.opencl_c} *up)
        {{
            size_t i = get_global_id(0);
            cast[i] = ({other.opencl_c})in[i]; up[i] = convert_{other.opencl_c}_rtp(in[i]);
        }}"""
    outs = [np.zeros(len(patterns), other.numpy) for _ in range(2)]
    module = coopmat.compile(source, ["--matrices", "lanes"])
    results = execute(device, module.spirv, [Launch("k", [patterns, *outs], (len(patterns),))])[0]
    for n, rounding in enumerate(("", "rtp")):
        assert same(other, results[1 + n], encode_bits(other, decode_bits(component, patterns), rounding)).all()
