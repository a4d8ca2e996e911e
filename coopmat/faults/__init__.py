"""The rewriting of modules into equivalent code that devices' compilers translate correctly.

Each rewrite is correct for every device, and costs little.
"""

from __future__ import annotations

from ..spirv import capabilities
from ..spirv.module import OP, Instruction, Module, instruction
from .id_guards import IdGuards
from .loop_conditions import LoopConditions
from .loop_counts import LoopCounts
from .loop_ends import LoopEnds
from .loop_starts import LoopStarts
from .negations import Negations
from .opaque_zeros import Globals, OpaqueZeros
from .partly_written import PartlyWritten
from .private_fills import PrivateFills
from .strided_arguments import StridedArguments
from .sub_group_barriers import call_barrier_builtin as call_barrier_builtin

_FUNCTION, _END = OP["OpFunction"], OP["OpFunctionEnd"]


def avoid_device_faults(module: Module) -> None:
    """Rewrite the functions of a module for such compilers; the module's matrices may be lowered before or afterwards.

    See `loop_starts`, `loop_ends`, `loop_counts`, `id_guards`, `loop_conditions`, `strided_arguments`, `negations`,
    `partly_written` and `private_fills`. Raise MalformedModule if operands do not match an opcode.
    """
    scope = Globals(module)
    rewrites = (
        *(LoopStarts(scope), LoopEnds(scope), LoopCounts(scope), IdGuards(scope), LoopConditions(scope)),
        *(StridedArguments(scope), Negations(scope), PartlyWritten(scope), PrivateFills(scope)),
    )
    code = module.instructions
    first = next((at for at, item in enumerate(code) if item.opcode == _FUNCTION), len(code))
    result: list[Instruction] = []
    function: list[Instruction] = []
    for item in code[first:]:
        function.append(item)
        if item.opcode == _END:
            zeros = OpaqueZeros(scope)
            for rewrite in rewrites:
                function = rewrite.hide(function, zeros)
            result += zeros.inserted(function)
            function = []
    module.instructions = [*_capabilities(scope), *code[:first], *scope.added, *result, *function]


def _capabilities(scope: Globals) -> list[Instruction]:
    """Return the capabilities that the added types require and the module lacks."""
    present = {item.operands[0] for item in scope.module.instructions if item.opcode == OP["OpCapability"]}
    return [instruction("OpCapability", number) for number in sorted(capabilities.of_types(scope.added) - present)]
