"""The lowering of one function: matrix values become private variables, operations calls of library functions.

Each value that contains matrices has its own variable, with the value's id, which is written at the value's definition.
A part of another value, or a copy, is only another address. A phi has two variables: one is written at the end of each
predecessor, and the other gets its contents at the phi. So phis may refer to one another, and a predecessor may have
other successors.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ...matrices.lowering import Fill, LibraryFunction, Target
from ...matrices.variants import ComponentType
from ...spirv.module import ENUM, OP, Instruction, id_positions, numbers
from ...spirv.module_globals import FUNCTION, ModuleGlobals
from ...spirv.refusal import Refused, unsupported
from .types import Types, matrix_route

if TYPE_CHECKING:
    from .floats_as_integers import Replaced

_LABEL, _VARIABLE, _PHI, _LOAD, _STORE = numbers("Op*", "Label Variable Phi Load Store")
_COPY, _CHAIN, _POINTER_CHAIN = OP["OpCopyMemory"], OP["OpInBoundsAccessChain"], OP["OpInBoundsPtrAccessChain"]
_CALL, _UNDEFINED = OP["OpFunctionCall"], OP["OpUndef"]
_TERMINATORS = frozenset(numbers("Op*", "Branch BranchConditional Switch Return ReturnValue Kill Unreachable"))
_MERGES = frozenset({OP["OpLoopMerge"], OP["OpSelectionMerge"]})
_LINES = frozenset({OP["OpLine"], OP["OpNoLine"]})
_HEAD = _LINES | {OP["OpFunction"], OP["OpFunctionParameter"]}
_BEFORE_CODE = _LINES | {_VARIABLE, _LABEL}
# Instructions whose result is another address, or the same value, and needs no variable.
_ALIASES = frozenset({OP["OpCompositeExtract"], OP["OpCopyObject"]})
_CHOICES = frozenset({_PHI, OP["OpSelect"], OP["OpCopyObject"]})
_PASSES = frozenset({_CALL, OP["OpReturnValue"]})
_INLINE, _DONT_INLINE = ENUM["FunctionControl.Inline"], ENUM["FunctionControl.DontInline"]


@dataclass(slots=True)
class LibraryCall:
    """A call of a library function that is not linked yet.

    arguments: (id, type) of each argument; the type 0 means the parameter's type. Pointers may have another pointee.
    result: the id of the result.
    operand: for a call with a function operand, that function's name in the library and its id in the module.
    """

    target: Target
    function: LibraryFunction
    arguments: list[tuple[int, int]]
    result: int
    operand: tuple[str, int] | None = None


Code = list[Instruction | LibraryCall]


class ModuleState(Protocol):
    """The lowering of a module as its functions see it; `module_lowering.ModuleLowering` implements it."""

    types: Types
    globals: ModuleGlobals
    definitions: dict[int, Instruction]
    small_floats: Replaced
    changes: Mapping[int, Change]
    library_functions: dict[Target, dict[str, LibraryFunction]]
    functions_of_maps: list[Code]
    of_work_groups: set[Target]
    # constants, transposed, debug_sets: the ids of matrix constants, of results decorated as transposed, and of debug
    # information's imports. subgroup_variables: built-in variable of the device's subgroups -> builtin function that
    # replaces it. conversions: id -> (rounding mode, whether saturated).
    constants: set[int]
    transposed: set[int]
    debug_sets: set[int | None]
    subgroup_variables: dict[int, str]
    conversions: dict[int, tuple[int | None, bool]]
    has_matrices: bool
    # touched: whether the lowering changed anything. rewritten: ids that denote something else now. undefined: those of
    # these ids that have no definition any more.
    touched: bool
    rewritten: set[int]
    undefined: set[int]

    def new_id(self) -> int: ...
    def version(self, function: int, target: Target) -> int: ...
    def uses_matrices(self, function: int) -> bool: ...
    def is_kernel(self, function: int) -> bool: ...
    def operand(self, function: int, component: ComponentType, target: Target) -> tuple[str, int]: ...


class FunctionLowering:
    """The lowering of one function's instructions for one target."""

    def __init__(self, module: ModuleState, code: Sequence[Instruction], target: Target) -> None:
        self.module, self.target = module, target
        self.types, self.globals = module.types, module.globals
        self.definitions = module.definitions
        self.route = target.route
        self.code = code
        # value with matrices -> id of its variable or address; phi -> id of the variable that its predecessors write
        self.places: dict[int, int] = {}
        self.next: dict[int, int] = {}
        self.constants: dict[int, int] = {}
        # id whose defining instruction the lowering has replaced -> result type of the new instruction; `definitions`
        # keeps the original instruction
        self.made_types: dict[int, int] = {}
        # Pointers to matrices that were cast to another pointee; they may only be cast back.
        self.cast_addresses: set[int] = set()
        # The results of library calls.
        self.results: set[int] = set()
        self.variables: list[Instruction] = []
        self.entry: Code = []
        # label of a predecessor -> (phi, incoming value)
        self.edges: dict[int, list[tuple[int, int]]] = {}
        self.out: Code = []
        self.top: Code = []
        self.returns = 0

    def run(self) -> Code:
        self._places()
        at = self._head()
        blocks: list[tuple[int, Code]] = []
        arrivals: list[Instruction] = []
        for item in self.code[at:]:
            if item.opcode == _LABEL:
                self.out, arrivals = [], []
                blocks.append((item.result or 0, self.out))
            elif item.opcode == _PHI and item.result in self.places:
                arrivals.append(item)
                self._phi(item)
                continue
            elif arrivals and item.opcode != _PHI and item.opcode not in _LINES:
                for phi in arrivals:
                    self.copy(self.places[phi.result or 0], self.next[phi.result or 0])
                arrivals = []
            self.instruction(item)
        return self._joined(blocks)

    # --- the parts of a function

    def _places(self) -> None:
        """Create the variables of all matrix values first, since phis may refer to later values."""
        for item in self.code:
            if item.result is None or not self.types.carries(item.result_type) or item.opcode in _ALIASES:
                continue
            if item.opcode == OP["OpFunctionParameter"]:
                self.places[item.result] = item.result
            elif item.opcode != OP["OpFunction"]:
                self.places[item.result] = self.variable(item.result_type or 0, item.result)
                if item.opcode == _PHI:
                    self.next[item.result] = self.variable(item.result_type or 0)

    def _head(self) -> int:
        """Emit the function and its parameters; return the index of the instruction behind them."""
        function, kind = self.code[0], self.definitions[self.code[0].operands[1]]
        carries = self.types.carries
        result, parameters = kind.operands[0], list(kind.operands[1:])
        control = function.operands[0]
        out: Code = []
        if any(map(carries, kind.operands)):
            parameters = [self.globals.pointer(p) if carries(p) else p for p in parameters]
            if carries(result):
                self.returns = self.module.new_id()
                parameters.insert(0, self.globals.pointer(result))
                out.append(self._instruction("OpFunctionParameter", parameters[0], self.returns))
                result = self.globals.intern("OpTypeVoid")
            kind_id = self.globals.intern("OpTypeFunction", result, *parameters)
        else:
            kind_id = function.operands[1]
        if self.module.uses_matrices(function.result or 0):
            control = control & ~_DONT_INLINE | _INLINE * (not self.module.is_kernel(function.result or 0))
        self.out = [Instruction(function.opcode, (control, kind_id), result, function.result), *out]
        end = next((n for n, i in enumerate(self.code) if i.opcode not in _HEAD), len(self.code))
        for item in self.code[1:end]:
            if carries(item.result_type):
                self.module.rewritten.add(item.result or 0)
                pointer = self.globals.pointer(item.result_type or 0)
                item = self._instruction("OpFunctionParameter", pointer, item.result)
            self.out.append(item)
        self.top = self.out
        return end

    def _phi(self, item: Instruction) -> None:
        for value, label_ in zip(item.operands[::2], item.operands[1::2], strict=True):
            self.edges.setdefault(label_, []).append((item.result or 0, value))

    def _joined(self, blocks: list[tuple[int, Code]]) -> Code:
        leaving: dict[int, Code] = {}
        for label_, values in self.edges.items():
            self.out = leaving[label_] = []
            for phi, value in dict.fromkeys(values):
                self.copy(self.next[phi], self.place(value))
        code = list(self.top)
        for number, (label_, block) in enumerate(blocks):
            if label_ in leaving:
                at = next((n for n, item in enumerate(block) if _leaves(item)), len(block))
                block[at:at] = leaving[label_]
            if number == 0:
                first = next((n for n, item in enumerate(block) if not _is_before_code(item)), len(block))
                block[first:first] = self.entry
                block[1:1] = self.variables
            code += block
        return code

    # --- building blocks

    def _instruction(self, name: str, type_id: int, result: int | None, *operands: int) -> Instruction:
        item = Instruction(OP[name], operands, type_id, result if result is not None else self.module.new_id())
        if result is None:
            self.definitions[item.result or 0] = item
        else:
            # `definitions` keeps the old definition, for queries about the original module.
            self.made_types[result] = type_id
        return item

    def emit(self, name: str, type_id: int, *operands: int, result: int | None = None) -> int:
        """Emit an instruction with a result, and return the result's id, by default a new one."""
        item = self._instruction(name, type_id, result, *operands)
        self.out.append(item)
        return item.result or 0

    def variable(self, type_id: int, result: int | None = None) -> int:
        """Create a variable for values of this type, by default with a new id, and return its id."""
        if result is not None:
            self.module.rewritten.add(result)
        item = self._instruction("OpVariable", self.globals.pointer(type_id), result, FUNCTION)
        self.variables.append(item)
        return item.result or 0

    def copy(self, target: int, source: int) -> None:
        self.out.append(Instruction(_COPY, (target, source)))

    def call(
        self,
        function: LibraryFunction,
        *arguments: int,
        result: int | None = None,
        operand: tuple[str, int] | None = None,
    ) -> int:
        """Emit a call of a library function, and return the id of its result."""
        target = self._target(function)
        library_call = LibraryCall(
            target,
            function,
            [(argument, self._type(argument)) for argument in arguments],
            result if result is not None else self.module.new_id(),
            operand,
        )
        self.results.add(library_call.result)
        self.module.touched = True
        self.module.library_functions.setdefault(target, {})[function.function_name] = function
        self.out.append(library_call)
        return library_call.result

    def _target(self, function: LibraryFunction) -> Target:
        """Return the target of a library function: for matrices of a work-group, one that states the group's size."""
        if not function.of_work_group:
            return self.target
        if self.target not in self.module.of_work_groups:
            message = "a matrix of scope workgroup is used in a function that no kernel with reqd_work_group_size calls"
            raise Refused("spirv-not-supported", message)
        return self.target.of_work_group()

    def _type(self, value: int) -> int:
        """Return the type of a value in the rewritten function; 0 for the result of a library call.

        Such a result has the type that the library function returns.
        """
        return 0 if value in self.results else self.made_types.get(value) or self.types.of(value)

    def place(self, value: int) -> int:
        """Return the address of a value with matrices; materialize a constant at the function's entry."""
        address = self.places.get(value) or self.constants.get(value)
        if address is None:
            item = self.definitions[value]
            before, self.out = self.out, self.entry
            self.types.check_constant(item.result_type or 0)
            address = self.constants[value] = self.variable(item.result_type or 0)
            self.constant(item, address)
            self.out = before
        return address

    def constant(self, item: Instruction, at: int) -> None:
        """Emit stores of a constant, which may contain matrices, to the address `at`."""
        type_id = item.result_type or 0
        name = item.name.replace("OpSpec", "Op")
        if not self.types.carries(type_id):
            self.out.append(Instruction(_STORE, (at, item.result or 0)))
        elif name == "OpUndef":
            return
        elif name not in ("OpConstantNull", "OpConstantComposite"):
            raise unsupported(item, "such a constant of a type with matrices is not supported yet")
        elif type_id in self.types.matrices:
            element = self.types.elements(type_id)
            null = self.globals.intern("OpConstantNull", result_type=element) if name == "OpConstantNull" else 0
            self.call(Fill(self.types.matrices[type_id]), at, null or item.operands[0])
        else:
            for n, member in enumerate(self.types.members(type_id)):
                if name == "OpConstantNull":
                    part = self.definitions[self.globals.intern("OpConstantNull", result_type=member)]
                else:
                    part = self.definitions[item.operands[n]]
                self.constant(part, self.member(at, type_id, [n])[0])

    def member(self, pointer: int, type_id: int, path: Sequence[int], result: int | None = None) -> tuple[int, int]:
        """Return the address and the type of a part of an object in private memory, which literal indices select."""
        indices: list[int] = []
        for n, index in enumerate(path):
            if type_id in self.types.matrices:
                if n + 1 != len(path):
                    raise Refused("spirv-invalid", f"a component of type %{type_id} has no members")
                width = self.width(type_id)
                indices += map(self.globals.number, divmod(index, width) if width > 1 else (index,))
            else:
                indices.append(self.globals.number(index))
            type_id = self.types.member(type_id, index)
        if not indices:
            return pointer, type_id
        address = self.emit("OpInBoundsAccessChain", self.globals.pointer(type_id), pointer, *indices, result=result)
        return address, type_id

    # --- instructions

    def instruction(self, item: Instruction) -> None:
        change = self.module.changes.get(item.opcode)
        if change is not None and change(self, item):
            return
        if self.cast_addresses and self.names(item, self.cast_addresses):
            self._passes_on(item)
        if item.result in self.places or self.names_matrices(item):
            raise unsupported(item, "of a value with matrices is not supported")
        if self.module.subgroup_variables and self.names(item, self.module.subgroup_variables):
            raise unsupported(item, "of a built-in variable of subgroups is not supported")
        self.out.append(item)

    def _passes_on(self, item: Instruction) -> None:
        """Raise Refused if an instruction does anything with a cast matrix address except to pass it on."""
        if item.opcode in _CHOICES:
            self.cast_addresses.add(item.result or 0)
        elif item.opcode not in _PASSES and not (item.opcode == _STORE and item.operands[0] not in self.cast_addresses):
            raise unsupported(item, "accessing the memory of a matrix as another type is not supported")

    def names_matrices(self, item: Instruction) -> bool:
        """Return whether an operand is a value that contains matrices."""
        return self.names(item, self.places) or self.names(item, self.module.constants)

    def names(self, item: Instruction, values: Container[int]) -> bool:
        """Return whether an operand of the instruction is one of `values`."""
        indices = {at for at, word in enumerate(item.operands) if word in values}
        return bool(indices) and not indices.isdisjoint(id_positions(item, self.definitions))

    def carries(self, value: int) -> bool:
        return self.types.carries(self.types.of(value))

    def width(self, type_id: int) -> int:
        """Return the number of components of the vectors that hold a matrix type's rows; 1 if there are no vectors."""
        matrix = self.types.matrices[type_id]
        return matrix_route(self.route, matrix).width(matrix)


Change = Callable[[FunctionLowering, Instruction], bool]


def _leaves(item: Instruction | LibraryCall) -> bool:
    return isinstance(item, Instruction) and (item.opcode in _TERMINATORS or item.opcode in _MERGES)


def _is_before_code(item: Instruction | LibraryCall) -> bool:
    return isinstance(item, Instruction) and item.opcode in _BEFORE_CODE
