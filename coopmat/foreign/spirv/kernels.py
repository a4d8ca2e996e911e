"""The kernels of a module from any front end: their execution modes, and their descriptions for a host."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ...graphs import reaching
from ...ir import KernelInfo, KernelParameter
from ...matrices.lowering import Target
from ...spirv.module import ENUM, OP, Instruction, decode_string, numbers
from ...spirv.refusal import Refused, label
from ...spirv.sections import Section
from .constants import Constants
from .types import Types

SUBGROUP_SIZE, _LOCAL_SIZE, _LOCAL_SIZE_ID = numbers("ExecutionMode.*", "SubgroupSize LocalSize LocalSizeId")
_BY_VALUE = (ENUM["Decoration.FuncParamAttr"], ENUM["FunctionParameterAttribute.ByVal"])
_CALL, _DECORATE = OP["OpFunctionCall"], OP["OpDecorate"]
_POINTER, _VECTOR, _INT, _FLOAT, _BOOL = numbers("OpType*", "Pointer Vector Int Float Bool")
# storage class -> address space
_CLASSES = numbers("StorageClass.*", "UniformConstant Workgroup CrossWorkgroup Function Generic")
SPACES = dict(zip(_CLASSES, ("constant", "local", "global", "private", "generic"), strict=True))
_OPENCL_C = {(_INT, 8): "char", (_INT, 16): "short", (_INT, 32): "int", (_INT, 64): "long"}
_OPENCL_C |= {(_FLOAT, 16): "half", (_FLOAT, 32): "float", (_FLOAT, 64): "double"}
_UNSIGNED = {f"u{name}": name for name in ("char", "short", "int", "long")}
_ACCESS = ("read_only", "write_only", "read_write")
_DIMENSIONS = dict(
    zip(numbers("Dim.*", "1D 2D 3D Buffer"), ("image1d", "image2d", "image3d", "image1d_buffer"), strict=True)
)


@dataclass(slots=True)
class Kernel:
    """An entry point.

    function: the id of its function.
    required_size: the size of its subgroups, if it requires one.
    local_size: the sizes of its work-groups, if it states them.
    uses_matrices: whether it uses matrices, directly or in callees; in a lowered module, only those of subgroup scope.
    uses_library: whether it calls library functions, directly or indirectly.
    target: the target for which it is lowered.
    """

    function: int
    name: str
    required_size: int | None = None
    local_size: tuple[int, ...] | None = None
    uses_matrices: bool = False
    uses_library: bool = False
    # Whether the kernel uses matrices of work-group scope.
    of_work_group: bool = False
    target: Target | None = None
    # The most subgroups whose tiles, through which our own IR stages native matrices, fit into the variables.
    tiles: int | None = None

    @property
    def work_items(self) -> int | None:
        """The number of work-items in a work-group; None if the kernel does not state it."""
        return None if self.local_size is None else math.prod(self.local_size)

    @property
    def most_staged(self) -> int | None:
        """The most work-items whose subgroups all have tiles; None without tiles or if the subgroup size is unknown."""
        size = self.required_size
        if self.target is not None and (self.uses_matrices or self.uses_library):
            size = self.target.sub_group_size
        return None if self.tiles is None or size is None else self.tiles * size


def read_kernels(sections: Mapping[Section, list[Instruction]], constants: Constants, users: set[int]) -> list[Kernel]:
    """Return the kernels of a module; a function with several names is several kernels. Raise Refused.

    `users` are the functions that count as using matrices.
    """
    result: list[Kernel] = []
    for item in sections[Section.ENTRY_POINT]:
        function = item.operands[1]
        result.append(Kernel(function, decode_string(item.operands[2:])[0], uses_matrices=function in users))
    of_function: dict[int, list[Kernel]] = {}
    for kernel in result:
        of_function.setdefault(kernel.function, []).append(kernel)
    for item in sections[Section.EXECUTION_MODE]:
        function, mode, *numbers = item.operands
        kernels = of_function.get(function)
        if not kernels:
            raise Refused("spirv-invalid", f"{label(item)} names %{function}, which is no entry point")
        for kernel in kernels:
            if mode == SUBGROUP_SIZE and numbers:
                kernel.required_size = numbers[0]
            elif mode == _LOCAL_SIZE:
                kernel.local_size = tuple(numbers)
            elif mode == _LOCAL_SIZE_ID:
                kernel.local_size = tuple(map(constants.value, numbers))
    return result


def users_of_matrices(functions: Mapping[int, Iterable[Instruction]], types: Types, kinds: Collection[int]) -> set[int]:
    """Return the functions that use matrices of these types, and their direct and indirect callers."""
    users = {f for f, code in functions.items() if kinds and any(_concerns(item, types, kinds) for item in code)}
    return with_callers(users, functions)


def with_callers(callees: Iterable[int], functions: Mapping[int, Iterable[object]]) -> set[int]:
    """Return these functions and their direct and indirect callers; each call is visited once."""
    calls = {
        function: [item.operands[0] for item in code if isinstance(item, Instruction) and item.opcode == _CALL]
        for function, code in functions.items()
    }
    return reaching(callees, calls)


def _concerns(item: Instruction, types: Types, kinds: Collection[int]) -> bool:
    if item.name.startswith("OpCooperativeMatrixLength"):
        return item.operands[0] in kinds
    kind_id = item.result_type
    if item.name in ("OpStore", "OpCooperativeMatrixStoreKHR"):
        # The stored value may be a constant, which is not defined in the function.
        kind_id = types.definitions[item.operands[1]].result_type
    if kind_id is None:
        return False
    kind = types.definitions[kind_id]
    whole = kind.operands[1] if kind.opcode == _POINTER else kind.result
    return types.carries(whole) and any(part in kinds for part in types.matrices_in(whole))


# --- descriptions for a host -----------------------------------------------------------------------


def describe(
    kernels: Iterable[Kernel],
    functions: Mapping[int, list[Instruction]],
    sections: Mapping[Section, list[Instruction]],
    types: Types,
    spellings: Mapping[str, list[str]] = MappingProxyType({}),
) -> tuple[KernelInfo, ...]:
    """Return the descriptions of kernels, derived from types and names.

    `spellings` maps a kernel's name to the OpenCL C types of its parameters. Integers count as signed, unless
    `spellings` or a kernel_arg_type string of the module states their types.
    """
    names = {i.operands[0]: decode_string(i.operands[1:])[0] for i in sections[Section.NAME] if i.name == "OpName"}
    by_value = {
        i.operands[0] for i in sections[Section.ANNOTATION] if i.opcode == _DECORATE and i.operands[1:] == _BY_VALUE
    }
    spellings_of = {**_said_types(sections), **spellings}
    infos = []
    for kernel in kernels:
        heads = [i for i in functions.get(kernel.function, []) if i.opcode == OP["OpFunctionParameter"]]
        spelled = spellings_of.get(kernel.name, [])
        parameters = tuple(
            _parameter(
                types,
                names.get(i.result or 0, ""),
                i.result_type or 0,
                spelled[n] if len(spelled) == len(heads) else None,
                i.result in by_value,
            )
            for n, i in enumerate(heads)
        )
        size = kernel.local_size
        group = (size[0], size[1], size[2]) if size is not None and len(size) == 3 else None
        sub_group, most = _limits(kernel)
        uses = kernel.uses_matrices or kernel.of_work_group
        infos.append(KernelInfo(kernel.name, parameters, group, sub_group, uses, most))
    return tuple(infos)


def _limits(kernel: Kernel) -> tuple[int | None, int | None]:
    """Return the size of a kernel's subgroups, and the most work-items of its work-groups; None if unlimited."""
    target, size, most = kernel.target, kernel.required_size, None
    if target is not None and (kernel.uses_matrices or kernel.uses_library):
        size = target.sub_group_size
        most = target.most_work_items
    staged = kernel.most_staged
    return size, most if staged is None else min(staged, most or staged)


