"""Output of types and declarators, records and variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..diagnostics import InternalError
from ..frontend import typed
from ..frontend.types import (
    HALF,
    AddressSpace,
    ArrayType,
    AtomicType,
    ImageType,
    PointerType,
    Qualifiers,
    RecordType,
    Type,
    VectorType,
)

if TYPE_CHECKING:
    from .context import Program


def spelled(program: Program, t: Type) -> str:
    """Return the name of a type that needs no declarator, and record its requirements."""
    t = program.held(t)
    program.needs.value_of(t)
    if isinstance(t, AtomicType):
        program.needs.version_for(t)
        return str(t)
    if isinstance(t, RecordType):
        return f"{t.kind} {program.names.record(t)}"
    if isinstance(t, ImageType):
        if t.access == "read_write":
            program.needs.feature("CL2.0")
        return str(t)
    if isinstance(t, VectorType) and t.element.is_bits:
        raise InternalError(f"a vector of {t.element} has no meaning")
    return str(t)


def declared(program: Program, t: Type, name: str, words: Sequence[str] = ()) -> str:
    """Return the declaration of `name`, which is empty in a type name; `words` are the object's qualifiers."""
    while True:
        if isinstance(t, ArrayType):
            name = f"({name})" if name.startswith("*") else name
            name += f"[{'' if t.size is None else t.size}]"
            t = t.element
        elif isinstance(t, PointerType):
            # A pointer to half does not require the extension for values of half.
            name = f"*{' '.join([*words, name])}".rstrip()
            words, t = _pointee_words(program, t.qualifiers), t.pointee
            if t is HALF and not program.half_bits:
                return " ".join([*words, "half", name])
        else:
            return " ".join([*words, spelled(program, t), *([name] if name else [])])


def type_name(program: Program, t: Type) -> str:
    """Return the type name of `t`, as in a cast."""
    return declared(program, t, "")


def half_pointer(program: Program, t: PointerType) -> str:
    """Return the type name of a pointer to half, for a text in which values of half are bit patterns."""
    return " ".join([*_pointee_words(program, t.qualifiers), "half *"])


def _pointee_words(program: Program, q: Qualifiers) -> list[str]:
    if q.space is AddressSpace.GENERIC:
        program.needs.generic()
    return [f"__{q.space}", *_access_words(q)]


def _access_words(q: Qualifiers) -> list[str]:
    return [word for word in ("const", "volatile", "restrict") if getattr(q, word)]


def object_words(q: Qualifiers) -> list[str]:
    """Return the qualifiers of a variable or member; the private address space is the default and omitted."""
    space = [] if q.space is AddressSpace.PRIVATE else [f"__{q.space}"]
    return [*space, *_access_words(q)]


def alignment(bytes_: int | None) -> str:
    return f" __attribute__((aligned({bytes_})))" if bytes_ is not None else ""


# --- records -------------------------------------------------------------------------------------


def record(program: Program, t: RecordType) -> str:
    """Return the definition of a struct or union."""
    lines = [f"{spelled(program, t)} {{"]
    for index, item in enumerate(t.fields or ()):
        text = declared(program, item.type, program.names.member(t, index), object_words(item.qualifiers))
        packed = " __attribute__((packed))" if item.packed else ""
        lines.append(f"    {text}{packed}{alignment(item.alignment)};")
    packed = " __attribute__((packed))" if t.packed else ""
    return "\n".join([*lines, f"}}{packed}{alignment(t.alignment)};"])


def records_in(t: Type) -> list[RecordType]:
    """Return the records that must be complete before an object of type `t` is declared."""
    while isinstance(t, ArrayType):
        t = t.element
    return [t] if isinstance(t, RecordType) else []


# --- variables -----------------------------------------------------------------------------------


def variable(program: Program, decl: typed.VarDecl) -> str:
    """Return the declaration of a variable or parameter, without an initializer."""
    words = object_words(decl.qualifiers)
    if decl.storage == "static" and decl.qualifiers.space is AddressSpace.GLOBAL:
        program.needs.feature("CL2.0")
    text = declared(program, decl.type, program.names.variable(decl), words)
    return text + alignment(decl.alignment)


def parameter(program: Program, decl: typed.VarDecl, number: int) -> str:
    """Return the declaration of parameter `number`; an unnamed one gets a name, which a definition needs."""
    if decl.name:
        return variable(program, decl)
    return declared(program, decl.type, program.names.own(f"parameter{number}"), object_words(decl.qualifiers))
