"""The lowerings: one OpenCL C file per strategy, instantiated by `coopmat.matrices.lowering`."""
