"""Modules such as other front ends make, one for each seed, with their expected results.

`assembled` writes SPIR-V assembly in which matrices occur in every allowed form. `from_ir` makes modules from LLVM IR
in other dialects, optimized by LLVM. `optimised` runs spirv-opt on assembled modules. `execution` lowers and runs them.
`tools/spirv-third-party` runs all.
"""
