"""Semantic analysis: the syntax tree to the typed AST, every finding collected. Begin with `functions.analyse`."""
