"""The declarations of a Vulkan module: capabilities, extensions, entry points and decorations.

They follow from the instructions that the other passes have left, as do the features that a device must have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...graphs import reachable
from ...spirv.matrix_calls import MAINTENANCE
from ...spirv.module import ENUM, OP, Instruction, decode_string, encode_string, numbers
from ...spirv.sections import Section
from .arithmetic import EXACT
from .code import operand_ids
from .context import Context
from .launch import Requirements
from .layout import PSB
from .matrices import MatrixRequirements

_INT, _FLOAT, _POINTER, _MATRIX = numbers("OpType*", "Int Float Pointer CooperativeMatrixKHR")
_VARIABLE, _EXTENSION, _CAPABILITY, _EXT_INST = OP["OpVariable"], OP["OpExtension"], OP["OpCapability"], OP["OpExtInst"]
_ADDRESSING, _MODEL = ENUM["AddressingModel.PhysicalStorageBuffer64"], ENUM["MemoryModel.Vulkan"]
_GL_COMPUTE, _LOCAL_SIZE_ID = ENUM["ExecutionModel.GLCompute"], ENUM["ExecutionMode.LocalSizeId"]
_WORKGROUP, _PUSH = ENUM["StorageClass.Workgroup"], ENUM["StorageClass.PushConstant"]
_VERSION = 0x00010600
_ONLY_OPENCL = re.compile(
    r"Op(Subgroup.*INTEL|Group(?!NonUniform)|.*Pipe|Enqueue|Build|GetKernel|.*Event|.*DefaultQueue|Sat|PtrCastToGeneric"
    r"|GenericCast|GenericPtr|CopyMemorySized|AtomicFlag|SizeOf|FunctionCall|ReadClock|.*INTEL$)"
)
_CONTRACTION_OFF, _FAST_MATH = ENUM["ExecutionMode.ContractionOff"], ENUM["Decoration.FPFastMathMode"]
_ADDED, _MULTIPLIED = frozenset(numbers("Op*", "FAdd FSub")), frozenset(numbers("Op*", "FMul MatrixTimesScalar"))
_CONTRACTED = _ADDED | _MULTIPLIED | {OP["OpFDiv"]}
_FAST = 0x10  # the bit of FPFastMathMode by which the order of operations may change
# Decorations that only OpenCL has.
_OPENCL_DECORATIONS = frozenset(
    numbers("Decoration.*", "Constant Alignment FuncParamAttr FPFastMathMode LinkageAttributes MaxByteOffset")
)
_ALWAYS = ("Shader", "VulkanMemoryModel", "VulkanMemoryModelDeviceScope", "PhysicalStorageBufferAddresses")
_OPENCL_CAPABILITIES = frozenset(
    numbers(
        "Capability.*",
        "Kernel Addresses Linkage Vector16 Float16Buffer GenericPointer SubgroupDispatch Groups Float16 Float64 Int8 "
        "Int16 Int64 Int64Atomics ImageBasic DeviceEnqueue Pipes FunctionPointersINTEL ImageReadWrite ImageMipmap "
        "LiteralSampler Sampled1D Image1D SampledBuffer ImageBuffer",
    )
)
_GROUP_CAPABILITIES = {
    **dict.fromkeys(("Elect",), "GroupNonUniform"),
    **dict.fromkeys(("All", "Any", "AllEqual"), "GroupNonUniformVote"),
    **dict.fromkeys(("Shuffle", "ShuffleXor"), "GroupNonUniformShuffle"),
    **dict.fromkeys(("ShuffleUp", "ShuffleDown"), "GroupNonUniformShuffleRelative"),
    "RotateKHR": "GroupNonUniformRotateKHR",
}
# A capability of maintenance1 -> that of SPV_NV_cooperative_matrix2, if the numbers differ.
_OF_NVIDIA = {ENUM["Capability.CooperativeMatrixConversionsEXT"]: ENUM["Capability.CooperativeMatrixConversionsNV"]}
# (Dim, whether the image is for storage) -> the capability that it needs.
_IMAGES = {
    (ENUM["Dim.1D"], False): "Sampled1D",
    (ENUM["Dim.1D"], True): "Image1D",
    (ENUM["Dim.Buffer"], False): "SampledBuffer",
    (ENUM["Dim.Buffer"], True): "ImageBuffer",
}
_OF_IMAGES = {
    OP["OpImageRead"]: "StorageImageReadWithoutFormat",
    OP["OpImageWrite"]: "StorageImageWriteWithoutFormat",
    OP["OpImageQuerySize"]: "ImageQuery",
    OP["OpImageQuerySizeLod"]: "ImageQuery",
}
_BALLOTS = ("Broadcast", "Ballot", "InverseBallot")
# Capability -> the feature that a host must enable, with the struct of Vulkan's headers that has it.
_FEATURES = {
    "VulkanMemoryModel": "VkPhysicalDeviceVulkan12Features.vulkanMemoryModel",
    "VulkanMemoryModelDeviceScope": "VkPhysicalDeviceVulkan12Features.vulkanMemoryModelDeviceScope",
    "PhysicalStorageBufferAddresses": "VkPhysicalDeviceVulkan12Features.bufferDeviceAddress",
    "Int8": "VkPhysicalDeviceVulkan12Features.shaderInt8",
    "Int16": "VkPhysicalDeviceFeatures.shaderInt16",
    "Int64": "VkPhysicalDeviceFeatures.shaderInt64",
    "Int64Atomics": "VkPhysicalDeviceVulkan12Features.shaderBufferInt64Atomics",
    "Float16": "VkPhysicalDeviceVulkan12Features.shaderFloat16",
    "Float64": "VkPhysicalDeviceFeatures.shaderFloat64",
    "StorageBuffer8BitAccess": "VkPhysicalDeviceVulkan12Features.storageBuffer8BitAccess",
    "StorageBuffer16BitAccess": "VkPhysicalDeviceVulkan11Features.storageBuffer16BitAccess",
    "StoragePushConstant8": "VkPhysicalDeviceVulkan12Features.storagePushConstant8",
    "StoragePushConstant16": "VkPhysicalDeviceVulkan11Features.storagePushConstant16",
    "VariablePointers": "VkPhysicalDeviceVulkan11Features.variablePointers",
    "VariablePointersStorageBuffer": "VkPhysicalDeviceVulkan11Features.variablePointersStorageBuffer",
    "CooperativeMatrixKHR": "VkPhysicalDeviceCooperativeMatrixFeaturesKHR.cooperativeMatrix",
    "CooperativeMatrixConversionsNV": "VkPhysicalDeviceCooperativeMatrix2FeaturesNV.cooperativeMatrixConversions",
    "CooperativeMatrixReductionsEXT": "VkPhysicalDeviceCooperativeMatrix2FeaturesNV.cooperativeMatrixReductions",
    "CooperativeMatrixPerElementOperationsEXT": "VkPhysicalDeviceCooperativeMatrix2FeaturesNV."
    "cooperativeMatrixPerElementOperations",
    "BFloat16TypeKHR": "VkPhysicalDeviceShaderBfloat16FeaturesKHR.shaderBFloat16Type",
    "BFloat16CooperativeMatrixKHR": "VkPhysicalDeviceShaderBfloat16FeaturesKHR.shaderBFloat16CooperativeMatrix",
    "Float8EXT": "VkPhysicalDeviceShaderFloat8FeaturesEXT.shaderFloat8",
    "Float8CooperativeMatrixEXT": "VkPhysicalDeviceShaderFloat8FeaturesEXT.shaderFloat8CooperativeMatrix",
    "GroupNonUniformRotateKHR": "VkPhysicalDeviceShaderSubgroupRotateFeaturesKHR.shaderSubgroupRotate",
    "StorageImageReadWithoutFormat": "VkPhysicalDeviceFeatures.shaderStorageImageReadWithoutFormat",
    "StorageImageWriteWithoutFormat": "VkPhysicalDeviceFeatures.shaderStorageImageWriteWithoutFormat",
}
_EXTENDED_TYPES = "VkPhysicalDeviceVulkan12Features.shaderSubgroupExtendedTypes"
_SHARED_ATOMICS = "VkPhysicalDeviceVulkan12Features.shaderSharedInt64Atomics"
# Atomic instruction of floats -> its part of the names of features.
_FLOAT_ATOMICS = {"OpAtomicFAddEXT": "Add", "OpAtomicFMinEXT": "MinMax", "OpAtomicFMaxEXT": "MinMax"}
# LocalSizeId, and full subgroups of a required size.
_ALWAYS_FEATURES = (
    "VkPhysicalDeviceVulkan13Features.maintenance4",
    "VkPhysicalDeviceVulkan13Features.subgroupSizeControl",
    "VkPhysicalDeviceVulkan13Features.computeFullSubgroups",
)
# Extension of SPIR-V -> extension of devices.
_DEVICE_EXTENSIONS = {
    "SPV_KHR_cooperative_matrix": "VK_KHR_cooperative_matrix",
    "SPV_NV_cooperative_matrix2": "VK_NV_cooperative_matrix2",
    "SPV_KHR_bfloat16": "VK_KHR_shader_bfloat16",
    "SPV_EXT_float8": "VK_EXT_shader_float8",
    "SPV_EXT_shader_atomic_float_add": "VK_EXT_shader_atomic_float",
    "SPV_EXT_shader_atomic_float16_add": "VK_EXT_shader_atomic_float2",
    "SPV_EXT_shader_atomic_float_min_max": "VK_EXT_shader_atomic_float2",
    "SPV_KHR_non_semantic_info": "VK_KHR_shader_non_semantic_info",
    "SPV_KHR_subgroup_rotate": "VK_KHR_shader_subgroup_rotate",
}
# Extensions that Vulkan 1.3 includes or has no use for.
_DROPPED_EXTENSIONS = frozenset({"SPV_KHR_no_integer_wrap_decoration", "SPV_KHR_float_controls"})


def declarations(context: Context) -> Requirements:
    """Write the declarations of the converted module, and return the requirements on a device."""
    declarations = _Declarations(context)
    declarations.check()
    declarations.drop_unused()
    extensions = declarations.write_extensions()
    capabilities = declarations.write_capabilities()
    declarations.write_entry_points()
    features = {_FEATURES[name] for name in capabilities if name in _FEATURES and name != "Int64Atomics"}
    features |= {*_ALWAYS_FEATURES, *declarations.further_features()}
    of_matrices = MatrixRequirements(context)
    return Requirements(
        tuple(sorted(_DEVICE_EXTENSIONS[name] for name in extensions if name in _DEVICE_EXTENSIONS)),
        tuple(sorted(features)),
        of_matrices.shapes(),
        of_matrices.products(),
    )


class _Declarations:
    def __init__(self, context: Context) -> None:
        self.context, self.parts = context, context.parts
        self.sections = context.parts.sections
        self.code = [item for body in self.parts.functions for item in body]

    def check(self) -> None:
        """Raise Refused for an instruction that only OpenCL has, and that no pass has replaced."""
        for item in self.code:
            if _ONLY_OPENCL.match(item.name):
                raise self.context.refused(f"the instruction {item.name}, which Vulkan lacks").of(item)

    def drop_unused(self) -> None:
        """Drop the types, constants and variables that no function uses, and names and decorations of missing ids."""
        definitions = self.parts.definitions
        starts = {word for item in self.code for word in (item.result_type, *operand_ids(self.parts, item)) if word}
        starts |= set(self.context.work_group_size)

        def made_of(id_: int) -> Iterable[int]:
            item = definitions.get(id_)
            return [] if item is None else [word for word in (item.result_type, *operand_ids(self.parts, item)) if word]

        used = reachable(starts, made_of)
        self.parts.globals.assign(item for item in self.parts.globals.items if item.result in used)
        sets = self.sections[Section.IMPORT]
        self.sections[Section.IMPORT] = [item for item in sets if item.result in used]
        self.mark_exact()
        known = {item.result for item in (*self.parts.globals.items, *self.code)}
        for section in (Section.NAME, Section.ANNOTATION):
            items = [item for item in self.sections[section] if item.operands[0] in known]
            self.sections[section] = [item for item in items if not self.is_of_opencl(item)]
        self.sections[Section.SOURCE] = [i for i in self.sections[Section.SOURCE] if i.opcode == OP["OpString"]]

    def mark_exact(self) -> None:
        """Decorate arithmetic that must not be contracted: by the source, or in the library of builtin functions."""
        modes = self.sections[Section.EXECUTION_MODE]
        strict = {item.operands[0] for item in modes if item.operands[1] == _CONTRACTION_OFF}
        decorations = self.parts.decorations()
        marked = {id_ for id_, rows in decorations.items() if EXACT in rows}
        fast = {id_ for id_, rows in decorations.items() if any(r[0] == _FAST_MATH and r[1] & _FAST for r in rows)}
        for body in self.parts.functions:
            exact = marked | _reorderable(body) - fast
            for item in body:
                if item.opcode in _CONTRACTED and (body[0].result in strict or item.result in exact):
                    self.parts.decorate(item.result or 0, [(ENUM["Decoration.NoContraction"],)])

    def is_of_opencl(self, item: Instruction) -> bool:
        return item.opcode == OP["OpDecorate"] and item.operands[1] in _OPENCL_DECORATIONS

    # --- extensions and capabilities

    def write_extensions(self) -> list[str]:
        names = [decode_string(item.operands)[0] for item in self.sections[Section.EXTENSION]]
        names = ["SPV_NV_cooperative_matrix2" if name == MAINTENANCE else name for name in names]
        names = [name for name in dict.fromkeys(names) if name not in _DROPPED_EXTENSIONS]
        self.sections[Section.EXTENSION] = [Instruction(_EXTENSION, tuple(encode_string(name))) for name in names]
        self.sections[Section.MEMORY_MODEL] = [Instruction(OP["OpMemoryModel"], (_ADDRESSING, _MODEL))]
        self.parts.module.version = _VERSION
        return names

    def write_capabilities(self) -> set[str]:
        own = {item.operands[0] for item in self.sections[Section.CAPABILITY]} - _OPENCL_CAPABILITIES
        own = {_OF_NVIDIA.get(number, number) for number in own}
        names = {name.removeprefix("Capability.") for name, n in ENUM.items() if n in own and name.startswith("Capab")}
        names = {name for name in names if ENUM[f"Capability.{name}"] in own}
        new = {*_ALWAYS, *self.of_types(), *self.of_storage(), *self.of_instructions()}
        found = own | {ENUM[f"Capability.{name}"] for name in new}
        self.sections[Section.CAPABILITY] = [Instruction(_CAPABILITY, (number,)) for number in sorted(found)]
        return names | new

    def of_types(self) -> set[str]:
        names = set()
        for item in self.parts.globals.items:
            if item.opcode == _INT and item.operands[0] != 32:
                names.add(f"Int{item.operands[0]}")
            elif item.opcode == _FLOAT and item.operands[0] in (16, 64) and len(item.operands) == 1:
                names.add(f"Float{item.operands[0]}")
            elif item.opcode == OP["OpTypeImage"]:
                names |= {name for key, name in _IMAGES.items() if key == (item.operands[1], item.operands[5] == 2)}
        return names

    def of_storage(self) -> set[str]:
        """Return the capabilities for accesses to scalars of 8 and 16 bits in memory that the host sees."""
        names = set()
        for item in self.parts.globals.items:
            if item.opcode == _POINTER and item.operands[0] in (PSB, _PUSH):
                for bits in self.scalar_bits(item.operands[1]) & {8, 16}:
                    to_host = f"StoragePushConstant{bits}"
                    names.add(f"StorageBuffer{bits}BitAccess" if item.operands[0] == PSB else to_host)
        return names

    def scalar_bits(self, type_id: int) -> set[int]:
        """Return the widths of the scalars in a type; those behind pointers do not count."""
        item = self.parts.definitions[type_id]
        if item.opcode in (_INT, _FLOAT):
            return {item.operands[0]}
        members = item.operands if item.opcode == OP["OpTypeStruct"] else item.operands[:1]
        is_aggregate = item.opcode in numbers("OpType*", "Struct Array RuntimeArray Vector")
        return set().union(*map(self.scalar_bits, members)) if is_aggregate else set()

    def of_instructions(self) -> set[str]:
        names = set()
        for item in self.code:
            if item.name.startswith("OpGroupNonUniform"):
                names |= {"GroupNonUniform", _group_capability(item.name.removeprefix("OpGroupNonUniform"))}
            elif item.name.startswith("OpAtomic"):
                names |= self.of_atomic(item)
            elif item.opcode in _OF_IMAGES:
                names.add(_OF_IMAGES[item.opcode])
            elif item.result_type and self.is_variable_pointer(item):
                names |= {"VariablePointers", "VariablePointersStorageBuffer"}
        annotations = self.sections[Section.ANNOTATION]
        builtins = {item.operands[2] for item in annotations if item.operands[1] == ENUM["Decoration.BuiltIn"]}
        if builtins & set(numbers("BuiltIn.*", "SubgroupSize NumSubgroups SubgroupId SubgroupLocalInvocationId")):
            names.add("GroupNonUniform")
        return names

    def is_variable_pointer(self, item: Instruction) -> bool:
        """Return whether a pointer to work-group memory is computed at run time."""
        kind = self.parts.definitions[item.result_type or 0]
        is_local = kind.opcode == _POINTER and kind.operands[0] == _WORKGROUP
        return is_local and item.name in ("OpPhi", "OpSelect", "OpLoad", "OpPtrAccessChain")

    def of_atomic(self, item: Instruction) -> set[str]:
        type_id = item.result_type or self.parts.types.pointee(item.operands[0])
        kind = self.parts.definitions[type_id]
        return {"Int64Atomics"} if kind.opcode == _INT and kind.operands[0] == 64 else set()

    def further_features(self) -> set[str]:
        """Return the features that do not follow from capabilities alone."""
        features = set()
        for item in self.code:
            kind = self.parts.definitions.get(item.result_type or 0)
            if (
                item.name.startswith("OpGroupNonUniform")
                and kind is not None
                and self.scalar_bits(kind.result or 0) - {32}
            ):
                features.add(_EXTENDED_TYPES)
            elif item.name.startswith("OpAtomic") and "Int64Atomics" in self.of_atomic(item):
                space = self.parts.types.storage_class(item.operands[0])
                features.add(_SHARED_ATOMICS if space == _WORKGROUP else _FEATURES["Int64Atomics"])
            elif item.name in _FLOAT_ATOMICS:
                features.add(self.float_atomic(item))
        return features

    def float_atomic(self, item: Instruction) -> str:
        """Return the feature of an atomic instruction of floats, which depends on the memory."""
        bits = self.parts.definitions[item.result_type or 0].operands[0]
        is_local = self.parts.types.storage_class(item.operands[0]) == _WORKGROUP
        version = "" if bits != 16 and _FLOAT_ATOMICS[item.name] == "Add" else "2"
        name = f"shader{'Shared' if is_local else 'Buffer'}Float{bits}Atomic{_FLOAT_ATOMICS[item.name]}"
        return f"VkPhysicalDeviceShaderAtomicFloat{version}FeaturesEXT.{name}"

    # --- entry points

    def write_entry_points(self) -> None:
        context = self.context
        variables = {item.result for item in self.parts.globals.items if item.opcode == _VARIABLE}
        entries, modes = [], []
        kernels = [body for body in self.parts.functions if body[0].result in context.entries]
        applied = [item for body in self.parts.functions if body not in kernels for item in body]
        for body in kernels:
            id_ = body[0].result or 0
            used = {word for item in (*body, *applied) for word in operand_ids(self.parts, item)} & variables
            name = tuple(encode_string(context.entries[id_]))
            entries.append(Instruction(OP["OpEntryPoint"], (_GL_COMPUTE, id_, *name, *sorted(w for w in used if w))))
            modes.append(Instruction(OP["OpExecutionModeId"], (id_, _LOCAL_SIZE_ID, *context.work_group_size)))
        self.sections[Section.ENTRY_POINT] = entries
        self.sections[Section.EXECUTION_MODE] = modes


def _reorderable(body: Iterable[Instruction]) -> set[int | None]:
    """Return the sums and products whose order a driver may change, which OpenCL forbids, even through variables.

    NoContraction prevents it, but also the contraction of a product and a sum, which OpenCL allows. So the products
    and sums that may be contracted are left out.
    """
    products = {item.result for item in body if item.opcode in _MULTIPLIED}
    sums = [item for item in body if item.opcode in _ADDED]
    contracted = {word for item in sums for word in item.operands} & products
    return (products - contracted) | {item.result for item in sums if not contracted & {*item.operands}}


def _group_capability(name: str) -> str:
    """Return the capability of a subgroup instruction by its name without the prefix."""
    if name.startswith(_BALLOTS):
        return "GroupNonUniformBallot"
    return _GROUP_CAPABILITIES.get(name, "GroupNonUniformArithmetic")
