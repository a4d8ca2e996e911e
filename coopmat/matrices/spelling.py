"""OpenCL C expressions over component types, for the macros of the library's templates.

`w` is a vector width: 1 (a scalar), 2, 4, 8 or 16. An expression is a macro body over the macro's parameters.
"""

from __future__ import annotations

from dataclasses import replace

from .variants import COMPONENT_TYPES, ComponentType, Operands

FLOAT, DOUBLE = COMPONENT_TYPES["f32"], COMPONENT_TYPES["f64"]
# Half for devices that have it in memory only. Float is wide enough to round sums, products and quotients once.
HALF_BITS = replace(COMPONENT_TYPES["f16"], numpy="uint16")
INEXACT_IN_FLOAT = tuple(COMPONENT_TYPES[name] for name in ("f64", "s32", "u32", "s64", "u64"))
_IDENTITIES = {"add": "0", "or": "0", "xor": "0", "mul": "1", "and": "~0"}
_ROUNDED = {"rte": "rint({})", "rtp": "ceil({})", "rtn": "floor({})"}
OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def vector(component: ComponentType, w: int) -> str:
    """Return OpenCL C's name of a vector of `w` components."""
    return component.library_c + suffix(w)


def suffix(w: int) -> str:
    """Return the suffix of a vector type's name: empty for a scalar."""
    return str(w) if w > 1 else ""


def integer(bits: int, signed: bool) -> ComponentType:
    """Return the integer component type of this size and signedness."""
    return COMPONENT_TYPES[f"{'s' if signed else 'u'}{bits}"]


def reinterpret(x: str, source: ComponentType, target: ComponentType, w: int) -> str:
    """Return an expression for the bits of `x` as another type of the same size."""
    return x if vector(source, w) == vector(target, w) else f"as_{vector(target, w)}({x})"


def convert(
    x: str, source: ComponentType, target: ComponentType, w: int, rounding: str = "", saturate: bool = False
) -> str:
    """Return an expression that converts like a C cast, or like OpenCL's convert_ functions.

    The latter have `saturate` and `rounding` ("rte", "rtz", "rtp", "rtn").
    """
    if source == target:
        return x
    if source.is_bits:
        x = f"{small_float_function(source, 'to_float', w)}({x})"
        if source.is_integer and target.is_integer:
            return convert(
                convert(x, FLOAT, COMPONENT_TYPES["s32"], w), COMPONENT_TYPES["s32"], target, w, "", saturate
            )
        return convert(x, FLOAT, target, w, rounding, saturate)
    if target.is_bits:
        if source in INEXACT_IN_FLOAT:
            x = f"{small_float_function(source, 'to_odd', w)}({x})"
        else:
            x = convert(x, source, FLOAT, w)
        return f"{small_float_function(target, from_float(target, rounding, saturate), w)}({x})"
    saturate = saturate and target.saturates
    if source.is_integer and target.is_integer and not saturate:
        # Convert in two steps: the specification leaves convert_uint(char) of a negative number open.
        return reinterpret(_resize(x, source, target.bits, w), integer(target.bits, source.signed), target, w)
    return f"convert_{vector(target, w)}{'_sat' if saturate else ''}{'_' + rounding if rounding else ''}({x})"


def saturate(x: str, source: ComponentType, target: ComponentType, rounding: str = "") -> str:
    """Return an expression for a scalar's saturating conversion to an integer type, without OpenCL's convert_..._sat.

    NaN becomes 0. The expression evaluates `x` several times.
    """
    if target.is_bits:
        return convert(x, source, target, 1, rounding, saturate=True)
    prefix = _limit_prefix(target)
    low, high = (f"{prefix}_MIN" if target.signed else "0"), f"{prefix}_MAX"
    if source.is_integer:
        wide = integer(max(source.bits, 32), source.signed)
        x = convert(x, source, wide, 1)
        magnitude = target.bits - target.signed
        if source.bits - source.signed > magnitude:
            x = f"min({x}, ({wide.library_c})({high}))"
        if source.signed and (source.bits > target.bits or not target.signed):
            x = f"max({x}, ({wide.library_c})({low}))"
        return convert(x, wide, target, 1)
    real = DOUBLE if source == DOUBLE else FLOAT
    x = _ROUNDED.get(rounding, "{}").format(convert(x, source, real, 1))
    suffix = "" if real == DOUBLE else "f"
    least = f"-0x1p{target.bits - 1}{suffix}" if target.signed else f"0.0{suffix}"
    inside = convert(x, real, target, 1)
    most = f"0x1p{target.bits - target.signed}{suffix}"
    return f"({x} >= {most} ? {high} : {x} <= {least} ? {low} : {x} == {x} ? {inside} : 0)"


def small_float_function(component: ComponentType, what: str, w: int) -> str:
    """Return the name of a function in library/small_floats.cl, on vectors of `w` components."""
    return f"cm_{component}_{what}_{w}"


def from_float(component: ComponentType, rounding: str = "", saturate: bool = False) -> str:
    """Return the name of a small float's conversion from float with this rounding and saturation."""
    default = "rtz" if component.is_integer else "rte"
    return f"from_float_{'sat_' * (saturate and component.saturates)}{rounding or default}"


