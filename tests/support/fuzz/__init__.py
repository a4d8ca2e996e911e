"""Random OpenCL C kernels, defined by construction, compared with the device's own compiler, and shrunken.

    kinds        the types that occur, and OpenCL C's conversions between them
    tree         a program as a tree of pieces of text, so that it can be shrunken
    scope        what a piece of a program may read and write
    expressions  scalars and vectors        builtins   calls of them
    objects      pointers, records, arrays: their values and places
    statements   control flow, assignments, declarations
    programs     whole kernels with their functions, records, constants, macros
    workers      compiles and runs batches in processes of their own
    shrink       smaller programs with the same fault
    campaign     many kernels, and the report: `python -m fuzz`, `tools/fuzz`

Every expression is free of side effects and defined for all values of its variables, so that any can stand for any
other of its type. Floats stay within 10000 of zero and are never NaN. See `statements` for side effects.
"""
