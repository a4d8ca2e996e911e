"""IR types that llvmlite's ir layer does not have: target extension types and bfloat."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from ..frontend.types import EVENT, SAMPLER, CoopMatrixType, ImageType


class BFloatType(ir.Type):  # type: ignore[misc]
    """`bfloat`; constants are given as numbers that it can represent."""

    null = "0.0"
    intrinsic_name = "bf16"
    extension = "SPV_KHR_bfloat16"

    def __str__(self) -> str:
        return "bfloat"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BFloatType)

    def __hash__(self) -> int:
        return hash(BFloatType)

    def format_constant(self, value: float) -> str:
        # LLVM reads the double's hexadecimal form for every narrower type that holds the value exactly.
        return str(ir.DoubleType().format_constant(value))


class TargetType(ir.Type):  # type: ignore[misc]
    """`target("NAME", PARAMETERS)`: a type of SPIR-V's that LLVM has no other word for."""

    def __init__(self, name: str, *parameters: object) -> None:
        words = [f'"{name}"', *map(str, parameters)]
        self._text = f"target({', '.join(words)})"

    def _to_string(self) -> str:
        return self._text

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, TargetType) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


def cooperative_matrix_type(component: ir.Type, matrix: CoopMatrixType) -> TargetType:
    """`target("spirv.CooperativeMatrixKHR", component, scope, rows, columns, use)`."""
    shape = (matrix.scope, matrix.rows, matrix.columns, int(matrix.use))
    return TargetType("spirv.CooperativeMatrixKHR", component, *shape)


OPAQUE_TYPES = {EVENT: TargetType("spirv.Event"), SAMPLER: TargetType("spirv.Sampler")}

# SPIR-V's Dim (3.8), and whether the image is one of depths and whether it is an array.
_IMAGES = {
    "image1d_t": (0, 0, 0),
    "image1d_array_t": (0, 0, 1),
    "image1d_buffer_t": (5, 0, 0),
    "image2d_t": (1, 0, 0),
    "image2d_array_t": (1, 0, 1),
    "image2d_depth_t": (1, 1, 0),
    "image2d_array_depth_t": (1, 1, 1),
    "image3d_t": (2, 0, 0),
}
_ACCESSES = {"read_only": 0, "write_only": 1, "read_write": 2}


def image_type(image: ImageType) -> TargetType:
    """`target("spirv.Image", void, dimension, depth, arrayed, multisampled, sampled, format, access)`."""
    return _image("spirv.Image", image)


def sampled_image_type(image: ImageType) -> TargetType:
    """An image together with a sampler: `target("spirv.SampledImage", ...)` of the same parameters."""
    return _image("spirv.SampledImage", image)


def _image(name: str, image: ImageType) -> TargetType:
    dimension, depth, arrayed = _IMAGES[image.name]
    return TargetType(name, "void", dimension, depth, arrayed, 0, 0, 0, _ACCESSES[image.access])
