"""Functions of a component, its row and its column: map, map_multiple of several matrices, build of none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from coopmat.matrices.numpy_reference import Array, narrow
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType, MatrixType

from ..experiment import Argument, Experiment
from ..functions import UINT, Function, Pointer, Scalars, V, of_builtin
from ..profile import Profile
from ..values import whole_range
from ..writers import Value, Writer
from ..writers.c import CWriter
from .base import Case, Operation, Setting, Turns

_BYTES = COMPONENT_TYPES["u8"]


@dataclass(frozen=True)
class Further:
    """An argument that follows the function's name: a value, or a pointer to an array.

    draw: the function that returns the array for a matrix type.
    space: the address space of the array; "" for a value.
    component: the argument's scalar type; None for the matrix's component type.
    of: another integer type for the buffer of a value, which is then converted; None for the argument's type.
    """

    name: str
    draw: Callable[[np.random.Generator, MatrixType], Array]
    space: str = ""
    component: ComponentType | None = None
    of: ComponentType | None = None

    def parameter(self, component: ComponentType) -> ComponentType | Pointer:
        own = self.component or component
        return Pointer(own, self.space) if self.space else own

    def argument(self, rng: np.random.Generator, matrix: MatrixType) -> Argument:
        """Return the buffer of the argument.

        For a pointer to local or private memory, the kernel copies the buffer there.
        """
        component = self.of or self.component or matrix.component
        values = np.asarray(self.draw(rng, matrix), component.numpy)
        return Argument(self.name, component, values, space="constant" if self.space == "constant" else "global")


@dataclass(frozen=True)
class Kind:
    """A function for each component type, as the operand of an operation.

    body: given the operations, the component type, row, column, components and `further` arguments, it returns the
    result. None if the function is the builtin of this name.
    matrices: the number of matrices whose components are parameters.
    further: the arguments after the components.
    has: whether the function exists for a component type.
    """

    name: str
    body: Callable[..., object] | None
    matrices: int = 0
    further: tuple[Further, ...] = ()
    has: Callable[[ComponentType], bool] = lambda component: True

    def function(self, component: ComponentType) -> Function:
        body = self.body
        if body is None:
            return of_builtin(self.name, component)
        parameters = [UINT, UINT, *[component] * self.matrices, *(f.parameter(component) for f in self.further)]
        return Function(self.name, parameters, component, lambda s, *x: body(s, component, *x))


# --- arguments


def _any_values(rng: np.random.Generator, matrix: MatrixType, count: int) -> Array:
    return whole_range(rng, matrix.component, count)


def _scale(rng: np.random.Generator, matrix: MatrixType) -> Array:
    """Return a factor that changes every number except zero."""
    return narrow(matrix.component, np.array([3.0 if matrix.component.is_integer else rng.choice([3.0, -1.5])]))


_VALUE = Further("s", lambda rng, matrix: _any_values(rng, matrix, 1))
_SCALE = Further("s", _scale)
# A value that is converted to the parameter's type, as arguments of calls are.
_STEP = Further("n", lambda rng, matrix: rng.integers(2, 6, 1), component=UINT, of=COMPONENT_TYPES["s64"])


def _by_row(name: str = "p", space: str = "global") -> Further:
    """Return a pointer argument: an array with an item for each row, and one more."""
    return Further(name, lambda rng, matrix: _any_values(rng, matrix, matrix.rows + 1), space)


def _by_column(name: str = "p", space: str = "global") -> Further:
    return Further(name, lambda rng, matrix: _any_values(rng, matrix, matrix.columns + 1), space)


# --- map


def _masked(s: Scalars[V], t: ComponentType, r: V, c: V, x: V, value: V) -> V:
    """Return the component on and below the diagonal; above it, a value."""
    return s.select(t, s.is_less(UINT, r, c), value, x)


def _biased(s: Scalars[V], t: ComponentType, r: V, c: V, x: V, bias: V, scale: V) -> V:
    """Return (x + bias) scale; in this order, the operations cannot be contracted."""
    return s.binary("mul", t, s.binary("add", t, x, s.item(Pointer(t), bias, c)), scale)


def _coded(s: Scalars[V], t: ComponentType, r: V, c: V, x: V, n: V) -> V:
    """Return the product of x with a number that differs between rows and columns."""
    place = s.binary("add", UINT, s.binary("mul", UINT, r, n), c)
    return s.binary("mul", t, x, s.convert(UINT, t, s.binary("and", UINT, place, s.number(UINT, 15))))


def _picked(space: str) -> Callable[..., object]:
    def body(s: Scalars[V], t: ComponentType, r: V, c: V, x: V, table: V) -> V:
        """Return the table's item of the row for every second component, x for the others."""
        return s.select(t, _is_even(s, s.binary("xor", UINT, r, c)), s.item(Pointer(t, space), table, r), x)

    return body


