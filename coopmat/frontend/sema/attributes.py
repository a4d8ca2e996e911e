"""Attributes of functions, records, variables and loops (OpenCL C 3.0, section 6.13)."""

from __future__ import annotations

import math
from contextlib import suppress

from ...diagnostics import Span
from .. import conditionals, syntax
from ..tokens import scanned
from ..types import RecordType, Type, align_of
from .context import Context, plural
from .values import integer_constant

UNSUPPORTED_TYPE_ATTRIBUTES = frozenset({"address_space"})
# Attributes that have no effect here, or that other functions handle.
_IGNORED = frozenset(
    (
        *("ext_vector_type", "vector_size", "unused", "nosvm", "deprecated", "pure", "const", "endian", "nonnull"),
        *("coop_mat", "matrix_type"),
    )
)
# In bytes. The SPIR-V backend loses greater alignments of private objects.
MOST_ALIGNED = 128
_TRIPLES = ("reqd_work_group_size", "work_group_size_hint")


def for_function(c: Context, items: list[syntax.Attribute], *, kernel: bool) -> dict[str, object]:
    """Return the attributes of a function in the form of `FunctionDecl.attributes`; report unknown attributes."""
    result: dict[str, object] = {}
    for item in items:
        name = item.name.strip("_")
        with c.recover():
            if name in (*_TRIPLES, "intel_reqd_sub_group_size", "vec_type_hint") and not kernel:
                c.fail("attribute", f"attribute '{name}' applies only to kernels", item.span)
            if name in _TRIPLES:
                result[name] = tuple(_integers(c, item, 3))
            elif name == "intel_reqd_sub_group_size":
                result[name] = _integers(c, item, 1)[0]
            elif name == "vec_type_hint":
                argument = item.arguments[0] if item.arguments else None
                if not isinstance(argument, syntax.TypeArgument):
                    c.fail("attribute", "'vec_type_hint' takes a type", item.span)
                result[name] = c.type_name(argument.type_name)
            elif name in ("always_inline", "noinline", "convergent"):
                result[name] = True
            elif name == "overloadable":
                if kernel:
                    c.fail("attribute", "a kernel cannot be overloadable", item.span)
                result[name] = True
            else:
                _unknown(c, item)
    return result


def _integers(c: Context, item: syntax.Attribute, count: int) -> list[int]:
    arguments = item.arguments or []
    if len(arguments) != count:
        c.fail("attribute", f"'{item.name}' takes {plural(count, 'argument')}, not {len(arguments)}", item.span)
    values = [integer_constant(c, argument, f"an argument of '{item.name}'") for argument in arguments]
    for value, argument in zip(values, arguments, strict=True):
        if value <= 0:
            c.fail("attribute", f"an argument of '{item.name}' must be positive, not {value}", argument.span)
    if math.prod(values) >> 32:
        message = f"the product of the arguments of '{item.name}' is {math.prod(values)}, which exceeds 32 bits"
        c.fail("attribute", message, arguments[0].span)
    return values


def one_integer(c: Context, item: syntax.Attribute) -> int:
    return _integers(c, item, 1)[0]


def no_matrix(c: Context, item: syntax.Attribute) -> None:
    """Report a matrix attribute in a place without a type that could be a component type."""
    if item.name.strip("_") == "coop_mat":
        c.fail("coop-mat-attribute", "'coop_mat' applies to types of variables, functions and typedefs", item.span)
    if item.name.strip("_") == "matrix_type":
        c.fail("matrix-type-attribute", "'matrix_type' belongs to a typedef", item.span)


def _unknown(c: Context, item: syntax.Attribute) -> None:
    if item.name.strip("_") not in _IGNORED:
        c.warn("unknown-attributes", f"unknown attribute '{item.name}' ignored", item.span)


def alignment(c: Context, items: list[syntax.Attribute]) -> int | None:
    """Return the largest `aligned(n)` in bytes, or None if there is none."""
    largest: int | None = None
    for item in items:
        if item.name.strip("_") == "aligned":
            value = _integers(c, item, 1)[0] if item.arguments else 16
            if value & (value - 1):
                c.fail("attribute", f"an alignment must be a power of two, not {value}", item.span)
            largest = max(largest or 1, value)
    return largest


def for_variable(c: Context, items: list[syntax.Attribute]) -> int | None:
    """Return the alignment in bytes from a variable's attributes, or None; report unknown attributes."""
    for item in items:
        if item.name.strip("_") not in ("aligned", "packed"):
            _unknown(c, item)
    return alignment(c, items)


def for_field(c: Context, items: list[syntax.Attribute]) -> tuple[int | None, bool]:
    """Return the alignment in bytes from a member's attributes, or None, and whether the member is packed."""
    return for_variable(c, items), any(item.name.strip("_") == "packed" for item in items)


def for_typedef(c: Context, items: list[syntax.Attribute], t: Type) -> int | None:
    """Return the alignment in bytes, by a typedef's attributes, of objects of its type, or None."""
    minimum = for_variable(c, items)
    if minimum is not None and minimum < align_of(t):
        span = next(item.span for item in items if item.name.strip("_") == "aligned")
        c.unsupported(f"aligning '{t}' to less than {align_of(t)} bytes is", span)
    return minimum


def apply_to_record(c: Context, record: RecordType, items: list[syntax.Attribute]) -> None:
    for item in items:
        no_matrix(c, item)
    record.packed = any(item.name.strip("_") == "packed" for item in items)
    record.alignment = alignment(c, items)
    if (record.alignment or 1) > MOST_ALIGNED:
        c.unsupported(f"aligning a type to more than {MOST_ALIGNED} bytes is", record.span)
    for item in items:
        if item.name.strip("_") not in ("aligned", "packed"):
            _unknown(c, item)


def unroll_hint(c: Context, items: list[syntax.Attribute]) -> int | None:
    """Return the unroll factor of `opencl_unroll_hint` (0 for full unrolling), or None without that attribute."""
    factor: int | None = None
    for item in items:
        if item.name.strip("_") == "opencl_unroll_hint":
            factor = _integers(c, item, 1)[0] if item.arguments else 0
        else:
            no_matrix(c, item)
            _unknown(c, item)
    return factor


def unroll_pragma(c: Context, text: str, span: Span) -> int | None:
    """Return the unroll factor that a pragma states: 0 for full unrolling, 1 for none. Return None for other pragmas.

    The pragmas are `unroll [n]`, `nounroll` and `clang loop unroll(full|enable|disable)`, of which `enable` counts as
    `full`. Report a factor that is not positive.
    """
    words = text.replace("(", " ").replace(")", " ").split()
    if words[:1] == ["clang"] and words[1:3] == ["loop", "unroll"]:
        return {"full": 0, "enable": 0, "disable": 1}.get(words[3] if len(words) > 3 else "")
    if words[:1] == ["nounroll"]:
        return 1
    if words[:1] != ["unroll"]:
        return None
    if len(words) == 1:
        return 0
    # As in a conditional directive, names that are not macros count as 0.
    with suppress(conditionals.ConditionError):
        factor = conditionals.value(scanned(text.partition("unroll")[2]))
        if factor > 0:
            return factor
    c.fail("pragma", "the argument of '#pragma unroll' must be a positive number", span)
