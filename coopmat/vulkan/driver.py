"""A logical Vulkan device with one compute queue: buffers with addresses, pipelines, launches and their times."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from . import interface as vk
from .loader import SUCCESS, Instance, VulkanError

_COMPUTE_QUEUE = 2
_COMPUTE_STAGE = 0x20
_STORAGE_BUFFER, _HAS_ADDRESS = 0x20, 0x20000
_DEVICE_LOCAL, _HOST_VISIBLE, _HOST_COHERENT = 1, 2, 4
_ALLOCATE_WITH_ADDRESS = 2
_REQUIRE_FULL_SUBGROUPS = 2
_TIMESTAMPS = 2
_RESULT_64_BITS, _RESULT_WAIT = 1, 2
_OUT_OF_DEVICE_MEMORY, _DEVICE_LOST = -2, -4
_TOP_OF_PIPE, _COMPUTE_SHADER, _BOTTOM_OF_PIPE, _HOST = 1, 0x800, 0x2000, 0x4000
_SHADER_WRITE, _SHADER_ACCESS, _HOST_READ = 0x40, 0x60, 0x2000
_RESETTABLE_COMMANDS = 2
# The seconds after which a wait for the device returns to Python, so that Ctrl-C is noticed.
_SLICE = 0.25
# Extension -> the extension that must be enabled too.
_NEEDS: Mapping[str, str] = {
    "VK_NV_cooperative_matrix2": "VK_KHR_cooperative_matrix",
    "VK_EXT_shader_atomic_float2": "VK_EXT_shader_atomic_float",
}


class Resource(Protocol):
    def close(self) -> None: ...


def split_feature(name: str) -> tuple[vk.FeatureStructure, str]:
    """Return the structure and the member of a feature such as "VkPhysicalDeviceFeatures.shaderInt64".

    A structure that became part of a later Vulkan version is also known without its suffix KHR. Raises KeyError.
    """
    structure, _, member = name.partition(".")
    row = vk.FEATURES.get(structure) or vk.FEATURES[f"{structure}KHR"]
    if member not in row.members:
        raise KeyError(name)
    return row, member


class LogicalDevice:
    """A device with the given features and extensions enabled, and no others.

    instance, physical: the instance, and the handle of the physical device.
    features: names as in `split_feature`.
    period: the nanoseconds of a step of the device's clock.
    """

    def __init__(
        self, instance: Instance, physical: int, extensions: Iterable[str], features: Iterable[str], period: float = 1.0
    ) -> None:
        self.instance, self.physical, self.call = instance, physical, instance.call
        self._process, self._is_abandoned, self._period, self._is_timed = os.getpid(), False, period, False
        self._resources: dict[int, Resource] = {}
        self._lock = threading.Lock()
        self.family, self._clock_bits = self._compute_family()
        self.handle = self._create(sorted({*extensions, *(_NEEDS[e] for e in extensions if e in _NEEDS)}), features)
        queue = ctypes.c_uint64()
        self.call.vkGetDeviceQueue(self.handle, self.family, 0, ctypes.addressof(queue))
        self.queue = queue.value
        self._memory = vk.VkPhysicalDeviceMemoryProperties()
        self.call.vkGetPhysicalDeviceMemoryProperties(physical, ctypes.addressof(self._memory))
        pool = vk.VkCommandPoolCreateInfo(flags=_RESETTABLE_COMMANDS, queueFamilyIndex=self.family)
        self._pool = self.create("vkCreateCommandPool", pool)
        queries = vk.VkQueryPoolCreateInfo(queryType=_TIMESTAMPS, queryCount=2)
        self._queries = self.create("vkCreateQueryPool", queries) if self._clock_bits else 0

    def _compute_family(self) -> tuple[int, int]:
        """Return the index of a queue family for kernels, and the number of bits of its clock; 0 if it has none."""
        ask = self.call.vkGetPhysicalDeviceQueueFamilyProperties
        count = ctypes.c_uint32()
        ask(self.physical, ctypes.addressof(count), None)
        families = (vk.VkQueueFamilyProperties * count.value)()
        ask(self.physical, ctypes.addressof(count), ctypes.addressof(families))
        fitting = [i for i, family in enumerate(families) if family.queueFlags & _COMPUTE_QUEUE]
        if not fitting:
            raise VulkanError("vkGetPhysicalDeviceQueueFamilyProperties", -3)
        best = max(fitting, key=lambda i: (families[i].timestampValidBits > 0, -i))
        return best, families[best].timestampValidBits

    def _create(self, extensions: Sequence[str], features: Iterable[str]) -> int:
        chosen: dict[str, Any] = {"VkPhysicalDeviceFeatures": vk.FEATURES["VkPhysicalDeviceFeatures"].c_type()}
        for name in features:
            row, member = split_feature(name)
            setattr(chosen.setdefault(row.name, row.c_type()), member, 1)
        priority = ctypes.c_float(1.0)
        queue = vk.VkDeviceQueueCreateInfo(
            queueFamilyIndex=self.family, queueCount=1, pQueuePriorities=ctypes.addressof(priority)
        )
        names = (ctypes.c_char_p * len(extensions))(*(name.encode() for name in extensions))
        info = vk.VkDeviceCreateInfo(
            pNext=vk.chain(list(chosen.values())),
            queueCreateInfoCount=1,
            pQueueCreateInfos=ctypes.addressof(queue),
            enabledExtensionCount=len(extensions),
            ppEnabledExtensionNames=ctypes.addressof(names),
        )
        handle = ctypes.c_uint64()
        self.call.vkCreateDevice(self.physical, ctypes.addressof(info), None, ctypes.addressof(handle))
        return handle.value

    def create(self, function: str, info: Any) -> int:
        """Call a function that creates an object of the device, and return the object's handle."""
        handle = ctypes.c_uint64()
        getattr(self.call, function)(self.handle, ctypes.addressof(info), None, ctypes.addressof(handle))
        return handle.value

    def register(self, resource: Resource) -> None:
        """Close a resource with the device, unless it is closed before."""
        self._resources[id(resource)] = resource

    def forget(self, resource: Resource) -> bool:
        """Return whether a resource is to be destroyed now, and forget it.

        What an abandoned kernel may still use remains registered, for `close`.
        """
        return self._is_usable and self._resources.pop(id(resource), None) is not None

    @property
    def _is_usable(self) -> bool:
        """Whether objects may be destroyed: the process is no fork, and no abandoned kernel may still run."""
        return self._process == os.getpid() and not self._is_abandoned

    def allocate(self, size: int, bits: int, *, for_host: bool = True) -> int:
        """Return memory, near the device if it has enough; `bits` has its allowed types.

        `for_host`: the host can access the memory.
        """
        flags = vk.VkMemoryAllocateFlagsInfo(flags=_ALLOCATE_WITH_ADDRESS)
        host = _HOST_VISIBLE | _HOST_COHERENT if for_host else 0
        error = VulkanError("vkAllocateMemory", _OUT_OF_DEVICE_MEMORY)
        for wanted in (host | _DEVICE_LOCAL, host):
            for i in range(self._memory.memoryTypeCount):
                if not bits >> i & 1 or self._memory.memoryTypes[i].propertyFlags & wanted != wanted:
                    continue
                info = vk.VkMemoryAllocateInfo(pNext=ctypes.addressof(flags), allocationSize=size, memoryTypeIndex=i)
                try:
                    return self.create("vkAllocateMemory", info)
                except VulkanError as failure:
                    error = failure
        raise error

    def run(self, pipeline: Pipeline, constants: bytes, groups: Sequence[int], sets: Sequence[int] = ()) -> float:
        """Execute a pipeline with push constants, wait for its end, and return its time in seconds.

        sets: the descriptor sets, from number 0 on.
        """
        return self.execute(lambda command: self._record(command, pipeline, constants, groups, sets))

    def execute(self, record: Callable[[int], None]) -> float:
        """Execute the commands that `record` writes to a command buffer, and return their time in seconds.

        The time is that of the device if the commands contain its timestamps. Threads take turns: the queue and
        the queries belong to one run at a time.
        """
        with self._lock:
            return self._execute(record)

    def _execute(self, record: Callable[[int], None]) -> float:
        call, begin = self.call, vk.VkCommandBufferBeginInfo()
        self._is_timed = False
        allocation = vk.VkCommandBufferAllocateInfo(commandPool=self._pool, commandBufferCount=1)
        command = ctypes.c_uint64()
        call.vkAllocateCommandBuffers(self.handle, ctypes.addressof(allocation), ctypes.addressof(command))
        try:
            call.vkBeginCommandBuffer(command.value, ctypes.addressof(begin))
            record(command.value)
            call.vkEndCommandBuffer(command.value)
            start = time.perf_counter()
            self._submit(command)
            seconds = time.perf_counter() - start
        finally:
            if self._is_usable:
                call.vkFreeCommandBuffers(self.handle, self._pool, 1, ctypes.addressof(command))
        return self._elapsed() if self._is_timed else seconds

    def _record(
        self, command: int, pipeline: Pipeline, constants: bytes, groups: Sequence[int], sets: Sequence[int]
    ) -> None:
        call, self._is_timed = self.call, bool(self._queries)
        if self._queries:
            call.vkCmdResetQueryPool(command, self._queries, 0, 2)
        call.vkCmdBindPipeline(command, 1, pipeline.handle)
        if sets:
            handles = (ctypes.c_uint64 * len(sets))(*sets)
            first = ctypes.addressof(handles)
            call.vkCmdBindDescriptorSets(command, 1, pipeline.layout, 0, len(sets), first, 0, None)
        if constants:
            data = ctypes.create_string_buffer(constants, len(constants))
            size = len(constants)
            call.vkCmdPushConstants(command, pipeline.layout, _COMPUTE_STAGE, 0, size, ctypes.addressof(data))
        if self._queries:
            call.vkCmdWriteTimestamp(command, _TOP_OF_PIPE, self._queries, 0)
        call.vkCmdDispatch(command, *groups)
        if self._queries:
            call.vkCmdWriteTimestamp(command, _BOTTOM_OF_PIPE, self._queries, 1)
        # The host, and the next run, read what this run wrote.
        barrier = vk.VkMemoryBarrier(srcAccessMask=_SHADER_WRITE, dstAccessMask=_HOST_READ | _SHADER_ACCESS)
        one = ctypes.addressof(barrier)
        call.vkCmdPipelineBarrier(command, _COMPUTE_SHADER, _HOST | _COMPUTE_SHADER, 0, 1, one, 0, None, 0, None)

    def _submit(self, command: ctypes.c_uint64) -> None:
        """Execute a command buffer, and wait for its end.

        An exception of a signal's handler may interrupt the wait. Then the kernel is abandoned: nothing of the device
        is destroyed before a later run ends, which the queue executes after the abandoned kernel.
        """
        call, fence = self.call, ctypes.c_uint64(self.create("vkCreateFence", vk.VkFenceCreateInfo()))
        submission = vk.VkSubmitInfo(commandBufferCount=1, pCommandBuffers=ctypes.addressof(command))
        try:
            call.vkQueueSubmit(self.queue, 1, ctypes.addressof(submission), fence.value)
            while call.vkWaitForFences(self.handle, 1, ctypes.addressof(fence), 1, int(_SLICE * 1e9)) != SUCCESS:
                pass
        except BaseException as error:
            if isinstance(error, VulkanError) and (error.function == "vkQueueSubmit" or error.result == _DEVICE_LOST):
                call.vkDestroyFence(self.handle, fence.value, None)
            else:
                self._is_abandoned = True
            raise
        self._is_abandoned = False
        call.vkDestroyFence(self.handle, fence.value, None)

    def _elapsed(self) -> float:
        times = (ctypes.c_uint64 * 2)()
        flags = _RESULT_64_BITS | _RESULT_WAIT
        size = ctypes.sizeof(times)
        self.call.vkGetQueryPoolResults(self.handle, self._queries, 0, 2, size, ctypes.addressof(times), 8, flags)
        return float((times[1] - times[0]) % (1 << self._clock_bits)) * self._period * 1e-9

    def close(self) -> bool:
        """Destroy the device and everything that was created on it; return False if that is not possible.

        It is not possible in a fork of the process, nor while a kernel runs.
        """
        if not self._lock.acquire(timeout=_SLICE):
            return False
        try:
            self._destroy()
            return self._is_usable
        finally:
            self._lock.release()

    def _destroy(self) -> None:
        for resource in list(self._resources.values()):
            resource.close()
        if self.handle and self._is_usable:
            self.call.vkDestroyCommandPool(self.handle, self._pool, None)
            self.call.vkDestroyQueryPool(self.handle, self._queries, None)
            self.call.vkDestroyDevice(self.handle, None)
        self.handle = 0


