"""The builtin printf, lowered to the instruction of the extended instruction set OpenCL.std."""

from __future__ import annotations

import re
from collections.abc import Sequence

from llvmlite import ir

from ...frontend.typed import BuiltinCall
from ...matrices.placeholders import PRINTF
from ..type_map import I32
from .builtin_calls import BuiltinContext, Lowering


def _printf(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value:
    # The backend looks up the format's type in the wrong function, and may crash. Therefore emit a placeholder, with a
    # name for each list of types, that `spirv.legalize` replaces by the instruction.
    types = "_".join(re.sub(r"\W+", "", str(argument.type)) for argument in arguments)
    return ctx.call(PRINTF + types, I32, arguments, ("nounwind",))


LOWERINGS: dict[str, Lowering] = {"printf": _printf}
