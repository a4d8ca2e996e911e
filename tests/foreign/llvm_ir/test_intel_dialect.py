"""Intel's matrix IR: the proposal's examples in all its forms, what flows where, round trips, errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_dialects import GOLDEN, KERNELS, ir, lowered, normal

import coopmat
from coopmat.compiler import compile as compile_source
from coopmat.foreign import llvm_ir as dialects
from coopmat.spirv.emit import EmitOptions, emit, reprint

# The proposal's own, with its semicolons and pointers with types.
VECTORS = (Path(__file__).parents[2] / "documents" / "intel_proposal.ll").read_text()


def built(module: coopmat.Module) -> bool:
    return bool(module.spirv) and module.validated


TYPES = {"A": "_int_3_4_1_3", "B": "_int_4_5_1_3", "C": "_int_3_5_0_3"}
NUMBERS = {'metadata !"matrix.columnmajor"': "i32 1", 'metadata !"matrix.rowmajor"': "i32 0"}


def opaque(text: str, pointer: str = "") -> str:
    """The example with the proposal's opaque types, by value or as pointers to them."""
    for count, name in (("12", "A"), ("20", "B"), ("15", "C")):
        text = text.replace(f"<{count} x i32>", f"%spirv.MatrixINTEL.{TYPES[name]}{pointer}")
    # A multiply-add has no layouts then.
    text = re.sub(r"(?m)^.*matrix\.mad.*$", lambda m: re.sub(r', metadata !"matrix\.\w+"', "", m[0]), text)
    text = re.sub(r"(declare .*mad.*?)((?:, metadata)+), i32", lambda m: m[0].replace(", metadata", "", 3), text)
    definitions = [f"%spirv.MatrixINTEL.{name} = type opaque\n" for name in TYPES.values()]
    return "".join(definitions) + text


def functions(text: str, prefix: str = "") -> str:
    """The opaque example as SPIR-V's functions."""
    for given, number in NUMBERS.items():
        text = text.replace(given, number)
    text = text.replace('metadata !"scope.subgroup"', "i32 3").replace("metadata", "i32")
    text = re.sub(r"@llvm\.experimental\.matrix\.load\.v(\d+)i32", rf"@{prefix}__spirv_MatrixLoadINTEL_Rm\1", text)
    text = re.sub(r"@llvm\.experimental\.matrix\.mad[\w.]*", f"@{prefix}__spirv_MatrixMadINTEL", text)
    return re.sub(r"@llvm\.experimental\.matrix\.store[\w.]*", f"@{prefix}__spirv_MatrixStoreINTEL", text)


FORMS = {
    "vectors": VECTORS,
    "opaque": opaque(VECTORS),
    "pointers": opaque(VECTORS, "*"),
    "functions": functions(opaque(VECTORS)),
    "mangled": functions(opaque(VECTORS, "*"), "_Z22"),
}
CANONICAL = """\
%A = call spir_func A @_Z32__spirv_CooperativeMatrixLoadKHRPiilu6mi3x4A(ptr %Ptr, i32 1, i64 %Stride)
%B = call spir_func B @_Z32__spirv_CooperativeMatrixLoadKHRPiilu6mi4x5B(ptr %Ptr, i32 1, i64 %Stride)
%C = call spir_func C @_Z32__spirv_CooperativeMatrixLoadKHRPiilu6mi3x5C(ptr %Ptr, i32 0, i64 %Stride)
%D = call spir_func C @_Z34__spirv_CooperativeMatrixMulAddKHR_mi3x4A_mi4x5B_mi3x5C(A %A, B %B, C %C, i32 15)
call spir_func void @_Z33__spirv_CooperativeMatrixStoreKHRPiu6mi3x5Cil(ptr %Ptr, C %D, i32 0, i64 %Stride)
"""


@pytest.mark.parametrize("form", FORMS)
def test_the_examples_of_the_proposal(form: str) -> None:
    module = ir(FORMS[form])
    found = "\n".join(line.strip() for line in module.llvm_ir.splitlines() if "  " in line[:2])
    for name, shape in (("A", "3, 4, 0"), ("B", "4, 5, 1"), ("C", "3, 5, 2")):
        found = found.replace(f'target("spirv.CooperativeMatrixKHR", i32, 3, {shape})', name)
    assert found == CANONICAL + "ret void"
    assert built(module)
    if form in ("vectors", "mangled"):
        for route in ("one", "lanes", "scratch"):
            assert built(ir(FORMS[form], "--matrices", route))


