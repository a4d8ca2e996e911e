"""Declarations: types from specifiers and declarators, and variables (OpenCL C 3.0, 6.5 to 6.9)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ...diagnostics import Note, Span
from ...matrix_types import sema as matrix_types
from .. import syntax, typed
from ..matrix_terms import COMPONENTS
from ..storage_types import STORAGE_TYPES, STORAGE_VECTOR_SIZES, is_storage_vector
from ..types import (
    BOOL,
    CHAR,
    FLOATS,
    HALF,
    IMAGE_NAMES,
    INT,
    INTEGERS,
    LONG,
    PLAIN,
    SAMPLER,
    SCALARS,
    SHORT,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    VECTOR_SIZES,
    VOID,
    AddressSpace,
    ArrayType,
    ConstantMatrixType,
    CoopMatrixType,
    FunctionType,
    ImageType,
    PointerType,
    Qualifiers,
    ScalarType,
    Type,
    VectorType,
    VoidType,
    contains_matrix,
    element_type,
    is_bits,
    is_complete,
)
from . import attributes, matrices, restricted_types
from .context import Abandon, Context, Poisoned, Typedef
from .values import integer_constant

BUILTIN_TYPES: dict[str, Type] = {
    **{
        "void": VOID,
        **SCALARS,
        "_Bool": BOOL,
        "__bf16": SCALARS["bfloat16"],
        "sampler_t": SAMPLER,
        **restricted_types.TYPES,
    },
    **{name: ImageType(name) for name in IMAGE_NAMES},
    **{f"{t}{count}": VectorType(t, count) for t in (*INTEGERS, *FLOATS) for count in VECTOR_SIZES},
    **{f"{t}{count}": VectorType(t, count) for t in STORAGE_TYPES for count in STORAGE_VECTOR_SIZES},
}

# Sorted integer keywords without `signed` and `unsigned` -> (signed type, unsigned type).
_SIGNED_WORDS: dict[tuple[str, ...], tuple[ScalarType, ScalarType]] = {
    (): (INT, UINT),
    ("int",): (INT, UINT),
    ("char",): (CHAR, UCHAR),
    ("short",): (SHORT, USHORT),
    ("int", "short"): (SHORT, USHORT),
    ("long",): (LONG, ULONG),
    ("int", "long"): (LONG, ULONG),
    ("long", "long"): (LONG, ULONG),
    ("int", "long", "long"): (LONG, ULONG),
}
_SPACES = {space.name.lower(): space for space in AddressSpace}
_UNSUPPORTED_TYPES = ("image", "queue_t", "clk_event_t", "reserve_id_t", "ndrange_t", "atomic_half")


@dataclass(frozen=True, slots=True)
class Base:
    """The meaning of declaration specifiers.

    type, qualifiers: those of the object, before its declarator is applied.
    specifiers: the syntax, for the other keywords and the attributes.
    explicit_space: whether an address space is written.
    alignment: a typedef's alignment in bytes, for objects of the type itself, or None.
    """

    type: Type
    qualifiers: Qualifiers
    specifiers: syntax.Specifiers
    explicit_space: bool
    alignment: int | None = None

    def marks(self, d: syntax.Declarator) -> list[syntax.Attribute]:
        """Return the attributes of an object: those of the specifiers and those after its declarator."""
        return [*self.specifiers.attributes, *d.attributes]


# --- specifiers ------------------------------------------------------------------------------------


def base_type(c: Context, s: syntax.Specifiers) -> Base:
    """Return the type that the specifiers name, with type attributes applied."""
    access = restricted_types.access_words(s.qualifiers)
    qualifiers, explicit = _qualifiers(c, [word for word in s.qualifiers if word not in access])
    alignment: int | None = None
    if s.typedef_name is not None:
        t, inherited, alignment = _typedef(c, s.typedef_name)
        if not explicit and inherited.space is not AddressSpace.PRIVATE:
            qualifiers, explicit = replace(qualifiers, space=inherited.space), True
        if inherited.const or inherited.volatile or inherited.restrict:
            qualifiers = replace(
                qualifiers,
                const=qualifiers.const or inherited.const,
                volatile=qualifiers.volatile or inherited.volatile,
                restrict=qualifiers.restrict or inherited.restrict,
            )
    elif s.tag is not None:
        t = _tagged(c, s.tag)
    else:
        t = _words(c, s)
    _check_element(c, t, s.span)
    c.unit.has_small_floats |= is_bits(element_type(t))
    c.unit.has_storage_vectors |= is_storage_vector(t)
    by_name = s.typedef_name is not None and s.typedef_name.text not in BUILTIN_TYPES
    t = restricted_types.with_access(c, t, access, s.span, by_name=by_name)
    return Base(apply_matrix_attributes(c, t, s.attributes, s), qualifiers, s, explicit, alignment)


def _tagged(c: Context, tag: syntax.StructSpecifier | syntax.EnumSpecifier) -> Type:
    from . import records

    return records.enumeration(c, tag) if isinstance(tag, syntax.EnumSpecifier) else records.record_type(c, tag)


def _check_element(c: Context, t: Type, span: Span) -> None:
    restricted_types.check_atomic(c, t, span)
    element = element_type(t)
    row = (
        COMPONENTS.get(element.name) if isinstance(element, ScalarType) and t is not HALF else None
    )  # half without cl_khr_fp16 is checked by `check_halves`
    if row is not None and (extension := row.extension) is not None and extension not in c.features:
        notes = [Note(f"remove -cl-ext=-{extension}")]
        c.fail("extension-off", f"the type '{t}' needs {extension}, which is turned off", span, notes=notes)


def apply_matrix_attributes(
    c: Context, t: Type, items: list[syntax.Attribute], s: syntax.Specifiers, d: syntax.Declarator | None = None
) -> Type:
    for attribute in items:
        name = attribute.name.strip("_")
        if name == "coop_mat":
            t = matrices.apply_attribute(c, t, attribute)
        elif name == "matrix_type":
            t = matrix_types.apply_attribute(c, t, attribute, s, d)
        elif name in ("ext_vector_type", "vector_size"):
            t = _vector(c, t, name, attribute)
        elif name in attributes.UNSUPPORTED_TYPE_ATTRIBUTES:
            c.unsupported(f"the '{name}' attribute is", attribute.span)
    return t


def _vector(c: Context, t: Type, name: str, attribute: syntax.Attribute) -> VectorType:
    """Return the vector type of clang's `ext_vector_type(components)` or GNU C's `vector_size(bytes)`."""
    size = attributes.one_integer(c, attribute)
    if isinstance(t, ScalarType) and t in (*INTEGERS, *FLOATS):
        count = size if name == "ext_vector_type" else size * 8 // t.bits
        if count in VECTOR_SIZES and (name == "ext_vector_type" or count * t.bits == size * 8):
            return VectorType(t, count)
    c.fail("attribute", f"'{name}({size})' of '{t}' is none of OpenCL C's vector types", attribute.span)


def _qualifiers(c: Context, words: list[syntax.Word]) -> tuple[Qualifiers, bool]:
    space: AddressSpace | None = None
    names = set()
    for word in words:
        text = word.text.strip("_")
        if text in _SPACES:
            if space is not None and space is not _SPACES[text]:
                c.fail("address-space", f"two address spaces: '{space}' and '{text}'", word.span)
            if text == "generic" and not c.features.generic:
                notes = [Note("it comes with -cl-std=CL2.0 and newer")]
                c.fail("extension-off", "the generic address space is off", word.span, notes=notes)
            space = _SPACES[text]
        elif text in restricted_types.ACCESSES:
            c.fail("access-qualifier", f"'{word.text}' is for images only", word.span)
        elif text == "Atomic":
            c.unsupported("atomic types are", word.span)
        else:
            names.add(text)
    qualifiers = Qualifiers(space or AddressSpace.PRIVATE, "const" in names, "volatile" in names, "restrict" in names)
    return qualifiers, space is not None


def _typedef(c: Context, word: syntax.Word) -> tuple[Type, Qualifiers, int | None]:
    entity = c.scope.find(word.text)
    if isinstance(entity, Typedef):
        c.named_types.add(entity)
        return entity.type, entity.qualifiers, entity.alignment
    if isinstance(entity, Poisoned):
        c.abandon()
    if word.text in BUILTIN_TYPES:
        return BUILTIN_TYPES[word.text], PLAIN, None
    if word.text.startswith(_UNSUPPORTED_TYPES):
        c.unsupported(f"the type '{word.text}' is", word.span)
    if word.span in c.error_spans:
        c.abandon()
    notes = c.suggestion(word.text, [*c.scope.visible(), *BUILTIN_TYPES])
    c.fail("unknown-type", f"unknown type name '{word.text}'", word.span, notes=notes)


def _words(c: Context, s: syntax.Specifiers) -> Type:
    words = [word.text.strip("_") if word.text != "__bf16" else word.text for word in s.type_words]
    if not words:
        c.fail("missing-type", "a declaration needs a type", s.span)
    if len(words) == 1 and words[0] in BUILTIN_TYPES:
        return BUILTIN_TYPES[words[0]]
    if len(words) == 1 and words[0].startswith(_UNSUPPORTED_TYPES):
        c.unsupported(f"the type '{words[0]}' is", s.span)
    signs = [word for word in words if word in ("signed", "unsigned")]
    rest = tuple(sorted(word for word in words if word not in ("signed", "unsigned")))
    if rest in _SIGNED_WORDS and len(signs) <= 1:
        return _SIGNED_WORDS[rest][signs == ["unsigned"]]
    c.fail("invalid-type", f"'{' '.join(words)}' is not a type", s.span)


def alignment_of_base(base: Base, d: syntax.Declarator) -> int | None:
    """Return the alignment in bytes that an object has from a typedef, or None.

    A pointer to the typedef's type does not have that alignment.
    """
    return None if any(isinstance(m, syntax.PointerModifier) for m in d.modifiers) else base.alignment


def own_alignment(c: Context, base: Base, d: syntax.Declarator) -> int | None:
    """Return an object's alignment in bytes from its attributes, else from its typedef, or None."""
    return attributes.for_variable(c, base.marks(d)) or alignment_of_base(base, d)


