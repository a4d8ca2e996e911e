"""The `coopmat` command: one thin module a subcommand, imported when it is asked for."""

from __future__ import annotations

from .app import main

__all__ = ["main"]
