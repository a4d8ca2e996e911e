"""Where the modules are that the kernels' tests share with others."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "runtime"))  # differential.py
