"""bfloat16 in the library's text: functions on bit patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from . import spelling
from .instance import FromTemplate, Instance, Parameter, Signature
from .strategies import Strategy, Target
from .variants import COMPONENT_TYPES, ComponentType

FILE = "bfloat16.cl"
_UINT, _INT = COMPONENT_TYPES["u32"], COMPONENT_TYPES["s32"]
_CARRIES = {
    "rte": "0x7fffu + (((u) >> 16) & 1u)",
    "rtz": "0u",
    "rtp": "(0xffffu & ~(sign))",
    "rtn": "(0xffffu & (sign))",
}
_CALL = re.compile(r"\b(cm_bf16_(\w+)_(\d+))\(")


@dataclass(frozen=True, slots=True)
class Bfloat16Function(FromTemplate):
    """`what` is "to_float", "from_float_" and a rounding mode, or a type and "_to_odd"; of vectors of `width`."""

    what: str
    width: int

    @property
    def function_name(self) -> str:
        return spelling.bfloat16_function(self.what, self.width)

    @property
    def _types(self) -> tuple[ComponentType, ComponentType]:
        if self.what == "to_float":
            return spelling.BFLOAT16, spelling.FLOAT
        if self.what.startswith("from_float"):
            return spelling.FLOAT, spelling.BFLOAT16
        return COMPONENT_TYPES[self.what.partition("_")[0]], spelling.FLOAT

    @property
    def signature(self) -> Signature:
        source, to = (spelling.vector(t, self.width) for t in self._types)
        return Signature(to, (Parameter("x", source),))

    def files(self, strategy: Strategy) -> tuple[str, ...]:
        return (FILE,)

    def definitions(self, target: Target) -> dict[str, str]:
        w = self.width
        f, u, s, h = (spelling.vector(t, w) for t in (spelling.FLOAT, _UINT, _INT, spelling.BFLOAT16))
        out = {"F": f, "AS_F(x)": f"as_{f}(x)"}
        if self.what == "to_float":
            return {"OP": "TO_FLOAT", **out, "H": h, "TO_U(x)": f"convert_{u}(x)"}
        out |= {"U": u, "AS_U(x)": f"as_{u}(x)"}
        if self.what.startswith("from_float"):
            del out["AS_F(x)"]
            carry = _CARRIES[self.what.rpartition("_")[2]]
            out |= {"H": h, "AS_S(x)": f"as_{s}(x)", "TO_H(x)": f"convert_{h}(x)", "CARRY(u, sign)": carry}
            return {"OP": "FROM_FLOAT", **out}
        source = spelling.vector(self._types[0], w)
        differ = "(uint)((x) != (y))" if w == 1 else f"convert_{u}(((x) != (y)) & 1)"
        out |= {"FROM": source, "TRUNCATE(x)": f"convert_{f}_rtz(x)", "BACK(x)": f"convert_{source}(x)"}
        return {"OP": "TO_ODD", **out, "STICKY(x, y)": differ}


def functions_called(texts: Iterable[str]) -> list[Instance]:
    """The functions above that these expressions call."""
    found = {(call[2], int(call[3])) for text in texts for call in _CALL.finditer(text)}
    return [Bfloat16Function(what, width) for what, width in sorted(found)]
