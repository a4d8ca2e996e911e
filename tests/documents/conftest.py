"""Tests of the documents that describe the other matrix systems: what their text shows, in its order.

A module is a document; `docs/matrix-types.md` has the table of their fragments.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parent.parent / room) for room in ("runtime", "opencl_c", "ir", "frontend")]
