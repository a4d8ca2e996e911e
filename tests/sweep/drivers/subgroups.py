"""Subgroup functions, in subgroups of a size that both compilers are told."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from cases import KERNEL, Array, Case, Driver, Same, blank, dtype, in_memory, scalar, stride
from differential import Value

from coopmat.frontend.builtins import Overload
from coopmat.frontend.types import Type, element_count

from .folding import OPERATIONS, as_array, fold, operands

GROUP, ITEMS = 32, 128
# What the kernels pass by value, equal in all work-items; the constant size of clusters.
UNIFORM, CLUSTER = 3, 4
SIZES = (8, 16)
# The route that leaves subgroups as they are.
OPTIMISED = "lanes"


@dataclass(frozen=True)
class Lanes:
    """A launch as (subgroups, lanes): which lanes call the function, and their subgroup's size."""

    size: int
    active: Array

    @property
    def lane(self) -> Array:
        return np.broadcast_to(np.arange(self.size), self.active.shape)


# Arguments, each of shape (subgroups, lanes, components), to results, and where these are defined.
Reference = Callable[[Overload, Lanes, list[Array]], "Array | tuple[Array, Array]"]


@dataclass(frozen=True)
class Function:
    """`arguments`: a word for each parameter: `values`, `truth`, `lanes` (a lane's number), `ballot` (a mask, the same
    in the subgroup), `uniform` (UNIFORM, by value), `constant` (UNIFORM), `cluster` (CLUSTER).
    `divergent`: not all lanes call it. `truth`: the result is true or false."""

    arguments: str
    reference: Reference
    divergent: bool = False
    truth: bool = False


def lanes_of(overload: Overload, divergent: bool) -> Lanes:
    size = SIZES[zlib.crc32(str(overload).encode()) % len(SIZES)]
    active = np.arange(ITEMS) % 3 != 1 if divergent else np.ones(ITEMS, bool)
    return Lanes(size, active.reshape(-1, size))


def _inputs(overload: Overload, words: list[str], lanes: Lanes, operation: str) -> list[Array]:
    generator = np.random.default_rng(len(overload.name))
    found = []
    for number, (word, t) in enumerate(zip(words, overload.parameters, strict=True)):
        shape = (*lanes.active.shape, element_count(t))
        kind, count = dtype(t), int(np.prod(shape))
        if word == "values":
            values = operands(operation, scalar(t).name, count).reshape(shape)
            found.append(np.roll(values, number))
        elif word == "truth":
            truth = generator.choice([0, 1, -3, 0x100], shape)
            truth[0], truth[1] = 0, 2
            found.append(truth.astype(kind))
        elif word == "lanes":
            found.append(generator.integers(0, lanes.size, shape).astype(kind))
        elif word == "ballot":
            masks = generator.integers(1, 1 << lanes.size, (shape[0], 1, 1)) * (np.arange(4) == 0)
            found.append(np.broadcast_to(masks, shape).astype(kind))
        else:
            found.append(np.full(shape, CLUSTER if word == "cluster" else UNIFORM, kind))
    return found


_BY_VALUE = {"uniform": "u", "constant": str(UNIFORM), "cluster": str(CLUSTER)}


def _case(overload: Overload, function: Function, operation: str) -> Case:
    words, lanes, result = function.arguments.split(), lanes_of(overload, function.divergent), overload.result
    inputs = _inputs(overload, words, lanes, operation)
    memory = [n for n, word in enumerate(words) if word not in _BY_VALUE]
    parameters = "".join(f"global const {overload.parameters[n]} *a{n}, " for n in memory)
    call = ", ".join(_BY_VALUE.get(word, f"a{n}[i]") for n, word in enumerate(words))
    condition = "if (i % 3 != 1) " if function.divergent else ""
    text = (
        f"__attribute__((intel_reqd_sub_group_size({lanes.size}))) kernel void {KERNEL}("
        f"{parameters}global {result} *r, int u) {{ size_t i = get_global_id(0); {condition}"
        f"r[i] = {overload.name}({call}); }}"
    )
    found = function.reference(overload, lanes, inputs)
    expected, defined = found if isinstance(found, tuple) else (found, np.ones(lanes.active.shape, bool))
    count = element_count(result)
    where = np.broadcast_to((defined & lanes.active).reshape(ITEMS, 1), (ITEMS, count))
    check = Same(
        count,
        stride(result),
        expected.reshape(ITEMS, count).astype(dtype(result)),
        where=where.copy(),
        truth=function.truth,
    )
    buffers = [in_memory(inputs[n].reshape(ITEMS, -1), overload.parameters[n]) for n in memory]
    uniform = Value(np.array([UNIFORM], np.int32))
    return Case(
        text, [*buffers, blank(result, ITEMS), uniform], {len(buffers): check}, (ITEMS,), (GROUP,), optimised=OPTIMISED
    )


