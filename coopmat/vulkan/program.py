"""Programs on Vulkan devices: modules with their launch descriptions, kernels, and launches with numpy arrays."""

from __future__ import annotations

import math
import operator
import os
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coopmat.devices import DeviceInfo
from coopmat.runtime import LocalMemory as LocalMemory, compile_for, launch_error

from . import arguments, requirements
from .descriptors import Descriptors, Objects, set_layouts
from .devices import VulkanDevice, handle_of, select
from .driver import Buffer, LogicalDevice, Pipeline
from .image_values import Image as Image, Sampler as Sampler
from .loader import Instance, VulkanError
from .modules import Argument, KernelLaunch, LaunchDescription
from .regions import Region, bytes_of, upload

if TYPE_CHECKING:
    from coopmat.compiler import Module
    from coopmat.ir.kernel_info import KernelInfo

Sizes = Sequence[int] | int
# The number of work-items in a work-group if neither the caller nor the kernel states it.
_USUAL_WORK_GROUP = 64
# Ids of work-items have 32 bits in Vulkan.
_MOST_WORK_ITEMS = (1 << 32) - 1


class Device:
    """A Vulkan device that runs kernels in this process.

    `name` is a part of its name or its number; without one, it is the first that the loader lists. `close` frees the
    device; so do the end of a `with` statement and the end of the process. Threads may share it. Raises CompileError if
    no device fits.
    """

    def __init__(self, name: str | int | VulkanDevice = "") -> None:
        self.info = name if isinstance(name, VulkanDevice) else _named(str(name))
        self._instance = Instance()
        self._logical: dict[object, LogicalDevice] = {}
        self._lock, self._process = threading.Lock(), os.getpid()
        self._end = weakref.finalize(self, _close, self._instance, self._logical)
        self._handle = handle_of(self._instance, self.info)

    def program(self, source: str | bytes, options: Sequence[str] = (), *, name: str = "<source>") -> Program:
        """Compile OpenCL C for the device. `options` are the compiler's. Raises CompileError."""
        from coopmat.options import CompileOptions

        text = source.encode() if isinstance(source, str) else source
        parsed = CompileOptions.from_arguments(["--matrices", "auto", *options])
        return self.load(compile_for(text, parsed, self.info, name=name))

    def load(self, module: Module) -> Program:
        """Return the program of a module that is compiled for the device. Raises CompileError."""
        launch = module.launch
        if launch is None:
            raise launch_error(f"the module is not for {self.info.label}: compile it with --target-env vulkan1.3")
        return Program(self, module.spirv, launch, module)

    def load_spirv(self, spirv: bytes, description: str | LaunchDescription) -> Program:
        """Return the program of a SPIR-V module and its launch description (`--emit spv,launch`), or that one's JSON.

        Raises CompileError if the device lacks what the module requires or if the two do not belong together,
        ValueError for invalid JSON.
        """
        launch = LaunchDescription.from_json(description) if isinstance(description, str) else description
        requirements.check_module(spirv, launch)
        return Program(self, spirv, launch)

    def logical(self, description: LaunchDescription) -> LogicalDevice:
        """Return a device on which exactly what a module requires is enabled. Raises CompileError as `require_open`."""
        self.require_open()
        wanted = requirements.enabled(self.info, description)
        with self._lock:
            if wanted not in self._logical:
                period = self.info.limits["timestampPeriod"]
                self._logical[wanted] = LogicalDevice(self._instance, self._handle, *wanted, period)
            return self._logical[wanted]

    def require_open(self) -> None:
        """Raise CompileError if the device is closed, or if this process is a fork of the one that opened it."""
        if not self._end.alive:
            raise launch_error(f"{self.info.label} is closed", "closed")
        if self._process != os.getpid():
            text = f"{self.info.label} was opened before this process was forked"
            raise launch_error(f"{text}; start the process by multiprocessing's method 'spawn'", "forked")

    def close(self) -> None:
        """Free everything on the device. Its programs must not be used any more."""
        self._end()

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<coopmat.vulkan.Device {self.info.label}>"


