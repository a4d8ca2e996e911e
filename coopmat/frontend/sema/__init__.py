"""Semantic analysis: it turns the syntax tree into the typed AST and collects every error. Begin with
`functions.analyse`.
"""