def _said_types(sections: Mapping[Section, list[Instruction]]) -> dict[str, list[str]]:
    """Return kernel -> OpenCL C types, which some front ends keep as `kernel_arg_type.<kernel>.<type>,<type>,`."""
    result = {}
    for item in sections[Section.SOURCE]:
        if item.name == "OpString":
            text = decode_string(item.operands)[0]
            if text.startswith("kernel_arg_type."):
                name, _, types = text.removeprefix("kernel_arg_type.").rpartition(".")
                result[name] = types.rstrip(",").split(",")
    return result


def _parameter(types: Types, name: str, type_id: int, source_spelling: str | None, by_value: bool) -> KernelParameter:
    item = types.definitions[type_id]
    if item.opcode == _POINTER and not by_value:
        spelling = source_spelling or f"{_spelling(types, item.operands[1])}*"
        space = SPACES.get(item.operands[0], "global")
        return KernelParameter(name, spelling, space, _scalar(spelling.rstrip("*")), True, 8)
    if item.name == "OpTypeImage":
        access = _ACCESS[item.operands[7]] if len(item.operands) > 7 and item.operands[7] < 3 else "read_only"
        array = "_array" if item.operands[3] else ""
        image = f"{_DIMENSIONS.get(item.operands[1], 'image2d')}{array}_t"
        return KernelParameter(name, source_spelling or image, "global", None, False, 8, access)
    if item.name == "OpTypeSampler":
        return KernelParameter(name, "sampler_t", "private", None, False, 8)
    spelling = source_spelling or ("struct" if by_value else _spelling(types, type_id))
    size = 0 if by_value else _size(types, type_id)
    return KernelParameter(name, spelling, "private", _scalar(spelling), False, size)


def _spelling(types: Types, type_id: int) -> str:
    item = types.definitions[type_id]
    if item.opcode == _VECTOR:
        return f"{_spelling(types, item.operands[0])}{item.operands[1]}"
    if item.opcode == _BOOL:
        return "bool"
    return _OPENCL_C.get((item.opcode, item.operands[0] if item.operands else 0), "void")


def _size(types: Types, type_id: int) -> int:
    item = types.definitions[type_id]
    return types.bits(type_id) // 8 if item.opcode in (_INT, _FLOAT, _VECTOR) else 0


def _scalar(spelling: str) -> str | None:
    base = spelling.strip().rstrip("0123456789")
    scalars = {*_OPENCL_C.values(), *_UNSIGNED, "bool", "size_t"}
    return base if base in scalars else None
