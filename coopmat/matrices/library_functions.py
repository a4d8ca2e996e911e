"""The library functions on cooperative matrices, as data: names, parameters, and the macros of their templates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from . import spelling
from .hardware_multiplies import COPY_BYTES, joined, piece
from .lane_layouts import Interleaved, Term
from .library_function import FromTemplate, LibraryFunction, Parameter, Signature
from .routes import Target
from .variants import CAST, ComponentType, Conversion, Layout, MatrixType, Use

# Limits for unrolling, in steps: multiply-adds, of vectors if the route has them, or accesses. Beyond UNROLL_LIMIT
# the loop over K is not unrolled, beyond BODY_LIMIT no loop is. LLVM's and the device compiler's time grows faster than
# the code: minutes for 4096 accesses. Unrolling gains nothing if the values do not fit registers: with loops, 32x32x32
# runs 0.8 to 1.1 times as fast and builds five times as fast. SCALAR_LIMIT: scalars in subgroups.
UNROLL_LIMIT = 1024
BODY_LIMIT = 512
SCALAR_LIMIT = 128
# Most bytes of a matrix that a GPU's lane can have in registers; for larger matrices loops are not unrolled.
REGISTER_LIMIT = 1024
# Most divisions of integers that are unrolled in subgroups. Intel's compiler divides the lanes one by one, and its time
# grows with the square of the code: 194 s for 192 divisions in subgroups of 64, in a loop 2 s. By `one`, a loop may
# crash that compiler (pass vplan-vec), which vectorizes it.
DIVISION_LIMIT = 32
# Most bytes of local memory for a multiply-add's exchange, unless a single row needs more.
SCRATCH_LIMIT = 16384


def name_of(operation: str, matrix: MatrixType, *rest: str) -> str:
    return "_".join(["cm", operation, *matrix.name.split("."), *rest])


def private(name: str, component: ComponentType, const: bool = False) -> Parameter:
    """Return a parameter for a matrix of these components: a pointer to private memory."""
    return Parameter(name, component.library_c, "private", const)


def each(steps: int, vectors: bool = True) -> str:
    """Return the macro for a loop of `steps` steps on vectors or scalars: CM_UNROLL, or CM_ROLL if too many."""
    return "CM_UNROLL" if steps <= (BODY_LIMIT if vectors else SCALAR_LIMIT) else "CM_ROLL"


def each_component(target: Target, matrix: MatrixType, steps: int) -> str:
    """Return the macro for a loop of `steps` steps over a lane's components of a matrix: CM_UNROLL or CM_ROLL."""
    lane_layout = target.lane_layout(matrix)
    if target.route.is_for_gpus and lane_layout.slots * matrix.component.size <= REGISTER_LIMIT:
        return "CM_UNROLL"
    return each(steps, lane_layout.has_vectors)


def shuffle_macros(target: Target, t: ComponentType) -> dict[str, str]:
    """Return the macros that convert components to integers that lanes can broadcast, and back.

    Return {} if none are needed.
    """
    if target.route.exchanges_in_local_memory:
        return {}
    bits = spelling.integer(t.bits, signed=False)
    wide = spelling.integer(max(32, t.bits), signed=False)
    return {
        "W_OF(x)": f"({wide.library_c})({spelling.reinterpret('x', t, bits, 1)})",
        "T_OF(x)": spelling.reinterpret(f"({bits.library_c})(x)", bits, t, 1),
    }


def unset(target: Target) -> dict[str, str]:
    """Return the macro that fills a result before it is written: with 93 in routes for tests, otherwise empty."""
    fill = "CM_EACH for (int i = 0; i < (n); ++i) (t)[i] = (CM_T)93;" if target.route.is_emulated else ""
    return {"UNSET(t, n)": fill}


def bytes_of_row(target: Target, t: ComponentType) -> int:
    """Return the bytes of local memory for a component of each work-item; 0 if lanes do not exchange values there."""
    return target.sub_groups * target.sub_group_size * t.size if target.route.exchanges_in_local_memory else 0


