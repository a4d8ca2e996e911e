"""The Vulkan devices of this machine, and what each has: asked in a separate process, since a driver may crash."""

from __future__ import annotations

import ctypes
import dataclasses
import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from coopmat.child_process import ending
from coopmat.devices import DeviceInfo
from coopmat.diagnostics import CompileError, Diagnostic, Note, Severity
from coopmat.matrices.memory_rules import VULKAN_ALIGNMENT
from coopmat.matrices.variants import COMPONENT_TYPES, Variant

from . import interface as vk
from .loader import HOW_TO_GET, Instance, NoVulkan, VulkanError, library, listed, numbers_of

PLATFORM = "Vulkan"
MATRICES, MATRICES_2 = "VK_KHR_cooperative_matrix", "VK_NV_cooperative_matrix2"
_FEATURES_2 = "VkPhysicalDeviceCooperativeMatrix2FeaturesNV"
FLEXIBLE = f"{_FEATURES_2}.cooperativeMatrixFlexibleDimensions"
TIME_LIMIT = 60.0
"""The time limit of listing the devices, in seconds."""
# The beginning of the line with the answer; drivers and layers may print other lines.
_SAID, _NONE = "coopmat vulkan lists ", "coopmat vulkan finds none: "
_START = (
    "import sys; sys.path[:] = sys.argv[1].split('\\n'); from coopmat.vulkan import devices; devices.print_devices()"
)
_KINDS = ("OTHER", "GPU", "GPU", "GPU", "CPU")
_SCOPES: Mapping[int, str] = {1: "device", 2: "workgroup", 3: "subgroup", 5: "queuefamily"}
# VkComponentTypeKHR -> its name here
_COMPONENTS: Mapping[int, str] = {
    **{row.value: row.name for row in COMPONENT_TYPES.values() if row.value is not None},
    1000141000: "bf16",
    1000491002: "e4m3",
    1000491003: "e5m2",
}
_COMPUTE_STAGE = 0x20
# The multiples of flexible dimensions that programs may use.
_MULTIPLES = (1, 2, 3, 4, 6, 8)
# Later versions of Vulkan run modules for this version too.
_TARGET = "vulkan1.3"


@dataclass(frozen=True, slots=True)
class Product:
    """A multiply-add in the table of a device.

    m, n, k: the shape; for flexible dimensions, the numbers of which each must be a multiple.
    a, b, c, result: the component types as here ("f16"), or the number of VkComponentTypeKHR.
    scope: "subgroup" or "workgroup".
    invocations: the size of the work-group for which flexible dimensions hold, with the scope of a work-group, else 0.
    """

    m: int
    n: int
    k: int
    a: str
    b: str
    c: str
    result: str
    saturating: bool
    scope: str
    invocations: int = 0

    @property
    def variant(self) -> Variant | None:
        """The multiply-add as OpenCL's draft has it; None if it has no such type, or another scope."""
        names = (self.a, self.b, self.c, self.result)
        if self.scope != "subgroup" or not all(name in COMPONENT_TYPES for name in names):
            return None
        try:
            a, b, c, result = (COMPONENT_TYPES[name] for name in names)
            return Variant(self.m, self.n, self.k, a, b, c, result, self.saturating)
        except ValueError:
            return None

    def allows(self, other: Product) -> bool:
        """Return whether flexible dimensions of this product include the product `other`."""
        shapes = zip((self.m, self.n, self.k), (other.m, other.n, other.k), strict=True)
        return self.key == other.key and all(size % multiple == 0 for multiple, size in shapes)

    @property
    def key(self) -> tuple[object, ...]:
        return self.a, self.b, self.c, self.result, self.saturating, self.scope

    def __str__(self) -> str:
        shape = f"{self.m}x{self.n}x{self.k}.{self.a}x{self.b}_{self.c}_{self.result}"
        return f"{shape}.{'sat' if self.saturating else 'nosat'}" + (
            "" if self.scope == "subgroup" else f".{self.scope}"
        )


