"""Kernels compiled for the subgroups that a device runs them in, on devices that are made for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import coopmat
from coopmat.devices import DeviceInfo, opencl, probe
from coopmat.devices.query import REQUIRED_SUB_GROUP_SIZE
from coopmat.diagnostics import CompileError
from coopmat.options import CompileOptions
from coopmat.runtime import Program, fitting, launch_rules
from coopmat.runtime.fitting import fitted
from coopmat.runtime.launch import compile_for, resolve_options
from coopmat.runtime.launch_rules import LaunchRules

UNTOLD = DeviceInfo(
    index="0:0",
    platform="Some OpenCL",
    name="GPU",
    kind="GPU",
    version="OpenCL 3.0",
    driver="1",
    spirv_versions=("1.0", "1.4"),
    sub_groups=True,
    sub_group_sizes=(),
    extensions=frozenset(),
    fp16=False,
    fp64=False,
    compute_units=2,
    local_memory=32768,
    handle=object(),
)
MATRIX = "coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 4, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)"
SOURCE = f"""
typedef float M __attribute__(({MATRIX}));
kernel void first(global float *o) {{
    M m = coop_mat_init(2.0f);
    coop_mat_store(o, m + m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
}}
kernel void second(global float *o) {{
    M m = coop_mat_init(3.0f);
    coop_mat_store(o, m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
}}
kernel void third(global float *o) {{
    M m = coop_mat_init(4.0f);
    coop_mat_store(o, m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
}}
kernel void plain(global uint *o) {{ o[get_global_id(0)] = get_sub_group_size(); }}
ATTRIBUTE kernel void asking(global uint *o) {{ o[get_global_id(0)] = 1; }}
"""
LANES = ("--matrices", "lanes")


def options(*words: str) -> CompileOptions:
    return CompileOptions.from_arguments([*LANES, "-DATTRIBUTE=", *words])


@pytest.fixture(autouse=True)
def no_native_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    """The handle knows no queries."""
    monkeypatch.setattr(import_module("coopmat.runtime.launch"), "variants_for", lambda device, size: None)


@pytest.fixture
def habit(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets what a probe kernel runs in."""

    def set_(*sizes: int) -> None:
        monkeypatch.setattr(probe, "ask", lambda *_: probe.Answer(list(sizes)))

    return set_


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """What real kernels run in, by name; to be filled."""
    found: dict[str, int] = {}

    def ask(handle: Any, device: DeviceInfo, local_size: tuple[int, ...]) -> int:
        return found.get(handle.name, 0)

    cl = SimpleNamespace(Kernel=lambda program, name: SimpleNamespace(program=program, name=name))
    monkeypatch.setattr(fitting, "opencl", lambda: cl)
    monkeypatch.setattr(fitting, "kernel_size", ask)
    monkeypatch.setattr(launch_rules, "kernel_size", ask)
    return found


def fit(module: Any, device: DeviceInfo = UNTOLD) -> tuple[dict[str, int | None], int]:
    """The sizes that the kernels end with, and how often the driver had something to build."""
    built: list[Any] = []
    module, program = fitted(module, device, lambda found: built.append(found) or len(built))
    assert program == len(built) and built[-1] is module
    return {name: info.sub_group_size for name, info in module.kernels.items()}, len(built)


def test_kernels_are_compiled_for_the_size_that_a_probe_had(habit, sizes):
    habit(8)
    sizes.update(first=8, second=8, third=8)
    module = compile_for(SOURCE.encode(), options(), UNTOLD, name="a.cl")
    found, builds = fit(module)
    assert (found["first"], found["second"], found["third"], builds) == (8, 8, 8, 1)
    assert "OpExecutionMode %first SubgroupSize 8" in module.spirv_text


@pytest.mark.parametrize("code", ["spirv", "c"])
def test_kernels_are_compiled_again_for_the_size_that_they_have_themselves(code, habit, sizes):
    habit(128)
    sizes.update(first=64, second=64, third=64)
    found, builds = fit(compile_for(SOURCE.encode(), options("--code", code), UNTOLD, name="a.cl"))
    assert (found["first"], found["third"], builds) == (64, 64, 2)


def test_without_a_habit_kernels_are_compiled_for_16_and_again(habit, sizes):
    habit()
    sizes.update(first=32, second=32, third=32)
    found, builds = fit(compile_for(SOURCE.encode(), options(), UNTOLD, name="a.cl"))
    assert (found["first"], builds) == (32, 2)


def test_of_kernels_that_differ_most_count_and_the_others_are_refused_at_their_launch(habit, sizes):
    habit(64)
    sizes.update(first=32, second=64, third=32)
    module = compile_for(SOURCE.encode(), options(), UNTOLD, name="a.cl")
    module, _ = fitted(module, UNTOLD, lambda found: None)
    rules = {n: LaunchRules(i, UNTOLD, SimpleNamespace(name=n)) for n, i in module.kernels.items()}
    assert rules["first"].sub_group_size == rules["third"].sub_group_size == 32
    with pytest.raises(CompileError, match=r"'second' is compiled for subgroups of 32, .* in subgroups of 64"):
        rules["second"].local_size_for((64,), None)


def test_a_size_that_the_device_does_not_tell_is_refused_at_the_launch(habit, sizes):
    habit()
    module = compile_for(SOURCE.encode(), options(), UNTOLD, name="a.cl")
    found, builds = fit(module)
    assert (found["first"], builds) == (16, 1)
    rules = LaunchRules(module.kernels["first"], UNTOLD, SimpleNamespace(name="first"))
    with pytest.raises(CompileError, match=r"'first' is compiled for subgroups of 16, .* does not report"):
        rules.local_size_for((64,), None)


def test_what_somebody_asked_for_stays(habit, sizes):
    habit(8, 32)
    sizes.update(first=8, second=8, third=8)
    asked = compile_for(SOURCE.encode(), options("--sub-group-size", "32"), UNTOLD, name="a.cl")
    found, builds = fit(asked)
    assert (found["first"], builds) == (32, 1)
    source = SOURCE.replace("kernel void first", "__attribute__((intel_reqd_sub_group_size(32))) kernel void first")
    found, builds = fit(compile_for(source.encode(), options(), UNTOLD, name="a.cl"))
    assert (found["first"], found["second"], builds) == (32, 8, 1)


def test_a_size_that_no_kernel_has_there_is_refused(habit):
    told = replace(UNTOLD, sub_group_sizes=(8, 32))
    with pytest.raises(CompileError, match="has subgroups of 8, 32 work-items, not of 5") as caught:
        resolve_options(options("--sub-group-size", "5"), told)
    assert [item.code for item in caught.value.diagnostics] == ["sub-group-size"]
    assert resolve_options(options("--sub-group-size", "32"), told).sub_group_size == 32
    habit(8)  # other kernels may have other sizes
    assert resolve_options(options("--sub-group-size", "5"), UNTOLD).sub_group_size == 5


def test_a_size_that_is_asked_for_and_not_there_is_refused_at_the_launch(habit, sizes):
    habit(8)
    sizes["first"] = 8
    module = compile_for(SOURCE.encode(), options("--sub-group-size", "5"), UNTOLD, name="a.cl")
    assert fit(module)[1] == 1
    rules = LaunchRules(module.kernels["first"], UNTOLD, SimpleNamespace(name="first"))
    with pytest.raises(CompileError, match=r"'first' is compiled for subgroups of 5, .* in subgroups of 8"):
        rules.local_size_for((40,), None)


def test_lanes_want_subgroups():
    with pytest.raises(CompileError, match="has no subgroups; use --matrices one or scratch"):
        resolve_options(options(), replace(UNTOLD, sub_groups=False))


def test_where_kernels_get_what_they_ask_for_nothing_is_asked(monkeypatch):
    monkeypatch.setattr(fitting, "kernel_size", lambda *_: pytest.fail("asked"))
    told = replace(UNTOLD, sub_group_sizes=(32,), extensions=frozenset({REQUIRED_SUB_GROUP_SIZE}))
    module = compile_for(SOURCE.encode(), options(), told, name="a.cl")
    found, builds = fit(module, told)
    assert (found["first"], builds) == (32, 1)


@pytest.mark.parametrize("language", ["ir", "spv"])
def test_modules_of_other_front_ends_are_compiled_again_too(language, habit, sizes):
    habit(128)
    sizes.update(first=8)
    words = ["--no-validate"]
    native = coopmat.compile(SOURCE.split("kernel void second")[0], words, name="a.cl")
    source = native.llvm_ir if language == "ir" else native.spirv
    resolved = resolve_options(options(*words), UNTOLD)
    module = coopmat.compile(source, resolved, name="a", language=language)
    assert {name: info.sub_group_size for name, info in module.kernels.items()} == {"first": 128}
    assert fit(module) == ({"first": 8}, 2)


def test_of_a_kernel_without_matrices_a_stated_size_is_only_a_wish(habit, sizes):
    habit(8)
    sizes["asking"] = 8
    source = SOURCE.replace("ATTRIBUTE", "__attribute__((intel_reqd_sub_group_size(32)))")
    info = compile_for(source.encode(), options(), UNTOLD, name="a.cl").kernels["asking"]
    handle = SimpleNamespace(name="asking")
    assert info.sub_group_size == 32 and LaunchRules(info, UNTOLD, handle).sub_group_size == 8
    told = replace(UNTOLD, extensions=frozenset({REQUIRED_SUB_GROUP_SIZE}))
    assert LaunchRules(info, told, handle).sub_group_size == 32


def test_a_real_device_as_if_it_did_not_tell(device: DeviceInfo) -> None:
    """The first build is for a size that the kernels do not have there."""
    untold = replace(device, sub_group_sizes=(), extensions=device.extensions - {REQUIRED_SUB_GROUP_SIZE})
    (size,) = sizes_of(untold)
    program = Program(compile_for(SOURCE.encode(), options(), untold, name="a.cl"), untold)
    kernel = program.kernel("first")
    assert kernel.sub_group_size == size
    cl, out = opencl(), np.zeros(32, np.float32)
    buffer = cl.Buffer(program.context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=out)
    kernel.handle(program.queue, (size,), kernel.local_size_for((size,), None), buffer)
    cl.enqueue_copy(program.queue, out, buffer)
    assert (out == 4).all()


def sizes_of(device: DeviceInfo) -> tuple[int, ...]:
    from coopmat.devices.sub_groups import sub_group_sizes

    found = sub_group_sizes(device)
    if len(found) != 1:
        pytest.skip(f"kernels run in subgroups of {found} here")
    return found
