"""Images and samplers: access qualifiers, where such objects may stand, and how a sampler starts.

OpenCL C 3.0, sections 6.3.3 (types), 6.8 (access qualifiers), 6.12 (restrictions), 6.15.15.1 (samplers). An image comes
from the host and goes down as an argument; a sampler may also be a constant of the program. Neither is ever changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...diagnostics import Note, Span
from ...features import IMAGES
from .. import syntax, typed
from ..types import INT, SAMPLER, UINT, AddressSpace, ImageType, Qualifiers, ScalarType, Type, is_opaque
from .context import Context
from .values import rvalue

ACCESSES = ("read_only", "write_only", "read_write")

# The bits of a sampler's initial value: coordinates (1), addressing (2 to 8), filter (0x10, 0x20).
_ADDRESSINGS, _FILTERS = (0, 2, 4, 6, 8), (0x10, 0x20)

_PLACES = {
    "member": "be a member of a struct or union",
    "array": "be an element of an array",
    "pointer": "be pointed to",
    "result": "be the result of a function",
    "variable": "be a variable: it comes in as an argument",
    "assignment": "be changed",
    "operand": "be a side of '?:'",
    "cast": "be made by a cast",
}


def refuse(c: Context, t: Type, place: str, span: Span) -> None:
    """Gives up if `t` is an image or a sampler; `place` says what for: the key of a row above, and in the code."""
    if is_opaque(t):
        kind, some = ("sampler", "a sampler") if t == SAMPLER else ("image", f"an image ('{t}')")
        c.fail(f"{kind}-{place}", f"{some} cannot {_PLACES[place]}", span)


# --- types -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Need:
    """What must be on from a language version on."""

    name: str
    since: int = 100


def _needs(t: ImageType) -> list[_Need]:
    needs = [_Need(IMAGES)]
    if t.access == "read_write":
        needs.append(_Need("__opencl_c_read_write_images"))
    if t.access == "write_only" and t.name == "image3d_t":
        needs += [_Need("cl_khr_3d_image_writes"), _Need("__opencl_c_3d_image_writes", 300)]
    if "depth" in t.name:
        needs.append(_Need("cl_khr_depth_images"))
    return needs


def access_words(words: list[syntax.Word]) -> list[syntax.Word]:
    return [word for word in words if word.text.strip("_") in ACCESSES]


def with_access(c: Context, t: Type, words: list[syntax.Word], span: Span, *, by_name: bool) -> Type:
    """`t` with what access qualifiers say, checked; `by_name`: a typedef, which has one already, spelt or not."""
    if words and not isinstance(t, ImageType):
        c.fail("access-qualifier", f"'{words[0].text}' is for images only, not for '{t}'", words[0].span)
    if not isinstance(t, ImageType):
        if t == SAMPLER:
            _need(c, t, [_Need(IMAGES)], span)
        return t
    said = {word.text.strip("_") for word in words}
    if len(said) > 1 or (said and by_name):
        have = f"'{words[0].text}' and '{words[-1].text}'" if len(said) > 1 else f"'{words[0].text}' on '{t}'"
        c.fail("access-qualifier", f"two access qualifiers: {have}", words[-1].span)
    if said:
        t = replace(t, access=said.pop())
    _need(c, t, _needs(t), span)
    return t


def _need(c: Context, t: Type, needs: list[_Need], span: Span) -> None:
    for need in needs:
        if c.features.version >= need.since and need.name not in c.features:
            c.fail("extension-off", f"the type '{t}' needs {need.name}, which is off", span)


# --- samplers --------------------------------------------------------------------------------------


def declare_variable(
    c: Context, d: syntax.Declarator, t: Type, qualifiers: Qualifiers, node: syntax.Initializer | None
) -> typed.VarDecl:
    """A variable of an opaque type: a sampler that starts with a constant, and stays what it is.

    Inside a function it may be another name for a sampler, too, as clang has it.
    """
    if isinstance(t, ImageType):
        refuse(c, t, "variable", d.span)
    name, outside = d.name or "", c.function is None
    if qualifiers.space not in (AddressSpace.PRIVATE, AddressSpace.CONSTANT):
        c.fail("sampler-address-space", f"sampler '{name}' cannot be in {qualifiers.space} memory", d.span)
    if outside and qualifiers.space is AddressSpace.PRIVATE and not qualifiers.const:
        message = f"sampler '{name}' at program scope must be const or in constant memory"
        c.fail("sampler-address-space", message, d.span)
    decl = typed.VarDecl(d.span, name, t, qualifiers, "static" if outside else "automatic")
    c.declare(decl)
    if node is None:
        c.fail("sampler-initializer", f"sampler '{name}' needs an initial value", d.span)
    if isinstance(node, syntax.InitializerList):
        c.fail("sampler-initializer", f"the initial value of sampler '{name}' cannot stand in braces", node.span)
    value = c.analyse(node)
    if outside and not isinstance(value, typed.IntConst):
        value = _constant_of(c, value, node.span)
    decl.initializer = converted(c, value, node.span, f"the initial value of sampler '{name}'")
    return decl


def _constant_of(c: Context, e: typed.Expr, span: Span) -> typed.Expr:
    value = rvalue(e)
    if value.type == SAMPLER:
        c.fail("sampler-initializer", "a sampler at program scope starts with a constant, not with a sampler", span)
    return value


def converted(c: Context, e: typed.Expr, span: Span, what: str) -> typed.Expr:
    """`e` as a sampler: one already, or a 32-bit integer constant made of the CLK_ macros."""
    e = rvalue(e)
    if e.type == SAMPLER:
        return e
    if not isinstance(e.type, ScalarType) or e.type not in (INT, UINT):
        c.fail("sampler-initializer", f"{what} must be a 32-bit integer, not '{e.type}'", span)
    if not isinstance(e, typed.IntConst):
        c.fail("sampler-initializer", f"{what} must be a constant", span)
    bits = e.value & 0xFFFFFFFF
    if bits & ~0x3F or bits & 0x0E not in _ADDRESSINGS:
        notes = [Note("it is made of one CLK_NORMALIZED_COORDS_, one CLK_ADDRESS_ and one CLK_FILTER_ macro")]
        c.fail("sampler-initializer", f"{what} has no meaning: {bits:#x}", span, notes=notes)
    if bits & 0x30 not in _FILTERS:
        c.warn("spir-compat", f"{what} says no filter: the nearest element is taken", span)
    return typed.Convert(e.span, SAMPLER, typed.ConvertKind.SAMPLER, e)
