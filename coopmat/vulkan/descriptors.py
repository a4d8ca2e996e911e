"""Vulkan's images, samplers and descriptor sets for one launch of a kernel."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coopmat.runtime import launch_error

from . import interface as vk
from .driver import Buffer, LogicalDevice
from .image_values import KINDS, Image, Sampler
from .modules.launch import (
    ADDRESSING,
    DESCRIPTORS,
    FILTERS,
    SAMPLED_BUFFER,
    SAMPLED_IMAGE,
    SAMPLER,
    STORAGE_BUFFER,
    STORAGE_IMAGE,
    Argument,
    KernelLaunch,
    LaunchDescription,
)

# Kind of a descriptor -> VkDescriptorType
_NUMBERS: Mapping[str | None, int] = dict(zip(DESCRIPTORS, (2, 3, 4, 5, 0), strict=True))
# Kind of a descriptor -> the bit of VkFormatFeatureFlags2 that its format needs.
_FEATURES: Mapping[str | None, int] = {SAMPLED_IMAGE: 1, STORAGE_IMAGE: 2, SAMPLED_BUFFER: 8, STORAGE_BUFFER: 0x10}
_READ_WITHOUT_FORMAT, _WRITE_WITHOUT_FORMAT = 1 << 31, 1 << 32
_FILTERED_LINEARLY = 1 << 12
_IMAGE_USAGE = {SAMPLED_IMAGE: 4, STORAGE_IMAGE: 8}
_FROM_AND_TO_BUFFERS = 3
_BUFFER_USAGE = {SAMPLED_BUFFER: 4, STORAGE_BUFFER: 8}
_COMPUTE_STAGE = 0x20
_GENERAL = 1  # the layout of all images
_COLOUR = 1  # the aspect
# Stages and accesses of copies and of kernels: stage, access.
_START, _COPY, _KERNEL, _HOST = (1, 0), (0x1000, 0x1800), (0x800, 0x60), (0x4000, 0x2000)
# The modes of samplers -> VkSamplerAddressMode: no mode, to the edge, to a border, repeated, mirrored.
_ADDRESSING = dict(zip(ADDRESSING, (2, 2, 3, 0, 1), strict=True))
_BORDERS: Mapping[str | None, int] = {"int": 1, "uint": 1}  # transparent black of integers; 0 is that of floats


class Objects:
    """Objects of a device that are destroyed together, the last one first."""

    def __init__(self, device: LogicalDevice) -> None:
        self.device = device
        self._made: list[tuple[str, int]] = []
        device.register(self)

    def create(self, kind: str, info: Any) -> int:
        """Create an object, for example a "Sampler", and return its handle."""
        return self.keep(f"vkDestroy{kind}", self.device.create(f"vkCreate{kind}", info))

    def keep(self, destroy: str, handle: int) -> int:
        self._made.append((destroy, handle))
        return handle

    def close(self) -> None:
        """Destroy the objects."""
        if self.device.forget(self):
            for destroy, handle in reversed(self._made):
                getattr(self.device.call, destroy)(self.device.handle, handle, None)


def _tables(launch: LaunchDescription, kernel: KernelLaunch) -> list[dict[int, str | None]]:
    """Return for each descriptor set binding -> kind of descriptor; no set for a kernel without images and samplers."""
    own: dict[int, str | None] = {row.binding or 0: row.descriptor for row in kernel.arguments if row.descriptor}
    if not own:
        return []
    shared: dict[int, str | None] = {row.binding: SAMPLER for row in launch.samplers}
    return [own, shared] if shared else [own]


def set_layouts(objects: Objects, launch: LaunchDescription, kernel: KernelLaunch) -> list[int]:
    """Create the layouts of a kernel's descriptor sets."""
    layouts = []
    for table in _tables(launch, kernel):
        rows = ((binding, _NUMBERS[kind], 1, _COMPUTE_STAGE) for binding, kind in table.items())
        bindings = (vk.VkDescriptorSetLayoutBinding * len(table))(*rows)
        first = ctypes.addressof(bindings)
        info = vk.VkDescriptorSetLayoutCreateInfo(bindingCount=len(table), pBindings=first)
        layouts.append(objects.create("DescriptorSetLayout", info))
    return layouts


