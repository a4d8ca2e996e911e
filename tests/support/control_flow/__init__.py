"""Random OpenCL C kernels with nested control flow, whose results gcc computes, too: `python -m control_flow`.

Each program is defined for all inputs: unsigned arithmetic wraps, shifts and indices are masked, divisors are not 0,
and loops have counters. Matrices have small integers, so that all products and sums are exact.
"""
