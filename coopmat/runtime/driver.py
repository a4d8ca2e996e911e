"""Compiled modules at a driver: passed on in the form that the device accepts, and built or rejected."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from typing import Any

from coopmat.cache import directories
from coopmat.compiler import Module
from coopmat.devices import DeviceInfo, health, may_crash, mistakes_sub_group_barriers, opencl, route_for
from coopmat.devices.environment import quietly as quietly
from coopmat.devices.query import COOPERATIVE_MATRIX
from coopmat.devices.raw import driver_of
from coopmat.diagnostics import Diagnostic, SourceMap
from coopmat.matrices.lowering import exported, prelude
from coopmat.options import LINKED

from . import guarded
from .build_server import scalar_kernels
from .launch_rules import launch_error
from .required_subgroups import Part, required_sizes

logger = logging.getLogger("coopmat.build")

_SPIRV = (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03")


class DriverError(Exception):
    """An exception that reports code that a driver rejected.

    device: the device.
    error: pyopencl's exception, with the driver's log in its text.
    code: the rejected SPIR-V or OpenCL C.
    options: the build options.
    diagnostics: the log's messages about the user's source, if the driver got OpenCL C.
    sources: the texts of that source.
    device_failure: why the device cannot build even an empty kernel (`coopmat.devices.health`); None if it can.
    """

    def __init__(
        self,
        device: DeviceInfo,
        error: Exception,
        code: bytes,
        options: str = "",
        diagnostics: Sequence[Diagnostic] = (),
        sources: SourceMap | None = None,
    ) -> None:
        super().__init__(str(error))
        self.device, self.error, self.code, self.options = device, error, code, options
        # Checked only after a failure, so that a successful build does not need the check.
        self.device_failure = health.build_failure(device)
        # The log of a device that can build nothing does not concern the source.
        self.diagnostics, self.sources = diagnostics if self.device_failure is None else (), sources

    def __reduce__(self) -> Any:
        # In another process the device's handle has no meaning.
        return RuntimeError, (str(self),)

    def keep(self) -> str:
        """Write the code to a file, as the function `keep` does."""
        return keep(self.code)


def keep(code: bytes) -> str:
    """Write rejected code to a file, and return the path, or a text that says why the code was not written.

    Only the newest of these files are kept.
    """
    try:
        return str(directories.keep_refused(code, ".spv" if code[:4] in _SPIRV else ".cl"))
    except OSError as error:
        return f"nothing: {error}"


def require_route(module: Module, device: DeviceInfo) -> None:
    """Raise CompileError if the device is known not to accept such code.

    The driver's own message would not help the user.
    """
    if module.code == "c":
        return
    if not device.takes_spirv:
        raise launch_error(f"{device.label} takes no SPIR-V; use --code c", "no-route")
    if module.matrices != "native" or COOPERATIVE_MATRIX in device.extensions or module.options.variants:
        # The compiler has checked the source against the multiply-adds that the device lists or proved to compute.
        return
    names = [kernel.name for kernel in module.kernels.values() if kernel.uses_matrices]
    if names:
        text = f"{device.label} has no {COOPERATIVE_MATRIX}, which {', '.join(names)} needs as compiled"
        raise launch_error(f"{text}; use --matrices {route_for(device).matrices}", "no-route")


def spirv_for(module: Module, device: DeviceInfo) -> bytes:
    """Return the module's SPIR-V in the form that the device executes correctly.

    If the device mistakes subgroup barriers, they are replaced by calls of the builtin function.
    """
    if not mistakes_sub_group_barriers(device):
        return module.spirv
    from coopmat.faults import call_barrier_builtin

    return call_barrier_builtin(module.spirv)


def parts_of(module: Module, device: DeviceInfo, options: Sequence[str]) -> tuple[Part, ...]:
    """Return the parts from which a driver builds the module's program.

    There is one part, or SPIR-V and the OpenCL C library with which it is linked.
    """
    own = " ".join([*module.device_options, *options])
    if module.code == "c":
        return (("c", module.opencl_c.encode(), own),)
    if module.options.code != LINKED:
        return (("spirv", spirv_for(module, device), own),)
    # SPIR-V, and the OpenCL C whose functions it calls. Without AMX, functions for tiles cannot be compiled, even if
    # nothing calls them, so they are left out.
    words = "-cl-std=CL3.0 -w" + ("" if b"cm_tile_load" in module.spirv else " -DCM_NO_TILES")
    code, library = spirv_for(module, device), exported(prelude(module.matrices)[0]).encode()
    return ("spirv", code, " ".join(module.device_options)), ("c", library, words)


def _built(context: Any, parts: Sequence[Part], device: DeviceInfo, options: str) -> Any:
    """Build a program from its parts in this process, and return pyopencl's program."""
    native, devices = opencl()._cl, [device.handle]
    made = [
        native._create_program_with_il(context, code) if form == "spirv" else native._Program(context, code)
        for form, code, _ in parts
    ]
    if len(parts) == 1:
        return quietly(made[0], [parts[0][2]], devices)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for program, part in zip(made, parts, strict=True):
            _compile(program, part, device)
        return native._Program.link(context, made, options.encode(), devices)


