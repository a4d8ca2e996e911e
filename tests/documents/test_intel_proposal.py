"""Intel's proposal of matrix types and operations in LLVM IR, fragment by fragment.

Adapted: a declaration of the text is completed with names, types and numbers for what it has in angle brackets; the
example becomes a kernel on global memory where it runs ("kernel": the text's is a function on private memory).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from differential import Launch, Value, execute

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.foreign import llvm_ir as dialects
from coopmat.spirv.emit import reprint

Array = np.ndarray

# --- 1.1: the example ------------------------------------------------------------------------------

EXAMPLE = Path(__file__).with_name("intel_proposal.ll").read_text()
STRIDE = 7


def kernel(text: str, size: int) -> str:
    """The example as a kernel on global memory, for work-groups of this size."""
    text = text.replace("i32*", "i32 addrspace(1)*").replace("define void", "define spir_kernel void")
    head = "%Stride) !reqd_work_group_size !0 !intel_reqd_sub_group_size !1 {"
    return text.replace("%Stride) {", head) + f"!0 = !{{i32 {size}, i32 1, i32 1}}\n!1 = !{{i32 {size}}}\n"


# --- 1.2 and 2: the same with opaque types, by intrinsics and by functions -------------------------

# Of the text: <type>, <rows>, <cols>, <layout>, <stride>.
OPAQUE = {
    "<12 x i32>": "%spirv.MatrixINTEL._int_3_4_1_7",
    "<20 x i32>": "%spirv.MatrixINTEL._int_4_5_1_7",
    "<15 x i32>": "%spirv.MatrixINTEL._int_3_5_0_7",
}


def opaque(text: str) -> str:
    """1.2: a multiply-add has no layouts, as in the text's declaration."""
    text = re.sub(r"(?m)^.*matrix\.mad.*$", lambda m: re.sub(r', metadata !"matrix\.\w+"', "", m[0]), text)
    text = re.sub(r"(?m)^declare .*matrix\.mad.*$", lambda m: m[0].replace(", metadata", "", 3), text)
    for vector, name in OPAQUE.items():
        text = text.replace(vector, name)
    return "".join(f"{name} = type opaque\n" for name in OPAQUE.values()) + text


def functions(text: str) -> str:
    """2: SPIR-V friendly; layouts and scope are numbers, {ReturnType} is part of the load's name."""
    text = (
        opaque(text).replace('metadata !"matrix.columnmajor"', "i32 1").replace('metadata !"matrix.rowmajor"', "i32 0")
    )
    text = text.replace('metadata !"scope.subgroup"', "i32 3").replace('metadata !"scope.workgroup"', "i32 2")
    text = re.sub(r"metadata(?=[,)])", "i32", text)
    text = re.sub(r"@llvm\.experimental\.matrix\.load\.(\w+)", r"@__spirv_MatrixLoadINTEL_R\1", text)
    text = re.sub(r"@llvm\.experimental\.matrix\.mad[\w.]*", "@__spirv_MatrixMadINTEL", text)
    return re.sub(r"@llvm\.experimental\.matrix\.store[\w.]*", "@__spirv_MatrixStoreINTEL", text)


FORMS = {"intel": EXAMPLE, "intel-opaque": opaque(EXAMPLE), "intel-spirv": functions(EXAMPLE)}


@dataclass(frozen=True)
class Declared:
    """What the angle brackets of a declaration stand for."""

    layout: str
    scope: str
    volatile: str = "false"


LAYOUTS = {"columnmajor": 1, "rownmajor": 0, "rowmajor": 0, "packed_a": 2, "packed_b": 3}
SCOPES = {"subgroup": 3, "workgroup": 2}


def with_words(form: str, words: Declared) -> str:
    """The example of a form with other words at A's load and for all scopes."""
    text = FORMS[form]
    if form == "intel-spirv":
        text = text.replace("i32 4, i32 1, i32 3)", f"i32 4, i32 {LAYOUTS[words.layout]}, i32 3)", 1)
        text = re.sub(r"i32 3\)$", f"i32 {SCOPES[words.scope]})", text, flags=re.MULTILINE)
    else:
        text = text.replace('"matrix.columnmajor"', f'"matrix.{words.layout}"', 1).replace("subgroup", words.scope)
    return text.replace("i1 false, i32 3, i32 4", f"i1 {words.volatile}, i32 3, i32 4")


