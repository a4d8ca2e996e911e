"""Images and samplers as arguments of kernels, and their checks against the launch description and the device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from coopmat.runtime import launch_error

from .devices import VulkanDevice
from .modules.launch import ADDRESSING, FILTERS, SAMPLED_BUFFER, STORAGE_BUFFER, Argument, sampler_mask

_CHANNELS: Mapping[str, int] = {"R": 1, "RG": 2, "RGBA": 4, "BGRA": 4, "DEPTH": 1}
# Number of channels -> the order that an image has by default.
_USUAL_ORDER: Mapping[int, str] = {1: "R", 2: "RG", 4: "RGBA"}
# OpenCL's numbers of channel orders.
_ORDERS: Mapping[str, int] = {"R": 0x10B0, "RG": 0x10B2, "RGBA": 0x10B5, "BGRA": 0x10B6, "DEPTH": 0x10BD}
# Channel type -> numpy's type, the type of the elements in a kernel, OpenCL's number, and the numbers of the VkFormat
# with one, two and four channels, and with four in the order BGRA (0: there is none).
_TYPES: Mapping[str, tuple[str, str, int, tuple[int, int, int, int]]] = {
    "SNORM_INT8": ("i1", "float", 0x10D0, (10, 17, 38, 45)),
    "SNORM_INT16": ("i2", "float", 0x10D1, (71, 78, 92, 0)),
    "UNORM_INT8": ("u1", "float", 0x10D2, (9, 16, 37, 44)),
    "UNORM_INT16": ("u2", "float", 0x10D3, (70, 77, 91, 0)),
    "SIGNED_INT8": ("i1", "int", 0x10D7, (14, 21, 42, 49)),
    "SIGNED_INT16": ("i2", "int", 0x10D8, (75, 82, 96, 0)),
    "SIGNED_INT32": ("i4", "int", 0x10D9, (99, 102, 108, 0)),
    "UNSIGNED_INT8": ("u1", "uint", 0x10DA, (13, 20, 41, 48)),
    "UNSIGNED_INT16": ("u2", "uint", 0x10DB, (74, 81, 95, 0)),
    "UNSIGNED_INT32": ("u4", "uint", 0x10DC, (98, 101, 107, 0)),
    "HALF_FLOAT": ("f2", "float", 0x10DD, (76, 83, 97, 0)),
    "FLOAT": ("f4", "float", 0x10DE, (100, 103, 109, 0)),
}
# numpy's type -> the channel type without a conversion.
_USUAL_TYPE = {numpy: name for name, (numpy, *_) in _TYPES.items() if "NORM" not in name}
_COLUMNS: Mapping[str, int] = {"R": 0, "DEPTH": 0, "RG": 1, "RGBA": 2, "BGRA": 3}
# Type of an image -> VkImageType, VkImageViewType, number of dimensions, and whether it has layers.
KINDS: Mapping[str, tuple[int, int, int, bool]] = {
    "image1d_t": (0, 0, 1, False),
    "image1d_buffer_t": (0, 0, 1, False),
    "image1d_array_t": (0, 4, 1, True),
    "image2d_t": (1, 1, 2, False),
    "image2d_depth_t": (1, 1, 2, False),
    "image2d_array_t": (1, 5, 2, True),
    "image2d_array_depth_t": (1, 5, 2, True),
    "image3d_t": (2, 2, 3, False),
}


class Image:
    """An image as an argument of a kernel, with its texels in a numpy array, to which a kernel's results are copied.

    array: the sizes, largest dimension first, then the channels: (height, width, 4) for an RGBA image.
    channel_type: OpenCL's name, such as "UNORM_INT8". Without one, the elements are read and written as they are.
    order: "R", "RG", "RGBA", "BGRA" or "DEPTH". Without one, it follows from the number of channels.
    Raises CompileError for other names, and if the array does not fit them.
    """

    def __init__(self, array: np.ndarray[Any, Any], channel_type: str = "", order: str = "") -> None:
        own = f"{array.dtype.kind}{array.dtype.itemsize}"
        channels = array.shape[-1] if array.ndim else 0
        self.array, self.order = array, order or _USUAL_ORDER.get(channels, "")
        self.channel_type = channel_type or _USUAL_TYPE.get(own, "")
        numpy, self.elements, self.data_type_number, formats = _TYPES.get(self.channel_type, ("", "", 0, ()))
        if not formats or numpy != own:
            wanted = f"channel type '{channel_type}'" if channel_type else "image"
            raise launch_error(f"no {wanted} has elements of {array.dtype}", "argument")
        if _CHANNELS.get(self.order) != channels or not 2 <= array.ndim <= 4:
            what = f"an image of order '{self.order}'" if self.order else "an image"
            text = f"{what} needs an array of its sizes and its channels, not of the shape {array.shape}"
            raise launch_error(f"{text}; the orders are {', '.join(_CHANNELS)}", "argument")
        if not array.flags.c_contiguous:
            raise launch_error("an image needs an array in C's order; use numpy.ascontiguousarray", "argument")
        self.format, self.order_number = formats[_COLUMNS[self.order]], _ORDERS[self.order]
        if not self.format:
            raise launch_error(f"Vulkan has no image of order {self.order} and {self.channel_type}", "argument")

    def __repr__(self) -> str:
        return f"<Image {'x'.join(map(str, self.array.shape[:-1]))} {self.order} {self.channel_type}>"


@dataclass(frozen=True, slots=True)
class Sampler:
    """A sampler as an argument of a kernel, as OpenCL has them.

    addressing: "none", "clamp_to_edge", "clamp", "repeat" or "mirrored_repeat".
    filter: "nearest" or "linear".
    Raises CompileError for other names, and for a sampler that repeats by unnormalized coordinates.
    """

    normalized: bool
    addressing: str = "clamp_to_edge"
    filter: str = "nearest"

    def __post_init__(self) -> None:
        for value, names in ((self.addressing, ADDRESSING), (self.filter, FILTERS)):
            if value not in names:
                raise launch_error(f"a sampler has one of {', '.join(names)}, not '{value}'", "argument")
        if not self.normalized and "repeat" in self.addressing:
            raise launch_error("a sampler that repeats an image needs normalized coordinates", "argument")

    @property
    def mask(self) -> int:
        """The settings, as OpenCL C's constants have them."""
        return sampler_mask(self.normalized, self.addressing, self.filter)


