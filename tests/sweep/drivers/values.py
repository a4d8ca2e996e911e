"""Functions of values: the result depends on nothing but the arguments."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from accuracy import BOUNDS
from cases import KERNEL, Array, Case, Check, Driver, blank, dtype, in_memory, same, scalar, stride
from checks import Alike, Within
from differential import NUMPY
from domains import DOMAINS, Domain
from inputs import VALUES, arguments
from integer_references import integer_result
from references import Exact, exact, flushed

from coopmat.frontend.builtins import Overload
from coopmat.frontend.types import VOID, ScalarType, Type, VectorType, element_count

GROUP = 16


def is_value(t: Type) -> bool:
    return isinstance(t, ScalarType | VectorType) and t != VOID


def takes_values(overload: Overload) -> bool:
    row = overload.row
    return row.pure and not row.name.startswith("get_") and all(map(is_value, (overload.result, *overload.parameters)))


@cache
def _columns(names: tuple[str, ...], label: str) -> tuple[Array, ...]:
    domain = DOMAINS.get(label, Domain())
    found = arguments(names, label, domain.ranges, domain.special, wild=domain.wild)
    return tuple(domain.fit(found))


def value_arguments(parameters: Sequence[Type], label: str) -> list[Array]:
    """For each parameter values of shape (items, components), from the streams of the row's element types."""
    count = max(element_count(t) for t in parameters)
    items = VALUES // count
    columns = _columns(tuple(scalar(t).name for t in parameters), label)
    return [
        c[: items * element_count(t)].reshape(items, element_count(t)) for c, t in zip(columns, parameters, strict=True)
    ]


def source_of(overload: Overload) -> str:
    parameters = ", ".join(f"global const {t} *a{i}" for i, t in enumerate(overload.parameters))
    call = ", ".join(f"a{i}[i]" for i in range(len(overload.parameters)))
    return (
        f"kernel void {KERNEL}({parameters}, global {overload.result} *r)"
        f" {{ size_t i = get_global_id(0); r[i] = {overload.name}({call}); }}"
    )


def _case(overload: Overload) -> Case:
    inputs = value_arguments(overload.parameters, overload.name)
    items = len(inputs[0])
    memory = [in_memory(values, t) for values, t in zip(inputs, overload.parameters, strict=True)]
    return Case(
        source_of(overload),
        [*memory, blank(overload.result, items)],
        {len(memory): check_of(overload, inputs)},
        (items,),
        (GROUP,),
    )


# --- what is right -------------------------------------------------------------------------------


def check_of(overload: Overload, inputs: Sequence[Array]) -> Check:
    name, result = overload.name, overload.result
    if scalar(result).is_float and name in _SPECIAL:
        return _SPECIAL[name](overload, inputs)
    if scalar(result).is_float and name in BOUNDS:
        return within_bounds(overload, inputs)
    reference = None
    if name in ("shuffle", "shuffle2"):
        reference = _shuffled(inputs)
    elif all(scalar(t).is_integer for t in (result, *overload.parameters)):
        reference = integer_result(overload, inputs)
    return same(result, reference=reference, payloads=name.startswith("as_"))


def _shuffled(inputs: Sequence[Array]) -> Array:
    """What the low bits of the mask choose from one vector, or from two side by side (section 6.15.13)."""
    *vectors, mask = inputs
    components = np.concatenate(vectors, 1)
    chosen = mask & np.asarray(components.shape[1] - 1, mask.dtype)
    picked: Array = np.take_along_axis(components, chosen.astype(np.intp), 1)
    return picked


def within_bounds(overload: Overload, inputs: Sequence[Array]) -> Within:
    result = overload.result
    bound = BOUNDS[overload.name].of(scalar(result).name)
    together = [np.ascontiguousarray(a) for a in np.broadcast_arrays(*inputs)]
    whole = all(element_count(t) == element_count(result) for t in overload.parameters)
    find = _exact_of_stream if whole else _exact
    found = [find(overload.name, together)]
    if scalar(result).name == "half" or overload.name.startswith(("half_", "native_")):
        found += flushings(overload.name, together, found[0])
    signed = overload.name not in ("fmax", "fmin", "max", "min", "maxmag", "minmag", "fma", "nextafter")
    return Within(found, bound, element_count(result), stride(result), signed_zeros=signed)


def flushings(name: str, inputs: Sequence[Array], found: Exact) -> list[Exact]:
    """The results that flushing subnormal numbers before or after the function may give: allowed for halves, and of
    the half_ and native_ functions."""
    before = _exact(name, [flushed(a) for a in inputs])
    tiny = float(np.finfo(inputs[0].dtype).tiny)
    after = [
        (np.where(np.abs(near) < tiny, np.copysign(0.0, near), near), np.zeros_like(near))
        for near, _ in (found, before)
    ]
    return [before, *after]


def _exact(name: str, inputs: Sequence[Array]) -> Exact:
    found = exact(name, inputs)
    assert found is not None, f"no reference for '{name}'"
    return found