# Components of 32 bits are packed one by one: A by columns, too.
WAYS = (
    ("one", 1, Declared("packed_a", "subgroup", "true")),
    ("lanes", 16, Declared("columnmajor", "subgroup")),
    ("scratch", 8, Declared("columnmajor", "workgroup")),
)


def expected(memory: Array) -> Array:
    """A (3 x 4) and B (4 x 5) by columns, C (3 x 5) by rows, all at the same address."""
    a, b = (np.array([memory[c * STRIDE : c * STRIDE + r] for c in range(n)]).T for r, n in ((3, 4), (4, 5)))
    result, rows = memory.copy(), [slice(r * STRIDE, r * STRIDE + 5) for r in range(3)]
    for row, added in zip(rows, a @ b, strict=True):
        result[row] += added
    return result


@pytest.mark.parametrize("form", FORMS)
def test_the_example_is_read_as_the_text_has_it(form: str) -> None:
    """Of native matrices, in the order of the text: the three loads, the multiply-add, the store."""
    text = coopmat.compile(FORMS[form], name="example.ll", language="ir").llvm_ir
    operations = re.findall(r"call spir_func .*?@_Z\d+__spirv_CooperativeMatrix(\w+?)KHR", text)
    assert operations == ["Load", "Load", "Load", "MulAdd", "Store"]
    for shape in ("3, 4, 0", "4, 5, 1", "3, 5, 2"):
        assert f'target("spirv.CooperativeMatrixKHR", i32, 3, {shape})' in text
    # "The function names below are unmangled, in LLVM IR they will be mangled."
    mangled = re.sub(r"@(__spirv_\w+)", lambda match: f"@_Z{len(match[1])}{match[1]}", FORMS[form])
    assert coopmat.compile(mangled, name="example.ll", language="ir").llvm_ir == text


@pytest.mark.parametrize("form", FORMS)
def test_the_example_runs(device: DeviceInfo, form: str) -> None:
    memory = np.random.default_rng(9).integers(-50, 50, 64, np.int32)
    for route, size, words in WAYS:
        options = ["--matrices", route, "--sub-group-size", str(size), "--no-validate"]
        text = kernel(with_words(form, words), size)
        module = coopmat.compile(text, options, name="example.ll", language="ir")
        launch = Launch("example", [memory, Value(np.array(STRIDE, np.int64))], (size,), (size,))
        (found,) = execute(device, module.spirv, [launch])
        assert np.array_equal(found[0], expected(memory)), route


def plain(text: str, word: str) -> list[str]:
    """The lines with a word, without the names of values, the spelling of pointers, semicolons and attributes."""
    lines = [line.strip() for line in text.splitlines() if f"{word} " in line]
    lines = [re.sub(r"spir_func |tail |\.p\d(?=\()|;$| #\d+$", "", line) for line in lines]
    lines = [re.sub(r"i32( addrspace\(\d\))?\*|ptr( addrspace\(\d\))?", "ptr", line) for line in lines]
    lines = [re.sub(r"(?<=[ (])%[A-Za-z0-9_.]+(?=[ ,)])", "%", line).replace("i1 0", "i1 false") for line in lines]
    return [re.sub(r"^%[A-Za-z0-9_.]+ = ", "% = ", line) for line in lines]


def test_the_example_is_written_as_the_text_has_it() -> None:
    """The calls in their order, and the declarations; the other forms are read as the same."""
    module = coopmat.compile(EXAMPLE, ["--dialect", "intel"], name="example.ll", language="ir")
    assert plain(module.llvm_ir, "call") == plain(EXAMPLE, "call")
    declarations = [re.sub(r" (immarg|noundef)", "", line) for line in plain(module.llvm_ir, "declare")]
    assert sorted(declarations) == sorted(plain(EXAMPLE, "declare"))
    for dialect, words in {
        "intel-opaque": ("llvm.experimental.matrix.load", "llvm.experimental.matrix.mad", '!"matrix.rowmajor"'),
        "intel-spirv": ("__spirv_MatrixLoadINTEL_R", "__spirv_MatrixMadINTEL", "__spirv_MatrixStoreINTEL"),
    }.items():
        text = coopmat.compile(EXAMPLE, ["--dialect", dialect], name="example.ll", language="ir").llvm_ir
        assert all(word in text for word in words) and 'target("spirv.MatrixINTEL", i32, 3, 4' in text
        assert dialects.read(text) == dialects.read(module.llvm_ir)


