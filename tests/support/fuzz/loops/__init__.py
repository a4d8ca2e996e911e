"""Random kernels with loops to bounds that the host passes, each with its expected results, computed in Python.

    values      typed expressions, as text of OpenCL C and of Python
    kernels     whole kernels: guards, nests of loops, reductions, early exits; their launches and expected buffers
    campaign    many kernels on a device, and the report: `python -m fuzz.loops`, `tools/fuzz-loops`

The device's own compiler is not used as an oracle: it miscompiles some of these loops (docs/backend.md). Kernels are
launched only with arguments for which nothing is undefined, which the Python code checks.
"""
