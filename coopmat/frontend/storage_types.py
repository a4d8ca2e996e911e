"""The types for storage: values that programs can only store, and convert explicitly; their vectors."""

from __future__ import annotations

from .types import SMALL_FLOATS, Type, VectorType

STORAGE_TYPES = tuple(t for t in SMALL_FLOATS if t.bits == 8)
STORAGE_VECTOR_SIZES = (2, 4, 8, 16)


def is_storage_vector(t: Type) -> bool:
    return isinstance(t, VectorType) and t.element.is_bits
