"""Passes from typed AST to typed AST: each takes a valid unit and gives a valid one (`coopmat.passes.verify`).

A pass is a frozen dataclass with a `name` and `run(unit, report)`. What it is given it leaves as it is: nodes that
change are made anew, and everything else is shared between the units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..diagnostics import Diagnostic, Span
    from ..frontend import typed
    from ..matrix_types.expressions import Tree

__all__ = ["NAMES", "Library", "Pass", "Report", "run"]

#: What the passes are called, for --print-after.
NAMES = ("native-matrices", "cooperative-matrices", "matrix-types", "small-floats")
#: For tests: units are verified after each pass, whatever is asked for.
ALWAYS_VERIFY = False
#: Compiles OpenCL C text of the matrix library to a typed unit, which may be one that others have, too.
Library = Callable[[str], "typed.Unit"]


@dataclass(slots=True)
class Report:
    """The results of passes besides the unit that they return."""

    warnings: list[Diagnostic] = field(default_factory=list)
    # The expressions of Clang's matrix types, with their places.
    trees: list[tuple[Span, Tree]] = field(default_factory=list)
    # For each multiply-add of cooperative matrices, the function that tells what became of it.
    remarks: list[tuple[Span, Callable[[], str]]] = field(default_factory=list)


class Pass(Protocol):
    """`removes` are the classes of types that a unit no longer has after it; `only` names the field of a unit that is
    true where there is something to do, empty: always."""

    @property
    def name(self) -> str: ...

    @property
    def removes(self) -> tuple[type, ...]: ...

    @property
    def only(self) -> str: ...

    def run(self, unit: typed.Unit, report: Report) -> typed.Unit:
        """The unit after the pass. Raises CompileError for what is not supported."""
        ...


def run(unit: typed.Unit, passes: Iterable[Pass], report: Report, *, verify: bool = False) -> typed.Unit:
    """The unit after all passes. With `verify` an InternalError says what a pass did wrong."""
    from .verify import check

    removed: tuple[type, ...] = ()
    for item in passes:
        if not item.only or getattr(unit, item.only):
            unit = item.run(unit, report)
        removed += item.removes
        if verify or ALWAYS_VERIFY:
            check(unit, item.name, removed)
    return unit
