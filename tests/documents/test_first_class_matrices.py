"""The proposal of first-class matrix types for LLVM, fragment by fragment.

Adapted everywhere: no LLVM has the type `<4 x 4 x float>`; it is the flat vector `<16 x float>`, the intrinsics say the
shape by numbers, and memory has the element's alignment, as Clang decided later.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import forms
import matrix_jit
import numpy as np
import pytest
from differential import Launch, execute
from equivalences import run
from sema_support import expect, good

import coopmat
from coopmat.devices import DeviceInfo

Array = np.ndarray

# --- the IR of a multiplication --------------------------------------------------------------------

MULTIPLY_IR = """
%0 = load <4 x 4 x float>, <4 x 4 x float>* %a, align 16
%1 = load <4 x 4 x float>, <4 x 4 x float>* %b, align 16
%2 = call <4 x 4 x float> @llvm.matrix.multiply.m4_4f32.m4_4f32.m4_4f32(<4 x 4 x float> %0, <4 x 4 x float> %1)
store <4 x 4 x float> %2, <4 x 4 x float>* %c, align 16
"""


def flat(text: str) -> str:
    """The proposal's types as those that LLVM has."""
    text = text.replace("<4 x 4 x float>", "<16 x float>").replace("m4_4f32", "v16f32").replace("align 16", "align 4")
    return forms.modern(text.replace("%1)", "%1, i32 4, i32 4, i32 4)"))


C = """
typedef float mf4x4_t __attribute__((matrix_type(4, 4)));

mf4x4_t add(mf4x4_t a, mf4x4_t b) {
  return __builtin_matrix_multiply(a, b);
}
"""
MULTIPLY = C + "void multiply(mf4x4_t *a, mf4x4_t *b, mf4x4_t *c) { *c = __builtin_matrix_multiply(*a, *b); }\n"


def test_a_multiplication_has_the_ir_of_the_text() -> None:
    """Two loads, the intrinsic, a store, in this order; and the text's function, which is a multiplication, too."""
    found = forms.written(MULTIPLY, values=True)
    # The names of a, b and c stand first on both sides, so that they count alike.
    shown = forms.numbered("%a %b %c\n" + flat(MULTIPLY_IR) + "\nret void")
    assert forms.numbered("%a %b %c\n" + forms.body(found, "multiply")) == shown
    assert forms.numbered(forms.body(found, "add")) == forms.numbered(
        "%2 = call <16 x float> @llvm.matrix.multiply.v16f32.v16f32.v16f32"
        "(<16 x float> %a, <16 x float> %b, i32 4, i32 4, i32 4)\nret <16 x float> %2"
    )


KERNEL = """
kernel void k(global const mf4x4_t *a, global const mf4x4_t *b, global mf4x4_t *c) { *c = add(*a, *b); }
"""
KERNEL_IR = f"""
define spir_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c) {{
entry:
{flat(MULTIPLY_IR).replace("ptr", "ptr addrspace(1)")}
ret void
}}
declare <16 x float> @llvm.matrix.multiply.v16f32.v16f32.v16f32(<16 x float>, <16 x float>, i32, i32, i32)
"""


def test_the_multiplication_runs(device: DeviceInfo) -> None:
    a, b = (np.random.default_rng(n).integers(-9, 10, (4, 4)).astype(np.float32) for n in (1, 2))
    arguments = [m.ravel(order="F") for m in (a, b, np.zeros_like(a))]
    shown = coopmat.compile(KERNEL_IR, name="multiply.ll", language="ir")
    ours, text = coopmat.compile(C + KERNEL), coopmat.compile(C + KERNEL, ["--code", "c"])
    for program, options in ((shown.spirv, []), (ours.spirv, []), (text.opencl_c, text.opencl_c_options)):
        (found,) = execute(device, program, [Launch("k", arguments)], options)
        assert np.array_equal(found[2].reshape(4, 4).T, a @ b)


# --- the list of operations ------------------------------------------------------------------------


@dataclass(frozen=True)
class Operation:
    """`body` with the matrices a, b, the memory p, q of 9 x 9 elements, and c, which is the result; `intrinsic` is
    what the llvm dialect calls for it, if anything, and `holds` the other instructions that it must have."""

    name: str
    body: str
    meaning: Callable[[Array, Array, Array], Array]
    holds: tuple[str, ...]