def _resize(x: str, source: ComponentType, bits: int, w: int) -> str:
    """Return an expression that converts an integer to another number of bits, modulo 2^bits."""
    if source.bits == bits:
        return x
    return f"convert_{vector(integer(bits, source.signed), w)}({x})"


def binary(operator: str, component: ComponentType, w: int) -> str:
    """Return the macro body for `x operator y`, where x and y are vectors of width `w`.

    Integers wrap modulo 2^bits, and their quotient truncates.
    """
    symbol = OPERATORS[operator]
    if component.is_bits:
        x, y = (convert(f"({name})", component, FLOAT, w) for name in "xy")
        return convert(f"{x} {symbol} {y}", FLOAT, component, w)
    if not component.is_integer:
        return f"((x) {symbol} (y))"
    if operator == "div":
        return f"({vector(component, w)})((x) / (y))"
    # Calculate with unsigned integers, and scalars of at least 32 bits, because signed overflow is undefined and ushort
    # is promoted to int.
    wide = integer(max(component.bits, 32) if w == 1 else component.bits, signed=False)
    x, y = convert("x", component, wide, w), convert("y", component, wide, w)
    return convert(f"{x} {symbol} {y}", wide, component, w) if wide != component else f"((x) {symbol} (y))"


def negation(component: ComponentType, w: int) -> str:
    """Return the macro body for the negation of x, a vector of width `w`; integers wrap modulo 2^bits."""
    if component.is_bits:
        return f"({vector(component, w)})((x) ^ ({vector(component, w)})0x{1 << (component.width - 1):x})"
    if not component.is_integer:
        return "(-(x))"
    unsigned = integer(component.bits, signed=False)
    negated = f"({vector(unsigned, w)})0 - {reinterpret('x', component, unsigned, w)}"
    return reinterpret(f"({vector(unsigned, w)})({negated})", unsigned, component, w)


def sum_type(a: ComponentType, b: ComponentType, c: ComponentType) -> ComponentType:
    """Return the type in which a multiply-add accumulates.

    For integers, this is an unsigned type of at least 32 bits and at least C's size, because sums wrap modulo 2^bits.
    For floating point, it is a type that can represent all numbers of A, B and C: a narrower type would make infinities
    of operands whose products are finite.
    """
    if c.is_integer:
        return integer(max(c.bits, 32), signed=False)
    return DOUBLE if max(a.bits, b.bits, c.bits) == 64 else FLOAT


def widen(x: str, component: ComponentType, signed: bool, total: ComponentType, w: int) -> str:
    """Return the expression for an operand converted to the type of the sum.

    `signed` determines whether the bits of an integer operand are read as signed.
    """
    if component.is_integer:
        read = integer(component.bits, signed)
        return convert(reinterpret(x, component, read, w), read, total, w)
    return convert(x, component, total, w)


def fma(total: ComponentType, fused: bool = True) -> str:
    """Return the expression for x y + z.

    If the device has no fma, the product is rounded before the addition. Products of half and smaller types are exact
    in float, so rounding does not change them.
    """
    if total.is_integer:
        return "((x) * (y) + (z))"
    return "fma(x, y, z)" if fused else "mad(x, y, z)"


def saturating_end(c: ComponentType, operands: Operands, total: ComponentType, w: int) -> str:
    """Return the expression for sum + c, clamped to the result's range.

    The operand mask determines whether the bits of C and of the result are read as signed.
    """
    result_signed, c_signed = Operands.RESULT_SIGNED in operands, Operands.C_SIGNED in operands
    unsigned, result = integer(c.bits, signed=False), integer(c.bits, result_signed)
    total_of = convert("sum", total, unsigned, w)
    value = reinterpret("c", c, integer(c.bits, c_signed), w)
    v = vector(unsigned, w)
    if result_signed == c_signed:
        clamped = f"add_sat({reinterpret(total_of, unsigned, result, w)}, {value})"
    elif result_signed:
        # An offset of 2^(bits - 1) makes the signed sum unsigned, and its bounds those of unsigned saturation.
        flip = f"({v})({2 ** (c.bits - 1)}UL)"
        shifted = f"({v})(add_sat(({v})({total_of} ^ {flip}), {value}) ^ {flip})"
        clamped = reinterpret(shifted, unsigned, result, w)
    else:
        zero = f"({vector(integer(c.bits, True), w)})(0)"
        plus = reinterpret(f"max({value}, {zero})", integer(c.bits, True), unsigned, w)
        clamped = f"sub_sat(add_sat({total_of}, {plus}), abs(min({value}, {zero})))"
    return reinterpret(clamped, result, c, w)


def identity(operation: str, component: ComponentType) -> str:
    """Return the identity element of a non-logical reduction, with which an exclusive scan begins.

    See OpenCL C 3.0, section 6.15.19.
    """
    if operation in _IDENTITIES:
        return _IDENTITIES[operation]
    if not component.is_integer:
        return "INFINITY" if operation == "min" else "-INFINITY"
    prefix = _limit_prefix(component)
    if operation == "min":
        return f"{prefix}_MAX"
    return f"{prefix}_MIN" if component.signed else "0"


def _limit_prefix(component: ComponentType) -> str:
    """Return the prefix of the names of an integer type's limits, such as "UCHAR"."""
    return ("" if component.signed else "U") + {8: "CHAR", 16: "SHRT", 32: "INT", 64: "LONG"}[component.bits]
