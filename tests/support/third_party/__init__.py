"""Modules as other front ends might make them, each from a seed, with what they must compute.

`assembled` writes SPIR-V assembly with everything that modules may hold matrices in; `from_ir` takes LLVM IR in other
dialects, optimised by LLVM; `optimised` puts the first through spirv-opt. `execution` lowers and runs them.
`tools/spirv-third-party` runs the whole set.
"""
