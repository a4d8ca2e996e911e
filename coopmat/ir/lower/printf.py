"""printf as the instruction of OpenCL's extended instruction set."""

from __future__ import annotations

import re
from collections.abc import Sequence

from llvmlite import ir

from ...frontend.typed import BuiltinCall
from ..type_map import I32
from .builtin_calls import BuiltinContext, Lowering


def _printf(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value:
    # The backend looks for the format's type in the function that it saw last, and dies of what it finds there. Hence
    # a placeholder for each list of types, which `spirv.legalize` turns into the instruction.
    types = "_".join(re.sub(r"\W+", "", str(argument.type)) for argument in arguments)
    return ctx.call(f"__cm_printf_{types}", I32, arguments, ("nounwind",))


LOWERINGS: dict[str, Lowering] = {"printf": _printf}
