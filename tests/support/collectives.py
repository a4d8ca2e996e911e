"""The results of subgroup and work-group functions in numpy, and kernels that call these functions.

Values are arrays of shape (groups, lanes). An `Expected` has the result of every lane, and a mask of the lanes in which
the result is defined: lanes that take part, and that read from lanes that take part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from differential import FLOATS, NUMPY, Array, Launch, execute

from coopmat.devices import DeviceInfo

ADD, MUL, MIN, MAX = np.add, np.multiply, np.minimum, np.maximum
ARITHMETIC: dict[str, Any] = {"add": ADD, "mul": MUL, "min": MIN, "max": MAX}
BITS: dict[str, Any] = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
LOGICAL: dict[str, Any] = {f"logical_{name}": operation for name, operation in BITS.items()}


@dataclass(frozen=True)
class Expected:
    values: Array
    defined: Array


@dataclass(frozen=True)
class Case:
    """A call of a collective function.

    expression: an expression of x (of type T), p (a predicate) and `lane`.
    result: the name of the result's type.
    reference: a function from x, p and the mask of the active lanes to the expected results.
    flow: whether the call may be in control flow that diverges within a group.
    """

    expression: str
    result: str
    reference: Callable[[Array, Array, Array], Expected]
    flow: bool = False


def samples(name: str, shape: tuple[int, int]) -> Array:
    """Return integers of the whole range, or floats whose sums and products in a subgroup are exact."""
    generator = np.random.default_rng(len(name) + shape[1])
    if name in FLOATS:
        return generator.choice([-2.0, -1.0, 1.0, 2.0, 0.5], shape).astype(NUMPY[name])
    span = np.iinfo(NUMPY[name])
    return generator.integers(span.min, span.max, shape, NUMPY[name], endpoint=True)


def identity(operation: Any, kind: np.dtype[Any]) -> Any:
    limits = np.finfo(kind) if kind.kind == "f" else np.iinfo(kind)
    ends = (np.inf, -np.inf) if kind.kind == "f" else (limits.max, limits.min)
    return {ADD: 0, MUL: 1, MIN: ends[0], MAX: ends[1], BITS["and"]: -1, BITS["or"]: 0, BITS["xor"]: 0}[operation]


def reduction(operation: Any, kind: str, values: Array, active: Array, cluster: int = 0) -> Array:
    """Return the results of a reduction or scan in clusters of `cluster` lanes, 0 for the whole group.

    `kind` is reduce, scan_inclusive or scan_exclusive.
    """
    result = np.empty_like(values)
    neutral = np.array(identity(operation, values.dtype)).astype(values.dtype)
    with np.errstate(all="ignore"):
        for group, row in enumerate(values):
            for start in range(0, len(row), cluster or len(row)):
                lanes = [i for i in range(start, min(start + (cluster or len(row)), len(row))) if active[group, i]]
                total = neutral
                for lane in lanes:
                    before, total = total, operation(total, row[lane]).astype(values.dtype)
                    result[group, lane] = before if kind == "scan_exclusive" else total
                if kind == "reduce":
                    result[group, lanes] = total
    return result


def reduced(operation: Any, kind: str, cluster: int = 0) -> Callable[[Array, Array, Array], Expected]:
    def reference(x: Array, p: Array, active: Array) -> Expected:
        return Expected(reduction(operation, kind, x, active, cluster), active)

    return reference


def reduced_truth(operation: Any, kind: str, cluster: int = 0) -> Callable[[Array, Array, Array], Expected]:
    def reference(x: Array, p: Array, active: Array) -> Expected:
        truth = (p != 0).astype(np.int32)
        found = reduction(operation, kind, truth, active, cluster)
        return Expected((found != 0).astype(np.int32), active)

    return reference


def gathered(index: Callable[[Array, int], Array]) -> Callable[[Array, Array, Array], Expected]:
    """Return a reference by which each lane gets another lane's value.

    `index` maps the lanes' numbers and the group's size to the numbers of the lanes that they read.
    """

    def reference(x: Array, p: Array, active: Array) -> Expected:
        size = x.shape[1]
        at = np.broadcast_to(index(np.arange(size), size), x.shape)
        inside = (at >= 0) & (at < size)
        at = np.where(inside, at, 0)
        return Expected(np.take_along_axis(x, at, 1), active & inside & np.take_along_axis(active, at, 1))

    return reference


def beside(up: bool, delta: int) -> Callable[[Array, Array, Array], Expected]:
    """Return a reference for intel_sub_group_shuffle_up or _down of x and x + 1."""

    def reference(x: Array, p: Array, active: Array) -> Expected:
        size = x.shape[1]
        with np.errstate(all="ignore"):
            other = (x + x.dtype.type(1)).astype(x.dtype)
        row = np.concatenate([other, x] if up else [x, other], axis=1)
        at = np.arange(size) + (size - delta if up else delta)
        return Expected(row[:, at], active)

    return reference


def of_lanes(make: Callable[[Array], Array]) -> Callable[[Array, Array, Array], Expected]:
    """Return a reference that depends on the predicate only.

    `make` maps the truth values of a group's active lanes to their results.
    """

    def reference(x: Array, p: Array, active: Array) -> Expected:
        result = np.zeros(x.shape, np.uint64)
        for group in range(len(x)):
            result[group, active[group]] = make((p[group] != 0)[active[group]])
        return Expected(result, active)

    return reference


def ballot(p: Array, active: Array) -> Array:
    """Return the ballot mask of each group as a Python number."""
    bits = ((p != 0) & active).astype(object)
    return np.array([[sum(bit << lane for lane, bit in enumerate(row))] for row in bits])


def of_ballot(make: Callable[[int, int], int]) -> Callable[[Array, Array, Array], Expected]:
    """Return a reference by which `make` maps the ballot mask and the lane to a value."""

    def reference(x: Array, p: Array, active: Array) -> Expected:
        masks = ballot(p, active)
        found = [[make(int(mask[0]), lane) & 0xFFFFFFFF for lane in range(x.shape[1])] for mask in masks]
        return Expected(np.array(found, np.uint64), active & (masks.astype(np.uint64) != 0))

    return reference


def bits(number: int) -> int:
    return bin(number).count("1")


MASKS: dict[str, Callable[[int, int], int]] = {
    "eq": lambda lane, size: 1 << lane,
    "ge": lambda lane, size: (1 << size) - (1 << lane),
    "gt": lambda lane, size: (1 << size) - (2 << lane),
    "le": lambda lane, size: (2 << lane) - 1,
    "lt": lambda lane, size: (1 << lane) - 1,
}


def masked(name: str) -> Callable[[Array, Array, Array], Expected]:
    def reference(x: Array, p: Array, active: Array) -> Expected:
        lanes = [MASKS[name](lane, x.shape[1]) for lane in range(x.shape[1])]
        return Expected(np.broadcast_to(np.array(lanes, np.uint64), x.shape), active)

    return reference


def same_for_all(x: Array, p: Array, active: Array) -> Expected:
    equal = [len(set(row[on].tolist())) <= 1 for row, on in zip(x, active, strict=True)]
    return Expected(np.broadcast_to(np.array(equal, np.int32)[:, None], x.shape), active)


def elected(x: Array, p: Array, active: Array) -> Expected:
    first = np.argmax(active, axis=1)
    return Expected((np.arange(x.shape[1]) == first[:, None]).astype(np.int32), active)


def first_active(x: Array, p: Array, active: Array) -> Expected:
    first = np.argmax(active, axis=1)
    return Expected(np.broadcast_to(np.take_along_axis(x, first[:, None], 1), x.shape), active)


def kinds(prefix: str, flow: bool, t: str, arithmetic: bool = True, names: tuple[str, ...] = ()) -> Iterator[Case]:
    """Yield reductions and scans of a type; `names` are the operations, all by default."""
    for kind in ("reduce", "scan_inclusive", "scan_exclusive"):
        for name, operation in ARITHMETIC.items():
            if not names or name in names:
                yield Case(f"{prefix}_{kind}_{name}(x)", t, reduced(operation, kind), flow)
        if not names and t not in FLOATS:
            for name, operation in BITS.items():
                yield Case(f"{prefix}_{kind}_{name}(x)", t, reduced(operation, kind), flow)


def typed_cases(t: str, size: int) -> Iterator[Case]:
    """Yield every subgroup function on a value of type t, in subgroups of `size`."""
    lane = min(3, size - 1)
    yield from kinds("sub_group", False, t, names=("add", "min", "max"))
    yield from kinds("sub_group_non_uniform", True, t)
    for cluster in dict.fromkeys((min(4, size), size)):
        for name, operation in {**ARITHMETIC, **({} if t in FLOATS else BITS)}.items():
            text = f"sub_group_clustered_reduce_{name}(x, {cluster}u)"
            yield Case(text, t, reduced(operation, "reduce", cluster), True)
        yield Case(
            f"sub_group_clustered_rotate(x, 3, {cluster})",
            t,
            gathered(lambda i, n, c=cluster: i // c * c + (i + 3) % c),
            True,
        )
    yield Case(f"sub_group_broadcast(x, {lane})", t, gathered(lambda i, n: np.full(n, lane)))
    yield Case(f"sub_group_non_uniform_broadcast(x, {lane})", t, gathered(lambda i, n: np.full(n, lane)), True)
    text = "sub_group_non_uniform_broadcast(x, get_sub_group_size() / 2)"
    yield Case(text, t, gathered(lambda i, n: np.full(n, n // 2)), True)
    yield Case("sub_group_broadcast_first(x)", t, first_active, True)
    yield Case("sub_group_shuffle(x, lane / 2)", t, gathered(lambda i, n: i // 2), True)
    yield Case("sub_group_shuffle_xor(x, 2)", t, gathered(lambda i, n: i ^ 2), True)
    yield Case("sub_group_shuffle_up(x, 1)", t, gathered(lambda i, n: i - 1), True)
    yield Case("sub_group_shuffle_down(x, 2)", t, gathered(lambda i, n: i + 2), True)
    for delta in (1, 5, -2):
        yield Case(f"sub_group_rotate(x, {delta})", t, gathered(partial(rotated, delta)), True)
    yield Case("sub_group_non_uniform_all_equal(x)", "int", same_for_all, True)
    yield Case(
        f"sub_group_non_uniform_all_equal(({t})5)", "int", lambda x, p, on: Expected(on.astype(np.int32), on), True
    )
    if t in INTEL:
        yield Case(f"intel_sub_group_shuffle(x, {lane})", t, gathered(lambda i, n: np.full(n, lane)))
        yield Case("intel_sub_group_shuffle_xor(x, 1)", t, gathered(lambda i, n: i ^ 1))
        yield Case(f"intel_sub_group_shuffle_up(({t})(x + ({t})1), x, 1)", t, beside(True, 1))
        yield Case(f"intel_sub_group_shuffle_down(x, ({t})(x + ({t})1), 1)", t, beside(False, 1))
    if t in ("short", "ushort"):
        yield Case(f"intel_sub_group_broadcast(x, {lane})", t, gathered(lambda i, n: np.full(n, lane)))
        yield from kinds("intel_sub_group", False, t, names=("add", "min", "max"))


INTEL = ("short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double")


def rotated(delta: int, lanes: Array, size: int) -> Array:
    return np.asarray((lanes + delta) % size)


def untyped_cases(size: int) -> Iterator[Case]:
    """Yield votes, ballots, masks and logical reductions."""
    everybody: dict[str, Callable[[Array], Any]] = {"all": np.all, "any": np.any}
    for name, vote in everybody.items():
        yield Case(f"sub_group_{name}(p) != 0", "int", of_lanes(vote))
        yield Case(f"sub_group_non_uniform_{name}(p) != 0", "int", of_lanes(vote), True)
    yield Case("sub_group_elect()", "int", elected, True)
    for name, operation in LOGICAL.items():
        for kind in ("reduce", "scan_inclusive", "scan_exclusive"):
            text = f"sub_group_non_uniform_{kind}_{name}(p)"
            yield Case(text, "int", reduced_truth(operation, kind), True)
        for cluster in dict.fromkeys((min(4, size), size)):
            text = f"sub_group_clustered_reduce_{name}(p, {cluster}u)"
            yield Case(text, "int", reduced_truth(operation, "reduce", cluster), True)
    for part in range(4):
        yield Case(
            f"sub_group_ballot(p).s{part}",
            "uint",
            of_ballot(lambda mask, lane, part=part: mask >> 32 * part & 0xFFFFFFFF),
            True,
        )
    numbers: dict[str, Callable[[int, int], int]] = {
        "sub_group_inverse_ballot(b)": lambda mask, lane: mask >> lane & 1,
        "sub_group_ballot_bit_extract(b, lane / 2)": lambda mask, lane: mask >> lane // 2 & 1,
        "sub_group_ballot_bit_count(b)": lambda mask, lane: bits(mask),
        "sub_group_ballot_inclusive_scan(b)": lambda mask, lane: bits(mask & (2 << lane) - 1),
        "sub_group_ballot_exclusive_scan(b)": lambda mask, lane: bits(mask & (1 << lane) - 1),
        "sub_group_ballot_find_lsb(b)": lambda mask, lane: (mask & -mask).bit_length() - 1,
        "sub_group_ballot_find_msb(b)": lambda mask, lane: mask.bit_length() - 1,
    }
    for text, make in numbers.items():
        yield Case(text, "uint", of_ballot(make), True)
    for name in MASKS:
        for part in range(4):
            reference = masked(name)
            yield Case(
                f"get_sub_group_{name}_mask().s{part}",
                "uint",
                lambda x, p, on, r=reference, part=part: (
                    Expected(r(x, p, on).values >> np.uint64(32 * part), on)
                    if part < 2
                    else Expected(np.zeros(x.shape, np.uint64), on)
                ),
            )


# --- kernels that call them

LOCAL = 64
ITEMS = 2 * LOCAL
# If a module has matrices, `--matrices one` makes subgroups of one lane.
MATRIX = """
kernel void matrix() { float __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 1, 1,
    CLK_COOPERATIVE_MATRIX_A))) m = coop_mat_init(0.0f); }
