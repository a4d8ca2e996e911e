"""The facts about OpenCL devices that the compiler and its users need."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from coopmat.diagnostics import CompileError, Diagnostic, Severity
from coopmat.features import LANGUAGE_VERSIONS
from coopmat.matrices.supported import parse_variants
from coopmat.matrices.variants import (
    CL_DEVICE_COOPERATIVE_MATRIX_POINTER_ALIGNMENT_KHR,
    CL_DEVICE_COOPERATIVE_MATRIX_STRIDE_MULTIPLE_KHR,
    Variant,
)

from .environment import opencl, prepare
from .native import bytes_of, native_variants
from .raw import platforms_of, raw_device_info

COOPERATIVE_MATRIX = "cl_khr_cooperative_matrix"
# The keys of a device information file about matrices: multiply-adds (`parse_variants`) and bytes. Ours, under the
# draft's names.
_VARIANTS = "CL_DEVICE_COOPERATIVE_MATRIX_DEFAULT_SUB_GROUP_VARIANTS_KHR"
_POINTER_ALIGNMENT = "CL_DEVICE_COOPERATIVE_MATRIX_POINTER_ALIGNMENT_KHR"
_STRIDE_MULTIPLE = "CL_DEVICE_COOPERATIVE_MATRIX_STRIDE_MULTIPLE_KHR"
# As old as this compiler writes, up to what it writes unless told otherwise.
_COMMON_SPIRV = ("1.2", "1.3", "1.4")
REQUIRED_SUB_GROUP_SIZE = "cl_intel_required_subgroup_size"
# From that extension; pyopencl has no name for it.
_CL_DEVICE_SUB_GROUP_SIZES_INTEL = 0x4108


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """One OpenCL device.

    `index` is "platform:device" as in PYOPENCL_CTX; `kind` is "CPU", "GPU" or another OpenCL device type;
    `spirv_versions` are the SPIR-V versions it takes, ascending ("1.0", ...), none for OpenCL C only;
    `sub_group_sizes` are in work-items, none where the device does not tell (`sub_groups.sub_group_sizes` asks a kernel
    then); `local_memory` is in bytes.
    `variants` are the multiply-adds of native matrices that it has for subgroups of their default size, None where
    that is not known; `pointer_alignment` and `stride_multiple`, in bytes, are what native matrices want of memory.
    `vector_bits` is the width of its vectors of floats, 0 where that is not known; `address_bits` that of its pointers.
    `opencl_c` is the newest version of the language that its own compiler takes, as -cl-std= has it.
    `handle` is the pyopencl device (None for a device known from a file only).
    """

    index: str
    platform: str
    name: str
    kind: str
    version: str
    driver: str
    spirv_versions: tuple[str, ...]
    sub_groups: bool
    sub_group_sizes: tuple[int, ...]
    extensions: frozenset[str]
    fp16: bool
    fp64: bool
    compute_units: int
    local_memory: int
    variants: tuple[Variant, ...] | None = None
    pointer_alignment: int | None = None
    stride_multiple: int | None = None
    opencl_c: str = "CL1.2"
    vector_bits: int = 0
    address_bits: int = 64
    handle: Any = field(default=None, repr=False, compare=False)

    @property
    def takes_spirv(self) -> bool:
        return bool(self.spirv_versions)

    @property
    def identity(self) -> list[str]:
        """The names and versions of the platform and the device, which devices with the same compiler share."""
        return [self.platform, self.name, self.version, self.driver]

    @property
    def label(self) -> str:
        return f"{self.index} {self.platform}: {self.name}".strip()


def list_devices() -> list[DeviceInfo]:
    """Every OpenCL device that the loader shows, in its order; empty where there is no platform at all."""
    cl = opencl()
    result = []
    for p, platform in enumerate(_platforms()):
        try:
            devices = platform.get_devices()
        except cl.Error:
            continue
        result += [describe(device, f"{p}:{d}") for d, device in enumerate(devices)]
    return result


def _platforms() -> list[Any]:
    """Return the platforms that the loader shows, then those of the Python environment, if the loader looked before it
    could know of them."""
    cl = opencl()
    try:
        platforms = cl.get_platforms()
    except cl.Error:  # the loader reports "no platform" as an error
        platforms = []
    prepared = prepare()
    if not prepared.late or prepared.runtime is None:
        return list(platforms)
    addresses = {platform.int_ptr for platform in platforms}
    return [*platforms, *(cl.Platform.from_int_ptr(p) for p in platforms_of(prepared.runtime) if p not in addresses)]


def _index(device: Any) -> str:
    """Return the "platform:device" numbers of a device; empty for a part of a device, which no platform lists."""
    try:
        p, d = _platforms().index(device.platform), device.platform.get_devices().index(device)
    except (ValueError, opencl().Error):
        return ""
    return f"{p}:{d}"


def describe(device: Any, index: str = "") -> DeviceInfo:
    """Return the facts that a pyopencl device states about itself."""
    extensions = frozenset(str(device.extensions).split())
    floats = _get(device, "native_vector_width_float", 0)
    return DeviceInfo(
        index=index or _index(device),
        platform=device.platform.name.strip(),
        name=device.name.strip(),
        kind=_kind(device),
        version=device.version.strip(),
        driver=device.driver_version.strip(),
        spirv_versions=_spirv_versions(_get(device, "il_version", "")),
        sub_groups=_get(device, "max_num_sub_groups", 0) > 0,
        sub_group_sizes=_sub_group_sizes(device, extensions),
        extensions=extensions,
        fp16="cl_khr_fp16" in extensions,
        fp64="cl_khr_fp64" in extensions,
        compute_units=device.max_compute_units,
        local_memory=device.local_mem_size,
        **(_native(device) if COOPERATIVE_MATRIX in extensions else {}),
        opencl_c=_language(_get(device, "opencl_c_version", "")),
        # A device that calculates with scalars tells nothing of its registers.
        vector_bits=32 * floats if floats > 1 else 0,
        address_bits=_get(device, "address_bits", 64),
        handle=device,
    )


def _native(device: Any) -> dict[str, Any]:
    """The fields about native matrices."""
    return {
        "variants": native_variants(device),
        "pointer_alignment": bytes_of(device, CL_DEVICE_COOPERATIVE_MATRIX_POINTER_ALIGNMENT_KHR),
        "stride_multiple": bytes_of(device, CL_DEVICE_COOPERATIVE_MATRIX_STRIDE_MULTIPLE_KHR),
    }


def _kind(device: Any) -> str:
    types = opencl().device_type
    return next((name for name in ("CPU", "GPU", "ACCELERATOR") if device.type & getattr(types, name)), "CUSTOM")


def _get(device: Any, attribute: str, default: Any) -> Any:
    """An older device answers a newer query with an error."""
    try:
        return getattr(device, attribute)
    except opencl().Error:
        return default


def _language(text: str) -> str:
    """The newest version that we know of those up to the device's ("OpenCL C 3.1 ...")."""
    match = re.match(r"OpenCL C (\d)\.(\d)", text)
    version = int(match[1]) * 100 + int(match[2]) * 10 if match else 120
    return max((v, name) for name, v in LANGUAGE_VERSIONS.items() if v <= max(version, 100))[1]