@dataclass(frozen=True, slots=True)
class VulkanDevice(DeviceInfo):
    """A description of one Vulkan device, which the compiler treats as an OpenCL device without a handle.

    number: its position in the loader's list.
    identifier: the text of deviceUUID.
    api: the version of Vulkan, such as (1, 3).
    features: the features that it has, such as "VkPhysicalDeviceFeatures.shaderInt64".
    limits: name -> value of the limits in `interface.LIMITS`, and of maxComputeWorkgroupSubgroups.
    sub_group_size: the subgroup size of a kernel that requires none.
    requires_sizes: whether a kernel can require one of `sub_group_sizes`.
    products, flexible: the multiply-adds, and those with flexible dimensions.
    """

    number: int = 0
    identifier: str = ""
    api: tuple[int, int] = (1, 3)
    features: frozenset[str] = frozenset()
    limits: Mapping[str, Any] = dataclasses.field(default_factory=dict, hash=False)
    sub_group_size: int = 0
    requires_sizes: bool = False
    products: tuple[Product, ...] = ()
    flexible: tuple[Product, ...] = ()

    @property
    def further_variants(self) -> tuple[Variant, ...]:
        """The multiply-adds with flexible shapes, in the sizes that programs use."""
        found = (
            dataclasses.replace(row, m=row.m * m, n=row.n * n, k=row.k * k).variant
            for row in self.flexible
            for m, n, k in itertools.product(_MULTIPLES, repeat=3)
        )
        return tuple(v for v in found if v is not None and v not in (self.variants or ()))

    @property
    def has_maintenance(self) -> bool:
        names = ("Reductions", "Conversions", "PerElementOperations")
        return self.features.issuperset(f"{_FEATURES_2}.cooperativeMatrix{name}" for name in names)

    @property
    def lister(self) -> str:
        return "coopmat.vulkan.devices:devices_here"

    @property
    def health_check(self) -> str:
        return "coopmat.vulkan.health:try_empty_kernel"

    def to_record(self) -> dict[str, Any]:
        """Return the facts as JSON has them, for another process."""
        facts = {field.name: getattr(self, field.name) for field in dataclasses.fields(VulkanDevice)}
        facts = {name: sorted(value) if isinstance(value, frozenset) else value for name, value in facts.items()}
        tables = {name: [dataclasses.asdict(row) for row in facts[name]] for name in ("products", "flexible")}
        return {**facts, **tables, "variants": None, "handle": None}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> VulkanDevice:
        """Return the device whose facts `to_record` returned."""
        facts = dict(record)
        for name in ("products", "flexible"):
            facts[name] = tuple(Product(**row) for row in facts[name])
        for name in ("features", "extensions"):
            facts[name] = frozenset(facts[name])
        for name in ("spirv_versions", "sub_group_sizes", "api"):
            facts[name] = tuple(facts[name])
        variants = (product.variant for product in facts["products"])
        facts["variants"] = tuple(dict.fromkeys(v for v in variants if v)) if facts["products"] else None
        return cls(**facts)


def list_devices() -> list[VulkanDevice]:
    """Return the Vulkan devices in the loader's order. Raises NoVulkan, with the reason, if there are none."""
    library()  # Without a loader, no process needs to be started.
    words = tuple(f"{k}={v}" for k, v in sorted(os.environ.items()) if re.match("VK_|MESA_|LP_|XDG_|LD_", k))
    return [VulkanDevice.from_record(record) for record in _ask(words)]


@lru_cache
def _ask(environment: tuple[str, ...]) -> tuple[dict[str, Any], ...]:
    """Return the facts of all devices from another process; `environment` is what drivers depend on."""
    command = [sys.executable, "-c", _START, "\n".join(filter(None, sys.path))]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIME_LIMIT, check=False, errors="replace"
        )
    except subprocess.TimeoutExpired:
        raise NoVulkan(f"listing the devices took longer than {TIME_LIMIT:g} s") from None
    for line in done.stdout.splitlines():
        if line.startswith(_SAID):
            return tuple(json.loads(line.removeprefix(_SAID)))
        if line.startswith(_NONE):
            raise NoVulkan(line.removeprefix(_NONE))
    last = "".join(f"; {line}" for line in done.stderr.strip().splitlines()[-1:])
    raise NoVulkan(f"listing the devices {ending(done.returncode)}{last}")


