"""A table of cases: every operation on every combination of types, uses, layouts and address spaces, on every target.

A case is one operation on one combination on one target, checked against `coopmat.matrices.numpy_reference`. The rows
of the table are kernels with a few cases each (`rows.Row`). The families write them: memory, operators, elements,
functions, conversions, multiply_add, programs. `table.rows_for` returns the rows that a target runs, `requirements` the
cases that must occur. `execution` runs rows in batches, and `native` checks modules with SPIR-V matrix types.
`tools/matrix-table` runs all.
"""
