"""Whether operations on matrices stand in control flow that all work-items of a subgroup go through together, and have
operands (pointers, strides, bounds, scalars) that are the same for all of them.

A finding is a warning, `coop-mat-nonuniform`, whose notes tell the way from what makes the work-items differ to the
condition that parts them, or to the operand. The analysis follows values through variables of one function at a time,
callees first: of a parameter it finds whether it decides about an operation or leads to an operand, which calls are
then held to. Memory and kernel arguments are taken to be the same for the subgroup.
"""

from .function import CODE as CODE, check as check
