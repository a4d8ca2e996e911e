"""An interpreter of the matrix fuzzer's programs in numpy, which imports nothing of coopmat.

All subgroups are interpreted together. A mask selects the subgroups that execute a statement. In functions on
components, the mask has the shape (subgroups, rows, columns).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import fuzz_matrices_flow as flow
import fuzz_matrices_tree as tree
import numpy as np
from fuzz_matrices_operations import (
    InexactError,
    arithmetic,
    builtin,
    convert,
    multiply_add,
    negate,
    position,
)
from fuzz_matrices_types import Array, Component, MatrixType


@dataclass
class View:
    """A pointer for each subgroup: the memory, and the bounds of each subgroup's part of it."""

    data: Array
    valid: Array
    component: Component
    base: Array
    low: Array
    high: Array

    def moved(self, offset: int) -> View:
        """Return the pointer plus an offset."""
        return View(self.data, self.valid, self.component, self.base + offset, self.low, self.high)

    def shaped(self, dimensions: int) -> tuple[Array, Array, Array]:
        """Return base, low and high as arrays of `dimensions` dimensions."""
        shape = (-1, *[1] * (dimensions - 1))
        return self.base.reshape(shape), self.low.reshape(shape), self.high.reshape(shape)

    def read(self, index: Array, mask: Array) -> Array:
        """Return elements; those where the mask is off are arbitrary."""
        base, low, high = self.shaped(index.ndim)
        at = base + index
        if (mask & ((at < low) | (at >= high))).any():
            raise InexactError("an address outside")
        at = np.clip(at, 0, len(self.data) - 1)
        if (mask & ~self.valid[at]).any():
            raise InexactError("memory without a value")
        values: Array = self.data[at]
        return values

    def write(self, index: Array, values: Array, mask: Array) -> None:
        """Write elements where the mask is on."""
        base, low, high = self.shaped(index.ndim)
        at = base + index
        if (mask & ((at < low) | (at >= high))).any():
            raise InexactError("an address outside")
        mask = np.broadcast_to(mask, at.shape)
        self.data[at[mask]] = np.broadcast_to(values, at.shape)[mask]
        self.valid[at[mask]] = True


@dataclass
class Frame:
    """The variables and the control flow of a call.

    alias: name of a pointer -> the frame, name and index that it points to.
    broken, continued: masks of the innermost loop or switch.
    """

    variables: dict[str, Array] = field(default_factory=dict)
    defined: dict[str, Array] = field(default_factory=dict)
    alias: dict[str, tuple[Frame, str, Array | None]] = field(default_factory=dict)
    memory: dict[str, View] = field(default_factory=dict)
    structs: dict[str, tree.Struct] = field(default_factory=dict)
    broken: list[Array] = field(default_factory=list)
    continued: list[Array] = field(default_factory=list)
    result: Any = None
    returned: Array | None = None


