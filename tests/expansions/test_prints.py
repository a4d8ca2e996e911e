"""`coop_mat_print` and `coop_mat_print_lanes` against numpy's rows: each component type on each route."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from opencl_devices import device_of

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.matrices import numpy_reference
from coopmat.matrices.native_library import spelled
from coopmat.matrices.routes import LOWERED_ROUTES
from coopmat.matrices.variants import COMPONENT_TYPES, SCOPE_WORKGROUP, MatrixType, Use
from coopmat.options import CompileOptions
from coopmat.runtime import Program, launch, parse_header
from coopmat.runtime.launch import compile_for, resolve_options

ROW_MAJOR = "CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR"
ROUTES = ("one", "lanes", "scratch", "x86", "mma:emulated", "native")
MATRICES = {
    name: MatrixType(t, 3, 18 if name == "f32" else 3, Use(number % 3))
    for number, (name, t) in enumerate(COMPONENT_TYPES.items())
}


def values(matrix: MatrixType) -> np.ndarray:
    """Numbers of the component type, the largest and smallest too, as they are in memory."""
    t, rng = matrix.component, np.random.default_rng(7)
    shape = matrix.rows, matrix.columns
    if t.is_integer:
        least, most = np.iinfo(t.numpy).min, np.iinfo(t.numpy).max
        result = rng.integers(least, most, shape, t.numpy, endpoint=True)
        result[0, :2] = least, most
        return result
    numbers = rng.uniform(-2, 2, shape)
    numbers[0, :3] = t.largest, -t.normal, 0
    return numpy_reference.narrow(t, numbers.astype(np.float64 if t.name == "f64" else np.float32))


def kernel(matrices: dict[str, MatrixType], call: str, attributes: str = "") -> str:
    """A kernel that loads each matrix from the argument of its name, and calls `call` with it."""
    lines = [f"typedef {spelled(matrix)} m_{name};" for name, matrix in matrices.items()]
    parameters = ", ".join(f"global {m.component.opencl_c} *p_{name}" for name, m in matrices.items())
    lines += ["// run: kernel=k global=(sg) local=(sg)", f"{attributes} kernel void k({parameters})", "{"]
    for name, matrix in matrices.items():
        lines += [f"m_{name} {name} = coop_mat_load(p_{name}, {ROW_MAJOR}, {matrix.columns});", call.format(name)]
    return "\n".join([*lines, "}", ""])


def run(source: str, route: str, device: DeviceInfo, arrays: dict[str, np.ndarray], capfd, *options: str) -> list[str]:
    """The lines that the kernel prints on a device; those of native matrices come by SPIR-V, read and lowered."""
    flags = ["-w", "--matrices", "lanes" if route == "native" else route, *options]
    parsed = CompileOptions.from_arguments(flags)
    if route == "native":
        native = coopmat.compile(source, ["-w", "--native-profile", "maint1", *options]).spirv
        module = coopmat.compile(native, resolve_options(parsed, device), language="spv")
        # SPIR-V's integers have no signs.
        arrays = {name: array.view(array.dtype.name.removeprefix("u")) for name, array in arrays.items()}
    else:
        module = compile_for(source.encode(), parsed, device, name="print.cl")
    (header,) = parse_header(source, "print.cl")
    capfd.readouterr()
    launch(Program(module, device), header, arrays={f"p_{name}": array for name, array in arrays.items()})
    ctypes.CDLL(None).fflush(None)
    return capfd.readouterr().out.splitlines()


def agree(matrix: MatrixType, printed: list[list[str]], array: np.ndarray) -> None:
    """All numbers are exact, as they are read back from their digits."""
    t = matrix.component
    if t.is_integer:
        assert [[int(text) for text in row] for row in printed] == array.tolist()
        return
    numbers = np.array(printed, np.float64 if t.bits == 64 else np.float32)
    np.testing.assert_array_equal(numpy_reference.narrow(t, numbers), array)


# Every type on every route takes a minute of the devices' compilers.
QUICK = [("one", tuple(MATRICES)), *((route, ("s8", "bf16", "f32")) for route in ROUTES if route != "one")]
EVERY_ROUTE = dict.fromkeys([*ROUTES[1:], *(name for name in LOWERED_ROUTES if ":emulated" in name)])
SLOW = [pytest.param(route, tuple(MATRICES), marks=pytest.mark.slow) for route in EVERY_ROUTE]


@pytest.mark.parametrize(("route", "names"), [*QUICK, *SLOW])
def test_rows_are_those_of_numpy(
    device: DeviceInfo, route: str, names: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    matrices = {name: MATRICES[name] for name in names}
    arrays = {name: values(matrix) for name, matrix in matrices.items()}
    lines = run(kernel(matrices, "coop_mat_print({});"), route, device, arrays, capfd)
    for name, matrix in matrices.items():
        use = ("A", "B", "accumulator")[matrix.use]
        title, *rows = lines[: 1 + matrix.rows]
        del lines[: 1 + matrix.rows]
        assert title == f"{name} [{matrix.rows} x {matrix.columns} {matrix.component.opencl_c} {use}]"
        agree(matrix, [row.split() for row in rows], arrays[name])
    assert lines == []


@pytest.mark.parametrize("route", ROUTES)
def test_lanes_are_those_of_the_layout(device: DeviceInfo, route: str, capfd: pytest.CaptureFixture[str]) -> None:
    matrix = MatrixType(COMPONENT_TYPES["f16"], 16, 16, Use.A)
    array = values(matrix)
    lines = run(kernel({"a": matrix}, "coop_mat_print_lanes({});"), route, device, {"a": array}, capfd)
    rows = [line.split() for line in lines]
    lowered = LOWERED_ROUTES["lanes" if route == "native" else route]
    layout = lowered.lane_layout(matrix, lowered.size(None))
    expected = sorted(
        (lane, slot, *layout.place(lane, slot)) for lane in range(layout.lanes) for slot in range(layout.length(lane))
    )
    assert sorted(tuple(map(int, row[:4])) for row in rows) == expected
    agree(matrix, [[row[4] for row in rows]], np.array([[array[int(row[2]), int(row[3])] for row in rows]]))


@pytest.mark.parametrize("extra", ["pocl", "oclgrind"])
def test_devices_that_take_opencl_c(extra: str, capfd: pytest.CaptureFixture[str]) -> None:
    """PoCL prints doubles as floats, also from its own OpenCL C."""
    matrices = {name: MATRICES[name] for name in ("s8", "u64", "f32", "bf16", "e4m3", *["f64"] * (extra != "pocl"))}
    arrays = {name: values(matrix) for name, matrix in matrices.items()}
    lines = run(kernel(matrices, "coop_mat_print({});"), "scratch", device_of(extra), arrays, capfd)
    assert len(lines) == 4 * len(matrices)
    for number, (name, matrix) in enumerate(matrices.items()):
        agree(matrix, [row.split() for row in lines[4 * number + 1 :][:3]], arrays[name])


def test_matrices_of_work_groups_are_printed_once(device: DeviceInfo, capfd: pytest.CaptureFixture[str]) -> None:
    matrices = {"m": MatrixType(COMPONENT_TYPES["s32"], 4, 8, Use.A, SCOPE_WORKGROUP)}
    source = kernel(matrices, "coop_mat_print({}); coop_mat_print_lanes({0});".replace("{}", "{0}"))
    size = "__attribute__((reqd_work_group_size(32, 1, 1)))"
    source = source.replace("kernel void", f"{size} kernel void").replace("(sg) local=(sg)", "32 local=32")
    lines = run(source, "lanes", device, {"m": np.arange(32, dtype=np.int32).reshape(4, 8)}, capfd)
    assert [list(map(int, row.split())) for row in lines[1:5]] == np.arange(32).reshape(4, 8).tolist()
    assert {tuple(map(int, row.split()))[2:] for row in lines[5:]} == {(n // 8, n % 8, n) for n in range(32)}


@pytest.mark.parametrize("route", ["one", "lanes"])
def test_each_subgroup_prints_and_names_are_literal(
    device: DeviceInfo, route: str, capfd: pytest.CaptureFixture[str]
) -> None:
    matrices = {"m": MATRICES["s8"]}
    name = r"100%% \"of\" %s ?\?/ \\ é"
    source = kernel(matrices, f'coop_mat_print({{}} + {{0}}, "{name}");'.replace("{}", "{0}"))
    source = source.replace("global=(sg)", "global=(2*sg)")
    lines = run(source, route, device, {"m": np.zeros((3, 3), np.int8)}, capfd)
    assert lines.count('100%% "of" %s ??/ \\ é [3 x 3 char A]') == 2 and len(lines) == 8


HEAD = f"typedef {spelled(MATRICES['f32'])} M;\n"


@pytest.mark.parametrize(
    ("text", "code", "options"),
    [
        ("void f(M m, constant char *s) { coop_mat_print(m, s); }", "coop-mat-print", []),
        ("void f(M m, float x) { coop_mat_print(x); }", "coop-mat-not-a-matrix", []),
        ("void f(M m) { coop_mat_print(m, \"a\", 1); }", "argument-count", []),
        ("void f(M m) { coop_mat_print_lanes(m, \"a\"); }", "argument-count", []),
        ("void f(M m) { coop_mat_print(m); }", "coop-mat-print", ["-cl-std=CL1.1"]),
        ("void h(M m) { coop_mat_print(m); } float g(uint r, uint c) { h(coop_mat_init(0)); return 0; }"
         "M f(void) { return coop_mat_build(g); }", "coop-mat-function-effect", []),
    ],
)  # fmt: skip
def test_wrong_calls(text: str, code: str, options: list[str]) -> None:
    with pytest.raises(coopmat.CompileError) as caught:
        coopmat.compile(HEAD + text, ["-w", *options])
    assert caught.value.diagnostics[0].code == code


def test_prints_in_divergent_control_flow_are_reported() -> None:
    source = HEAD + "void f(M m) { if (get_local_id(0) == 0) coop_mat_print(m); }"
    (item,) = coopmat.compile(source, ["-Wall"]).diagnostics
    assert item.code == "coop-mat-nonuniform" and item.message.startswith("this print")


@pytest.mark.parametrize(
    ("call", "scope", "what"),
    [("coop_mat_print_lanes", 3, "coordinates"), ("coop_mat_print", SCOPE_WORKGROUP, "a work-group")],
)
def test_what_a_native_module_cannot_print_is_an_error_at_the_call(call: str, scope: int, what: str) -> None:
    source = kernel({"m": MatrixType(COMPONENT_TYPES["f32"], 8, 8, Use.A, scope)}, f"{call}({{}});")
    source = source.replace("kernel void", "__attribute__((reqd_work_group_size(32, 1, 1))) kernel void")
    with pytest.raises(coopmat.CompileError, match=what) as caught:
        coopmat.compile(source, ["-w", "--native-profile", "khr"]).spirv  # noqa: B018
    (item,) = caught.value.diagnostics
    assert item.code == "native-matrix" and item.span is not None and item.span.line == 6
