"""Writers of kernels: as OpenCL C (`c.CWriter`) or as SPIR-V assembly (`assembly.AssemblyWriter`)."""

from .base import Parameter, Value, Variable, Writer

__all__ = ["Parameter", "Value", "Variable", "Writer"]