class Buffer:
    """A buffer with an address for kernels; `memory` is a view of its bytes for the host.

    `usage` has the bits of VkBufferUsageFlags besides those for addresses.
    """

    def __init__(self, device: LogicalDevice, size: int, usage: int = 0) -> None:
        self._device, self._usage = device, usage | _STORAGE_BUFFER | _HAS_ADDRESS
        self.handle = self._memory = self.address = 0
        device.register(self)
        try:
            self._allocate(size)
        except BaseException:
            self.close()
            raise

    def _allocate(self, size: int) -> None:
        device, call = self._device, self._device.call
        info = vk.VkBufferCreateInfo(size=max(size, 16), usage=self._usage)
        self.handle = device.create("vkCreateBuffer", info)
        needs = vk.VkMemoryRequirements()
        call.vkGetBufferMemoryRequirements(device.handle, self.handle, ctypes.addressof(needs))
        self._memory = device.allocate(needs.size, needs.memoryTypeBits)
        call.vkBindBufferMemory(device.handle, self.handle, self._memory, 0)
        start = ctypes.c_void_p()
        call.vkMapMemory(device.handle, self._memory, 0, needs.size, 0, ctypes.addressof(start))
        self.memory = memoryview((ctypes.c_char * size).from_address(start.value or 0)).cast("B")
        question = vk.VkBufferDeviceAddressInfo(buffer=self.handle)
        self.address = call.vkGetBufferDeviceAddress(device.handle, ctypes.addressof(question))

    def close(self) -> None:
        """Free the buffer; `memory` must not be used any more."""
        if self._device.forget(self):
            self._device.call.vkDestroyBuffer(self._device.handle, self.handle, None)
            self._device.call.vkFreeMemory(self._device.handle, self._memory, None)


