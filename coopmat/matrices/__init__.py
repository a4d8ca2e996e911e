"""Cooperative matrices, apart from any device: variants, meaning, and lowering to OpenCL C."""