def _spirv_versions(text: str) -> tuple[str, ...]:
    versions = {(int(major), int(minor)) for major, minor in re.findall(r"SPIR-V_(\d+)\.(\d+)", text)}
    return tuple(f"{major}.{minor}" for major, minor in sorted(versions))


def _sub_group_sizes(device: Any, extensions: frozenset[str]) -> tuple[int, ...]:
    if REQUIRED_SUB_GROUP_SIZE not in extensions:
        return ()
    data = raw_device_info(device, _CL_DEVICE_SUB_GROUP_SIZES_INTEL)
    width = ctypes.sizeof(ctypes.c_size_t)
    return tuple(int.from_bytes(data[i : i + width], "little") for i in range(0, len(data), width))


def from_key_values(text: str, name: str) -> DeviceInfo:
    """A device from the conformance suite's KEY=VALUE file (`CL_DEVICE_EXTENSIONS="..."`, one a line).

    `name` is the file's, for messages. Raises CompileError where a line is not KEY=VALUE, or a matrix variant none.
    """
    values: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        key, equals, value = line.partition("=")
        if not equals or not re.fullmatch(r"\w+", key.strip()):
            raise _refused(f"{name}:{number}: a device information file holds KEY=VALUE lines")
        values[key.strip()] = value.strip().strip('"')
    return from_mapping(values, name)


