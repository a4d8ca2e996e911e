"""The conformance runner: it checks whether a device implements the semantics of cooperative matrices.

A test is a mode and an operation. `spirv_add` is written as SPIR-V assembly by hand; `c_add` is compiled from OpenCL C.
An operation (`operations/`) yields its variants for a device (`profile`), and the buffers of each variant with the
contents required after the launch (`experiment`). It writes its kernel once, for any of the writers (`writers/`).
Names and semantics of the tests follow OpenCL-CTS pull request #2655 ("upstream"). The reference results are computed
with numpy (`coopmat.matrices.numpy_reference`).
"""