def _put(matrix: Array, at: object, value: Array | float) -> Array:
    matrix = matrix.copy()
    matrix[at] = value
    return matrix


# Of a, b: 4 x 4; p: 9 x 9.
OPERATIONS = (
    # "Element-wise binary operations, matrix multiply, matrix-scalar multiply, matrix transpose"
    Operation("binary", "*c = *a - *b;", lambda a, b, p: a - b, ("fsub <16 x float>",)),
    Operation("multiply", "*c = *a * *b;", lambda a, b, p: a @ b, ("@llvm.matrix.multiply.v16f32.v16f32.v16f32(",)),
    Operation("scalar", "*c = *a * p[3];", lambda a, b, p: a * p[3, 0], ("fmul <16 x float>", "zeroinitializer")),
    Operation(
        "transpose", "*c = __builtin_matrix_transpose(*a);", lambda a, b, p: a.T, ("@llvm.matrix.transpose.v16f32(",)
    ),
    # "Extract/insert of an element"
    Operation(
        "extract",
        "*c = (M)__builtin_matrix_extract(*a + *b, 1, 2);",
        lambda a, b, p: np.full_like(a, (a + b)[1, 2]),
        ("extractelement <16 x float>", ", i32 9\n"),
    ),
    Operation(
        "insert",
        "*c = __builtin_matrix_insert(*a, 1, 2, p[0]);",
        lambda a, b, p: _put(a, (1, 2), p[0, 0]),
        ("insertelement <16 x float>", "i64 9"),
    ),
    # "Besides the regular full-matrix load and store, ... a matrix as a submatrix of a larger matrix in memory"
    Operation("full", "*c = *a;", lambda a, b, p: a, ("load <16 x float>", "store <16 x float>")),
    Operation(
        "load_submatrix",
        "*c = __builtin_matrix_column_major_load(p + 2 * 9 + 1, 4, 4, 9);",
        lambda a, b, p: p[1:5, 2:6],
        ("@llvm.matrix.column.major.load.v16f32.i64(", "i64 9, i1 false, i32 4, i32 4)"),
    ),
    Operation(
        "store_submatrix",
        "*c = *a; __builtin_matrix_column_major_store(__builtin_matrix_column_major_load(p, 2, 2, 9), (T *)c + 5, 4);",
        lambda a, b, p: _put(a, (slice(1, 3), slice(1, 3)), p[:2, :2]),
        ("@llvm.matrix.column.major.store.v4f32.i64(", "i64 4, i1 false, i32 2, i32 2)"),
    ),
    # "We are also planning to implement vector-extract/insert and matrix-vector multiply."
    Operation(
        "extract_vectors",
        "*c = __builtin_matrix_column(*a, 2) * __builtin_matrix_row(*a, 1);",
        lambda a, b, p: a[:, 2:3] @ a[1:2, :],
        (
            "<i32 8, i32 9, i32 10, i32 11>",
            "<i32 1, i32 5, i32 9, i32 13>",
            "v16f32.v4f32.v4f32(",
            "i32 4, i32 1, i32 4",
        ),
    ),
    Operation(
        "insert_vectors",
        "*c = __builtin_matrix_insert_row(__builtin_matrix_insert_column(*a, 2, __builtin_matrix_column(*b, 0)), 1,"
        " __builtin_matrix_row(*b, 3));",
        lambda a, b, p: _put(_put(a, (slice(None), 2), b[:, 0]), 1, b[3]),
        ("insertelement <16 x float>",),
    ),
    Operation(
        "matrix_vector",
        "*c = __builtin_matrix_insert_column(*a, 3, *a * __builtin_matrix_column(*b, 0));",
        lambda a, b, p: _put(a, (slice(None), 3), a @ b[:, 0]),
        ("@llvm.matrix.multiply.v4f32.v16f32.v4f32(", "i32 4, i32 4, i32 1)"),
    ),
    # "Requiring explicit instructions to convert between them": row-major and column-major order.
    Operation("order", "R r = (R)*a; *c = (M)(r * (R)*b);", lambda a, b, p: a @ b, ("@llvm.matrix.transpose.v16f32(",)),
    # "Analyze entire chains of operations": an expression is a tree.
    Operation(
        "chain",
        "*c = __builtin_matrix_transpose(*a * *b + *a) * 2 - *b;",
        lambda a, b, p: (a @ b + a).T * 2 - b,
        ("@llvm.matrix.multiply", "fadd <16", "@llvm.matrix.transpose", "fmul <16", "fsub <16"),
    ),
)
TYPES = """
typedef float T;
typedef float M __attribute__((matrix_type(4, 4)));
typedef float R __attribute__((matrix_type(4, 4, layout(row_major))));
"""
SPACE = re.compile(r"\bSPACE ")