class Pipeline:
    """A kernel of a module, compiled for a device.

    name: the entry point.
    constants: specialisation constant -> value, each of 32 bits.
    push_constant_bytes: the size of the block of arguments.
    set_layouts: the layouts of its descriptor sets, from number 0 on.
    sub_group_size: the required subgroup size; None if the device chooses.
    full: whether the work-groups must consist of full subgroups.
    """

    def __init__(
        self,
        device: LogicalDevice,
        spirv: bytes,
        name: str,
        constants: Mapping[int, int],
        push_constant_bytes: int,
        sub_group_size: int | None = None,
        *,
        full: bool = False,
        set_layouts: Sequence[int] = (),
    ) -> None:
        self._device, self._name, self._constants = device, name, constants
        self.handle = self.layout = self._module = 0
        device.register(self)
        try:
            self._create(spirv, push_constant_bytes, set_layouts)
            self._compile(sub_group_size or 0, full)
        except BaseException:
            self.close()
            raise

    def _create(self, spirv: bytes, push_constant_bytes: int, set_layouts: Sequence[int]) -> None:
        device = self._device
        code = ctypes.create_string_buffer(spirv, len(spirv))
        module = vk.VkShaderModuleCreateInfo(codeSize=len(spirv), pCode=ctypes.addressof(code))
        self._module = device.create("vkCreateShaderModule", module)
        block = vk.VkPushConstantRange(stageFlags=_COMPUTE_STAGE, size=push_constant_bytes)
        has_block = push_constant_bytes > 0
        sets = (ctypes.c_uint64 * len(set_layouts))(*set_layouts)
        layout = vk.VkPipelineLayoutCreateInfo(
            setLayoutCount=len(sets),
            pSetLayouts=ctypes.addressof(sets),
            pushConstantRangeCount=int(has_block),
            pPushConstantRanges=ctypes.addressof(block) if has_block else None,
        )
        self.layout = device.create("vkCreatePipelineLayout", layout)

    def _compile(self, sub_group_size: int, full: bool) -> None:
        device, constants = self._device, self._constants
        entries = (vk.VkSpecializationMapEntry * len(constants))(*((c, 4 * i, 4) for i, c in enumerate(constants)))
        values = (ctypes.c_uint32 * len(constants))(*constants.values())
        special = vk.VkSpecializationInfo(
            mapEntryCount=len(constants),
            pMapEntries=ctypes.addressof(entries),
            dataSize=ctypes.sizeof(values),
            pData=ctypes.addressof(values),
        )
        required = vk.VkPipelineShaderStageRequiredSubgroupSizeCreateInfo(requiredSubgroupSize=sub_group_size)
        entry, handle = ctypes.create_string_buffer(self._name.encode()), ctypes.c_uint64()
        stage = vk.VkPipelineShaderStageCreateInfo(
            pNext=ctypes.addressof(required) if sub_group_size else None,
            flags=_REQUIRE_FULL_SUBGROUPS if full else 0,
            stage=_COMPUTE_STAGE,
            module=self._module,
            pName=ctypes.addressof(entry),
            pSpecializationInfo=ctypes.addressof(special) if constants else None,
        )
        info = vk.VkComputePipelineCreateInfo(stage=(stage,), layout=self.layout, basePipelineIndex=-1)
        infos, handles = ctypes.addressof(info), ctypes.addressof(handle)
        device.call.vkCreateComputePipelines(device.handle, 0, 1, infos, None, handles)
        self.handle = handle.value

    def close(self) -> None:
        """Free the pipeline."""
        if self._device.forget(self):
            call, device = self._device.call, self._device.handle
            call.vkDestroyPipeline(device, self.handle, None)
            call.vkDestroyPipelineLayout(device, self.layout, None)
            call.vkDestroyShaderModule(device, self._module, None)
