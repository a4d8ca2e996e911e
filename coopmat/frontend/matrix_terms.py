"""The conversion of the language's matrix types to those of `coopmat.matrices`."""

from __future__ import annotations

from functools import lru_cache

from ..matrices.variants import NUMBER_TYPES, MatrixType, Use
from .types import CoopMatrixType

#: Name of the scalar type in OpenCL C -> component type, or microscaling type.
COMPONENTS = NUMBER_TYPES


@lru_cache(maxsize=1024)
def matrix_type(matrix: CoopMatrixType) -> MatrixType:
    """Return the matrix library's type for a cooperative matrix type of the language."""
    return MatrixType(
        COMPONENTS[matrix.component.name], matrix.rows, matrix.columns, Use(int(matrix.use)), matrix.scope
    )
