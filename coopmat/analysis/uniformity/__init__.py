"""The analysis of whether all work-items of a group execute each matrix operation together, with equal operands.

It runs twice: for the matrices of subgroups, and for those of work-groups. On the route scratch, it runs a third time:
for the operations and subgroup functions with barriers, which the whole work-group must execute. Checked operands are
pointers, strides, bounds and scalars. A finding is a warning, `coop-mat-nonuniform`. Its notes lead from the origin of
the divergence to the condition that separates the work-items, or to the operand.

The analysis follows values through the variables of one function at a time, callees first. For each parameter it
determines whether an operation's execution or an operand depends on the parameter. Such arguments are checked at calls.
Values in memory and kernel arguments are assumed to be uniform.
"""

from .function import CODE as CODE, check as check
