"""Native modules in the form that their consumer, a device's compiler, accepts (`coopmat.native_profiles`).

    spirv = legalize_for_consumer(spirv, NATIVE_PROFILES["igc"])

Each pass rewrites a valid module with matrices into another valid one, or does nothing if the profile does not need it.
Instructions of SPV_INTEL_joint_matrix, which spirv-val does not know, are written last. For validation, `standard`
replaces them by the instructions of Khronos' extensions.
"""

from __future__ import annotations

from ...native_profiles import NativeProfile
from ...spirv import checks, joint_matrix
from ...spirv.matrix_calls import GET_COORDINATE, MAINTENANCE
from ...spirv.module import OP, Instruction, Module, encode_string
from ...spirv.sections import Section
from ..spirv.types import MATRIX
from .bfloat16_as_integers import as_integers
from .elements import by_elements
from .inline import inline
from .maintenance import refuse
from .parts import Parts as Parts


def legalize_for_consumer(spirv: bytes, profile: NativeProfile) -> bytes:
    """Return the module for a consumer of this profile.

    A module without matrices, or without changes, is returned as the same bytes. Raises Refused if the consumer cannot
    express an instruction of the module, and MalformedModule.
    """
    module = Module.parse(spirv)
    if not any(item.opcode == MATRIX for item in module.instructions):
        return spirv
    changed = checks.write_out_zeros(module.instructions)
    if profile.takes_all:
        return module.to_bytes() if changed else spirv
    parts = Parts.of(module)
    for run in _PASSES:
        run(parts, profile)
    parts.write()
    return module.to_bytes()


# --- instructions of SPV_INTEL_joint_matrix --------------------------------------------------------


_MULTIPLY_ADD, _COORDINATES = OP["OpCooperativeMatrixMulAddKHR"], OP["OpCooperativeMatrixGetCoordinateEXT"]
_EXTENSIONS = {
    name: Instruction(OP["OpExtension"], tuple(encode_string(name))) for name in (joint_matrix.EXTENSION, MAINTENANCE)
}
_NAME = joint_matrix.EXTENSION.encode()


def write(parts: Parts, profile: NativeProfile) -> None:
    """Read coordinates of components by the profile's instruction, and declare the capabilities that the code needs.

    Nothing changes unless the profile has Intel's joint matrices.
    """
    if profile.joint_matrix:
        _renumber(parts, _COORDINATES, joint_matrix.COORDINATES)
        _drop(parts, GET_COORDINATE, MAINTENANCE)
    code = [item for body in parts.functions for item in body]
    if any(item.opcode == joint_matrix.COORDINATES for item in code):
        _add(parts, joint_matrix.INVOCATION, joint_matrix.EXTENSION)
    if any(item.opcode == _MULTIPLY_ADD and any(joint_matrix.of_bfloat16(item)) for item in code):
        _add(parts, joint_matrix.BFLOAT16_COMPONENTS, joint_matrix.EXTENSION)


def standard(spirv: bytes) -> bytes:
    """Return the module without SPV_INTEL_joint_matrix; the same bytes if it is not used. Raises MalformedModule."""
    if _NAME not in spirv:
        return spirv
    parts = Parts.of(Module.parse(spirv))
    capabilities = {item.operands[0] for item in parts.sections[Section.CAPABILITY]}
    if not capabilities & joint_matrix.CAPABILITIES:
        return spirv
    for number in joint_matrix.CAPABILITIES:
        _drop(parts, number, joint_matrix.EXTENSION)
    for body in parts.functions:
        body[:] = [_without_bfloat16(item) if item.opcode == _MULTIPLY_ADD else item for item in body]
    if joint_matrix.INVOCATION in capabilities:
        _renumber(parts, joint_matrix.COORDINATES, _COORDINATES)
        _add(parts, GET_COORDINATE, MAINTENANCE)
    parts.write()
    return parts.module.to_bytes()


def _without_bfloat16(item: Instruction) -> Instruction:
    mask = joint_matrix.operands(item)
    return joint_matrix.with_operands(item, mask & ~joint_matrix.BFLOAT16_OPERANDS)


def _renumber(parts: Parts, old: int, new: int) -> None:
    for body in parts.functions:
        for n, item in enumerate(body):
            if item.opcode == old:
                body[n] = Instruction(new, item.operands, item.result_type, item.result)


def _drop(parts: Parts, capability: int, extension: str) -> None:
    capabilities, extensions = parts.sections[Section.CAPABILITY], parts.sections[Section.EXTENSION]
    capabilities[:] = [item for item in capabilities if item.operands[0] != capability]
    extensions[:] = [item for item in extensions if item != _EXTENSIONS[extension]]


def _add(parts: Parts, capability: int, extension: str) -> None:
    capabilities, extensions = parts.sections[Section.CAPABILITY], parts.sections[Section.EXTENSION]
    item = Instruction(OP["OpCapability"], (capability,))
    if item not in capabilities:
        capabilities.append(item)
    if _EXTENSIONS[extension] not in extensions:
        extensions.append(_EXTENSIONS[extension])


_PASSES = (refuse, by_elements, as_integers, inline, write)
