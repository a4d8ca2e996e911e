"""The names of placeholder calls: operations that LLVM's SPIR-V backend does not know, as calls of imported functions.

`coopmat.ir` and `coopmat.foreign.llvm_ir` write these names, and `coopmat.spirv.legalize` makes instructions of the
calls. A tag identifies a matrix type, such as `mDh16x16A`, and distinguishes declarations for different types.
"""

from __future__ import annotations

import re
from dataclasses import astuple, dataclass

ASYNC_COPY, NULL_EVENT, PRINTF = "__cm_async_copy_", "__cm_null_event", "__cm_printf_"
COMPONENT_CODE = r"DF16b|Dh|u11floate4m3_t|u11floate5m2_t|[fdcahstijlm]"
TAG = rf"m(?:{COMPONENT_CODE})\d+x\d+[ABC]W?"


@dataclass(frozen=True, slots=True)
class MatrixCall:
    """The parts of the name of a placeholder call on matrices, in their order; a part that does not occur is empty.

    word: "convert", "map", "reduce", "coordinates", "get" or "set"; for Intel's types also "flat" and "matrix".
    number: the number of matrices of a map, or the kind of a reduction.
    instruction: the instruction of a conversion, without the prefix Op.
    mode: the saturation and rounding of a conversion: "sat", "rte" or "sat_rte", for example.
    change: "use" or "transposed", if a conversion changes these.
    tags: the tags of the matrix types; accesses in older programs have another text here.
    function: the name of the function of a map or reduction.
    """

    word: str
    number: str = ""
    instruction: str = ""
    mode: str = ""
    change: str = ""
    tags: str = ""
    function: str = ""

    def write(self) -> str:
        """Return the name."""
        return "_".join(filter(None, ("__cm", *astuple(self))))

    @classmethod
    def read(cls, name: str) -> MatrixCall | None:
        """Return the parts of a name; None if it is no placeholder of a call on matrices."""
        match = next((match for pattern in _PATTERNS if (match := pattern.fullmatch(name))), None)
        return match and cls(**{part: text for part, text in match.groupdict().items() if text})


_PATTERNS = [
    re.compile(f"__cm_(?P<word>{pattern})")
    for pattern in (
        r"convert)_(?P<instruction>[A-Za-z]+)(?:_(?P<mode>sat(?:_rt[eznp])?|rt[eznp]))?(?:_(?P<change>use|transposed))?"
        r"_(?P<tags>m\w+",
        rf"map)_(?P<number>\d+)_(?P<tags>{TAG})_(?P<function>.+",
        rf"reduce)_(?P<number>\d)_(?P<tags>{TAG}_{TAG})_(?P<function>.+",
        r"get|set|coordinates|flat|matrix)_(?P<tags>\w+",
    )
]
_MANGLED = re.compile(r"_Z(\d{1,4})(__spirv_.*)", re.DOTALL)


def mangle_instruction(instruction: str, *tags: str) -> str:
    """Return the name of an instruction's function, mangled like a name without parameters by Itanium's rules."""
    return "_".join((f"_Z{len(instruction) + 8}__spirv_{instruction}", *tags))


def demangle_instruction(name: str) -> tuple[str, str] | None:
    """Return the word for the instruction in such a name, and the text that follows it; None for other names."""
    match = _MANGLED.fullmatch(name)
    if match is None:
        return None
    length = int(match[1])
    return match[2][len("__spirv_") : length], match[2][length:]
