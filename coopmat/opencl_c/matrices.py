"""Matrices as records that hold a work-item's part, operations as calls of the library's functions.

The library takes pointers to components. What gives a matrix is wrapped in a function that returns the record, so that
matrices are values to C: copied, passed, returned and held by the user's records as it has them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from ..diagnostics import Diagnostics, InternalError
from ..frontend import matrix_calls, typed
from ..frontend.macros import CONDITIONAL, FIXED
from ..frontend.matrix_calls import Access
from ..frontend.matrix_terms import matrix_type
from ..frontend.preprocess import PreprocessOptions, preprocess
from ..frontend.types import HALF, USHORT, AddressSpace, CoopMatrixType, PointerType, Type, VectorType
from ..matrices import lowering, spelling
from ..matrices.bfloat16 import functions_called
from ..matrices.instance import Instance, Parameter
from ..matrices.strategies import STRATEGIES, Target
from ..matrices.variants import ComponentType
from . import LIBRARY_NAME, conversions
from .context import SCRATCH
from .declarations import type_name
from .half_bits import functions_for, in_bits
from .text import Text, call, cast

if TYPE_CHECKING:
    from .context import Context, Program

T = TypeVar("T")

_MACROS = """\
#define CM_UNROLL _Pragma("unroll")
#define CM_ROLL _Pragma("nounroll")
#define CM_LINEAR_ID \\
    ((uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0)))