def select(choice: str, devices: Iterable[VulkanDevice] | None = None) -> VulkanDevice:
    """Return the device that `choice` names: "vulkan", "vulkan:NUMBER" or "vulkan:PART OF ITS NAME".

    Raises CompileError, which lists the devices, if none or several match, or if there is no Vulkan.
    """
    try:
        candidates = list(list_devices() if devices is None else devices)
    except NoVulkan as error:
        raise CompileError([Diagnostic(Severity.ERROR, "no-device", f"Vulkan: {error}")]) from None
    name = choice.partition(":")[2].strip()
    if name.isdecimal():
        fitting = [device for device in candidates if device.number == int(name)]
    else:
        texts = ((device, f"{device.name} {device.driver}".casefold()) for device in candidates)
        fitting = [device for device, text in texts if name.casefold() in text]
    if len(fitting) == 1 or (fitting and not name):
        return fitting[0]
    what = f"'{choice}' fits {len(fitting)} devices; name one" if fitting else f"no Vulkan device fits '{choice}'"
    notes = tuple(Note(f"available device: {device.label}") for device in fitting or candidates)
    raise CompileError([Diagnostic(Severity.ERROR, "unknown-device", what, notes=notes)])


# --- in the separate process, or in the one that launches kernels ------------------------------------


def print_devices() -> None:
    """Print the devices, or why there are none, on the standard output."""
    try:
        print(f"\n{_SAID}{json.dumps([device.to_record() for device in devices_here()])}", flush=True)
    except (NoVulkan, VulkanError) as error:
        print(f"\n{_NONE}{error}", flush=True)


def devices_here() -> list[VulkanDevice]:
    """Return the devices, asked in this process. Raises NoVulkan and VulkanError."""
    with Instance() as instance:
        found = [describe(instance, handle, i) for i, handle in enumerate(instance.physical_devices())]
    if not found:
        raise NoVulkan(f"the loader found no device; {HOW_TO_GET}")
    return found


def handle_of(instance: Instance, device: VulkanDevice) -> int:
    """Return the handle of a device in this process. Raises NoVulkan if the device is not listed here."""
    handles = instance.physical_devices()
    order = sorted(range(len(handles)), key=lambda i: i != device.number)
    for i in order:
        if _properties(instance, handles[i])[1] == device.identifier:
            return handles[i]
    raise NoVulkan(f"{device.label} is not listed any more")


def describe(instance: Instance, handle: int, number: int) -> VulkanDevice:
    """Return the facts about a physical device."""
    properties, identifier, more = _properties(instance, handle)
    major, minor, _ = numbers_of(properties.apiVersion)
    version = min((major, minor), instance.version)
    extensions = _extensions(instance, handle)
    features = _features(instance, handle, version, extensions)
    limits = {name: _limit(properties, name) for name in vk.LIMITS}
    limits["maxComputeWorkgroupSubgroups"] = more["sizes"].maxComputeWorkgroupSubgroups
    sizes, requires = _sub_groups(more, features)
    products = _products(instance, handle) if MATRICES in extensions else ()
    driver = " ".join((more["driver"].driverName.decode(), more["driver"].driverInfo.decode())).strip()
    return VulkanDevice(
        index=f"vulkan:{number}",
        platform=PLATFORM,
        name=properties.deviceName.decode(errors="replace"),
        kind=_KINDS[min(properties.deviceType, len(_KINDS)) % len(_KINDS)],
        version=f"Vulkan {major}.{minor}.{properties.apiVersion & 0xFFF}",
        driver=driver or str(properties.driverVersion),
        spirv_versions=("1.4", "1.5", "1.6"),
        sub_groups=True,
        sub_group_sizes=sizes,
        extensions=extensions,
        fp16="VkPhysicalDeviceVulkan12Features.shaderFloat16" in features,
        fp64="VkPhysicalDeviceFeatures.shaderFloat64" in features,
        compute_units=0,
        local_memory=limits["maxComputeSharedMemorySize"],
        pointer_alignment=VULKAN_ALIGNMENT if products else None,
        stride_multiple=VULKAN_ALIGNMENT if products else None,
        opencl_c="CL3.0",
        target_env=_TARGET,
        number=number,
        identifier=identifier,
        api=version,
        features=features,
        limits=limits,
        sub_group_size=more["vulkan11"].subgroupSize,
        requires_sizes=requires,
        products=products,
        flexible=_flexible(instance, handle) if FLEXIBLE in features else (),
    )


