"""Programs that are compiled for a device ahead of time, for hosts that build them without this package."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from coopmat import compiler
from coopmat.devices import DeviceInfo, opencl, route_for, unit_for
from coopmat.ir.kernel_info import KernelInfo
from coopmat.matrices.routes import IN_SUB_GROUPS, LOWERED_ROUTES, OPENCL_C_ONLY
from coopmat.options import CompileOptions

from . import driver
from .fitting import fitted
from .instruction_probe import instructions
from .launch import resolve_options
from .launch_rules import launch_error
from .required_subgroups import Part


@dataclass(frozen=True)
class AheadProgram:
    """A compiled program.

    parts: the parts, each with its form ("spirv" or "c"), code, and options for the device's compiler. If there are
        several, they are compiled separately, then linked.
    route: the route of its matrices.
    kernels: name -> description of the kernel.
    """

    parts: tuple[Part, ...]
    route: str
    kernels: dict[str, KernelInfo]


@dataclass(frozen=True)
class AheadTarget:
    """A device, which need not be present, and how programs are compiled for it.

    route: the route of programs, or "auto".
    unit: the route of programs with multiply-adds that `instructions` execute; empty if there is none.
    instructions: the names of the unit's instructions.
    code: the form of programs: "spirv", "c", or "auto" for SPIR-V if the device takes it.
    """

    device: DeviceInfo
    route: str
    unit: str
    instructions: tuple[str, ...]
    code: str

    @classmethod
    def of(cls, device: DeviceInfo, matrices: str = "auto", code: str = "auto") -> AheadTarget:
        """Return the target for a value of `--matrices`.

        A device that is present is asked which instructions it computes correctly. A device that a file describes is
        trusted to have those that `matrices` names; `auto` uses none of them then. Instructions that need the system's
        permission are left out. Raises CompileError if the device computes none of those that `matrices` names.
        """
        is_present, unit = device.handle is not None, matrices if matrices in OPENCL_C_ONLY else ""
        if matrices == "auto" and is_present:
            unit = unit_for(device)
        if not unit or code == "spirv":
            return cls(device, "auto" if unit else matrices, "", (), code)
        rows = LOWERED_ROUTES[unit].every_product if is_present else LOWERED_ROUTES[unit].products
        names = instructions(device, unit) if is_present else [row.name for row in rows]
        allowed = tuple(row.name for row in rows if row.name in names and not row.keeps_state)
        if not allowed and matrices == unit:
            raise launch_error(f"{device.label} executes no instruction of --matrices {unit} correctly", "no-route")
        return cls(device, "auto", unit if allowed else "", allowed, code)

    @property
    def table(self) -> str:
        """The route to the device's instructions; if there are none, that of all programs."""
        return self.unit or (route_for(self.device).matrices if self.route == "auto" else self.route)

    def compile(self, source: str, options: Sequence[str], name: str) -> AheadProgram:
        """Compile a source. On a device that is present, the size of its subgroups is found out by a build.

        Raises CompileError, and DriverError if that build fails.
        """
        parsed = replace(CompileOptions.from_arguments(options), matrices=self.route, code=self.code)
        module = compiler.compile(source, replace(resolve_options(parsed, self.device), unit=""), name=name)
        if self.unit:
            on_unit = replace(parsed, matrices=self.unit, instructions=self.instructions)
            on_unit = resolve_options(on_unit, self.device)
            if module.multiplies_by(on_unit):
                module = compiler.compile(source, on_unit, name=name)
        if self.device.handle is not None and module.matrices in IN_SUB_GROUPS:
            context = opencl().Context([self.device.handle])
            module, _ = fitted(module, self.device, partial(driver.build, context, device=self.device))
        return AheadProgram(driver.parts_of(module, self.device, ()), module.matrices, module.kernels)