#define CM_WORK_ITEMS ((uint)(get_local_size(0) * get_local_size(1) * get_local_size(2)))
"""
_INLINE = """\
#ifndef CM_INLINE
#define CM_INLINE inline __attribute__((always_inline))
#endif
"""
# The macros above: what compilers must see, and what would be long-winded everywhere.
_KEPT = ("UNROLL", "ROLL", "LINEAR_ID", "WORK_ITEMS")
_PREDEFINED = tuple(name.partition("(")[0] for rows in (FIXED, *CONDITIONAL.values()) for name, _ in rows)
_RESULT = "_of"
# A function that gives a matrix takes, before anything else, where to put it.
_OUT = "out"


@dataclass(frozen=True, slots=True)
class _Value:
    """A matrix that is no object: what a call gave, say."""

    text: Text
    matrix: CoopMatrixType


class Matrices:
    """Of one program: the types and the library functions that it names."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._types: dict[CoopMatrixType, str] = {}
        self._instances: dict[Target, dict[str, Instance]] = {}
        # Name to definition.
        self._wrappers: dict[str, str] = {}

    # --- types -----------------------------------------------------------------------------------

    def type_name(self, matrix: CoopMatrixType) -> str:
        found = self._types.get(matrix)
        if found is None:
            component = matrix.component.name
            found = self._types[matrix] = f"cm_{component}_{matrix.rows}x{matrix.columns}_{matrix.use.name.lower()}"
            if self.program.has_half:
                self.program.needs.value_of(matrix.component)
        return found

    def _definition(self, matrix: CoopMatrixType, name: str) -> str:
        m, sub_groups = self._ours(matrix_type(matrix)), self.program.sub_groups
        count = lowering.storage_components(sub_groups.strategy, m, sub_groups.smallest_size)
        align = lowering.storage_alignment(sub_groups.strategy, m)
        member = f"{m.component.library_c} part[{count}] __attribute__((aligned({align})));"
        return f"typedef struct {{ {member} }} {name};"

    # --- the library's text ----------------------------------------------------------------------

    @property
    def used(self) -> bool:
        return bool(self._types or self._instances)

    def text(self) -> str:
        """The types, the functions, and those that wrap them."""
        parts = [self._definition(matrix, name) for matrix, name in self._types.items()]
        lowering.check_count(sum(map(len, self._instances.values())))
        texts = [
            _expanded(lowering.instantiate(target, instances.values()), self.program.suffix(target))
            for target, instances in self._instances.items()
        ]
        parts += [*functions_for("\n".join(texts)), *texts]
        return "\n".join([*parts, *self._wrappers.values()])

    def _ours(self, value: T) -> T:
        """A library function or matrix type as the device can have it."""
        return value if self.program.has_half else in_bits(value)

    def _function(self, c: Context, instance: Instance) -> str:
        """The name of a library function, which is called from here on."""
        target = c.library_target
        self._instances.setdefault(target, {})[instance.function_name] = instance
        c.uses.scratch = max(c.uses.scratch, instance.scratch_bytes(target))
        return instance.function_name + self.program.suffix(target)

    def _call(
        self, c: Context, instance: Instance, *arguments: Text | _Value, gives: CoopMatrixType | None = None
    ) -> Text:
        """A call of a library function, or of one that wraps it: for a matrix that it `gives`, and for matrices that
        are values, which have no address."""
        c.uses.matrices = True
        instance = self._ours(instance)
        name = self._function(c, instance)
        given = [p for p in instance.signature.parameters if not (gives and p.name == _OUT)]
        values = {p.name: a.matrix for p, a in zip(given, arguments, strict=True) if isinstance(a, _Value)}
        if gives is not None or values:
            returns = instance.signature.returns if gives is None else self.type_name(gives)
            name = self._wrapped(name, lowering.parameters(instance, c.library_target), values, returns, gives)
        texts = [a.text if isinstance(a, _Value) else a for a in arguments]
        return call(name, *texts, *_hidden(instance, c.library_target))

    def _wrapped(
        self,
        inner: str,
        parameters: Sequence[Parameter],
        values: Mapping[str, CoopMatrixType],
        result: str,
        gives: CoopMatrixType | None,
    ) -> str:
        """`values` are the parameters that are matrices here and pointers there."""
        name = inner + _RESULT * (gives is not None) + "".join(f"_{parameter}" for parameter in values)
        if name in self._wrappers:
            return name
        taken = [p for p in parameters if not (gives and p.name == _OUT)]
        heads = [f"{self.type_name(values[p.name])} {p.name}" if p.name in values else _declared(p) for p in taken]
        passed = [f"{p.name}.part" if p.name in values else p.name for p in taken]
        lines = [f"CM_FUNCTION {result} {name}({', '.join(heads)})", "{"]
        if gives is None:
            lines += [f"    {'return ' * (result != 'void')}{inner}({', '.join(passed)});"]
        else:
            lines += [f"    {result} result;", f"    {inner}({', '.join(['result.part', *passed])});"]
            lines += ["    return result;"]
        self._wrappers[name] = _plain("\n".join([*lines, "}"]))
        return name

    # --- operations ------------------------------------------------------------------------------

    def zero(self, c: Context, matrix: CoopMatrixType) -> Text:
        c.uses.matrices = True
        return Text(f"({self.type_name(matrix)}){{{{0}}}}")

    def load(self, c: Context, e: typed.MatrixLoad) -> Text:
        pointer, access, place = _memory(c, e)
        matrix = _matrix(e.type)
        return self._call(c, matrix_calls.load(matrix, access), pointer, *place, gives=matrix)

    def store(self, c: Context, e: typed.MatrixStore) -> Text:
        pointer, access, place = _memory(c, e)
        instance = matrix_calls.store(_matrix(e.matrix.type), access)
        return self._call(c, instance, pointer, self._part(c, e.matrix), *place)

    def fill(self, c: Context, e: typed.MatrixFill) -> Text:
        matrix = _matrix(e.type)
        return self._call(c, matrix_calls.fill(matrix), c.assigned(e.value), gives=matrix)

    def length(self, c: Context, e: typed.MatrixLength) -> Text:
        return self._call(c, matrix_calls.length(e.matrix))

    def coordinates(self, c: Context, e: typed.MatrixCoordinates) -> Text:
        return self._call(c, matrix_calls.coordinates(e.matrix), c.assigned(e.index))

    def multiply_add(self, c: Context, e: typed.MatrixMulAdd) -> Text:
        parts = [self._part(c, operand) for operand in (e.a, e.b, e.c)]
        return self._call(c, matrix_calls.multiply_add(e), *parts, gives=_matrix(e.type))

    def convert(self, c: Context, e: typed.MatrixConvert) -> Text:
        return self._call(c, matrix_calls.convert(e), self._part(c, e.operand), gives=_matrix(e.type))

    def binary(self, c: Context, e: typed.MatrixBinary) -> Text:
        """The chain of left operands, from the inside out."""
        chain = [e]
        while isinstance(chain[-1].left, typed.MatrixBinary):
            chain.append(chain[-1].left)
        left = self._part(c, chain[-1].left)
        for node in reversed(chain):
            matrix = _matrix(node.type)
            right = self._part(c, node.right)
            result = self._call(c, matrix_calls.binary(matrix, node.op), left, right, gives=matrix)
            left = _Value(result, matrix)
        return result

    def scale(self, c: Context, e: typed.MatrixScale) -> Text:
        matrix = _matrix(e.type)
        instance = matrix_calls.binary(matrix, "scalar_mul")
        return self._call(c, instance, self._part(c, e.matrix), c.assigned(e.scalar), gives=matrix)

    def negate(self, c: Context, e: typed.MatrixNegate) -> Text:
        matrix = _matrix(e.type)
        return self._call(c, matrix_calls.negate(matrix), self._part(c, e.operand), gives=matrix)

    def get(self, c: Context, e: typed.MatrixElement) -> Text:
        return self._call(c, matrix_calls.get(_matrix(e.matrix.type)), self._object(c, e.matrix), c.assigned(e.index))

    def set(self, c: Context, e: typed.MatrixElement, new: Text) -> Text:
        instance = matrix_calls.set(_matrix(e.matrix.type))
        return self._call(c, instance, self._object(c, e.matrix), c.assigned(e.index), new)

    def _part(self, c: Context, e: typed.Expr) -> Text | _Value:
        """An operand: the address of an object's part, or a matrix."""
        if isinstance(e, typed.Load):
            return self._object(c, e.operand)
        return _Value(c.value(e), _matrix(e.type))

    def _object(self, c: Context, e: typed.LValue) -> Text | _Value:
        if isinstance(e, typed.CompoundLiteral):
            return _Value(c.value(e.initializer), _matrix(e.type))
        part = Text(f"{c.place(e).postfix}.part")
        if e.place.space is AddressSpace.GENERIC:
            component = self._ours(matrix_type(_matrix(e.type))).component.library_c
            return cast(f"__private {component} *", part)
        return part

    # --- what is no matrix -----------------------------------------------------------------------

    def convert_scalar(self, x: Text, source: ComponentType, to: ComponentType) -> Text:
        """From or to bfloat16."""
        text = spelling.convert("@", source, to, 1)
        one = Target(STRATEGIES["one"], 1)
        for instance in functions_called([text]):
            self._instances.setdefault(one, {})[instance.function_name] = instance
        suffix = self.program.suffix(one)
        text = re.sub(r"\bcm_\w+", lambda match: match[0] + suffix, text)
        return Text(text.replace("@", x.argument))

    def substitute(self, c: Context, e: typed.BuiltinCall) -> Text:
        """A subgroup builtin where the strategy's subgroups are not the device's."""
        found = matrix_calls.substitute(self.program.sub_groups.strategy, e)
        arguments = e.arguments[: len(found.instance.signature.parameters)]
        if not found.each:
            name = self._function(c, found.instance)
            values = [c.value(conversions.named_space(a)) for a in arguments]
            return call(name, *values, *_hidden(found.instance, c.library_target))
        return self._each(c, e, found.instance, arguments)

    def _each(self, c: Context, e: typed.BuiltinCall, instance: Instance, arguments: list[typed.Expr]) -> Text:
        """A function of vectors that calls one of scalars for each component."""
        vector = e.parameters[0]
        assert isinstance(vector, VectorType)
        target, inner = c.library_target, self._function(c, instance)
        name = f"{inner}_{vector.count}"
        if name not in self._wrappers:
            taken = lowering.parameters(instance, target)
            of_vectors = [t == vector for t in e.parameters[: len(arguments)]] + [False] * (len(taken) - len(arguments))
            head = ", ".join(
                f"{vector} {p.name}" if whole else _declared(p) for p, whole in zip(taken, of_vectors, strict=True)
            )
            lines = [f"    {vector} result;"]
            for i in range(vector.count):
                parts = [f"{p.name}.s{i:x}" if whole else p.name for p, whole in zip(taken, of_vectors, strict=True)]
                lines.append(f"    result.s{i:x} = {inner}({', '.join(parts)});")
            body = "\n".join([*lines, "    return result;"])
            self._wrappers[name] = f"{_plain(f'CM_FUNCTION {vector} {name}({head})')}\n{{\n{body}\n}}"
        return call(name, *(c.value(a) for a in arguments), *_hidden(instance, target))


