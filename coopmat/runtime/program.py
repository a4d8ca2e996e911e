"""A compiled module that is built for a device, with its kernels, and the error for code that a device rejects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coopmat.devices import DeviceInfo, health, opencl
from coopmat.diagnostics import Diagnostic, SourceMap
from coopmat.reporting import ShortTraceback

from . import driver
from .executor import LocalMemory
from .fitting import fitted
from .launch_rules import LaunchRules, launch_error

if TYPE_CHECKING:
    from coopmat.compiler import Module


class BuildError(ShortTraceback):
    """An exception that reports a module that a device rejected.

    device: the label of the device.
    options: the build options.
    log: the text of the device's compiler.
    source_path: the path of the file with the rejected code.
    device_failure: why the device cannot build even an empty kernel; None if it can, and the module is at fault.
    diagnostics: the log's messages about the user's source, if the device got OpenCL C.
    sources: the texts of that source.
    """

    def __init__(
        self,
        device: str,
        options: str,
        log: str,
        source_path: str,
        device_failure: str | None = None,
        diagnostics: Sequence[Diagnostic] = (),
        sources: SourceMap | None = None,
    ) -> None:
        self.device, self.options, self.log, self.source_path = device, options, log, source_path
        self.device_failure = device_failure
        self.diagnostics, self.sources = list(diagnostics), sources
        with_options = f" (options: {options})" if options else ""
        text = f"{device} could not build the program{with_options}:\n{log}"
        if device_failure is not None:
            text = f"{device} {health.CANNOT_BUILD}, so no program at all:\n{device_failure}"
        super().__init__(f"{text}\n(the code is saved as {source_path})")

    @classmethod
    def of(cls, error: driver.DriverError, options: str) -> BuildError:
        """Return the error for code that a driver rejected, and write the code to a file."""
        details = error.device_failure, error.diagnostics, error.sources
        return cls(error.device.label, options, str(error), error.keep(), *details)

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.device, self.options, self.log, self.source_path, self.device_failure)
        return type(self), (*fields, self.diagnostics, self.sources)


class Program:
    """A module that is built for one device, with a context and a profiling queue.

    Raises CompileError if the device does not accept the form of the code, BuildError if it rejects the code.
    """

    def __init__(self, module: Module, device: DeviceInfo) -> None:
        driver.require_route(module, device)
        cl = opencl()
        self.device = device
        self.context = cl.Context([device.handle])
        self.queue = cl.CommandQueue(self.context, properties=cl.command_queue_properties.PROFILING_ENABLE)
        self.module, self._program = fitted(module, device, lambda candidate: _build(self.context, candidate, device))

    def kernel(self, name: str | None = None) -> LaunchRules:
        """Return the kernel `name` with the rules for its launch; without a name, the program's only kernel.

        Raises CompileError if the program has no such kernel, or has several kernels and the name is missing.
        """
        kernels = self.module.kernels
        if name is None and len(kernels) == 1:
            name = next(iter(kernels))
        if name is None or name not in kernels:
            what = f"there is no kernel '{name}'" if name else "the program has several kernels; name one"
            raise launch_error(f"{what}; the kernels are: {', '.join(kernels) or 'none'}", "unknown-kernel")
        return LaunchRules(kernels[name], self.device, opencl().Kernel(self._program, name), self)

    def bind(self, kernel: LaunchRules, values: Mapping[str, Any]) -> Launch:
        """Return a launch of a kernel with these arguments (name -> value, in the kernel's order)."""
        return Launch(self, kernel, values)

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """The exceptions of a launch that the device rejects."""
        return (opencl().Error,)


class Launch:
    """A kernel with its arguments on a device, which may be run several times.

    Pointers get buffers, or local memory of the given size; all other arguments are passed by value.
    """

    def __init__(self, program: Program, kernel: LaunchRules, values: Mapping[str, Any]) -> None:
        cl = opencl()
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        self._program, self._kernel, self._values = program, kernel, values
        self._buffers: dict[str, Any] = {}
        for index, parameter in enumerate(kernel.info.parameters):
            value = values[parameter.name]
            if isinstance(value, LocalMemory):
                kernel.handle.set_arg(index, cl.LocalMemory(value.size))
            elif parameter.is_pointer:
                self._buffers[parameter.name] = cl.Buffer(program.context, flags, hostbuf=value)
                kernel.handle.set_arg(index, self._buffers[parameter.name])
            else:
                kernel.handle.set_arg(index, value)

    def run(self, global_size: Sequence[int], local_size: Sequence[int] | None) -> float:
        """Launch the kernel, wait for its end, and return the time on the device in seconds."""
        queue, handle = self._program.queue, self._kernel.handle
        event = opencl().enqueue_nd_range_kernel(queue, handle, global_size, local_size)
        event.wait()
        return float(event.profile.end - event.profile.start) * 1e-9

    def read(self, name: str) -> Any:
        """Return an argument's value after the runs: an array for a pointer, any other as it was passed."""
        value = self._values[name]
        if name not in self._buffers:
            return value
        result = np.empty_like(value)
        opencl().enqueue_copy(self._program.queue, result, self._buffers[name]).wait()
        return result

    def __enter__(self) -> Launch:
        return self

    def __exit__(self, *_: object) -> None:
        self._buffers.clear()


def _build(context: Any, module: Module, device: DeviceInfo) -> Any:
    try:
        return driver.build(context, module, device)
    except driver.DriverError as error:
        raise BuildError.of(error, error.options) from error.error
