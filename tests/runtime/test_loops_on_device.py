"""Loops to bounds that the host gives, and guards over ids, on the device: what the language says, whatever its own
compiler makes of them (docs/backend.md)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from differential import NUMPY, Launch, Value, execute
from fuzz.loops.campaign import check
from fuzz.loops.kernels import generate

import coopmat
from coopmat.devices import DeviceInfo

# `tools/fuzz-loops` compares more, from other seeds.
KERNELS = 72
ROUTES = ("native", "one")
BOUNDS = (1, 2, 15, 16, 17, 31, 32, 33, 64, 70, 100)
CONDITIONS: dict[str, Callable[[int], int]] = {
    "k < n": lambda n: n,
    "k <= n": lambda n: n + 1,
    "k <= n - 1": lambda n: n,
    "n >= k": lambda n: n + 1,
    "!(k > n)": lambda n: n + 1,
    "k + 1 <= n": lambda n: n,
}


@pytest.mark.parametrize("options", [[], ["-fwrapv"], ["-O0"]])
@pytest.mark.parametrize("route", ROUTES)
def test_loops_run_as_often_as_they_say(device: DeviceInfo, route: str, options: list[str]) -> None:
    sources, launches, expected = [], [], []
    cases = product(("int", "uint", "long", "ulong", "short", "uchar"), CONDITIONS, ("a[k]", "a[(int)k]"))
    for number, (kind, condition, element) in enumerate(cases):
        loop = f"for ({kind} k = 0; {condition}; k++) s += {element} * b[k];"
        parameters = f"global const float *a, global const float *b, global float *o, {kind} n"
        sources.append(f"kernel void f{number}({parameters}) {{ float s = 0; {loop} o[get_global_id(0)] = s; }}")
        for n in BOUNDS:
            ones, bound = np.ones(256, np.float32), Value(np.array(n, NUMPY[kind]))
            launches.append(Launch(f"f{number}", [ones, ones, np.zeros(1, np.float32), bound]))
            expected.append((CONDITIONS[condition](n), kind, condition, element, n))
    binary = coopmat.compile("\n".join(sources), ["--matrices", route, *options]).spirv
    results = execute(device, binary, launches)
    wrong = [(case, result[2][0]) for case, result in zip(expected, results, strict=True) if result[2][0] != case[0]]
    assert not wrong


GUARDS: dict[str, Callable[[int, int, int], bool]] = {
    "39 + -16 * g + -l >= 0": lambda n, g, i: 16 * g + i <= 39,
    "39 - l >= 16 * g": lambda n, g, i: 16 * g + i <= 39,
    "n - 16 * g - l > -1": lambda n, g, i: 16 * g + i <= n,
    "-l >= 16 * g - n": lambda n, g, i: 16 * g + i <= n,
    "l - 3 + 16 * g >= 20": lambda n, g, i: 16 * g + i >= 23,
    "16 * g + l - 5 < n": lambda n, g, i: 16 * g + i < n + 5,
    "16 * g + l <= 31 && l == 7": lambda n, g, i: 16 * g + i <= 31 and i == 7,
    "l == 16 * g - 11 && l < 6": lambda n, g, i: i == 16 * g - 11 and i < 6,
    "G == 24": lambda n, g, i: 16 * g + i == 24,
    "G == 85": lambda n, g, i: False,
    "(ulong)l == (ulong)(16 - 8 * g)": lambda n, g, i: i == 16 - 8 * g,
    "l != n - 16 * g": lambda n, g, i: i != n - 16 * g,
    "(uint)(n - 16 * g) <= (uint)l": lambda n, g, i: n - 16 * g >= 0 and n - 16 * g <= i,
    "get_local_id(0) < (ulong)(n - 16 * g)": lambda n, g, i: n - 16 * g < 0 or i < n - 16 * g,
    "((l - 1) + g) <= (long)n - 30": lambda n, g, i: i - 1 + g <= n - 30,
    "l <= 7": lambda n, g, i: i <= 7,
    "16 * g + l > n && n <= G": lambda n, g, i: 16 * g + i > n,
    "n >= 16 * g + l && l < 1": lambda n, g, i: n >= 16 * g + i and i < 1,
    "G > 2 && G <= 3": lambda n, g, i: 16 * g + i == 3,
    "G <= n && G >= n": lambda n, g, i: 16 * g + i == n,
    "get_local_id(0) >= n - 40": lambda n, g, i: i >= n - 40 >= 0,
    "l <= 1 && g + 1 > l && l > g - 1": lambda n, g, i: i <= 1 and g - 1 < i < g + 1,
    "16 * g + l < n": lambda n, g, i: 16 * g + i < n,
}


@pytest.mark.parametrize("options", [[], ["-fwrapv"], ["-O0"]])
@pytest.mark.parametrize("route", ROUTES)
def test_guards_over_ids_hold(device: DeviceInfo, route: str, options: list[str]) -> None:
    """All in one program: a guard may be mistaken in a kernel behind the one that leads to it."""
    heads = "int l = get_local_id(0), g = get_group_id(0), G = get_global_id(0)"
    sources = [
        f"kernel void f{number}(global int *o, int n) {{ {heads}; if ({guard}) o[get_global_id(0)] = 1; }}"
        for number, guard in enumerate(GUARDS)
    ]
    n, shape = 39, (5, 16)
    # Room for work-items that do not exist.
    arguments = [np.zeros(96, np.int32), Value(np.array(n, np.int32))]
    launches = [Launch(f"f{number}", arguments, (80,), (16,)) for number in range(len(GUARDS))]
    binary = coopmat.compile("\n".join(sources), ["--matrices", route, *options]).spirv
    for (guard, holds), result in zip(GUARDS.items(), execute(device, binary, launches), strict=True):
        wanted = [[holds(n, g, i) for i in range(16)] for g in range(5)]
        np.testing.assert_array_equal(result[0][:80].reshape(shape), wanted, guard)
        assert not result[0][80:].any(), guard


def test_a_guard_in_two_dimensions_holds(device: DeviceInfo) -> None:
    """As loopy writes them."""
    tests = " && ".join(f"39 + -16 * (int)get_group_id({d}) + -1 * (int)get_local_id({d}) >= 0" for d in (0, 1))
    source = f"kernel void f(global int *o) {{ if ({tests}) o[48 * get_global_id(1) + get_global_id(0)] = 1; }}"
    for route in ROUTES:
        launch = Launch("f", [np.zeros((48, 48), np.int32)], (48, 48), (16, 16))
        (result,) = execute(device, coopmat.compile(source, ["--matrices", route]).spirv, [launch])
        wanted = np.zeros((48, 48), np.int32)
        wanted[:40, :40] = 1
        np.testing.assert_array_equal(result[0], wanted)


@pytest.mark.parametrize("first", range(0, KERNELS, 12))
def test_random_loops(device: DeviceInfo, first: int) -> None:
    findings = check(device, [generate(seed) for seed in range(first, first + 12)])
    assert not findings, "\n".join(finding.text for finding in findings)


def test_a_seed_of_loops_is_a_kernel() -> None:
    texts = [generate(seed).text for seed in range(40)]
    assert texts == [generate(seed).text for seed in range(40)] and len(set(texts)) == 40
    # What the generator is for: bounds from outside, orders of both kinds, ways out, guards.
    together = "\n".join(texts)
    for word in ("<= n", "<= m", ">= ", "break;", "while (", "} while", "return;", "lim[", "rows[", "(!("):
        assert word in together, word


TURNS = {
    "int k = 0; k < n; k++": lambda n: n,
    "uint k = 3; k <= n - 2; ++k": lambda n: n - 4,
    "uint k = n; k > 4; k--": lambda n: n - 4,
    "int k = 3; k <= 40; k++": lambda n: 38,
}
# Of a lane and of m, which is 2; each lane's element of `a` is its number.
LANES: dict[str, Callable[[int], bool]] = {
    "m < l": lambda i: i > 2,
    "a[m] < a[l]": lambda i: i > 2,
    "a[l] == 5": lambda i: i == 5,
}


@pytest.mark.parametrize("options", [[], ["-O0"]])
@pytest.mark.parametrize("route", ROUTES)
def test_loops_ask_each_work_item_what_they_do_not_change(device: DeviceInfo, route: str, options: list[str]) -> None:
    """In a part of the work-items: `a[l] <= 6`."""
    sources, launches, expected = [], [], []
    for number, (turns, condition) in enumerate(product(TURNS, LANES)):
        for form in ("s += 1; if ({}) s += 2;", "s += 1; for (long j = 0; j < (({}) ? 2 : 0); j++) s += 1;"):
            name = f"f{number}_{len(sources)}"
            body = f"float s = 0; for ({turns}) {{ {form.format(condition)} }} o[l] = s;"
            head = f"kernel void {name}(global const float *a, global float *o, int n, uint m)"
            sources.append(f"{head} {{ uint l = get_local_id(0); if (a[l] <= 6) {{ {body} }} }}")
            lanes, zeros = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
            launches.append(Launch(name, [lanes, zeros, Value(np.int32(63)), Value(np.uint32(2))], (16,), (16,)))
            sums = [TURNS[turns](63) * (3 if LANES[condition](lane) else 1) for lane in range(7)]
            expected.append((turns, form, condition, sums + [0] * 9))
    binary = coopmat.compile("\n".join(sources), ["-w", "--matrices", route, *options]).spirv
    results = execute(device, binary, launches)
    wrong = [case[:3] for case, result in zip(expected, results, strict=True) if result[1].tolist() != case[3]]
    assert not wrong


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("bound", ["l", "n", "n + g"])
def test_narrow_counters_go_round_to_their_bounds(device: DeviceInfo, route: str, bound: str) -> None:
    head = "kernel void f(global int *o, int n) { int l = get_local_id(0), g = get_group_id(0)"
    loops = f"char i = 3; while ({bound} != i) {{ s++; i++; }} uchar k = 3; do {{ s++; ++k; }} while (k != {bound});"
    binary = coopmat.compile(f"{head}, s = 0; {loops} o[l] = s; }}", ["-w", "--matrices", route]).spirv
    [result] = execute(device, binary, [Launch("f", [np.zeros(2, np.int32), Value(np.int32(1))], (2,), (2,))])
    bounds = (0, 1) if bound == "l" else (1, 1)
    assert result[0].tolist() == [2 * (256 - 3 + end) for end in bounds]