# --- references ----------------------------------------------------------------------------------


def _query(name: str) -> Reference:
    def reference(overload: Overload, lanes: Lanes, inputs: list[Array]) -> Array:
        in_group = GROUP // lanes.size
        return {
            "size": np.full(lanes.active.shape, lanes.size),
            "count": np.full(lanes.active.shape, in_group),
            "id": np.broadcast_to(np.arange(len(lanes.active))[:, None] % in_group, lanes.active.shape),
            "lane": lanes.lane,
        }[name]

    return reference


def _truths(lanes: Lanes, inputs: list[Array], rest: bool) -> Array:
    """Each lane's predicate, `rest` in the lanes that do not ask."""
    return np.where(lanes.active, inputs[0][..., 0] != 0, rest)


def _all(overload: Overload, lanes: Lanes, inputs: list[Array]) -> Array:
    return np.repeat(_truths(lanes, inputs, True).all(1, keepdims=True), lanes.size, 1)


def _any(overload: Overload, lanes: Lanes, inputs: list[Array]) -> Array:
    return np.repeat(_truths(lanes, inputs, False).any(1, keepdims=True), lanes.size, 1)


def _first(lanes: Lanes) -> Array:
    """The lowest active lane of each subgroup."""
    return np.argmax(lanes.active, 1)


def _elect(overload: Overload, lanes: Lanes, inputs: list[Array]) -> Array:
    return lanes.lane == _first(lanes)[:, None]


def _take(values: Array, index: Array) -> Array:
    return np.take_along_axis(values, (index % values.shape[1])[..., None], 1)


def _from(index: Callable[[Lanes, list[Array]], Array]) -> Reference:
    """Each lane gets the first argument of another one; undefined where there is no such lane."""

    def reference(overload: Overload, lanes: Lanes, inputs: list[Array]) -> tuple[Array, Array]:
        other = index(lanes, inputs)
        return _take(inputs[0], other), (other >= 0) & (other < lanes.size)

    return reference


def _lane_of(inputs: list[Array]) -> Array:
    return inputs[1][..., 0].astype(int)


def _rotated(lanes: Lanes, inputs: list[Array]) -> Array:
    return (lanes.lane + UNIFORM) % lanes.size


def _rotated_in_cluster(lanes: Lanes, inputs: list[Array]) -> Array:
    return lanes.lane // CLUSTER * CLUSTER + (lanes.lane + UNIFORM) % CLUSTER


def _window(shift: int) -> Reference:
    """intel_sub_group_shuffle_down and _up: lanes of two values, one after the other."""

    def reference(overload: Overload, lanes: Lanes, inputs: list[Array]) -> Array:
        both = np.concatenate(inputs[:2], 1)
        start = 0 if shift > 0 else lanes.size
        return _take(both, lanes.lane + start + shift * UNIFORM)

    return reference


def _all_equal(overload: Overload, lanes: Lanes, inputs: list[Array]) -> Array:
    values = inputs[0][..., 0]
    same = [np.all(row[active] == row[active][0]) for row, active in zip(values, lanes.active, strict=True)]
    return np.repeat(np.array(same)[:, None], lanes.size, 1)


def _mask(bits: Array) -> Array:
    """Bits of shape (..., lanes) as a uint4."""
    words = (bits.astype(np.int64) << np.arange(bits.shape[-1])).sum(-1)
    return np.stack([words, *[np.zeros_like(words)] * 3], -1)


def _ballot(overload: Overload, lanes: Lanes, inputs: list[Array]) -> Array:
    mask = _mask(_truths(lanes, inputs, False))
    return np.repeat(mask[:, None, :], lanes.size, 1)


def _ballot_bits(lanes: Lanes, inputs: list[Array]) -> Array:
    """Of shape (subgroups, lanes, bits)."""
    return (inputs[0][..., 0].astype(np.int64)[..., None] >> np.arange(lanes.size)) & 1


