"""`coopmat export`: products of matrices as a C header, for programs without Python."""

from __future__ import annotations

from .header import header_text as header_text, require_name as require_name
from .library import Library as Library
