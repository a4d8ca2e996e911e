"""The state of semantic analysis: scopes, the current function, and the diagnostics."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from ...diagnostics import Details, Diagnostics, FixIt, Note, Span
from ...features import Features
from .. import syntax, typed
from ..foreign_names import NAMES, Equivalent
from ..types import PLAIN, MatrixLayout, Qualifiers, RecordType, Type

if TYPE_CHECKING:
    from typing_extensions import Unpack


T = TypeVar("T")
R = TypeVar("R")

# The limits of a SPIR-V module (SPIR-V specification, sections 2.3 and 2.17).
#: An OpConstantComposite has at most 65,535 words, three of them for itself.
MOST_ELEMENTS = 65_532
MOST_MEMBERS = 16_383
MOST_CASES = 16_383
#: SPIR-V takes 255; a result in memory is one of them.
MOST_PARAMETERS = 254


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


class Abandon(Exception):
    """Raised after an error was reported, when the construct that was being analysed has no meaning.

    Analysis continues after the innermost statement, initialiser, argument or member, so that each mistake is reported
    once, and later ones are reported too.
    """


@dataclass(frozen=True, slots=True)
class Typedef:
    """A `Typedef` is a name for a type, with the type's qualifiers and alignment (in bytes), and, where that is the
    type's first name, size_t or the like (`host_sized`)."""

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
    """A `Poisoned` name is one whose declaration was faulty: its uses cause no further errors."""

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
    """An enumeration's tag; `type` is the type of its objects."""

    span: Span
    name: str
    type: Type


Tag = RecordType | EnumTag


class UnknownType(Type):
    """The expected type of an expression whose context is faulty: an expression that does not fit it causes no further
    error."""

    __slots__ = ()


UNKNOWN = UnknownType()


class Scope:
    """A `Scope` is one level of names; ordinary identifiers and tags have separate name spaces (C11 6.2.3)."""

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
    """The switch being analysed: its promoted type, its labels by constant, and the enumerators that name labels."""

    type: Type
    cases: dict[int, Span] = field(default_factory=dict)
    default: Span | None = None
    named: set[str] = field(default_factory=set)


@dataclass(slots=True)
class FunctionState:
    """The function being analysed; `outermost` is the scope of its body."""

    decl: typed.FunctionDecl
    outermost: Scope | None = None
    labels: dict[str, Span] = field(default_factory=dict)
    gotos: list[tuple[str, Span]] = field(default_factory=list)
    loops: int = 0
    breakable: int = 0
    switches: list[SwitchState] = field(default_factory=list)
    # Statement expressions that are open.
    enclosed: int = 0
    # Names that were told to be undeclared: once a function is enough.
    undeclared: set[str] = field(default_factory=set)
    # For warnings: its variables and types, those variables that start without a value, matrices of which elements are
    # named, parameters marked unused, the places of `__attribute__((fallthrough));`, whether there is a switch, those
    # that name all of an enumeration.
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
    """`Rules` are the functions that analyse constructs which many others contain: an expression, with the type that
    its context expects; a type name; a compound statement; a function declaration in a block. They are passed in, so
    that their callers need not import them."""

    expression: Callable[[Context, syntax.Expression, Type | None], typed.Expr]
    type_name: Callable[[Context, syntax.TypeName], Type]
    block: Callable[[Context, syntax.Compound], typed.Block]
    prototype: Callable[[Context, Any, syntax.InitDeclarator], typed.FunctionDecl]


class UnitState:
    """A `UnitState` is what analysis gathers about a whole unit, declaration by declaration."""

    def __init__(self) -> None:
        self.scope = Scope()
        self.function: FunctionState | None = None
        self.unit = typed.Unit([], [], [])
        # Every function by name, whatever scope it was declared in: they are one (C11 6.2.2).
        self.functions: dict[str, typed.FunctionDecl] = {}
        # Functions: whether all declarations so far are inline, and those that are overloadable; variables at program
        # scope: whether no declaration so far is static.
        self.inline: dict[typed.FunctionDecl, bool] = {}
        self.overloadable: set[typed.FunctionDecl] = set()
        self.external: dict[typed.VarDecl, bool] = {}
        # Program-scope variables without an initial value so far; and whether all their declarations were `extern`.
        self.tentative: dict[str, tuple[typed.VarDecl, bool]] = {}
        # Caller to callees, each with the place of the first call; None is the caller of what is never run.
        self.calls: dict[typed.FunctionDecl | None, dict[typed.FunctionDecl, Span]] = {}
        # The functions that are operands of operations on matrices, each with its first place.
        self.operand_functions: dict[typed.FunctionDecl, Span] = {}
        # Whether a matrix type has the scope of a work-group.
        self.has_work_group_matrices = False
        # The variables of each function declarator, by its identity: they are analysed once, and used several times.
        self.parameters: dict[int, list[typed.VarDecl]] = {}
        # Records without their faulty members: the absence of a member in one of them is not reported.
        self.broken: set[RecordType] = set()
        # For warnings: how often each variable is named, and how often only to store to it; types that are named.
        self.references: dict[typed.VarDecl, int] = {}
        self.only_set: dict[typed.VarDecl, int] = {}
        self.named_types: set[Typedef] = set()
        # Parameters whose type is size_t or the like: that name.
        self.host_sized: dict[typed.VarDecl, str] = {}
        # The names and the values of each enumeration.
        self.enumerations: list[tuple[frozenset[str], frozenset[int]]] = []
        # Functions that may remain unused: they have the attribute, or are inline in a header.
        self.excused: set[typed.FunctionDecl] = set()


