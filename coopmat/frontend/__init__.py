"""The front end: it translates OpenCL C source text to the typed AST."""
