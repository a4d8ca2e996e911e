"""Random kernels: declarations, statements, buffers, and the buffers' expected contents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np

from .expressions import VECTORS, Expressions, random_values
from .kinds import Kind, Memory, Place, submatrix
from .meaning import ELEMENTS, Array, elementwise, product

# Numbers of rows and columns: small ones are more frequent, since they compile faster.
_EXTENTS = range(1, 18)
_WEIGHTS = (6, 6, 6, 12, 4, 2, 2, 4, 2, 1, 1, 1, 1, 1, 1, 2, 2)
_LARGE_EXTENTS = (64, 64, 33, 17, 9, 5, 1)
_SMALL_MOST = 17 * 17
# The largest number of elements of an object in local memory, where several may be declared.
_LOCAL_MOST = 1024


@dataclass(frozen=True)
class Argument:
    """A parameter of the kernel: a buffer (`memory`), or a number."""

    declaration: str
    memory: Memory | None = None
    number: int = 0


@dataclass(frozen=True)
class Features:
    """The features that programs may use: element types, and the largest number of elements of a matrix."""

    elements: tuple[str, ...] = tuple(ELEMENTS)
    most: int = _SMALL_MOST


class Kernel:
    """A random kernel named `name`; `before` are the functions that precede it."""

    def __init__(self, random: Random, name: str, features: Features, functions: dict[str, str] | None = None) -> None:
        self.random, self.name, self.features = random, name, features
        # Arguments for the loops' conditions and for indices.
        self.arguments = [Argument("const int n", number=1), Argument("const int zero")]
        self.kinds: dict[Kind, None] = {}
        self.functions: dict[str, str] = {} if functions is None else functions
        self.places: list[Place] = []
        self._memories: list[tuple[str, Memory]] = []
        self.declarations: list[str] = []
        self.lines: list[str] = []
        self.own = self._extents(random.randrange(1, 3))
        self.elements = [random.choice(features.elements)] * 3 + [random.choice(features.elements)]
        self.expressions = Expressions(self)
        statements = Statements(self)
        for _ in range(random.randrange(2, 6)):
            statements.add()
        statements.give_all()

    # --- choices ---------------------------------------------------------------------------------

    def _extents(self, count: int) -> list[int]:
        if self.features.most > _SMALL_MOST:
            return self.random.choices(_LARGE_EXTENTS, k=count)
        return self.random.choices(_EXTENTS, _WEIGHTS, k=count)

    def seen(self, kind: Kind) -> Kind:
        """Record a type that the program names, and return it."""
        self.kinds.setdefault(kind)
        return kind

    def element(self) -> str:
        return self.random.choice(self.elements)

    def any_kind(self) -> Kind:
        while True:
            rows, columns = self.random.choice(self.own), self.random.choice(self.own)
            if self.random.random() < 0.1:
                (rows,) = self._extents(1)
            if self.random.random() < 0.1:
                rows, columns = self.random.choice([(1, n) for n in VECTORS])
            if rows * columns <= self.features.most:
                return self.kind(rows, columns)

    def kind(self, rows: int, columns: int) -> Kind:
        padding = self.random.choice([0, 0, 0, 0, 1, 3])
        return self.seen(Kind(self.element(), rows, columns, self.random.random() < 0.25, padding))

    def extent(self, kind: Kind) -> int:
        """Return the other extent of a matrix that is multiplied with a matrix of this type."""
        found = self.random.choice([*self.own, self.random.choice(self.own), *self._extents(1)])
        return found if found * max(kind.shape) <= self.features.most else 1

    def index(self, at: int) -> str:
        """Return an expression for an index, constant or only known at run time."""
        return self.random.choice([str(at), str(at), f"{at} * n", f"zero + {at}", f"(uchar)({at} + zero)"])

    def function(self, name: str, text: str) -> None:
        self.functions.setdefault(name, text)

    # --- objects that contain matrices --------------------------------------------------------------

    def place(self, kind: Kind, writable: bool = False) -> Place:
        found = [p for p in self.places if p.kind == kind and (p.writable or not writable)]
        if found and self.random.random() < 0.8:
            return self.random.choice(found)
        return self.new(kind, writable)

    def new(self, kind: Kind, writable: bool = False) -> Place:
        self.seen(kind)
        makers = [
            self._buffer,
            self.variable,
            self.variable,
            self._array,
            self._member,
            self._local,
            self._pointed_to,
        ]
        place = self.random.choice(makers)(kind)
        return place if place.writable or not writable else self.variable(kind)

    def unused(self, letter: str) -> str:
        """Return an unused name."""
        return f"{letter}{len(self.arguments) + len(self.declarations)}"

    def _buffer(self, kind: Kind) -> Place:
        """Return one of the matrices in a new buffer of the kernel."""
        name, count = self.unused("g"), self.random.randrange(1, 4)
        data = random_values(self.random, kind.element, (count * kind.storage,))
        memory = Memory.with_data(kind.element, data)
        space = self.random.choice(["global", "global", "global const", "constant"])
        self.arguments.append(Argument(f"{space} {kind.name} *{name}", memory))
        for number in range(count):
            text = self.random.choice([f"{name}[{number}]", f"(*({name} + {number}))", f"{name}[{self.index(number)}]"])
            self.places.append(Place(text, kind, memory, number * kind.storage, space == "global"))
        return self.places[-1]

    def _declared(self, text: str, kind: Kind, places: Sequence[str], writable: bool = True) -> Place:
        """Declare an object, initialize its matrices from new buffers, and return the last of them."""
        self.declarations.append(text)
        for place in places:
            made = Place(place, kind, Memory.of(kind.element, kind.storage), 0, writable)
            start = self._buffer(kind)
            self.lines.append(f"{place} = {start.text};")
            made.store(start.value)
            self.places.append(made)
        return made

    def variable(self, kind: Kind) -> Place:
        name = self.unused("v")
        return self._declared(f"{kind.name} {name};", kind, [name])

    def _array(self, kind: Kind) -> Place:
        name = self.unused("a")
        return self._declared(f"{kind.name} {name}[2];", kind, [f"{name}[{self.index(0)}]", f"{name}[1]"])

    def _member(self, kind: Kind) -> Place:
        name, packed = self.unused("s"), self.random.choice(["", " __attribute__((packed))"])
        text = f"struct {{ char tag; {kind.name} m; {kind.name} more[2]; }}{packed} {name};"
        return self._declared(text, kind, [f"{name}.m", f"{name}.more[{self.index(1)}]"])

    def _local(self, kind: Kind) -> Place:
        if kind.storage > _LOCAL_MOST:
            return self.variable(kind)
        name = self.unused("l")
        return self._declared(f"local {kind.name} {name};", kind, [name])

    def _pointed_to(self, kind: Kind) -> Place:
        """Return an existing object under another name, by a pointer."""
        found = [p for p in self.places if p.kind == kind and p.writable and p.text[0] in "va"]
        if not found:
            return self.variable(kind)
        same, name = self.random.choice(found), self.unused("p")
        self.declarations.append(f"{kind.name} *{name} = &{same.text};")
        self.places.append(replace(same, text=self.random.choice([f"(*{name})", f"{name}[zero]"])))
        return self.places[-1]

    def memory(self, kind: Kind, writable: bool = False) -> tuple[Memory, int, int, str]:
        """Return memory that has room for a matrix, for loads and stores by builtins.

        The result is the memory, the offset, the stride, and the arguments of a load (without the shape: of a store).
        """
        least, lines = (kind.columns, kind.rows) if kind.row_major else (kind.rows, kind.columns)
        stride, offset = least + self.random.choice([0, 0, 1, 4]), self.random.randrange(3)
        size = offset + stride * lines
        fitting = [(n, m) for n, m in self._memories if m.element == kind.element and m.data.size >= size]
        if not fitting or self.random.random() < 0.2:
            name = self.unused("m")
            memory = Memory.with_data(kind.element, random_values(self.random, kind.element, (size + 5,)))
            self.arguments.append(Argument(f"global {kind.element} *{name}", memory))
            self._memories.append((name, memory))
            fitting = [(name, memory)]
        name, memory = self.random.choice(fitting)
        arguments = f"{name} + {offset}" if offset else name
        if not writable:
            arguments += f", {kind.rows}, {kind.columns}"
        if stride != least or self.random.random() < 0.5:
            arguments += f", {self.index(stride)}"
        return memory, offset, stride, arguments

    # --- the result ------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        parameters = ", ".join(argument.declaration for argument in self.arguments)
        body = "\n".join(f"    {line}" for line in [*self.declarations, *self.lines])
        return f"kernel void {self.name}({parameters})\n{{\n{body}\n}}"


@dataclass
class Statements:
    """A maker of statements that adds them to one kernel."""

    kernel: Kernel
    depth: int = field(default=3)

    def __post_init__(self) -> None:
        self.random = self.kernel.random

    def add(self) -> None:
        makers: list[Callable[[], None]] = [
            self._assign, self._assign, self._assign, self._assign, self._declare, self._compound, self._compound,
            self._scale, self._multiply, self._element, self._store, self._store, self._loop, self._through_function,
            self._several,
        ]  # fmt: skip
        self.random.choice(makers)()

    def _line(self, text: str) -> None:
        self.kernel.lines.append(text)

    def _target(self) -> Place:
        return self.kernel.place(self.kernel.any_kind(), writable=True)

    def _value(self, kind: Kind, depth: int | None = None) -> tuple[str, Array]:
        found = self.kernel.expressions.matrix(kind, self.depth if depth is None else depth)
        return found.text, found.value

    def _assign(self) -> None:
        target = self._target()
        text, value = self._value(target.kind)
        self._line(f"{target.text} = {text};")
        target.store(value)

    def _several(self) -> None:
        first = self._target()
        second = self.kernel.place(first.kind, writable=True)
        if first.memory is second.memory:
            # Without optimization, Intel's compiler miscompiles the copy of a structure in local memory to itself.
            return self._assign()
        text, value = self._value(first.kind)
        self._line(f"{first.text} = {second.text} = {text};")
        second.store(value)
        first.store(value)

    def _declare(self) -> None:
        kernel = self.kernel
        kind = kernel.any_kind()
        text, value = self._value(kind)
        name, word = kernel.unused("c"), self.random.choice(["const ", ""])
        # Reserve a number for the name: this declaration is not among those at the beginning.
        kernel.declarations.append(f"// {name}")
        self._line(f"{word}{kind.name} {name} = {text};")
        place = Place(name, kind, Memory.of(kind.element, kind.storage), 0, not word)
        place.store(value)
        kernel.places.append(place)

    def _compound(self) -> None:
        target, op = self._target(), self.random.choice("+-")
        text, value = self._value(target.kind)
        self._line(f"{target.text} {op}= {text};")
        target.store(elementwise(op, target.value, value))

    def _scale(self) -> None:
        target, op = self._target(), self.random.choice("+-*")
        scalar = self.kernel.expressions.scalar(target.kind.element, 1)
        self._line(f"{target.text} {op}= {scalar.text};")
        target.store(elementwise(op, target.value, np.full(target.kind.shape, scalar.value)))

    def _multiply(self) -> None:
        target = self._target()
        text, value = self._value(replace(target.kind, rows=target.kind.columns), 2)
        self._line(f"{target.text} *= {text};")
        target.store(product(target.value, value))

    def _element(self) -> None:
        target, op = self._target(), self.random.choice(["", "+", "-", "*", "++", "--"])
        row, column = self.random.randrange(target.kind.rows), self.random.randrange(target.kind.columns)
        name = f"{target.text}[{self.kernel.index(row)}][{self.kernel.index(column)}]"
        value = target.value
        old, element = value[row, column : column + 1], target.kind.element
        if len(op) == 2:
            self._line(f"{name}{op};")
            new = elementwise(op[0], old, np.ones(1, old.dtype))
        else:
            # C computes in the common type of both operands, so use the element type.
            scalar = self.kernel.expressions.scalar(element, 1)
            self._line(f"{name} {op}= ({element}){scalar.text};")
            new = elementwise(op, old, scalar.value[None]) if op else scalar.value
        value[row, column] = new[0] if new.ndim else new
        target.store(value)

    def _store(self) -> None:
        """Write a store by the builtin, sometimes to memory from which the value was loaded."""
        kind = replace(self.kernel.any_kind(), padding=0)
        text, value = self._value(kind)
        layout = replace(kind, row_major=self.random.random() < 0.5)
        memory, offset, stride, arguments = self.kernel.memory(layout, writable=True)
        store = "__builtin_matrix_row_major_store" if layout.row_major else "__builtin_matrix_column_major_store"
        if not layout.row_major and arguments.count(",") == 1 and self.random.random() < 0.3:
            store = "__builtin_matrix_column_store"
        self._line(f"{store}({text}, {arguments});")
        memory.data[offset + submatrix(*kind.shape, stride, layout.row_major)] = value

    def _loop(self) -> None:
        target = self._target()
        other = self.kernel.place(replace(target.kind, rows=target.kind.columns))
        same = self.kernel.place(target.kind)
        self._line(f"for (int i = 0; i < 3 * n; i++) {target.text} = {target.text} * {other.text} + {same.text};")
        for _ in range(3):
            target.store(elementwise("+", product(target.value, other.value), same.value))

    def _through_function(self) -> None:
        """Write a call of a function that stores through pointers, which may point to the same object."""
        kernel, kind = self.kernel, self._target().kind
        found = [p for p in kernel.places if p.kind == kind and p.writable and p.text[0] in "va"] or [
            kernel.variable(kind)
        ]
        out, given = self.random.choice(found), self.random.choice(found)
        name = f"t_{kind.name}"
        parameters = f"private {kind.name} *out, private const {kind.name} *in"
        kernel.function(name, f"static void {name}({parameters}) {{ *out = *in + *out * 2; }}")
        self._line(f"{name}(&{out.text}, &{given.text});")
        two = np.full(kind.shape, 2, out.value.dtype)
        out.store(elementwise("+", given.value, elementwise("*", out.value, two)))

    def give_all(self) -> None:
        """Store every object of the kernel to a buffer, in one of several ways."""
        for place in [p for p in self.kernel.places if p.text[0] not in "g(p"]:
            kind, kernel = place.kind, self.kernel
            name = kernel.unused("o")
            row_major = self.random.random() < 0.5
            stride = (kind.columns if row_major else kind.rows) + self.random.randrange(2)
            layout = "row" if row_major else "column"
            lines = kind.rows if row_major else kind.columns
            memory = Memory.of(kind.element, stride * lines)
            memory.data[submatrix(*kind.shape, stride, row_major)] = place.value
            memory.known[submatrix(*kind.shape, stride, row_major)] = True
            kernel.arguments.append(Argument(f"global {kind.element} *{name}", memory))
            self._line(f"__builtin_matrix_{layout}_major_store({place.text}, {name}, {stride});")