class Context(UnitState):
    """A `Context` is the state of one analysis by `rules`; `features` are those that are on, `single` makes constants
    without a suffix floats, `wrap` makes signed integers wrap, `half_bits` allows values of half without cl_khr_fp16,
    `separate` lets other programs define what this one declares.
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
        super().__init__()
        self.rules = rules
        self.single = single
        self.wrap = wrap
        self.half_bits = half_bits
        # Whether other programs may define what this one declares.
        self.separate = separate
        # The layout of matrix types without one.
        self.matrix_layout = MatrixLayout.ROW_MAJOR if row_major else MatrixLayout.COLUMN_MAJOR
        self.diagnostics = diagnostics
        self.features = features
        self.matrices = "__opencl_c_ext_cooperative_matrix" in features
        # Whether a pragma enables matrices, or its absence has been reported.
        self.matrix_pragma = False
        # The setting of the last `#pragma OPENCL FP_CONTRACT`, and its DEFAULT.
        self.contract = self.contract_default = contract
        # The places of errors of earlier stages: an error at such a place is a consequence.
        self.error_spans = {item.span for item in diagnostics if item.severity.is_error}

    # --- parts

    def analyse(self, node: syntax.Expression, expected: Type | None = None) -> typed.Expr:
        """Return the typed form of an expression; `expected` is the type that its context expects (matrix loads need
        it)."""
        return self.rules.expression(self, node, expected)

    def analyse_each(self, *nodes: syntax.Expression, expected: Type | None = None) -> list[typed.Expr]:
        """Analyse all the expressions, so that the errors of each are reported, before giving up because of one."""
        analyse = self.rules.expression
        return self.each(nodes, lambda node: analyse(self, node, expected))

    def each(self, items: Iterable[T], function: Callable[[T], R]) -> list[R]:
        """Return the function's results for the items; the errors of each are reported before giving up because of
        one."""
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
        """Return the results of parts, all of which are analysed before an error in one is raised."""
        errors = self.diagnostics.error_count
        results = self.each(parts, lambda part: part())
        if self.diagnostics.error_count != errors:
            raise Abandon
        return results

    def type_name(self, node: syntax.TypeName) -> Type:
        """Return the type that a cast, sizeof or argument names."""
        return self.rules.type_name(self, node)

    def block(self, node: syntax.Compound) -> typed.Block:
        """Analyse a compound statement without a scope of its own (the caller opens one)."""
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
        """Report an error if there are more than `most`, without giving up; `what` is plural, and includes the
        container."""
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
        """Report that `name` is not declared, once in each function."""
        if span in self.error_spans:
            raise Abandon
        if self.function is not None:
            if name in self.function.undeclared:
                raise Abandon
            self.function.undeclared.add(name)
        equivalent = NAMES.get(name)
        is_macro = _MACRO.fullmatch(name) is not None
        near = None if equivalent else self.nearest(name, candidates)
        # `K` is not meant as `k`.
        if near and not (is_macro and near.islower()):
            equivalent = Equivalent(near, interchangeable=True)
        notes = [equivalent.note()] if equivalent else []
        if is_macro and equivalent is None:
            notes = [Note(f"if '{name}' is a macro, the option -D{name}=VALUE defines it")]
        # If a macro produced the name, the source has another text there.
        line = self.diagnostics.sources.line(span.file, span.line) or ""
        in_source = line[span.column - 1 : span.end_column - 1] == name
        fixits = [FixIt(span, equivalent.name)] if equivalent and equivalent.interchangeable and in_source else []
        self.fail("undeclared-identifier", message, span, notes=notes, fixits=fixits)

    def nearest(self, name: str, candidates: Iterable[str]) -> str | None:
        """Return the candidate spelled most similarly to `name`; letter case and underscores count least."""
        names = sorted(set(candidates))
        matches = [item for item in names if _bare(item) == _bare(name)]
        return next(iter(matches or difflib.get_close_matches(name, names, n=1, cutoff=0.75)), None)

    def suggestion(self, name: str, candidates: Iterable[str]) -> list[Note]:
        near = self.nearest(name, candidates)
        return [Note(f"did you mean '{near}'?")] if near else []


#: Names that are written as those of macros are, except those of OpenCL C.
_MACRO = re.compile(r"(?!CLK_)[A-Z][A-Z0-9_]*")


def _bare(name: str) -> str:
    return name.replace("_", "").lower()
