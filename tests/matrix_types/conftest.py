"""Tests of Clang's matrix types from the user's side."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parent.parent / room) for room in ("runtime", "opencl_c")]
