"""The OpenCL layer: a library that the OpenCL loader puts between any program and the drivers, so that every device has
cl_khr_cooperative_matrix.

`source/` is the library, in C; `helper` is the process that it starts to compile; `library` makes the library and the
environment in which a program finds it.
"""
