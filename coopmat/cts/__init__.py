"""The conformance runner: it checks whether a device implements the meaning of cooperative matrices.

A test is a mode and an operation: `spirv_add` is assembled by hand, `c_add` goes through the compiler. An operation
(`operations/`) determines its variants on a device (`profile`), the buffers of each and their contents after the launch
(`experiment`), and writes its kernel once, for any of the writers (`writers/`). Names and meaning: OpenCL-CTS #2655.
The reference is numpy (`coopmat.matrices.meaning`).
"""
