"""The facts about OpenCL devices that the compiler and its users need, from drivers or from files."""

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
from .matrix_queries import bytes_of, native_variants
from .raw import platforms_of, raw_device_info

COOPERATIVE_MATRIX = "cl_khr_cooperative_matrix"
# Keys of a device information file about matrices. The value of the first is a list of multiply-adds
# (`parse_variants`), the others are numbers of bytes. The names are the draft's queries, the format of values is ours.
_VARIANTS = "CL_DEVICE_COOPERATIVE_MATRIX_DEFAULT_SUB_GROUP_VARIANTS_KHR"
_POINTER_ALIGNMENT = "CL_DEVICE_COOPERATIVE_MATRIX_POINTER_ALIGNMENT_KHR"
_STRIDE_MULTIPLE = "CL_DEVICE_COOPERATIVE_MATRIX_STRIDE_MULTIPLE_KHR"
# From the oldest SPIR-V version that this compiler writes to its default.
_COMMON_SPIRV = ("1.2", "1.3", "1.4")
REQUIRED_SUB_GROUP_SIZE = "cl_intel_required_subgroup_size"
# A query of cl_intel_required_subgroup_size that pyopencl has no name for.
_CL_DEVICE_SUB_GROUP_SIZES_INTEL = 0x4108


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """A description of one OpenCL device.

    index: "platform:device" numbers as in PYOPENCL_CTX; "file" for a device that is described by a file.
    platform, name: the names of the platform and of the device.
    kind: "CPU", "GPU" or another OpenCL device type.
    version, driver: the texts of CL_DEVICE_VERSION and CL_DRIVER_VERSION.
    spirv_versions: the accepted versions of SPIR-V ("1.0", ...), ascending; empty for a device that takes only OpenCL
        C.
    sub_groups: whether the device has subgroups.
    sub_group_sizes: the subgroup sizes, in work-items. Empty if the device does not report them
        (`sub_groups.sub_group_sizes` then measures a kernel).
    extensions: the names of the extensions.
    fp16, fp64: whether the device has cl_khr_fp16 and cl_khr_fp64.
    compute_units: the number of compute units.
    local_memory: the size of local memory, in bytes.
    variants: the native multiply-adds for subgroups of the default size; None if they are unknown.
    pointer_alignment, stride_multiple: the requirements on native matrices in memory, in bytes; None if they are
        unknown.
    opencl_c: the newest version of OpenCL C that the device's compiler accepts, as in -cl-std=.
    vector_bits: the width of vectors of floats, in bits; 0 if it is unknown.
    address_bits: the width of pointers, in bits.
    target_env: the environment of modules for the device, such as "vulkan1.3"; empty for OpenCL.
    handle: the pyopencl device; None for a device that is described by a file, or is no OpenCL device.
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
    target_env: str = ""
    handle: Any = field(default=None, repr=False, compare=False)

    @property
    def takes_spirv(self) -> bool:
        return bool(self.spirv_versions)

    @property
    def identity(self) -> list[str]:
        """The names and versions of the platform and the device, which devices with the same compiler share."""
        return [self.platform, self.name, self.version, self.driver]

    @property
    def vector_registers(self) -> tuple[int, int]:
        """The bits of a vector register, and the number of registers: 32 with AVX-512, 16 with SSE, AVX2 and NEON."""
        return self.vector_bits, 32 if self.vector_bits == 512 else 16

    @property
    def further_variants(self) -> tuple[Variant, ...]:
        """Multiply-adds that the device has besides `variants`, and that the conformance tests leave out."""
        return ()

    @property
    def has_maintenance(self) -> bool:
        """Whether a Vulkan device has reductions, conversions and maps of matrices (VK_NV_cooperative_matrix2)."""
        return False

    @property
    def lister(self) -> str:
        """The function that lists the devices of this interface in a separate process (`probe`)."""
        return "coopmat.devices.query:list_devices"

    @property
    def health_check(self) -> str:
        """The function that tries an empty kernel (`health`); empty for a device that is described by a file."""
        return "coopmat.devices.health:try_empty_kernel" if self.handle is not None else ""

    @property
    def label(self) -> str:
        return f"{self.index} {self.platform}: {self.name}".strip()


def list_devices() -> list[DeviceInfo]:
    """Return every OpenCL device that the loader shows, in its order.

    If there are no platforms, the list is empty. A platform that cannot list its devices is left out.
    """
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
    """Return the platforms that the loader shows, then those of the CPU runtime in the Python environment.

    The latter are added only if the loader was initialized before its list of drivers was changed.
    """
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
    """Return the "platform:device" numbers of a device; empty for a sub-device, which no platform lists."""
    try:
        p, d = _platforms().index(device.platform), device.platform.get_devices().index(device)
    except (ValueError, opencl().Error):
        return ""
    return f"{p}:{d}"


def describe(device: Any, index: str = "") -> DeviceInfo:
    """Return the facts that a pyopencl device reports about itself.

    If `index` is empty, the device is searched for in the list of its platform.
    """
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
        # A native width of one float says nothing about the device's registers.
        vector_bits=32 * floats if floats > 1 else 0,
        address_bits=_get(device, "address_bits", 64),
        handle=device,
    )


def _native(device: Any) -> dict[str, Any]:
    """Return the values of the fields of `DeviceInfo` about native matrices."""
    return {
        "variants": native_variants(device),
        "pointer_alignment": bytes_of(device, CL_DEVICE_COOPERATIVE_MATRIX_POINTER_ALIGNMENT_KHR),
        "stride_multiple": bytes_of(device, CL_DEVICE_COOPERATIVE_MATRIX_STRIDE_MULTIPLE_KHR),
    }


def _kind(device: Any) -> str:
    """Return the type of a pyopencl device, such as "CPU"."""
    types = opencl().device_type
    return next((name for name in ("CPU", "GPU", "ACCELERATOR") if device.type & getattr(types, name)), "CUSTOM")


def _get(device: Any, attribute: str, default: Any) -> Any:
    """Return an attribute of a pyopencl device; `default` if an older device does not know the query."""
    try:
        return getattr(device, attribute)
    except opencl().Error:
        return default


def _language(text: str) -> str:
    """Return the newest known version of OpenCL C up to that in `text` ("OpenCL C 3.1 ...").

    If `text` has no version, assume OpenCL C 1.2.
    """
    match = re.match(r"OpenCL C (\d)\.(\d)", text)
    version = int(match[1]) * 100 + int(match[2]) * 10 if match else 120
    return max((v, name) for name, v in LANGUAGE_VERSIONS.items() if v <= max(version, 100))[1]


def _spirv_versions(text: str) -> tuple[str, ...]:
    """Return the SPIR-V versions in a list of intermediate languages (CL_DEVICE_IL_VERSION), ascending."""
    versions = {(int(major), int(minor)) for major, minor in re.findall(r"SPIR-V_(\d+)\.(\d+)", text)}
    return tuple(f"{major}.{minor}" for major, minor in sorted(versions))


def _sub_group_sizes(device: Any, extensions: frozenset[str]) -> tuple[int, ...]:
    """Return the subgroup sizes that a device reports, in its order; empty if it has no query for them."""
    if REQUIRED_SUB_GROUP_SIZE not in extensions:
        return ()
    data = raw_device_info(device, _CL_DEVICE_SUB_GROUP_SIZES_INTEL)
    width = ctypes.sizeof(ctypes.c_size_t)
    return tuple(int.from_bytes(data[i : i + width], "little") for i in range(0, len(data), width))


def from_key_values(text: str, name: str) -> DeviceInfo:
    """Return the device that a KEY=VALUE file of the conformance suite describes.

    A line is, for example, `CL_DEVICE_EXTENSIONS="..."`. `name` is the name of the file, for messages. Raises
    CompileError if a line has another form, or if a value is invalid.
    """
    values: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        key, equals, value = line.partition("=")
        if not equals or not re.fullmatch(r"\w+", key.strip()):
            raise _refused(f"{name}:{number}: expected KEY=VALUE in a device information file")
        values[key.strip()] = value.strip().strip('"')
    return from_mapping(values, name)


def from_mapping(values: Mapping[str, str], name: str) -> DeviceInfo:
    """Return the device with the answers `values` (name of the OpenCL query -> answer).

    A missing answer is treated as that of a device that does not know the query. `name` is for messages. Raises
    CompileError if a value is invalid for its query.
    """
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
    """Return the decimal number of a key; 0 if the key is missing or its value is no number."""
    text = values.get(key, "0")
    return int(text) if text.isdecimal() else 0


def _probable_il(values: Mapping[str, str], extensions: frozenset[str]) -> str:
    """Return the SPIR-V versions of a device whose file does not list any.

    These are the versions that every device with SPIR-V accepts. A device with OpenCL before 2.1 accepts SPIR-V only by
    an extension.
    """
    version = re.match(r"OpenCL (\d+)\.(\d+)", values.get("CL_DEVICE_VERSION", ""))
    older = version is not None and (int(version[1]), int(version[2])) < (2, 1)
    none = older and not extensions & {COOPERATIVE_MATRIX, "cl_khr_il_program"}
    return "" if none else " ".join(f"SPIR-V_{number}" for number in _COMMON_SPIRV)


def _address_bits(text: str, name: str) -> int:
    if text not in ("32", "64"):
        raise _refused(f"{name}: CL_DEVICE_ADDRESS_BITS: '{text}' is neither 32 nor 64")
    return int(text)


def _bytes(values: Mapping[str, str], key: str, name: str) -> int | None:
    """Return the number of bytes of a key; None if the key is missing. Raises CompileError."""
    text = values.get(key)
    if text is None:
        return None
    if not re.fullmatch(r"0*[1-9][0-9]{0,8}", text):
        raise _refused(f"{name}: {key}: '{text}' is not a positive number of bytes")
    return int(text)


def _variants(text: str, name: str) -> tuple[Variant, ...]:
    try:
        return parse_variants(text)
    except ValueError as error:
        raise _refused(f"{name}: {_VARIANTS}: {error}") from None


def _refused(message: str) -> CompileError:
    return CompileError([Diagnostic(Severity.ERROR, "device-info", message)])
