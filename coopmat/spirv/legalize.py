"""Replacement of placeholder calls in the backend's output by real instructions, and checks of the result.

LLVM's SPIR-V backend leaves some operations as calls of imported functions. The IR names them
- `_Z<length>__spirv_<Instruction><tag>` for the rows of `PLACEHOLDERS`. `<length>` is that of `__spirv_<Instruction>`.
  The tag is arbitrary, and distinguishes declarations of different types. Literals are constant i32.
- `T __cm_get_<tag>(ptr, int)` and `void __cm_set_<tag>(ptr, int, T)` for access to a component of a matrix in memory.
  The pointer is to a variable, a parameter, or an element or member of these.
- `__cm_async_copy_<tag>` with the operands of OpGroupAsyncCopy and a value of the element's type; `__cm_null_event()`,
  the null constant.
- `int __cm_printf_<tag>(format, ...)`, OpenCL.std's printf.
- conversions and coordinates of matrices: see `matrix_calls`.
An exported function `coopmat.keeps.NAME` uses a variable that the backend would drop otherwise. Names of shared
functions and variables that LLVM may know have the prefix `user.`. The memory operands of a load or store aligned to n
bytes are one i32, `mask | log2(n) << 24`: the backend would lose the alignment.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from coopmat.diagnostics import InternalError
from coopmat.matrices.placeholders import ASYNC_COPY, NULL_EVENT, PRINTF, MatrixCall, demangle_instruction
from coopmat.spirv import capabilities, checks, matrix_calls, pointees
from coopmat.spirv.module import (
    ENUM,
    OP,
    OPCODES,
    Instruction,
    MalformedModule,
    Module,
    decode_string,
    encode_string,
    id_positions,
    instruction,
    numbers,
)

_IMPORT = ENUM["LinkageType.Import"]
_KEEPS, _PREFIX = "coopmat.keeps.", "user."
_LINKAGE_ATTRIBUTES, _BUILT_IN, _ALIGNMENT = numbers("Decoration.*", "LinkageAttributes BuiltIn Alignment")
_LINKAGE_CAPABILITY, _IMAGE_BASIC, *_IMAGE_CAPABILITIES = numbers(
    "Capability.*",
    "Linkage ImageBasic ImageReadWrite ImageMipmap LiteralSampler Sampled1D Image1D SampledBuffer ImageBuffer",
)
_IMAGE_TYPES = frozenset(numbers("OpType*", "Image Sampler"))
_ALIGNED = ENUM["MemoryAccess.Aligned"]
_ALIGNMENT_SHIFT, _ALIGNMENT_128 = 24, 0xFFFFFF80
_MATRIX, _MULTIPLY_ADD = numbers("Op*KHR", "TypeCooperativeMatrix CooperativeMatrixMulAdd")
_CALL, _BITCAST, _DECORATE, _POINTER = numbers("Op*", "FunctionCall Bitcast Decorate TypePointer")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A call that becomes `Op<name>` with the same operands.

    literals_from: the index of the first operand that is a literal; None if there is none.
    instruction: the instruction's name, if it differs from the placeholder's.
    mask: (index, bits) of a mask of image operands to insert among the operands.
    """

    name: str
    literals_from: int | None = None
    instruction: str | None = None
    mask: tuple[int, int] | None = None


PLACEHOLDERS = {
    row.name: row
    for row in (
        *map(Placeholder, ("FAdd", "FSub", "FMul", "FDiv", "FNegate")),
        *map(Placeholder, ("IAdd", "ISub", "IMul", "SDiv", "UDiv", "SNegate", "Bitcast")),
        Placeholder("CompositeExtract", literals_from=1),
        Placeholder("CompositeInsert", literals_from=2),
    )
}

_LOD, _SIGN_EXTEND, _ZERO_EXTEND = numbers("ImageOperands.*", "Lod SignExtend ZeroExtend")


