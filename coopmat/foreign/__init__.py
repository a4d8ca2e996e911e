"""Input of other front ends, and the requirements of those who consume SPIR-V with matrices.

`llvm_ir` turns LLVM IR of any dialect into IR from which SPIR-V with matrices is emitted. `spirv` lowers matrices in
SPIR-V to calls of the matrix library. `consumers` rewrites SPIR-V with matrices for one device compiler.
"""
