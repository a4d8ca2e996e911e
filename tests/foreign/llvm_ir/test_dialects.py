"""LLVM IR in three dialects: written, read back, optimised by others, malformed."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from optimise import optimised
from repeats import slow_where
from valid_modules import assert_valid

import coopmat
from coopmat.compiler import compile as compile_source
from coopmat.diagnostics import InternalError
from coopmat.foreign import llvm_ir as dialects
from coopmat.foreign.llvm_ir.operations import read_name
from coopmat.spirv.emit import reprint

ROOT = Path(__file__).parents[3]
GOLDEN = sorted((ROOT / "tests/golden/in").glob("[!d]*/*.cl"))
KERNELS = sorted((ROOT / "kernels").glob("*.cl"))
_VALUES = {"M": 32, "N": 32, "K": 32, "T": 16, "G": 64, "LDA": 32, "LDB": 32, "LDC": 32, "TM": 16, "TN": 16, "TK": 16}
_VALUES |= {"ROWS": 16, "COLUMNS": 16, "DEPTH": 32, "D": 32, "LENGTH": 64}
_VALUES |= {"HEIGHT": 8, "WIDTH": 16, "CHANNELS": 16, "FILTERS": 32, "SIZE": 3}
# In these kernels, T is the type of decoded weights.
OF_WEIGHTS = {f"gemm_{name}" for name in ("q4_0", "q8_0", "q4_k", "q6_k", "mxfp4")}
ROUTES = ("native", "one", "lanes", "scratch")
SIZES = [f"-D{name}={value}" for name, value in _VALUES.items()]


def lowered(path: Path) -> str:
    # A profile with coordinates, whose other instructions the dialects have.
    sizes = [word.replace("-DT=16", "-DT=half") for word in SIZES] if path.stem in OF_WEIGHTS else SIZES
    options = ["-w", "--native-profile", "igc", *(sizes if path in KERNELS else [])]
    return compile_source(path.read_text(encoding="utf-8"), options, name=path.name).llvm_ir


def ir(text: str, *options: str, name: str = "in.ll") -> coopmat.Module:
    return compile_source(text, options, name=name, language="ir")


def normal(text: str) -> str:
    """LLVM's print of the canonical module, values named in the order of their appearance."""
    printed = reprint(dialects.read(reprint(text)))
    return "\ndefine".join(map(_renamed, printed.split("\ndefine")))


def _renamed(function: str) -> str:
    names: dict[str, str] = {}
    return re.sub(r'%(?:"[^"]*"|[-\w.$]+)', lambda match: names.setdefault(match[0], f"%n{len(names)}"), function)


# Of types that LLVM has no word for.
OF_SMALL_FLOATS = {"gemm_fp8"}


@pytest.mark.parametrize(
    "path",
    [p for p in (*GOLDEN, *KERNELS) if p.stem not in OF_SMALL_FLOATS],
    ids=lambda path: f"{path.parent.name}/{path.stem}",
)
def test_a_module_is_the_same_after_a_round_trip(path: Path) -> None:
    text = lowered(path)
    expected = normal(text)
    for dialect in dialects.DIALECTS:
        written = dialects.rewrite(reprint(text), dialect)
        assert normal(written) == expected, dialect
        # What was read in one dialect can be written in another.
        assert normal(dialects.rewrite(reprint(written), "rfc")) == expected


