"""Tables of devices: routes, matrix instructions, consumers and compilers. The first row that matches decides."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from coopmat.matrices.routes import DEFAULT_SUB_GROUP_SIZE
from coopmat.matrices.vendor_instructions import DPAS
from coopmat.native_profiles import KHR

from .query import COOPERATIVE_MATRIX, DeviceInfo
from .raw import raw_device_info
from .sub_groups import sub_group_sizes

T = TypeVar("T")
# CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV and _MINOR_NV
_COMPUTE_CAPABILITY = (0x4000, 0x4001)


@dataclass(frozen=True, slots=True)
class Route:
    """A way in which programs with matrices are compiled for a device.

    matrices: the value for `--matrices`.
    why: the reason for this route, for the user.
    code: the form that the device receives, "spirv" or "c".
    rank: the order of preference if no device is named; lower ranks come first.
    widest: the largest number of components of a vector in the library, if the form is "c".
    packed_members: whether the device's compiler accepts vectors as members of packed records.
    fma: whether the device's compiler has the builtin fma.
    guarded_loads: whether the device omits loads whose condition is false.
    hints: options for the device's compiler, if the form is "c".
    """

    matrices: str
    why: str
    code: str = "spirv"
    rank: int = 0
    widest: int = 16
    packed_members: bool = True
    fma: bool = True
    guarded_loads: bool = True
    hints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row(Generic[T]):
    """A row of a table: `value` holds for the devices for which `has` returns true."""

    name: str
    has: Callable[[DeviceInfo], bool]
    value: T


FAMILIES: tuple[Row[Route], ...] = (
    Row(
        "vulkan-matrices",
        lambda d: bool(d.target_env and d.variants),
        Route("native", "the Vulkan device has VK_KHR_cooperative_matrix"),
    ),
    Row("vulkan", lambda d: bool(d.target_env), Route("lanes", "a Vulkan device without cooperative matrices")),
    Row(
        "cooperative-matrix",
        lambda d: d.takes_spirv and COOPERATIVE_MATRIX in d.extensions,
        Route("native", f"the device has {COOPERATIVE_MATRIX}"),
    ),
    Row(
        # Its library has no fma for any type: the build only reports "nir_shader not fully linked". In loops, it
        # executes loads of scalars from uniform addresses even if their condition is false, also outside of buffers.
        "rusticl-cpu",
        # A work-item is a lane of a SIMD vector. Alone in its work-group, it leaves the other lanes idle, and spills.
        lambda d: d.takes_spirv and d.kind == "CPU" and d.platform == "rusticl" and d.sub_groups,
        Route("lanes", "rusticl on a CPU: its vectors are subgroups", fma=False, guarded_loads=False),
    ),
    Row(
        # On CPUs, one work-item uses SIMD vectors as well as a subgroup does. Matrices that one work-item holds work
        # with any launch size, without the limits of subgroups.
        "spirv-cpu",
        lambda d: d.takes_spirv and d.kind == "CPU",
        Route("one", "a CPU that takes SPIR-V: one work-item holds whole matrices"),
    ),
    Row(
        "spirv-sub-groups",
        lambda d: d.takes_spirv and d.sub_groups and DEFAULT_SUB_GROUP_SIZE in sub_group_sizes(d),
        Route("lanes", f"the device takes SPIR-V and has subgroups of {DEFAULT_SUB_GROUP_SIZE}"),
    ),
    Row("spirv", lambda d: d.takes_spirv, Route("one", "the device takes SPIR-V")),
    Row(
        # Oclgrind does not know an intrinsic that its own LLVM inserts for inlined functions. It reports vectors in
        # packed records as misaligned.
        "simulator",
        lambda d: "oclgrind" in d.platform.casefold(),
        Route(
            "one",
            "a simulator that takes OpenCL C only",
            "c",
            2,
            hints=("-DCM_INLINE=__attribute__((noinline))",),
            packed_members=False,
        ),
    ),
    Row(
        # For newer processors, PoCL's builtin library is compiled for another processor than its LLVM assumes. The two
        # then disagree on how 512-bit vectors are passed. Vectors of four components have at most 256 bits.
        "pocl",
        lambda d: d.platform == "Portable Computing Language",
        Route("one", "PoCL that takes OpenCL C only", "c", 1, widest=4),
    ),
    Row("opencl-c", lambda d: True, Route("one", "the device takes OpenCL C only", "c", 1)),
)


def _is_intel_cpu(device: DeviceInfo) -> bool:
    return device.takes_spirv and device.kind == "CPU" and device.platform.startswith("Intel(R)")


# Device -> route of sources with multiply-adds to its matrix instructions, which is used if these prove to be right.
UNITS: tuple[Row[str], ...] = (
    # It links SPIR-V with OpenCL C, and OpenCL C has access to the processor's dot product instructions.
    Row("intel-cpu", _is_intel_cpu, "x86"),
    Row("nvidia", lambda d: d.kind == "GPU" and d.platform.startswith("NVIDIA"), "mma"),
    # CDNA is the successor of GCN, and continues its names.
    Row("amd-cdna", lambda d: d.kind == "GPU" and d.name.startswith("gfx9"), "mfma"),
    Row("amd-rdna", lambda d: d.kind == "GPU" and d.name.startswith(("gfx11", "gfx12")), "wmma"),
    Row("dpas", lambda d: d.kind == "GPU" and DPAS in d.extensions and COOPERATIVE_MATRIX not in d.extensions, "dpas"),
)


# Device -> name of the `NativeProfile` of its compiler.
CONSUMERS: tuple[Row[str], ...] = (
    Row("lavapipe", lambda d: d.name.startswith("llvmpipe") and d.has_maintenance, "vulkan-mesa"),
    Row("vulkan-nv2", lambda d: bool(d.target_env) and d.has_maintenance, "vulkan-nv2"),
    Row("vulkan", lambda d: bool(d.target_env), "vulkan"),
    # Only Intel's own driver: any other driver for the same GPU has another compiler.
    Row("intel-gpu", lambda d: d.kind == "GPU" and d.platform.startswith("Intel(R)"), "igc"),
    Row("any", lambda d: True, KHR.name),
)


# Device -> whether its compiler is known to end the process on valid code (docs/backend.md).
COMPILERS: tuple[Row[bool], ...] = (
    Row("intel-cpu", _is_intel_cpu, True),
    Row("any", lambda d: True, False),
)


def may_crash(device: DeviceInfo) -> bool:
    """Return whether the device's compiler is known to end the process on valid code."""
    return next(row.value for row in COMPILERS if row.has(device))


def mistakes_sub_group_barriers(device: DeviceInfo) -> bool:
    """Return whether the device executes SPIR-V's subgroup barriers as work-group barriers."""
    return _is_intel_cpu(device)


def native_profile_for(device: DeviceInfo) -> str:
    """Return the name of the `NativeProfile` of the device's compiler."""
    return next(row.value for row in CONSUMERS if row.has(device))


def unit_for(device: DeviceInfo) -> str:
    """Return the route to the device's matrix instructions; empty if no such route is known."""
    return next((row.value for row in UNITS if row.has(device)), "")


def compute_capability(device: DeviceInfo) -> int | None:
    """Return the compute capability of an NVIDIA device as in PTX: 75 for 7.5.

    For any other device, return None. The query is that of cl_nv_device_attribute_query.
    """
    if device.handle is None or not device.platform.startswith("NVIDIA"):
        return None
    major, minor = (raw_device_info(device.handle, parameter) for parameter in _COMPUTE_CAPABILITY)
    return 10 * int.from_bytes(major, sys.byteorder) + int.from_bytes(minor, sys.byteorder)


def route_for(device: DeviceInfo) -> Route:
    """Return the default route of the device."""
    return next(row.value for row in FAMILIES if row.has(device))
