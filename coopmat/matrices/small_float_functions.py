"""Library functions on the bit patterns of small floats."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from . import spelling
from .library_function import FromTemplate, LibraryFunction, Parameter, Signature
from .routes import LoweredRoute, Target
from .variants import BIT_PATTERNS, COMPONENT_TYPES, ComponentType

FILE = "small_floats.cl"
_UINT, _INT = COMPONENT_TYPES["u32"], COMPONENT_TYPES["s32"]
_CARRIES = {
    "rte": "0x7fffu + (((u) >> 16) & 1u)",
    "rtz": "0u",
    "rtp": "(0xffffu & ~(sign))",
    "rtn": "(0xffffu & (sign))",
}
_NARROW_CARRIES = {
    "rte": "((unit) >> 1) - 1u + ((q) & 1u)",
    "rtz": "0u",
    "rtp": "(((unit) - 1u) & ~(sign))",
    "rtn": "(((unit) - 1u) & (sign))",
}
_ROUND = {"rte": "rint", "rtz": "trunc", "rtp": "ceil", "rtn": "floor"}
_POWER_CARRIES = {"rte": "0x400000u", "rtz": "0u", "rtp": "0x7fffffu", "rtn": "0u"}
# rounding -> mask for values beyond the range that stay finite. Rounding away from the infinity keeps a value finite.
# Infinities become finite only in saturating conversions.
_KEPT = {"rte": "0u", "rtz": "(finite)", "rtp": "((finite) & (sign))", "rtn": "((finite) & ~(sign))"}
_BY_NAME = dict(COMPONENT_TYPES) | {row.name: row for row in BIT_PATTERNS}
_SMALL = "|".join(row.name for row in BIT_PATTERNS)
_CALL = re.compile(rf"\bcm_(?:({_SMALL})_(to_float|from_float_\w+)|(\w+)_(to_odd))_(\d+)\(")


@dataclass(frozen=True, slots=True)
class SmallFloatFunction(FromTemplate):
    """A conversion on vectors of `width` components.

    `what` is "to_float", or "from_float_" and a rounding mode, for a small `component` type; it is "to_odd" for another
    type.
    """

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

    def files(self, route: LoweredRoute) -> tuple[str, ...]:
        return (FILE,)

    def definitions(self, target: Target) -> dict[str, str]:
        if self.component.is_nibble and self.component.is_integer:
            return self._nibble()
        if not self.component.mantissa and self.component.is_bits:
            return self._power_of_two()
        if self.component.is_bits and self.component.exponent < spelling.FLOAT.exponent:
            return self._narrow()
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

    def _narrow(self) -> dict[str, str]:
        """Return the macros for a type with fewer exponent bits than float."""
        t, own = self.component, spelling.vector(self.component, self.width)
        f, u, s = (spelling.vector(t, self.width) for t in (spelling.FLOAT, _UINT, _INT))
        out = {"F": f, "H": own, "U": u, "AS_U(x)": f"as_{u}(x)", "BITS": str(t.width), "MANTISSA": str(t.mantissa)}
        out |= {"LEAST": f"{spelling.FLOAT.bias + 1 - t.bias}u", "LARGEST": f"0x{t.pattern(t.largest):x}u"}
        if self.what == "to_float":
            to = {"TO_U(x)": f"convert_{u}(x)", "TO_F(x)": f"convert_{f}(x)", "AS_F(x)": f"as_{f}(x)"}
            return {"OP": "NARROW_TO_FLOAT", **out, **to, "UNIT": f"{(t.normal * t.epsilon).hex()}f"}
        rounding = self.what.rpartition("_")[2]
        out |= {"AS_S(x)": f"as_{s}(x)", "TO_H(x)": f"convert_{own}(x)", "NAN": f"0x{t.pattern(math.nan):x}u"}
        out["CARRY(q, unit, sign)"] = _NARROW_CARRIES[rounding]
        out["KEPT(finite, sign)"] = "1u" if "_sat_" in self.what or not t.nans else _KEPT[rounding]
        return {"OP": "NARROW_FROM_FLOAT", **out}

    def _nibble(self) -> dict[str, str]:
        """Return the macros for an integer type of 4 bits."""
        own = spelling.vector(self.component, self.width)
        f, i, s = (spelling.vector(t, self.width) for t in (spelling.FLOAT, _INT, COMPONENT_TYPES["s8"]))
        out = {"F": f, "H": own}
        if self.what == "to_float":
            signed = f"(as_{s}(({own})((x) << ({own})4)) >> ({s})4)"
            value = signed if self.component.signed else f"((x) & ({own})15)"
            return {"OP": "NIBBLE_TO_FLOAT", **out, "NUMBER(x)": f"convert_{f}({value})"}
        low, high = ("-8.0f", "7.0f") if self.component.signed else ("0.0f", "15.0f")
        out |= {"LOW": low, "HIGH": high, "ROUND(x)": f"{_ROUND[self.what.rpartition('_')[2]]}(x)"}
        return {"OP": "NIBBLE_FROM_FLOAT", **out, "TO_H(x)": f"convert_{own}(convert_{i}(x) & ({i})255)"}

    def _power_of_two(self) -> dict[str, str]:
        """Return the macros for a type without sign and mantissa."""
        own = spelling.vector(self.component, self.width)
        f, u = (spelling.vector(t, self.width) for t in (spelling.FLOAT, _UINT))
        out = {"F": f, "H": own, "U": u}
        if self.what == "to_float":
            return {"OP": "POWER_TO_FLOAT", **out, "TO_U(x)": f"convert_{u}(x)", "AS_F(x)": f"as_{f}(x)"}
        carry = _POWER_CARRIES[self.what.rpartition("_")[2]]
        out |= {"AS_U(x)": f"as_{u}(x)", "TO_H(x)": f"convert_{own}(x)", "CARRY": carry}
        return {"OP": "POWER_FROM_FLOAT", **out, "LAST": "254u" if "_sat_" in self.what else "255u"}


def functions_called(texts: Iterable[str]) -> list[LibraryFunction]:
    """Return the `SmallFloatFunction`s that these expressions call."""
    calls = {(call[1] or call[3], call[2] or call[4], int(call[5])) for text in texts for call in _CALL.finditer(text)}
    return [SmallFloatFunction(_BY_NAME[name], what, width) for name, what, width in sorted(calls)]