def check_image(place: str, argument: Argument, value: Any, device: VulkanDevice) -> Image:
    """Return the image of an argument. Raises CompileError if it does not fit the argument or the device."""
    if not isinstance(value, Image):
        raise launch_error(f"{place} needs a coopmat.vulkan.Image, not a {type(value).__name__}", "argument")
    _, _, dimensions, arrayed = KINDS[argument.type]
    sizes = value.array.shape[:-1]
    if len(sizes) != dimensions + arrayed:
        raise launch_error(f"{place} has {dimensions + arrayed} sizes, and its image has {len(sizes)}", "argument")
    if argument.elements is not None and argument.elements != value.elements:
        text = f"{place} is accessed as {argument.elements}, and {value.channel_type} has {value.elements}"
        raise launch_error(text, "argument")
    if ("depth" in argument.type) != (value.order == "DEPTH"):
        raise launch_error(f"{place} cannot be an image of order {value.order}", "argument")
    limits = device.limits
    limit = limits[f"maxImageDimension{dimensions}D"]
    if argument.descriptor in (SAMPLED_BUFFER, STORAGE_BUFFER):
        limit = limits["maxTexelBufferElements"]
    layers = sizes[0] if arrayed else 1
    if min(sizes) < 1 or max(sizes[int(arrayed) :]) > limit or layers > limits["maxImageArrayLayers"]:
        raise launch_error(f"{place}: {device.label} has no images of the sizes {sizes}", "argument")
    return value


def check_sampler(place: str, argument: Argument, value: Any) -> Sampler:
    """Return the sampler of an argument. Raises CompileError if it does not fit."""
    if not isinstance(value, Sampler):
        raise launch_error(f"{place} needs a coopmat.vulkan.Sampler, not a {type(value).__name__}", "argument")
    if argument.elements in ("int", "uint") and value.filter == "linear":
        raise launch_error(f"{place} reads images of integers: its filter must be nearest", "argument")
    if argument.elements is None and value.addressing == "clamp":
        text = f"{place} reads images of integers and of floats: a border ('clamp') can have one type only"
        raise launch_error(text, "argument")
    return value