class Descriptors:
    """The images and samplers of a launch, and the descriptor sets with them; `close` frees them.

    layouts: the layouts of the descriptor sets.
    """

    def __init__(
        self, device: LogicalDevice, launch: LaunchDescription, kernel: KernelLaunch, layouts: Sequence[int]
    ) -> None:
        self._device, self._objects = device, Objects(device)
        self._images: dict[int, _DeviceImage | Buffer] = {}
        tables = _tables(launch, kernel)
        self.sets = self._allocate(layouts, [kind for table in tables for kind in table.values()]) if tables else []
        for row in launch.samplers if tables else ():
            sampler = self._sampler(row.normalized, row.addressing, row.filter, row.border)
            self._write(row.set, row.binding, SAMPLER, sampler)

    def _allocate(self, layouts: Sequence[int], kinds: Sequence[str | None]) -> list[int]:
        sizes = (vk.VkDescriptorPoolSize * len(kinds))(*((_NUMBERS[kind], 1) for kind in kinds))
        info = vk.VkDescriptorPoolCreateInfo(
            maxSets=len(layouts), poolSizeCount=len(sizes), pPoolSizes=ctypes.addressof(sizes)
        )
        pool = self._objects.create("DescriptorPool", info)
        handles, sets = (ctypes.c_uint64 * len(layouts))(*layouts), (ctypes.c_uint64 * len(layouts))()
        wanted = vk.VkDescriptorSetAllocateInfo(
            descriptorPool=pool, descriptorSetCount=len(layouts), pSetLayouts=ctypes.addressof(handles)
        )
        device = self._device
        device.call.vkAllocateDescriptorSets(device.handle, ctypes.addressof(wanted), ctypes.addressof(sets))
        return list(sets)

    def _write(self, set_: int, binding: int, kind: str | None, handle: int) -> None:
        """Make a descriptor a sampler, or a view of an image or buffer."""
        is_sampler = kind == SAMPLER
        image = vk.VkDescriptorImageInfo(
            sampler=handle if is_sampler else 0, imageView=0 if is_sampler else handle, imageLayout=_GENERAL
        )
        view = ctypes.c_uint64(handle)
        info = vk.VkWriteDescriptorSet(
            dstSet=self.sets[set_],
            dstBinding=binding,
            descriptorCount=1,
            descriptorType=_NUMBERS[kind],
            pImageInfo=ctypes.addressof(image),
            pTexelBufferView=ctypes.addressof(view),
        )
        self._device.call.vkUpdateDescriptorSets(self._device.handle, 1, ctypes.addressof(info), 0, None)

    def add_sampler(self, row: Argument, value: Sampler) -> None:
        # With a mask, the kernel itself converts unnormalized coordinates.
        is_normalized = value.normalized or row.mask_offset is not None
        sampler = self._sampler(is_normalized, value.addressing, value.filter, row.elements)
        self._write(row.set or 0, row.binding or 0, SAMPLER, sampler)

    def _sampler(self, is_normalized: bool, addressing: str, filter_: str, border: str | None) -> int:
        mode, number = _ADDRESSING[addressing], FILTERS.index(filter_)
        info = vk.VkSamplerCreateInfo(
            magFilter=number,
            minFilter=number,
            addressModeU=mode,
            addressModeV=mode,
            addressModeW=mode,
            borderColor=_BORDERS.get(border, 0),
            unnormalizedCoordinates=int(not is_normalized),
        )
        return self._objects.create("Sampler", info)

    def add_image(self, position: int, row: Argument, value: Image, *, is_linear: bool) -> None:
        """Copy an image to the device; `is_linear`: a linear sampler reads it.

        Raises CompileError if the device lacks its format for this use.
        """
        self._check(row, value, is_linear)
        usage = _BUFFER_USAGE.get(row.descriptor or "")
        if usage is not None:
            buffer = Buffer(self._device, value.array.nbytes, usage)
            self._images[position] = buffer
            buffer.memory[:] = _bytes(value.array)
            whole = vk.VkBufferViewCreateInfo(buffer=buffer.handle, format=value.format, range=value.array.nbytes)
            view = self._objects.create("BufferView", whole)
        else:
            image = _DeviceImage(self._objects, row, value)
            self._images[position] = image
            view = image.view
        self._write(row.set or 0, row.binding or 0, row.descriptor, view)

    def _check(self, row: Argument, value: Image, is_linear: bool) -> None:
        properties, more = vk.VkFormatProperties2(), vk.VkFormatProperties3()
        properties.pNext = ctypes.addressof(more)
        device = self._device
        device.call.vkGetPhysicalDeviceFormatProperties2(device.physical, value.format, ctypes.addressof(properties))
        has = more.buffer if row.descriptor in _BUFFER_USAGE else more.optimal
        wanted = _FEATURES[row.descriptor]
        wanted |= _WRITE_WITHOUT_FORMAT if row.access != "read_only" else 0
        wanted |= _READ_WITHOUT_FORMAT if row.access == "read_write" else 0
        wanted |= _FILTERED_LINEARLY if is_linear else 0
        if has & wanted != wanted:
            filtered = " with a linear sampler" if is_linear else ""
            what = f"a {row.access} image of order {value.order} and {value.channel_type}{filtered}"
            raise launch_error(f"the device does not support {what}, argument '{row.name}'", "vulkan-device")

    def read(self, position: int) -> np.ndarray[Any, Any] | None:
        """Return the bytes of an image after the runs; None if the argument is no image."""
        found = self._images.get(position)
        if found is None:
            return None
        return np.frombuffer(found.memory if isinstance(found, Buffer) else found.download(), np.uint8)

    def close(self) -> None:
        """Free everything."""
        self._objects.close()
        for image in self._images.values():
            image.close()


