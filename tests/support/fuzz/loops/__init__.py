"""Random kernels whose loops run to bounds that the host gives, each with what it calculates, in Python.

    values      typed expressions, as text of OpenCL C and of Python
    kernels     whole kernels: guards, nests of loops, reductions, early exits; their launches and expected buffers
    campaign    many kernels on a device, and the report: `python -m fuzz.loops`, `tools/fuzz-loops`

The device's own compiler is no oracle here: it gets some of these loops wrong itself (docs/backend.md). Nothing in a
kernel is undefined for the arguments that it is launched with: Python says so.
"""