def _image_placeholders(kind: str, mask: int) -> tuple[Placeholder, ...]:
    """Return the placeholder functions that become image instructions, for one kind of component.

    mask: the bits of the image operands, which the instruction has as a literal before these operands; 0 for none.
    """
    at = {"ImageRead": 2, "ImageWrite": 3} if mask else {"ImageRead": 2}
    return (
        *(Placeholder(f"{name}{kind}", None, name, (place, mask) if mask else None) for name, place in at.items()),
        Placeholder(f"ImageSampleExplicitLod{kind}", None, "ImageSampleExplicitLod", (2, mask | _LOD)),
    )


IMAGE_PLACEHOLDERS = {
    row.name: row
    for row in (
        *map(Placeholder, ("ImageQueryFormat", "ImageQueryOrder")),
        *_image_placeholders("Half", 0),
        *_image_placeholders("Signed", _SIGN_EXTEND),
        *_image_placeholders("Unsigned", _ZERO_EXTEND),
    )
}


def legalize(
    spirv: bytes, imports: Collection[str] = (), avoid_faults: Callable[[Module], None] | None = None
) -> bytes:
    """Return the module with instructions instead of placeholders, and without imports other than `imports`.

    `avoid_faults` rewrites a module without matrices for the faults of devices' compilers (`coopmat.faults`). The
    linkage of BuiltIn variables is dropped, because their decoration suffices. Raise InternalError if a placeholder
    does not match its instruction, if another import is left (`check_imports`), or if `checks.lint` finds a fault.
    """
    try:
        module = Module.parse(spirv)
        _drop_keepers(module)
        _Legalizer(module).run()
        _mend_alignments(module)
        _add_image_capability(module)
        _drop_core_extensions(module)
        if avoid_faults is not None and not any(item.opcode == _MATRIX for item in module.instructions):
            avoid_faults(module)
        checks.write_out_zeros(module.instructions)
        capabilities.complete(module)
        check_imports(module, imports)
        _name_symbols(module)
        checks.lint(module)
        return module.to_bytes()
    except MalformedModule as error:
        raise InternalError("the SPIR-V backend made a malformed module", str(error)) from error


def _drop_keepers(module: Module) -> None:
    """Drop the functions that only keep variables in the module."""
    keepers = {item.operands[0] for item, name in _linkages(module) if name.startswith(_KEEPS)}
    if keepers:
        module.instructions = list(_without_functions(module.instructions, keepers))


def _name_symbols(module: Module) -> None:
    """Remove the prefix `user.` from the names of exported and imported functions and variables."""
    for item, name in list(_linkages(module)):
        if name.startswith(_PREFIX):
            words = encode_string(name.removeprefix(_PREFIX))
            own = instruction("OpDecorate", item.operands[0], _LINKAGE_ATTRIBUTES, *words, item.operands[-1])
            module.instructions[module.instructions.index(item)] = own


def _mend_alignments(module: Module) -> None:
    """Fix the alignment of variables: the backend stores the value in a signed byte, so that 128 becomes -128."""
    for index, item in enumerate(module.instructions):
        if item.opcode == _DECORATE and item.operands[1] == _ALIGNMENT:
            target, _, value = item.operands
            if value == _ALIGNMENT_128:
                module.instructions[index] = instruction("OpDecorate", target, _ALIGNMENT, 128)
            elif value == 0 or value & (value - 1):
                raise InternalError(f"the SPIR-V backend emitted the invalid alignment {value}")


# extension -> SPIR-V version that includes all of it, so that consumers of this version need not know the extension
_CORE_FROM = {"SPV_KHR_no_integer_wrap_decoration": 0x00010400}


def _drop_core_extensions(module: Module) -> None:
    def is_core(item: Instruction) -> bool:
        if item.opcode != OP["OpExtension"]:
            return False
        since = _CORE_FROM.get(decode_string(item.operands)[0])
        return since is not None and module.version >= since

    module.instructions = [item for item in module.instructions if not is_core(item)]


