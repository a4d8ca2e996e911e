"""Functions, variables, the translation unit."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..nodes import Node, walk
from ..types import FunctionType, Qualifiers, RecordType, Type, contains_matrix
from .base import Expr
from .expressions import Call
from .statements import Block


@dataclass(eq=False, slots=True)
class VarDecl(Node):
    """A variable or parameter. Arrays in the local address space and program-scope objects have static storage.

    `storage` is one of parameter, automatic, static (also local-memory and program-scope objects).
    An unnamed parameter has the name "".
    """

    name: str
    type: Type
    qualifiers: Qualifiers
    storage: str
    initializer: Expr | None = None
    alignment: int | None = None


@dataclass(eq=False, slots=True)
class FunctionDecl(Node):
    """A function; `body` is None for a prototype only. Parameters and result are passed by value.

    attributes: reqd_work_group_size and work_group_size_hint -> (x, y, z), intel_reqd_sub_group_size -> n,
    vec_type_hint -> Type; always_inline, noinline -> True; fp_contract -> False.
    """

    name: str
    type: FunctionType
    parameters: list[VarDecl]
    is_kernel: bool
    internal: bool
    attributes: dict[str, object] = field(default_factory=dict)
    body: Block | None = None


@dataclass(slots=True)
class Unit:
    """A translation unit: functions in order of definition (prototypes last), program-scope variables, records.
    `has_matrices`: a type of cooperative matrices is named somewhere."""

    functions: list[FunctionDecl]
    variables: list[VarDecl]
    records: list[RecordType]
    has_matrices: bool = False

    @property
    def kernels(self) -> list[FunctionDecl]:
        return [f for f in self.functions if f.is_kernel and f.body is not None]


def uses_matrices(function: FunctionDecl) -> bool:
    """Whether the function, or one that it calls, has an expression or a variable that is or holds a matrix."""
    seen = {function}
    work = [function]
    while work:
        for node in walk(work.pop().body):
            if isinstance(node, (Expr, VarDecl)) and contains_matrix(node.type):
                return True
            if isinstance(node, Call) and node.function not in seen:
                seen.add(node.function)
                work.append(node.function)
    return False