# --- the declarations and the lists of words -------------------------------------------------------


CANONICAL = {"columnmajor": 1, "rownmajor": 0, "rowmajor": 0, "packed_a": 3, "packed_b": 2}


def declared() -> Iterator[Declared]:
    """Each layout, and each scope, at least once."""
    for number, layout in enumerate(LAYOUTS):
        yield Declared(layout, list(SCOPES)[number % 2], ("false", "true")[number % 2])


@pytest.mark.parametrize("form", FORMS)
def test_layouts_scopes_and_volatile(form: str) -> None:
    for words in declared():
        text = dialects.read(reprint(dialects.modern(with_words(form, words))))
        scope = SCOPES[words.scope]
        assert f'target("spirv.CooperativeMatrixKHR", i32, {scope}, 3, 4, 0)' in text, words
        volatile = ", i32 1)" if words.volatile == "true" else ")"
        wanted = rf"3x4AW?[il]*\([^)]*ptr %Ptr, i32 {CANONICAL[words.layout]}, i64 %Stride{re.escape(volatile)}"
        assert re.search(wanted, text), (words, text)


@pytest.mark.parametrize(
    ("given", "other", "message"),
    [
        ("matrix.rowmajor", "matrix.diagonal", "none of"),
        ("scope.subgroup", "scope.device", "scope"),
        ("i32 3, i32 4, i32 5", "i32 3, i32 5, i32 5", "does not fit|is of shape"),
    ],
)
def test_other_words_are_refused(given: str, other: str, message: str) -> None:
    with pytest.raises(coopmat.CompileError, match=message):
        coopmat.compile(EXAMPLE.replace(given, other, 1), name="words.ll", language="ir").llvm_ir  # noqa: B018


TYPES = """\
%spirv.MatrixINTEL._{word}_3_4_0_7 = type opaque
define void @f({type} addrspace(1)* %p, i64 %s) {{
  %A = call %spirv.MatrixINTEL._{word}_3_4_0_7 @__spirv_MatrixLoadINTEL_Rx({type} addrspace(1)* %p, i64 %s, i1 false, i32 3, i32 4, i32 0, i32 3)
  call void @__spirv_MatrixStoreINTEL(%spirv.MatrixINTEL._{word}_3_4_0_7 %A, {type} addrspace(1)* %p, i64 %s, i1 false, i32 3, i32 4, i32 1, i32 3)
  ret void
}}
declare %spirv.MatrixINTEL._{word}_3_4_0_7 @__spirv_MatrixLoadINTEL_Rx({type} addrspace(1)*, i64, i1, i32, i32, i32, i32)
declare void @__spirv_MatrixStoreINTEL(%spirv.MatrixINTEL._{word}_3_4_0_7, {type} addrspace(1)*, i64, i1, i32, i32, i32, i32)
"""  # noqa: E501
WORDS = {
    "char": "i8",
    "ushort": "i16",
    "int": "i32",
    "ulong": "i64",
    "half": "half",
    "float": "float",
    "bf16": "bfloat",
}


def test_types_of_opaque_matrices() -> None:
    """The text's `<type>`: words of C, or short ones; another word is an error."""
    for word, kind in WORDS.items():
        text = dialects.read(reprint(dialects.modern(TYPES.format(word=word, type=kind))))
        assert f'target("spirv.CooperativeMatrixKHR", {kind}, 3, 3, 4, 2)' in text, word
    with pytest.raises(coopmat.CompileError):
        coopmat.compile(TYPES.format(word="bool", type="i1"), name="types.ll", language="ir").llvm_ir  # noqa: B018
