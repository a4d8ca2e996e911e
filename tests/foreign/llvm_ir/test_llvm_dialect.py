"""Clang's matrix types as flat vectors and llvm.matrix.*: written, lowered and run by LLVM itself, read back."""

from __future__ import annotations

import re

import matrix_jit
import numpy as np
import pytest
from differential import Launch, Value, execute
from optimise import optimised

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.spirv.emit import EmitOptions, emit

Array = np.ndarray

RFC = """
typedef float m4x4_t __attribute__((matrix_type(4, 4)));
void f(m4x4_t *a, m4x4_t *b, m4x4_t *c, m4x4_t *r) {
    *r = __builtin_matrix_add(__builtin_matrix_multiply(*a, *b), *c);
}
"""
# The RFC's listing, where pointers have types and need casts, and values other numbers.
RFC_IR = """
%a.addr = alloca ptr, align 8
%b.addr = alloca ptr, align 8
%c.addr = alloca ptr, align 8
%r.addr = alloca ptr, align 8
store ptr %a, ptr %a.addr, align 8
store ptr %b, ptr %b.addr, align 8
store ptr %c, ptr %c.addr, align 8
store ptr %r, ptr %r.addr, align 8
%0 = load ptr, ptr %a.addr, align 8
%2 = load <16 x float>, ptr %0, align 4
%3 = load ptr, ptr %b.addr, align 8
%5 = load <16 x float>, ptr %3, align 4
%6 = call <16 x float> @llvm.matrix.multiply.v16f32.v16f32.v16f32(<16 x float> %2, <16 x float> %5, i32 4, i32 4, i32 4)
%7 = load ptr, ptr %c.addr, align 8
%9 = load <16 x float>, ptr %7, align 4
%10 = fadd <16 x float> %6, %9
%11 = load ptr, ptr %r.addr, align 8
store <16 x float> %10, ptr %11, align 4
ret void
"""


def llvm_ir(source: str, *options: str) -> str:
    return coopmat.compile(source, ["--dialect", "llvm", *options]).llvm_ir


def _numbered(text: str) -> str:
    names: dict[str, str] = {}
    return re.sub(r"%\.?\d+", lambda match: names.setdefault(match[0], f"%{len(names)}"), text)


def test_the_example_of_the_rfc() -> None:
    text = llvm_ir(RFC, "-cl-std=CL1.2", "-ffp-contract=off")
    body = re.search(r"\{\nentry:\n(.*?)\n\}", text, re.DOTALL)
    assert body is not None
    lines = "\n".join(line.strip() for line in body[1].split("\n"))
    assert _numbered(lines) == _numbered(RFC_IR.strip())
    head = "declare <16 x float> @llvm.matrix.multiply.v16f32.v16f32.v16f32"
    assert f"{head}(<16 x float>, <16 x float>, i32 immarg, i32 immarg, i32 immarg)" in text


def test_contraction_is_a_flag() -> None:
    for options, contract in ((["-ffp-contract=off"], False), ([], True), (["-ffp-contract=matrix"], True)):
        text = llvm_ir(RFC, *options)
        assert ("call contract <16 x float> @llvm.matrix.multiply" in text) == contract
        assert ("fadd contract <16 x float>" in text) == contract
    off = RFC.replace(") {", ") {\n#pragma OPENCL FP_CONTRACT OFF\n")
    assert "contract" not in llvm_ir(off).replace("FP_CONTRACT", "")
    assert "fadd contract <16 x float>" in llvm_ir(off, "-ffp-contract=matrix")


# --- lowered by LLVM -------------------------------------------------------------------------------

