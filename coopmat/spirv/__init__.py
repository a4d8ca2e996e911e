"""LLVM IR text to a validated SPIR-V binary.

`emit` runs LLVM's SPIR-V backend in a clean process per emission, `legalize` turns placeholder calls into real
instructions and checks what came out, `tools` runs spirv-val and its companions, `fetch` gets them where the
machine has none. `module` reads and writes the binary.
"""
