"""`python -m coopmat` is the `coopmat` program."""

from __future__ import annotations

from coopmat.cli import main

if __name__ == "__main__":
    main()