_HOST_SIZED = frozenset({"size_t", "ptrdiff_t", "intptr_t", "uintptr_t"})


def host_sized(c: Context, base: Base, d: syntax.Declarator) -> str | None:
    """Return the name of an object's type, or of its elements' type, if its size depends on the device, else None.

    Such types are size_t and similar ones (section 6.3.1).
    """
    if not all(isinstance(m, syntax.ArrayModifier) for m in d.modifiers):
        return None
    if base.specifiers.typedef_name is not None:
        entity = c.scope.find(base.specifiers.typedef_name.text)
        return entity.host_sized if isinstance(entity, Typedef) else None
    return next((word.text for word in base.specifiers.type_words if word.text in _HOST_SIZED), None)


# --- declarators -----------------------------------------------------------------------------------


def declarator_type(c: Context, base: Base, d: syntax.Declarator) -> tuple[Type, Qualifiers]:
    """Return the type that a declarator derives from the base, and the qualifiers of the object declared."""
    # A type attribute after the name applies to the innermost type, as if it were before the name.
    t, qualifiers = apply_matrix_attributes(c, base.type, d.attributes, base.specifiers, d), base.qualifiers
    if qualifiers.restrict and not isinstance(t, PointerType):
        c.fail("restrict", f"'restrict' is for pointers, not for '{t}'", base.specifiers.span)
    explicit = base.explicit_space
    for modifier in reversed(d.modifiers):
        if isinstance(modifier, syntax.PointerModifier):
            t = _pointer_to(c, t, _pointed_to(c, t, qualifiers, explicit), d.span)
            qualifiers, explicit = _qualifiers(c, modifier.qualifiers)
        elif isinstance(modifier, syntax.ArrayModifier):
            t = _array_of(c, t, modifier, d.span)
        else:
            if qualifiers.space is not AddressSpace.PRIVATE:
                c.fail("address-space", f"a function cannot return an object in {qualifiers.space} memory", d.span)
            t = _function_of(c, t, modifier, d.span)
            qualifiers = PLAIN
    return t, qualifiers


