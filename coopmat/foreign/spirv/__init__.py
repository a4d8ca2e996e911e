"""The lowering of cooperative matrices in SPIR-V: types become private arrays, instructions library calls.

    prepared = prepare(binary, "lanes", sub_group_size=16)     # a module without matrices, its calls not yet linked
    library = Library(compile_text)                            # OpenCL C to typed.Unit; may serve many modules
    for target, functions in prepared.library_functions.items():
        library.need(target, functions.values())               # compiles only functions that are missing
    spirv = link(prepared, library)

To lower many modules, prepare all of them, and pass the union of their library functions to the library. This takes one
compilation for each target. Then link each module. `prepare` and `link` take a few milliseconds each.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...faults import avoid_device_faults
from ...matrices.routes import DEFAULT_TUNING, LOWERED_ROUTES, Tuning
from ...spirv.checks import check_types as check_types
from ...spirv.module import Module
from ...spirv.refusal import Refused as Refused
from .library import Library as Library
from .link import link as link
from .module_lowering import ModuleLowering, Prepared as Prepared, check_memory_model, kernels_of as kernels_of
from .spirv_requirements import find_requirements as find_requirements


def read(binary: bytes) -> Module:
    """Return the module of a binary. Raise MalformedModule."""
    return Module.parse(binary)


def prepare(
    binary: bytes,
    route: str,
    sub_group_size: int | None = None,
    tuning: Tuning = DEFAULT_TUNING,
    spellings: Mapping[str, list[str]] = MappingProxyType({}),
    without_small_floats: bool = False,
) -> Prepared:
    """Lower a valid module for `route`, one of matrices.lowering.LOWERED_ROUTES. Raises Refused, MalformedModule.

    sub_group_size: the size for kernels with matrices that do not require one; by default that of `tuning`, the
        device's.
    spellings: kernel name -> the OpenCL C types of its parameters.
    without_small_floats: whether small floats become integers in modules without matrices, too.
    """
    module = read(binary)
    check_memory_model(module)
    avoid_device_faults(module)
    tuned = LOWERED_ROUTES[route].tuned(tuning)
    return ModuleLowering(module, tuned, sub_group_size, spellings, without_small_floats).run()


def complete(prepared: Prepared, library: Library) -> bytes:
    """Compile the library functions that the module needs and the library lacks, and return the linked module."""
    for target, functions in prepared.library_functions.items():
        library.need(target, functions.values())
    return link(prepared, library)


def lower(binary: bytes, route: str, sub_group_size: int | None, library: Library) -> bytes:
    """Lower one module and link it with the library. Raise Refused, MalformedModule."""
    return complete(prepare(binary, route, sub_group_size), library)
