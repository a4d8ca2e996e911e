"""Passes from typed AST to typed AST; input and output of each are valid units (`coopmat.passes.verify`).

A pass is a frozen dataclass with a `name` and `run(unit, report)`. A pass never modifies its input: it copies the nodes
that change, and both units share all other nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..diagnostics import Diagnostic, Span
    from ..frontend import typed
    from ..matrix_types.expressions import Tree

__all__ = ["NAMES", "Library", "Pass", "Report", "run"]

#: The names of the passes, as accepted by --print-after.
NAMES = ("storage-vectors", "expansions", "native-matrices", "cooperative-matrices", "matrix-types", "small-floats")
#: Set by tests: verify the unit after each pass, even if `run` is called without `verify`.
ALWAYS_VERIFY = False
#: A function that compiles OpenCL C text of the matrix library to a typed unit. Callers may share the returned unit.
Library = Callable[[str], "typed.Unit"]


@dataclass(slots=True)
class Report:
    """The outputs of the passes besides the returned unit."""

    warnings: list[Diagnostic] = field(default_factory=list)
    # Each expression of Clang's matrix types, with its source location.
    trees: list[tuple[Span, Tree]] = field(default_factory=list)
    # Each multiply-add of cooperative matrices: its source location, and a function that returns the optimization
    # remark: how the multiply-add was lowered.
    remarks: list[tuple[Span, Callable[[], str]]] = field(default_factory=list)


class Pass(Protocol):
    """A pass from typed unit to typed unit.

    name: the name for --print-after and for messages.
    removes: the classes of types that no longer occur in the unit after the pass.
    only: the name of a Boolean field of the unit; if the field is false, the pass is skipped. Empty: always run.
    """

    @property
    def name(self) -> str: ...

    @property
    def removes(self) -> tuple[type, ...]: ...

    @property
    def only(self) -> str: ...

    def run(self, unit: typed.Unit, report: Report) -> typed.Unit:
        """Return the lowered unit. Raise CompileError for an unsupported construct."""
        ...


def run(unit: typed.Unit, passes: Sequence[Pass], report: Report, *, verify: bool = False) -> typed.Unit:
    """Return the unit after all passes. With `verify`, raise InternalError if a pass returns an invalid unit."""
    from .verify import check

    removed: tuple[type, ...] = ()
    for number, item in enumerate(passes, 1):
        is_needed = not item.only or getattr(unit, item.only)
        if is_needed:
            unit = item.run(unit, report)
        removed += item.removes
        # A unit that no pass has changed is verified once, at the end: the types of all passes must be gone.
        if (verify or ALWAYS_VERIFY) and (is_needed or number == len(passes)):
            check(unit, item.name, removed)
    return unit