TYPES = """
#pragma OPENCL FP_CONTRACT OFF
typedef float A __attribute__((matrix_type(4, 3)));
typedef float B __attribute__((matrix_type(3, 5)));
typedef float C __attribute__((matrix_type(4, 5)));
typedef float T __attribute__((matrix_type(3, 4)));
typedef float RA __attribute__((matrix_type(4, 3, layout(row_major))));
typedef float RB __attribute__((matrix_type(3, 5, layout(row_major))));
typedef float RC __attribute__((matrix_type(4, 5, layout(row_major))));
typedef float PA __attribute__((matrix_type(4, 3, column_padding(2))));
typedef float QA __attribute__((matrix_type(4, 3, layout(row_major), row_padding(1))));
typedef int IA __attribute__((matrix_type(4, 3)));
typedef short SA __attribute__((matrix_type(4, 3)));
typedef float ROW __attribute__((matrix_type(1, 3)));
typedef float COLUMN __attribute__((matrix_type(4, 1)));
struct both { char c; A a; };
A twice(A a) { return a + a; }
"""
# Name, body over a (4 x 3), b (3 x 5), c (4 x 5), i; what becomes of c and a. Elements are small whole numbers.
BODIES = {
    "product": ("*c = *a * *b + *c;", lambda a, b, c: (a, a @ b + c)),
    "by_rows": ("*c = (C)((RA)*a * (RB)*b);", lambda a, b, c: (a, a @ b)),
    "compound": ("*c += *a * *b; *c *= 2.0f; *c -= *c - 1.0f;", lambda a, b, c: (a, c * 0 + 1)),
    "transposes": (
        "*a = __builtin_matrix_transpose((T)__builtin_matrix_transpose(*a)) + *a;",
        lambda a, b, c: (2 * a, c),
    ),
    "rows_turned": (
        "RA r = (RA)*a; *a = (A)__builtin_matrix_transpose(__builtin_matrix_transpose(r));",
        lambda a, b, c: (a, c),
    ),
    "padded": (
        "PA p = (PA)*a; p = p + p; QA q = (QA)p; q[1][2] += 3; *a = (A)q;",
        lambda a, b, c: (_plus(2 * a, 1, 2, 3), c),
    ),
    "integers": ("IA n = (IA)*a; n = n * 3 - (IA)(SA)*a; *a = (A)n;", lambda a, b, c: (2 * a, c)),
    "elements": (
        "int i = (*b)[0][0] > 1e9f; (*a)[i + 1][2] += 5; (*a)[3][i] = (*a)[0][1];",
        lambda a, b, c: (_elements(a), c),
    ),
    "parts": (
        "int i = (*b)[0][0] > 1e9f; ROW r = __builtin_matrix_row(*a, i + 2); COLUMN k = __builtin_matrix_column(*a, 1);"
        "*a = __builtin_matrix_insert_row(*a, 0, r); *a = __builtin_matrix_insert_column(*a, i + 2, k);",
        lambda a, b, c: (_parts(a), c),
    ),
    "memory": (
        "float m[40]; for (int n = 0; n < 40; n++) m[n] = n; __builtin_matrix_column_major_store(*a, m, 7);"
        "*a = __builtin_matrix_column_major_load(m + 7, 4, 3, 7);",
        lambda a, b, c: (_shifted(a), c),
    ),
    "choices": (
        "*a = (*b)[0][0] > 1e9f ? *a : twice(*a); struct both s; s.a = *a; *a = s.a - 1;",
        lambda a, b, c: (2 * a - 1, c),
    ),
    "chains": ("for (int n = 0; n < 3; n++) *a = *a + *a - (A)1.0f;", lambda a, b, c: (8 * a - 7, c)),
    "vectors": (
        "float4 v = (float4)__builtin_matrix_column(*a, 2) + 1;*a = __builtin_matrix_insert_column(*a, 0, (COLUMN)v);",
        lambda a, b, c: (_vectors(a), c),
    ),
}


def _plus(a: Array, row: int, column: int, x: float) -> Array:
    a[row, column] += x
    return a


def _elements(a: Array) -> Array:
    a[1, 2] += 5
    a[3, 0] = a[0, 1]
    return a


def _parts(a: Array) -> Array:
    column = a[:, 1].copy()
    a[0] = a[2]
    a[:, 2] = column
    return a


def _shifted(a: Array) -> Array:
    memory = np.arange(40, dtype=np.float32)
    for column in range(3):
        memory[7 * column : 7 * column + 4] = a[:, column]
    return np.array([[memory[7 + 7 * column + row] for column in range(3)] for row in range(4)], np.float32)


def _vectors(a: Array) -> Array:
    a[:, 0] = a[:, 2] + 1
    return a


def _inputs() -> tuple[Array, Array, Array]:
    draw = np.random.default_rng(3)
    return tuple(draw.integers(-9, 9, shape).astype(np.float32) for shape in ((4, 3), (3, 5), (4, 5)))


def _by_columns(matrix: Array) -> Array:
    return matrix.T.ravel().copy()


def _expected(name: str) -> tuple[Array, Array]:
    a, b, c = _inputs()
    return BODIES[name][1](a, b, c)


