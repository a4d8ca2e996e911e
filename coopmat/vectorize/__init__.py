"""Vectorization of scalar functions: one call of the result computes several components by vector instructions.

Compilers for CPUs do not vectorize loops that call functions such as exp.

    wide = vectorize(function, (UNIFORM, LINEAR, VARYING), 16)

If a condition is not uniform, both sides are evaluated under masks, and memory is loaded only where the condition
holds. `vectorize` returns None for a function that cannot be vectorized. Examples are functions with a local array, or
with a loop whose trip count varies between components.
"""

from .components import component_of as component_of
from .statements import vectorize as vectorize
from .vectors import LINEAR as LINEAR, UNIFORM as UNIFORM, VARYING as VARYING, Variance as Variance