def test_the_examples_of_the_rfc() -> None:
    """Every line of IR in the RFC's text, apart from the numbers of values, address spaces and alignments."""
    text = (ROOT / "tests/golden/out/ir/rfc_examples.ll").read_text(encoding="utf-8")
    found = {_shape(line) for line in text.splitlines()}
    a84, a24, a48 = (
        f'target("spirv.CooperativeMatrixKHR", {t}, 0, 0)' for t in ("float, 8, 4", "half, 2, 4", "float, 4, 8")
    )
    b82, c42 = (f'target("spirv.CooperativeMatrixKHR", float, {t})' for t in ("8, 2, 0, 1", "4, 2, 0, 2"))
    shown = [
        f"%2 = call {a84} @_Z32__spirv_CooperativeMatrixLoadKHR(ptr %1, i32 0, i32 3)",
        f"store {a84} %2, ptr %m",
        f"%1 = load {a24}, ptr %m",
        f"call void @_Z33__spirv_CooperativeMatrixStoreKHR(ptr %2, {a24} %1, i32 0, i32 3)",
        f"%3 = call {c42} @_Z34__spirv_CooperativeMatrixMulAddKHR({a48} %0, {b82} %1, {c42} %2, i8 8)",
        f"store {c42} %3, ptr %d",
        f"%2 = call {a48} @_Z34__spirv_CooperativeMatrixScalarMul({a48} %1, i32 4)",
        f"store {a48} %2, ptr %c",
        f"%4 = call {a48} @_Z34__spirv_CooperativeMatrixScalarNeg({a48} %3)",
        f"%6 = load {a48}, ptr %c",
        f"%7 = call {a48} @_Z34__spirv_CooperativeMatrixBinaryAdd({a48} %5, {a48} %6)",
        f"store {a48} %7, ptr %c",
    ]
    assert [line for line in shown if _shape(line) not in found] == []


def _shape(line: str) -> str:
    return re.sub(r"%\.?\d+", "%n", re.sub(r" addrspace\(1\)|, align \d+", "", line.strip()))


BFLOAT = """\
define spir_kernel void @k(ptr addrspace(1) %p, bfloat %x, <2 x bfloat> %v, i32 %n) {
  %a = load bfloat, ptr addrspace(1) %p
  %b = fmul nnan bfloat %a, 0xR3F81
  %c = fcmp olt bfloat %b, %x
  %d = select i1 %c, bfloat %a, bfloat 0xR4000
  %e = sitofp i32 %n to bfloat
  %f = call bfloat @llvm.fmuladd.bf16(bfloat %d, bfloat %e, bfloat %x)
  %g = fneg <2 x bfloat> %v
  %h = insertelement <2 x bfloat> %g, bfloat %f, i32 1
  %i = fpext <2 x bfloat> %h to <2 x double>
  %j = fptrunc <2 x double> %i to <2 x bfloat>
  store <2 x bfloat> %j, ptr addrspace(1) %p
  ret void
}
declare bfloat @llvm.fmuladd.bf16(bfloat, bfloat, bfloat)
"""
MATRIX = 'target("spirv.CooperativeMatrixKHR", float, 8, 4, 0, 0)'
RFC = f"""\
define spir_kernel void @k(ptr addrspace(1) %p, i32 %n) {{
  %1 = call {MATRIX} @_Z32__spirv_CooperativeMatrixLoadKHR(ptr addrspace(1) %p, i32 0, i32 %n)
  %2 = call {MATRIX.replace("float", "half")} @_Z32__spirv_CooperativeMatrixLoadKHR(ptr addrspace(1) %p, i32 1, i64 8)
  %3 = call {MATRIX} @_Z34__spirv_CooperativeMatrixScalarMul({MATRIX} %1, i32 4)
  call void @_Z33__spirv_CooperativeMatrixStoreKHR(ptr addrspace(1) %p, {MATRIX} %3, i32 0, i32 4)
  ret void
}}
declare {MATRIX} @_Z32__spirv_CooperativeMatrixLoadKHR(ptr addrspace(1), i32, i32)
declare {MATRIX} @_Z34__spirv_CooperativeMatrixScalarMul({MATRIX}, i32)
declare void @_Z33__spirv_CooperativeMatrixStoreKHR(ptr addrspace(1), {MATRIX}, i32, i32)
"""


def test_calls_say_the_types_where_one_declaration_serves_several() -> None:
    module = ir(RFC)
    assert "LoadKHRPU3AS1filu6mf8x4A" in module.llvm_ir and "LoadKHRPU3AS1Dhilu7mDh8x4A" in module.llvm_ir
    assert re.search(r"zext i32 %n to i64", module.llvm_ir)
    assert "(float 4.0" in reprint(module.llvm_ir) or "(float 0x4010" in module.llvm_ir
    for route in ROUTES:
        module = ir(RFC, "--matrices", route)
        assert module.spirv and module.validated
        (kernel,) = module.kernels.values()
        assert kernel.uses_matrices and [p.address_space for p in kernel.parameters] == ["global", "private"]