def _is_even(s: Scalars[V], x: V) -> V:
    one = s.number(UINT, 1)
    return s.is_less(UINT, s.binary("and", UINT, x, one), one)


_SPACES = ("global", "constant", "local", "private")
_MAPS = (
    Kind("masked", _masked, 1, (_VALUE,)),
    Kind("biased", _biased, 1, (_by_column(), _SCALE)),
    Kind("coded", _coded, 1, (_STEP,)),
    *(Kind(f"picked_{space}", _picked(space), 1, (_by_row(space=space),)) for space in _SPACES),
)


# --- map_multiple


def _chosen(s: Scalars[V], t: ComponentType, r: V, c: V, x: V, y: V) -> V:
    """Return components of two matrices in a chessboard pattern."""
    return s.select(t, _is_even(s, s.binary("xor", UINT, r, c)), x, y)


def _weighted(s: Scalars[V], t: ComponentType, r: V, c: V, x: V, y: V, weights: V, scale: V) -> V:
    difference = s.binary("sub", t, x, y)
    return s.binary("mul", t, s.binary("sub", t, difference, s.item(Pointer(t), weights, r)), scale)


def _compared(s: Scalars[V], t: ComponentType, r: V, c: V, x: V, y: V, z: V) -> V:
    """Return a component of the third matrix if the second's is greater than the first's, else the first's."""
    return s.select(t, s.is_less(t, x, y), z, x)


CHOSEN = Kind("chosen", _chosen, 2)
_MULTIPLE = (
    CHOSEN,
    Kind("weighted", _weighted, 2, (_by_row(), _SCALE)),
    Kind("compared", _compared, 3),
)


# --- build


def _identity(s: Scalars[V], t: ComponentType, r: V, c: V, value: V) -> V:
    """Return a component of a matrix with a value in its diagonal, and zeros elsewhere."""
    above_or_on = s.select(t, s.is_less(UINT, r, c), s.number(t, 0), value)
    return s.select(t, s.is_less(UINT, c, r), s.number(t, 0), above_or_on)


def _codes(s: Scalars[V], t: ComponentType, r: V, c: V, n: V) -> V:
    place = s.binary("add", UINT, s.binary("mul", UINT, r, n), c)
    return s.convert(UINT, t, s.binary("and", UINT, place, s.number(UINT, 127)))


def _tabulated(s: Scalars[V], t: ComponentType, r: V, c: V, table: V, stride: V) -> V:
    """Return a component of a row-major matrix in memory with a stride."""
    return s.item(Pointer(t), table, s.binary("add", UINT, s.binary("mul", UINT, r, stride), c))


def _decoded(s: Scalars[V], t: ComponentType, r: V, c: V, packed: V, scales: V, stride: V) -> V:
    """Return a weight of 4 bits, scaled by its row's factor; a byte holds the weights of two neighbours in a row."""
    one = s.number(UINT, 1)
    at = s.binary("add", UINT, s.binary("mul", UINT, r, stride), s.binary("shift", UINT, c, one))
    byte = s.convert(_BYTES, UINT, s.item(Pointer(_BYTES), packed, at))
    shift = s.binary("mul", UINT, s.binary("and", UINT, c, one), s.number(UINT, 4))
    nibble = s.binary("and", UINT, s.binary("shift", UINT, byte, shift), s.number(UINT, 15))
    return s.binary("mul", t, s.convert(UINT, t, nibble), s.item(Pointer(t), scales, r))


def _stride_of_table(matrix: MatrixType) -> int:
    return matrix.columns + 3


def _stride_of_bytes(matrix: MatrixType) -> int:
    return matrix.columns // 2 + 2


def _stride(of: Callable[[MatrixType], int]) -> Further:
    return Further("n", lambda rng, matrix: np.array([of(matrix)]), component=UINT)


_TABLE = Further("p", lambda rng, matrix: _any_values(rng, matrix, matrix.rows * _stride_of_table(matrix)), "global")
_PACKED = Further(
    "p", lambda rng, matrix: rng.integers(0, 256, matrix.rows * _stride_of_bytes(matrix)), "global", _BYTES
)
_BUILDS = (
    Kind("identity", _identity, further=(_VALUE,)),
    Kind("codes", _codes, further=(_STEP,)),
    Kind("tabulated", _tabulated, further=(_TABLE, _stride(_stride_of_table))),
    Kind("decoded", _decoded, further=(_PACKED, _by_row("q"), _stride(_stride_of_bytes))),
    # Its operands are row and column, which are of type uint.
    Kind("max", None, has=lambda component: component == UINT),
)


