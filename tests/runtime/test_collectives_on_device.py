"""Subgroup and work-group functions against numpy and the device's own OpenCL C compiler.

The device's own compiler is asked for the same values: where it does not give them, that is in docs/backend.md.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from collectives import (
    ARITHMETIC,
    FLOWS,
    ITEMS,
    LOCAL,
    MATRIX,
    Job,
    kernel,
    reduction,
    results,
    samples,
    typed_cases,
    untyped_cases,
    wrong_lanes,
)
from differential import NUMPY, PROLOGUE, Array, Launch, execute
from optimizer import device_options
from repeats import SAME_WIDTH, slow_where

import coopmat
from coopmat.devices import DeviceInfo

SIZES = (8, 16, 32)
COUNTS = (2, 3, 16)
# What the device's own compiler gets wrong; see docs/backend.md.
OWN_FAULTS = re.compile(r"sub_group_(non_uniform|clustered)_\w+_logical_|sub_group_non_uniform_scan_exclusive_")


def compiled(source: str, size: int) -> coopmat.Module:
    """For subgroups of this size: native ones, or of one."""
    if size == 1:
        return coopmat.compile(source + MATRIX, ["--matrices", "one"], name="collectives.cl")
    return coopmat.compile(source, ["--matrices", "native"], name="collectives.cl")


def scratch(source: str, size: int) -> coopmat.Module:
    options = ["--matrices", "scratch", "--sub-group-size", str(size)]
    return coopmat.compile(source, options, name="collectives.cl")


# All sizes of two types, and of the others a subgroup of one and one of the sizes.
TYPES_AND_SIZES = [
    (t, size)
    for number, t in enumerate(NUMPY)
    for size in (1, *(SIZES if t in ("int", "float") else SIZES[number % len(SIZES) :][:1]))
]


# An integer and a floating type narrower than an int, and one wider.
_DIFFERENT = ("uchar", "int", "ulong", "half", "double")


def _repeats(t: str, size: int) -> bool:
    """A size of its own for each type that is lowered in another way; subgroups of one for each width."""
    if size == 1:
        return t in SAME_WIDTH
    return t not in _DIFFERENT or size != SIZES[list(NUMPY).index(t) % len(SIZES)]


@pytest.mark.parametrize(("t", "size"), slow_where(_repeats, TYPES_AND_SIZES))
def test_subgroup_functions(device: DeviceInfo, t: str, size: int) -> None:
    """Every function of every type, in control flow that a subgroup shares and, where that is allowed, in other.

    A subgroup of 1 is what `--matrices one` makes of it. Subgroups made of work-items (`--matrices scratch`) give the
    same, where all of them call the function.
    """
    if size > 1 and size not in device.sub_group_sizes:
        pytest.skip(f"the device has no subgroups of {size}")
    attributes = f"__attribute__((intel_reqd_sub_group_size({size})))" if size > 1 else ""
    every = [*typed_cases(t, size), *(untyped_cases(size) if t == "int" else ())]
    jobs: list[Job] = []
    source = ""
    for number, condition in enumerate(FLOWS):
        cases = [case for case in every if case.flow or condition == "true"]
        jobs.append((f"k{number}", cases))
        source += kernel(f"k{number}", t, cases, condition, attributes)
    inputs = (
        samples(t, (ITEMS // size, size)).reshape(-1),
        (np.random.default_rng(size).integers(0, 3, ITEMS) * 7).astype(np.int32),
    )
    module = compiled(source, size)
    programs: list[bytes | str] = [module.spirv]
    if size == SIZES[list(NUMPY).index(t) % len(SIZES)]:  # once for each type
        programs.append(PROLOGUE + source)
    for program in programs:
        own = isinstance(program, str)
        found = results(device, program, t, jobs, inputs)
        for (_, cases), condition, result in zip(jobs, FLOWS, found, strict=True):
            wrong = wrong_lanes(cases, condition, size, inputs, result)
            for expression in [text for text in wrong if own and OWN_FAULTS.match(text)]:
                del wrong[expression]
            assert not wrong, "\n".join([f"{t} {size}" + own * ", the device's own compiler", *wrong.values()])
    if size == SIZES[list(NUMPY).index(t) % len(SIZES)]:
        whole = kernel("k0", t, every, "true", "")
        options = device_options(device, whole, ["scratch"])
        (found,) = results(device, scratch(whole, size).spirv, t, [("k0", every)], inputs, options)
        wrong = wrong_lanes(every, "true", size, inputs, found)
        assert not wrong, "\n".join([f"{t} {size}, through local memory", *wrong.values()])


# --- vectors, blocks -----------------------------------------------------------------------------


def vectors(name: str, t: str, size: int) -> str:
    """Functions of vectors, of three kinds, in subgroups of `size`; the results lie one behind the other."""
    lane = min(3, size - 1)
    lines = []
    for n in COUNTS:
        some = [f"sub_group_broadcast(x, {lane}u)", f"sub_group_non_uniform_broadcast(x, {lane}u)"]
        some.append("sub_group_non_uniform_broadcast(x, get_sub_group_size() / 2)")
        if t in ("int", "uint", "float", "short", "ushort"):
            some += [f"intel_sub_group_shuffle(x, {lane}u)", "intel_sub_group_shuffle_xor(x, get_sub_group_size() / 2)"]
            some += ["intel_sub_group_shuffle_up(x, x, get_sub_group_size() / 2)"]
            some += ["intel_sub_group_shuffle_down(x, x, get_sub_group_size() / 2)"]
        lines.append(f"    {{ {t}{n} x = vload{n}(i, xs);")
        lines += [f"    vstore{n}({text}, i, out); out += {n * ITEMS};" for text in some]
        lines.append("    }")
    attributes = f"__attribute__((intel_reqd_sub_group_size({size})))" if size > 1 else ""
    head = f"{attributes} kernel void {name}(global const {t} *xs, global {t} *out) {{ size_t i = get_global_id(0);"
    return "\n".join([head, *lines, "}", ""])


def expected_vectors(t: str, size: int, xs: Array) -> Array:
    parts = []
    lanes = np.arange(ITEMS) % size
    first = np.arange(ITEMS) - lanes
    for n in COUNTS:
        x = xs[: ITEMS * n].reshape(ITEMS, n)
        fixed, half = x[first + min(3, size - 1)], x[first + size // 2]
        parts += [fixed, fixed, half]
        if t in ("int", "uint", "float", "short", "ushort"):
            # Half a subgroup further, up or down, round the end.
            moved = x[first + (lanes + size // 2) % size]
            parts += [fixed, moved, moved, moved]
    return np.concatenate([part.reshape(-1) for part in parts])


@pytest.mark.parametrize(
    ("t", "size"),
    slow_where(lambda t, size: size > 1 and t not in _DIFFERENT, [(t, size) for t in NUMPY for size in (1, 16)]),
)
def test_subgroup_functions_of_vectors(device: DeviceInfo, t: str, size: int) -> None:
    source = vectors(f"k_{t}", t, size)
    module = compiled(source, size)
    xs = samples(t, (1, ITEMS * 16)).reshape(-1)
    want = expected_vectors(t, size, xs)
    launches = [Launch(f"k_{t}", [xs, np.zeros_like(want)], (ITEMS,), (LOCAL,))]
    for made in (module, *([scratch(source, size)] if size > 1 else [])):
        (found,) = execute(device, made.spirv, launches)
        assert np.array_equal(found[1], want)


@pytest.mark.parametrize("size", [1, 8, 16, 32])
def test_intel_block_reads_and_writes(device: DeviceInfo, size: int) -> None:
    attributes = f"__attribute__((intel_reqd_sub_group_size({size})))" if size > 1 else ""
    source, launches = "", []
    for t, suffix in (("uint", ""), ("uint", "_ui"), ("ushort", "_us")):
        for n in (1, 2, 4, 8):
            vector = f"{t}{n if n > 1 else ''}"
            count = f"{suffix}{n if n > 1 else ''}"
            store = f"vstore{n}(x, i, lanes)" if n > 1 else "lanes[i] = x"
            source += f"""{attributes} kernel void k{len(launches)}(global {t} *in, global {t} *lanes,
                global {t} *out) {{
                size_t i = get_global_id(0), first = (i - get_sub_group_local_id()) * {n};
                {vector} x = intel_sub_group_block_read{count}(in + first);
                {store}; intel_sub_group_block_write{count}(out + first, x); }}\n"""
            data = samples(t, (1, ITEMS * n)).reshape(-1)
            launches.append(
                Launch(f"k{len(launches)}", [data, np.zeros_like(data), np.zeros_like(data)], (ITEMS,), (LOCAL,))
            )
    module = compiled(source, size)
    modules = [module, *([scratch(source.replace(attributes, ""), size)] if size == 8 else [])]
    runs = [run for made in modules for run in zip(launches, execute(device, made.spirv, launches), strict=True)]
    for launch, found in runs:
        data = found[0]
        # Element c of a lane's vector lies c subgroups behind its first.
        lanes = data.reshape(ITEMS // size, -1, size).transpose(0, 2, 1).reshape(-1)
        assert np.array_equal(found[1], lanes), launch.kernel
        assert np.array_equal(found[2], data), launch.kernel


# --- work-groups ---------------------------------------------------------------------------------

GROUP_TYPES = ("int", "uint", "long", "ulong", "float", "double", "half")


def group_expressions() -> dict[str, tuple[str, str] | None]:
    """The expressions, with the operation and the kind of reductions."""
    found: dict[str, tuple[str, str] | None] = {}
    for kind in ("reduce", "scan_inclusive", "scan_exclusive"):
        for name in ("add", "min", "max"):
            found[f"work_group_{kind}_{name}(x)"] = (name, kind)
    found["work_group_broadcast(x, PLACE)"] = None
    return found


@pytest.mark.parametrize("shape", [(32,), (8, 4), (4, 2, 4)], ids=str)
def test_work_group_functions(device: DeviceInfo, shape: tuple[int, ...]) -> None:
    """In work-groups of one to three dimensions, all of 32 work-items; two of them in each dimension."""
    place = ", ".join(str(n // 2) for n in shape)
    source = ""
    for t in GROUP_TYPES:
        lines = [
            f"out[{number * 32 * 2 ** len(shape)} + i] = {text.replace('PLACE', place)};"
            for number, text in enumerate(group_expressions())
        ]
        source += f"""kernel void k_{t}(global const {t} *xs, global {t} *out, global int *votes) {{
            size_t local_linear = get_local_linear_id(), group = get_group_id(0) + get_num_groups(0) *
                (get_group_id(1) + get_num_groups(1) * get_group_id(2)), i = group * 32 + local_linear;
            {t} x = xs[i]; {" ".join(lines)}
            votes[i] = (work_group_all(x > ({t})0) != 0) + 2 * (work_group_any(x > ({t})0) != 0); }}\n"""
    groups = 2 ** len(shape)
    launches, inputs = [], {}
    for t in GROUP_TYPES:
        xs = samples(t, (groups, 32))
        xs[0], xs[1] = np.abs(xs[0].astype(np.float64) / 2 + 1).astype(xs.dtype), 0
        inputs[t] = xs
        outs = [np.zeros(len(group_expressions()) * xs.size, xs.dtype), np.zeros(xs.size, np.int32)]
        launches.append(Launch(f"k_{t}", [xs.reshape(-1), *outs], tuple(2 * n for n in shape), shape))
    # The device's own compiler dies of work_group_broadcast(half).
    own = PROLOGUE + re.sub(r"kernel void k_half.*", "", source, flags=re.DOTALL)
    for program in (coopmat.compile(source, name="groups.cl").spirv, own):
        some = launches[:-1] if isinstance(program, str) else launches
        for t, found in zip(GROUP_TYPES, execute(device, program, some), strict=False):
            xs, out = inputs[t], found[1].reshape(-1, groups, 32)
            everybody = np.ones(xs.shape, bool)
            at = sum(n // 2 * int(np.prod(shape[:d])) for d, n in enumerate(shape))
            for number, (text, reduced) in enumerate(group_expressions().items()):
                want = (
                    np.broadcast_to(xs[:, at : at + 1], xs.shape)
                    if reduced is None
                    else reduction(ARITHMETIC[reduced[0]], reduced[1], xs, everybody)
                )
                assert np.array_equal(out[number], want), (t, text)
            votes = (xs > 0).all(1, keepdims=True) + 2 * (xs > 0).any(1, keepdims=True)
            assert np.array_equal(found[2].reshape(xs.shape), np.broadcast_to(votes, xs.shape)), t
