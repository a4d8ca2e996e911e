"""The conformance runner: does a device do what cooperative matrices mean?

A test is a mode and an operation: `spirv_add` is assembled by hand, `c_add` goes through the compiler. An operation
(`operations/`) says which variants it has on a device (`profile`), which buffers one of them gets and what must be in
them afterwards (`experiment`), and writes its kernel once, for whichever writer (`writers/`) it is handed.
Names and meaning: OpenCL-CTS #2655. The reference is numpy (`coopmat.matrices.meaning`).
"""