def from_mapping(values: Mapping[str, str], name: str) -> DeviceInfo:
    """Return the device whose answers to OpenCL's queries are `values`, by the queries' names; what is not there is as
    of a device that does not tell it. Raises CompileError where a value is none of its query's."""
    extensions = frozenset(values.get("CL_DEVICE_EXTENSIONS", "").split())
    sub_groups = values.get("CL_DEVICE_MAX_NUM_SUB_GROUPS", "0")
    floats = _number(values, "CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT")
    return DeviceInfo(
        index="file",
        platform=values.get("CL_PLATFORM_NAME", name),
        name=values.get("CL_DEVICE_NAME", name),
        kind=values.get("CL_DEVICE_TYPE", "unknown").removeprefix("CL_DEVICE_TYPE_"),
        version=values.get("CL_DEVICE_VERSION", ""),
        driver=values.get("CL_DRIVER_VERSION", ""),
        spirv_versions=_spirv_versions(values.get("CL_DEVICE_IL_VERSION", _probable_il(values, extensions))),
        sub_groups=sub_groups.isdecimal() and int(sub_groups) > 0,
        sub_group_sizes=tuple(int(n) for n in values.get("CL_DEVICE_SUB_GROUP_SIZES_INTEL", "").split()),
        extensions=extensions,
        fp16="cl_khr_fp16" in extensions,
        fp64="cl_khr_fp64" in extensions,
        compute_units=_number(values, "CL_DEVICE_MAX_COMPUTE_UNITS"),
        local_memory=_number(values, "CL_DEVICE_LOCAL_MEM_SIZE"),
        variants=_variants(values[_VARIANTS], name) if _VARIANTS in values else None,
        pointer_alignment=_bytes(values, _POINTER_ALIGNMENT, name),
        stride_multiple=_bytes(values, _STRIDE_MULTIPLE, name),
        opencl_c=_language(values.get("CL_DEVICE_OPENCL_C_VERSION", "")),
        vector_bits=32 * floats if floats > 1 else 0,
        address_bits=_address_bits(values.get("CL_DEVICE_ADDRESS_BITS", "64"), name),
    )


def _number(values: Mapping[str, str], key: str) -> int:
    """Return a number of a device's, 0 where it is not there or none."""
    text = values.get(key, "0")
    return int(text) if text.isdecimal() else 0


def _probable_il(values: Mapping[str, str], extensions: frozenset[str]) -> str:
    """Return the intermediate languages of a device whose file does not state them: those that every device with SPIR-V
    takes. OpenCL before 2.1 has none by itself."""
    version = re.match(r"OpenCL (\d+)\.(\d+)", values.get("CL_DEVICE_VERSION", ""))
    older = version is not None and (int(version[1]), int(version[2])) < (2, 1)
    none = older and not extensions & {COOPERATIVE_MATRIX, "cl_khr_il_program"}
    return "" if none else " ".join(f"SPIR-V_{number}" for number in _COMMON_SPIRV)


def _address_bits(text: str, name: str) -> int:
    if text not in ("32", "64"):
        raise _refused(f"{name}: CL_DEVICE_ADDRESS_BITS: '{text}' is neither 32 nor 64")
    return int(text)


def _bytes(values: Mapping[str, str], key: str, name: str) -> int | None:
    text = values.get(key)
    if text is None:
        return None
    if not re.fullmatch(r"0*[1-9][0-9]{0,8}", text):
        raise _refused(f"{name}: {key}: '{text}' is no number of bytes")
    return int(text)


def _variants(text: str, name: str) -> tuple[Variant, ...]:
    try:
        return parse_variants(text)
    except ValueError as error:
        raise _refused(f"{name}: {_VARIANTS}: {error}") from None


def _refused(message: str) -> CompileError:
    return CompileError([Diagnostic(Severity.ERROR, "device-info", message)])
