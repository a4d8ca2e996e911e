"""Native modules in the form that their consumer takes: see `coopmat.native_profiles`.

    spirv = adapt(spirv, NATIVE_PROFILES["igc"])

Every pass takes a valid module with matrices and leaves one; it does nothing where the profile needs it not.
"""

from __future__ import annotations

from ...native_profiles import NativeProfile
from .. import zeros
from ..lowering.types import MATRIX
from ..module import Module
from .elements import by_elements
from .inline import inline
from .parts import Parts
from .small_floats import as_integers
from .vendor_words import standard, write

__all__ = ["adapt", "standard"]

_PASSES = (by_elements, as_integers, inline, write)


def adapt(spirv: bytes, profile: NativeProfile) -> bytes:
    """The module for such a consumer; the same bytes where it has no matrices, or nothing is to be done. Raises Refused
    for what cannot be said to it, MalformedModule."""
    module = Module.parse(spirv)
    if not any(item.opcode == MATRIX for item in module.instructions):
        return spirv
    changed = zeros.write_out(module)
    if profile.takes_all:
        return module.to_bytes() if changed else spirv
    parts = Parts.of(module)
    for run in _PASSES:
        run(parts, profile)
    parts.write()
    return module.to_bytes()
