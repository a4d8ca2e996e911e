"""A table of cases: every operation on every combination of types, uses, layouts and address spaces, on every target.

A case is one operation on one combination on one target, checked against `coopmat.matrices.reference`. The rows of the
table are kernels with a few cases each (`rows.Row`), written by the families: memory, operators, elements,
conversions, multiply_add, programs. `table.rows_for` says which rows a target runs, `requirements` what must occur,
`execution` runs them in batches, `native` reads what becomes of them as SPIR-V values. `tools/matrix-table` runs all.
"""
