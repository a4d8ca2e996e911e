"""The state of semantic analysis: scopes, the current function, and the diagnostics."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from ...diagnostics import Details, Diagnostics, FixIt, Note, Span
from ...features import Features
from ...graphs import reachable
from .. import syntax, typed
from ..foreign_names import NAMES, Equivalent
from ..types import PLAIN, MatrixLayout, Qualifiers, RecordType, Type

if TYPE_CHECKING:
    from typing_extensions import Unpack


T = TypeVar("T")
R = TypeVar("R")

# The limits of a SPIR-V module (SPIR-V specification, sections 2.3 and 2.17).
#: The words of an OpConstantComposite (at most 65,535) without the three for the instruction, type and result.
MOST_ELEMENTS = 65_532
MOST_MEMBERS = 16_383
MOST_CASES = 16_383
#: SPIR-V allows 255; one of them may become a pointer to the result.
MOST_PARAMETERS = 254


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


class Abandon(Exception):
    """An exception that abandons the construct being analysed, after its error was reported.

    Analysis continues after the innermost statement, initialiser, argument or member. So each mistake is reported once,
    and later mistakes are reported, too.
    """


@dataclass(frozen=True, slots=True)
class Typedef:
    """A name for a type.

    qualifiers, alignment: those of objects of the type; the alignment is in bytes, or None.
    host_sized: the first name of the type, if that is size_t or a similar type.
    """

    span: Span
    name: str
    type: Type
    qualifiers: Qualifiers = PLAIN
    alignment: int | None = None
    host_sized: str | None = None


@dataclass(frozen=True, slots=True)
class EnumConstant:
    span: Span | None
    name: str
    type: Type
    value: int


@dataclass(frozen=True, slots=True)
class Poisoned:
    """The name of a faulty declaration: its uses cause no further errors."""

    span: Span
    name: str


@dataclass(frozen=True, slots=True)
class Overloads:
    """The functions of one name that are marked overloadable (clang's attribute); their parameters differ."""

    span: Span
    name: str
    functions: list[typed.FunctionDecl]


Entity = typed.VarDecl | typed.FunctionDecl | Overloads | Typedef | EnumConstant | Poisoned


@dataclass(frozen=True, slots=True)
class EnumTag:
    """The tag of an enumeration; `type` is the type of its objects."""

    span: Span
    name: str
    type: Type


Tag = RecordType | EnumTag


class UnknownType(Type):
    """The expected type of an expression whose context is faulty: a mismatch causes no further error."""

    __slots__ = ()


UNKNOWN = UnknownType()


class Scope:
    """A scope of names; ordinary identifiers and tags have separate name spaces (C11 6.2.3)."""

    __slots__ = ("names", "parent", "tags")

    def __init__(self, parent: Scope | None = None) -> None:
        self.parent = parent
        self.names: dict[str, Entity] = {}
        self.tags: dict[str, Tag] = {}

    def find(self, name: str) -> Entity | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None

    def find_tag(self, name: str) -> Tag | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.tags:
                return scope.tags[name]
            scope = scope.parent
        return None

    def visible(self) -> Iterator[str]:
        scope: Scope | None = self
        while scope is not None:
            yield from scope.names
            scope = scope.parent


@dataclass(slots=True)
class SwitchState:
    """The switch statement being analysed.

    type: the promoted type of its value.
    cases: constant -> place of its label.
    default: the place of the default label.
    named: the enumerators that labels name.
    """

    type: Type
    cases: dict[int, Span] = field(default_factory=dict)
    default: Span | None = None
    named: set[str] = field(default_factory=set)


@dataclass(slots=True)
class FunctionState:
    """The function being analysed.

    outermost: the scope of its body.
    labels: name -> place.
    gotos: (label, place).
    loops: the number of open loops.
    breakable: the number of open loops and switches.
    switches: the open switches.
    enclosed: the number of open statement expressions.
    undeclared: undeclared names that have been reported, once in each function.
    """

    decl: typed.FunctionDecl
    outermost: Scope | None = None
    labels: dict[str, Span] = field(default_factory=dict)
    gotos: list[tuple[str, Span]] = field(default_factory=list)
    loops: int = 0
    breakable: int = 0
    switches: list[SwitchState] = field(default_factory=list)
    enclosed: int = 0
    undeclared: set[str] = field(default_factory=set)
    # For warnings: local variables and typedefs, variables without an initial value, matrices with named elements,
    # parameters marked unused, places of `__attribute__((fallthrough));`, whether there is a switch, and switches that
    # name every enumerator.
    locals: list[typed.VarDecl] = field(default_factory=list)
    typedefs: list[Typedef] = field(default_factory=list)
    bare: list[typed.VarDecl] = field(default_factory=list)
    by_element: set[typed.VarDecl] = field(default_factory=set)
    excused: set[str] = field(default_factory=set)
    deliberate: set[Span] = field(default_factory=set)
    switched: bool = False
    complete: set[Span] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Rules:
    """The functions that analyse constructs which many others contain; passing them in avoids import cycles.

    expression: analyses an expression, given the type that its context expects.
    type_name: analyses a type name.
    block: analyses a compound statement.
    prototype: analyses a function declaration in a block.
    """

    expression: Callable[[Context, syntax.Expression, Type | None], typed.Expr]
    type_name: Callable[[Context, syntax.TypeName], Type]
    block: Callable[[Context, syntax.Compound], typed.Block]
    prototype: Callable[[Context, Any, syntax.InitDeclarator], typed.FunctionDecl]


@dataclass(eq=False)
class UnitState:
    """The effect of the declarations so far on the analysis of those that follow, and on the checks of the whole unit.

    contract, contract_default: the setting of the last `#pragma OPENCL FP_CONTRACT`, and its DEFAULT.
    functions: name -> function, declared in any scope: all declarations of a name denote one function (C11 6.2.2).
    tentative: name -> (program-scope variable without an initial value so far, whether all its declarations are
      `extern`).
    calls: caller -> callee -> place of the first call. The caller None contains the calls that never run.
    matrix_pragma: whether a pragma enables matrices, or its absence has been reported.
    operand_functions: function that is an operand of a matrix operation -> its first use.
    has_work_group_matrices: whether a matrix type has work-group scope.
    enumerations: the names and the values of each enumeration.
    excused: functions that may remain unused: they have the attribute, or are inline in a header.
    """

    contract: bool
    contract_default: bool
    scope: Scope = field(default_factory=Scope)
    unit: typed.Unit = field(default_factory=lambda: typed.Unit([], [], []))
    functions: dict[str, typed.FunctionDecl] = field(default_factory=dict)
    tentative: dict[str, tuple[typed.VarDecl, bool]] = field(default_factory=dict)
    calls: dict[typed.FunctionDecl | None, dict[typed.FunctionDecl, Span]] = field(default_factory=dict)
    matrix_pragma: bool = False
    operand_functions: dict[typed.FunctionDecl, Span] = field(default_factory=dict)
    has_work_group_matrices: bool = False
    enumerations: list[tuple[frozenset[str], frozenset[int]]] = field(default_factory=list)
    excused: set[typed.FunctionDecl] = field(default_factory=set)

    @property
    def state(self) -> Any:
        """The values of all fields; None if there are matrices, whose lowering depends on the whole unit."""
        if self.unit.has_matrices or self.unit.has_matrix_types:
            return None
        return {item.name: getattr(self, item.name) for item in fields(UnitState)}

    @state.setter
    def state(self, state: Any) -> None:
        vars(self).update(state)

    def reached(self, roots: Iterable[typed.FunctionDecl]) -> set[typed.FunctionDecl]:
        """Return the transitive closure of `roots` in the call graph: the roots and all functions that they call."""
        return reachable(roots, lambda function: self.calls.get(function, ()))


class Context(UnitState):
    """The state of the analysis of one translation unit.

    rules: the functions that analyse nested constructs.
    features: the enabled features.
    single: constants without a suffix are floats.
    contract: floating-point expressions may be contracted.
    wrap: signed integers wrap.
    half_bits: values of type half need no cl_khr_fp16.
    row_major: matrix types without a layout are row-major.
    separate: other programs may define functions and variables that this one declares.
    """

    def __init__(
        self,
        rules: Rules,
        diagnostics: Diagnostics,
        features: Features,
        single: bool = False,
        contract: bool = True,
        wrap: bool = False,
        half_bits: bool = False,
        row_major: bool = False,
        separate: bool = False,
    ) -> None:
        super().__init__(contract, contract)
        self.rules = rules
        self.single = single
        self.wrap = wrap
        self.half_bits = half_bits
        self.separate = separate
        # The layout of matrix types that specify none.
        self.matrix_layout = MatrixLayout.ROW_MAJOR if row_major else MatrixLayout.COLUMN_MAJOR
        self.diagnostics = diagnostics
        self.features = features
        self.matrices = "__opencl_c_ext_cooperative_matrix" in features
        self.function: FunctionState | None = None
        # The next three serve the checks of `separate`: function -> whether all its declarations so far are inline;
        # functions marked overloadable; program-scope variable -> whether none of its declarations so far is static.
        self.inline: dict[typed.FunctionDecl, bool] = {}
        self.overloadable: set[typed.FunctionDecl] = set()
        self.external: dict[typed.VarDecl, bool] = {}
        # Identity of a function declarator -> its variables, which are analysed once and used several times.
        self.parameters: dict[int, list[typed.VarDecl]] = {}
        # Parameter -> name of its type, if that is size_t or a similar type.
        self.host_sized: dict[typed.VarDecl, str] = {}
        # Records without their faulty members: the absence of a member in one of them is not reported.
        self.broken: set[RecordType] = set()
        # For warnings: variable -> number of its uses in this function; variable -> number of its uses that only store
        # to it; types that are named.
        self.references: dict[typed.VarDecl, int] = {}
        self.only_set: dict[typed.VarDecl, int] = {}
        self.named_types: set[Typedef] = set()
        # The places of errors of earlier stages: a second error there would be a consequence.
        self.error_spans = {item.span for item in diagnostics if item.severity.is_error}

    # --- parts

    def analyse(self, node: syntax.Expression, expected: Type | None = None) -> typed.Expr:
        """Return the typed form of an expression.

        `expected` is the type that the context expects, which matrix loads need.
        """
        return self.rules.expression(self, node, expected)

    def analyse_each(self, *nodes: syntax.Expression, expected: Type | None = None) -> list[typed.Expr]:
        """Return the typed forms of all expressions; raise Abandon only after the errors of each have been reported."""
        analyse = self.rules.expression
        return self.each(nodes, lambda node: analyse(self, node, expected))

    def each(self, items: Iterable[T], function: Callable[[T], R]) -> list[R]:
        """Return the function's results for the items; raise Abandon only after the errors of each were reported."""
        results: list[R] = []
        sound = True
        for item in items:
            try:
                results.append(function(item))
            except Abandon:
                sound = False
        if not sound:
            raise Abandon
        return results

    def all_of(self, *parts: Callable[[], Any]) -> list[Any]:
        """Return the results of all parts; raise Abandon at the end if any of them reported an error."""
        errors = self.diagnostics.error_count
        results = self.each(parts, lambda part: part())
        if self.diagnostics.error_count != errors:
            raise Abandon
        return results

    def type_name(self, node: syntax.TypeName) -> Type:
        """Return the type that a cast, sizeof or argument names."""
        return self.rules.type_name(self, node)

    def block(self, node: syntax.Compound) -> typed.Block:
        """Analyse a compound statement without opening a scope; the caller opens one."""
        return self.rules.block(self, node)

    # --- findings

    def error(self, code: str, message: str, span: Span, **details: Unpack[Details]) -> None:
        self.diagnostics.error(code, message, span, **details)

    def fail(self, code: str, message: str, span: Span, **details: Unpack[Details]) -> NoReturn:
        """Report an error and raise Abandon."""
        self.error(code, message, span, **details)
        raise Abandon

    def abandon(self) -> NoReturn:
        """Raise Abandon for an error that has been reported already."""
        raise Abandon

    def unsupported(self, what: str, span: Span) -> NoReturn:
        self.fail("not-supported", f"{what} not supported yet", span)

    def check_count(self, count: int, most: int, what: str, span: Span) -> None:
        """Report an error, without raising Abandon, if `count` exceeds `most`.

        `what` names the things in the plural, and their container.
        """
        if count > most:
            with self.recover():
                self.unsupported(f"more than {most} {what} are", span)

    def warn(self, code: str, message: str, span: Span, **details: Unpack[Details]) -> None:
        self.diagnostics.warning(code, message, span, **details)

    def recover(self) -> suppress:
        """Return a context manager that continues after a faulty part, whose error has been reported."""
        return suppress(Abandon)

    # --- names

    @contextmanager
    def nested_scope(self) -> Iterator[None]:
        self.scope = Scope(self.scope)
        try:
            yield
        finally:
            assert self.scope.parent is not None
            self.scope = self.scope.parent

    def declare(self, entity: Entity) -> None:
        """Add a name to the innermost scope; report a clash together with the earlier declaration."""
        earlier = self.scope.names.get(entity.name)
        if earlier is not None and not isinstance(earlier, Poisoned) and entity.span is not None:
            notes = [Note("the previous declaration is here", earlier.span)] if earlier.span else []
            self.error("redefinition", f"redefinition of '{entity.name}'", entity.span, notes=notes)
            return
        if self.scope.parent is not None and self.diagnostics.wants("shadow") and isinstance(entity, typed.VarDecl):
            hidden = self.scope.parent.find(entity.name)
            if isinstance(hidden, typed.VarDecl):
                notes = [Note("the variable that it hides", hidden.span)]
                self.warn("shadow", f"'{entity.name}' hides another variable", entity.span, notes=notes)
        self.scope.names[entity.name] = entity

    def poison(self, name: str | None, span: Span) -> None:
        """Add the name of a faulty declaration, so that its uses cause no further errors."""
        if name is not None and name not in self.scope.names:
            self.scope.names[name] = Poisoned(span, name)

    def undeclared(self, message: str, name: str, span: Span, candidates: Iterable[str]) -> NoReturn:
        """Report that `name` is not declared, once in each function, and raise Abandon."""
        if span in self.error_spans:
            raise Abandon
        if self.function is not None:
            if name in self.function.undeclared:
                raise Abandon
            self.function.undeclared.add(name)
        equivalent = NAMES.get(name)
        is_macro = _MACRO.fullmatch(name) is not None
        near = None if equivalent else self.nearest(name, candidates)
        # A macro-like name such as `K` is not a misspelt `k`.
        if near and not (is_macro and near.islower()):
            equivalent = Equivalent(near, interchangeable=True)
        notes = [equivalent.note()] if equivalent else []
        if is_macro and equivalent is None:
            notes = [Note(f"if '{name}' is a macro, the option -D{name}=VALUE defines it")]
        # If a macro produced the name, the source has another text at this place, which must not be replaced.
        line = self.diagnostics.sources.line(span.file, span.line) or ""
        in_source = line[span.column - 1 : span.end_column - 1] == name
        fixits = [FixIt(span, equivalent.name)] if equivalent and equivalent.interchangeable and in_source else []
        self.fail("undeclared-identifier", message, span, notes=notes, fixits=fixits)

    def nearest(self, name: str, candidates: Iterable[str]) -> str | None:
        """Return the candidate spelled most similarly to `name`, or None; letter case and underscores count least."""
        names = sorted(set(candidates))
        matches = [item for item in names if _bare(item) == _bare(name)]
        return next(iter(matches or difflib.get_close_matches(name, names, n=1, cutoff=0.75)), None)

    def suggestion(self, name: str, candidates: Iterable[str]) -> list[Note]:
        near = self.nearest(name, candidates)
        return [Note(f"did you mean '{near}'?")] if near else []


#: Names in the style of macros, except those of OpenCL C.
_MACRO = re.compile(r"(?!CLK_)[A-Z][A-Z0-9_]*")


def _bare(name: str) -> str:
    return name.replace("_", "").lower()