@pytest.mark.parametrize("space", ["private", "global"])
def test_llvm_lowers_what_is_written(space: str) -> None:
    """LLVM's own pass leaves no intrinsic, and its code gives what numpy does."""
    pointers = f"{space} A *a, {space} B *b, {space} C *c"
    text = llvm_ir(TYPES + "\n".join(f"void {name}({pointers}) {{ {body} }}" for name, (body, _) in BODIES.items()))
    assert "llvm.matrix.multiply.v20f32.v12f32.v15f32" in text
    assert "llvm.matrix.column.major.load.v12f32.i64(ptr align 4" in text
    a, b, c = map(_by_columns, _inputs())
    lowered, found = matrix_jit.run(text, [(name, [a, b, c]) for name in BODIES])
    assert "@llvm.matrix" not in lowered
    for name, (left, _, right) in zip(BODIES, found, strict=True):
        want = [_by_columns(matrix) for matrix in _expected(name)]
        assert left.tolist() == want[0].tolist() and right.tolist() == want[1].tolist(), name


# --- read back -------------------------------------------------------------------------------------


def read(text: str, *options: str) -> coopmat.Module:
    return coopmat.compile(text, ["--no-validate", *options], name="in.ll", language="ir")


@pytest.mark.parametrize(("passes", "route"), [("", "native"), ("O2", "one")])
def test_what_is_written_is_read_for_devices(device: DeviceInfo, passes: str, route: str) -> None:
    pointers = "global A *a, global B *b, global C *c"
    kernels = [f"kernel void {name}({pointers}) {{ {body} }}" for name, (body, _) in BODIES.items()]
    text = llvm_ir(TYPES + "\n".join(kernels))
    module = read(optimised(text, passes) if passes else text, "--matrices", route)
    a, b, c = map(_by_columns, _inputs())
    results = execute(device, module.spirv, [Launch(name, [a, b, c]) for name in BODIES])
    for name, found in zip(BODIES, results, strict=True):
        want = [_by_columns(matrix) for matrix in _expected(name)]
        assert found[0].tolist() == want[0].tolist() and found[2].tolist() == want[1].tolist(), name


def test_a_tree_of_ir_is_that_of_the_source() -> None:
    """Operations are put together again: one function reads memory and stores to it, the one that the source gets."""
    source = RFC.replace("void f", "kernel void f").replace("m4x4_t *", "global m4x4_t *")
    names = [
        set(re.findall(r"@\"?(cm_tree_\w+)", module.llvm_ir))
        for module in (coopmat.compile(source), read(llvm_ir(source)), read(optimised(llvm_ir(source), "O2")))
    ]
    assert len(names[0]) == 1 and names[0] == names[1] == names[2]


ROW_MAJOR = """
declare <6 x float> @llvm.matrix.multiply.v6f32.v12f32.v8f32(<12 x float>, <8 x float>, i32, i32, i32)
declare <6 x float> @llvm.matrix.transpose.v6f32(<6 x float>, i32, i32 immarg)
define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %q, ptr addrspace(1) %r) {
  %a = load <12 x float>, ptr addrspace(1) %p, align 4
  %b = load <8 x float>, ptr addrspace(1) %q, align 4
  %c = call <6 x float> @llvm.matrix.multiply.v6f32.v12f32.v8f32(<12 x float> %a, <8 x float> %b, i32 3, i32 4, i32 2)
  %d = fadd <6 x float> %c, %c
  %t = call <6 x float> @llvm.matrix.transpose.v6f32(<6 x float> %d, i32 3, i32 2)
  store <6 x float> %t, ptr addrspace(1) %r, align 4
  ret void
}
"""
STRIDED = """
declare <6 x float> @llvm.matrix.column.major.load.v6f32.i64(ptr, i64, i1, i32, i32)
define void @f(ptr %p) {
  %a = call <6 x float> @llvm.matrix.column.major.load.v6f32.i64(ptr align 4 %p, i64 3, i1 false, i32 3, i32 2)
  store <6 x float> %a, ptr %p, align 4
  ret void
}
"""


