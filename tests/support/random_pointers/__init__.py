"""Random OpenCL C kernels about pointers and objects in memory, with an oracle: `python -m random_pointers`.

Each construct of a kernel is an object that has the C text and a function on a model of the memory (bytearrays with
the layout of the OpenCL C specification). The generator proposes constructs, and keeps a statement only if the model
executes it without undefined behaviour for each work-item. The model's final state is the expected result.
"""

from __future__ import annotations

from .generator import generate as program
from .programs import Launchable, Program, join

__all__ = ["Launchable", "Program", "join", "program"]