def load(module: Module, device: DeviceInfo) -> Program:
    """Return a compiled module on a device that exists as long as the program. Raises CompileError."""
    assert isinstance(device, VulkanDevice)
    return Device(device).load(module)


def _named(name: str) -> VulkanDevice:
    return select(name if name.casefold() == "vulkan" else f"vulkan:{name.removeprefix('vulkan:')}")


def _close(instance: Instance, logical: dict[object, LogicalDevice]) -> None:
    closed = [logical.popitem()[1].close() for _ in range(len(logical))]
    if all(closed):
        instance.close()


class Program:
    """The kernels of a module on a device; `program.NAME` and `program.kernel(NAME)` return one.

    module: the compiled source; None for SPIR-V from elsewhere.
    Raises CompileError, which names everything that the device lacks.
    """

    errors = (VulkanError,)

    def __init__(self, device: Device, spirv: bytes, launch: LaunchDescription, module: Module | None = None) -> None:
        lacks = requirements.missing(device.info, launch)
        if lacks:
            raise launch_error(f"{device.info.label} lacks {'; '.join(lacks)}", "vulkan-device")
        self.device, self.spirv, self.launch, self.module = device, spirv, launch, module
        self._pipelines: dict[object, Pipeline] = {}
        self._layouts: dict[str, tuple[Objects, list[int]]] = {}
        self._lock = threading.RLock()
        weakref.finalize(self, _free, self._pipelines, self._layouts)

    @property
    def kernels(self) -> list[str]:
        return list(self.launch.kernels)

    def kernel(self, name: str | None = None) -> Kernel:
        """Return the kernel `name`; without a name, the program's only kernel. Raises CompileError."""
        if name is None and len(self.launch.kernels) == 1:
            name = next(iter(self.launch.kernels))
        if name is None or name not in self.launch.kernels:
            what = f"there is no kernel '{name}'" if name else "the program has several kernels; name one"
            raise launch_error(f"{what}; the kernels are: {', '.join(self.kernels) or 'none'}", "unknown-kernel")
        return Kernel(self, name, self.launch.kernels[name])

    def __getattr__(self, name: str) -> Kernel:
        if "launch" not in self.__dict__ or name not in self.launch.kernels:
            raise AttributeError(f"the program has no kernel '{name}'")
        return self.kernel(name)

    def bind(self, kernel: Kernel, values: Mapping[str, Any]) -> Launch:
        """Return a launch of a kernel with these arguments (name -> value). Raises CompileError."""
        names = [row.name for row in kernel.description.arguments]
        wrong = [f"'{name}' is none of them" for name in values if name not in names]
        wrong += [f"'{name}' is missing" for name in names if name not in values]
        if wrong:
            text = f"kernel '{kernel.name}' has the arguments {', '.join(names) or 'none'}"
            raise launch_error(f"{text}: {', '.join(wrong)}", "argument")
        return Launch(kernel, [values[name] for name in names])

    def pipeline(self, kernel: Kernel, local_size: Sequence[int], lengths: Mapping[int, int]) -> Pipeline:
        """Return a kernel, compiled for a local size and the lengths of its arguments in local memory."""
        key = kernel.name, tuple(local_size), tuple(lengths.items())
        with self._lock:
            if key not in self._pipelines:
                self._pipelines[key] = self._compiled(kernel, local_size, lengths)
            return self._pipelines[key]

    def _compiled(self, kernel: Kernel, local_size: Sequence[int], lengths: Mapping[int, int]) -> Pipeline:
        sizes = dict(zip(self.launch.work_group_size_ids, (*local_size, 1, 1), strict=False))
        full = requirements.FULL_SUBGROUPS in self.device.info.features and local_size[0] % kernel.sub_group_size == 0
        block = kernel.description.push_constant_bytes
        on, size = self.device.logical(self.launch), kernel.required_sub_group_size
        constants, layouts = {**sizes, **lengths}, self.set_layouts(kernel)
        return Pipeline(on, self.spirv, kernel.name, constants, block, size, full=full, set_layouts=layouts)

    def set_layouts(self, kernel: Kernel) -> list[int]:
        """Return the layouts of the descriptor sets of a kernel; none if it has no images and samplers."""
        with self._lock:
            if kernel.name not in self._layouts:
                objects = Objects(self.device.logical(self.launch))
                self._layouts[kernel.name] = objects, set_layouts(objects, self.launch, kernel.description)
            return self._layouts[kernel.name][1]