@pytest.mark.parametrize("layout", ["row-major", "column-major"])
def test_the_layout_of_flat_vectors(device: DeviceInfo, layout: str) -> None:
    """-fmatrix-memory-layout is LLVM's -matrix-default-layout; as in LLVM, strided loads are by columns only."""
    order = "C" if layout == "row-major" else "F"
    a, b = np.arange(12, dtype=np.float32).reshape(3, 4), np.arange(8, dtype=np.float32).reshape(4, 2)
    module = read(ROW_MAJOR, f"-fmatrix-memory-layout={layout}")
    launch = Launch("k", [a.flatten(order), b.flatten(order), np.zeros(6, np.float32)])
    (found,) = execute(device, module.spirv, [launch])
    assert found[2].tolist() == (2 * a @ b).T.flatten(order).tolist()
    if layout == "row-major":
        with pytest.raises(coopmat.CompileError, match="of row-major matrices is not supported"):
            _ = read(STRIDED, f"-fmatrix-memory-layout={layout}").spirv


UNSUPPORTED = {
    "  %l = alloca { i32, <5 x float> }, align 32": "records with <5 x float> in them are not supported",
    "  %l = getelementptr { i32, <5 x float> }, ptr addrspace(1) %p, i64 0, i32 1": "records with <5 x float> in them",
    "  %x = load <4 x ptr addrspace(1)>, ptr addrspace(1) %p\n  %q = extractelement <4 x ptr addrspace(1)> %x, i64 2\n"
    "  store <4 x ptr addrspace(1)> %x, ptr addrspace(1) %q": "'load' of a vector of pointers is not supported",
    "  %x = load <20 x i1>, ptr addrspace(1) %p, align 8": "<20 x i1> in memory is not supported",
}


@pytest.mark.parametrize("line", UNSUPPORTED)
def test_vectors_that_are_refused(line: str) -> None:
    text = f"define spir_kernel void @k(ptr addrspace(1) %p) {{\n{line}\n  ret void\n}}\n"
    with pytest.raises(coopmat.CompileError) as caught:
        _ = read(text).spirv
    (item,) = caught.value.diagnostics
    assert UNSUPPORTED[line] in item.message and item.span is not None and item.span.line == 2


def test_arrays_of_vectors(device: DeviceInfo) -> None:
    """An array's element takes the room that LLVM gives the vector: 8 floats for 5."""
    text = """
define spir_kernel void @k(ptr addrspace(1) %p, i64 %i) {
  %l = alloca [3 x <5 x float>], align 32
  %a = getelementptr inbounds [3 x <5 x float>], ptr %l, i64 0, i64 %i
  %x = load <5 x float>, ptr addrspace(1) %p, align 4
  store <5 x float> %x, ptr %a, align 32
  %y = load <5 x float>, ptr %a, align 32
  %o = getelementptr inbounds <5 x float>, ptr addrspace(1) %p, i64 %i
  store <5 x float> %y, ptr addrspace(1) %o, align 4
  ret void
}
"""
    p = np.arange(32, dtype=np.float32)
    (found,) = execute(device, read(text).spirv, [Launch("k", [p, Value(np.array(2, np.int64))])])
    assert found[0].tolist() == [*range(16), *range(5), *range(21, 32)]


