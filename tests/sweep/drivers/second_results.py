"""Math functions that write a second result through a pointer, in each address space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from accuracy import BOUNDS
from cases import BOTH, KERNEL, OURS, Array, Case, Check, Driver, Fault, blank, in_memory, same, scalar, stride
from checks import Alike, Within
from references import Exact, exact, quotient_bits

from coopmat.frontend.builtins import Overload
from coopmat.frontend.types import PointerType, Type, element_count

from .spaces import GROUP, one_result
from .values import value_arguments

NAMES = ("fract", "modf", "sincos", "frexp", "lgamma_r", "remquo")


def _source(overload: Overload) -> str:
    *values, pointer = overload.parameters
    assert isinstance(pointer, PointerType)
    declarations, address, store = one_result(pointer, "q[i]")
    parameters = ", ".join(f"global const {t} *a{i}" for i, t in enumerate(values))
    call = ", ".join(f"a{i}[i]" for i in range(len(values)))
    return (
        f"kernel void {KERNEL}({parameters}, global {overload.result} *r, global {pointer.pointee} *q)"
        f" {{ size_t i = get_global_id(0); {declarations} r[i] = {overload.name}({call}, {address}); {store} }}"
    )


def _case(overload: Overload) -> Case:
    *types, pointer = overload.parameters
    assert isinstance(pointer, PointerType)
    inputs = value_arguments(types, overload.name)
    items = len(inputs[0])
    memory = [in_memory(values, t) for values, t in zip(inputs, types, strict=True)]
    first, second = _CHECKS[overload.name](overload, pointer.pointee, inputs)
    return Case(
        _source(overload),
        [*memory, blank(overload.result, items), blank(pointer.pointee, items)],
        {len(memory): first, len(memory) + 1: second},
        (items,),
        (GROUP,),
    )


def _plain(value: Array) -> Exact:
    near = value.astype(float)
    return near, np.zeros_like(near)


def _within(t: Type, name: str, *references: Exact) -> Within:
    return Within(references, BOUNDS[name].of(scalar(t).name), element_count(t), stride(t))


def _flushed(value: Array) -> Exact:
    near, zeros = _plain(value)
    tiny = float(np.finfo(value.dtype).tiny)
    return np.where(np.abs(near) < tiny, np.copysign(0.0, near), near), zeros


def _both(t: Type, name: str, value: Array) -> Within:
    """The value, or for halves what flushing makes of it."""
    references = [_plain(value)]
    if scalar(t).name == "half":
        references.append(_flushed(value))
    return _within(t, name, *references)


def _fract(overload: Overload, pointee: Type, inputs: Sequence[Array]) -> tuple[Check, Check]:
    (x,) = inputs
    with np.errstate(all="ignore"):
        floor = np.floor(x)
        below_one = np.nextafter(x.dtype.type(1), x.dtype.type(0))
        fraction = np.where(np.isnan(x), x, np.fmin(x - floor, below_one))
        fraction = np.where(np.isinf(x), x.dtype.type(0), fraction)
        # Of negative whole numbers the specification leaves the zero's sign open.
        fraction = np.where(x == 0, x, fraction)
    first = replace(_both(overload.result, "fract", fraction.astype(x.dtype)), signed_zeros=False)
    return first, _both(pointee, "floor", floor)


def _modf(overload: Overload, pointee: Type, inputs: Sequence[Array]) -> tuple[Check, Check]:
    fraction, whole = np.modf(inputs[0])
    return _both(overload.result, "modf", fraction), _both(pointee, "modf", whole)


def _sincos(overload: Overload, pointee: Type, inputs: Sequence[Array]) -> tuple[Check, Check]:
    sine, cosine = exact("sin", inputs), exact("cos", inputs)
    assert sine is not None and cosine is not None
    return _within(overload.result, "sincos", sine), _within(pointee, "sincos", cosine)


def _frexp(overload: Overload, pointee: Type, inputs: Sequence[Array]) -> tuple[Check, Check]:
    """The exponent of NaN and infinities is unspecified."""
    (x,) = inputs
    mantissa, exponent = np.frexp(x)
    return _within(overload.result, "frexp", _plain(mantissa)), same(
        pointee, reference=exponent.astype(np.int32), where=np.isfinite(x)
    )


def _lgamma_r(overload: Overload, pointee: Type, inputs: Sequence[Array]) -> tuple[Check, Check]:
    """The specification bounds lgamma by nothing; the sign is that of the gamma function, where that has one."""
    x = inputs[0].astype(float)
    with np.errstate(all="ignore"):
        defined = np.isfinite(x) & ((x > 0) | (x != np.floor(x)))
        sign = np.where((x < 0) & (np.floor(x) % 2 != 0), -1, 1).astype(np.int32)
    return Alike(16.0, element_count(overload.result), stride(overload.result)), same(
        pointee, reference=sign, where=defined
    )


def _remquo(overload: Overload, pointee: Type, inputs: Sequence[Array]) -> tuple[Check, Check]:
    """Of the quotient at least the low seven bits."""
    remainder = exact("remainder", inputs)
    assert remainder is not None
    x, y = inputs
    defined = np.isfinite(x) & np.isfinite(y) & (y != 0)
    check = _LowBits(element_count(pointee), stride(pointee), quotient_bits(x, y, remainder[0]), defined)
    return _within(overload.result, "remquo", remainder), check


class _LowBits:
    def __init__(self, count: int, step: int, expected: Array, defined: Array) -> None:
        self.count, self.step, self.expected, self.defined = count, step, expected, defined

    def __call__(self, ours: Array, theirs: Array | None) -> Fault | None:
        got = ours.reshape(-1, self.step)[:, : self.count].astype(np.int64)
        low = np.where(got < 0, -(-got & 0x7F), got & 0x7F)
        wrong = (low != self.expected) & self.defined
        if not wrong.any():
            return None
        at = [f"[{i}, {j}] {got[i, j]} for {self.expected[i, j]}" for i, j in np.argwhere(wrong)[:4]]
        kind = BOTH if theirs is not None and np.array_equal(ours, theirs) else OURS
        return kind, f"the low bits of {np.count_nonzero(wrong)} quotients of {wrong.size} differ: {', '.join(at)}"


_CHECKS = {
    "fract": _fract,
    "modf": _modf,
    "sincos": _sincos,
    "frexp": _frexp,
    "lgamma_r": _lgamma_r,
    "remquo": _remquo,
}

DRIVERS = (Driver("second results", lambda o: o.name in NAMES, _case),)
