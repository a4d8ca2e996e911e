"""What a cooperative matrix is, apart from any device: variants, meaning, and lowering to OpenCL C."""
