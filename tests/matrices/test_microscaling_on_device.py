"""The types of OCP's microscaling formats: every code, and conversions with every rounding, against ml_dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from differential import Launch, Value, execute

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.matrices.numpy_reference import decode_bits, encode_bits
from coopmat.matrices.variants import MICROSCALING_TYPES, ComponentType

NAMES = {"e2m1": "float4_e2m1fn", "e2m3": "float6_e2m3fn", "e3m2": "float6_e3m2fn", "e8m0": "float8_e8m0fnu"}
_SUFFIXES = ("", "_rte", "_rtz", "_rtp", "_rtn")
# (suffix of convert_, rounding, whether it saturates)
ROUNDINGS = [("_sat" * sat + suffix, suffix[1:], sat) for sat in (False, True) for suffix in _SUFFIXES]


def inputs(component: ComponentType) -> np.ndarray[Any, Any]:
    """Return every number of the type, the halves between neighbours, what lies next to these, and special values."""
    codes = decode_bits(component, np.arange(1 << component.width, dtype=np.uint8))
    finite = np.unique(codes[np.isfinite(codes)].astype(np.float64))
    between = (finite[1:] + finite[:-1]) / 2
    beyond = np.array([1.25, 1.5, 1.75, 2, 4]) * component.largest
    special = np.array([0.0, -0.0, 1e-45, 2.0**-128, 1.5 * 2.0**-127])
    exact = np.concatenate([finite, between, beyond, -beyond, finite / 3, special])
    with np.errstate(over="ignore"):
        x = exact.astype(np.float32)
    near = [np.nextafter(x, np.float32(end)) for end in (np.inf, -np.inf)]
    return np.concatenate([x, *near, [np.inf, -np.inf, np.nan]]).astype(np.float32)


@pytest.mark.parametrize("component", MICROSCALING_TYPES, ids=str)
def test_the_reference_is_ml_dtypes(component: ComponentType) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = np.dtype(getattr(ml_dtypes, NAMES[component.name]))
    codes, x = np.arange(1 << component.width, dtype=np.uint8), inputs(component)
    np.testing.assert_array_equal(decode_bits(component, codes), codes.view(dtype).astype(np.float32))
    # ml_dtypes 0.5 rounds every float between 2^-127 and 2^-126 up.
    x = x[(x <= 2.0**-127) | (x >= 1.5 * 2.0**-127)] if not component.mantissa else x
    np.testing.assert_array_equal(encode_bits(component, x), x.astype(dtype).view(np.uint8))


SOURCE = """
kernel void decode(const global uchar *p, global float *o)
{{
    o[get_global_id(0)] = convert_float(as_{t}(p[get_global_id(0)]));
}}
kernel void encode(const global float *p, global {t} *o, uint n)
{{
    const uint i = get_global_id(0);
{stores}
}}
"""


@pytest.mark.parametrize("route", ["native", "one"])
@pytest.mark.parametrize("component", MICROSCALING_TYPES, ids=str)
def test_conversions(device: DeviceInfo, component: ComponentType, route: str) -> None:
    t, x, count = component.opencl_c, inputs(component), 1 << component.width
    stores = "\n".join(f"    o[{n} * n + i] = convert_{t}{how[0]}(p[i]);" for n, how in enumerate(ROUNDINGS))
    module = coopmat.compile(SOURCE.format(t=t, stores=stores), ["-w", "--matrices", route])
    codes, results = np.arange(count, dtype=np.uint8), np.zeros((len(ROUNDINGS), len(x)), np.uint8)
    launches = [
        Launch("decode", [codes, np.zeros(count, np.float32)], (count,), None),
        Launch("encode", [x, results, Value(np.array(len(x), np.uint32))], (len(x),), None),
    ]
    decoded, encoded = execute(device, module.spirv, launches)
    np.testing.assert_array_equal(decoded[1], decode_bits(component, codes))
    expected = [encode_bits(component, x, rounding, saturate) for _, rounding, saturate in ROUNDINGS]
    np.testing.assert_array_equal(encoded[1].reshape(results.shape), expected)