VECTORS = """
%pair = type { i32, [20 x float] }
@table = internal addrspace(2) constant <5 x float> <float 1.0, float 2.0, float 3.0, float 4.0, float 5.0>

declare <20 x float> @llvm.fma.v20f32(<20 x float>, <20 x float>, <20 x float>)
declare <20 x i32> @llvm.smax.v20i32(<20 x i32>, <20 x i32>)

define <20 x float> @half_of(<20 x float> %x) {
  %y = fdiv <20 x float> %x, splat (float 2.0)
  ret <20 x float> %y
}
define spir_kernel void @elements(ptr addrspace(1) %p, i32 %i) {
  %x = load <20 x float>, ptr addrspace(1) %p, align 4
  %one = extractelement <20 x float> %x, i32 %i
  %y = insertelement <20 x float> %x, float 7.0, i32 %i
  %z = insertelement <20 x float> %y, float %one, i32 0
  %n = fneg <20 x float> %z
  %f = call <20 x float> @llvm.fma.v20f32(<20 x float> %n, <20 x float> splat (float 2.0), <20 x float> %x)
  %h = call <20 x float> @half_of(<20 x float> %f)
  store <20 x float> %h, ptr addrspace(1) %p, align 4
  ret void
}
define spir_kernel void @compared(ptr addrspace(1) %p, i32 %i) {
  %x = load <20 x i32>, ptr addrspace(1) %p, align 4
  %start = insertelement <20 x i32> poison, i32 %i, i64 0
  %all = shufflevector <20 x i32> %start, <20 x i32> poison, <20 x i32> zeroinitializer
  %less = icmp slt <20 x i32> %x, %all
  %chosen = select <20 x i1> %less, <20 x i32> %all, <20 x i32> %x
  %wide = zext <20 x i1> %less to <20 x i32>
  %sum = add <20 x i32> %chosen, %wide
  %most = call <20 x i32> @llvm.smax.v20i32(<20 x i32> %sum, <20 x i32> splat (i32 5))
  %bits = extractelement <20 x i1> %less, i64 3
  %bit = zext i1 %bits to i32
  %last = insertelement <20 x i32> %most, i32 %bit, i64 19
  store <20 x i32> %last, ptr addrspace(1) %p, align 4
  ret void
}
define spir_kernel void @flow(ptr addrspace(1) %p, i32 %i) {
entry:
  %x = load <20 x float>, ptr addrspace(1) %p, align 4
  br label %loop
loop:
  %a = phi <20 x float> [ %x, %entry ], [ %b, %loop ]
  %b = phi <20 x float> [ zeroinitializer, %entry ], [ %next, %loop ]
  %n = phi i32 [ 0, %entry ], [ %more, %loop ]
  %next = fadd <20 x float> %a, %x
  %more = add i32 %n, 1
  %again = icmp slt i32 %more, %i
  br i1 %again, label %loop, label %end
end:
  %odd = trunc i32 %i to i1
  %r = select i1 %odd, <20 x float> %a, <20 x float> %b
  store <20 x float> %r, ptr addrspace(1) %p, align 4
  ret void
}
define spir_kernel void @shuffled(ptr addrspace(1) %p, i32 %i) {
  %x = load <20 x float>, ptr addrspace(1) %p, align 1
  %four = shufflevector <20 x float> %x, <20 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 19>
  %five = load <5 x float>, ptr addrspace(2) @table, align 4
  %ten = shufflevector <5 x float> %five, <5 x float> splat (float 9.0),
      <10 x i32> <i32 0, i32 1, i32 2, i32 7, i32 poison, i32 4, i32 3, i32 2, i32 1, i32 0>
  %wide = shufflevector <10 x float> %ten, <10 x float> zeroinitializer,
      <20 x i32> <i32 0, i32 1, i32 2, i32 3, i32 11, i32 5, i32 6, i32 7, i32 8, i32 9,
                  i32 9, i32 8, i32 7, i32 6, i32 5, i32 11, i32 3, i32 2, i32 1, i32 0>
  %sum = fadd <20 x float> %x, %wide
  %double = fmul <4 x float> %four, splat (float 2.0)
  %bits = bitcast <20 x float> %sum to <20 x i32>
  %same = bitcast <20 x i32> %bits to <20 x float>
  %local = alloca %pair, align 4
  %in = getelementptr inbounds %pair, ptr %local, i32 0, i32 1
  store <20 x float> %same, ptr %in, align 4
  %back = load volatile <20 x float>, ptr %in, align 4
  store <20 x float> %back, ptr addrspace(1) %p, align 4
  store <4 x float> %double, ptr addrspace(1) %p, align 4
  ret void
}
"""


