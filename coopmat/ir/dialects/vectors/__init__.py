"""Flat vectors that SPIR-V lacks, and llvm.matrix.* on vectors of any size, lowered to trees of the matrix library.

A vector of a size that SPIR-V lacks, and any that is a matrix, is private storage (`[N x T]`); operations of matrices
become trees, as those of Clang's matrix types in OpenCL C do; other instructions are done in pieces that SPIR-V has.
"""

from __future__ import annotations

from .function import lower

__all__ = ["lower"]