def prologue(text: str) -> str:
    """The macros that a library's text needs."""
    macros = re.findall(r"#define (\w+)((?:.*\\\n)*.*\n)", _MACROS)
    used = [f"#define {name}{rest}" for name, rest in macros if re.search(rf"\b{name}\b", text)]
    return "".join([*used, _INLINE]).rstrip()


def _memory(c: Context, e: typed.MatrixLoad | typed.MatrixStore) -> tuple[Text, Access, list[Text]]:
    """The pointer, which instance it needs, and what that takes besides the pointer and the matrix."""
    pointer = e.pointer
    inner = conversions.named_space(pointer)
    assert isinstance(inner.type, PointerType)
    q = inner.type.qualifiers
    access = Access(q.space, e.layout, q.volatile, e.bounds is not None)
    bounds = [] if e.bounds is None else [e.bounds.row, e.bounds.column, e.bounds.rows, e.bounds.columns]
    if q.space is AddressSpace.GENERIC:
        c.program.needs.generic()
    address = c.value(inner)
    if inner.type.pointee is HALF and not c.program.has_half:
        bits = replace(inner.type, pointee=USHORT)
        address = cast(type_name(c.program, bits), address)
    return address, access, [c.assigned(part) for part in (e.stride, *bounds)]


def _matrix(t: Type) -> CoopMatrixType:
    if not isinstance(t, CoopMatrixType):
        raise InternalError(f"'{t}' is no cooperative matrix")
    return t


