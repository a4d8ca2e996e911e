"""Devices and modules for the tests of Vulkan; each skips its test by name where the machine lacks something."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

import pytest

from coopmat.vulkan import Device, NoVulkan, VulkanDevice, list_devices
from coopmat.vulkan.modules.launch import Argument, KernelLaunch, LaunchDescription, Requirements

ADDRESSES = "VkPhysicalDeviceVulkan12Features.bufferDeviceAddress"
MAINTENANCE = "VkPhysicalDeviceVulkan13Features.maintenance4"
INT64 = "VkPhysicalDeviceFeatures.shaderInt64"


@cache
def found() -> tuple[VulkanDevice, ...] | str:
    try:
        return tuple(list_devices())
    except NoVulkan as error:
        return str(error)


def vulkan_device() -> VulkanDevice:
    """Return the machine's first Vulkan device, preferably lavapipe."""
    devices = found()
    if isinstance(devices, str):
        pytest.skip(f"Vulkan: {devices}")
    return min(devices, key=lambda device: "llvmpipe" not in device.name)


# y[i] = x[i] * factor + tile[...], with a shared array whose length is a specialisation constant.
SCALE = """
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint LENGTH = 1;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float values[]; };
layout(push_constant) uniform Arguments { Floats x; Floats y; float factor; uint offset; } arguments;
shared float tile[LENGTH];
void main() {
    uint i = gl_GlobalInvocationID.x + gl_GlobalInvocationID.y * gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    tile[gl_LocalInvocationIndex] = float(gl_LocalInvocationIndex);
    barrier();
    uint other = gl_WorkGroupSize.x * gl_WorkGroupSize.y - 1 - gl_LocalInvocationIndex;
    arguments.y.values[i] = arguments.x.values[i] * arguments.factor + tile[other] + float(arguments.offset);
}
"""
SCALE_LAUNCH = LaunchDescription(
    "vulkan1.3",
    Requirements((), (ADDRESSES, MAINTENANCE)),
    {
        "main": KernelLaunch(
            None,
            None,
            24,
            0,
            (
                Argument("x", "address", "const float*", 0, 8, 4),
                Argument("y", "address", "float*", 8, 8, 4),
                Argument("factor", "value", "float", 16, 4),
                Argument("offset", "value", "uint", 20, 4),
                Argument("tile", "local", "float*", spec_id=3, element_bytes=4),
            ),
        )
    },
)


@cache
def compiled(text: str) -> bytes:
    """Return the SPIR-V of a GLSL compute shader."""
    if which("glslangValidator") is None:
        pytest.skip("glslangValidator is missing")
    with TemporaryDirectory() as place:
        source, module = Path(place) / "kernel.comp", Path(place) / "kernel.spv"
        source.write_text(text, encoding="utf-8")
        words = ["glslangValidator", "--target-env", "vulkan1.3", str(source), "-o", str(module)]
        subprocess.run(words, check=True, capture_output=True)
        return module.read_bytes()


def open_device() -> Device:
    return Device(vulkan_device())