def _add_image_capability(module: Module) -> None:
    """Declare ImageBasic before the other image capabilities, as OpenCL requires; the backend often omits it."""
    code = module.instructions
    if any(item.opcode in _IMAGE_TYPES for item in code):
        basic = instruction("OpCapability", _IMAGE_BASIC)
        rest = [item for item in code if item != basic]
        first = next(n for n, item in enumerate(rest) if item.opcode != OP["OpCapability"] or _is_of_images(item))
        module.instructions = [*rest[:first], basic, *rest[first:]]


def _is_of_images(capability: Instruction) -> bool:
    return capability.operands[0] in _IMAGE_CAPABILITIES


# --- imports -------------------------------------------------------------------------------------


def _imports(module: Module) -> Iterator[tuple[Instruction, str]]:
    """Yield the decorations that import a function or variable, each with the imported name."""
    return ((item, name) for item, name in _linkages(module) if item.operands[-1] == _IMPORT)


def _linkages(module: Module) -> Iterator[tuple[Instruction, str]]:
    """Yield the decorations that import or export a function or variable, each with its name."""
    for item in module.instructions:
        if item.opcode == _DECORATE and item.operands[1] == _LINKAGE_ATTRIBUTES:
            yield item, decode_string(item.operands[2:])[0]
        elif item.opcode == OP["OpFunction"]:
            return


def _functions(module: Module) -> dict[str, int]:
    """Return name -> id of the module's functions."""
    ids = {item.result for item in module.instructions if item.opcode == OP["OpFunction"]}
    names = (item.operands for item in module.instructions if item.opcode == OP["OpName"])
    return {decode_string(words[1:])[0]: words[0] for words in names if words[0] in ids}


def _built_ins(module: Module) -> set[int]:
    """Return the ids of the variables with the decoration BuiltIn."""
    return {i.operands[0] for i in module.instructions if i.opcode == _DECORATE and i.operands[1] == _BUILT_IN}


def check_imports(module: Module, imports: Collection[str] = ()) -> None:
    """Raise InternalError for a misspelt builtin: an import that is no BuiltIn variable and not in `imports`."""
    built_ins = _built_ins(module)
    names = sorted({name for item, name in _imports(module) if item.operands[0] not in built_ins}.difference(imports))
    if names:
        raise InternalError(f"the SPIR-V module imports what no device has: {', '.join(names)}")


# --- rewriting -----------------------------------------------------------------------------------

_PRINTF_NUMBER = ENUM["OpenCL.std.printf"]


def _operation(name: str) -> Placeholder | None:
    """Return the row of a placeholder by its mangled name; return None for other names."""
    word, _ = demangle_instruction(name) or ("", "")
    return PLACEHOLDERS.get(word) or IMAGE_PLACEHOLDERS.get(word)