def _free(pipelines: dict[object, Pipeline], layouts: dict[str, tuple[Objects, list[int]]]) -> None:
    while pipelines:
        pipelines.popitem()[1].close()
    while layouts:
        layouts.popitem()[1][0].close()


class Kernel:
    """A kernel of a program.

    Called with a global size, a local size (or None) and the arguments, it runs, and returns its time on the device in
    seconds. Arguments are numpy arrays, numbers, LocalMemory(bytes), Image and Sampler. Arrays and images that may be
    written have the kernel's results afterwards. The global size must be a multiple of the local size. Raises
    CompileError for a wrong argument or size, VulkanError if the driver fails.
    """

    def __init__(self, program: Program, name: str, description: KernelLaunch) -> None:
        self.program, self.name, self.description = program, name, description
        device = program.device.info
        self.required_sub_group_size, fault = requirements.required_sub_group_size(device, name, description)
        if fault:
            raise launch_error(fault, "sub-group-size")

    @property
    def info(self) -> KernelInfo:
        """The compiler's description of the kernel; only programs that were compiled here have one."""
        assert self.program.module is not None
        return self.program.module.kernels[self.name]

    @property
    def sub_group_size(self) -> int:
        return self.description.sub_group_size or self.program.device.info.sub_group_size

    @property
    def _needs_full_sub_groups(self) -> bool:
        if self.program.module is not None:
            return self.info.uses_matrices and self.info.sub_group_size != 1
        return self.description.sub_group_size not in (None, 1) or bool(self.program.launch.requires.matrix_types)

    def __call__(self, global_size: Sizes, local_size: Sizes | None, *values: Any) -> float:
        with Launch(self, values) as launch:
            seconds = launch.run(global_size, local_size)
            launch.copy_back()
        return seconds

    def local_size_for(self, global_size: Sequence[int], local_size: Sequence[int] | None) -> tuple[int, ...]:
        """Return the checked local size of a launch. Raises CompileError, which names the sizes, if it cannot work."""
        required = self.description.work_group_size
        if required is not None:
            own = required[: len(global_size)]
            if math.prod(required) != math.prod(own):
                text = f"kernel '{self.name}' requires work-groups of {required}"
                raise launch_error(f"{text}, and global size {tuple(global_size)} has fewer dimensions")
            if local_size is not None and tuple(local_size) != own:
                label = f"local size {tuple(local_size)}"
                raise launch_error(f"{label} for kernel '{self.name}', which requires {own}")
            local_size = own
        chosen = self._chosen(global_size) if local_size is None else tuple(local_size)
        if len(chosen) != len(global_size):
            raise launch_error(f"global size {tuple(global_size)} and local size {chosen} differ in dimensions")
        if any(g % w for g, w in zip(global_size, chosen, strict=True)):
            message = f"global size {tuple(global_size)} is no multiple of local size {chosen}"
            raise launch_error(f"{message}: Vulkan executes whole work-groups only", "partial-work-group")
        if self._needs_full_sub_groups and chosen[0] % self.sub_group_size:
            message = f"local size {chosen}: its first number is no multiple of the subgroup size {self.sub_group_size}"
            raise launch_error(f"{message}; partial subgroups cannot hold a matrix", "partial-subgroup")
        self._check_limits(global_size, chosen)
        return chosen

    def _chosen(self, global_size: Sequence[int]) -> tuple[int, ...]:
        """Return a local size with one row: one subgroup for matrices, else a divisor of the global size."""
        if self._needs_full_sub_groups:
            return (self.sub_group_size, *(1 for _ in global_size[1:]))
        first = next(n for n in range(_USUAL_WORK_GROUP, 0, -1) if global_size[0] % n == 0)
        return (first, *(1 for _ in global_size[1:]))

    def _check_limits(self, global_size: Sequence[int], local_size: Sequence[int]) -> None:
        limits = self.program.device.info.limits
        most = limits["maxComputeWorkGroupInvocations"]
        if math.prod(local_size) > most:
            raise launch_error(f"local size {tuple(local_size)} has more than the device's {most} work-items")
        size, count = self.required_sub_group_size, limits["maxComputeWorkgroupSubgroups"]
        if size is not None and math.prod(local_size) > size * count:
            text = f"local size {tuple(local_size)} has more than the device's {count} subgroups in a work-group"
            raise launch_error(f"{text}, of {size} work-items each")
        for g, w, largest, groups in zip(
            global_size, local_size, limits["maxComputeWorkGroupSize"], limits["maxComputeWorkGroupCount"], strict=False
        ):
            if w > largest:
                raise launch_error(f"local size {tuple(local_size)}: the device has at most {largest} in a dimension")
            if g // w > groups:
                text = f"global size {tuple(global_size)} with local size {tuple(local_size)}"
                raise launch_error(f"{text} has more than the device's {groups} work-groups in a dimension")
            if g > _MOST_WORK_ITEMS:
                raise launch_error(f"global size {tuple(global_size)} has more than {_MOST_WORK_ITEMS} in a dimension")