def _pointed_to(c: Context, t: Type, qualifiers: Qualifiers, explicit: bool) -> Qualifiers:
    """Return the qualifiers of a pointee; the default address space is the generic one (section 6.7.1).

    Matrices are in private memory only, so pointers to them point to private memory.
    """
    if explicit or not c.features.generic or contains_matrix(t):
        return qualifiers
    return replace(qualifiers, space=AddressSpace.GENERIC)


def _pointer_to(c: Context, t: Type, qualifiers: Qualifiers, span: Span) -> Type:
    if isinstance(t, FunctionType):
        c.fail("function-pointer", "OpenCL C has no pointers to functions", span)
    restricted_types.refuse(c, t, "pointer", span)
    if qualifiers.space not in (AddressSpace.PRIVATE, AddressSpace.GENERIC):
        restricted_types.refuse(c, t, "address-space", span, str(qualifiers.space))
    if contains_matrix(t) and qualifiers.space is not AddressSpace.PRIVATE:
        c.fail(
            "coop-mat-address-space",
            f"a cooperative matrix must be in private memory; '{t}' cannot be in {qualifiers.space} memory",
            span,
        )
    return PointerType(t, replace(qualifiers, restrict=False))


def _array_of(c: Context, t: Type, modifier: syntax.ArrayModifier, span: Span) -> Type:
    if isinstance(t, (FunctionType, VoidType)) or not is_complete(t):
        c.fail("invalid-type", f"an array cannot have elements of type '{t}'", span)
    restricted_types.refuse(c, t, "array", span)
    if modifier.size is None:
        return ArrayType(t, None)
    size = integer_constant(c, modifier.size, "the size of an array")
    if size < 0 or (size == 0 and not isinstance(t, CoopMatrixType)) or size >= 1 << 40:
        c.fail("array-size", f"the size of an array cannot be {size}", modifier.size.span)
    return ArrayType(t, size)


