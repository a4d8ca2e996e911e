"""Functions, variables, the translation unit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..nodes import Node
from ..types import FunctionType, Qualifiers, RecordType, Type
from .base import Expr
from .statements import Block

if TYPE_CHECKING:
    from ..kernel_info import KernelInfo


class VarDecl(Node, eq=False):
    """A variable or parameter. Arrays in the local address space and program-scope objects have static storage.

    `storage` is one of parameter, automatic, static (also local-memory and program-scope objects).
    An unnamed parameter has the name "". `symbol` is the name by which other programs know it, None if they do not;
    `imported`: one of them defines it.
    """

    name: str
    type: Type
    qualifiers: Qualifiers
    storage: str
    initializer: Expr | None = None
    alignment: int | None = None
    symbol: str | None = None
    imported: bool | None = None


class FunctionDecl(Node, eq=False):
    """A function; `body` is None for a mere prototype. Parameters and result are passed by value.

    attributes: reqd_work_group_size and work_group_size_hint -> (x, y, z), intel_reqd_sub_group_size -> n,
    vec_type_hint -> Type; always_inline, noinline -> True; fp_contract -> False. Passes add matrix_loops -> True: there
    are loops and expressions of Clang's matrix types. `info` is the description of a kernel for hosts, once a pass has
    determined it. `symbol` is the name by which other programs know the function, None if they do not: one without a
    body is defined by one of them.
    """

    name: str
    type: FunctionType
    parameters: list[VarDecl]
    is_kernel: bool
    internal: bool
    attributes: dict[str, object] = field(default_factory=dict)
    body: Block | None = None
    info: KernelInfo | None = None
    symbol: str | None = None


@dataclass(slots=True)
class Unit:
    """A translation unit: functions in order of definition (prototypes last), program-scope variables, records.
    `has_matrices`, `has_matrix_types`, `has_small_floats`: the unit names a type of cooperative matrices, one of
    Clang's matrix types, a floating-point type that devices store as bits."""

    functions: list[FunctionDecl]
    variables: list[VarDecl]
    records: list[RecordType]
    has_matrices: bool = False
    has_matrix_types: bool = False
    has_small_floats: bool = False

    @property
    def kernels(self) -> list[FunctionDecl]:
        return [f for f in self.functions if f.is_kernel and f.body is not None]

    @property
    def is_shared(self) -> bool:
        """Whether other programs share functions or variables with the unit."""
        return any(f.symbol is not None for f in self.functions) or any(v.symbol is not None for v in self.variables)

    @property
    def roots(self) -> list[FunctionDecl]:
        """The functions that a host or another program calls; all functions if there are none."""
        defined = [f for f in self.functions if f.body is not None]
        return [f for f in defined if f.is_kernel or f.symbol is not None] or defined
