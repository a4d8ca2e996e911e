"""An analysis of whether all work-items of a group reach each operation on its matrices together, with the same
operands (pointers, strides, bounds, scalars): once for the matrices of subgroups, once for those of work-groups.

A finding is a warning, `coop-mat-nonuniform`, whose notes lead from the origin of the difference between work-items to
the condition that separates them, or to the operand. The analysis follows values through variables of one function at a
time, callees first: for a parameter it determines whether it decides about an operation or leads to an operand, which
is then checked at calls. Memory and kernel arguments are assumed to be the same for the group.
"""

from .function import CODE as CODE, check as check
