"""Semantic analysis: it turns the syntax tree into the typed AST and reports every error.

Begin with `functions.analyse`.
"""