def _properties(instance: Instance, handle: int) -> tuple[Any, str, dict[str, Any]]:
    """Return the properties of a device, its deviceUUID, and further structures of properties by short names."""
    properties = vk.VkPhysicalDeviceProperties2()
    more = {
        "vulkan11": vk.VkPhysicalDeviceVulkan11Properties(),
        "sizes": vk.VkPhysicalDeviceSubgroupSizeControlProperties(),
        "driver": vk.VkPhysicalDeviceDriverProperties(),
    }
    properties.pNext = vk.chain(list(more.values()))
    instance.call.vkGetPhysicalDeviceProperties2(handle, ctypes.addressof(properties))
    return properties, bytes(more["vulkan11"].deviceUUID).hex(), more


def _limit(properties: Any, name: str) -> Any:
    kind, offset, count = vk.LIMITS[name]
    values = (kind * count).from_buffer(properties, type(properties).limits.offset + offset)
    return values[0] if count == 1 else list(values)


def _sub_groups(more: Mapping[str, Any], features: frozenset[str]) -> tuple[tuple[int, ...], bool]:
    """Return the subgroup sizes of kernels, and whether a kernel can require one of them."""
    sizes, usual = more["sizes"], more["vulkan11"].subgroupSize
    if "VkPhysicalDeviceVulkan13Features.subgroupSizeControl" not in features:
        return (usual,), False
    powers = tuple(1 << i for i in range(8) if sizes.minSubgroupSize <= 1 << i <= sizes.maxSubgroupSize)
    requires = bool(sizes.requiredSubgroupSizeStages & _COMPUTE_STAGE)
    return (powers, True) if requires else ((usual,), False)


def _extensions(instance: Instance, handle: int) -> frozenset[str]:
    ask = instance.call.vkEnumerateDeviceExtensionProperties
    rows = listed(vk.VkExtensionProperties, lambda count, array: ask(handle, None, count, array))
    return frozenset(row.extensionName.decode() for row in rows)


def _features(instance: Instance, handle: int, version: tuple[int, int], extensions: frozenset[str]) -> frozenset[str]:
    rows = [row for row in vk.FEATURES.values() if row.exists(version, extensions)]
    structures = [row.c_type() for row in rows]
    instance.call.vkGetPhysicalDeviceFeatures2(handle, vk.chain(structures))
    pairs = zip(rows, structures, strict=True)
    return frozenset(f"{row.name}.{name}" for row, s in pairs for name in row.members if getattr(s, name))


def _products(instance: Instance, handle: int) -> tuple[Product, ...]:
    ask = instance.call.vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR
    rows = listed(vk.VkCooperativeMatrixPropertiesKHR, lambda *where: ask(handle, *where))
    return _rows(rows)


def _flexible(instance: Instance, handle: int) -> tuple[Product, ...]:
    ask = instance.call.vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV
    rows = listed(vk.VkCooperativeMatrixFlexibleDimensionsPropertiesNV, lambda *where: ask(handle, *where))
    return _rows(rows)


def _rows(rows: Sequence[Any]) -> tuple[Product, ...]:
    found = []
    for row in rows:
        a, b, c, result = (_COMPONENTS.get(number, str(number)) for number in (row.a, row.b, row.c, row.result))
        scope = _SCOPES.get(row.scope, str(row.scope))
        invocations = getattr(row, "invocations", 0)
        found.append(Product(row.m, row.n, row.k, a, b, c, result, bool(row.saturating), scope, invocations))
    return tuple(found)
