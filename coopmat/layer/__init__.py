"""The OpenCL layer: a library between the OpenCL loader and the drivers, for any program that uses OpenCL.

With the layer, every device has cl_khr_cooperative_matrix. `source/` is the library, in C. `helper` is the process that
the library starts to compile. `library` builds the library and the environment in which a program finds it.
"""
