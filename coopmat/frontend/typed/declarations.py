"""Nodes for functions and variables, and the translation unit."""

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
    """A variable or parameter.

    name: "" for an unnamed parameter.
    storage: parameter, automatic or static. Local-memory and program-scope objects are static.
    alignment: the required alignment in bytes, or None.
    symbol: the name by which other programs refer to the variable, or None.
    imported: whether another program defines the variable.
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
    """A function; `body` is None for a prototype. Parameters and result are passed by value.

    attributes: reqd_work_group_size and work_group_size_hint -> (x, y, z); intel_reqd_sub_group_size -> n;
      vec_type_hint -> Type; always_inline, noinline, convergent -> True; overloadable -> True on functions that other
      programs may call; fp_contract -> False. Passes add matrix_loops -> True to functions with loops and expressions
      of Clang's matrix types.
    info: a kernel's description for hosts, after a pass has determined it.
    symbol: the name by which other programs refer to the function, or None. If there is a symbol but no body, another
      program defines the function.
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
    """A translation unit.

    functions: functions with a body, in order of definition. If programs are compiled separately, also the called
      functions that another program defines.
    variables: program-scope variables.
    has_matrices: whether the unit names a cooperative matrix type.
    has_matrix_types: whether the unit names one of Clang's matrix types.
    has_small_floats: whether the unit names a floating-point type that devices store as its bits.
    has_storage_vectors: whether the unit names a vector of a type for storage.
    has_expansions: whether the unit has operations on matrices that the pass `expansions` replaces.
    """

    functions: list[FunctionDecl]
    variables: list[VarDecl]
    records: list[RecordType]
    has_matrices: bool = False
    has_matrix_types: bool = False
    has_small_floats: bool = False
    has_storage_vectors: bool = False
    has_expansions: bool = False

    @property
    def kernels(self) -> list[FunctionDecl]:
        return [f for f in self.functions if f.is_kernel and f.body is not None]

    @property
    def is_shared(self) -> bool:
        """Whether other programs share functions or variables with the unit."""
        return any(f.symbol is not None for f in self.functions) or any(v.symbol is not None for v in self.variables)

    @property
    def roots(self) -> list[FunctionDecl]:
        """The functions that a host or another program can call; if there are none, all functions with a body."""
        defined = [f for f in self.functions if f.body is not None]
        return [f for f in defined if f.is_kernel or f.symbol is not None] or defined
