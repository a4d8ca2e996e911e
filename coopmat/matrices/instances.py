"""The functions of the library, as data: what each is called, takes, and instantiates its template with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

from . import spelling
from .strategies import Strategy, Target
from .variants import ComponentType, Layout, MatrixType, Operands, Use

# Multiply-adds (of vectors, where the strategy has them) in straight-line code; beyond, the loop over K stays a loop,
# and beyond that everything does. Compile time grows faster than speed.
UNROLL_LIMIT = 4096
ROLLED_BODY_LIMIT = 512


class NotSupportedYet(ValueError):
    """An operation that no library function exists for; the message says which."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """`type` is OpenCL C's name of a scalar or vector; `space` the address space where it is a pointer to one."""

    name: str
    type: str
    space: str | None = None
    const: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    returns: str
    parameters: tuple[Parameter, ...]


class Instance(ABC):
    """A library function for given matrix types. Equal instances are the same function."""

    __slots__ = ()

    @property
    @abstractmethod
    def function_name(self) -> str: ...

    @property
    @abstractmethod
    def signature(self) -> Signature: ...

    @abstractmethod
    def definitions(self, target: Target) -> dict[str, str]:
        """The macros of the template, `CM_` left out; "OP" names the section of the file."""

    def file(self, strategy: Strategy) -> str:
        return strategy.file


def _name(operation: str, matrix: MatrixType, *rest: str) -> str:
    return "_".join(["cm", operation, *matrix.name.split("."), *rest])


def _private(name: str, component: ComponentType, const: bool = False) -> Parameter:
    return Parameter(name, component.opencl_c, "private", const)


def _each(count: int) -> str:
    return "CM_UNROLL" if count <= UNROLL_LIMIT else "CM_ROLL"