def test_vectors_that_spirv_lacks(device: DeviceInfo) -> None:
    x = np.arange(1, 21, dtype=np.float32)
    numbers = np.arange(-10, 10, dtype=np.int32)
    i = Value(np.array(3, np.int32))
    launches = [Launch(name, [x, i]) for name in ("elements", "flow", "shuffled")]
    launches.insert(1, Launch("compared", [numbers, i]))
    for route in ("one", "native"):
        elements, compared, flow, shuffled = (
            found[0] for found in execute(device, read(VECTORS, "--matrices", route).spirv, launches)
        )
        changed = x.copy()
        changed[[3, 0]] = 7, x[3]
        assert elements.tolist() == ((x - 2 * changed) / 2).tolist()
        want = np.maximum(np.maximum(numbers, 3) + (numbers < 3), 5)
        want[19] = 1
        assert compared.tolist() == want.tolist()
        assert flow.tolist() == (2 * x).tolist()
        ten = np.array([1, 2, 3, 9, 0, 5, 4, 3, 2, 1], np.float32)
        want = x + np.concatenate([ten, ten[::-1]])
        want[:4] = 2 * x[[4, 5, 6, 19]]
        assert shuffled.tolist() == want.tolist()


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("define spir_kernel void @k(<20 x float> %x) {\n ret void\n}", "ir-not-supported", 1),
        (
            "declare float @llvm.vector.reduce.fadd.v20f32(float, <20 x float>)\n"
            "define float @f(<20 x float> %x) {\n"
            " %r = call float @llvm.vector.reduce.fadd.v20f32(float 0.0, <20 x float> %x)\n ret float %r\n}",
            "ir-not-supported",
            3,
        ),
        (
            "@g = global { <20 x float>, i32 } zeroinitializer\ndefine void @f(<6 x float> %x) {\n ret void\n}",
            "ir-not-supported",
            1,
        ),
        (
            "declare <20 x float> @g()\ndefine void @f() {\n %x = call <20 x float> @g()\n ret void\n}",
            "ir-not-supported",
            3,
        ),
        ("define void @f(<70000 x float> %x) {\n ret void\n}", "ir-not-supported", 1),
        (
            "declare <6 x float> @llvm.matrix.transpose.v6f32(<6 x float>, i32, i32)\n"
            "define void @f(<6 x float> %x) {\n"
            " %y = call <6 x float> @llvm.matrix.transpose.v6f32(<6 x float> %x, i32 2, i32 2)\n ret void\n}",
            "ir-syntax",
            0,
        ),
    ],
)
def test_what_has_no_lowering_says_where(text: str, code: str, line: int) -> None:
    for route in ("one", "native"):
        with pytest.raises(coopmat.CompileError) as caught:
            read(text, "--matrices", route).spirv  # noqa: B018
        (found,) = caught.value.diagnostics
        assert found.code == code and (found.span.line if found.span else 0) == line


BOTH = """
typedef float m8 __attribute__((matrix_type(8, 8)));
#define SCOPE CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
typedef float acc __attribute__((coop_mat(SCOPE, 8, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
kernel void k(global const m8 *a, global const m8 *b, global m8 *c) {
    m8 m = *a + *b;
    acc x = coop_mat_load((private float *)&m, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, 8);
    x = x * 2.0f;
    m8 r;
    coop_mat_store((private float *)&r, x, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, 8);
    *c = r - *a;
}
"""


def test_both_kinds_of_matrices_in_one_module(device: DeviceInfo) -> None:
    text = llvm_ir(BOTH)
    assert "spirv.CooperativeMatrixKHR" in text and "fadd contract <64 x float>" in text
    a, b = (np.random.default_rng(n).integers(0, 9, 64).astype(np.float32) for n in (1, 2))
    module = read(text, "--matrices", "one")
    (found,) = execute(device, module.spirv, [Launch("k", [a, b, np.zeros_like(a)])])
    assert found[2].tolist() == (2 * (a + b) - a).tolist()


def test_ir_in_the_dialect_stays_what_it_is() -> None:
    text = llvm_ir(RFC)
    again = read(text, "--dialect", "llvm").llvm_ir
    assert [line for line in again.split("\n") if "matrix" in line] == [
        line for line in text.split("\n") if "matrix" in line
    ]


# --- what the pipeline leaves ----------------------------------------------------------------------

CHAINS = """
typedef float m __attribute__((matrix_type(8, 8)));
kernel void sum(global const m *a, global const m *b, global const m *c, global m *d) {
    size_t i = get_global_id(0);
    d[i] = a[i] * b[i] + c[i];
}
kernel void steps(global const m *a, global const m *b, global const m *c, global m *d) {
    m x = *a * *b;
    m y = x + *c;
    *d = y;
}
"""


@pytest.mark.parametrize("source", [CHAINS, BOTH], ids=["matrix types", "to cooperative matrices and back"])
def test_no_temporary_matrix_reaches_memory(source: str) -> None:
    modules = [coopmat.compile(source, ["--matrices", "one"])]
    if source == CHAINS:
        modules.append(read(llvm_ir(source), "--matrices", "one"))
    for module in modules:
        done = emit(module.llvm_ir, EmitOptions(passes="O1", want=frozenset({"llvm_ir"})))
        assert done.passes == "O1" and done.llvm_ir is not None
        assert "alloca" not in done.llvm_ir and "memcpy" not in done.llvm_ir
