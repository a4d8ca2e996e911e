"""The OpenCL C texts of the routes, which `coopmat.matrices.lowering` instantiates."""
