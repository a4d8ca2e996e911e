"""`convert_T[_sat][_rounding]` and `as_T`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from cases import Array, Case, Check, Driver, blank, dtype, in_memory, same, scalar, stride
from checks import Within
from differential import NUMPY
from integer_references import wrapped

from coopmat.frontend.builtins import Overload, parse_as, parse_conversion
from coopmat.frontend.types import ScalarType, Type, element_count

from .values import GROUP, source_of, value_arguments

ROUND: dict[str | None, Callable[[Array], Array]] = {
    **{"rte": np.rint, "rtz": np.trunc, "rtp": np.ceil, "rtn": np.floor, None: np.trunc},
}


def rounded(exact: Array, target: ScalarType, rounding: str | None) -> Array:
    """Exact numbers (Python's, in an object array) as floats of the type."""
    kind = NUMPY[target.name]
    flat = []
    for value in exact.ravel().tolist():
        with np.errstate(all="ignore"):
            nearest = _nearest(value, target)
            exactly = float(nearest)
            if exactly != value and np.isfinite(value):
                up = exactly < value and (rounding == "rtp" or (rounding == "rtz" and value < 0))
                down = exactly > value and (rounding == "rtn" or (rounding == "rtz" and value > 0))
                if up or down:
                    nearest = np.nextafter(nearest, kind(np.inf if up else -np.inf))
        flat.append(nearest)
    return np.array(flat, kind).reshape(exact.shape)


def _nearest(value: int | float, target: ScalarType) -> np.floating:  # type: ignore[type-arg]
    """To nearest even; integers without a detour through doubles that round them first."""
    kind = NUMPY[target.name]
    if isinstance(value, int) and abs(value) >= 1 << 53:
        # Sticky: an odd last bit keeps ties from arising.
        shift = abs(value).bit_length() - 53
        kept = abs(value) >> shift
        if target.name != "double":
            sticky = (abs(value) & ((1 << shift) - 1)) != 0
            return kind((1 if value > 0 else -1) * float((kept | sticky) << shift))
    return kind(float(value))


def _fit(values: Array, target: ScalarType, rounding: str | None) -> Array:
    """Floats whose rounded values the integer type has; others give undefined results without `_sat`."""
    limits = np.iinfo(NUMPY[target.name])
    with np.errstate(all="ignore"):
        whole = ROUND[rounding](values.astype(float))
        inside = (whole >= float(limits.min)) & (whole < float(limits.max) + (0 if limits.bits == 64 else 1))
        small = np.linspace(0, 100, values.size).reshape(values.shape).astype(values.dtype)
    return np.where(inside, values, small)


def _case(overload: Overload) -> Case:
    conversion = parse_conversion(overload.name)
    assert conversion is not None
    source, target = scalar(overload.parameters[0]), scalar(overload.result)
    (values,) = value_arguments(overload.parameters, "convert")
    if source.is_float and target.is_integer and not conversion.saturate:
        values = _fit(values, target, conversion.rounding)
    check: Check
    reference, defined = None, None
    if source.is_integer and target.is_integer:
        exact = values.astype(object)
        if conversion.saturate:
            exact = np.clip(exact, int(np.iinfo(dtype(overload.result)).min), int(np.iinfo(dtype(overload.result)).max))
        reference = wrapped(exact, dtype(overload.result))
    elif target.is_integer:
        reference, defined = _saturated(ROUND[conversion.rounding](values.astype(float)), target), ~np.isnan(values)
    elif source.name != target.name:
        reference = _to_float(values, source, target, conversion.rounding)
    check = same(overload.result, reference=reference, where=defined)
    if target.name == "half" and reference is not None:
        check = _half(overload, reference)
    items = len(values)
    arguments = [in_memory(values, overload.parameters[0]), blank(overload.result, items)]
    return Case(source_of(overload), arguments, {1: check}, (items,), (GROUP,))


def _to_float(values: Array, source: ScalarType, target: ScalarType, rounding: str | None) -> Array:
    if target.bits > source.bits and source.is_float:
        return values.astype(NUMPY[target.name])
    return rounded(values.astype(object), target, rounding)


def _half(overload: Overload, reference: Array) -> Within:
    """Subnormal halves may be flushed."""
    near = reference.astype(float)
    tiny = float(np.finfo(np.float16).tiny)
    flushed = np.where(np.abs(near) < tiny, np.copysign(0.0, near), near)
    zeros = np.zeros_like(near)
    t = overload.result
    return Within([(near, zeros), (flushed, zeros)], 0.0, element_count(t), stride(t))


def _saturated(whole: Array, target: ScalarType) -> Array:
    limits = np.iinfo(NUMPY[target.name])

    def one(value: float) -> int:
        if np.isnan(value):
            return 0
        if np.isinf(value):
            return int(limits.max if value > 0 else limits.min)
        return max(int(limits.min), min(int(limits.max), int(value)))

    return np.array([one(v) for v in whole.ravel().tolist()], limits.dtype).reshape(whole.shape)


def _reinterpretation(overload: Overload) -> Case:
    """`as_T`: the bits stay; those of the fourth component of a vector of three are undefined."""
    source, target = overload.parameters[0], overload.result
    (values,) = value_arguments([source], "as")
    items = len(values)
    # NaNs of all kinds may lose nothing but what moving them through a register may change.
    memory = in_memory(values, source)
    where = _known_bytes(source, target, items)
    check = same(target, payloads=True, reference=_bits(memory, target, items), where=where)
    return Case(source_of(overload), [memory, blank(target, items)], {1: check}, (items,), (GROUP,))


def _bits(memory: Array, target: Type, items: int) -> Array:
    kind = dtype(target)
    whole = np.frombuffer(memory.tobytes(), kind).reshape(items, -1)
    return np.ascontiguousarray(whole[:, : element_count(target)])


def _known_bytes(source: Type, target: Type, items: int) -> Array | None:
    """Which components of the target come from components that the source has."""
    if element_count(source) != 3:
        return None
    known = 3 * dtype(source).itemsize // dtype(target).itemsize
    count = element_count(target)
    return np.broadcast_to(np.arange(count) < known, (items, count)).copy()


DRIVERS = (
    Driver("conversions", lambda o: parse_conversion(o.name) is not None, _case),
    Driver("as_T", lambda o: parse_as(o.name) is not None, _reinterpretation),
)
