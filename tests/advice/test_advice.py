"""Each warning of -Wmatrix-performance: a kernel that earns the message, and kernels that do not."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from coopmat.advice import Device, advise
from coopmat.compiler import compile
from coopmat.diagnostics import CompileError, Diagnostic
from coopmat.matrices.routes import LOWERED_ROUTES, Tuning
from coopmat.matrices.variants import COMPONENT_TYPES
from coopmat.options import CompileOptions
from coopmat.warning_options import MEMBERS, resolve

PRODUCT = """
#define SCOPE CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define MATRIX(R, C, USE) __attribute__((coop_mat(SCOPE, R, C, CLK_COOPERATIVE_MATRIX_##USE)))
#define ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMNS CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
kernel void gemm(global const IN *a, global const IN *b, global OUT *c, uint n, uint ld) {
    const size_t row = get_group_id(1) * TM, column = get_group_id(0) * TN;
    OUT MATRIX(TM, TN, ACCUMULATOR) sum = coop_mat_init((OUT)0);
    LOOP {
        IN MATRIX(TM, TK, A) left = LOAD_A;
        IN MATRIX(TK, TN, B) right = LOAD_B;
        sum = coop_mat_mulAdd(left, right, sum);
    }
    coop_mat_store(c + row * 1024 + column, sum, ROWS, 1024);
}
"""
LINE = {text: number for number, text in enumerate(map(str.strip, PRODUCT.split("\n")), 1)}
LEFT, RIGHT = LINE["IN MATRIX(TM, TK, A) left = LOAD_A;"], LINE["IN MATRIX(TK, TN, B) right = LOAD_B;"]
SUM = LINE["sum = coop_mat_mulAdd(left, right, sum);"]
MACROS = {
    "LOOP": "for (size_t k = 0; k < n; k += TK)",
    "LOAD_A": "coop_mat_load(a + row * 1040 + k, ROWS, 1040)",
    "LOAD_B": "coop_mat_load(b + k * 1040 + column, ROWS, 1040)",
}
TYPES = {"f32": ("float", "float"), "f16": ("half", "float"), "bf16": ("bfloat16", "float"), "s8": ("char", "int")}
# All instructions of AVX-512 but AMX's.
VNNI = ("vpdpbusd", "vdpbf16ps")


def source(component: str, tile: tuple[int, int, int], **macros: str) -> str:
    """Return a product of matrices; the macros replace those of MACROS. The line numbers are those of PRODUCT."""
    values = MACROS | dict(zip(("IN", "OUT"), TYPES[component], strict=True)) | macros
    values |= dict(zip(("TM", "TN", "TK"), map(str, tile), strict=True))
    text = PRODUCT
    for name, value in values.items():
        text = re.sub(rf"\b{name}\b", value, text)
    return text


def cpu(route: str = "one", other: str | None = None, registers: tuple[int, int] = (512, 32)) -> Device:
    tuned = [LOWERED_ROUTES[name].tuned(Tuning(instructions=VNNI)) if name else None for name in (route, other)]
    assert tuned[0] is not None
    return Device.of(tuned[0], tuned[1], None, registers)


def gpu(route: str = "mma") -> Device:
    return Device.of(LOWERED_ROUTES[route].tuned(Tuning(sub_group_size=32)))


def told(text: str, device: Device) -> list[tuple[str, int, str]]:
    """Return the short name, line and message of each warning."""
    items = advise(compile(text, ["--no-validate"]).unit, device)
    return [(d.code.removeprefix("matrix-performance-"), d.span.line, d.message) for d in items if d.span]


def test_good_kernels_get_no_advice() -> None:
    assert told(source("f32", (16, 16, 16)), cpu()) == []
    assert told(source("f32", (8, 32, 8)), cpu(other="x86")) == []
    assert told(source("s8", (64, 64, 64)), cpu("x86")) == []
    assert told(source("f16", (64, 64, 32)), gpu()) == []


def test_sums_that_do_not_fit_in_the_registers_of_a_processor() -> None:
    message = (
        "the sums of a tile of 32 x 64 x 4 need 8192 bytes, and the processor's vector registers have 2048, so each "
        "multiply-add reads and writes them in memory: use a tile of 8 x 32 x 8, 1.2 to 2.5 times as fast"
    )
    assert told(source("f32", (32, 64, 4)), cpu()) == [("registers", SUM, message)]
    assert told(source("f32", (32, 64, 16)), cpu()) == []  # deep enough
    # AVX2 has a quarter of the registers, for a smaller tile.
    assert told(source("f32", (16, 32, 4)), cpu()) == []
    (only,) = told(source("f32", (16, 32, 4)), cpu(registers=(256, 16)))
    assert only[0] == "registers" and "have 512, so" in only[2] and "use a tile of 8 x 16 x 8," in only[2]
    assert told(source("f32", (8, 16, 8)), cpu(registers=(256, 16))) == []


def test_sums_that_do_not_fit_in_the_registers_of_a_lane() -> None:
    message = (
        "the sums of a tile of 128 x 64 x 16 need 256 registers of each work-item, which can have 255, so they are "
        "kept in memory: use a tile of 64 x 64 x 16, usually 2 times as fast or more (an estimate)"
    )
    assert told(source("f16", (128, 64, 16)), gpu()) == [("registers", SUM, message)]
    assert told(source("f16", (64, 64, 16)), gpu()) == []


def test_shapes_without_an_instruction() -> None:
    message = (
        "no instruction of the device multiplies tiles of 8 x 8 x 8 of char by char: use a tile of 64 x 64 x 64, or "
        "another multiple of 1 x 16 x 4, which the instruction vpdpbusd multiplies, 2 to 10 times as fast"
    )
    assert told(source("s8", (8, 8, 8)), cpu(other="x86")) == [("instruction", SUM, message)]
    assert told(source("s8", (8, 8, 8)), cpu("x86")) == [("instruction", SUM, message)]
    assert told(source("s8", (8, 8, 8)), cpu()) == []  # a processor without such instructions
    (only,) = told(source("f16", (24, 24, 24)), gpu())
    assert only[:2] == ("instruction", SUM) and "use a tile of 32 x 24 x 24" in only[2], only


def test_types_without_an_instruction() -> None:
    (only,) = told(source("f32", (16, 16, 16)), gpu())
    assert only[:2] == ("instruction", SUM)
    assert only[2].startswith("no matrix instruction of the device multiplies float by float: convert A and B to ")
    # The processor's vector instructions multiply floats well.
    assert told(source("f32", (16, 16, 16)), cpu("x86")) == []


def test_tiles_that_are_too_small() -> None:
    message = (
        "a tile of 16 x 16 x 16 is too small: a component that is loaded is used at most 16 times: use a tile of "
        "64 x 64 x 64, 1.4 to 2 times as fast"
    )
    assert told(source("s8", (16, 16, 16)), cpu("x86")) == [("tile", SUM, message)]
    (only,) = told(source("f32", (4, 4, 4)), cpu())
    assert only[0] == "tile" and "use a tile of 8 x 32 x 8, 2 to 4 times as fast" in only[2]
    assert told(source("f32", (8, 8, 8)), cpu()) == []
    assert told(source("f32", (1, 16, 16)), cpu()) == []  # a vector times a matrix


def test_tiles_that_are_too_large() -> None:
    message = (
        "a tile of 1024 x 512 x 32 is too large: its sums do not fit in the processor's cache: use a tile of "
        "8 x 32 x 8, about 1.4 times as fast"
    )
    assert told(source("f32", (1024, 512, 32)), cpu()) == [("tile", SUM, message)]
    assert told(source("f32", (512, 512, 32)), cpu()) == []


STRIDED = {"LOAD_A": "coop_mat_load(a + row * 1024 + k, ROWS, 1024)"}


def test_strides_that_share_sets_of_the_cache() -> None:
    message = (
        "the rows of this tile are 4096 bytes apart, so they share a few places of the cache: store the matrix with a "
        "stride of 1040, which adds 16 unused components to each of the rows, 1.1 to 2.3 times as fast"
    )
    assert told(source("f32", (16, 16, 16), **STRIDED), cpu()) == [("stride", LEFT, message)]
    assert told(source("f32", (8, 32, 16), **STRIDED), cpu()) == []  # fewer rows than the cache has ways
    assert told(source("f16", (16, 16, 16), **STRIDED), cpu()) == []  # half the distance
    assert told(source("f32", (16, 16, 16), **STRIDED), Device.of(LOWERED_ROUTES["lanes"])) == []  # perhaps a GPU
    named = {"LOOP": "const uint length = 2048; for (size_t k = 0; k < n; k += TK)"}
    named["LOAD_B"] = "coop_mat_load(b + k * length + column, ROWS, length)"
    (only,) = told(source("f32", (16, 16, 16), **named), cpu())
    assert only[:2] == ("stride", RIGHT) and "a stride of 2064" in only[2]


def test_strides_that_are_arguments_of_a_launch() -> None:
    text = source("f32", (16, 16, 16), LOAD_A="coop_mat_load(a + row * ld + k, ROWS, ld)")
    unit = compile(text, ["--no-validate"]).unit
    assert list(advise(unit, cpu())) == list(advise(unit, cpu(), "gemm", {"ld": 1040})) == []
    assert list(advise(unit, cpu(), "other", {"ld": 1024})) == []
    (only,) = advise(unit, cpu(), "gemm", {"ld": 1024})
    assert only.code == "matrix-performance-stride" and "a stride of 1040" in only.message


def test_slow_layouts() -> None:
    by_columns = {"LOAD_B": "coop_mat_load(b + column * 1040 + k, COLUMNS, 1040)"}
    message = (
        "column-major loads of B with components of float are slow on this device: store B by rows, once before the "
        "kernel, and load it row-major, about 1.5 times as fast"
    )
    assert told(source("f32", (16, 16, 16), **by_columns), cpu()) == [("layout", RIGHT, message)]
    assert told(source("f32", (64, 64, 64), **by_columns), cpu()) == []  # used often enough
    assert told(source("s8", (64, 64, 64), **by_columns), cpu("x86")) == []  # as fast as by rows
    assert told(source("f16", (16, 16, 16), **by_columns), cpu()) == []
    assert [name for name, *_ in told(source("f16", (4, 64, 4), **by_columns), cpu())] == ["layout"]
    left = {"LOAD_A": "coop_mat_load(a + row + k * 1040, COLUMNS, 1040)"}
    assert [name for name, *_ in told(source("s8", (64, 64, 64), **left), cpu("x86"))] == ["layout"]
    # On tensor cores, bytes of B are best by columns.
    (only,) = told(source("s8", (64, 64, 32)), gpu())
    assert only[:2] == ("layout", RIGHT) and "store B by columns" in only[2]
    assert told(source("s8", (64, 64, 32), **by_columns), gpu()) == []


CHECKED = "coop_mat_load_checked(a, ROWS, 1040, {}, {}, {}, {})"


@pytest.mark.parametrize(
    ("arguments", "is_reported"),
    [
        (("row", "k", "1024", "1024"), True),
        (("row + 32", "k", "1024", "1024"), True),
        (("row", "k", "1000", "1024"), False),  # the last tile is not whole
        (("row", "k", "1024", "n"), False),  # unknown
        (("row - 1", "k", "1024", "1024"), False),  # begins elsewhere
        (("n", "k", "1024", "1024"), False),
    ],
)
def test_checks_of_tiles_that_are_whole(arguments: tuple[str, ...], is_reported: bool) -> None:
    message = (
        "no tile of 16 x 16 lies across the border of a matrix of 1024 x 1024: if every tile begins inside, use "
        "coop_mat_load, with a pointer to the tile's first component, up to 2.3 times as fast"
    )
    found = told(source("f32", (16, 16, 16), LOAD_A=CHECKED.format(*arguments)), cpu())
    assert found == ([("checked", LEFT, message)] if is_reported else [])


@pytest.mark.parametrize(
    "change", ["for (; n < 1024; n += TK)", "if (n > 1024) n = 1024; for (size_t k = 0; k < n; k += TK)"]
)
def test_parameters_that_change_have_no_known_value(change: str) -> None:
    for words in (("row", "n", "1024", "1024"), ("row", "0", "n", "n")):
        loads = {"LOAD_A": CHECKED.format(*words), "LOAD_B": "coop_mat_load(b + n * 1040, ROWS, 1040)"}
        assert told(source("f32", (16, 16, 16), LOOP=change, **loads), cpu()) == []


def test_several_tiles_of_sums_may_be_small() -> None:
    text = source("f32", (4, 8, 4))
    several = text.replace("sum = coop_mat_mulAdd(left, right, sum);", "sum = coop_mat_mulAdd(left, right, sum);" * 2)
    array = text.replace("sum = coop_mat_init((float)0);", "sums[2] = {coop_mat_init(0), coop_mat_init(0)};")
    array = array.replace(
        "sum = coop_mat_mulAdd(left, right, sum)", "sums[n % 2] = coop_mat_mulAdd(left, right, sums[n % 2])"
    )
    array = array.replace("sum, ROWS", "sums[0], ROWS")
    assert [name for name, _line, _text in told(text, cpu())] == ["tile"]
    assert told(several, cpu()) == told(array, cpu()) == []


@pytest.mark.parametrize("registers", [(128, 16), (256, 16), (512, 32)])
@pytest.mark.parametrize("name", ["f32", "f16", "f64"])
def test_tiles_that_are_recommended_are_not_too_small(registers: tuple[int, int], name: str) -> None:
    tiles = Device.of(LOWERED_ROUTES["one"], None, None, registers).tiles(COMPONENT_TYPES[name])
    assert tiles is not None and tiles.best[0] * tiles.best[1] >= tiles.least


def test_checks_that_cost_nothing() -> None:
    load = CHECKED.format("row", "k", "1024", "1024")
    assert told(source("f32", (32, 32, 32), LOAD_A=load), cpu()) == []
    assert told(source("s8", (64, 64, 64), LOAD_A=load), cpu("x86")) == []
    (only,) = told(source("f16", (64, 64, 32), LOAD_A=load), gpu())
    assert only[0] == "checked" and only[2].endswith("faster (how much is not measured for this device)")


def test_products_outside_of_loops_get_no_advice() -> None:
    assert told(source("f32", (4, 4, 4), LOOP="size_t k = 0;", **STRIDED), cpu()) == []


# --- options and pragmas


def test_the_group_has_all_warnings() -> None:
    assert MEMBERS["matrix-performance"] == {
        *("matrix-performance-instruction", "matrix-performance-registers", "matrix-performance-tile"),
        *("matrix-performance-stride", "matrix-performance-layout", "matrix-performance-checked"),
    }
    assert resolve([]).states.keys().isdisjoint(MEMBERS["matrix-performance"])


def diagnostics(text: str, *words: str, route: str = "one") -> list[Diagnostic]:
    options = CompileOptions.from_arguments(["--matrices", route, "--code", "c", *words])
    module = compile(text, replace(options, instructions=VNNI))
    assert module.opencl_c
    return module.diagnostics


def test_the_options() -> None:
    text = source("f32", (4, 4, 4))
    assert diagnostics(text) == []
    (only,) = diagnostics(text, "-Wmatrix-performance")
    assert (only.code, only.severity.value) == ("matrix-performance-tile", "warning")
    assert diagnostics(text, "-Wmatrix-performance-tile") == [only]
    assert diagnostics(text, "-Wmatrix-performance", "-Wno-matrix-performance-tile") == []
    assert diagnostics(text, "-Wmatrix-performance", "-w") == []
    assert diagnostics(text, "-Wmatrix-performance", route="native") == []
    with pytest.raises(CompileError, match=r"too small.*matrix-performance-tile"):
        diagnostics(text, "-Werror=matrix-performance")


def test_the_pragma() -> None:
    text = '#pragma clang diagnostic ignored "-Wmatrix-performance"\n' + source("f32", (4, 4, 4))
    assert diagnostics(text, "-Wmatrix-performance") == []
    text = '#pragma clang diagnostic warning "-Wmatrix-performance-tile"\n' + source("f32", (4, 4, 4))
    assert [item.code for item in diagnostics(text)] == ["matrix-performance-tile"]
