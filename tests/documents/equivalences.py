"""A document's "equivalent to the code below": the operation and that code in one kernel, and what numpy says.

A kernel has `x` and `y`, the memory of the operands, and writes what the operation gives into `given` and what the
code of the text gives into `text`. Types in entries: `M` is rows x columns, `N` columns x inner, `P` rows x inner,
`S` rows x rows, `Q` columns x rows; `EltTy` is their element type and `W` has the shape of `M` and int elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from differential import NUMPY, Array, Launch, Value, difference, execute

import coopmat
from coopmat.devices import DeviceInfo

STRIDE = 11
SCALAR = 3
_ROOM = 256


@dataclass(frozen=True)
class Case:
    """Element type and shapes that entries are tried with."""

    element: str
    rows: int
    columns: int
    inner: int

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        r, c, k = self.rows, self.columns, self.inner
        return {"M": (r, c), "N": (c, k), "P": (r, k), "S": (r, r), "Q": (c, r), "W": (r, c)}

    def matrix(self, memory: Array, name: str, stride: int = 0) -> Array:
        """What lies in memory column by column."""
        rows, columns = self.shapes[name]
        stride = stride or rows
        return np.array([memory[c * stride : c * stride + rows] for c in range(columns)]).T

    def __str__(self) -> str:
        return f"{self.element}-{self.rows}x{self.columns}x{self.inner}"


FLOATS, SHORTS, HALVES = Case("float", 3, 4, 5), Case("short", 4, 2, 3), Case("half", 2, 5, 4)
# What entries are tried with: elements and shapes, and the code for the device; `ir`: the dialect `llvm`, read back.
WAYS = ((FLOATS, "spirv"), (HALVES, "spirv"), (FLOATS, "c"), (SHORTS, "c"), (SHORTS, "ir"))


@dataclass(frozen=True)
class Entry:
    """A fragment. `operation` is an expression of type `result`, or with `memory` a statement that writes to `given`;
    `code` sets `Res`, or writes to `text`. `of` is the type whose shape `row` and `col` are."""

    section: str
    name: str
    operands: str
    operation: str
    result: str
    code: str
    meaning: Callable[[Case, Array, Array], Array]
    of: str = ""
    memory: bool = False

    def kernel(self, case: Case) -> str:
        row, col = case.shapes[self.of or self.result]
        if self.memory:
            body = f"    {self.operation};\n{self.code}"
        else:
            body = (
                f"    *(global {self.result} *)given = {self.operation};\n    {self.result} Res;\n{self.code}"
                f"    *(global {self.result} *)text = Res;\n"
            )
        return (
            f"/* {self.section} */\n"
            f"kernel void {self.name}(global const EltTy *x, global const EltTy *y, global EltTy *given,\n"
            f"                        global EltTy *text, const int scalar)\n"
            f"{{\n    enum {{ row = {row}, col = {col}, inner = {case.columns}, stride = {STRIDE} }};\n"
            f"    {self.operands}\n{body}}}\n"
        )


def program(case: Case, entries: Sequence[Entry]) -> str:
    """All entries as kernels, without contraction."""
    types = "".join(
        f"typedef {'int' if name == 'W' else case.element} {name} __attribute__((matrix_type({rows}, {columns})));\n"
        for name, (rows, columns) in case.shapes.items()
    )
    head = f"#pragma OPENCL FP_CONTRACT OFF\ntypedef {case.element} EltTy;\n{types}"
    return head + "".join(entry.kernel(case) for entry in entries)


def _values(case: Case, seed: int) -> Array:
    """Of a size at which sums of products round, in half too, and shorts wrap."""
    generator, dtype = np.random.default_rng(seed), np.dtype(NUMPY[case.element])
    if dtype.kind == "f":
        return (generator.standard_normal(_ROOM) * 4).astype(dtype)
    return generator.integers(-30000, 30000, _ROOM).astype(dtype)


def check(device: DeviceInfo, code: str, case: Case, entries: Sequence[Entry]) -> None:
    """The operation, the text's code and numpy are the same bit for bit; all that differ are told together."""
    x, y = _values(case, 1), _values(case, 2)
    nothing, scalar = np.zeros(_ROOM, x.dtype), _scalar()
    launches = [Launch(entry.name, [x, y, nothing, nothing, scalar]) for entry in entries]
    found = run(device, code, program(case, entries), launches)
    wrong = []
    for entry, buffers in zip(entries, found, strict=True):
        with np.errstate(all="ignore"):
            meaning = np.asarray(entry.meaning(case, x, y))
        flat = meaning.ravel(order="F")
        expected = np.zeros(_ROOM, x.dtype)
        if entry.memory:
            expected = flat
        else:
            expected.view(flat.dtype)[: flat.size] = flat
        assert np.count_nonzero(expected) > 3
        for side, number in (("operation", 2), ("text", 3)):
            differs = difference(buffers[number], expected)
            wrong += [f"{entry.section}, {entry.name}, {side}: {differs}"] if differs else []
    assert not wrong, "\n".join(wrong)


def run(device: DeviceInfo, code: str, source: str, launches: Sequence[Launch]) -> list[dict[int, Array]]:
    """What the kernels leave; `code` as in WAYS."""
    if code == "c":
        module = coopmat.compile(source, ["--code", "c", "--no-validate"], name="document.cl")
        return execute(device, module.opencl_c, launches, module.opencl_c_options)
    if code == "ir":
        text = coopmat.compile(source, ["--dialect", "llvm"], name="document.cl").llvm_ir
        module = coopmat.compile(text, ["--no-validate"], name="document.ll", language="ir")
    else:
        module = coopmat.compile(source, ["--no-validate"], name="document.cl")
    return execute(device, module.spirv, launches)


def _scalar() -> Value:
    return Value(np.array(SCALAR, np.int32))


def product(a: Array, b: Array) -> Array:
    """In order of K, each step rounded."""
    total = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for k in range(a.shape[1]):
        total = total + a[:, k : k + 1] * b[k : k + 1, :]
    return total


def written(case: Case, memory: Array, name: str, stride: int) -> Array:
    """The buffer after a store of the matrix column by column."""
    target, matrix = np.zeros(_ROOM, memory.dtype), case.matrix(memory, name)
    for number, column in enumerate(matrix.T):
        target[number * stride : number * stride + column.size] = column
    return target