"""
# condition -> the lanes that take part: all of them, or some of each subgroup
FLOWS = {"true": lambda lane: lane >= 0, "lane % 3 != 1": lambda lane: lane % 3 != 1}


def kernel(name: str, t: str, cases: Sequence[Case], condition: str, attributes: str) -> str:
    lines = [
        f"{attributes} kernel void {name}(global const {t} *xs, global const int *ps, global {t} *out_{t},",
        f"    {', '.join(f'global {r} *out_{r}' for r in ('int', 'uint') if r != t)}) {{",
        f"    size_t i = get_global_id(0); {t} x = xs[i]; int p = ps[i];",
        "    uint lane = get_sub_group_local_id();",
        f"    if ({condition}) {{ uint4 b = sub_group_ballot(p);",
    ]
    for number, case in enumerate(cases):
        lines.append(f"        out_{case.result}[{number} * {ITEMS} + i] = {case.expression};")
    return "\n".join([*lines, "    }", "}", ""])


def wrong_lanes(
    cases: Sequence[Case], condition: str, size: int, inputs: Sequence[Array], found: dict[str, Array]
) -> dict[str, str]:
    """Return expression -> the first lane in which a kernel's result is not the expected one."""
    lane = np.arange(ITEMS).reshape(-1, size) % size
    active = np.broadcast_to(FLOWS[condition](lane), lane.shape)
    x, p = (values.reshape(lane.shape) for values in inputs)
    wrong = {}
    for number, case in enumerate(cases):
        expected = case.reference(x, p, active)
        got = found[case.result][number].reshape(lane.shape)
        want = expected.values.astype(got.dtype)
        bad = expected.defined & (got != want)
        if bad.any():
            at = tuple(np.argwhere(bad)[0])
            wrong[case.expression] = f"if ({condition}) {case.expression}: {got[at]!r} not {want[at]!r} at {at}"
    return wrong


Job = tuple[str, list[Case]]


def results(
    device: DeviceInfo,
    program: bytes | str,
    t: str,
    jobs: Sequence[Job],
    inputs: Sequence[Array],
    options: Sequence[str] = (),
) -> list[dict[str, Array]]:
    """Return for each kernel its result buffers, by element type."""
    names = list(dict.fromkeys((t, "int", "uint")))
    launches = []
    for name, cases in jobs:
        outs = [np.full((len(cases), ITEMS), 77, NUMPY[r]) for r in names]
        launches.append(Launch(name, [*inputs, *outs], (ITEMS,), (LOCAL,)))
    found = execute(device, program, launches, options)
    return [{name: result[2 + i] for i, name in enumerate(names)} for result in found]