def test_the_lists_of_the_proposal_are_read() -> None:
    """Its misprint of rowmajor, packed layouts, the other scope; and numbers of layouts."""
    words = {"rownmajor": 0, "rowmajor": 0, "columnmajor": 1, "packed_a": 3, "packed_b": 2}
    for word, number in words.items():
        text = dialects.read(reprint(VECTORS.replace('"matrix.columnmajor"', f'"matrix.{word}"')))
        assert f"mi3x4A(ptr %Ptr, i32 {number}, i64 %Stride)" in text
    for given, number in {0: 0, 1: 1, 2: 3, 3: 2}.items():
        source = FORMS["functions"].replace("i32 4, i32 1, i32 3)", f"i32 4, i32 {given}, i32 3)")
        text = dialects.read(reprint(dialects.modern(source)))
        assert f"mi3x4A(ptr %Ptr, i32 {number}, i64 %Stride)" in text
    text = dialects.read(reprint(VECTORS.replace("subgroup", "workgroup")))
    assert 'target("spirv.CooperativeMatrixKHR", i32, 2, 3, 4, 0)' in text and "mi3x4AW" in text
    assert "i64 %Stride, i32 1)" in dialects.read(reprint(VECTORS.replace("i1 false", "i1 true")))


def test_matrices_of_work_groups_are_native_too() -> None:
    module = ir(VECTORS.replace("subgroup", "workgroup"))
    assert built(module)


SOURCE = """\
#define MATRIX(...) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, __VA_ARGS__)))
typedef int A MATRIX(3, 4, CLK_COOPERATIVE_MATRIX_A);
typedef int B MATRIX(4, 5, CLK_COOPERATIVE_MATRIX_B);
typedef int C MATRIX(3, 5, CLK_COOPERATIVE_MATRIX_ACCUMULATOR);
void example(int *Ptr, long Stride) {
    A a = coop_mat_load(Ptr, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, Stride);
    B b = coop_mat_load(Ptr, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, Stride);
    C c = coop_mat_load(Ptr, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, Stride);
    C d = coop_mat_mulAdd(a, b, c);
    coop_mat_store(Ptr, d, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, Stride);
}
"""


def test_what_is_written_is_the_proposals_example() -> None:
    """Line by line, but for the names of values; of local memory, as private has no native instruction."""
    source = SOURCE.replace("int *Ptr", "local int *Ptr")
    written = compile_source(source, ["--dialect", "intel"]).llvm_ir
    wanted = VECTORS.replace("i32*", "ptr addrspace(3)").replace("i1 0", "i1 false")

    def calls(text: str) -> list[str]:
        lines = [line.strip() for line in text.splitlines() if "call" in line]
        return [re.sub(r"\.p3(?=\()", "", re.sub(r"%[\w.]+", "%", line)) for line in lines]

    assert calls(written) == calls(wanted)


@pytest.mark.parametrize("dialect", dialects.INTEL)
def test_a_module_is_the_same_after_a_round_trip(dialect: str) -> None:
    paths = [path for path in GOLDEN if path.parent.name == "ir" and "matrices" in path.stem] + [
        path for path in KERNELS if path.stem == "gemm_epilogue"
    ]
    paths += [path for path in GOLDEN if path.stem == "rfc_examples"]
    assert len(paths) == 4
    for path in paths:
        text = reprint(lowered(path))
        values = emit(text, EmitOptions(passes="sroa", want=frozenset({"llvm_ir"}))).llvm_ir or ""
        for given in (text, values):
            written = dialects.rewrite(given, dialect)
            assert normal(written) == normal(given), path.stem
        assert "INTEL" in written or "experimental.matrix" in written


def test_every_dialect_writes_matrices_of_work_groups() -> None:
    text = reprint(VECTORS.replace("subgroup", "workgroup").replace("columnmajor", "packed_a"))
    for dialect in (*dialects.DIALECTS, *dialects.INTEL):
        assert normal(dialects.rewrite(text, dialect)) == normal(text), dialect


def test_uses_that_nothing_tells_stay() -> None:
    """The names of a load and a store say what no operation does."""
    source = SOURCE.replace("int *Ptr", "local int *Ptr")
    source = re.sub(r"    (B|C) .*\n", "", source).replace("Ptr, d,", "Ptr, a,")
    written = compile_source(source, ["--dialect", "intel"]).llvm_ir
    assert "load.v12i32.p3.mi3x4A(" in written and "store.v12i32.p3.mi3x4A(" in written
    assert ", i32, 3, 3, 4, 0)" in ir(written).llvm_ir


# --- where matrices go ---------------------------------------------------------------------------