class Machine:
    """The interpreter of one program."""

    def __init__(self, program: tree.Program) -> None:
        self.program = program
        self.count = program.total
        self.steps = 0
        # Whether to check the bounds that the generator promised; off for reduced programs.
        self.strict = True
        self.frame = Frame()
        self.outputs: dict[str, View] = {}
        lanes = np.arange(self.count)
        self.frame.variables["sg"] = lanes.astype(np.uint64)
        per_group = program.subgroups if program.scope == "SUBGROUP" else 1
        self.frame.variables["lsg"] = (lanes % per_group).astype(np.uint64)
        for name, (component, value) in program.scalars.items():
            self.frame.variables[name] = np.full(self.count, value, component.dtype)
        for memory in program.memories:
            if memory.space in ("global", "constant", "table"):
                self.frame.memory[memory.name] = self.view(memory)
                if memory.output:
                    self.outputs[memory.name] = self.frame.memory[memory.name]

    def view(self, memory: tree.Memory) -> View:
        """Return pointers to an object in memory."""
        lanes = np.arange(self.count)
        base = np.zeros(self.count, np.int64) if memory.shared else lanes * memory.size
        size = memory.size * (1 if memory.shared else self.count)
        if memory.data is None:
            data, valid = np.zeros(size, memory.component.dtype), np.zeros(size, bool)
        else:
            data, valid = memory.data.copy(), np.ones(size, bool)
        return View(data, valid, memory.component, base, base, base + memory.size)

    def run(self) -> dict[str, View]:
        """Interpret the kernel and return the outputs by name."""
        self.statements(self.program.body, self.frame, np.ones(self.count, bool))
        return self.outputs

    # Scalars

    def scalar(self, node: tree.Node, frame: Frame, mask: Array) -> Array:
        """Return the value of a scalar expression in every lane."""
        match node:
            case tree.Num():
                return np.full((1,) * mask.ndim, node.value, node.t.dtype)
            case tree.Name():
                return _spread(frame.variables[node.name], mask.ndim)
            case tree.Member():
                return _spread(frame.variables[f"{node.name}.{node.member}"], mask.ndim)
            case tree.Unary():
                value = self.scalar(node.x, frame, mask)
                if node.op == "!":
                    return (value == 0).astype(np.int32)
                return negate(node.t, value) if node.op == "-" else ~value
            case tree.Binary():
                return self.binary(node, frame, mask)
            case tree.Choose():
                c = self.scalar(node.c, frame, mask) != 0
                a = self.scalar(node.a, frame, mask & c)
                b = self.scalar(node.b, frame, mask & ~c)
                return np.where(c, a, b)
            case tree.Cast():
                value = self.scalar(node.x, frame, mask)
                value = np.where(mask, value, np.zeros((), value.dtype)) if node.x.t.floating else value
                return convert(node.x.t, node.t, value)
            case tree.Builtin():
                return builtin(node.t, node.name, [self.scalar(arg, frame, mask) for arg in node.args])
            case tree.Invoke():
                return np.asarray(self.call(node.function, node.args, frame, mask))
            case tree.Index():
                index = self.scalar(node.index, frame, mask).astype(np.int64)
                index = np.broadcast_to(index, np.broadcast_shapes(index.shape, mask.shape))
                return frame.memory[node.pointer].read(index, mask)
        raise AssertionError(node)

    def binary(self, node: tree.Binary, frame: Frame, mask: Array) -> Array:
        """Return the value of a binary operator."""
        a, b = self.scalar(node.a, frame, mask), self.scalar(node.b, frame, mask)
        kind, op = node.a.t, node.op
        if op in ("<", ">", "<=", ">=", "==", "!="):
            compared: Any = {"<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b, "==": a == b, "!=": a != b}[op]
            return np.asarray(compared).astype(np.int32)
        if op in ("&&", "||"):
            return (((a != 0) & (b != 0)) if op == "&&" else ((a != 0) | (b != 0))).astype(np.int32)
        if op in ("&", "|", "^"):
            bits: Any = {"&": a & b, "|": a | b, "^": a ^ b}[op]
            return np.asarray(bits)
        if op in ("<<", ">>"):
            return np.asarray(a << b if op == "<<" else a >> b)
        if op in ("%", "/") and not kind.floating:
            safe = np.where(mask & (b != 0), b, 1).astype(b.dtype)
            if (mask & (b == 0)).any() or kind.kind == "signed":
                raise InexactError("a signed or undefined quotient")
            return np.asarray(a % safe if op == "%" else a // safe)
        if kind.kind == "signed":
            exact = {"+": np.add, "-": np.subtract, "*": np.multiply}[op](a.astype(object), b.astype(object))
            if exact.size and (max(exact.ravel()) > kind.high or min(exact.ravel()) < kind.low):
                raise InexactError("signed overflow")
        return arithmetic(kind, op, a, b)

    # Functions

    def call(self, function: tree.Function, args: list[Any], frame: Frame, mask: Array) -> Any:
        """Call a function; an argument that is an array is an already evaluated component."""
        inner = Frame()
        for parameter, arg in zip(function.parameters, args, strict=True):
            self.bind(parameter, arg, frame, inner, mask)
        self.statements(function.body, inner, mask)
        if function.result is not None and (inner.returned is None or (mask & ~inner.returned).any()):
            raise InexactError("no result")
        return inner.result

    def bind(self, parameter: tree.Parameter, arg: Any, frame: Frame, inner: Frame, mask: Array) -> None:
        """Give a parameter its value."""
        name = parameter.name
        match parameter.kind:
            case "scalar":
                if not isinstance(arg, np.ndarray):
                    arg = convert(arg.t, parameter.what, self.scalar(arg, frame, mask))
                inner.variables[name] = arg
            case "pair":
                inner.variables[f"{name}.first"], inner.variables[f"{name}.second"] = (
                    np.array(1, np.int32),
                    np.array(0, np.int32),
                )
            case "memory":
                inner.memory[name] = frame.memory[arg.memory].moved(arg.offset)
            case "matrix":
                inner.variables[name] = self.matrix(arg, frame, mask)
                inner.defined[name] = np.ones(self.count, bool)
            case "matrix pointer" | "struct pointer":
                inner.alias[name] = self.target(arg, frame)
            case "struct":
                inner.structs[name] = parameter.what
                self.put_struct(parameter.what, name, self.struct(arg, frame, mask), inner, mask)
        if parameter.kind == "struct pointer":
            inner.structs[name] = parameter.what

    def target(self, arg: Any, frame: Frame) -> tuple[Frame, str, Array | None]:
        """Return what a pointer argument points to."""
        place: tree.Place = arg.place
        index = None if place.index is None else self.index(place.index, frame)
        if arg.array and index is None and not place.pointer:
            index = np.zeros(self.count, np.int64)
        return self.resolve(place.name, index, frame)

    def resolve(self, name: str, index: Array | None, frame: Frame) -> tuple[Frame, str, Array | None]:
        """Follow pointers to the variable that a place denotes."""
        head, dot, rest = name.partition(".")
        if head not in frame.alias:
            return frame, name, index
        other, target, start = frame.alias[head]
        if dot:
            return self.resolve(f"{target}.{rest}", index, other)
        if start is not None and index is not None:
            index = start + index
        return self.resolve(target, start if index is None else index, other)

    def index(self, node: tree.Scalar, frame: Frame) -> Array:
        """Return each subgroup's index into an array of matrices."""
        value = self.scalar(node, frame, np.ones(self.count, bool)).astype(np.int64)
        return np.array(np.broadcast_to(value, (self.count,)))

    def get(self, place: tree.Place, frame: Frame, mask: Array) -> Array:
        """Return the matrix of a place."""
        index = None if place.index is None else self.index(place.index, frame)
        owner, name, index = self.resolve(place.name, index, frame)
        value, defined = owner.variables[name], owner.defined[name]
        if index is None:
            if value.ndim != 3:
                raise InexactError("an array as a matrix")
            if (mask & ~defined).any():
                raise InexactError("a matrix without a value")
            return value
        if value.ndim != 4 or (index < 0).any() or (index >= len(value)).any():
            raise InexactError("an index outside")
        lanes = np.arange(self.count)
        if (mask & ~defined[index, lanes]).any():
            raise InexactError("a matrix without a value")
        chosen: Array = value[index, lanes]
        return chosen

    def put(self, place: tree.Place, value: Array, frame: Frame, mask: Array) -> None:
        """Assign to a place, in the subgroups of the mask."""
        index = None if place.index is None else self.index(place.index, frame)
        owner, name, index = self.resolve(place.name, index, frame)
        old, defined = owner.variables[name], owner.defined[name]
        if index is None:
            if old.ndim != 3:
                raise InexactError("an array as a matrix")
            owner.variables[name] = np.where(mask[:, None, None], value, old)
            owner.defined[name] = defined | mask
            return
        if old.ndim != 4 or (index < 0).any() or (index >= len(old)).any():
            raise InexactError("an index outside")
        lanes = np.nonzero(mask)[0]
        old[index[lanes], lanes] = value[lanes]
        defined[index[lanes], lanes] = True

    # Structs

    def struct(self, node: tree.Node, frame: Frame, mask: Array) -> dict[str, tuple[Array, Array]]:
        """Return the members of a struct: path -> values, and where they are defined."""
        if isinstance(node, tree.CallM):
            result: dict[str, tuple[Array, Array]] = self.call(node.function, node.args, frame, mask)
            return result
        assert isinstance(node, tree.Whole)
        members = {}
        for path, _, _ in frame.structs[node.name].members:
            owner, name, _ = self.resolve(f"{node.name}.{path}", None, frame)
            members[path] = (owner.variables[name].copy(), owner.defined[name].copy())
        return members

    def put_struct(
        self, struct: tree.Struct, name: str, members: dict[str, tuple[Array, Array]], frame: Frame, mask: Array
    ) -> None:
        """Assign the members of a struct."""
        for path, _, _ in struct.members:
            owner, target, _ = self.resolve(f"{name}.{path}", None, frame)
            values, defined = members[path]
            if target not in owner.variables:
                owner.variables[target], owner.defined[target] = values.copy(), defined & mask
            else:
                owner.variables[target] = np.where(mask[:, None, None], values, owner.variables[target])
                owner.defined[target] = np.where(mask, defined, owner.defined[target])

    def declare_struct(self, node: tree.DeclareStruct, frame: Frame, mask: Array) -> None:
        """Make a struct variable."""
        frame.structs[node.name] = node.struct
        for path, kind, count in node.struct.members:
            self.declare(f"{node.name}.{path}", kind, count, frame)
        if node.value is not None:
            self.put_struct(node.struct, node.name, self.struct(node.value, frame, mask), frame, mask)

    def declare(self, name: str, kind: MatrixType, count: int, frame: Frame) -> None:
        """Make a matrix variable or an array without values."""
        shape = (self.count, kind.rows, kind.columns)
        lead = (count,) if count else ()
        frame.variables[name] = np.zeros((*lead, *shape), kind.component.dtype)
        frame.defined[name] = np.zeros((*lead, self.count), bool)

    # Matrices

    def matrix(self, node: tree.Node, frame: Frame, mask: Array) -> Array:
        """Return the value of a matrix expression, for all subgroups."""
        assert isinstance(node, tree.Matrix)
        shape = (self.count, node.type.rows, node.type.columns)
        if not mask.any():
            return np.zeros(shape, node.type.component.dtype)
        value = self.evaluate(node, frame, mask)
        if np.shape(value) != shape:
            raise InexactError("a matrix of another shape")
        if value.dtype != node.type.component.dtype:
            raise InexactError("a matrix of another type")
        chosen = value[mask]
        if self.strict and chosen.size and (chosen.min() < node.range.low or chosen.max() > node.range.high):
            raise InexactError(f"out of bounds: {type(node).__name__}")
        return np.where(mask[:, None, None], value, np.zeros((), value.dtype))

    def evaluate(self, node: tree.Matrix, frame: Frame, mask: Array) -> Array:
        """Return the value of a matrix expression, unchecked."""
        component = node.type.component
        match node:
            case tree.Ref():
                return self.get(node.place, frame, mask)
            case tree.Load():
                return self.load(node, frame, mask)
            case tree.Fill():
                value = convert(node.value.t, component, self.scalar(node.value, frame, mask))
                return self.filled(node.type, value)
            case tree.Map():
                return self.map(node, frame, mask)
            case tree.Negate():
                return negate(component, self.matrix(node.x, frame, mask))
            case tree.Arith():
                a = self.operand(node.a, node.type, frame, mask)
                return arithmetic(component, node.op, a, self.operand(node.b, node.type, frame, mask))
            case tree.Apply():
                args = [self.operand(arg, node.type, frame, mask) for arg in node.args]
                return builtin(component, node.name, args)
            case tree.Convert():
                words = node.how.split("_")
                mode = next((word for word in words if word in ("rte", "rtz", "rtp", "rtn")), "")
                x = self.matrix(node.x, frame, mask)
                return convert(node.x.type.component, component, x, mode, "sat" in words)
            case tree.Transpose():
                return self.matrix(node.x, frame, mask).swapaxes(1, 2)
            case tree.Reduce():
                return self.reduce(node, frame, mask)
            case tree.MulAdd():
                return self.multiply_add(node, frame, mask)
            case tree.CallM():
                return np.asarray(self.call(node.function, node.args, frame, mask))
            case tree.ChooseM():
                c = np.broadcast_to(self.scalar(node.c, frame, mask) != 0, mask.shape)
                a, b = self.matrix(node.a, frame, mask & c), self.matrix(node.b, frame, mask & ~c)
                return np.where(c[:, None, None], a, b)
            case tree.Block():
                self.statements(node.body, frame, mask)
                return self.matrix(node.value, frame, mask)
        raise AssertionError(node)

    def filled(self, kind: MatrixType, value: Array) -> Array:
        """Return a matrix with one value in each subgroup."""
        shape = (self.count, kind.rows, kind.columns)
        return np.array(np.broadcast_to(np.asarray(value).reshape(-1, 1, 1), shape))

    def operand(self, node: tree.Node, kind: MatrixType, frame: Frame, mask: Array) -> Array:
        """Return a matrix operand, or a scalar operand as a matrix of its component type."""
        if isinstance(node, tree.Matrix):
            return self.matrix(node, frame, mask)
        assert isinstance(node, tree.Scalar)
        return self.filled(kind, convert(node.t, kind.component, self.scalar(node, frame, mask)))

    def multiply_add(self, node: tree.MulAdd, frame: Frame, mask: Array) -> Array:
        """Return the result of a multiply-add."""
        parts = [self.matrix(x, frame, mask) for x in (node.a, node.b, node.c)]
        kinds = (node.a.type.component, node.b.type.component, node.type.component)
        bits = node.mask
        if bits is None:
            signs = [kind.kind == "signed" for kind in (*kinds, kinds[2])]
            bits = sum(1 << bit for bit, signed in enumerate(signs) if signed)
        return multiply_add(kinds, parts[0], parts[1], parts[2], bits)

    def places(self, node: tree.Load | tree.Store, kind: MatrixType, frame: Frame, mask: Array) -> tuple[Array, Array]:
        """Return the indices of a matrix in memory, and which of them a checked access touches."""
        rows, columns = np.indices((kind.rows, kind.columns))
        stride = int(self.scalar(node.stride, frame, mask).ravel()[0]) * node.vector
        inside = np.ones(rows.shape, bool)
        if node.checked is not None:
            row, column, height, width = node.checked
            rows, columns = rows + row, columns + column
            inside = (rows < height) & (columns < width)
        index = position(node.layout, kind.component, rows, columns, stride)
        shape = (self.count, kind.rows, kind.columns)
        return np.broadcast_to(index, shape), np.broadcast_to(inside, shape) & mask[:, None, None]

    def load(self, node: tree.Load, frame: Frame, mask: Array) -> Array:
        """Return the loaded matrix."""
        view = frame.memory[node.at.memory]
        if node.at.turn:
            view = self.turned(view, node.at.turn)
        view = view.moved(node.at.offset)
        index, inside = self.places(node, node.type, frame, mask)
        return np.where(inside, view.read(index, inside), np.zeros((), view.data.dtype))

    def turned(self, view: View, turn: int) -> View:
        """Return the pointers of other subgroups of the same work-groups."""
        lanes, count = np.arange(self.count), self.program.subgroups
        other = lanes // count * count + (lanes % count + turn) % count
        return replace(view, base=view.base[other], low=view.low[other], high=view.high[other])

    def store(self, node: tree.Store, frame: Frame, mask: Array) -> None:
        """Execute a store."""
        value = self.matrix(node.value, frame, mask)
        view = frame.memory[node.at.memory].moved(node.at.offset)
        index, inside = self.places(node, node.value.type, frame, mask)
        for lane in np.nonzero(mask)[0]:
            touched = index[lane][inside[lane]]
            if len(np.unique(touched)) != len(touched):
                raise InexactError("a store whose rows overlap")
        view.write(index, value, inside)

    def map(self, node: tree.Map, frame: Frame, mask: Array) -> Array:
        """Return the result of a map or a build."""
        shape = (self.count, node.type.rows, node.type.columns)
        rows, columns = np.indices(shape[1:], np.uint32)
        inner = np.array(np.broadcast_to(mask[:, None, None], shape))
        args: list[Any] = [rows[None], columns[None], *(self.matrix(x, frame, mask) for x in node.matrices)]
        for parameter, captured in zip(node.function.parameters[len(args) :], node.captured, strict=True):
            if isinstance(captured, tree.Scalar):
                scalar = convert(captured.t, parameter.what, self.scalar(captured, frame, mask))
                args.append(scalar.reshape(-1, 1, 1))
            else:
                args.append(captured)
        value = self.call(node.function, args, frame, inner)
        return np.array(np.broadcast_to(value, shape))

    def reduce(self, node: tree.Reduce, frame: Frame, mask: Array) -> Array:
        """Return the result of a reduction."""
        x = self.matrix(node.x, frame, mask)
        if node.how == "2x2":
            x = self.fold(node, [x[:, i::2, j::2] for i in (0, 1) for j in (0, 1)], frame, mask)
        if node.how in ("row", "all"):
            x = self.fold(node, [x[:, :, k : k + 1] for k in range(x.shape[2])], frame, mask)
        if node.how in ("column", "all"):
            x = self.fold(node, [x[:, k : k + 1] for k in range(x.shape[1])], frame, mask)
        return np.array(np.broadcast_to(x, (self.count, node.type.rows, node.type.columns)))

    def fold(self, node: tree.Reduce, parts: list[Array], frame: Frame, mask: Array) -> Array:
        """Combine parts of a matrix by the function of a reduction."""
        value = parts[0]
        lanes = np.array(np.broadcast_to(mask[:, None, None], value.shape))
        for part in parts[1:]:
            if isinstance(node.function, str):
                value = builtin(node.type.component, node.function, [value, part])
            else:
                result = self.call(node.function, [value, part], frame, lanes)
                value = np.array(np.broadcast_to(result, value.shape))
        return value

    def statements(self, body: list[tree.Node], frame: Frame, mask: Array) -> Array:
        """Execute statements and return the mask of the lanes that reach the end."""
        return flow.run(self, body, frame, mask)


def _spread(value: Array, dimensions: int) -> Array:
    """Return a value of each subgroup, or of each component, as an array of `dimensions` dimensions."""
    return value if value.ndim == dimensions else value.reshape(-1, *[1] * (dimensions - 1))
