"""Functions of scalars as functions of vectors: the results for several components at once, by vector instructions.
Compilers for CPUs do not vectorize loops that call functions such as exp.

    wide = vectorize(function, (UNIFORM, LINEAR, VARYING), 16)

Both sides of a condition that differs from component to component are evaluated, but memory is loaded only where the
condition holds. A function that has no such form (a loop that ends earlier for some components, an array of its own) is
not vectorized: None.
"""

from .statements import vectorize as vectorize
from .vectors import LINEAR as LINEAR, UNIFORM as UNIFORM, VARYING as VARYING, Kind as Kind
