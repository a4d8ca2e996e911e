"""Random programs with Clang's matrix types, and what numpy says of them. `python -m random_matrices` compares many."""
