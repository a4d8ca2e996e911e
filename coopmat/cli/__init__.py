"""The `coopmat` command: one module for each subcommand, imported when the subcommand is used."""

from __future__ import annotations

from .app import main

__all__ = ["main"]
