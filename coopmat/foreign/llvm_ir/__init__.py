"""The dialects of LLVM IR with cooperative matrices: each can be read and written.

All functions take and return modules as LLVM prints them (`coopmat.spirv.emit.reprint`); see docs/dialects.md.
"""

from __future__ import annotations

from . import intel, joint_matrix, metadata
from .canonical import canonicalize as canonicalize
from .intel import modern as modern
from .kernels import spellings as spellings
from .link import link_library as link_library
from .llvm_ir_requirements import find_requirements as find_requirements
from .operations import MENTION as MENTION
from .source_lines import find_place as find_place, span_of_line as span_of_line
from .text import Malformed as Malformed, Module as Module, parse_module as parse_module
from .write import write

DIALECTS = ("khr", "rfc", "clang")
INTEL = tuple(intel.FORMS)
check_for_intel = intel.check


def read(text: str) -> str:
    """Return a module of any dialect in the canonical dialect. Raises Malformed."""
    return str(read_module(text))


def read_module(text: str) -> Module:
    """Read a module as `read` does, but return it parsed; its instructions refer to their lines in the input."""
    module = parse_module(text)
    joint_matrix.check(module)
    metadata.check(module)
    intel.read(module)
    canonicalize(module)
    return module


def reread(text: str, before: Module) -> Module:
    """Parse LLVM's print of the module `before`; its instructions refer to the same lines of the input as before."""
    module = parse_module(text)
    functions_by_name = {function.name: function for function in before.functions}
    for function in module.functions:
        old = functions_by_name.get(function.name)
        pairs = list(zip(function.instructions(), old.instructions(), strict=False)) if old is not None else []
        if all(new.opcode == item.opcode for new, item in pairs):
            for new, item in pairs:
                new.source = item.source
    return module


def rewrite(text: str, dialect: str) -> str:
    """Return a module of any dialect in the given dialect, which is in DIALECTS or INTEL. Raises Malformed."""
    module = parse_module(text)
    intel.read(module)
    canonicalize(module)
    if dialect in intel.FORMS:
        intel.write(module, dialect)
    else:
        write(module, dialect)
    return str(module)
