"""Small floats in the library's text: functions on bit patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from . import spelling
from .instance import FromTemplate, Instance, Parameter, Signature
from .strategies import Strategy, Target
from .variants import COMPONENT_TYPES, SMALL_FLOATS, ComponentType

FILE = "small_floats.cl"
_UINT, _INT = COMPONENT_TYPES["u32"], COMPONENT_TYPES["s32"]
_CARRIES = {
    "rte": "0x7fffu + (((u) >> 16) & 1u)",
    "rtz": "0u",
    "rtp": "(0xffffu & ~(sign))",
    "rtn": "(0xffffu & (sign))",
}
_SMALL = "|".join(row.name for row in SMALL_FLOATS)
_CALL = re.compile(rf"\bcm_(?:({_SMALL})_(to_float|from_float_\w+)|(\w+)_(to_odd))_(\d+)\(")


@dataclass(frozen=True, slots=True)
class SmallFloatFunction(FromTemplate):
    """`what` is "to_float" or "from_float_" and a rounding mode of a small component type, "to_odd" of another; of
    vectors of `width`."""

    component: ComponentType
    what: str
    width: int

    @property
    def function_name(self) -> str:
        return spelling.small_float_function(self.component, self.what, self.width)

    @property
    def signature(self) -> Signature:
        types = [spelling.vector(t, self.width) for t in (self.component, spelling.FLOAT)]
        source, to = reversed(types) if self.what.startswith("from_float") else types
        return Signature(to, (Parameter("x", source),))

    def file(self, strategy: Strategy) -> str:
        return FILE

    def definitions(self, target: Target) -> dict[str, str]:
        w, own = self.width, spelling.vector(self.component, self.width)
        f, u, s = (spelling.vector(t, w) for t in (spelling.FLOAT, _UINT, _INT))
        out = {"F": f, "AS_F(x)": f"as_{f}(x)"}
        if self.what == "to_float":
            return {"OP": "TO_FLOAT", **out, "H": own, "TO_U(x)": f"convert_{u}(x)"}
        out |= {"U": u, "AS_U(x)": f"as_{u}(x)"}
        if self.what.startswith("from_float"):
            del out["AS_F(x)"]
            carry = _CARRIES[self.what.rpartition("_")[2]]
            out |= {"H": own, "AS_S(x)": f"as_{s}(x)", "TO_H(x)": f"convert_{own}(x)", "CARRY(u, sign)": carry}
            return {"OP": "FROM_FLOAT", **out}
        differ = "(uint)((x) != (y))" if w == 1 else f"convert_{u}(((x) != (y)) & 1)"
        out |= {"FROM": own, "TRUNCATE(x)": f"convert_{f}_rtz(x)", "BACK(x)": f"convert_{own}(x)"}
        return {"OP": "TO_ODD", **out, "STICKY(x, y)": differ}


def functions_called(texts: Iterable[str]) -> list[Instance]:
    """The functions above that these expressions call."""
    calls = {(call[1] or call[3], call[2] or call[4], int(call[5])) for text in texts for call in _CALL.finditer(text)}
    return [SmallFloatFunction(COMPONENT_TYPES[name], what, width) for name, what, width in sorted(calls)]