FLOW = """\
define internal <8 x float> @twice(<8 x float> %m, <8 x float> %other) {
  %d = fadd fast <8 x float> %m, %other
  ret <8 x float> %d
}
define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %h, i1 %c, float %s, i32 %n) {
entry:
  %room = alloca <8 x float>, align 32
  %a = call <4 x half> @llvm.experimental.matrix.load.v4f16(ptr addrspace(1) %h, i64 2, i1 false, i32 2, i32 2, metadata !"matrix.rowmajor", metadata !"scope.subgroup")
  %b = call <8 x half> @llvm.experimental.matrix.load.v8f16(ptr addrspace(1) %h, i64 4, i1 false, i32 2, i32 4, metadata !"matrix.rowmajor", metadata !"scope.subgroup")
  %one = insertelement <8 x float> poison, float %s, i64 0
  %all = shufflevector <8 x float> %one, <8 x float> poison, <8 x i32> zeroinitializer
  %chosen = select i1 %c, <8 x float> %all, <8 x float> zeroinitializer
  br label %loop
loop:
  %sum = phi <8 x float> [ %chosen, %entry ], [ %next, %loop ]
  %i = phi i32 [ 0, %entry ], [ %i1, %loop ]
  %next = call <8 x float> @llvm.experimental.matrix.mad.x(<4 x half> %a, metadata !"matrix.rowmajor", <8 x half> %b, metadata !"matrix.rowmajor", <8 x float> %sum, metadata !"matrix.rowmajor", i32 2, i32 2, i32 4, metadata !"scope.subgroup")
  %i1 = add i32 %i, 1
  %more = icmp slt i32 %i1, %n
  br i1 %more, label %loop, label %end
end:
  store <8 x float> %next, ptr %room, align 32
  %again = load <8 x float>, ptr %room, align 32
  %frozen = freeze <8 x float> %again
  %x = call <8 x float> @twice(<8 x float> %frozen, <8 x float> splat (float 2.0))
  %y = fmul <8 x float> %x, splat (float 3.0)
  %w = fneg <8 x float> %y
  %z = fptrunc <8 x float> %w to <8 x half>
  call void @llvm.experimental.matrix.store.v8f16(<8 x half> %z, ptr addrspace(1) %h, i64 4, i1 false, i32 2, i32 4, metadata !"matrix.columnmajor", metadata !"scope.subgroup")
  %plain = load <8 x float>, ptr addrspace(1) %p
  %added = fadd <8 x float> %plain, %plain
  store <8 x float> %added, ptr addrspace(1) %p
  ret void
}
declare <4 x half> @llvm.experimental.matrix.load.v4f16(ptr addrspace(1), i64, i1, i32, i32, metadata, metadata)
declare <8 x half> @llvm.experimental.matrix.load.v8f16(ptr addrspace(1), i64, i1, i32, i32, metadata, metadata)
declare <8 x float> @llvm.experimental.matrix.mad.x(<4 x half>, metadata, <8 x half>, metadata, <8 x float>, metadata, i32, i32, i32, metadata)
declare void @llvm.experimental.matrix.store.v8f16(<8 x half>, ptr addrspace(1), i64, i1, i32, i32, metadata, metadata)
"""  # noqa: E501


def test_variables_of_opaque_types() -> None:
    """As unoptimised IR has them, of both kinds of old types."""
    name = f"%spirv.MatrixINTEL.{TYPES['C']}"
    for form, kind in (("functions", name), ("mangled", f"{name}*")):
        room = f"    %m = alloca {kind}\n    store {kind} %D, {kind}* %m\n    %E = load {kind}, {kind}* %m\n"
        text = re.sub(r"(?m)^(    call void .*)%D", rf"{room}\1%E", FORMS[form])
        found = dialects.read(reprint(dialects.modern(text)))
        assert 'alloca target("spirv.CooperativeMatrixKHR", i32, 3, 3, 5, 2), align 8' in found
        assert built(ir(text, "--matrices", "one"))


def test_vectors_flow_as_matrices() -> None:
    """Through phis, choices, variables, functions and arithmetic; vectors beside them stay vectors."""
    text = dialects.read(reprint(FLOW))
    kind = 'target("spirv.CooperativeMatrixKHR", float, 3, 2, 4, 2)'
    for line in (
        f"%room = alloca {kind}",
        f"%sum = phi {kind} [ %chosen, %entry ], [ %next, %loop ]",
        f"%frozen = freeze {kind} %again",
        "@_Z26__spirv_CompositeConstruct_mf2x4C(float %s)",
        f"define internal {kind} @twice({kind} %m, {kind} %other)",
        "@_Z12__spirv_FAdd_mf2x4C(",
        "@_Z16__spirv_FConvert_mf2x4C_mDh2x4C(",
        "%added = fadd <8 x float> %plain, %plain",
    ):
        assert line in text, line
    assert "insertelement" not in text and text.count("__spirv_CompositeConstruct_mf2x4C(") >= 4
    for route in ("native", "one", "lanes", "scratch"):
        assert built(ir(FLOW, "--matrices", route))


