"""The compilation of LLVM IR text to a validated SPIR-V binary.

`emit` runs LLVM's SPIR-V backend in a clean process per emission. `legalize` replaces placeholder calls by real
instructions and checks the resulting module. `tools` runs spirv-val, spirv-dis, spirv-as and spirv-opt. `module`
reads and writes the binary format.
"""