def program(head: str, space: str) -> str:
    takes = "SPACE M *a, SPACE M *b, SPACE T *p, SPACE M *c"
    text = "".join(f"{head} {o.name}({takes}) {{ {o.body} }}\n" for o in OPERATIONS).replace("(T *)c", "(SPACE T *)c")
    return TYPES + SPACE.sub(space, text)


def data() -> list[Array]:
    generator = np.random.default_rng(6)
    return [generator.integers(-9, 10, shape).astype(np.float32) for shape in ((4, 4), (4, 4), (9, 9))]


def wrong(results: list[Array]) -> list[str]:
    a, b, p = data()
    found = zip(OPERATIONS, results, strict=True)
    return [o.name for o, c in found if not np.array_equal(c.reshape(4, 4).T, o.meaning(a, b, p))]


def arguments() -> list[Array]:
    return [np.ascontiguousarray(m.T) for m in (*data(), np.zeros((4, 4), np.float32))]


def test_operations_are_intrinsics_or_instructions_of_vectors() -> None:
    """Also by what LLVM's own lowering makes of them, which runs."""
    text = forms.written(program("void", "private "), values=True)
    for operation in OPERATIONS:
        instructions = forms.body(text, operation.name)
        for held in operation.holds:
            assert held in instructions, (operation.name, instructions)
        assert "alloca" not in instructions, operation.name
    _, results = matrix_jit.run(text, [(o.name, arguments()) for o in OPERATIONS])
    assert not wrong([memory[3] for memory in results])


@pytest.mark.parametrize("code", ["spirv", "c", "ir"])
def test_operations_run(device: DeviceInfo, code: str) -> None:
    launches = [Launch(o.name, arguments()) for o in OPERATIONS]
    results = run(device, code, program("kernel void", "global "), launches)
    assert not wrong([memory[3] for memory in results])


def test_orders_are_types_of_their_own() -> None:
    """ "They should be separate types requiring explicit instructions to convert between them.\""""
    good(TYPES + "void f(M m, R r) { r = (R)m; m = (M)r; }")
    expect(TYPES + "void f(M m, R r) { r §= m; m = m §* r; }", "matrix-type-mismatch", "matrix-type-operand-types")


# --- layouts ---------------------------------------------------------------------------------------


def test_the_intermediate_layout_is_chosen_for_a_chain() -> None:
    """A chain is one function with no matrix in memory; large ones go by tiles, with loops."""
    source = """
    typedef float S __attribute__((matrix_type(3, 3)));
    typedef float L __attribute__((matrix_type(64, 64)));
    kernel void small(global S *a, global S *b, global S *c, global S *d) { *d = *a * *b + *c; }
    kernel void large(global L *a, global L *b, global L *c, global L *d) { *d = *a * *b + *c; }
    """
    text = coopmat.compile(source, ["--code", "c"], name="layouts.cl").opencl_c
    trees = dict(re.findall(r"(?s)static CM_INLINE void cm_tree_f32_(\d+x\d+)_(.*?\n}\n)", text))
    small, large = trees["3x3"], trees["64x64"]
    assert "for (" not in small and "[" not in small
    # By tiles, which reorders memory's accesses: a check at run time, and where nothing overlaps no temporary.
    overlapping, _, apart = large.partition("\n    } else {")
    assert re.search(r"\n    if \(", overlapping) and "for (" in apart
    assert re.search(r"\bt1\b", overlapping) and not re.search(r"\bt1\b", apart)