_STREAMS: dict[tuple[str, ...], Exact] = {}


def _exact_of_stream(name: str, inputs: Sequence[Array]) -> Exact:
    """As `_exact`, from what is known of the whole streams where these are their beginnings."""
    key = (name, *(str(a.dtype) for a in inputs))
    if key not in _STREAMS:
        names = tuple(next(n for n, d in NUMPY.items() if np.dtype(d) == a.dtype) for a in inputs)
        _STREAMS[key] = _exact(name, _columns(names, name))
    near, tail = _STREAMS[key]
    return near[: inputs[0].size].reshape(inputs[0].shape), tail[: inputs[0].size].reshape(inputs[0].shape)


def _mad(overload: Overload, inputs: Sequence[Array]) -> Check:
    """Either fma, or a product and a sum that are both rounded."""
    x, y, z = inputs
    with np.errstate(all="ignore"):
        product = (x.astype(float) * y.astype(float)).astype(x.dtype) if x.dtype != np.float64 else x * y
        twice = product.astype(float) + z.astype(float)
    bound = BOUNDS["fma"].of(scalar(overload.result).name)
    references = [_exact("fma", inputs), (twice, np.zeros_like(twice))]
    if x.dtype == np.float16:
        references += [_exact("fma", [flushed(a) for a in inputs])]
    return Within(references, bound, element_count(overload.result), stride(overload.result), signed_zeros=False)


def _alone(near: Array) -> Exact:
    return near, np.zeros_like(near)


def _epsilon(overload: Overload) -> float:
    return float(np.finfo(dtype(overload.result)).eps)


def _absolute(overload: Overload, near: Array, absolute: Array) -> Within:
    return Within(
        [_alone(near)], 0.5, element_count(overload.result), stride(overload.result), absolute, signed_zeros=False
    )


def _mix(overload: Overload, inputs: Sequence[Array]) -> Check:
    """Within 1e-3 for float; for the other types, as the device likes: three operations."""
    x, y, a = (v.astype(float) for v in np.broadcast_arrays(*inputs))
    with np.errstate(all="ignore"):
        size = np.abs(x) + (np.abs(x) + np.abs(y)) * np.abs(a)
        return _absolute(overload, x + (y - x) * a, 4 * _epsilon(overload) * size)


def _smoothstep(overload: Overload, inputs: Sequence[Array]) -> Check:
    """Within 1e-5 for float; for the other types, as the device likes."""
    low, high, x = (v.astype(float) for v in np.broadcast_arrays(*inputs))
    t = np.clip((x - low) / (high - low), 0, 1)
    slack = 64 * _epsilon(overload) * (1 + (np.abs(low) + np.abs(high)) / (high - low))
    return _absolute(overload, t * t * (3 - 2 * t), slack)


def _dot(overload: Overload, inputs: Sequence[Array]) -> Check:
    x, y = (v.astype(float) for v in inputs)
    n = x.shape[1]
    largest = np.maximum(np.abs(x), np.abs(y)).max(1, keepdims=True)
    return _absolute(overload, (x * y).sum(1, keepdims=True), largest**2 * (2 * n - 1) * _epsilon(overload))


def _cross(overload: Overload, inputs: Sequence[Array]) -> Check:
    """The fourth component is zero."""
    x, y = (v[:, :3].astype(float) for v in inputs)
    near = np.zeros((len(x), element_count(overload.result)))
    near[:, :3] = np.cross(x, y)
    largest = np.maximum(np.abs(x), np.abs(y)).max(1, keepdims=True)
    return _absolute(overload, near, largest**2 * 3 * _epsilon(overload) * np.ones_like(near))


def _norm(overload: Overload, inputs: Sequence[Array]) -> Check:
    """length, distance, normalize and their fast forms."""
    wide = [v.astype(np.longdouble) for v in inputs]
    x = wide[0] - wide[1] if len(wide) == 2 else wide[0]
    length = np.sqrt((x * x).sum(1, keepdims=True))
    value = (
        length if "normalize" not in overload.name else np.where(length == 0, x, x / np.where(length == 0, 1, length))
    )
    near = value.astype(float)
    found = (near, (value - near).astype(float))
    count = element_count(overload.parameters[0])
    bound = BOUNDS[overload.name].of(scalar(overload.result).name, count)
    return Within([found], bound, element_count(overload.result), stride(overload.result))


def _lgamma(overload: Overload, inputs: Sequence[Array]) -> Check:
    """The specification bounds nothing."""
    return Alike(16.0, element_count(overload.result), stride(overload.result))


_SPECIAL = {
    "mad": _mad,
    "mix": _mix,
    "smoothstep": _smoothstep,
    "dot": _dot,
    "cross": _cross,
    "lgamma": _lgamma,
    **dict.fromkeys(("length", "distance", "normalize", "fast_length", "fast_distance", "fast_normalize"), _norm),
}

DRIVERS = (Driver("values", takes_values, _case),)
