"""The lowering of vector types that SPIR-V lacks, and of llvm.matrix.* on vectors of any size."""

from __future__ import annotations

import re

from ....ir import LowerOptions
from ..calls import LibraryCalls
from ..text import Call, Malformed, Module
from .function import Function
from .trees import MATRIX
from .types import variable, wide_types
from .writer import Lowering, has_wide

__all__ = ["lower"]

_NO_INLINING = re.compile(r" (?:noinline|optnone|minsize|optsize)\b")


def lower(module: Module, options: LowerOptions) -> LibraryCalls | None:
    """Lower a module in place; return the library functions that it calls, or None. Raise Malformed for other code."""
    heads = [*module.declarations, *(function.head for function in module.functions)]
    texts = [str(head) for head in heads] + [i.text for f in module.functions for i in f.instructions()]
    if not any(MATRIX in text or wide_types(text) for text in texts):
        return None
    lowering = Lowering(module, options)
    for function in module.functions:
        Function(lowering, function).run()
    module.declarations = [head for head in module.declarations if not _is_replaced(head)]
    module.rest = [_inlinable(line) if line.startswith("attributes ") else line for line in module.rest]
    declared_names = {head.name for head in module.declarations}
    module.declarations += [head for name, head in lowering.heads.items() if name not in declared_names]
    module.globals = [variable(line) for line in module.globals]
    for line in (*module.globals, *module.types.values()):
        if wide_types(line):
            raise Malformed(
                "ir-not-supported", f"objects with {wide_types(line)[0]} in them are not supported yet", line
            )
    if lowering.exact:
        # The metadata permits contraction in the whole module, but some operations must not be contracted.
        module.rest = [line for line in module.rest if not line.startswith("!opencl.enable.FP_CONTRACT")]
    return lowering.calls if lowering.calls.library_functions else None


def _is_replaced(head: Call) -> bool:
    return head.name.startswith("llvm.") and (head.name.startswith(MATRIX) or has_wide(head))


def _inlinable(group: str) -> str:
    """Return an attribute group without the attributes that prevent inlining; LLVM does not allow an empty group."""
    return re.sub(r"\{ *\}$", "{ nounwind }", _NO_INLINING.sub("", group))