def squares() -> str:
    """The example with matrices of 3 x 3 only."""
    text = re.sub(r"<\d+ x i32>", "<9 x i32>", re.sub(r"\.v\d+i32", ".v9i32", VECTORS))
    text = re.sub(r"i32 3, i32 [45], m", "i32 3, i32 3, m", text.replace("i32 4, i32 5, m", "i32 3, i32 3, m"))
    text = text.replace("i32 3, i32 4, i32 5", "i32 3, i32 3, i32 3")
    return re.sub(r"(?m)^declare .*load.*\n(?=declare .*load)", "", text)


def test_a_load_of_two_uses_is_done_twice() -> None:
    text = re.sub(r"<9 x i32> %[BC](?=,)", "<9 x i32> %A", squares())
    found = dialects.read(reprint(text))
    assert re.findall(r"LoadKHR\w+(mi3x3[ABC])\(", found)[:3] == ["mi3x3A", "mi3x3B", "mi3x3C"]
    assert re.search(r"%A, .*%A\.B, .*%A\.C, i32 15\)", found)


def test_a_result_that_becomes_an_operand() -> None:
    """An accumulator is no A: there is no conversion between uses."""
    text = squares()
    (line,) = (line for line in text.splitlines() if "%D = " in line)
    text = text.replace(line, f"{line}\n{line.replace('%D', '%E').replace('%A', '%D')}")
    with pytest.raises(coopmat.CompileError, match="%D is A here and an accumulator elsewhere: store it") as caught:
        ir(text)
    span = caught.value.diagnostics[0].span
    assert span is not None and span.line == 6


@pytest.mark.parametrize(
    ("change", "code", "line", "message"),
    [
        (('"matrix.columnmajor"', '"matrix.diagonal"'), "ir-operation", 2, "none of matrix.rowmajor"),
        (('"scope.subgroup"', '"scope.device"'), "ir-operation", 2, "the scope is"),
        (("i32 3, i32 4, metadata", "i32 3, i32 5, metadata"), "ir-operation", 2, "3 x 5 does not fit"),
        (("i1 false", "i1 undef"), "ir-operation", 2, "IsVolatile is not"),
        (("i32 3, i32 4, i32 5", "i32 3, i32 4, i32 4"), "ir-operation", 5, "B of 4 x 4 does not fit"),
        (("i32 3, i32 4, i32 5", "i32 3, i32 4, i64 %Stride"), "ir-operation", 5, "N is not an integer constant"),
        (("i32 3, i32 5, metadata", "i32 5, i32 3, metadata"), "ir-operation", 5, "is of shape"),
        (
            ("    ret", "    %e = extractelement <15 x i32> %D, i32 0\n    ret"),
            "ir-not-supported",
            7,
            "'extractelement'",
        ),
        (("    ret", "    store <15 x i32> %D, i32* %Ptr\n    ret"), "ir-not-supported", 7, "a matrix in memory"),
        (("%Ptr, i64 %Stride, i1 0", "%Ptr, float 1.0, i1 0"), "ir-operation", 6, "stride is not an integer"),
        (("@example(i32* %Ptr", "@example(<15 x i32>* %Ptr"), "", 0, ""),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_wrong_has_a_place(change: tuple[str, str], code: str, line: int, message: str) -> None:
    text = VECTORS.replace(*change, 1)
    assert text != VECTORS
    if change[1].startswith(("%Ptr, float",)):
        text = text.replace("<15 x i32>, i32*, i64", "<15 x i32>, i32*, float")
    if "i64 %Stride" in change[1] and line == 5:
        text = text.replace("i32, i32, i32, metadata)", "i32, i32, i64, metadata)")
    if not code:
        # Pointers have lost what they point to.
        assert built(ir(text))
        return
    with pytest.raises(coopmat.CompileError) as caught:
        ir(text)
    (found,) = caught.value.diagnostics
    assert (found.code, found.span and found.span.line) == (code, line), str(caught.value)
    assert message in found.message


def test_native_matrices_are_not_packed() -> None:
    text = VECTORS.replace("i32*", "ptr addrspace(1)").replace("columnmajor", "packed_a")
    with pytest.raises(coopmat.CompileError, match="has no instruction: use --matrices one") as caught:
        ir(text).spirv  # noqa: B018
    assert caught.value.diagnostics[0].span is not None


def test_work_groups_must_be_of_a_known_size() -> None:
    text = VECTORS.replace("subgroup", "workgroup")
    with pytest.raises(coopmat.CompileError, match="no kernel with reqd_work_group_size"):
        ir(text, "--matrices", "one").spirv  # noqa: B018
    kernel = text.replace("define void", "define spir_kernel void").replace("i32*", "ptr addrspace(1)")
    for route in ("one", "lanes", "scratch"):
        with pytest.raises(coopmat.CompileError, match="does not say how large its work-groups are"):
            ir(kernel, "--matrices", route).spirv  # noqa: B018
