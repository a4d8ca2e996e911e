"""The `coopmat` command: one thin module for each subcommand, imported on demand."""

from __future__ import annotations

from .app import main

__all__ = ["main"]
