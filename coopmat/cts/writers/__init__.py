"""Kernels, written once: as OpenCL C (`c.CWriter`) or as SPIR-V assembly (`assembly.AssemblyWriter`)."""

from .base import Value, Writer

__all__ = ["Value", "Writer"]
