"""The health check of a Vulkan device: an empty kernel, compiled and run in a separate process (`devices.health`)."""

from __future__ import annotations

from coopmat.diagnostics import CompileError
from coopmat.spirv.module import ENUM, Module, encode_string, instruction

from .devices import VulkanDevice
from .loader import NoVulkan, VulkanError
from .modules.launch import KernelLaunch, LaunchDescription, Requirements
from .program import Device

_NAME = "empty"
# The ids of the empty module, and their bound.
_VOID, _FUNCTION_TYPE, _KERNEL, _LABEL, _BOUND = 1, 2, 3, 4, 5


def try_empty_kernel(device: VulkanDevice, _argument: str) -> str:
    """Compile and run an empty kernel on the device, and return the error; an empty string if there is none."""
    description = LaunchDescription("vulkan1.3", Requirements(), {_NAME: KernelLaunch((1, 1, 1), None, 0, 0, ())})
    try:
        with Device(device) as opened:
            opened.load_spirv(empty_module(), description).kernel()(1, 1)
    except (NoVulkan, VulkanError) as error:
        return str(error)
    except CompileError as error:
        return "; ".join(diagnostic.message for diagnostic in error.diagnostics)
    return ""


def empty_module() -> bytes:
    """Return a SPIR-V 1.6 module for Vulkan with the kernel `empty`, which does nothing."""
    code = [
        instruction("OpCapability", ENUM["Capability.Shader"]),
        instruction("OpMemoryModel", ENUM["AddressingModel.Logical"], ENUM["MemoryModel.GLSL450"]),
        instruction("OpEntryPoint", ENUM["ExecutionModel.GLCompute"], _KERNEL, *encode_string(_NAME)),
        instruction("OpExecutionMode", _KERNEL, ENUM["ExecutionMode.LocalSize"], 1, 1, 1),
        instruction("OpTypeVoid", _VOID),
        instruction("OpTypeFunction", _FUNCTION_TYPE, _VOID),
        instruction("OpFunction", _VOID, _KERNEL, ENUM["FunctionControl.None"], _FUNCTION_TYPE),
        instruction("OpLabel", _LABEL),
        instruction("OpReturn"),
        instruction("OpFunctionEnd"),
    ]
    return Module(0x00010600, _BOUND, code).to_bytes()
