"""The entry point of `python -m coopmat`, which runs the `coopmat` command."""

from __future__ import annotations

from coopmat.cli import main

if __name__ == "__main__":
    main()
