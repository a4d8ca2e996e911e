"""The SPIR-V extensions that the text of a module may require, found by names.

Emission drops those extensions that the SPIR-V does not use.
"""

from __future__ import annotations

import re

from ...frontend import builtins
from .operations import MENTION

_BUILTIN = re.compile(r"@\"?_Z(\d{1,3})([a-zA-Z_]\w*)")
_MATRICES = "SPV_KHR_cooperative_matrix"
_WORDS = (
    (re.compile(re.escape(MENTION)), _MATRICES),
    (re.compile(r"\bbfloat\b"), "SPV_KHR_bfloat16"),
    (re.compile(r"__spirv_AtomicFAdd|= atomicrmw (?:volatile )?f(?:add|sub)\b"), "SPV_EXT_shader_atomic_float_add"),
    (
        re.compile(r"__spirv_AtomicFM(?:in|ax)|= atomicrmw (?:volatile )?f(?:min|max)\b"),
        "SPV_EXT_shader_atomic_float_min_max",
    ),
)


def needed(text: str, matrices: str) -> tuple[str, ...]:
    """Return the names of the extensions, sorted; `matrices` is the route, such as "native"."""
    extensions = {name for pattern, name in _WORDS if pattern.search(text)}
    if matrices != "native" and _MATRICES in extensions:
        # Packed layouts use enumerants of this extension; the lowering removes them.
        extensions.add("SPV_INTEL_joint_matrix")
    for length, name in set(_BUILTIN.findall(text)):
        row = builtins.find(name[: int(length)])
        extensions |= set(row.extensions.split()) if row is not None else set()
    return tuple(sorted(extensions))
