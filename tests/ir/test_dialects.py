"""LLVM IR in three dialects: written, read back, optimised by others, malformed."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from optimise import optimised

import coopmat
from coopmat.compiler import compile as compile_source
from coopmat.diagnostics import InternalError
from coopmat.ir import dialects
from coopmat.ir.dialects.operations import read_name
from coopmat.spirv.emit import reprint

ROOT = Path(__file__).parents[2]
GOLDEN = sorted((ROOT / "tests/golden/in").glob("[!d]*/*.cl"))
KERNELS = sorted((ROOT / "kernels").glob("*.cl"))
_VALUES = {"M": 32, "N": 32, "K": 32, "T": 16, "G": 64, "LDA": 32, "LDB": 32, "LDC": 32, "TM": 16, "TN": 16, "TK": 16}
SIZES = [f"-D{name}={value}" for name, value in _VALUES.items()]


def lowered(path: Path) -> str:
    options = ["-w", *(SIZES if path in KERNELS else [])]
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


@pytest.mark.parametrize("path", [*GOLDEN, *KERNELS], ids=lambda path: f"{path.parent.name}/{path.stem}")
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
    for route in ("native", "one", "lanes"):
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


@pytest.mark.parametrize("passes", ["sroa", "O1", "O2"])
@pytest.mark.parametrize("dialect", dialects.DIALECTS)
def test_optimised_ir(dialect: str, passes: str) -> None:
    text = optimised(compile_source(CHOICE, ["--dialect", dialect]).llvm_ir, passes)
    assert "i8, ptr" in text or "select" in text or "phi target" in text
    for route in ("native", "one", "lanes"):
        module = ir(text, "--matrices", route)
        assert module.spirv and module.validated
        assert route == "native" or "CooperativeMatrix" not in module.spirv_text


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
        (("%3, i32 0, i32 4)", "%3, i32 0)"), "ir-operation", 5, "takes 4 or 5 operands, not 3"),
        (("half, 8, 4, 0, 0", "i1, 8, 4, 0, 0"), "ir-matrix-type", 3, "components of type i1"),
        (("half, 8, 4, 0, 0", "half, 8, 4, 0, 7"), "ir-matrix-type", 3, "not 7"),
        (("half, 8, 4, 0, 0", "half, 2, 8, 4, 0"), "ir-matrix-type", 3, "scope 2"),
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


@pytest.mark.parametrize("text", ["", "\n", "; nothing\n"])
def test_an_empty_module(text: str) -> None:
    assert ir(text).kernels == {}


@pytest.mark.parametrize("text", ["define", "\0", b"\xff\xfe", "kernel void f() {}", "\ud800", "define void @f() {\n"])
def test_no_module(text: str | bytes) -> None:
    with pytest.raises(coopmat.CompileError) as caught:
        compile_source(text, name="in.ll", language="ir")
    assert caught.value.diagnostics[0].code == "ir-syntax"


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--matrices", "scratch"], "scratch is not supported yet"), (["--matrices", "one"], "bfloat in IR")],
)
def test_what_has_no_lowering_yet(options: list[str], message: str) -> None:
    text = RFC.replace("half", "bfloat")
    with pytest.raises(coopmat.CompileError, match=message) as caught:
        ir(text, *options).spirv  # noqa: B018
    assert [item.code for item in caught.value.diagnostics] == ["ir-not-supported"]
    assert ir(text).spirv


def test_what_the_backend_refuses_is_the_inputs_fault() -> None:
    text = "define spir_kernel void @k(ptr addrspace(1) %p) {\n  call spir_func void @nosuch()\n  ret void\n}\n"
    with pytest.raises(coopmat.CompileError, match="nosuch"):
        ir(text + "declare spir_func void @nosuch()\n").spirv  # noqa: B018


@pytest.mark.parametrize("seed", range(4))
def test_mutations_end_in_a_module_or_a_diagnostic(seed: int) -> None:
    rng = random.Random(seed)
    sources = [optimised(compile_source(CHOICE, ["--dialect", d]).llvm_ir, "sroa") for d in ("khr", "rfc", "clang")]
    refused = 0
    for _ in range(40):
        text = _mutated(rng, rng.choice(sources))
        try:
            module = ir(text, "--matrices", rng.choice(["native", "one", "lanes"]), "--no-validate")
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
