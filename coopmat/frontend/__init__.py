"""The front end: OpenCL C source to the typed AST."""