@dataclass(frozen=True, slots=True)
class OfMatrix(FromTemplate):
    """The base class of operations on one matrix type."""

    matrix: MatrixType

    @property
    def of_work_group(self) -> bool:
        return self.matrix.of_work_group

    def matrix_definitions(self, target: Target, operation: str) -> dict[str, str]:
        m, lane_layout = self.matrix, target.lane_layout(self.matrix)
        w = target.width(m)
        out = {"OP": operation, "T": m.component.library_c, "ROWS": str(m.rows), "COLUMNS": str(m.columns)}
        out |= lane_layout.macros() | {"EACH": each_component(target, m, lane_layout.slots // w)}
        return out | {"WIDTH": str(w), "V": spelling.vector(m.component, w)} if lane_layout.has_vectors else out


# Access functions in x86.cl that copy COPY_BYTES at a time.
_BY_PIECES = frozenset({"WHOLE_ROWM", "INTERLEAVED_ROWM", "INTERLEAVED_PACKED"})


@dataclass(frozen=True, slots=True)
class _Memory(OfMatrix):
    """The base class of accesses to memory.

    space: "global", "local", "constant", "private" or "generic".
    checked: the pointer is to the origin of a matrix in memory. Four more parameters are the tile's position and that
        matrix's size.
    """

    space: str
    layout: Layout
    volatile: bool = False
    checked: bool = False

    @property
    def _kind(self) -> tuple[str, ...]:
        how = ["volatile"] * self.volatile + ["checked"] * self.checked
        return (self.space, self.layout.short, *how)

    @property
    def _place(self) -> tuple[Parameter, ...]:
        """The parameters after the pointer: the stride, and the bounds if the access is checked."""
        bounds = ("row", "column", "rows", "columns") if self.checked else ()
        return (Parameter("stride", "size_t"), *(Parameter(name, "uint") for name in bounds))

    def _pointer(self, const: bool) -> Parameter:
        return Parameter("p", self.matrix.component.library_c, self.space, const, self.volatile)

    @property
    def _pack(self) -> int:
        return self.layout.pack(self.matrix.component)

    def _unchecked(self, target: Target) -> tuple[LibraryFunction, ...]:
        """Return the unchecked function, for tiles completely inside the bounds, if it is faster; otherwise nothing."""
        return (replace(self, checked=False),) if self.checked and target.lane_layout(self.matrix).has_vectors else ()

    def place_definitions(self) -> dict[str, str]:
        """Return the macros for the parameters that describe the memory, and for the place of a component there."""
        fits = "(CM_FITS((r) + 1, row, rows) && CM_FITS((c) + 1, column, columns))"
        return {
            "SPACE": f"__{self.space}" + " volatile" * self.volatile,
            "OFFSET(r, c)": _offset(self.layout, self._pack, self.checked),
            "PLACE": ", ".join(f"{p.type} {p.name}" for p in self._place),
            "INSIDE(r, c)": fits if self.checked else "1",
        }

    def _memory_definitions(self, target: Target, section: str) -> dict[str, str]:
        w, lanes = target.width(self.matrix), target.lane_layout(self.matrix)
        how = "CHECKED" if self.checked else "EACH" if self.volatile else f"{lanes.name}_{self.layout.short.upper()}"
        if how == "WHOLE_COLM" and not self._in_blocks(target):
            how = "WHOLE_COLM_LINE" if self._is_line(target) else "EACH"
        uses_wide_copies = target.route.uses_wide_copies(self.matrix)
        pieces = f"{section}_{how}_PIECES " * uses_wide_copies
        out = self.matrix_definitions(target, f"{pieces}{section}_{how} {section}_EACH {section}")
        if how != "WHOLE_ROWM":
            out["EACH"] = each_component(target, self.matrix, lanes.slots)
        if uses_wide_copies and how in _BY_PIECES:
            out["EACH"] = each(lanes.slots * self.matrix.component.size // COPY_BYTES)
        out |= self.place_definitions() | {
            "VLOAD(p)": f"vload{w}(0, p)" if w > 1 else "*(p)",
            "VSTORE(v, p)": f"vstore{w}(v, 0, p)" if w > 1 else "*(p) = (v)",
        }
        if uses_wide_copies:
            out["PIECE"] = str(COPY_BYTES // self.matrix.component.size)
            out["LOAD_PIECE(p)"] = piece(self.matrix.component)
        if how == "WHOLE_COLM_LINE":
            out |= {"EACH": each(lanes.slots // _BLOCK), "V16": spelling.vector(self.matrix.component, _BLOCK)}
        if how == "WHOLE_COLM":
            out["EACH"] = each(lanes.slots // _BLOCK)
            out |= _blocks(self.matrix.component)
        if isinstance(lanes, Interleaved):
            out |= {"PACK": str(lanes.pack), "JOIN(r, c)": joined(self.matrix.component, lanes.pack)}
            out["WORD(p)"] = f"as_uint(vload{lanes.pack}(0, p))"
            out["WORDS(r, c)"] = f"as_uint4(vload{4 * lanes.pack}(0, p + CM_OFFSET(r, c)))"
        along = "column" if self.layout == Layout.PACKED_A else "row"
        for unchecked in self._unchecked(target):
            out |= {"UNCHECKED": unchecked.function_name, "FROM_PACK": f"{along} % {self._pack} == 0"}
        return out

    def needs(self, target: Target) -> tuple[LibraryFunction, ...]:
        return self._unchecked(target)

    def _in_blocks(self, target: Target) -> bool:
        """Return whether the access transposes the matrix in blocks of vectors."""
        m = self.matrix
        fits = m.rows % _BLOCK == 0 and m.columns % _BLOCK == 0
        return fits and target.route.tuning.widest == _BLOCK and m.component.size in (2, 4)

    def _is_line(self, target: Target) -> bool:
        """Return whether the matrix is a single column that is accessed in vectors."""
        return self.matrix.columns == 1 and self.matrix.rows % _BLOCK == 0 and target.route.tuning.widest == _BLOCK


# Rows and columns of a block that is transposed by exchanging halves of vectors.
_BLOCK = 16


def _blocks(t: ComponentType) -> dict[str, str]:
    """Return the macros that interleave the components of two vectors: of their lower, or of their upper halves."""
    mask = f"{spelling.integer(t.bits, signed=False).library_c}{_BLOCK}"
    turns = [[n // 2 + first + _BLOCK * (n % 2) for n in range(_BLOCK)] for first in (0, _BLOCK // 2)]
    low, high = (f"shuffle2(x, y, ({mask})({', '.join(map(str, turn))}))" for turn in turns)
    return {"LOW(x, y)": low, "HIGH(x, y)": high, "V16": spelling.vector(t, _BLOCK)}


# Always 0, because no global id is that large. No compiler can prove that the address is the same for all work-items,
# so none loads from it regardless of the condition.
_APART = "(get_global_id(0) >> (8 * sizeof(size_t) - 1))"


def _offset(layout: Layout, pack: int, checked: bool) -> str:
    r, c = ("((size_t)row + (r))", "((size_t)column + (c))") if checked else ("(size_t)(r)", "(size_t)(c)")
    if layout == Layout.ROW_MAJOR:
        return f"({r} * stride + {c})"
    if layout == Layout.COLUMN_MAJOR:
        return f"({c} * stride + {r})"
    if layout == Layout.PACKED_A:
        return f"({c} / {pack} * stride + {r} * {pack} + {c} % {pack})"
    return f"({r} / {pack} * stride + {c} * {pack} + {r} % {pack})"


@dataclass(frozen=True, slots=True)
class Load(_Memory):
    """A function that loads a matrix: `void f(private T *out, const space T *p, size_t stride)`.

    If checked, the parameters continue `..., uint row, uint column, uint rows, uint columns)`, and components outside
    the bounds are zero.
    """

    @property
    def function_name(self) -> str:
        return name_of("load", self.matrix, *self._kind)

    @property
    def signature(self) -> Signature:
        return Signature("void", (private("out", self.matrix.component), self._pointer(True), *self._place))

    def definitions(self, target: Target) -> dict[str, str]:
        return self.guarded(target, self._memory_definitions(target, "LOAD"))

    def guarded(self, target: Target, macros: dict[str, str]) -> dict[str, str]:
        """Return the macros for a device that may execute a load whose condition is false."""
        if self.checked and not target.route.tuning.guarded_loads:
            macros["OFFSET(r, c)"] = f"({macros['OFFSET(r, c)']} + {_APART})"
        return macros


@dataclass(frozen=True, slots=True)
class Store(_Memory):
    """A function that stores a matrix: `void f(space T *p, const private T *m, size_t stride)`.

    If checked, there are the further parameters of `Load`, and nothing is stored outside the bounds. To private memory
    every work-item stores the whole matrix. Barriers surround stores to local memory (`Target.barrier`), so all
    work-items of the subgroup must call the function together.
    """

    @property
    def function_name(self) -> str:
        return name_of("store", self.matrix, *self._kind)

    @property
    def signature(self) -> Signature:
        return Signature("void", (self._pointer(False), private("m", self.matrix.component, True), *self._place))

    def definitions(self, target: Target) -> dict[str, str]:
        if not self._all(target):
            return self._memory_definitions(target, "STORE") | {"BARRIER": target.barrier(self.space)}
        m = self.matrix
        out = self._memory_definitions(target, "STORE_ALL")
        out["EACH"] = each(m.rows * m.columns)
        return out | shuffle_macros(target, m.component)

    def scratch_bytes(self, target: Target) -> int:
        return bytes_of_row(target, self.matrix.component) if self._all(target) else 0

    def _all(self, target: Target) -> bool:
        return self.space == "private" and not target.route.has_one_work_item


class _Plain(OfMatrix):
    """The base class of functions that are determined by their matrix type.

    section: the name of the library's section.
    parameters: names that imply the types of the parameters.
    """

    __slots__ = ()
    section: ClassVar[str]
    parameters: ClassVar[str]
    result: ClassVar[str] = "void"

    @property
    def function_name(self) -> str:
        return name_of(self.section.lower(), self.matrix)

    @property
    def signature(self) -> Signature:
        t = self.matrix.component
        types = {
            "out": private("out", t),
            **{name: private(name, t, True) for name in "mab"},
            **{name: Parameter(name, t.library_c) for name in ("value", "scalar")},
            "i": Parameter("i", "uint"),
        }
        result = t.library_c if self.result == "T" else self.result
        return Signature(result, tuple(types[name] for name in self.parameters.split()))

    def definitions(self, target: Target) -> dict[str, str]:
        return self.matrix_definitions(target, self.section)


class Fill(_Plain):
    """A function that sets all components: `void f(private T *out, T value)`."""

    section, parameters = "FILL", "out value"


class ScalarMultiply(_Plain):
    """A function that multiplies by a scalar: `void f(private T *out, const private T *m, T scalar)`."""

    section, parameters = "SCALAR_MUL", "out m scalar"

    def definitions(self, target: Target) -> dict[str, str]:
        body = spelling.binary("mul", self.matrix.component, target.width(self.matrix))
        return self.matrix_definitions(target, self.section) | {"MAP(x, y)": body}


class Length(_Plain):
    """A function that returns how many components, at the start of its storage, a work-item holds: `uint f(void)`."""

    section, parameters, result = "LENGTH", "", "uint"


class Coord(_Plain):
    """A function that returns the row and the column of this work-item's component i: `uint2 f(uint i)`."""

    section, parameters, result = "COORD", "i", "uint2"


@dataclass(frozen=True, slots=True)
class Binary(_Plain):
    """A component-wise operation: `void f(private T *out, const private T *a, const private T *b)`.

    `operator` is "add", "sub", "mul" or "div".
    """

    section, parameters = "BINARY", "out a b"
    operator: str

    @property
    def function_name(self) -> str:
        return name_of(self.operator, self.matrix)

    def definitions(self, target: Target) -> dict[str, str]:
        body = spelling.binary(self.operator, self.matrix.component, target.width(self.matrix))
        out = self.matrix_definitions(target, self.section) | {"MAP(x, y)": body}
        divides = self.operator == "div" and self.matrix.component.is_integer and not target.route.has_one_work_item
        if divides and target.lane_layout(self.matrix).slots > DIVISION_LIMIT:
            out["EACH"] = "CM_ROLL"
        return out


class Negate(_Plain):
    """A function that negates the components: `void f(private T *out, const private T *m)`."""

    section, parameters = "UNARY", "out m"

    @property
    def function_name(self) -> str:
        return name_of("negate", self.matrix)

    def definitions(self, target: Target) -> dict[str, str]:
        body = spelling.negation(self.matrix.component, target.width(self.matrix))
        return self.matrix_definitions(target, self.section) | _from(target, self.matrix) | {"MAP(x)": body}


@dataclass(frozen=True, slots=True)
class Convert(OfMatrix):
    """A function that converts a matrix: `void f(private T *out, const private S *m)`.

    `matrix` has components S; the result has components `to`, the same shape and, unless `use` is None, another use.
    """

    to: ComponentType
    how: Conversion = CAST
    use: Use | None = None

    @property
    def result(self) -> MatrixType:
        return replace(self.matrix, component=self.to, use=self.matrix.use if self.use is None else self.use)

    @property
    def function_name(self) -> str:
        use = () if self.use is None else ("for", self.use.letter)
        return name_of("convert", self.matrix, self.to.name, *self.how.words, *use)

    @property
    def signature(self) -> Signature:
        return Signature("void", (private("out", self.to), private("m", self.matrix.component, True)))

    def definitions(self, target: Target) -> dict[str, str]:
        result, moves = self.result, self._moves(target)
        w = 1 if moves else target.width(self.matrix)
        body = _converted(target, self.matrix.component, self.to, w, self.how)
        out = _moved(target, self.matrix, result) if moves else Negate(result).definitions(target)
        return out | _from(target, self.matrix) | {"MAP(x)": body}

    def scratch_bytes(self, target: Target) -> int:
        return bytes_of_row(target, self.matrix.component) if self._moves(target) else 0

    def _moves(self, target: Target) -> bool:
        """Return whether the result's lane layout differs from the operand's."""
        return not target.lane_layout(self.matrix).lies_as(target.lane_layout(self.result))


@dataclass(frozen=True, slots=True)
class Transpose(_Plain):
    """A function that transposes a matrix: `void f(private T *out, const private S *m)`.

    `matrix` is the type of the result. `use` is the use of m, which may imply another lane layout. If `component` is
    set, it is m's component type, which is converted as `how` says.
    """

    section, parameters = "MOVE", "out m"
    use: Use
    component: ComponentType | None = None
    how: Conversion = CAST

    @property
    def function_name(self) -> str:
        converted = () if self.component is None else (self.component.name, *self.how.words)
        return name_of("transpose", self.matrix, "of", self.use.letter, *converted)

    @property
    def signature(self) -> Signature:
        t = self.matrix.component
        return Signature("void", (private("out", t), private("m", self.component or t, True)))

    def definitions(self, target: Target) -> dict[str, str]:
        m = self.matrix
        component = self.component or m.component
        source = replace(m, rows=m.columns, columns=m.rows, use=self.use, component=component)
        body = _converted(target, component, m.component, 1, self.how)
        return _moved(target, source, m, transposed=True) | _from(target, source) | {"MAP(x)": body}

    def scratch_bytes(self, target: Target) -> int:
        return bytes_of_row(target, self.component or self.matrix.component)


def _converted(target: Target, source: ComponentType, to: ComponentType, w: int, how: Conversion) -> str:
    """Return the macro body that converts x.

    In subgroups of 32 and more lanes the body avoids saturating convert_ functions: Intel's CPU runtime lacks them for
    vectors of 32.
    """
    if how.saturate and to.is_integer and w == 1 and target.sub_group_size >= 32:
        return spelling.saturate("x", source, to, how.rounding)
    return spelling.convert("x", source, to, w, how.rounding, how.saturate)


def _moved(target: Target, source: MatrixType, result: MatrixType, *, transposed: bool = False) -> dict[str, str]:
    """Return the macros that move components to other lanes and slots."""
    lane_layout, r, c = target.lane_layout(source), Term("(r)"), Term("(c)")
    lane, slot = lane_layout.holder(c, r) if transposed else lane_layout.holder(r, c)
    row, column = lane_layout.place(Term("(l)"), Term("(s)"))
    if transposed:
        row, column = column, row
    # A lane has few slots: they are converted before they are sent, unless that lengthens what is sent.
    is_first = result.component.size <= max(4, source.component.size)
    sent = (result if is_first else source).component
    out = Fill(result).definitions(target) | shuffle_macros(target, sent) | unset(target)
    return out | {
        "OP": "MOVE",
        "SENT": sent.library_c,
        "BEFORE(x)": "CM_MAP(x)" if is_first else "(x)",
        "AFTER(x)": "(x)" if is_first else "CM_MAP(x)",
        "EACH": each(result.rows * result.columns, lane_layout.has_vectors),
        "FROM_SLOTS": str(lane_layout.slots),
        "FROM_HOLDER(r, c)": str(lane),
        "FROM_SLOT(r, c)": str(slot),
        "TO_ROW(l, s)": str(row),
        "TO_COLUMN(l, s)": str(column),
    }


def conversion(source: MatrixType, result: MatrixType, how: Conversion) -> LibraryFunction:
    """Return the library function that converts a matrix of type `source` to one of type `result`."""
    if how.transposed:
        return Transpose(result, source.use)
    return Convert(source, result.component, how, None if result.use == source.use else result.use)


def _from(target: Target, matrix: MatrixType) -> dict[str, str]:
    w = target.width(matrix)
    return {"FROM": matrix.component.library_c, "FROM_V": spelling.vector(matrix.component, w)}
