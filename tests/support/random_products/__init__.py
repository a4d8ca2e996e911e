"""Draws random calls of coopmat.linalg.gemm, and compares their results and all other memory with numpy."""