def _of_ballot(function: Callable[[Array, Array], Array]) -> Reference:
    """`function` takes the ballot's bits and, as bits of the same shape, the lane's number."""

    def reference(overload: Overload, lanes: Lanes, inputs: list[Array]) -> Array:
        return function(_ballot_bits(lanes, inputs), lanes.lane[..., None])

    return reference


def _bit(bits: Array, lane: Array) -> Array:
    return np.take_along_axis(bits, lane, -1)


def _bit_extract(overload: Overload, lanes: Lanes, inputs: list[Array]) -> Array:
    return np.take_along_axis(_ballot_bits(lanes, inputs), inputs[1].astype(int), -1)


def _lane_mask(compare: Callable[[Array, Array], Array]) -> Reference:
    """The bits of the subgroup's lanes that compare so with the lane's own number."""

    def reference(overload: Overload, lanes: Lanes, inputs: list[Array]) -> Array:
        return _mask(compare(np.arange(lanes.size), lanes.lane[..., None]))

    return reference


def _folded(kind: str, operation: str, cluster: bool = False) -> Reference:
    def reference(overload: Overload, lanes: Lanes, inputs: list[Array]) -> Array:
        element = scalar(overload.parameters[0]).name
        width = CLUSTER if cluster else lanes.size
        values, active = inputs[0].reshape(-1, width), lanes.active.reshape(-1, width)
        expected = np.zeros_like(values)
        for row, (part, asking) in enumerate(zip(values, active, strict=True)):
            found = fold(kind, operation, part[asking].tolist(), element)
            expected[row, asking] = as_array(found, element)
        return expected.reshape(lanes.active.shape)

    return reference


# --- functions -----------------------------------------------------------------------------------

_FUNCTIONS: dict[str, Function] = {
    "get_sub_group_size": Function("", _query("size")),
    "get_max_sub_group_size": Function("", _query("size")),
    "get_num_sub_groups": Function("", _query("count")),
    "get_enqueued_num_sub_groups": Function("", _query("count")),
    "get_sub_group_id": Function("", _query("id")),
    "get_sub_group_local_id": Function("", _query("lane")),
    "sub_group_all": Function("truth", _all, truth=True),
    "sub_group_any": Function("truth", _any, truth=True),
    "sub_group_broadcast": Function("values uniform", _from(lambda lanes, _: 0 * lanes.lane + UNIFORM)),
    "sub_group_shuffle": Function("values lanes", _from(lambda lanes, i: _lane_of(i))),
    "sub_group_shuffle_xor": Function("values uniform", _from(lambda lanes, _: lanes.lane ^ UNIFORM)),
    "sub_group_shuffle_up": Function("values uniform", _from(lambda lanes, _: lanes.lane - UNIFORM)),
    "sub_group_shuffle_down": Function("values uniform", _from(lambda lanes, _: lanes.lane + UNIFORM)),
    "sub_group_elect": Function("", _elect, divergent=True, truth=True),
    "sub_group_non_uniform_all": Function("truth", _all, divergent=True, truth=True),
    "sub_group_non_uniform_any": Function("truth", _any, divergent=True, truth=True),
    "sub_group_non_uniform_all_equal": Function("values", _all_equal, divergent=True, truth=True),
    # The lane must be one that asks: 3 is one in no subgroup alone, so all ask.
    "sub_group_non_uniform_broadcast": Function("values constant", _from(lambda lanes, _: 0 * lanes.lane + UNIFORM)),
    "sub_group_broadcast_first": Function(
        "values", _from(lambda lanes, _: 0 * lanes.lane + _first(lanes)[:, None]), divergent=True
    ),
    "sub_group_ballot": Function("truth", _ballot, divergent=True),
    "sub_group_inverse_ballot": Function("ballot", _of_ballot(_bit), truth=True),
    "sub_group_ballot_bit_extract": Function("ballot lanes", _bit_extract, truth=True),
    "sub_group_ballot_bit_count": Function("ballot", _of_ballot(lambda bits, lane: bits.sum(-1))),
    "sub_group_ballot_inclusive_scan": Function(
        "ballot", _of_ballot(lambda bits, lane: (bits * (np.arange(bits.shape[-1]) <= lane)).sum(-1))
    ),
    "sub_group_ballot_exclusive_scan": Function(
        "ballot", _of_ballot(lambda bits, lane: (bits * (np.arange(bits.shape[-1]) < lane)).sum(-1))
    ),
    "sub_group_ballot_find_lsb": Function("ballot", _of_ballot(lambda bits, lane: bits.argmax(-1))),
    "sub_group_ballot_find_msb": Function(
        "ballot", _of_ballot(lambda bits, lane: bits.shape[-1] - 1 - bits[..., ::-1].argmax(-1))
    ),
    "get_sub_group_eq_mask": Function("", _lane_mask(np.equal)),
    "get_sub_group_ge_mask": Function("", _lane_mask(np.greater_equal)),
    "get_sub_group_gt_mask": Function("", _lane_mask(np.greater)),
    "get_sub_group_le_mask": Function("", _lane_mask(np.less_equal)),
    "get_sub_group_lt_mask": Function("", _lane_mask(np.less)),
    "sub_group_rotate": Function("values uniform", _from(_rotated)),
    "sub_group_clustered_rotate": Function("values uniform cluster", _from(_rotated_in_cluster)),
    "intel_sub_group_shuffle_down": Function("values values uniform", _window(1)),
    "intel_sub_group_shuffle_up": Function("values values uniform", _window(-1)),
}
for _name in ("broadcast", "shuffle", "shuffle_xor"):
    _FUNCTIONS[f"intel_sub_group_{_name}"] = _FUNCTIONS[f"sub_group_{_name}"]

