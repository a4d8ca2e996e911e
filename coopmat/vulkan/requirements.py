"""What a module requires of a device, compared with what the device has, before anything reaches the driver.

Drivers crash on types and features that they do not have, instead of refusing them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from coopmat.matrices.variants import COMPONENT_TYPES
from coopmat.runtime import launch_error
from coopmat.spirv.module import ENUM, OP, MalformedModule, Module, decode_string

from .devices import FLEXIBLE, MATRICES_2, Product, VulkanDevice
from .driver import split_feature
from .modules.launch import KernelLaunch, LaunchDescription, MatrixProduct, MatrixShape

# Features that this host uses, if the device has them: addresses, and the control of subgroup sizes.
_HOST_FEATURES = (
    "VkPhysicalDeviceVulkan12Features.bufferDeviceAddress",
    "VkPhysicalDeviceVulkan13Features.subgroupSizeControl",
    "VkPhysicalDeviceVulkan13Features.computeFullSubgroups",
)
FULL_SUBGROUPS = _HOST_FEATURES[2]
# A driver of a subset of Vulkan has this extension, which must then be enabled.
_SUBSET = "VK_KHR_portability_subset"
# Component type in a launch description -> its name here
_NAMES: Mapping[str, str] = {
    **{f"float{row.bits}": row.name for row in COMPONENT_TYPES.values() if row.name in ("f16", "f32", "f64")},
    **{f"{s}int{bits}": f"{s}{bits}" for s in "su" for bits in (8, 16, 32, 64)},
    "bfloat16": "bf16",
    "float8e4m3": "e4m3",
    "float8e5m2": "e5m2",
}


def missing(device: VulkanDevice, description: LaunchDescription) -> list[str]:
    """Return what a module requires and the device lacks, as texts; empty if the device has everything."""
    return list(_missing(device, description))


def _missing(device: VulkanDevice, description: LaunchDescription) -> Iterator[str]:
    requires = description.requires
    version = description.target_env.removeprefix("vulkan").split(".")
    if tuple(map(int, version)) > device.api:
        yield f"Vulkan {'.'.join(version)} (it has {device.api[0]}.{device.api[1]})"
    yield from (f"the extension {name}" for name in requires.extensions if name not in device.extensions)
    for name in (_HOST_FEATURES[0], *requires.features):
        try:
            row, member = split_feature(name)
        except KeyError:
            yield f"the feature {name}, which this version of coopmat does not know"
            continue
        if f"{row.name}.{member}" not in device.features:
            yield f"the feature {name}"
    yield from (f"the matrix type {text(shape)}" for shape in requires.matrix_types if not _has_type(device, shape))
    for product in requires.matrix_products:
        if not _has_product(device, product):
            yield f"the multiply-add {_product(product)}"
    limit = device.limits["maxPushConstantsSize"]
    for name, kernel in description.kernels.items():
        if kernel.push_constant_bytes > limit:
            size = kernel.push_constant_bytes
            yield f"{size} bytes of push constants for the arguments of kernel '{name}' (it has {limit})"


def check_module(spirv: bytes, description: LaunchDescription) -> None:
    """Raise CompileError unless a module has the kernels of a launch description, and these have consistent arguments.

    A driver may crash on other modules.
    """
    try:
        module = Module.parse(spirv, before_functions=True)
    except MalformedModule as error:
        raise launch_error(f"the bytes are no SPIR-V module: {error}", "spirv") from None
    points = [item for item in module.instructions if item.opcode == OP["OpEntryPoint"]]
    model = ENUM["ExecutionModel.GLCompute"]
    names = {decode_string(item.operands[2:])[0] for item in points if item.operands[0] == model}
    for name, kernel in description.kernels.items():
        if name not in names:
            has = ", ".join(sorted(names)) or "none"
            raise launch_error(
                f"the module has no kernel '{name}' for Vulkan; its kernels are: {has}", "unknown-kernel"
            )
        ends = [(row.offset or 0) + (row.bytes or 0) for row in kernel.arguments if row.offset is not None]
        if max(ends, default=0) > kernel.push_constant_bytes or kernel.push_constant_bytes % 4:
            size = kernel.push_constant_bytes
            raise launch_error(f"the arguments of kernel '{name}' do not fit in its {size} bytes of push constants")


def enabled(device: VulkanDevice, description: LaunchDescription) -> tuple[frozenset[str], frozenset[str]]:
    """Return the extensions and features to enable for a module: its requirements, and the features for this host."""
    requires = description.requires
    extensions = {*requires.extensions, *({_SUBSET} & device.extensions)}
    features = {*requires.features, *(name for name in _HOST_FEATURES if name in device.features)}
    products = set(device.products)
    if any(_product(product) not in products for product in requires.matrix_products) or any(
        not _is_listed(products, shape) for shape in requires.matrix_types
    ):
        extensions.add(MATRICES_2)
        features.add(FLEXIBLE)
    return frozenset(extensions), frozenset(features)


def text(shape: MatrixShape) -> str:
    """Return a matrix type as the conformance tests name it."""
    use = shape.use if shape.use in ("A", "B") else "C"
    suffix = "" if shape.scope == "subgroup" else f".{shape.scope}"
    return f"{shape.rows}x{shape.columns}.{use}.{_NAMES.get(shape.type, shape.type)}{suffix}"


def _product(product: MatrixProduct) -> Product:
    a, b, c, result = (_NAMES.get(name, name) for name in (product.a, product.b, product.c, product.result))
    return Product(product.m, product.n, product.k, a, b, c, result, product.saturating, product.scope)


def _has_product(device: VulkanDevice, product: MatrixProduct) -> bool:
    wanted = _product(product)
    return wanted in device.products or any(row.allows(wanted) for row in device.flexible)


def _has_type(device: VulkanDevice, shape: MatrixShape) -> bool:
    if _is_listed(device.products, shape):
        return True
    rows = (_operand(row, shape) for row in device.flexible)
    return any(r and shape.rows % r == 0 and shape.columns % c == 0 for r, c in rows)


def _is_listed(products: Sequence[Product] | set[Product], shape: MatrixShape) -> bool:
    return any(_operand(row, shape) == (shape.rows, shape.columns) for row in products)


def _operand(product: Product, shape: MatrixShape) -> tuple[int, int]:
    """Return rows and columns of the product's matrix with the use, type and scope of `shape`; zeros if it has none."""
    name = _NAMES.get(shape.type, shape.type)
    if product.scope != shape.scope:
        return 0, 0
    if shape.use == "A":
        return (product.m, product.k) if product.a == name else (0, 0)
    if shape.use == "B":
        return (product.k, product.n) if product.b == name else (0, 0)
    return (product.m, product.n) if name in (product.c, product.result) else (0, 0)


def required_sub_group_size(device: VulkanDevice, name: str, kernel: KernelLaunch) -> tuple[int | None, str]:
    """Return the subgroup size to require for a kernel, None if none can be, and why it cannot be launched, or "".

    A kernel that is compiled for no size gets the device's usual one, since SPIR-V 1.6 would let the device vary it. A
    device with one size needs no requirement, which would limit the work-group's size.
    """
    size = kernel.sub_group_size or device.sub_group_size
    if size not in device.sub_group_sizes:
        sizes = ", ".join(map(str, device.sub_group_sizes))
        return None, f"kernel '{name}' needs subgroups of {size}, and {device.label} has subgroups of {sizes}"
    return (size if device.requires_sizes and len(device.sub_group_sizes) > 1 else None), ""
