"""The OpenCL C texts of the lowerings, which `coopmat.matrices.lowering` instantiates."""