def _hidden(instance: Instance, target: Target) -> list[str]:
    return [SCRATCH] if instance.scratch_bytes(target) else []


def _declared(p: Parameter) -> str:
    if p.space is None:
        return f"{p.type} {p.name}"
    words = [f"__{p.space}", *(["const"] if p.const else []), *(["volatile"] if p.volatile else []), p.type]
    return f"{' '.join(words)} *{p.name}"


def _plain(head: str) -> str:
    return head.replace("CM_FUNCTION", "static CM_INLINE")


def _expanded(text: str, suffix: str) -> str:
    """The library's text without its macros, but for those that a device's compiler must read; `suffix` ends the names
    of its functions."""
    rest = re.sub(rf"^#define CM_({'|'.join(_KEPT)})\b(.*\\\n)*.*\n", "", text, flags=re.MULTILINE)
    findings = Diagnostics(no_warnings=True)
    # Names such as INFINITY are the device's own, too.
    tokens = preprocess(rest, LIBRARY_NAME, PreprocessOptions(cl_std="CL1.2", undefines=_PREDEFINED), findings)
    if findings.has_errors:
        raise InternalError("the matrix library cannot be preprocessed", "\n".join(i.message for i in findings))
    lines = [line for line in tokens.to_text().split("\n") if not line.startswith("#")]
    plain = "\n".join(lines).strip("\n")
    return re.sub(r"\bcm_(?!f16_)\w+", lambda match: match[0] + suffix, plain) if suffix else plain
