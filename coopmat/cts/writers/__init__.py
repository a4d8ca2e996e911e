"""Kernels, written once: as OpenCL C (`c.CWriter`) or as SPIR-V assembly (`assembly.AssemblyWriter`)."""

from .base import Function, Parameter, Value, Variable, VariableArray, Writer

__all__ = ["Function", "Parameter", "Value", "Variable", "VariableArray", "Writer"]