class _DeviceImage:
    """An image on the device, with a buffer through which its texels are copied."""

    def __init__(self, objects: Objects, row: Argument, value: Image) -> None:
        self._device = objects.device
        kind, view_type, dimensions, arrayed = KINDS[row.type]
        sizes = [*value.array.shape[-2::-1], 1, 1]
        layers = sizes.pop(dimensions) if arrayed else 1
        self._extent = dict(zip(("width", "height", "depth"), sizes, strict=False))
        self._layers = {"aspectMask": _COLOUR, "layerCount": layers}
        info = vk.VkImageCreateInfo(
            imageType=kind,
            format=value.format,
            mipLevels=1,
            arrayLayers=layers,
            samples=1,
            usage=_FROM_AND_TO_BUFFERS | _IMAGE_USAGE[row.descriptor or ""],
            **self._extent,
        )
        device, call = self._device, self._device.call
        self._handle = objects.create("Image", info)
        needs = vk.VkMemoryRequirements()
        call.vkGetImageMemoryRequirements(device.handle, self._handle, ctypes.addressof(needs))
        memory = objects.keep("vkFreeMemory", device.allocate(needs.size, needs.memoryTypeBits, for_host=False))
        call.vkBindImageMemory(device.handle, self._handle, memory, 0)
        self.view = objects.create(
            "ImageView",
            vk.VkImageViewCreateInfo(
                image=self._handle, viewType=view_type, format=value.format, levelCount=1, **self._layers
            ),
        )
        self._buffer = Buffer(device, value.array.nbytes, _FROM_AND_TO_BUFFERS)
        self._buffer.memory[:] = _bytes(value.array)
        device.execute(self._upload)

    def _upload(self, command: int) -> None:
        region = vk.VkBufferImageCopy(**self._layers, **self._extent)
        self._order(command, _START, _COPY, 0)
        where, buffer = ctypes.addressof(region), self._buffer.handle
        self._device.call.vkCmdCopyBufferToImage(command, buffer, self._handle, _GENERAL, 1, where)
        self._order(command, _COPY, _KERNEL)

    def _download(self, command: int) -> None:
        region = vk.VkBufferImageCopy(**self._layers, **self._extent)
        self._order(command, _KERNEL, _COPY)
        where, buffer = ctypes.addressof(region), self._buffer.handle
        self._device.call.vkCmdCopyImageToBuffer(command, self._handle, _GENERAL, buffer, 1, where)
        barrier = vk.VkMemoryBarrier(srcAccessMask=_COPY[1], dstAccessMask=_HOST[1])
        one = ctypes.addressof(barrier)
        self._device.call.vkCmdPipelineBarrier(command, _COPY[0], _HOST[0], 0, 1, one, 0, None, 0, None)

    def _order(self, command: int, before: tuple[int, int], after: tuple[int, int], layout: int = _GENERAL) -> None:
        """Let accesses to the image follow others; `layout` is the image's before."""
        barrier = vk.VkImageMemoryBarrier(
            srcAccessMask=before[1],
            dstAccessMask=after[1],
            oldLayout=layout,
            newLayout=_GENERAL,
            srcQueueFamilyIndex=0xFFFFFFFF,
            dstQueueFamilyIndex=0xFFFFFFFF,
            image=self._handle,
            levelCount=1,
            **self._layers,
        )
        one = ctypes.addressof(barrier)
        self._device.call.vkCmdPipelineBarrier(command, before[0], after[0], 0, 0, None, 0, None, 1, one)

    def download(self) -> memoryview:
        """Copy the texels to the buffer, and return its bytes."""
        self._device.execute(self._download)
        return self._buffer.memory

    def close(self) -> None:
        self._buffer.close()


def _bytes(array: np.ndarray[Any, Any]) -> memoryview:
    return memoryview(array.reshape(-1).view(np.uint8).data).cast("B")
