"""Random programs with Clang's matrix types, and their results in numpy; `python -m random_matrices` compares many."""
