"""What is known while a text is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..diagnostics import InternalError, Span
from ..frontend import typed
from ..frontend.matrix_overlaps import Overlaps
from ..frontend.types import PLAIN, Type
from ..matrices.strategies import Target
from ..matrices.trees import Machine
from .names import LIBRARY_PREFIX, Names
from .needs import Needs
from .output import Output
from .text import Text

if TYPE_CHECKING:
    from ..frontend.sub_groups import SubGroups
    from .matrices import Matrices
    from .matrix_types import MatrixTypes

Function = tuple[typed.FunctionDecl, "Target | None"]
SCRATCH = "cm_scratch"


@dataclass(slots=True)
class Uses:
    """What a function does itself; `calls` are the functions that may do more. `scratch`: bytes of local memory that
    its own library functions exchange values through."""

    matrices: bool = False
    subgroups: bool = False
    scratch: int = 0
    calls: dict[Function, None] = field(default_factory=dict)


@dataclass
class Program:
    """A unit and the one text that it becomes. `has_half`: the device has cl_khr_fp16. Expressions of matrix types are
    made for `machine`, and contracted whatever FP_CONTRACT says where `contract_matrices`.
    `versions` are the targets that functions are written for, in order.

    Once they are known, `scratch` says which functions get local memory from whoever calls them, and `kernel_sizes`
    which subgroups the device is told of. `statics` are the functions' variables in local memory, which C has at the
    beginning of a function."""

    unit: typed.Unit
    names: Names
    needs: Needs
    sub_groups: SubGroups
    has_half: bool = True
    machine: Machine = field(default_factory=Machine)
    contract_matrices: bool = False
    versions: dict[Target, int] = field(default_factory=dict)
    uses: dict[Function, Uses] = field(default_factory=dict)
    scratch: set[Function] = field(default_factory=set)
    kernel_sizes: dict[typed.FunctionDecl, int] = field(default_factory=dict)
    statics: dict[typed.FunctionDecl, list[typed.VarDecl]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from .matrices import Matrices
        from .matrix_types import MatrixTypes

        self.matrices: Matrices = Matrices(self)
        self.matrix_types: MatrixTypes = MatrixTypes(self)

    def suffix(self, target: Target) -> str:
        """Tells what is for one target from what is for another; the first needs nothing."""
        number = self.versions.setdefault(target, len(self.versions))
        return f"_{number + 1}" if number else ""

    def function_name(self, function: Function) -> str:
        decl, target = function
        version = self.versions.get(target) if target is not None else None
        return self.names.function(decl, version or None)


class Context:
    """Of one function as one target has it; of no function, for what stands outside."""

    def __init__(self, program: Program, decl: typed.FunctionDecl | None, target: Target | None, out: Output) -> None:
        self.program, self.decl, self.target, self.output = program, decl, target, out
        self.uses = Uses() if decl is None else program.uses.setdefault((decl, target), Uses())
        self.temporaries: list[str] = []
        self._overlaps: Overlaps | None = None

    @property
    def contract(self) -> bool:
        """Whether products and sums of matrix types may be contracted."""
        off = self.decl is not None and not self.decl.attributes.get("fp_contract", True)
        return self.program.contract_matrices or not off

    @property
    def overlaps(self) -> Overlaps:
        if self._overlaps is None:
            if self.decl is None:
                raise InternalError("nothing is stored outside functions")
            self._overlaps = Overlaps(self.decl)
        return self._overlaps

    def temporary(self, t: Type, span: Span) -> typed.VarRef:
        """A new object of the function's."""
        from .declarations import declared

        decl = typed.VarDecl(span, f"{LIBRARY_PREFIX}t{len(self.temporaries)}", t, PLAIN, "automatic")
        self.program.names.made(decl)
        self.temporaries.append(declared(self.program, t, decl.name))
        return typed.VarRef(span, t, PLAIN, decl)

    def value(self, e: typed.Expr) -> Text:
        from .expressions import value

        return value(self, e)

    def assigned(self, e: typed.Expr) -> Text:
        from .expressions import assigned

        return assigned(self, e)

    def place(self, e: typed.LValue) -> Text:
        from .expressions import place

        return place(self, e)

    def callee(self, decl: typed.FunctionDecl) -> str:
        function = (decl, self.target)
        self.uses.calls.setdefault(function)
        return self.program.function_name(function)

    def hidden_arguments(self, decl: typed.FunctionDecl) -> list[str]:
        """What a call passes on besides its arguments."""
        takes = not decl.is_kernel and (decl, self.target) in self.program.scratch
        return [SCRATCH] if takes else []

    @property
    def library_target(self) -> Target:
        if self.target is None:
            raise InternalError("a library function is called without a target")
        return self.target
