"""Random OpenCL C kernels with defined results, compared with the device's own compiler, and shrunken if they differ.

    kinds        the types that occur, and OpenCL C's conversions between them
    tree         a program as a tree of parts of text, so that it can be shrunken
    scope        the variables and functions that a part of a program may use
    expressions  scalars and vectors        builtins   calls of them
    objects      pointers, structs, arrays: their values and parts
    statements   control flow, assignments, declarations
    programs     whole kernels with their functions, structs, constants, macros
    workers      child processes that compile and run batches
    shrink       smaller programs with the same fault
    campaign     many kernels, and the report: `python -m fuzz`, `tools/fuzz`

Every expression is free of side effects and defined for all values of its variables, so that an expression can replace
any other of its type. Floats are within 10000 of zero and never NaN. See `statements` for side effects.
"""