_FOLD = re.compile(
    r"(intel_)?sub_group_(?P<form>non_uniform_|clustered_)?(?P<kind>reduce|scan_inclusive|scan_exclusive)"
    rf"_(?P<operation>{'|'.join(OPERATIONS)})"
)


def _simple(overload: Overload) -> Case:
    return _case(overload, _FUNCTIONS[overload.name], "max")


def _fold(overload: Overload) -> Case:
    match = _FOLD.fullmatch(overload.name)
    assert match is not None
    kind, operation = match["kind"], match["operation"]
    function = Function("values", _folded(kind, operation))
    if match["form"] == "non_uniform_":
        function = replace(function, divergent=True)
    if match["form"] == "clustered_":
        function = Function("values cluster", _folded(kind, operation, cluster=True))
    return _case(overload, replace(function, truth=operation.startswith("logical")), operation)


# --- block reads and writes ----------------------------------------------------------------------

_BLOCK = re.compile(r"intel_sub_group_block_(?P<what>read|write)(_u[sicl])?(?P<count>\d*)")


def _block(overload: Overload) -> Case:
    """Component k of lane l lies at l + k times the subgroup's size, from an address that the subgroup shares."""
    match = _BLOCK.fullmatch(overload.name)
    assert match is not None
    lanes, count = lanes_of(overload, divergent=False), int(match["count"] or 1)
    t: Type = overload.result if match["what"] == "read" else overload.parameters[1]
    (element,) = {scalar(t).name}
    data = np.arange(ITEMS * count).astype(dtype(t)) * dtype(t).type(37)
    blocks = data.reshape(-1, count, lanes.size)
    vectors = np.ascontiguousarray(blocks.transpose(0, 2, 1)).reshape(ITEMS, count)
    place = f"(i / {lanes.size}) * {lanes.size * count}"
    begin = f"__attribute__((intel_reqd_sub_group_size({lanes.size}))) kernel void {KERNEL}("
    if match["what"] == "read":
        text = (
            f"{begin}global const {element} *a, global {t} *r)"
            f" {{ size_t i = get_global_id(0); r[i] = {overload.name}(a + {place}); }}"
        )
        check = Same(count, stride(t), vectors)
        return Case(text, [data, blank(t, ITEMS)], {1: check}, (ITEMS,), (GROUP,), optimised=OPTIMISED)
    text = (
        f"{begin}global const {t} *a, global {element} *r)"
        f" {{ size_t i = get_global_id(0); {overload.name}(r + {place}, a[i]); }}"
    )
    return Case(
        text,
        [in_memory(vectors, t), np.zeros_like(data)],
        {1: Same(reference=data)},
        (ITEMS,),
        (GROUP,),
        optimised=OPTIMISED,
    )


DRIVERS = (
    Driver("subgroup functions", lambda o: o.name in _FUNCTIONS, _simple),
    Driver("subgroup reductions and scans", lambda o: _FOLD.fullmatch(o.name) is not None, _fold),
    Driver("subgroup blocks", lambda o: _BLOCK.fullmatch(o.name) is not None, _block),
)
