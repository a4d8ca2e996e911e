"""How a worker builds and launches kernels: by OpenCL, or by Vulkan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

import coopmat.compiler as compiler
from coopmat.devices import DeviceInfo, opencl
from coopmat.devices.sub_groups import chooses_size, kernel_size
from coopmat.matrices.numpy_reference import Array
from coopmat.runtime import LocalMemory, driver

from .experiment import Argument


class Executor(Protocol):
    """A context on a device.

    errors: the exceptions of launches that the device rejects.
    chooses_size: whether the device's compiler, and not the kernel, chooses the subgroup size.
    """

    errors: tuple[type[Exception], ...]
    chooses_size: bool

    def build(self, module: compiler.Module, options: Sequence[str], *, contained: bool) -> Any:
        """Return the built program; `contained` as in `driver.build`. Raises the errors of the build."""

    def kernel(self, program: Any, name: str) -> Any: ...

    def size(self, kernel: Any, local_size: int) -> int:
        """Return the size of a kernel's subgroups in work-groups of `local_size`; 0 if it is unknown."""

    def launch(self, kernel: Any, arguments: Sequence[Argument], items: int, local_size: int) -> list[Array]:
        """Launch a kernel with `items` work-items, and return the contents of its buffers afterwards.

        The initial contents are returned for arguments in local memory, which the host cannot read.
        """


class OpenCLExecutor:
    """The executor for OpenCL devices, with one context and one queue."""

    def __init__(self, device: DeviceInfo) -> None:
        self.cl, self.device = opencl(), device
        self.errors: tuple[type[Exception], ...] = (self.cl.Error,)
        self.chooses_size = chooses_size(device)
        self.context = self.cl.Context([device.handle])
        self.queue = self.cl.CommandQueue(self.context)

    def build(self, module: compiler.Module, options: Sequence[str], *, contained: bool) -> Any:
        return driver.build(self.context, module, self.device, list(options), contained=contained)

    def kernel(self, program: Any, name: str) -> Any:
        return self.cl.Kernel(program, name)

    def size(self, kernel: Any, local_size: int) -> int:
        return kernel_size(kernel, self.device, (local_size,))

    def launch(self, kernel: Any, arguments: Sequence[Argument], items: int, local_size: int) -> list[Array]:
        cl = self.cl
        buffers = [self._argument(argument) for argument in arguments]
        kernel.set_args(*buffers)
        cl.enqueue_nd_range_kernel(self.queue, kernel, (items,), (local_size,))
        results = [np.empty_like(argument.in_memory) for argument in arguments]
        for result, buffer, argument in zip(results, buffers, arguments, strict=True):
            if argument.space == "local":
                result[...] = argument.in_memory
            else:
                cl.enqueue_copy(self.queue, result, buffer, is_blocking=False)
        self.queue.finish()
        return [argument.contents(result) for argument, result in zip(arguments, results, strict=True)]

    def _argument(self, argument: Argument) -> Any:
        cl = self.cl
        if argument.space == "local":
            return cl.LocalMemory(argument.in_memory.nbytes)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        return cl.Buffer(self.context, flags, hostbuf=argument.in_memory)


class VulkanExecutor:
    """The executor for Vulkan devices."""

    def __init__(self, device: DeviceInfo) -> None:
        from coopmat import vulkan

        assert isinstance(device, vulkan.VulkanDevice)
        self.errors: tuple[type[Exception], ...] = (vulkan.VulkanError,)
        self.chooses_size = False
        self._device = vulkan.Device(device)

    def build(self, module: compiler.Module, options: Sequence[str], *, contained: bool) -> Any:
        return self._device.load(module)

    def kernel(self, program: Any, name: str) -> Any:
        return program.kernel(name)

    def size(self, kernel: Any, local_size: int) -> int:
        return int(kernel.sub_group_size)

    def launch(self, kernel: Any, arguments: Sequence[Argument], items: int, local_size: int) -> list[Array]:
        results = [argument.in_memory.copy() for argument in arguments]
        values = [
            LocalMemory(result.nbytes) if argument.space == "local" else result.view(np.uint8)
            for argument, result in zip(arguments, results, strict=True)
        ]
        kernel((items,), (local_size,), *values)
        return [argument.contents(result) for argument, result in zip(arguments, results, strict=True)]


def executor_for(device: DeviceInfo) -> Executor:
    return VulkanExecutor(device) if device.target_env else OpenCLExecutor(device)