@pytest.mark.parametrize(
    ("name", "word", "pointee"),
    [
        ("_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1Dhilu8mDh8x16A", "CooperativeMatrixLoadKHR", (1, "half")),
        ("_Z32__spirv_CooperativeMatrixLoadKHRPU3AS3Dv4_filu7mf8x16A", "CooperativeMatrixLoadKHR", (4, "float")),
        ("_Z32__spirv_CooperativeMatrixLoadKHR.12", "CooperativeMatrixLoadKHR", None),
        ("__spirv_CooperativeMatrixLoadKHR_global_f32_sc3_16x16_u0", "CooperativeMatrixLoadKHR", None),
        ("__spirv_CooperativeMatrixFAdd", "CooperativeMatrixFAdd", None),
        ("_Z12__spirv_FAdd_mf8x8C", "FAdd", None),
        ("__cm_get_Dh", "get", None),
    ],
)
def test_names(name: str, word: str, pointee: tuple[int, str] | None) -> None:
    found = read_name(name)
    assert found is not None and (found.word, found.pointee) == (word, pointee)


@pytest.mark.parametrize("name", ["_Z13get_global_idj", "cm_load", "_Z99__spirv_x", "_Z32__spirv_", "__spirv_ocl_sin"])
def test_names_of_other_things(name: str) -> None:
    assert read_name(name) is None


# --- what others optimised -----------------------------------------------------------------------

CHOICE = """
typedef float M
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
kernel void k(global float *p, int n) {
    M list[3];
    for (int i = 0; i < 3; i++) list[i] = coop_mat_load(p + i * 64, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    M m = n > 1 ? list[0] : list[1], s = coop_mat_init(0.0f);
    for (int i = 0; i < n; i++) { M t = s; s = m; m = t + list[2]; if (i == 5) break; }
    coop_mat_store(p, m * 2.0f, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    coop_mat_store(p + 64, list[n % 3], CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
}
"""


@pytest.mark.covering
@pytest.mark.parametrize("passes", ["sroa", "O1", "O2"])
@pytest.mark.parametrize("dialect", dialects.DIALECTS)
def test_optimised_ir(dialect: str, passes: str) -> None:
    text = optimised(compile_source(CHOICE, ["--dialect", dialect]).llvm_ir, passes)
    assert "i8, ptr" in text or "select" in text or "phi target" in text
    for route in ROUTES:
        module = ir(text, "--matrices", route)
        assert module.spirv and module.validated
        assert route == "native" or "CooperativeMatrix" not in module.spirv_text


MIXED = """\
%S = type { i32, MATRIX, i32 }
define spir_kernel void @k(ptr addrspace(1) %p) {
  %s = alloca %S
  %q = alloca ptr
  %n = alloca [4 x i32]
  store ptr %s, ptr %q
  WHERE
  %a = getelementptr i8, ptr %r, i64 16
  store i32 1, ptr %a
  %m = load %S, ptr %s
  %v = extractvalue %S %m, 2
  store i32 %v, ptr addrspace(1) %p
  ret void
}
"""


@pytest.mark.parametrize("route", ["native", "one"])
def test_bytes_of_objects_that_are_not_known(route: str) -> None:
    """Where matrices lie they take another number of bytes: nothing is guessed."""
    text = MIXED.replace("MATRIX", MATRIX)
    for where in ("%r = select i1 true, ptr %s, ptr %s", "%r = getelementptr i8, ptr %n, i64 -12"):
        assert ir(text.replace("WHERE", where), "--matrices", route, "--no-validate").llvm_ir
    with pytest.raises(coopmat.CompileError, match="an offset in bytes into an unknown object") as caught:
        ir(text.replace("WHERE", "%r = load ptr, ptr %q"), "--matrices", route).spirv  # noqa: B018
    (found,) = caught.value.diagnostics
    assert found.span is not None and found.span.line == 8