def _function_of(c: Context, t: Type, modifier: syntax.FunctionModifier, span: Span) -> Type:
    if isinstance(t, (FunctionType, ArrayType)):
        c.fail("invalid-type", f"a function cannot return '{t}'", span)
    restricted_types.refuse(c, t, "result", span)
    if modifier.variadic:
        c.fail("variadic", "OpenCL C has no variadic functions", span)
    return FunctionType(t, tuple(decl.type for decl in parameters(c, modifier)))


def parameters(c: Context, modifier: syntax.FunctionModifier) -> list[typed.VarDecl]:
    """Return the parameters of a function declarator, with arrays as pointers. `(void)` and `()` have none."""
    variables = c.parameters.get(id(modifier))
    if variables is not None:
        return variables
    items = modifier.parameters or []
    if len(items) == 1 and _is_void(items[0]):
        items = []
    result = c.parameters[id(modifier)] = c.each(items, lambda item: one_parameter(c, item))
    return result


def one_parameter(c: Context, item: syntax.Parameter) -> typed.VarDecl:
    """Return a parameter as a variable, with an array as a pointer."""
    base = base_type(c, item.specifiers)
    t, qualifiers = declarator_type(c, base, item.declarator)
    if isinstance(t, ArrayType):
        place = _pointed_to(c, t.element, qualifiers, base.explicit_space)
        t, qualifiers = PointerType(t.element, replace(place, restrict=False)), PLAIN
    name = item.declarator.name or ""
    if isinstance(t, FunctionType):
        c.fail("function-pointer", "a function cannot be a parameter", item.span)
    if not is_complete(t):
        c.fail("incomplete-type", f"parameter '{name}' has incomplete type '{t}'", item.span)
    restricted_types.refuse(c, t, "parameter", item.span)
    if qualifiers.space is not AddressSpace.PRIVATE:
        c.fail("address-space", f"a parameter must be in private memory, not in {qualifiers.space} memory", item.span)
    decl = typed.VarDecl(item.declarator.span, name, t, qualifiers, "parameter")
    sized = host_sized(c, base, item.declarator)
    if sized is not None:
        c.host_sized[decl] = sized
    return decl


def _is_void(p: syntax.Parameter) -> bool:
    words = [word.text for word in p.specifiers.type_words]
    return words == ["void"] and p.declarator.name is None and not p.declarator.modifiers


def each_declarator(
    c: Context, node: syntax.Declaration, variable: Callable[[Base, syntax.InitDeclarator, Type, Qualifiers], None]
) -> None:
    """Declare types and functions, and call `variable` for every other name that a declaration declares.

    The name of a faulty declarator is poisoned, and analysis continues with the next declarator.
    """
    try:
        base = base_type(c, node.specifiers)
    except Abandon:
        for item in node.declarators:
            c.poison(item.declarator.name, item.declarator.span)
        raise
    for item in node.declarators:
        try:
            if any(word.text == "typedef" for word in node.specifiers.storage):
                declare_typedef(c, base, item)
                continue
            t, qualifiers = declarator_type(c, base, item.declarator)
            if isinstance(t, FunctionType):
                c.rules.prototype(c, base, item)
            else:
                variable(base, item, t, qualifiers)
        except Abandon:
            c.poison(item.declarator.name, item.declarator.span)


def declare_typedef(c: Context, base: Base, item: syntax.InitDeclarator) -> None:
    d = item.declarator
    t, qualifiers = declarator_type(c, base, d)
    if item.initializer is not None:
        c.fail("invalid-initializer", "a typedef has no initial value", item.initializer.span)
    own = base.marks(d)
    if qualifiers.volatile and isinstance(t, ConstantMatrixType):
        matrix_types.refuse_volatile(c, own)
    alignment = attributes.for_typedef(c, own, t)
    alignment = alignment or alignment_of_base(base, d)
    entity = Typedef(d.span, d.name or "", t, qualifiers, alignment, host_sized(c, base, d))
    earlier = c.scope.names.get(entity.name)
    if isinstance(earlier, Typedef) and (earlier.type, earlier.qualifiers) == (entity.type, entity.qualifiers):
        return  # a repeated equal typedef is allowed (C11 6.7)
    if isinstance(earlier, Typedef):
        matrix_types.check_redeclaration(c, earlier, t, d.span)
    c.declare(entity)
    if c.function is not None:
        c.function.typedefs.append(entity)


def type_name(c: Context, node: syntax.TypeName) -> Type:
    """Return the type that a cast, sizeof or argument names."""
    return declarator_type(c, base_type(c, node.specifiers), node.declarator)[0]


def static_assert(c: Context, node: syntax.StaticAssert) -> None:
    if integer_constant(c, node.condition, "the condition of a static assertion") == 0:
        text = "".join(t.strip('"') for t in node.message.texts) if node.message else ""
        c.error("static-assert", "static assertion failed" + (f": {text}" if text else ""), node.condition.span)
