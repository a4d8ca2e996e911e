"""The routes of devices, and the forms of native modules, as tables: the first row that a device fits decides."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from coopmat.matrices.instructions import DPAS
from coopmat.matrices.strategies import DEFAULT_SUB_GROUP_SIZE
from coopmat.native_profiles import KHR

from .query import COOPERATIVE_MATRIX, DeviceInfo
from .raw import raw_device_info
from .sub_groups import sub_group_sizes

T = TypeVar("T")
# CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV and _MINOR_NV
_COMPUTE_CAPABILITY = (0x4000, 0x4001)


@dataclass(frozen=True, slots=True)
class Route:
    """The way by which a program with matrices reaches a device: `matrices` is the value for `--matrices`, `code` the
    form that the device receives, "spirv" or "c". Where nobody names a device, those of a lower `rank` come first.
    `widest` is the largest number of components of vectors that the library may use where its text is C, `hints` are
    options for the device's compiler then, `packed_members` says whether it takes vectors that a packed record holds,
    `fma` whether it has that builtin, `guarded_loads` whether it leaves out loads whose condition is false."""

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
    """Devices that get the same."""

    name: str
    has: Callable[[DeviceInfo], bool]
    value: T


FAMILIES: tuple[Row[Route], ...] = (
    Row(
        "cooperative-matrix",
        lambda d: d.takes_spirv and COOPERATIVE_MATRIX in d.extensions,
        Route("native", f"the device has {COOPERATIVE_MATRIX}"),
    ),
    Row(
        # Its library has no fma, of whatever type: "nir_shader not fully linked" is all that it says. In loops it loads
        # scalars from addresses that do not differ between work-items whatever the condition, beyond buffers, too.
        "rusticl-cpu",
        # A work-item is a lane of its vectors: alone in its work-group it leaves the others idle, and spills.
        lambda d: d.takes_spirv and d.kind == "CPU" and d.platform == "rusticl" and d.sub_groups,
        Route("lanes", "rusticl on a CPU: its vectors are subgroups", fma=False, guarded_loads=False),
    ),
    Row(
        # On CPUs a subgroup is a SIMD vector either way, and without its limits whole matrices fit any launch.
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
        # It does not know an intrinsic that its own LLVM puts where functions are inlined, and calls vectors in packed
        # records misaligned.
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
        # Its functions are compiled for other processors than its LLVM takes newer ones for, so that the two disagree
        # on how vectors of 512 bits are passed; of four components none has more than 256.
        "pocl",
        lambda d: d.platform == "Portable Computing Language",
        Route("one", "PoCL that takes OpenCL C only", "c", 1, widest=4),
    ),
    Row("opencl-c", lambda d: True, Route("one", "the device takes OpenCL C only", "c", 1)),
)


def _is_intel_cpu(device: DeviceInfo) -> bool:
    return device.takes_spirv and device.kind == "CPU" and device.platform.startswith("Intel(R)")


# By which route sources with multiply-adds reach the instructions of devices, where these turn out to be right.
UNITS: tuple[Row[str], ...] = (
    # It links SPIR-V with C, and its C reaches the processor's dot products.
    Row("intel-cpu", _is_intel_cpu, "x86"),
    Row("nvidia", lambda d: d.kind == "GPU" and d.platform.startswith("NVIDIA"), "mma"),
    # CDNA's names are those of GCN, whose last generations they are.
    Row("amd-cdna", lambda d: d.kind == "GPU" and d.name.startswith("gfx9"), "mfma"),
    Row("amd-rdna", lambda d: d.kind == "GPU" and d.name.startswith(("gfx11", "gfx12")), "wmma"),
    Row("dpas", lambda d: d.kind == "GPU" and DPAS in d.extensions and COOPERATIVE_MATRIX not in d.extensions, "dpas"),
)


# Devices whose compilers take native modules in one form: names of `NativeProfile`s.
CONSUMERS: tuple[Row[str], ...] = (
    # Intel's own driver: another one for the same GPU has another compiler.
    Row("intel-gpu", lambda d: d.kind == "GPU" and d.platform.startswith("Intel(R)"), "igc"),
    Row("any", lambda d: True, KHR.name),
)


# Devices whose compilers are known to end the process over valid code (docs/backend.md), or not to.
COMPILERS: tuple[Row[bool], ...] = (
    Row("intel-cpu", _is_intel_cpu, True),
    Row("any", lambda d: True, False),
)


def may_crash(device: DeviceInfo) -> bool:
    """Return whether the device's compiler is known to end the process over valid code."""
    return next(row.value for row in COMPILERS if row.has(device))


def mistakes_sub_group_barriers(device: DeviceInfo) -> bool:
    """Return whether the device executes SPIR-V's barriers of subgroups as barriers of the work-group."""
    return _is_intel_cpu(device)


def native_profile_for(device: DeviceInfo) -> str:
    """The profile of this device's compiler."""
    return next(row.value for row in CONSUMERS if row.has(device))


def unit_for(device: DeviceInfo) -> str:
    """The route to this device's matrix instructions; empty where no such is known."""
    return next((row.value for row in UNITS if row.has(device)), "")


def compute_capability(device: DeviceInfo) -> int | None:
    """NVIDIA's, as PTX has it: 75 of 7.5; None of other devices (cl_nv_device_attribute_query)."""
    if device.handle is None or not device.platform.startswith("NVIDIA"):
        return None
    major, minor = (raw_device_info(device.handle, parameter) for parameter in _COMPUTE_CAPABILITY)
    return 10 * int.from_bytes(major, sys.byteorder) + int.from_bytes(minor, sys.byteorder)


def route_for(device: DeviceInfo) -> Route:
    """The route of this device, and why."""
    return next(row.value for row in FAMILIES if row.has(device))