# --- malformed -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "code", "line", "message"),
    [
        (("i32 0, i32 %n", "i32 0, i32 %q"), "ir-syntax", 2, "use of undefined value '%q'"),
        (("ret void", "ret i32 0"), "ir-syntax", 6, "value doesn't match function result type"),
        (("float, 8, 4", "float, 8, 0"), "ir-matrix-type", 1, ""),
        (("i32 1, i64 8", "i32 7, i64 8"), "ir-operation", 3, "the layout is 7"),
        (("i32 1, i64 8", "i32 %n, i64 8"), "ir-operation", 3, "the layout is not an integer constant"),
        (("%1, i32 4", "%1, ptr null"), "ir-operation", 4, "cannot multiply components"),
        (("%3, i32 0, i32 4)", "%3, i32 0)"), "ir-operation", 5, "takes 4, 5 or 6 operands, not 3"),
        (("half, 8, 4, 0, 0", "i1, 8, 4, 0, 0"), "ir-matrix-type", 3, "components of type i1"),
        (("half, 8, 4, 0, 0", "half, 8, 4, 0, 7"), "ir-matrix-type", 3, "not 7"),
        (("half, 8, 4, 0, 0", "half, 1, 8, 4, 0"), "ir-matrix-type", 3, "scope 1"),
        (("ScalarMul", "ScalarPow"), "ir-operation", 4, "not a matrix operation that is known"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_wrong_has_a_place(change: tuple[str, str], code: str, line: int, message: str) -> None:
    text = RFC.replace(*change)
    assert text != RFC
    with pytest.raises(coopmat.CompileError) as caught:
        ir(text)
    (found,) = caught.value.diagnostics
    assert found.code == code and message in found.message, found
    assert found.span is not None and (line == 1 or found.span.line == line), found


PLACED = """\
define void @first(ptr addrspace(1) %p) { ; as below, but right
  switch i32 0, label %end [
    i32 1, label %end
    i32 2, label %end
  ]
end:
  ret void
}

; Function Attrs: none
define spir_kernel void @"second"(ptr addrspace(1) %p) {
  %a = load float, ptr addrspace(1) %p
  switch i32 0, label %end [
    i32 1, label %end
    i32 2, label %end
  ]
"end":
  %1 = call MATRIX @_Z32__spirv_CooperativeMatrixLoadKHR(ptr addrspace(1) %p, i32 0, i32 4) ; fine
  %2 = call MATRIX @_Z32__spirv_CooperativeMatrixLoadKHR(ptr addrspace(1) %p, i32 9, i32 4)
  ret void
}
declare MATRIX @_Z32__spirv_CooperativeMatrixLoadKHR(ptr addrspace(1), i32, i32)
"""


def test_an_instruction_has_its_own_place() -> None:
    """Not that of another function, nor of another instruction that reads the same but for numbers."""
    text = PLACED.replace("MATRIX", MATRIX)
    with pytest.raises(coopmat.CompileError, match="the layout is 9") as caught:
        ir(text)
    (found,) = caught.value.diagnostics
    assert found.span is not None and found.span.line == 19
    # What only the lowering finds: the text was made canonical in between.
    text = text.replace("i32 9", "i32 0").replace("ret void\n}\nd", "store volatile i64 0, ptr %m\n  ret void\n}\nd")
    text = text.replace("  %a = load", f"  %m = alloca {MATRIX}\n  %a = load").replace(
        "ret void\n}\n\n", "unreachable\n}\n\n"
    )
    with pytest.raises(coopmat.CompileError, match="memory of a matrix as another type") as caught:
        ir(text, "--matrices", "one").spirv  # noqa: B018
    (found,) = caught.value.diagnostics
    assert found.span is not None and found.span.line == 21


@pytest.mark.parametrize("text", ["", "\n", "; nothing\n"])
def test_an_empty_module(text: str) -> None:
    assert ir(text).kernels == {}


@pytest.mark.parametrize("text", ["define", "\0", b"\xff\xfe", "kernel void f() {}", "\ud800", "define void @f() {\n"])
def test_no_module(text: str | bytes) -> None:
    with pytest.raises(coopmat.CompileError) as caught:
        compile_source(text, name="in.ll", language="ir")
    assert caught.value.diagnostics[0].code == "ir-syntax"


# --- subgroups -----------------------------------------------------------------------------------

SEVERAL = """
typedef float M
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 4, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
__attribute__((noinline)) M deep(M m) { m[0] = get_sub_group_size(); return m + m; }
__attribute__((noinline)) void work(global float *p) {
    M m = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    coop_mat_store(p, deep(m), CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
}
__attribute__((intel_reqd_sub_group_size(8))) kernel void k8(global float *p) { work(p); }
__attribute__((intel_reqd_sub_group_size(16), reqd_work_group_size(64, 2, 1))) kernel void k16(global float *p)
{
    work(p);
}
kernel void other(global float *p) { work(p); }
kernel void plain(global float *p) { p[get_global_id(0)] = 1; }
kernel void without(global int *p) { p[get_global_id(0)] = sub_group_reduce_add(p[0]); }
"""


@pytest.mark.parametrize("dialect", dialects.DIALECTS)
@pytest.mark.parametrize("options", [["one"], ["lanes"], ["scratch"]], ids=str)
def test_kernels_of_several_subgroups_are_told_of_as_from_source(dialect: str, options: list[str]) -> None:
    text = compile_source(SEVERAL, ["--dialect", dialect]).llvm_ir
    module, source = (ir(text, "--matrices", *options), compile_source(SEVERAL, ["--matrices", *options]))
    for name, kernel in module.kernels.items():
        wanted = source.kernels[name]
        assert (kernel.sub_group_size, kernel.max_work_items) == (wanted.sub_group_size, wanted.max_work_items), name
        assert (kernel.uses_matrices, kernel.reqd_work_group_size) == (
            wanted.uses_matrices,
            wanted.reqd_work_group_size,
        )
    assert module.spirv and module.validated
    assert [item.message for item in module.diagnostics] == [item.message for item in source.diagnostics]


def test_functions_of_kernels_of_several_subgroups_are_copied() -> None:
    text = ir(compile_source(SEVERAL).llvm_ir, "--matrices", "lanes").spirv_text
    functions = dict(re.findall(r"^ *(%\w+) = OpFunction .*?\n(.*?)OpFunctionEnd", text, re.MULTILINE | re.DOTALL))
    calls = {name: re.findall(r"OpFunctionCall \S+ (%\w+)", body) for name, body in functions.items()}
    # For 8 and, for two kernels, for 16; each calls its own.
    works = {kernel: calls[f"%{kernel}"] for kernel in ("k8", "k16", "other")}
    assert works["k16"] == works["other"] != works["k8"]
    deep = [{callee for callee in calls[work] if calls[callee]} for (work,) in (works["k8"], works["k16"])]
    assert deep[0] and deep[1] and not deep[0] & deep[1]


def test_tiles_limit_work_groups() -> None:
    """Our own IR stages what native matrices cannot do through local memory, with room for so many subgroups, or for
    the work-group that a kernel states."""
    source = SEVERAL.replace("LAYOUT_ROW_MAJOR", "LAYOUT_PACKED")
    text = compile_source(source).llvm_ir
    native = compile_source(source).kernels
    assert native["k8"].max_work_items == 128
    found = {route: ir(optimised(text, "O1"), "--matrices", route).kernels for route in ROUTES}
    assert {name: kernel.max_work_items for name, kernel in found["native"].items()} == {
        name: kernel.max_work_items for name, kernel in native.items()
    }
    for name, most in {"one": (128, 128, 128), "lanes": (128, 256, 256), "scratch": (128, 128, 256)}.items():
        assert tuple(found[name][kernel].max_work_items for kernel in ("k8", "k16", "other")) == most
        assert found[name]["plain"].max_work_items is None
        spirv = coopmat.compile(compile_source(source).spirv, ["--matrices", name], name="in.spv", language="spv")
        assert tuple(spirv.kernels[kernel].max_work_items for kernel in ("k8", "k16", "other")) == most


def test_a_size_that_was_not_asked_for_has_a_place() -> None:
    with pytest.raises(
        coopmat.CompileError, match="kernel 'k8' asks for subgroups of 8, and --sub-group-size"
    ) as caught:
        ir(compile_source(SEVERAL).llvm_ir, "--matrices", "lanes", "--sub-group-size", "16").spirv  # noqa: B018
    (found,) = caught.value.diagnostics
    assert found.span is not None and "@k8(" in (caught.value.sources.line("in.ll", found.span.line) or "").replace(
        '"', ""
    )


@pytest.mark.parametrize(("name", "arguments"), [("j", "i32 1"), ("j12memory_scope", "i32 3, i32 4")])
@pytest.mark.parametrize("route", ROUTES)
def test_barriers_by_name(route: str, name: str, arguments: str) -> None:
    """As clang calls them: LLVM's backend does not know the name."""
    text = RFC.replace("  ret void", f"  call spir_func void @_Z17sub_group_barrier{name}({arguments})\n  ret void")
    text += f"declare spir_func void @_Z17sub_group_barrier{name}({'i32, i32' if ',' in arguments else 'i32'})\n"
    module = ir(text, "--matrices", route)
    found = re.findall(r"OpControlBarrier (\S+)", module.spirv_text)
    assert len(found) == (0 if route == "one" else 1)
    scope = {"native": "3", "lanes": "3", "scratch": "2"}.get(route)
    assert not found or re.search(rf"{found[0]} = OpConstant %\S+ {scope}\b", module.spirv_text)


@pytest.mark.parametrize("route", ["one", "scratch"])
def test_instructions_of_subgroups(route: str) -> None:
    """By the instruction's name, too."""
    text = RFC.replace("  ret void", "  %s = call i32 @_Z22__spirv_GroupBroadcastiii(i32 3, i32 %n, i32 0)\n  ret void")
    text += "declare i32 @_Z22__spirv_GroupBroadcastiii(i32, i32, i32)\n"
    assert "OpGroupBroadcast" not in ir(text, "--matrices", route).spirv_text
    text = text.replace("_Z22__spirv_GroupBroadcastiii", "_Z17__spirv_GroupIAddiii").replace(
        "i32 3, i32 %n", "i32 3, i32 6"
    )
    with pytest.raises(coopmat.CompileError, match=r"OpGroupIAdd %.* the group operation 6 is not supported") as caught:
        ir(text, "--matrices", route).spirv  # noqa: B018
    (found,) = caught.value.diagnostics
    assert found.span is not None and found.span.line == 6


# --- devices -------------------------------------------------------------------------------------

VARIANTS = ["--matrix-variants", "8x16x16.f16xf16_f32_f32.nosat 8x16x32.s8xs8_s32_s32.sat"]
TARGETED = """
#define COOP(T, R, C, U) \\
    T __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, R, C, CLK_COOPERATIVE_MATRIX_##U)))
typedef COOP(char, 8, 32, A) A; typedef COOP(char, 32, 16, B) B; typedef COOP(int, 8, 16, ACCUMULATOR) C;
typedef struct { COOP(float, 3, 3, A) m; } Odd;
void unused(COOP(float, 5, 5, A) m) {}
kernel void k(global char *p, global int *q) {
    A a = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 32);
    B b = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
    C c = coop_mat_init(0);
    c = coop_matmul_add(a, b, c, OPERANDS);
    coop_mat_store(q, c, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
    ODD
}
"""


@pytest.mark.parametrize("dialect", dialects.DIALECTS)
@pytest.mark.parametrize(
    ("defines", "codes"),
    [
        (["-DOPERANDS=31", "-DODD="], []),
        (["-DOPERANDS=0", "-DODD="], ["coop-mat-target-mul-add"]),
        (["-DOPERANDS=31", "-DODD=Odd odd; odd.m = coop_mat_init(0);"], ["coop-mat-target-type"]),
    ],
    ids=["there", "multiply-add", "type"],
)
def test_what_a_device_lacks(dialect: str, defines: list[str], codes: list[str]) -> None:
    options = ["-w", "--dialect", dialect, *defines]
    text = compile_source(TARGETED, options).llvm_ir
    if not codes:
        assert ir(text, *VARIANTS).spirv
        return
    assert ir(text, *VARIANTS, "--matrices", "one").spirv
    with pytest.raises(coopmat.CompileError) as caught:
        ir(text, *VARIANTS)
    with pytest.raises(coopmat.CompileError) as wanted:
        compile_source(TARGETED, [*options, *VARIANTS])
    told = [[(item.code, item.message, item.notes) for item in e.value.diagnostics] for e in (caught, wanted)]
    assert told[0] == told[1] and [code for code, _, _ in told[0]] == codes
    (found,) = caught.value.diagnostics
    line = caught.value.sources.line("in.ll", found.span.line) if found.span else None
    assert line and ("MulAdd" in line if "mul" in codes[0] else "%odd = alloca" in line.replace('"', ""))


def test_bad_variants() -> None:
    with pytest.raises(coopmat.compiler.UsageError, match="--matrix-variants"):
        ir(RFC, "--matrix-variants", "what")


# --- component access ----------------------------------------------------------------------------


@pytest.mark.parametrize("route", ROUTES)
def test_components_through_pointers_from_elsewhere(route: str) -> None:
    """The name says the matrix, where the address does not."""
    matrix = MATRIX.replace("8, 4, 0, 0", "3, 8, 4, 0")
    text = f"""\
define spir_kernel void @k(ptr addrspace(1) %p) {{
  %m = alloca {matrix}
  %n = alloca {matrix}
  %v = call {matrix} @_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1filu6mf8x4A(ptr addrspace(1) %p, i32 0, i64 4)
  store {matrix} %v, ptr %m
  store {matrix} %v, ptr %n
  call spir_func void @change(ptr %m)
  call spir_func void @change(ptr %n)
  %w = load {matrix}, ptr %n
  call void @_Z33__spirv_CooperativeMatrixStoreKHRPU3AS1fu6mf8x4Ail(ptr addrspace(1) %p, {matrix} %w, i32 0, i64 4)
  ret void
}}
define internal spir_func void @change(ptr byref({matrix}) %x) noinline {{
  %c = call float @__cm_get_mf8x4A(ptr %x, i32 0)
  %d = fadd float %c, %c
  call void @__cm_set_mf8x4A(ptr %x, i32 0, float %d)
  ret void
}}
declare {matrix} @_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1filu6mf8x4A(ptr addrspace(1), i32, i64)
declare void @_Z33__spirv_CooperativeMatrixStoreKHRPU3AS1fu6mf8x4Ail(ptr addrspace(1), {matrix}, i32, i64)
declare float @__cm_get_mf8x4A(ptr, i32)
declare void @__cm_set_mf8x4A(ptr, i32, float)
"""
    assert_valid(ir(text, "--matrices", route))
    if route != "native":
        assert_valid(ir(text.replace(f"byref({matrix}) ", ""), "--matrices", route))
    with pytest.raises(coopmat.CompileError, match="a component of type float is expected"):
        ir(text.replace("float @__cm_get", "half @__cm_get").replace("fadd float %c, %c", "fpext half %c to float"))


def test_what_the_backend_refuses_is_the_inputs_fault() -> None:
    text = "define spir_kernel void @k(ptr addrspace(1) %p) {\n  call spir_func void @nosuch()\n  ret void\n}\n"
    with pytest.raises(coopmat.CompileError, match="nosuch"):
        ir(text + "declare spir_func void @nosuch()\n").spirv  # noqa: B018


@pytest.mark.parametrize("seed", slow_where(bool, range(4)))
def test_mutations_end_in_a_module_or_a_diagnostic(seed: int) -> None:
    rng = random.Random(seed)
    sources = [optimised(compile_source(CHOICE, ["--dialect", d]).llvm_ir, "sroa") for d in ("khr", "rfc", "clang")]
    sources += [RFC.replace("half", "bfloat"), BFLOAT, compile_source(SEVERAL, ["--dialect", "rfc"]).llvm_ir]
    refused = 0
    for _ in range(40):
        text = _mutated(rng, rng.choice(sources))
        try:
            module = ir(text, "--matrices", rng.choice(ROUTES), "--no-validate")
            assert module.llvm_ir
            module.spirv  # noqa: B018 - raises or does not
        except coopmat.CompileError as error:
            refused += 1
            assert error.diagnostics and "Traceback" not in str(error)
        except InternalError as error:
            pytest.fail(f"{error}\n{text}")
    assert refused > 15


def _mutated(rng: random.Random, text: str) -> str:
    words = re.findall(r"\w+|\s+|.", text)
    places = [n for n, word in enumerate(words) if not word.isspace()]
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        at, other = rng.choice(places), rng.choice(places)
        how = rng.randrange(4)
        if how == 0:
            words[at] = ""
        elif how == 1:
            words[at] = words[other]
        elif how == 2:
            words[at], words[other] = words[other], words[at]
        elif words[at].isdigit():
            words[at] = str(rng.choice([0, 1, 2, 3, 5, 1 << 20, 1 << 40]))
    return "".join(words)
