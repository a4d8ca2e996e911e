"""Vulkan modules from the compiler's SPIR-V for OpenCL: each pass is one file.

    converted = convert(spirv, tuple(module.kernels.values()), "vulkan1.3")
    converted.spirv, converted.launch.to_json()

The passes expect inlined functions and variables promoted to values as far as possible (the emitter's pipeline
"vulkan"). docs/vulkan.md lists what is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...foreign.consumers import Parts
from ...spirv.module import OP, Module
from ...spirv.refusal import Refused as Refused
from .addresses import addresses
from .builtins import builtins
from .context import Context, Kernel, Parameter
from .declarations import declarations
from .described import describe
from .extended import extended, vector_data
from .groups import async_copies, groups
from .images import images
from .interface import interface
from .launch import Argument as Argument, KernelLaunch as KernelLaunch, LaunchDescription as LaunchDescription
from .logical import logical
from .matrices import matrices
from .members import members
from .memory_model import memory_model
from .places import Places
from .pointers import STRUCT, drop_markers
from .printing import printing
from .reflection import reflection
from .scalars import comparisons, constant_expressions, flags, float_atomics, null_pointers, roundings
from .structure import structure
from .unaligned import unaligned
from .wide_vectors import wide_vectors


class KernelInfo(Kernel, Protocol):
    """A kernel with its parameters."""

    @property
    def parameters(self) -> Sequence[Parameter]: ...


@dataclass(frozen=True, slots=True)
class Converted:
    """A Vulkan module and the description for its host."""

    spirv: bytes
    launch: LaunchDescription


_PASSES: tuple[Callable[[Context], None], ...] = (
    constant_expressions,
    printing,
    interface,
    addresses,
    drop_markers,
    comparisons,
    null_pointers,
    flags,
    vector_data,
    wide_vectors,
    extended,
    roundings,
    async_copies,
    float_atomics,
    logical,
    members,
    images,
    groups,
    builtins,
    unaligned,
    memory_model,
    matrices,
)


# Instructions that apply a function to components of matrices -> where the function is among the operands. All other
# calls are inlined.
_APPLIED = {OP["OpCooperativeMatrixPerElementOpEXT"]: (1,), OP["OpCooperativeMatrixReduceEXT"]: (2,)}


def _check(context: Context) -> None:
    """Raise Refused for modules that no pass can convert."""
    if not context.entries:
        raise context.refused("a source without kernels: declare a function as kernel")
    for item in context.parts.globals.items:
        if item.opcode == STRUCT and context.layout.is_unaligned(item.result or 0):
            what = "a packed struct whose members are not aligned: order or pad its members"
            raise context.refused(what, item.result)


def convert(spirv: bytes, kernels: Sequence[KernelInfo], target_env: str) -> Converted:
    """Return the Vulkan module for a module of kernels.

    Raise Refused if the target lacks a construct of the module, and MalformedModule.
    """
    parts = Parts.of(Module.parse(spirv))
    parameters = {kernel.name: kernel.parameters for kernel in kernels}
    context = Context(parts, target_env, {kernel.name: kernel for kernel in kernels}, parameters)
    places = Places(context)
    try:
        return _converted(context)
    except Refused as error:
        raise places.locate(error) from None


def _converted(context: Context) -> Converted:
    parts = context.parts
    applied = {item.operands[at] for body in parts.functions for item in body for at in _APPLIED.get(item.opcode, ())}
    parts.functions[:] = [body for body in parts.functions if body[0].result in {*context.entries, *applied}]
    _check(context)
    for run in _PASSES:
        run(context)
    describe(context)
    structure(parts)
    requirements = declarations(context)
    described = reflection(context)
    parts.write()
    parts.module.instructions += described
    launch = LaunchDescription(context.target_env, requirements, context.launches, samplers=tuple(context.samplers))
    return Converted(parts.module.to_bytes(), launch)