@dataclass(frozen=True, slots=True)
class _OfMatrix(Instance):
    """Base of the operations on one matrix type."""

    matrix: MatrixType

    def __post_init__(self) -> None:
        _check_component(self.matrix.component)

    def _matrix_definitions(self, target: Target, operation: str) -> dict[str, str]:
        m = self.matrix
        w, slots = target.width(m.columns), target.slots(m.columns)
        out = {"OP": operation, "T": m.component.opencl_c, "ROWS": str(m.rows), "COLUMNS": str(m.columns)}
        if target.strategy.vectors:
            out |= {"WIDTH": str(w), "V": spelling.vector(m.component, w)}
        else:
            out |= {"SG": str(target.sub_group_size), "SLOTS": str(slots)}
        return out | {"EACH": _each(m.rows * slots // w)}


def _check_component(component: ComponentType) -> None:
    if component.name == "bf16":
        raise NotSupportedYet("matrices of bfloat16 are not supported by the library lowerings yet")


@dataclass(frozen=True, slots=True)
class _Memory(_OfMatrix):
    space: str
    layout: Layout

    def _memory_definitions(self, target: Target, row: str, element: str) -> dict[str, str]:
        w = target.width(self.matrix.columns)
        contiguous = not target.strategy.vectors or self.layout == Layout.ROW_MAJOR
        out = self._matrix_definitions(target, row if contiguous else element)
        if not contiguous:
            out["EACH"] = _each(self.matrix.rows * self.matrix.columns)
        out |= {"SPACE": f"__{self.space}", "OFFSET(r, c)": _offset(self.layout, self.matrix.component)}
        if target.strategy.vectors:
            out |= {
                "VLOAD(p)": f"vload{w}(0, p)" if w > 1 else "*(p)",
                "VSTORE(v, p)": f"vstore{w}(v, 0, p)" if w > 1 else "*(p) = (v)",
            }
        return out


def _offset(layout: Layout, component: ComponentType) -> str:
    if layout == Layout.ROW_MAJOR:
        return "((size_t)(r) * stride + (c))"
    if layout == Layout.COLUMN_MAJOR:
        return "((size_t)(c) * stride + (r))"
    pack = max(1, 4 // component.size)
    return f"((size_t)((r) / {pack}) * stride + (c) * {pack} + (r) % {pack})"


@dataclass(frozen=True, slots=True)
class Load(_Memory):
    """`void f(private T *out, const space T *p, size_t stride)`; `space`: global, local, constant, private."""

    @property
    def function_name(self) -> str:
        return _name("load", self.matrix, self.space, self.layout.short)

    @property
    def signature(self) -> Signature:
        t = self.matrix.component
        memory = Parameter("p", t.opencl_c, self.space, const=True)
        return Signature("void", (_private("out", t), memory, Parameter("stride", "size_t")))

    def definitions(self, target: Target) -> dict[str, str]:
        return self._memory_definitions(target, "LOAD", "GATHER")


@dataclass(frozen=True, slots=True)
class Store(_Memory):
    """`void f(space T *p, const private T *m, size_t stride)`"""

    @property
    def function_name(self) -> str:
        return _name("store", self.matrix, self.space, self.layout.short)

    @property
    def signature(self) -> Signature:
        t = self.matrix.component
        memory = Parameter("p", t.opencl_c, self.space)
        return Signature("void", (memory, _private("m", t, True), Parameter("stride", "size_t")))

    def definitions(self, target: Target) -> dict[str, str]:
        return self._memory_definitions(target, "STORE", "SCATTER")


@dataclass(frozen=True, slots=True)
class Fill(_OfMatrix):
    """`void f(private T *out, T value)`"""

    @property
    def function_name(self) -> str:
        return _name("fill", self.matrix)

    @property
    def signature(self) -> Signature:
        t = self.matrix.component
        return Signature("void", (_private("out", t), Parameter("value", t.opencl_c)))

    def definitions(self, target: Target) -> dict[str, str]:
        return self._matrix_definitions(target, "FILL")


@dataclass(frozen=True, slots=True)
class Binary(_OfMatrix):
    """`void f(private T *out, const private T *a, const private T *b)`; `operator`: add, sub, mul, div."""

    operator: str

    @property
    def function_name(self) -> str:
        return _name(self.operator, self.matrix)

    @property
    def signature(self) -> Signature:
        t = self.matrix.component
        return Signature("void", (_private("out", t), _private("a", t, True), _private("b", t, True)))

    def definitions(self, target: Target) -> dict[str, str]:
        body = spelling.binary(self.operator, self.matrix.component, target.width(self.matrix.columns))
        return self._matrix_definitions(target, "BINARY") | {"MAP(x, y)": body}


@dataclass(frozen=True, slots=True)
class ScalarMultiply(_OfMatrix):
    """`void f(private T *out, const private T *m, T scalar)`"""

    @property
    def function_name(self) -> str:
        return _name("scalar_mul", self.matrix)

    @property
    def signature(self) -> Signature:
        t = self.matrix.component
        return Signature("void", (_private("out", t), _private("m", t, True), Parameter("scalar", t.opencl_c)))

    def definitions(self, target: Target) -> dict[str, str]:
        body = spelling.binary("mul", self.matrix.component, target.width(self.matrix.columns))
        return self._matrix_definitions(target, "SCALAR_MUL") | {"MAP(x, y)": body}


@dataclass(frozen=True, slots=True)
class Negate(_OfMatrix):
    """`void f(private T *out, const private T *m)`"""

    @property
    def function_name(self) -> str:
        return _name("negate", self.matrix)

    @property
    def signature(self) -> Signature:
        t = self.matrix.component
        return Signature("void", (_private("out", t), _private("m", t, True)))

    def definitions(self, target: Target) -> dict[str, str]:
        w = target.width(self.matrix.columns)
        body = spelling.negation(self.matrix.component, w)
        return self._matrix_definitions(target, "UNARY") | _from(target, self.matrix) | {"MAP(x)": body}


@dataclass(frozen=True, slots=True)
class Convert(_OfMatrix):
    """`void f(private T *out, const private S *m)`: from `matrix`, of components S, to the same shape of `to`.

    As a C cast, or with `rounding` ("rte", "rtz", "rtp", "rtn") and `saturate` as OpenCL's convert_ functions.
    """

    to: ComponentType
    rounding: str = ""
    saturate: bool = False

    def __post_init__(self) -> None:
        _check_component(self.matrix.component)
        _check_component(self.to)

    @property
    def function_name(self) -> str:
        how = ["sat"] * self.saturate + [self.rounding] * bool(self.rounding)
        return _name("convert", self.matrix, self.to.name, *how)

    @property
    def signature(self) -> Signature:
        return Signature("void", (_private("out", self.to), _private("m", self.matrix.component, True)))

    def definitions(self, target: Target) -> dict[str, str]:
        w = target.width(self.matrix.columns)
        body = spelling.convert("x", self.matrix.component, self.to, w, self.rounding, self.saturate)
        out = Negate(replace(self.matrix, component=self.to)).definitions(target)
        return out | _from(target, self.matrix) | {"MAP(x)": body}


def _from(target: Target, matrix: MatrixType) -> dict[str, str]:
    out = {"FROM": matrix.component.opencl_c}
    if target.strategy.vectors:
        out["FROM_V"] = spelling.vector(matrix.component, target.width(matrix.columns))
    return out


@dataclass(frozen=True, slots=True)
class Length(_OfMatrix):
    """`uint f(void)`: components that this work-item holds; they are the first of its storage."""

    @property
    def function_name(self) -> str:
        return _name("length", self.matrix)

    @property
    def signature(self) -> Signature:
        return Signature("uint", ())

    def definitions(self, target: Target) -> dict[str, str]:
        return self._matrix_definitions(target, "LENGTH")


@dataclass(frozen=True, slots=True)
class Get(_OfMatrix):
    """`T f(const private T *m, uint i)`"""

    @property
    def function_name(self) -> str:
        return _name("get", self.matrix)

    @property
    def signature(self) -> Signature:
        t = self.matrix.component
        return Signature(t.opencl_c, (_private("m", t, True), Parameter("i", "uint")))

    def definitions(self, target: Target) -> dict[str, str]:
        return self._matrix_definitions(target, "GET")


@dataclass(frozen=True, slots=True)
class Set(_OfMatrix):
    """`void f(private T *m, uint i, T value)`"""

    @property
    def function_name(self) -> str:
        return _name("set", self.matrix)

    @property
    def signature(self) -> Signature:
        t = self.matrix.component
        return Signature("void", (_private("m", t), Parameter("i", "uint"), Parameter("value", t.opencl_c)))

    def definitions(self, target: Target) -> dict[str, str]:
        return self._matrix_definitions(target, "SET")


@dataclass(frozen=True, slots=True)
class Coord(_OfMatrix):
    """`uint2 f(uint i)`: row and column of component i of this work-item."""

    @property
    def function_name(self) -> str:
        return _name("coord", self.matrix)

    @property
    def signature(self) -> Signature:
        return Signature("uint2", (Parameter("i", "uint"),))

    def definitions(self, target: Target) -> dict[str, str]:
        return self._matrix_definitions(target, "COORD")


@dataclass(frozen=True, slots=True)
class MultiplyAdd(Instance):
    """`void f(private C *out, const private A *a, const private B *b, const private C *c)`

    `out` may be c (or a, or b). ValueError where uses, shapes or classes of component types do not fit.
    """

    a: MatrixType
    b: MatrixType
    c: MatrixType
    operands: Operands

    def __post_init__(self) -> None:
        a, b, c = self.a, self.b, self.c
        if (a.use, b.use, c.use) != (Use.A, Use.B, Use.ACCUMULATOR):
            raise ValueError(f"a multiply-add takes A, B and an accumulator, not {a}, {b} and {c}")
        if (a.columns, a.rows, b.columns) != (b.rows, c.rows, c.columns):
            raise ValueError(f"the shapes of {a}, {b} and {c} do not fit")
        if len({m.component.kind for m in (a, b, c)}) != 1:
            raise ValueError(f"{a}, {b} and {c} mix integers and floating point")
        for matrix in (a, b, c):
            _check_component(matrix.component)

    @property
    def function_name(self) -> str:
        shape = f"{self.c.rows}x{self.c.columns}x{self.a.columns}"
        types = f"{self.a.component}x{self.b.component}_{self.c.component}"
        return f"cm_mul_add_{shape}_{types}_{int(self.operands)}"

    @property
    def signature(self) -> Signature:
        inputs = zip("abc", (self.a, self.b, self.c), strict=True)
        parameters = [_private(name, matrix.component, True) for name, matrix in inputs]
        return Signature("void", (_private("out", self.c.component), *parameters))

    def definitions(self, target: Target) -> dict[str, str]:
        m, n, k = self.c.rows, self.c.columns, self.a.columns
        w = target.width(n)
        steps = m * target.slots(n) // w
        out = {"OP": "MUL_ADD", "M": str(m), "N": str(n), "K": str(k)}
        for name, matrix in (("A", self.a), ("B", self.b), ("C", self.c)):
            out[name] = matrix.component.opencl_c
        if target.strategy.vectors:
            out |= {"WIDTH": str(w), "SUM_V": spelling.vector(self._sum, w)}
            out |= {"B_V": spelling.vector(self.b.component, w), "C_V": spelling.vector(self.c.component, w)}
        else:
            out |= {"SG": str(target.sub_group_size), "SLOTS": str(target.slots(n)), "SUM": self._sum.opencl_c}
        out |= {"EACH": "CM_UNROLL" if steps <= ROLLED_BODY_LIMIT else "CM_ROLL"}
        out |= {"EACH_K": "CM_UNROLL" if steps * k <= UNROLL_LIMIT else "CM_ROLL"}
        return out | self._arithmetic(w)

    @property
    def _sum(self) -> ComponentType:
        return spelling.sum_type(self.c.component)

    def _arithmetic(self, w: int) -> dict[str, str]:
        a, b, c, total, mask = self.a.component, self.b.component, self.c.component, self._sum, self.operands
        out = {
            "WIDEN_A(x)": spelling.widen("x", a, Operands.A_SIGNED in mask, total, 1),
            "WIDEN_B(x)": spelling.widen("x", b, Operands.B_SIGNED in mask, total, w),
            "FMA(x, y, z)": spelling.fma(total),
        }
        if c.is_integer and Operands.SATURATING in mask:
            out["BEGIN(c)"] = f"({spelling.vector(total, w)})(0)"
            out["END(sum, c)"] = spelling.saturating_end(c, mask, total, w)
        else:
            out["BEGIN(c)"] = spelling.convert("c", c, total, w)
            out["END(sum, c)"] = spelling.convert("sum", total, c, w)
        return out
