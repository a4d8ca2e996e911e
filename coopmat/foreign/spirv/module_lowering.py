"""The lowering of a module with matrices to one without, which must then be linked with library functions."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from ...ir import KernelInfo
from ...matrices.lowering import LibraryFunction, LoweredRoute, Target
from ...matrices.routes import MAX_WORK_ITEMS
from ...matrices.variants import ComponentType
from ...spirv import joint_matrix, matrix_calls
from ...spirv.module import ENUM, OP, Instruction, Module, decode_string, id_positions, numbers
from ...spirv.module_globals import ModuleGlobals
from ...spirv.refusal import Refused, unsupported
from ...spirv.sections import Section, entry_point, split
from . import floats_as_integers, operations, subgroups, values
from .function import Change, Code, FunctionLowering, LibraryCall
from .kernels import SUBGROUP_SIZE, Kernel, describe, read_kernels, users_of_matrices, with_callers
from .tiles import enlarge_tiles, read_tiles
from .types import MATRIX, Types

_LABEL, _EXECUTION_MODE = OP["OpLabel"], OP["OpExecutionMode"]
_LINKAGE_ATTRIBUTES, _BUILT_IN, _SPEC_ID = numbers("Decoration.*", "LinkageAttributes BuiltIn SpecId")
_SUBGROUP_DISPATCH = ENUM["Capability.SubgroupDispatch"]
_OF_GROUPS_ONLY = frozenset(numbers("Capability.*", "Groups GroupUniformArithmeticKHR"))
_MEMORY_MODEL = (ENUM["AddressingModel.Physical64"], ENUM["MemoryModel.OpenCL"])
_CONVERSION_MODES = frozenset({matrix_calls.ROUNDING_MODE, *matrix_calls.SATURATED})
_MATRIX_CAPABILITIES = frozenset(
    {
        ENUM["Capability.CooperativeMatrixKHR"],
        *matrix_calls.CAPABILITIES,
        *joint_matrix.CAPABILITIES,
        *floats_as_integers.CAPABILITIES,
    }
)
_MATRIX_EXTENSIONS = frozenset(
    {
        "SPV_KHR_cooperative_matrix",
        matrix_calls.MAINTENANCE,
        joint_matrix.EXTENSION,
        *floats_as_integers.EXTENSIONS,
    }
)
_DEBUG_SETS = ("OpenCL.DebugInfo.", "NonSemantic.")
_DECORATES = frozenset({OP["OpDecorate"], OP["OpDecorateId"], OP["OpDecorateString"]})
_OF_GROUPS = frozenset(number for name, number in OP.items() if name.startswith("OpGroup"))
_CHANGES: Mapping[int, Change] = {**values.CHANGES, **operations.CHANGES}


@dataclass(slots=True)
class Prepared:
    """A lowered module that `link` completes; `library_functions` has the called functions of each target by name."""

    module: Module
    sections: dict[Section, list[Instruction]]
    globals: ModuleGlobals
    replaced: dict[int, Instruction]
    dropped: set[int]
    functions: list[Code]
    library_functions: dict[Target, dict[str, LibraryFunction]]
    kernels: tuple[KernelInfo, ...]
    # Whether nothing was lowered: the module is returned as it was.
    unchanged: bool = False
    # (code, message, kernel name or "") of each warning.
    notes: list[tuple[str, str, str]] = field(default_factory=list)


class ModuleLowering:
    """The lowering of a module.

    size_option: the size of subgroups for kernels that do not require one.
    spellings: kernel name -> the OpenCL C types of its parameters.
    without_small_floats: whether small floats become integers in modules without matrices, too.
    """

    def __init__(
        self,
        module: Module,
        route: LoweredRoute,
        sub_group_size: int | None,
        spellings: Mapping[str, list[str]],
        without_small_floats: bool,
    ) -> None:
        self.module, self._bound = module, module.bound
        self.route, self.size_option, self._spellings = route, sub_group_size, spellings
        self.sections, functions = split(module.instructions)
        self.small_floats = floats_as_integers.Replaced()
        if without_small_floats or any(item.opcode == MATRIX for item in self.sections[Section.GLOBAL]):
            self.small_floats = floats_as_integers.replace(module, self.sections, functions)
        code = [*self.sections[Section.GLOBAL], *(item for body in functions for item in body)]
        self.definitions = {i.result: i for i in (*self.sections[Section.IMPORT], *code) if i.result is not None}
        self.globals = ModuleGlobals(module, self.sections[Section.GLOBAL], self.definitions)
        self.types = Types(self.globals)
        self.types.read_matrices(self.small_floats.matrices)
        self.functions = {code[0].result or 0: code for code in functions}
        self.has_matrices = bool(self.types.matrices)
        self.library_functions: dict[Target, dict[str, LibraryFunction]] = {}
        self._of_subgroups, self._of_work_groups = map(self._users_of, (False, True))
        self._users = self._of_subgroups | self._of_work_groups
        has_subgroups = any(not matrix.of_work_group for matrix in self.types.matrices.values())
        self.replaces_subgroups = self.route.replaces_builtins(has_subgroups)
        self.changes = {**_CHANGES, **subgroups.CHANGES} if self.replaces_subgroups else _CHANGES
        # Whether anything is lowered.
        self.touched = self.has_matrices or self.small_floats.any
        # Ids that denote something else after the lowering; those of these ids that have no definition any more.
        self.rewritten: set[int] = set()
        self.undefined: set[int] = set()
        self.constants = self._matrix_constants()
        self.debug_sets = self._debug_sets()
        self.subgroup_variables = self._subgroup_variables() if self.replaces_subgroups else {}
        # Ids that only instructions with a lowering may refer to.
        self.hidden = self.constants | self.subgroup_variables.keys()
        self.conversions = self._conversions()
        self.transposed = self._decorated(matrix_calls.TRANSPOSE)
        # function that is an operand -> its name in the library
        self._operands: dict[int, str] = {}
        self.functions_of_maps: list[Code] = []
        self._versions: dict[tuple[int, Target], int] = {}
        self._versioned: set[int] = set()
        self._waiting: deque[tuple[int, Target]] = deque()
        # The targets of kernels that use matrices of a work-group, and that state the group's size.
        self.of_work_groups: set[Target] = set()
        self.kernels = self._kernels()
        enlarge_tiles(self.kernels, self.functions, self.sections, self.globals)
        self._entry_points = {kernel.function for kernel in self.kernels}

    def _users_of(self, of_work_group: bool) -> set[int]:
        """Return the functions that use matrices of work-group scope, or else of subgroup scope."""
        kinds = {type_id for type_id, matrix in self.types.matrices.items() if matrix.of_work_group == of_work_group}
        return users_of_matrices(self.functions, self.types, kinds)

    def new_id(self) -> int:
        return self.module.new_id()

    def run(self) -> Prepared:
        for kernel in self.kernels:
            assert kernel.target is not None
            self.version(kernel.function, kernel.target)
        lowered = self._lower_waiting()
        # Functions that no kernel calls are lowered, too: they may be exported.
        for function in self.functions:
            if function not in self._versioned:
                self.version(function, self._target(None))
        lowered += self._lower_waiting()
        callers = _callers_of_the_library(lowered)
        for kernel in self.kernels:
            kernel.uses_library = kernel.function in callers
        read_tiles(self.kernels, self.functions, self.sections, self.globals)
        kernels = describe(self.kernels, self.functions, self.sections, self.types, self._spellings)
        sizes = [target.sub_group_size for function, target in self._versions if function in self._of_subgroups]
        size = min(sizes, default=self.route.tuning.sub_group_size)
        items = min((target.work_items for target in self.of_work_groups), default=1)
        replaced = {item.result or 0: item for item in self.types.storage(self.route, size, items)}
        self._finish(lowered)
        notes = self._notes()
        return Prepared(
            self.module,
            self.sections,
            self.globals,
            replaced,
            self.hidden,
            lowered,
            self.library_functions,
            kernels,
            not self.touched,
            notes,
        )

    def _notes(self) -> list[tuple[str, str, str]]:
        """Return the warnings about specialisation constants that keep defaults, and about changed subgroup sizes."""
        decorated = {
            i.operands[0]: i.operands[2]
            for i in self.sections[Section.ANNOTATION]
            if i.opcode == OP["OpDecorate"] and i.operands[1] == _SPEC_ID
        }
        numbers = sorted(decorated[c] for c in self.types.constants.specialised if c in decorated)
        notes = []
        if numbers:
            ids = ", ".join(map(str, numbers))
            message = f"specialisation constants (SpecId {ids}) of shapes and layouts of matrices keep their defaults"
            notes.append(("spirv-specialisation", message, ""))
        for kernel in self.kernels:
            if self.route.has_one_work_item and kernel.uses_matrices and kernel.required_size not in (None, 1):
                message = self.route.about_other_size(kernel.name, kernel.required_size, 1)
                notes.append(("sub-group-size", message, kernel.name))
            if kernel.local_size is None and kernel.most_staged is not None and kernel.most_staged < MAX_WORK_ITEMS:
                message = f"kernel '{kernel.name}' has local memory for work-groups of {kernel.most_staged} work-items"
                notes.append(("sub-group-size", f"{message}; reqd_work_group_size makes room for more", kernel.name))
        return notes

    # --- functions -------------------------------------------------------------------------------

    def version(self, function: int, target: Target) -> int:
        """Return the id of the version of a function for kernels of a target; the first version keeps the id."""
        if not self.uses_matrices(function) and not self.replaces_subgroups:
            # All versions would be equal.
            target = self._target(None)
        version_id = self._versions.get((function, target))
        if version_id is None:
            version_id = self._versions[function, target] = self.new_id() if function in self._versioned else function
            self._versioned.add(function)
            self._waiting.append((function, target))
        return version_id

    def _lower_waiting(self) -> list[Code]:
        result: list[Code] = []
        while self._waiting:
            function, target = self._waiting.popleft()
            code = self.functions.get(function)
            if code is None:
                raise Refused("spirv-invalid", f"%{function} is called, and is no function")
            version = self._versions[function, target]
            if version != function:
                code = self._renamed(code, version)
            if not any(item.opcode == _LABEL for item in code):
                self._check_import(code)
                result.append([*code])
            else:
                result.append(self._lowered(code, target))
            result += self.functions_of_maps
            self.functions_of_maps = []
        return result

    def _lowered(self, code: list[Instruction], target: Target) -> Code:
        try:
            return FunctionLowering(self, code, target).run()
        except Refused as error:
            raise Refused(error.code, error.message, self._name(code[0].result)) from None

    def _name(self, function: int | None) -> str:
        """Return the name of a function, as a kernel or by OpName; empty if there is none."""
        kernels = (kernel.name for kernel in self.kernels if kernel.function == function)
        about = (i for i in self.sections[Section.NAME] if i.name == "OpName" and i.operands[0] == function)
        return next(kernels, "") or next((decode_string(i.operands[1:])[0] for i in about), "")

    def _check_import(self, code: list[Instruction]) -> None:
        kind = self.definitions[code[0].operands[1]]
        if any(map(self.types.carries, kind.operands)):
            raise unsupported(code[0], "a function that is imported cannot have matrices as parameters or result")

    def _renamed(self, code: list[Instruction], version: int) -> list[Instruction]:
        """Return a copy of a function under new ids, with the facts about its old ids."""
        names = {item.result: self.new_id() for item in code if item.result is not None}
        names[code[0].result or 0] = version
        copy = []
        for item in code:
            ids = set(id_positions(item, self.definitions))
            operands = tuple(names.get(w, w) if n in ids else w for n, w in enumerate(item.operands))
            result = None if item.result is None else names[item.result]
            copy.append(Instruction(item.opcode, operands, item.result_type, result))
        for item in copy:
            if item.result is not None:
                self.definitions[item.result] = item
        self.conversions |= {names[old]: how for old, how in self.conversions.items() if old in names}
        self.transposed |= {names[old] for old in self.transposed if old in names}
        return copy

    def uses_matrices(self, function: int) -> bool:
        return function in self._users

    def operand(self, function: int, component: ComponentType, target: Target) -> tuple[str, int]:
        """Return the name in the library of a function that is an operand, and the id of its version.

        The name consists of a number and the component type. Modules whose functions have equal names share the
        compiled library functions, which requires equal types.
        """
        name = self._operands.setdefault(function, f"cm_operand_{len(self._operands)}_{component}")
        return name, self.version(function, target)

    def is_kernel(self, function: int) -> bool:
        return function in self._entry_points

    # --- kernels ---------------------------------------------------------------------------------

    def _kernels(self) -> list[Kernel]:
        kernels = read_kernels(self.sections, self.types.constants, self._of_subgroups)
        for kernel in kernels:
            try:
                kernel.target = self._target(kernel)
                if kernel.function in self._of_work_groups:
                    self._of_work_group(kernel, kernel.target)
            except Refused as error:
                raise Refused(error.code, error.message, kernel.name) from None
            kind = self.definitions[self.definitions[kernel.function].operands[1]]
            if any(map(self.types.carries, kind.operands)):
                raise Refused("spirv-operation", f"kernel '{kernel.name}' has a matrix as a parameter", kernel.name)
        return kernels

    def _of_work_group(self, kernel: Kernel, target: Target) -> None:
        """Set the target of a kernel with matrices of work-group scope. Raise Refused if the group size is unknown."""
        if not kernel.work_items:
            message = (
                f"kernel '{kernel.name}' has matrices of scope workgroup, and does not say how large its work-groups "
                "are (reqd_work_group_size)"
            )
            raise Refused("spirv-not-supported", message)
        kernel.of_work_group, kernel.target = True, replace(target, work_items=kernel.work_items)
        self.of_work_groups.add(kernel.target)

    def _target(self, kernel: Kernel | None) -> Target:
        size = kernel.required_size if kernel is not None else None
        is_settled = self.route.has_one_work_item or not size or self.size_option in (None, size)
        if kernel is not None and kernel.uses_matrices and not is_settled:
            message = self.route.about_other_size(kernel.name, size, self.size_option)
            raise Refused("spirv-not-supported", message)
        return self.route.target(size or self.size_option, kernel.work_items if kernel is not None else None)

    # --- global definitions ----------------------------------------------------------------------

    def _matrix_constants(self) -> set[int]:
        items = self.globals.items
        return {i.result or 0 for i in items if i.result_type is not None and self.types.carries(i.result_type)}

    def _debug_sets(self) -> set[int | None]:
        imports = self.sections[Section.IMPORT]
        return {i.result for i in imports if decode_string(i.operands)[0].startswith(_DEBUG_SETS)}

    def _decorated(self, decoration: int) -> set[int]:
        """Return the ids that have this decoration."""
        return {
            item.operands[0]
            for item in self.sections[Section.ANNOTATION]
            if item.opcode == OP["OpDecorate"] and item.operands[1] == decoration
        }

    def _conversions(self) -> dict[int, tuple[int | None, bool]]:
        """Return id -> (rounding mode, whether saturated), for the results of conversions with such decorations."""
        conversions: dict[int, tuple[int | None, bool]] = {}
        for item in self.sections[Section.ANNOTATION]:
            if item.opcode == OP["OpDecorate"] and item.operands[1] in _CONVERSION_MODES:
                mode, saturates = conversions.get(item.operands[0], (None, False))
                if item.operands[1] == matrix_calls.ROUNDING_MODE:
                    mode = item.operands[2]
                else:
                    saturates = True
                conversions[item.operands[0]] = (mode, saturates)
        return conversions

    def _subgroup_variables(self) -> dict[int, str]:
        """Return built-in variable of the device's subgroups -> name of the library's builtin that replaces it."""
        return {
            item.operands[0]: subgroups.BUILT_INS[item.operands[2]]
            for item in self.sections[Section.ANNOTATION]
            if item.opcode == OP["OpDecorate"]
            and item.operands[1] == _BUILT_IN
            and item.operands[2] in subgroups.BUILT_INS
        }

    def _finish(self, lowered: list[Code]) -> None:
        sections = self.sections
        if not self.touched:
            self.module.bound = self._bound
            return
        capabilities, extensions = set(_MATRIX_CAPABILITIES), set(_MATRIX_EXTENSIONS)
        if self.replaces_subgroups:
            capabilities |= subgroups.CAPABILITIES
            extensions |= subgroups.EXTENSIONS
            if not any(
                isinstance(item, Instruction) and item.opcode in _OF_GROUPS for code in lowered for item in code
            ):
                capabilities |= _OF_GROUPS_ONLY
                extensions.add("SPV_KHR_uniform_group_instructions")
        sections[Section.CAPABILITY] = [i for i in sections[Section.CAPABILITY] if i.operands[0] not in capabilities]
        sections[Section.EXTENSION] = [
            i for i in sections[Section.EXTENSION] if decode_string(i.operands)[0] not in extensions
        ]
        dead = self.undefined | self.hidden | self.types.matrices.keys()
        sections[Section.NAME] = [i for i in sections[Section.NAME] if i.operands[0] not in dead]
        changed = self.rewritten | self.hidden
        sections[Section.ANNOTATION] = [
            annotation for i in sections[Section.ANNOTATION] if (annotation := self._annotation(i, changed)) is not None
        ]
        for n, item in enumerate(sections[Section.ENTRY_POINT]):
            head, interface = entry_point(item)
            interface = tuple(variable for variable in interface if variable not in self.subgroup_variables)
            sections[Section.ENTRY_POINT][n] = Instruction(item.opcode, head + interface)
        self._state_sizes()

    def _annotation(self, item: Instruction, changed: set[int]) -> Instruction | None:
        """Return an annotation without targets that the lowering changed; None if its only target is such."""
        if item.opcode in _DECORATES:
            exported = item.operands[1] == _LINKAGE_ATTRIBUTES and self._carries(item.operands[0])
            return None if item.operands[0] in changed or exported else item
        if item.opcode == OP["OpGroupDecorate"]:
            group, *targets = item.operands
            return Instruction(item.opcode, (group, *(t for t in targets if t not in changed)))
        return item

    def _carries(self, function: int) -> bool:
        """Return whether the lowering changes the type of a function."""
        if function not in self.functions:
            return False
        kind = self.definitions[self.definitions[function].operands[1]]
        return any(map(self.types.carries, kind.operands))

    def _state_sizes(self) -> None:
        """Add the subgroup size as an execution mode to kernels with matrices that require no size.

        If the lowering replaces the device's subgroups, remove all execution modes of subgroups instead.
        """
        modes = self.sections[Section.EXECUTION_MODE]
        users = {kernel.function: kernel for kernel in self.kernels if kernel.uses_matrices}
        if self.replaces_subgroups:
            modes[:] = [i for i in modes if i.operands[1] not in subgroups.EXECUTION_MODES]
            return
        for kernel in users.values():
            if kernel.required_size is None and kernel.target is not None:
                size = kernel.target.sub_group_size
                modes.append(Instruction(_EXECUTION_MODE, (kernel.function, SUBGROUP_SIZE, size)))
        capability = Instruction(OP["OpCapability"], (_SUBGROUP_DISPATCH,))
        if users and capability not in self.sections[Section.CAPABILITY]:
            self.sections[Section.CAPABILITY].append(capability)


def _callers_of_the_library(functions: list[Code]) -> set[int]:
    """Return the functions that call library functions, and their direct and indirect callers."""
    by_id: dict[int, Code] = {}
    for code in functions:
        head = code[0]
        assert isinstance(head, Instruction)
        by_id[head.result or 0] = code
    callers = (id_ for id_, code in by_id.items() if any(isinstance(item, LibraryCall) for item in code))
    return with_callers(callers, by_id)


def kernels_of(module: Module, spellings: Mapping[str, list[str]] = MappingProxyType({})) -> tuple[KernelInfo, ...]:
    """Return the descriptions of a module's kernels; the module is unchanged.

    `spellings` maps a kernel's name to the OpenCL C types of its parameters.
    """
    sections, code = split(module.instructions)
    globals_ = ModuleGlobals(module, sections[Section.GLOBAL], module.definitions())
    types = Types(globals_)
    functions = {items[0].result or 0: items for items in code}
    users = users_of_matrices(functions, types, {i.result or 0 for i in types.globals.items if i.opcode == MATRIX})
    kernels = read_kernels(sections, types.constants, users)
    read_tiles(kernels, functions, sections, globals_)
    return describe(kernels, functions, sections, types, spellings)


def check_memory_model(module: Module) -> None:
    """Raise Refused unless the module's memory model is OpenCL with 64-bit addresses."""
    model = next((item for item in module.instructions if item.opcode == OP["OpMemoryModel"]), None)
    if model is None:
        raise Refused("spirv-invalid", "the module has no memory model")
    if model.operands != _MEMORY_MODEL:
        raise Refused("spirv-not-supported", "only modules of the memory model Physical64 OpenCL are lowered")