def _compile(program: Any, part: Part, device: DeviceInfo) -> None:
    """Compile a part without linking.

    PoCL 3.0 caches objects and programs under the same key, source and options. If a program is then built from the
    entry of an object, the launch of its kernel aborts the process. The macro makes the key of an object different.
    """
    form, _, words = part
    mark = " -D__coopmat_object" if form == "c" else ""
    program.compile((words + mark).encode(), [device.handle], [])


def compile_object(context: Any, module: Module, device: DeviceInfo, options: Sequence[str]) -> Any:
    """Compile the module for one device of the context without linking, and return pyopencl's program.

    Raises DriverError if the driver rejects the code, CompileError if the device does not accept the form of the code.
    """
    require_route(module, device)
    (part,) = parts = parts_of(module, device, options)
    form, code, words = part
    native = opencl()._cl
    try:
        library = driver_of(device.handle) if may_crash(device) else ""
        if library:
            # Another process builds first, to find out whether the compiler crashes.
            guarded.first_build(device, library, parts)
        program = native._create_program_with_il(context, code) if form == "spirv" else native._Program(context, code)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _compile(program, part, device)
    except (opencl().Error, guarded.Crash) as error:
        raise DriverError(device, error, code, words) from error
    return program


def prepare(device: DeviceInfo) -> None:
    """Start the process that a build for the device will need, in parallel to the caller's other work."""
    if may_crash(device):
        guarded.start(driver_of(device.handle))


def _built_apart(context: Any, parts: Sequence[Part], device: DeviceInfo, options: str) -> Any:
    """Return the program from a build in another process, or None.

    The result is None if the other process returns no binary, or if the driver rejects it. Raises guarded.Crash.
    """
    library = driver_of(device.handle)
    built = guarded.first_build(device, library, parts, options) if library else None
    if built is None or not built.data:
        return None
    cl = opencl()
    try:
        return quietly(cl._cl._Program(context, [device.handle], [built.data]), [options], [device.handle])
    except cl.Error as error:
        logger.info("%s rejected its own binary, and the program is built again: %s", device.label, error)
        return None


def _runs_scalar(program: Any, parts: Sequence[Part], device: DeviceInfo) -> bool:
    """Return whether any kernel of a built program does not run in the subgroups that it requires."""
    log = program.get_build_info(device.handle, opencl().program_build_info.LOG)
    return bool(scalar_kernels(log, required_sizes(parts)))


def build(
    context: Any, module: Module, device: DeviceInfo, options: Sequence[str] = (), *, contained: bool = False
) -> Any:
    """Build the module for one device of the context, and return pyopencl's program.

    `options` are for the driver, besides those of the code. `contained`: the caller accepts that a crash
    of the driver ends this process. Otherwise, if the driver may crash, a separate process builds the program first
    (`guarded`). Raises DriverError if the driver rejects the code.
    Raises CompileError and InternalError if no code can be generated, or none that the device accepts.
    """
    require_route(module, device)
    parts, words = parts_of(module, device, options), " ".join(options)
    try:
        program = _built_apart(context, parts, device, words) if may_crash(device) and not contained else None
        program = program or _built(context, parts, device, words)
        if contained and may_crash(device) and _runs_scalar(program, parts, device):
            program = _built_apart(context, parts, device, words) or program
        return program
    except (opencl().Error, guarded.Crash) as error:
        code, of_code = parts[0][1:]
        in_c = module.code == "c"
        from coopmat.opencl_c import logs  # it needs the front end, which programs from the cache start without

        diagnostics = logs.diagnostics(str(error), module.sources, code.decode()) if in_c else ()
        raise DriverError(device, error, code, of_code or words, diagnostics, module.sources) from error