# --- the operations


KINDS = {kind.name: kind for kind in (*_MAPS, *_MULTIPLE, *_BUILDS)}


@dataclass(frozen=True)
class Mapped:
    """A function of components, or of `width` neighbours in a row, or of -`width` in a column if negative.

    The width -1 is a function of components by which the columns are built.
    """

    matrix: MatrixType
    function: str
    width: int = 1

    @property
    def kind(self) -> Kind:
        return KINDS[self.function]


def _cases(profile: Profile, kinds: Sequence[Kind], count: int) -> Iterable[Case]:
    """Yield `count` of the functions for each matrix type; all of them if the profile is exhaustive.

    The matrix types of one component type take turns.
    """
    turns = Turns(profile)
    for matrix, size in profile.matrix_types:
        own = [kind for kind in kinds if kind.has(matrix.component)]
        for kind in turns.next(matrix.component.name, own, count):
            yield Case(f"{matrix.name}.{kind.name}{profile.suffix(size)}", size, Mapped(matrix, kind.name))


def _widths(matrix: MatrixType, kind: Kind) -> list[int]:
    """Return each width with which a function can be applied to neighbours (`Mapped`)."""
    lengths = {1: matrix.columns} if kind.matrices else {1: matrix.columns, -1: matrix.rows}
    # bfloat16 and 8-bit floats have no vectors
    counts = (1,) if matrix.component.is_bits else (1, 2, 4, 8, 16)
    return [sign * n for n in counts for sign, length in lengths.items() if length % n == 0 and sign * n != 1]


def _of_neighbours(profile: Profile) -> Iterable[Case]:
    """Yield up to three functions for each matrix type; directions and widths take turns."""
    turns = Turns(profile)
    kinds = [kind for kind in (*_BUILDS, *_MAPS) if kind.body is not None]
    for matrix, size in profile.matrix_types:
        widths = {kind.name: found for kind in kinds if (found := _widths(matrix, kind))}
        for name in turns.next(f"{matrix.component.name}{len(widths)}", list(widths), 3):
            for width in turns.next(f"{widths[name]}", widths[name], 1):
                words = f"{name}.{'row' if width > 0 else 'column'}{abs(width)}"
                yield Case(f"{matrix.name}.{words}{profile.suffix(size)}", size, Mapped(matrix, name, width))


def _experiment(setting: Setting) -> Experiment:
    matrix, kind = setting.parameters.matrix, setting.parameters.kind
    rng, component, shape = setting.random(), matrix.component, (matrix.rows, matrix.columns)
    values = {name: whole_range(rng, component, *shape) for name in "xyz"[: kind.matrices]}
    further = [f.argument(rng, matrix) for f in kind.further]
    places = (index.astype(np.uint32) for index in np.indices(shape))
    arguments = [
        argument.before if f.space else argument.before.astype((f.component or component).numpy)
        for f, argument in zip(kind.further, further, strict=True)
    ]
    result = kind.function(component).value(*places, *values.values(), *arguments)
    inputs = [setting.input(name, matrix, array) for name, array in values.items()]
    return Experiment([*inputs, *further, setting.output("out", matrix, np.broadcast_to(result, shape))])


def _operands(setting: Setting, w: Writer) -> tuple[Function, list[Value], list[Value]]:
    """Return the function, its matrices and its further arguments."""
    kind, arguments = setting.parameters.kind, w.experiment.arguments
    component = setting.parameters.matrix.component
    further = [
        w.pointer(w.copied(argument, f.space)) if f.space else w.scalar(argument, 0, f.component or component)
        for f, argument in zip(kind.further, arguments[kind.matrices : -1], strict=True)
    ]
    return kind.function(component), [w.load(argument) for argument in arguments[: kind.matrices]], further


def _write(setting: Setting, w: Writer) -> None:
    matrix = setting.parameters.matrix
    function, operands, further = _operands(setting, w)
    value = w.map(matrix, function, operands, further) if operands else w.build(matrix, function, further)
    w.store(w.experiment.arguments[-1], value)


def _write_neighbours(setting: Setting, w: CWriter) -> None:
    value = w.neighbours(setting.parameters.matrix, *_operands(setting, w), setting.parameters.width)
    w.store(w.experiment.arguments[-1], value)


OPERATIONS = (
    Operation("map", lambda profile: _cases(profile, _MAPS, 2), _experiment, _write),
    Operation("map_multiple", lambda profile: _cases(profile, _MULTIPLE, 2), _experiment, _write),
    Operation("build", lambda profile: _cases(profile, _BUILDS, 2), _experiment, _write),
    Operation("neighbours", _of_neighbours, _experiment, _write_neighbours, ("c",)),
)