class Launch:
    """A kernel with its arguments on a device, which may be run several times; `close` frees the buffers.

    Raises CompileError for a wrong argument.
    """

    def __init__(self, kernel: Kernel, values: Sequence[Any]) -> None:
        self._kernel, program = kernel, kernel.program
        described = kernel.description.arguments
        if len(values) != len(described):
            expected = ", ".join(f"{row.type} {row.name}" for row in described) or "none"
            message = f"kernel '{kernel.name}' takes {len(described)} arguments ({expected}), not {len(values)}"
            raise launch_error(message, "argument")
        info = program.device.info
        checked = [arguments.check(kernel.name, row, value, info) for row, value in zip(described, values, strict=True)]
        self._device = program.device.logical(program.launch)
        self._buffers: list[Buffer] = []
        self._regions: dict[int, Region] = {}
        self._values = list(values)
        self._lengths: dict[int, int] = {}
        self._local_bytes = kernel.description.local_bytes
        self._is_open = True
        layouts = program.set_layouts(kernel)
        self._descriptors = Descriptors(self._device, program.launch, kernel.description, layouts)
        try:
            arrays = {n: checked[n] for n, row in enumerate(described) if row.kind == "address"}
            self._regions = upload(self._device, arrays, self._buffers)
            self._block = self._filled(checked)
        except BaseException:
            self.close()
            raise

    def _filled(self, checked: Sequence[Any]) -> bytes:
        """Return the block of push constants with the addresses of the buffers and all other values."""
        description = self._kernel.description
        block = bytearray(description.push_constant_bytes)
        rows = zip(description.arguments, checked, strict=True)
        linear = {row.name for row, value in rows if isinstance(value, Sampler) and value.filter == "linear"}
        for position, (row, value) in enumerate(zip(description.arguments, checked, strict=True)):
            if row.kind == "local":
                self._lengths[row.spec_id or 0] = value
                self._local_bytes += value * (row.element_bytes or 1)
            elif row.kind in ("image", "sampler"):
                self._add_handle(position, row, value, block, linear)
            else:
                data = self._address(row, self._regions[position]) if row.kind == "address" else value
                block[row.offset or 0 : (row.offset or 0) + len(data)] = data
        return bytes(block)

    def _add_handle(
        self, position: int, row: Argument, value: Image | Sampler, block: bytearray, linear: set[str]
    ) -> None:
        """Create an image or sampler, and write the numbers about it that the kernel asks for.

        `linear` has the names of the linear samplers among the arguments.
        """
        if isinstance(value, Image):
            is_linear = bool(row.linear) or not linear.isdisjoint(row.samplers or ())
            self._descriptors.add_image(position, row, value, is_linear=is_linear)
            pushed = {row.order_offset: value.order_number, row.data_type_offset: value.data_type_number}
        else:
            self._descriptors.add_sampler(row, value)
            pushed = {row.mask_offset: value.mask}
        for offset, number in pushed.items():
            if offset is not None:
                block[offset : offset + 4] = number.to_bytes(4, "little")

    def _address(self, row: Argument, region: Region) -> bytes:
        """Return the bytes of a region's address."""
        if region.address % (row.alignment or 1):
            text = f"the buffer of '{row.name}' is at no multiple of {row.alignment} bytes, which the kernel requires"
            shared = " (it is a part of another argument's array)" if region.start else ""
            raise launch_error(f"{text}{shared}", "alignment")
        return region.address.to_bytes(8, sys.byteorder)

    def _require_open(self) -> None:
        self._kernel.program.device.require_open()
        if not self._is_open:
            raise launch_error(f"the launch of kernel '{self._kernel.name}' is closed", "closed")

    def run(self, global_size: Sizes, local_size: Sizes | None) -> float:
        """Run the kernel once, and return its time on the device in seconds. Raises CompileError and VulkanError."""
        self._require_open()
        total = _sizes(global_size, "global size")
        chosen = None if local_size is None else _sizes(local_size, "local size")
        local = self._kernel.local_size_for(total, chosen)
        self._check_local_memory(local)
        pipeline = self._kernel.program.pipeline(self._kernel, local, self._lengths)
        groups = [g // w for g, w in zip(total, local, strict=True)]
        return self._device.run(pipeline, self._block, [*groups, 1, 1][:3], self._descriptors.sets)

    def _check_local_memory(self, local_size: Sequence[int]) -> None:
        device = self._kernel.program.device.info
        needed = self._local_bytes + self._kernel.description.local_item_bytes * math.prod(local_size)
        if needed > device.local_memory:
            text = f"kernel '{self._kernel.name}' needs {needed} bytes of local memory"
            raise launch_error(f"{text}, and {device.label} has {device.local_memory}", "vulkan-device")

    def read(self, name: str) -> Any:
        """Return an argument's value after the runs: an array for a pointer or image, any other as it was passed.

        Raises CompileError for an unknown name.
        """
        self._require_open()
        names = [row.name for row in self._kernel.description.arguments]
        if name not in names:
            text = f"kernel '{self._kernel.name}' has no argument '{name}', but {', '.join(names) or 'none'}"
            raise launch_error(text, "argument")
        position = names.index(name)
        data = self._bytes(position)
        if data is None:
            return self._values[position]
        result = np.empty_like(_array(self._values[position]))
        bytes_of(result)[:] = data
        return result

    def _bytes(self, position: int) -> np.ndarray[Any, Any] | None:
        """Return the bytes of a buffer or image after the runs; None for other arguments."""
        if position in self._regions:
            return self._regions[position].data
        return self._descriptors.read(position)

    def copy_back(self) -> None:
        """Copy all buffers and images to their arrays. Raises CompileError if a read-only array would change."""
        self._require_open()
        rows = enumerate(self._kernel.description.arguments)
        found = [(row.name, _array(self._values[n]), self._bytes(n)) for n, row in rows if row.access != "read_only"]
        arrays = [(name, array, data) for name, array, data in found if data is not None]
        # Read-only arrays are last, since they may overlap others.
        for name, array, data in sorted(arrays, key=lambda one: not one[1].flags.writeable):
            if array.flags.writeable:
                bytes_of(array)[:] = data
            elif not np.array_equal(bytes_of(array), data):
                text = f"kernel '{self._kernel.name}' writes '{name}', whose array is read-only"
                raise launch_error(text, "argument")

    def close(self) -> None:
        """Free the buffers and images."""
        self._is_open = False
        self._regions = {}
        self._descriptors.close()
        while self._buffers:
            self._buffers.pop().close()

    def __enter__(self) -> Launch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _array(value: Any) -> np.ndarray[Any, Any]:
    return value.array if isinstance(value, Image) else value


def _sizes(value: Sizes, what: str) -> tuple[int, ...]:
    try:
        sizes = (value,) if isinstance(value, (int, np.integer)) else tuple(value)
        sizes = tuple(map(operator.index, sizes))
    except TypeError:
        sizes = ()
    if not 1 <= len(sizes) <= 3 or min(sizes) < 1:
        raise launch_error(f"a {what} has one to three positive integers, not {value}")
    return sizes