class _Legalizer:
    def __init__(self, module: Module) -> None:
        self.module = module
        self.definitions = module.definitions()
        self.pointers = {
            (i.operands[0], i.operands[1]): i.result for i in module.instructions if i.opcode == _POINTER and i.result
        }
        self.new_globals: list[Instruction] = []
        self.additions = matrix_calls.Additions()
        self.passed: set[int] = set()

    def run(self) -> None:
        rewriters = self.rewriters()
        built_ins = _built_ins(self.module)
        dropped = [item for item, _ in _imports(self.module) if item.operands[0] in built_ins]
        code = _without(self.module.instructions, dropped)
        if rewriters:
            code = list(_without_functions(code, set(rewriters)))
        opencl = pointees.instruction_set(self.module)
        result: list[Instruction] = []
        for item in code:
            if item.opcode == _CALL and item.operands[0] in rewriters:
                result += rewriters[item.operands[0]](item)
            elif item.opcode == pointees.EXT_INST and item.operands[0] == opencl:
                result += self.vector_data(item)
            elif item.opcode in pointees.POINTER_AT:
                pointee = pointees.pointee(item, self.definitions)
                result += self.through_pointer_to(pointee, item, pointees.POINTER_AT[item.opcode])
            else:
                item = self.without_signs(item) if item.opcode == _MULTIPLY_ADD else item
                result.append(_memory_operands(item) if item.opcode in checks.STRIDE_AT else item)
        result = self.without_dead_bitcasts(result)
        first = next((n for n, item in enumerate(result) if item.opcode == OP["OpFunction"]), len(result))
        result[first:first] = self.new_globals
        self.module.instructions = _without_linkage(result)
        matrix_calls.add(self.module, self.additions)

    def without_signs(self, item: Instruction) -> Instruction:
        """Drop the mask of a multiply-add of floating point: its bits for sign and saturation are only for integers."""
        component = self.definitions[self.definitions[item.result_type or 0].operands[0]]
        if component.opcode == OP["OpTypeInt"]:
            return item
        return Instruction(item.opcode, item.operands[:3], item.result_type, item.result)

    def rewriters(self) -> dict[int, Callable[[Instruction], list[Instruction]]]:
        """Return id of a placeholder -> function that rewrites its calls."""
        by_id: dict[int, Callable[[Instruction], list[Instruction]]] = {}
        functions = _functions(self.module)
        for item, name in _imports(self.module):
            row, call = _operation(name), MatrixCall.read(name)
            of_matrix = matrix_calls.rewriter(call, self.additions, functions, self.cast_arguments) if call else None
            if of_matrix is not None:
                by_id[item.operands[0]] = of_matrix
            elif row is not None:
                by_id[item.operands[0]] = partial(self.operation, row)
            elif name == NULL_EVENT:
                by_id[item.operands[0]] = self.null_event
            elif name.startswith(ASYNC_COPY):
                by_id[item.operands[0]] = self.async_copy
            elif name.startswith(PRINTF):
                by_id[item.operands[0]] = self.printf
            elif call is not None and call.word in ("get", "set"):
                by_id[item.operands[0]] = self.get if call.word == "get" else self.set
        return by_id

    def cast_arguments(self, function: int, first: int, values: Sequence[int]) -> tuple[list[Instruction], list[int]]:
        """Return casts of `values` to the types of `function`'s parameters from `first` on, and the arguments.

        LLVM may give the same pointer different pointee types.
        """
        casts, arguments = [], []
        parameters = self.definitions[self.definitions[function].operands[1]].operands[1:]
        for value, type_id in zip(values, parameters[first:], strict=True):
            old = self.definitions[value].result_type
            if type_id != old and self.definitions[type_id].opcode == _POINTER:
                casts.append(Instruction(_BITCAST, (value,), type_id, self.module.new_id()))
                value = casts[-1].result or 0
            arguments.append(value)
        return casts, arguments

    def operation(self, row: Placeholder, call: Instruction) -> list[Instruction]:
        """Rewrite a call to the instruction of its row."""
        arguments = call.operands[1:]
        at = len(arguments) if row.literals_from is None else row.literals_from
        literals = tuple(self.constant(i, f"{row.name} of a cooperative matrix") for i in arguments[at:])
        operands = arguments[:at] + literals
        if row.mask is not None:
            place, mask = row.mask
            operands = (*operands[:place], mask, *operands[place:])
        opcode = OPCODES[OP["Op" + (row.instruction or row.name)]]
        # A call always has a result, but the instruction may have none.
        result = (call.result_type, call.result) if opcode.has_result else (None, None)
        result_item = Instruction(opcode.number, operands, *result)
        id_positions(result_item, self.definitions)  # raises MalformedModule if the number of operands is wrong
        return [result_item]

    def constant(self, value: int, what: str) -> int:
        """Return the value of a constant, which becomes a literal; raise InternalError for other values."""
        definition = self.definitions[value]
        if definition.opcode == OP["OpConstant"]:
            return definition.operands[0]
        if definition.opcode == OP["OpConstantNull"]:
            return 0
        raise InternalError(f"{what} needs a constant index")

    def get(self, call: Instruction) -> list[Instruction]:
        _, pointer, index = call.operands
        chain, memory = self.component(pointer, index, call.result_type)
        return [chain, Instruction(OP["OpLoad"], (chain.result or 0, *memory), call.result_type, call.result)]

    def set(self, call: Instruction) -> list[Instruction]:
        _, pointer, index, value = call.operands
        chain, memory = self.component(pointer, index, self.definitions[value].result_type)
        return [chain, Instruction(OP["OpStore"], (chain.result or 0, value, *memory))]

    def vector_data(self, item: Instruction) -> list[Instruction]:
        """Rewrite a vector load or store of OpenCL.std so that its pointer has the required pointee type."""
        at = pointees.vector_pointer(item)
        if at is None:
            return [item]
        kind = pointees.vector_pointee(item, self.definitions)
        pointee = kind.result if kind is not None and kind.result is not None else self.add_global("OpTypeFloat", 16)
        return self.through_pointer_to(pointee, item, at)

    def through_pointer_to(self, target: int, item: Instruction, at: int) -> list[Instruction]:
        """Return `item` with operand `at` cast to a pointer to type `target`, after that cast; no cast if needless."""
        pointer = item.operands[at]
        if pointees.pointed_to(self.definitions, pointer).result == target:
            return [item]
        space = self.definitions[self.definitions[pointer].result_type or 0].operands[0]
        cast = Instruction(_BITCAST, (pointer,), self.pointer_type(space, target), self.module.new_id())
        operands = (*item.operands[:at], cast.result or 0, *item.operands[at + 1 :])
        return [cast, Instruction(item.opcode, operands, item.result_type, item.result)]

    def null_event(self, call: Instruction) -> list[Instruction]:
        """Add a null constant with the call's id to the module's globals; return no instructions for the call."""
        constant = Instruction(OP["OpConstantNull"], (), call.result_type, call.result)
        self.new_globals.append(constant)
        self.definitions[call.result or 0] = constant
        return []

    def printf(self, call: Instruction) -> list[Instruction]:
        opencl = pointees.instruction_set(self.module)
        if opencl is None:
            raise InternalError("the SPIR-V backend did not import OpenCL's instructions")
        operands = (opencl, _PRINTF_NUMBER, *call.operands[1:])
        return [Instruction(pointees.EXT_INST, operands, call.result_type, call.result)]

    def async_copy(self, call: Instruction) -> list[Instruction]:
        """Rewrite a call to OpGroupAsyncCopy; both pointers must point to the type of the last argument."""
        pointee = self.definitions[call.operands[-1]].result_type or 0
        copy = Instruction(OP["OpGroupAsyncCopy"], call.operands[1:-1], call.result_type, call.result)
        *casts, copy = self.through_pointer_to(pointee, copy, 1)
        return [*casts, *self.through_pointer_to(pointee, copy, 2)]

    def component(self, pointer: int, index: int, value_type: int | None) -> tuple[Instruction, tuple[int, int]]:
        """Return the access chain to a component of a matrix, and the memory operands of the access."""
        # Follow the bitcasts back to the matrix's declaration: the last pointer whose pointee contains a matrix.
        base: int | None = None
        at: int | None = pointer
        while at is not None:
            if self.first_leaf(at).opcode == _MATRIX:
                base = at
            definition = self.definitions[at]
            if definition.opcode == _BITCAST:
                self.passed.add(at)
            at = definition.operands[0] if definition.opcode == _BITCAST else None
        if base is None:
            raise InternalError("component access through a pointer that is not to a cooperative matrix")
        kind = pointees.pointed_to(self.definitions, base)
        depth = 0
        while kind.opcode != _MATRIX:
            kind, depth = self.definitions[kind.operands[0]], depth + 1
        component = kind.operands[0]
        if component != value_type:
            raise InternalError("component access with a type that is not the matrix's component type")
        space = self.definitions[self.definitions[base].result_type or 0].operands[0]
        zeros = (self.zero(),) * depth if depth else ()
        chain = Instruction(
            OP["OpAccessChain"], (base, *zeros, index), self.pointer_type(space, component), self.module.new_id()
        )
        return chain, (_ALIGNED, self.definitions[component].operands[0] // 8)

    def first_leaf(self, pointer: int) -> Instruction:
        return pointees.first_leaf(self.definitions, pointees.pointed_to(self.definitions, pointer))

    def pointer_type(self, space: int, pointee: int) -> int:
        if (space, pointee) not in self.pointers:
            self.pointers[space, pointee] = self.add_global("OpTypePointer", space, pointee)
        return self.pointers[space, pointee]

    def zero(self) -> int:
        """Return the id of a 32-bit 0; an existing constant is used, because no constant may be declared twice."""
        code = [*self.module.instructions, *self.new_globals]
        uint = next((i.result for i in code if i.opcode == OP["OpTypeInt"] and i.operands == (32, 0)), None)
        if uint is None:
            uint = self.add_global("OpTypeInt", 32, 0)
        null = next((i.result for i in code if i.opcode == OP["OpConstantNull"] and i.result_type == uint), None)
        return null if null is not None else self.add_global("OpConstantNull", result_type=uint)

    def add_global(self, name: str, *operands: int, result_type: int | None = None) -> int:
        result = self.module.new_id()
        item = Instruction(OP[name], operands, result_type, result)
        self.new_globals.append(item)
        self.definitions[result] = item
        return result

    def without_dead_bitcasts(self, code: list[Instruction]) -> list[Instruction]:
        """Drop the bitcasts that only component accesses used, from the end of each chain to its beginning."""
        while self.passed:
            used = {item.operands[at] for item in code for at in id_positions(item, self.definitions)}
            dead = {item.result for item in code if item.result in self.passed} - used
            if not dead:
                break
            code = [item for item in code if item.result not in dead]
        return code


def _without(code: Iterable[Instruction], dropped: list[Instruction]) -> list[Instruction]:
    ids = {id(item) for item in dropped}
    return [item for item in code if id(item) not in ids]


def _without_functions(code: list[Instruction], functions: set[int]) -> Iterator[Instruction]:
    """Yield `code` without `functions` and without the names and decorations of these and of their parameters."""
    ids = set(functions)
    inside = False
    for item in code:
        inside = item.result in functions if item.opcode == OP["OpFunction"] else inside
        if inside and item.result is not None:
            ids.add(item.result)
    inside = False
    for item in code:
        inside = item.result in functions if item.opcode == OP["OpFunction"] else inside
        is_about = item.opcode in (OP["OpName"], _DECORATE) and item.operands[0] in ids
        if not inside and not is_about:
            yield item
        inside = inside and item.opcode != OP["OpFunctionEnd"]


def _without_linkage(code: list[Instruction]) -> list[Instruction]:
    """Drop the capability Linkage if no decoration uses it; a module without entry points needs it regardless."""
    uses = any(i.opcode == _DECORATE and i.operands[1] == _LINKAGE_ATTRIBUTES for i in code)
    if uses or not any(i.opcode == OP["OpEntryPoint"] for i in code):
        return code
    return [i for i in code if not (i.opcode == OP["OpCapability"] and i.operands[0] == _LINKAGE_CAPABILITY)]


def _memory_operands(item: Instruction) -> Instruction:
    """Fix the memory operands of a matrix load or store.

    Of two arguments the backend drops the alignment and emits the mask as an id and again as a literal. The mask is
    kept without Aligned, which is only a hint. For an alignment that survives see the module's docstring.
    """
    at = checks.STRIDE_AT[item.opcode] + 1
    fixed, memory = item.operands[:at], item.operands[at:]
    if not memory:
        return item
    mask = memory[-1] & ~_ALIGNED if len(memory) > 1 else memory[0]
    log2, mask = mask >> _ALIGNMENT_SHIFT, mask & ((1 << _ALIGNMENT_SHIFT) - 1)
    new = (mask | _ALIGNED, 1 << log2) if log2 else (mask,) if mask else ()
    return Instruction(item.opcode, fixed + new, item.result_type, item.result)
