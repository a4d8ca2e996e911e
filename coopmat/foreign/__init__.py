"""Input that other front ends make: LLVM IR in any dialect becomes SPIR-V with matrices, SPIR-V with matrices becomes
SPIR-V without; and what consumers of SPIR-V with matrices require.

The interfaces are `llvm_ir`, `spirv` and `consumers`.
"""
