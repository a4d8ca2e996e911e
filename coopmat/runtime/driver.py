"""A compiled module at a driver: handed over in the form that the device takes, built, or refused."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from coopmat.cache import places
from coopmat.compiler import Module
from coopmat.devices import DeviceInfo, health, opencl, route_for
from coopmat.devices.environment import quietly as quietly
from coopmat.devices.query import COOPERATIVE_MATRIX
from coopmat.diagnostics import Diagnostic, SourceMap
from coopmat.matrices.lowering import exported, prelude
from coopmat.opencl_c import logs
from coopmat.options import LINKED

from .launch_rules import launch_error

_SPIRV = (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03")


class DriverError(Exception):
    """A driver refused what it was given: `error` is pyopencl's, with the driver's log in its text; `code` SPIR-V or
    OpenCL C; `options` what it was built with.

    `diagnostics` are what the log says of the user's source, `sources` its text: where the driver was given OpenCL C.
    `device_failure` is why the device builds nothing at all (`coopmat.devices.health`), None where it does.
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
        # Asked only now, so that what can be built is built without asking.
        self.device_failure = health.build_failure(device)
        # What such a device says is not about the source.
        self.diagnostics, self.sources = diagnostics if self.device_failure is None else (), sources

    def keep(self) -> str:
        """Writes the code to a file, where the newest of such are kept; its path, or why it has none."""
        try:
            return str(places.keep_refused(self.code, ".spv" if self.code[:4] in _SPIRV else ".cl"))
        except OSError as error:
            return f"nothing: {error}"


def require_route(module: Module, device: DeviceInfo) -> None:
    """Raise CompileError where the device is known not to take such code: a driver's own message would not help the
    user."""
    if module.code == "c":
        return
    if not device.takes_spirv:
        raise launch_error(f"{device.label} takes no SPIR-V; use --code c", "no-route")
    if module.matrices != "native" or COOPERATIVE_MATRIX in device.extensions or module.options.variants:
        # What a device was found to do is checked when the source is compiled for it.
        return
    names = [kernel.name for kernel in module.kernels.values() if kernel.uses_matrices]
    if names:
        text = f"{device.label} has no {COOPERATIVE_MATRIX}, which {', '.join(names)} needs as compiled"
        raise launch_error(f"{text}; use --matrices {route_for(device).matrices}", "no-route")


def _linked(context: Any, code: bytes, prelude: str, device: DeviceInfo, options: Sequence[str]) -> Any:
    """SPIR-V together with the C that it calls functions of."""
    native, devices = opencl()._cl, [device.handle]
    parts = native._create_program_with_il(context, code), native._Program(context, exported(prelude).encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # A processor without AMX has no code for what nobody calls, either.
        words_of_c = ("-cl-std=CL3.0", "-w", *(() if b"cm_tile_load" in code else ("-DCM_NO_TILES",)))
        for part, words in zip(parts, ((), words_of_c), strict=True):
            part.compile(" ".join(words).encode(), devices, [])
        return native._Program.link(context, list(parts), " ".join(options).encode(), devices)


def build(context: Any, module: Module, device: DeviceInfo, options: Sequence[str] = ()) -> Any:
    """pyopencl's program of the module, built for one device of the context; `options` are for the driver, besides
    those that the code itself needs. Raises DriverError; CompileError and InternalError where there is no code,
    or none that the device takes."""
    require_route(module, device)
    cl = opencl()
    in_c = module.code == "c"
    code = module.opencl_c.encode() if in_c else module.spirv
    words = [*module.opencl_c_options, *options] if in_c else list(options)
    try:
        if module.options.code == LINKED:
            return _linked(context, code, prelude(module.matrices)[0], device, options)
        program = cl._cl._Program(context, code) if in_c else cl._cl._create_program_with_il(context, code)
        return quietly(program, words, [device.handle])
    except cl.Error as error:
        diagnostics = logs.diagnostics(str(error), module.sources, code.decode()) if in_c else ()
        raise DriverError(device, error, code, " ".join(words), diagnostics, module.sources) from error
