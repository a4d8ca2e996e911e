"""Intel's matrix IR on a device: layouts, packed ones among them, and matrices of whole work-groups, against numpy."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from test_dialects_on_device import launched

import coopmat
from coopmat.devices import DeviceInfo, opencl
from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import Array
from coopmat.matrices.variants import COMPONENT_TYPES, Layout, MatrixShape

ROUTES = ("one", "lanes", "scratch")
WORDS = {
    Layout.ROW_MAJOR: "rowmajor",
    Layout.COLUMN_MAJOR: "columnmajor",
    Layout.PACKED: "packed_b",
    Layout.PACKED_A: "packed_a",
}
LLVM = {"s8": ("i8", "i8"), "f16": ("half", "f16"), "s32": ("i32", "i32"), "f32": ("float", "f32")}


class Text:
    """A module, written line by line; matrices are flat vectors."""

    def __init__(self, scope: str = "subgroup") -> None:
        self.scope, self.lines = f'metadata !"scope.{scope}"', list[str]()
        self.declared: dict[str, str] = {}
        self.count = 0

    def value(self) -> str:
        self.count += 1
        return f"%x{self.count}"

    def declare(self, result: str, name: str, types: str) -> str:
        self.declared[name] = f"declare {result} @{name}({types})"
        return f"@{name}"

    @staticmethod
    def vector(t: str, rows: int, columns: int) -> tuple[str, str]:
        return f"<{rows * columns} x {LLVM[t][0]}>", f"v{rows * columns}{LLVM[t][1]}"

    def load(self, t: str, shape: tuple[int, int], pointer: str, stride: int, layout: Layout) -> str:
        kind, mangled = self.vector(t, *shape)
        name = f"llvm.experimental.matrix.load.{mangled}.p1"
        called = self.declare(kind, name, "ptr addrspace(1), i64, i1, i32, i32, metadata, metadata")
        where = f"ptr addrspace(1) {pointer}, i64 {stride}, i1 false, i32 {shape[0]}, i32 {shape[1]}"
        result = self.value()
        self.lines.append(f'{result} = call {kind} {called}({where}, metadata !"matrix.{WORDS[layout]}", {self.scope})')
        return result

    def store(self, t: str, shape: tuple[int, int], value: str, pointer: str, stride: int, layout: Layout) -> None:
        kind, mangled = self.vector(t, *shape)
        name = f"llvm.experimental.matrix.store.{mangled}.p1"
        called = self.declare("void", name, f"{kind}, ptr addrspace(1), i64, i1, i32, i32, metadata, metadata")
        where = f"ptr addrspace(1) {pointer}, i64 {stride}, i1 false, i32 {shape[0]}, i32 {shape[1]}"
        rest = f'metadata !"matrix.{WORDS[layout]}", {self.scope}'
        self.lines.append(f"call void {called}({kind} {value}, {where}, {rest})")

    def mad(self, types: tuple[str, str], sizes: tuple[int, int, int], values: tuple[str, str, str]) -> str:
        m, k, n = sizes
        kinds = [self.vector(types[0], m, k), self.vector(types[0], k, n), self.vector(types[1], m, n)]
        name = ".".join(["llvm.experimental.matrix.mad", *(mangled for _, mangled in kinds)])
        taken = ", ".join(f"{kind}, metadata" for kind, _ in kinds)
        called = self.declare(kinds[2][0], name, f"{taken}, i32, i32, i32, metadata")
        given = ", ".join(
            f'{kind} {value}, metadata !"matrix.rowmajor"' for (kind, _), value in zip(kinds, values, strict=True)
        )
        result = self.value()
        self.lines.append(f"{result} = call {kinds[2][0]} {called}({given}, i32 {m}, i32 {k}, i32 {n}, {self.scope})")
        return result

    def at(self, pointer: str, t: str, offset: int | str) -> str:
        result = self.value()
        self.lines.append(f"{result} = getelementptr {LLVM[t][0]}, ptr addrspace(1) {pointer}, i64 {offset}")
        return result

    def kernel(self, name: str, pointers: str, after: str = "") -> None:
        head = ", ".join(f"ptr addrspace(1) {pointer}" for pointer in pointers.split())
        body = "\n".join(f"  {line}" for line in self.lines)
        self.declared[name] = f"define spir_kernel void @{name}({head}) {after} {{\n{body}\n  ret void\n}}"
        self.lines = []

    def __str__(self) -> str:
        return "\n".join(self.declared.values())


SHAPE = (6, 5)
STRIDES = {Layout.ROW_MAJOR: 6, Layout.COLUMN_MAJOR: 7, Layout.PACKED: 23, Layout.PACKED_A: 26}
ROOM = 128
# Each is loaded and stored once.
PAIRS = [(layout, Layout((layout + 2) % 4 if layout < 2 else 3 - layout)) for layout in Layout]


@pytest.mark.parametrize(("route", "types"), [("one", ("f16",)), ("lanes", ("s8",))])
def test_layouts_convert_into_one_another(device: DeviceInfo, route: str, types: tuple[str, ...]) -> None:
    """Packed ones and plain ones; the numbers of rows and columns are no multiples of a pack."""
    assert sorted(target for _, target in PAIRS) == list(Layout)
    text = Text()
    for t in types:
        for source, target in PAIRS:
            loaded = text.load(t, SHAPE, text.at("%p", t, source * ROOM), STRIDES[source], source)
            text.store(t, SHAPE, loaded, text.at("%q", t, target * ROOM), STRIDES[target], target)
        text.kernel(t, "%p %q")
    module = coopmat.compile(str(text), ["--matrices", route], name="layouts.ll", language="ir")
    rng = np.random.default_rng(3)
    for t in types:
        component = COMPONENT_TYPES[t]
        matrix = rng.integers(-100, 100, SHAPE).astype(component.numpy)
        given = np.zeros((4, ROOM), matrix.dtype)
        for layout in Layout:
            numpy_reference.store(given[layout], matrix, layout, STRIDES[layout])
            assert (numpy_reference.load(given[layout], MatrixShape(*SHAPE), layout, STRIDES[layout]) == matrix).all()
        size = 1 if route == "one" else 16
        got = launched(device, module, t, size, [given, np.zeros_like(given)])[1]
        assert (got == given).all(), t
    # In words: four rows of a column of bytes, and four columns of a row, lie together.
    bytes_ = np.zeros(ROOM, np.int8)
    numpy_reference.store(bytes_, np.arange(30, dtype=np.int8).reshape(SHAPE), Layout.PACKED, 20)
    assert bytes_[:8].tolist() == [0, 5, 10, 15, 1, 6, 11, 16]
    numpy_reference.store(bytes_, np.arange(30, dtype=np.int8).reshape(SHAPE), Layout.PACKED_A, 24)
    assert bytes_[:8].tolist() == [0, 1, 2, 3, 5, 6, 7, 8] and bytes_[24] == 4


@pytest.mark.parametrize("route", ROUTES)
def test_multiply_adds_of_packed_operands(device: DeviceInfo, route: str) -> None:
    m, k, n = 3, 8, 5
    text = Text()
    a = text.load("s8", (m, k), "%a", m * 4, Layout.PACKED_A)
    b = text.load("s8", (k, n), "%b", n * 4, Layout.PACKED)
    c = text.load("s32", (m, n), "%c", n, Layout.ROW_MAJOR)
    text.store("s32", (m, n), text.mad(("s8", "s32"), (m, k, n), (a, b, c)), "%c", n, Layout.ROW_MAJOR)
    text.kernel("k", "%a %b %c")
    module = coopmat.compile(str(text), ["--matrices", route], name="packed.ll", language="ir")
    rng = np.random.default_rng(4)
    x, y = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((m, k), (k, n)))
    z = rng.integers(-9999, 9999, (m, n)).astype(np.int32)
    packed = [np.zeros(256, np.int8), np.zeros(256, np.int8)]
    numpy_reference.store(packed[0], x, Layout.PACKED_A, m * 4)
    numpy_reference.store(packed[1], y, Layout.PACKED, n * 4)
    got = launched(device, module, "k", 1 if route == "one" else 16, [*packed, z])[2]
    assert (got == x.astype(np.int32) @ y.astype(np.int32) + z).all()


# --- work-groups ---------------------------------------------------------------------------------

GROUPS = {"small": (8, 1), "square": (5, 7)}
M, K, N = 5, 6, 27


def work_group_text() -> str:
    """In place: what other work-items still have to load is overwritten, and loaded again by others. A function is
    shared by kernels whose work-groups have different sizes."""
    text = Text("workgroup")
    group = text.value()
    called = text.declare("i64", "_Z12get_group_idj", "i32")
    text.lines.append(f"{group} = call i64 {called}(i32 0)")
    places = []
    for pointer, t, size in (("%a", "f16", M * K), ("%b", "f16", K * N), ("%c", "f32", M * N)):
        offset = text.value()
        text.lines.append(f"{offset} = mul i64 {group}, {size}")
        places.append(text.at(pointer, t, offset))
    a = text.load("f16", (M, K), places[0], K, Layout.ROW_MAJOR)
    b = text.load("f16", (K, N), places[1], K, Layout.COLUMN_MAJOR)
    c = text.load("f32", (M, N), places[2], N, Layout.ROW_MAJOR)
    d = text.mad(("f16", "f32"), (M, K, N), (a, b, c))
    kind = text.vector("f32", M, N)[0]
    text.lines.append(f"%sum = fadd {kind} {d}, {c}")
    # Transposed, where C was; then read as it lies there.
    text.store("f32", (M, N), "%sum", places[2], M, Layout.COLUMN_MAJOR)
    again = text.load("f32", (M, N), places[2], N, Layout.ROW_MAJOR)
    text.lines.append(f"%twice = call {kind} @twice({kind} {again})")
    text.store("f32", (M, N), "%twice", places[2], N, Layout.ROW_MAJOR)
    body = list(text.lines)
    for number, name in enumerate(GROUPS):
        text.lines = list(body)
        text.kernel(name, "%a %b %c", f"!reqd_work_group_size !{number}")
    twice = f"define internal {kind} @twice({kind} %m) noinline {{\n  %d = fadd {kind} %m, %m\n  ret {kind} %d\n}}"
    sizes = [f"!{number} = !{{i32 {x}, i32 {y}, i32 1}}" for number, (x, y) in enumerate(GROUPS.values())]
    return "\n".join([str(text), twice, *sizes])


@pytest.mark.parametrize("route", ROUTES)
def test_a_work_group_shares_its_matrices(device: DeviceInfo, route: str) -> None:
    """Several work-groups, each with matrices of its own."""
    module = coopmat.compile(work_group_text(), ["--matrices", route], name="groups.ll", language="ir")
    cl = opencl()
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        program = cl.Program(context, module.spirv).build()
    rng = np.random.default_rng(6)
    groups = 3
    for name, local in GROUPS.items():
        kernel = module.kernels[name]
        assert kernel.uses_matrices and kernel.reqd_work_group_size == (*local, 1)
        a, b = (rng.integers(-8, 9, (groups, *shape)).astype(np.float16) for shape in ((M, K), (N, K)))
        c = rng.integers(-8, 9, (groups, M, N)).astype(np.float32)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (a, b, c)]
        getattr(program, name)(queue, (local[0] * groups, local[1]), local, *buffers)
        got = np.empty_like(c)
        cl.enqueue_copy(queue, got, buffers[2])
        assert (got == expected(a, b, c)).all(), name


BOTH_SCOPES = """
#define MATRIX(...) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, __VA_ARGS__)))
typedef float W MATRIX(5, 27, CLK_COOPERATIVE_MATRIX_ACCUMULATOR);
typedef float S MATRIX(4, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR);
struct pair { W m[2]; int n; };
__attribute__((noinline)) W add(struct pair p) { return p.m[0] + p.m[1] * (float)p.n; }
__attribute__((reqd_work_group_size(16, 2, 1)))
kernel void k(global float *c, global float *s, global uint *count) {
    struct pair p;
    p.n = 2;
    p.m[0] = coop_mat_load(c, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 27);
    p.m[1] = coop_mat_init(1.0f);
    W r = add(p);
    for (uint i = 0; i < coop_mat_length(r); ++i) { uint2 at = coop_mat_coord(r, i); r[i] += at.x * 100 + at.y; }
    count[get_local_id(1) * 16 + get_local_id(0)] = coop_mat_length(r);
    coop_mat_store(c, r, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 27);
    S x = coop_mat_load(s + get_sub_group_id() * 64, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
    coop_mat_store(s + get_sub_group_id() * 64, x + x, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
}
"""


def test_matrices_of_both_scopes(device: DeviceInfo) -> None:
    """Beside one another; a work-group's in a record, by value, component by component."""
    text = coopmat.compile(BOTH_SCOPES, ["--native-profile", "maint1"], name="both.cl").llvm_ir
    text = re.sub(r'("spirv\.CooperativeMatrixKHR", float, )3(?=, 5, 27)', r"\g<1>2", text)
    text = text.replace("mf5x27C", "mf5x27CW")
    module = coopmat.compile(text, ["--matrices", "scratch"], name="both.ll", language="ir")
    rng = np.random.default_rng(2)
    c, s = (rng.integers(-9, 9, shape).astype(np.float32) for shape in ((5, 27), (2, 4, 16)))
    got = launched(device, module, "k", (16, 2), [c, s, np.zeros(32, np.uint32)])
    assert (got[0] == c + 2 + np.arange(5)[:, None] * 100 + np.arange(27)).all()
    assert (got[1] == 2 * s).all()
    # Every component is held once: columns go round the work-items.
    assert got[2].tolist() == [5] * 27 + [0] * 5


def expected(a: Array, b: Array, c: Array) -> Array:
    product_ = a.astype(np.float32) @ b.astype(np.float32).transpose(0, 2, 1)
    result: Array = 2 * (product_ + 2 * c).transpose(0, 2, 1).reshape(-1, M, N)
    return result
