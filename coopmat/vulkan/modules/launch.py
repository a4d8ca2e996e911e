"""The launch description of a Vulkan module, also as JSON: all that a host must enable, bind and push."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

SCHEMA = 1
SAMPLED_IMAGE, STORAGE_IMAGE, SAMPLER = "sampled_image", "storage_image", "sampler"
SAMPLED_BUFFER, STORAGE_BUFFER = "uniform_texel_buffer", "storage_texel_buffer"
DESCRIPTORS = (SAMPLED_IMAGE, STORAGE_IMAGE, SAMPLED_BUFFER, STORAGE_BUFFER, SAMPLER)
"""The kinds of descriptors, as Vulkan names them."""
# The modes of samplers, in the order of their numbers in SPIR-V.
ADDRESSING = ("none", "clamp_to_edge", "clamp", "repeat", "mirrored_repeat")
FILTERS = ("nearest", "linear")


def sampler_mask(normalized: bool, addressing: str, filter_: str) -> int:
    """Return a sampler's settings as the bits of OpenCL C's constants."""
    return int(normalized) | ADDRESSING.index(addressing) << 1 | 0x10 << FILTERS.index(filter_)


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a kernel; a field that does not apply to the kind is None.

    kind: "address" (a 64-bit device address), "value", "local" (work-group memory), "image" or "sampler".
    type: the parameter's type in OpenCL C.
    offset, bytes: the place in the push-constant block.
    alignment: the number that the address must be a multiple of.
    multiple: the number that the value must be a multiple of, since it is the stride of matrices.
    spec_id, element_bytes: the specialisation constant with the number of elements, and the size of an element.
    set, binding: the descriptor of an image or sampler.
    descriptor: its kind: one of DESCRIPTORS.
    access: the access qualifier of an image.
    elements: the type of the elements of an image, "float", "int" or "uint", or of the images that a sampler reads;
      None if the kernel reads and writes none, and for a sampler of images of several types.
    samplers: the names of the samplers among the arguments that read an image.
    linear: whether a linear sampler of the source reads the image.
    order_offset, data_type_offset: the places in the push-constant block of OpenCL's numbers of the image's channel
      order and channel data type.
    mask_offset: the place of the sampler's settings, as OpenCL C's constants have them. The descriptor's sampler has
      normalized coordinates, even if the settings do not.
    """

    name: str
    kind: str
    type: str
    offset: int | None = None
    bytes: int | None = None
    alignment: int | None = None
    multiple: int | None = None
    spec_id: int | None = None
    element_bytes: int | None = None
    set: int | None = None
    binding: int | None = None
    descriptor: str | None = None
    access: str | None = None
    elements: str | None = None
    samplers: tuple[str, ...] | None = None
    linear: bool | None = None
    order_offset: int | None = None
    data_type_offset: int | None = None
    mask_offset: int | None = None


@dataclass(frozen=True, slots=True)
class Sampler:
    """A sampler of the source: a descriptor that the host provides for every kernel.

    addressing: "none", "clamp_to_edge", "clamp", "repeat" or "mirrored_repeat", as OpenCL names the modes.
    filter: "nearest" or "linear".
    border: the type of the elements at which "clamp" reads outside of an image: "float" or "int"; None for other modes.
    """

    set: int
    binding: int
    normalized: bool
    addressing: str
    filter: str
    border: str | None = None


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """The interface of a kernel.

    work_group_size: the size that the kernel requires; None for any.
    sub_group_size: the subgroup size that the kernel is compiled for; None for any.
    local_bytes: the work-group memory of the kernel's own variables.
    local_item_bytes: further work-group memory for each work-item of a work-group.
    """

    work_group_size: tuple[int, int, int] | None
    sub_group_size: int | None
    push_constant_bytes: int
    local_bytes: int
    arguments: tuple[Argument, ...]
    local_item_bytes: int = 0


@dataclass(frozen=True, slots=True)
class MatrixShape:
    """A matrix type that the device must have; `type` is a Vulkan component type, such as float16."""

    type: str
    use: str
    scope: str
    rows: int
    columns: int


@dataclass(frozen=True, slots=True)
class MatrixProduct:
    """A product of matrices (m x k times k x n, plus c) that the device must have."""

    m: int
    n: int
    k: int
    a: str
    b: str
    c: str
    result: str
    scope: str
    saturating: bool


@dataclass(frozen=True, slots=True)
class Requirements:
    """The properties that a device must have.

    extensions: names of device extensions.
    features: members of Vulkan's structs of features, as "VkPhysicalDeviceFeatures.shaderInt64".
    """

    extensions: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    matrix_types: tuple[MatrixShape, ...] = ()
    matrix_products: tuple[MatrixProduct, ...] = ()


@dataclass(frozen=True, slots=True)
class LaunchDescription:
    """The launch description of a module.

    work_group_size_ids: the specialisation constants with the work-group size.
    samplers: the samplers of the source.
    """

    target_env: str
    requires: Requirements
    kernels: dict[str, KernelLaunch] = field(default_factory=dict)
    work_group_size_ids: tuple[int, int, int] = (0, 1, 2)
    samplers: tuple[Sampler, ...] = ()

    def to_json(self) -> str:
        """Return the description as JSON, without the fields that do not apply."""
        return json.dumps({"schema": SCHEMA, **_without_nones(asdict(self))}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> LaunchDescription:
        """Return the description that `to_json` wrote. Raise ValueError for other texts."""
        try:
            data = json.loads(text)
            if data["schema"] != SCHEMA:
                raise ValueError(f"the launch description has schema {data['schema']}, not {SCHEMA}")
            return cls(
                data["target_env"],
                _requirements(data["requires"]),
                {name: _kernel(kernel) for name, kernel in data["kernels"].items()},
                tuple(data["work_group_size_ids"]),
                tuple(Sampler(**row) for row in data.get("samplers", ())),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"this is no launch description: {error}") from error


def _without_nones(data: dict[str, Any]) -> dict[str, Any]:
    """Drop the fields of arguments that do not apply."""
    for kernel in data["kernels"].values():
        kernel["arguments"] = [{k: v for k, v in row.items() if v is not None} for row in kernel["arguments"]]
    return data


def _requirements(data: dict[str, Any]) -> Requirements:
    return Requirements(
        tuple(data["extensions"]),
        tuple(data["features"]),
        tuple(MatrixShape(**row) for row in data["matrix_types"]),
        tuple(MatrixProduct(**row) for row in data["matrix_products"]),
    )


def _kernel(data: dict[str, Any]) -> KernelLaunch:
    size = data["work_group_size"]
    rows = ({**row, "samplers": tuple(row["samplers"])} if "samplers" in row else row for row in data["arguments"])
    arguments = tuple(Argument(**row) for row in rows)
    fields = {**data, "work_group_size": tuple(size) if size else None, "arguments": arguments}
    return KernelLaunch(**fields)
