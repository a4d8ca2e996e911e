"""Queries about a module's types: which contain matrices, and which types hold matrices after the lowering."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ... import budgets
from ...matrices.lowering import LoweredRoute, storage_components
from ...matrices.routes import LOWERED_ROUTES
from ...matrices.variants import (
    COMPONENT_TYPES,
    SCOPE_SUBGROUP,
    SCOPE_WORKGROUP,
    ComponentType,
    MatrixType,
    Use,
)
from ...spirv import checks
from ...spirv.module import OP, Instruction, numbers
from ...spirv.module_globals import ModuleGlobals
from ...spirv.refusal import Refused, label, unsupported
from .constants import Constants

MATRIX = OP["OpTypeCooperativeMatrixKHR"]
_ARRAY, _STRUCT, _POINTER, _VECTOR = numbers("OpType*", "Array Struct Pointer Vector")
_INT, _FLOAT = OP["OpTypeInt"], OP["OpTypeFloat"]
# The most components of a matrix: one work-item may have to hold all of them.
_MOST_COMPONENTS = 2**24


class Types:
    """The types of one module; `matrices` maps the id of a matrix type to the type."""

    def __init__(self, globals_: ModuleGlobals) -> None:
        self.globals, self.definitions = globals_, globals_.definitions
        self.constants = Constants(self.definitions)
        self.matrices: dict[int, MatrixType] = {}
        self._carries: dict[int, bool] = {}

    def read_matrices(self, components: Mapping[int, ComponentType]) -> None:
        """Read the matrix types. Raises Refused for types that cannot be lowered.

        `components` has the component types of those matrix types whose components were replaced by integers.
        """
        for item in self.globals.items:
            if item.opcode == MATRIX:
                self.matrices[item.result or 0] = self._matrix(item, components.get(item.result or 0))

    # --- queries

    def of(self, value: int) -> int:
        """Return the type of a value. Raise Refused if the id is no value."""
        type_id = self.definitions[value].result_type
        if type_id is None:
            raise Refused("spirv-invalid", f"{label(self.definitions[value])} is used as a value, and is none")
        return type_id

    def pointee(self, pointer: int) -> int:
        """Return the type that a pointer value points to. Raise Refused for any other value."""
        kind = self.definitions[self.of(pointer)]
        if kind.opcode != _POINTER:
            raise unsupported(self.definitions[pointer], "a pointer of this type is not supported yet")
        return kind.operands[1]

    def pointee_or_none(self, type_id: int | None) -> int | None:
        """Return the pointee of a pointer type; None for any other type."""
        item = self.definitions.get(type_id or 0)
        return item.operands[1] if item is not None and item.opcode == _POINTER else None

    def storage_class(self, pointer: int) -> int:
        return self.definitions[self.of(pointer)].operands[0]

    def carries(self, type_id: int | None) -> bool:
        """Return whether values of this type contain matrices."""
        if type_id is None:
            return False
        result = self._carries.get(type_id)
        if result is None:
            item = self.definitions[type_id]
            members = item.operands[:1] if item.opcode == _ARRAY else item.operands if item.opcode == _STRUCT else ()
            result = item.opcode == MATRIX or any(map(self.carries, members))
            self._carries[type_id] = result
        return result

    def matrices_in(self, type_id: int | None) -> Iterator[int]:
        """Yield the matrix types that a type consists of, itself included; duplicates are possible."""
        item = self.definitions[type_id or 0]
        if item.opcode == MATRIX:
            yield item.result or 0
        for member in item.operands[:1] if item.opcode == _ARRAY else item.operands if item.opcode == _STRUCT else ():
            yield from self.matrices_in(member)

    def first(self, type_id: int | None) -> int:
        """Return the type of the first scalar, vector or matrix in a value of this type."""
        item = self.definitions[type_id or 0]
        while item.opcode in (_ARRAY, _STRUCT) and item.operands:
            item = self.definitions[item.operands[0]]
        return item.result or 0

    def member(self, type_id: int, index: int) -> int:
        """Return the type of a member or element of an aggregate, vector or matrix. Raise Refused if there is none."""
        item = self.definitions[type_id]
        if item.opcode == _STRUCT and index < len(item.operands):
            return item.operands[index]
        if item.opcode in (_ARRAY, _VECTOR, MATRIX):
            return item.operands[0]
        raise Refused("spirv-invalid", f"{label(item)} has no member {index}")

    def members(self, type_id: int) -> list[int]:
        """Return the types of all members of an array or struct. Raise Exceeded for arrays longer than the budget."""
        item = self.definitions[type_id]
        if item.opcode == _ARRAY:
            count = self.constants.value(item.operands[1])
            if count > budgets.limit("constant-members"):
                raise budgets.Exceeded("constant-members", f"a constant of the type %{type_id}")
            return [item.operands[0]] * count
        return list(item.operands)

    def check_constant(self, type_id: int) -> None:
        """Raise Exceeded if constants of this type have more members, counted at all levels, than the budget allows."""

        def size(item: Instruction, parts: Sequence[int]) -> int:
            if item.opcode == MATRIX or not self.carries(item.result):
                return 1
            return 1 + sum(parts) * (self.constants.value(item.operands[1]) if item.opcode == _ARRAY else 1)

        if checks.count_parts({type_id: self.definitions[type_id]}, self.definitions, size)[type_id] > budgets.limit(
            "constant-members"
        ):
            raise budgets.Exceeded("constant-members", f"a constant of the type %{type_id}")

    def bits(self, type_id: int) -> int:
        """Return the bits of a scalar type, or of a vector with its padding in memory. Raise Refused for others."""
        item = self.definitions[type_id]
        if item.opcode == _VECTOR:
            count = item.operands[1]
            return self.bits(item.operands[0]) * (4 if count == 3 else count)
        if item.opcode in (_INT, _FLOAT):
            return item.operands[0]
        raise unsupported(item, "a scalar or vector type is expected here")

    def component(self, type_id: int) -> ComponentType:
        """Return the component type of a scalar type; integers are signed, unless an instruction states otherwise."""
        item = self.definitions[type_id]
        prefix = {_INT: "s", _FLOAT: "f"}.get(item.opcode, "")
        result = COMPONENT_TYPES.get(f"{prefix}{item.operands[0] if item.operands else ''}")
        if result is None or (item.opcode == _FLOAT and len(item.operands) > 1):
            raise unsupported(item, "matrices of this type are not supported yet")
        return result

    # --- matrices

    def _matrix(self, item: Instruction, override: ComponentType | None) -> MatrixType:
        component, *rest = item.operands
        scope, rows, columns, use = (self.constants.value(operand) for operand in rest)
        if scope not in (SCOPE_SUBGROUP, SCOPE_WORKGROUP):
            raise unsupported(item, f"matrices of scope {scope} are not supported: 3 (subgroup) and 2 (work-group) are")
        if use not in list(Use):
            raise unsupported(item, f"the use {use} is not supported")
        if rows * columns > _MOST_COMPONENTS:
            raise unsupported(item, f"a matrix of {rows} x {columns} is too large for private memory")
        try:
            kind = override or self.component(component)
            return MatrixType(kind, rows, columns, Use(use), scope)
        except ValueError as error:
            raise unsupported(item, str(error)) from None

    def storage(self, route: LoweredRoute, sub_group_size: int, work_items: int) -> Iterator[Instruction]:
        """Yield the array types that replace matrix types; those of work-group scope are spread over `work_items`."""
        for type_id, matrix in self.matrices.items():
            element, holder = self.elements(type_id), matrix_route(route, matrix)
            width = holder.width(matrix)
            if width > 1:
                element = self.globals.intern("OpTypeVector", element, width)
            size = work_items if matrix.of_work_group else sub_group_size
            count = self.globals.number(storage_components(holder, matrix, size) // width)
            yield Instruction(_ARRAY, (element, count), None, type_id)

    def elements(self, type_id: int) -> int:
        """Return the type of a matrix type's components."""
        return self.definitions[type_id].operands[0]


def matrix_route(route: LoweredRoute, matrix: MatrixType) -> LoweredRoute:
    """Return the route that holds a matrix; matrices of work-group scope are always held by "scratch"."""
    return LOWERED_ROUTES["scratch"] if matrix.of_work_group else route
