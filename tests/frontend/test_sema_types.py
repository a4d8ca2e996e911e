"""Types of expressions: literals, conversions, vectors, sizes and layouts (OpenCL C 3.0, 6.1 to 6.3; C11 6.3)."""

from __future__ import annotations

import struct
import subprocess

import pytest
from hypothesis import given, settings, strategies as st
from sema_support import analysed, constant, dumped, expect, expression, good, type_of

import coopmat
from coopmat.frontend import typed
from coopmat.frontend.types import RecordType

ALL = """bool b, char c, uchar uc, short s, ushort us, int i, uint u, long l, ulong ul, half h, float f, double d,
char4 c4, uchar4 uc4, int4 i4, uint4 u4, long2 l2, float4 f4, half2 h2, double2 d2, float3 f3,
global int *gi, const global int *cgi, local float *lf, private int *pi, private void *pv"""


# --- constants ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", "int"),
        ("2147483647", "int"),
        ("2147483648", "long"),
        ("0x7fffffff", "int"),
        ("0x80000000", "uint"),
        ("0xffffffff", "uint"),
        ("0x100000000", "long"),
        ("0x8000000000000000", "ulong"),
        ("020000000000", "uint"),
        ("9223372036854775807", "long"),
        ("1u", "uint"),
        ("4294967296u", "ulong"),
        ("1l", "long"),
        ("1UL", "ulong"),
        ("0x8000000000000000L", "ulong"),
        ("1.0", "double"),
        ("1.0f", "float"),
        ("1.0h", "half"),
        ("0x1p3f", "float"),
        ("'a'", "int"),
    ],
)
def test_types_of_literals(text: str, expected: str) -> None:
    assert type_of(text) == expected


def test_values_of_literals() -> None:
    assert constant("0x10 + 010 + 0b11 + '\\n'") == 16 + 8 + 3 + 10
    assert constant("0x1.8p1f") == 3.0
    assert constant("1e-7h") == 1.1920928955078125e-07  # the next half: a subnormal
    assert constant("1e400f") == float("inf")
    assert constant("65520.0h") == float("inf")


def test_floating_literals_are_rounded_once() -> None:
    """Twice (to double and then to float) would give 1.0: a tie after the first rounding, to even after the second."""
    assert constant("1.00000005960464477540f") == 1 + 2**-23
    assert constant("0x1.00000100000000001p0f") == 1 + 2**-23


def test_integers_become_floats_in_one_rounding() -> None:
    value = 2**62 + 2**38 + 1
    assert constant(f"(float){value}L") == 2.0**62 + 2.0**39
    assert constant("(float)0xffffffffffffffffUL") == 2.0**64
    assert constant("(half)65519") == 65504.0
    assert constant("(half)65520") == float("inf")


@given(st.integers(-(2**63), 2**63 - 1))
def test_long_to_float(value: int) -> None:
    def exact(magnitude: int) -> int:
        shift = max(magnitude.bit_length() - 24, 0)
        whole, rest = magnitude >> shift, magnitude & ((1 << shift) - 1)
        tie = 1 << shift >> 1
        return (whole + (rest > tie or (0 < rest == tie and whole % 2))) << shift

    expected = float(exact(abs(value)) * (1 if value >= 0 else -1))
    spelled = f"{value}L" if value > -(2**63) else "(-9223372036854775807L - 1)"
    assert constant(f"(float)({spelled})") == expected


# --- usual conversions ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("+c", "int"),
        ("-us", "int"),
        ("~uc", "int"),
        ("+b", "int"),
        ("!f", "int"),
        ("c + c", "int"),
        ("us * us", "int"),
        ("i + u", "uint"),
        ("u + l", "long"),
        ("l + ul", "ulong"),
        ("i + ul", "ulong"),
        ("b + b", "int"),
        ("h + h", "half"),
        ("h + l", "half"),
        ("f + h", "float"),
        ("f + ul", "float"),
        ("f + d", "double"),
        ("i < l", "int"),
        ("d == f", "int"),
        ("c && d", "int"),
        ("b ? c : uc", "int"),
        ("b ? b : b", "int"),
        ("b ? c : f", "float"),
        ("b ? 1 : 2u", "uint"),
        ("b ? gi : 0", "global int *"),
        ("b ? 0 : gi", "global int *"),
        ("b ? gi : cgi", "global const int *"),
        ("b ? pi : pv", "private void *"),
        ("c << ul", "int"),
        ("ul >> c", "ulong"),
        ("us << us", "int"),
        ("c, f", "float"),
        ("c = f", "char"),
        ("c += f", "char"),
        ("c++", "char"),
        ("sizeof c", "ulong"),
        ("gi + c", "global int *"),
        ("c + gi", "global int *"),
        ("gi - cgi", "long"),
        ("gi - gi", "long"),
        ("&gi[1]", "global int *"),
        ("&i", "private int *"),
        ("*gi", "int"),
        ("gi == 0", "int"),
        ("lf < lf + 1", "int"),
        ("!gi", "int"),
        ("gi && i", "int"),
        ("(long)gi", "long"),
        ("(global float *)gi", "global float *"),
        ('"abc"', "constant char *"),
        ('*"abc"', "char"),
    ],
)
def test_types_of_scalar_expressions(text: str, expected: str) -> None:
    assert type_of(text, ALL) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("c4 + c4", "char4"),
        ("-uc4", "uchar4"),
        ("~c4", "char4"),
        ("f4 * f", "float4"),
        ("f * f4", "float4"),
        ("f4 * i", "float4"),
        ("f4 * 2", "float4"),
        ("f4 * 2.0f", "float4"),
        ("c4 + (char)1", "char4"),
        ("c4 + c", "char4"),
        ("i4 + c", "int4"),
        ("u4 + i", "uint4"),
        ("f4 < f4", "int4"),
        ("u4 == u4", "int4"),
        ("c4 != c", "char4"),
        ("uc4 >= uc4", "char4"),
        ("d2 < d2", "long2"),
        ("h2 < h2", "short2"),
        ("!f4", "int4"),
        ("!l2", "long2"),
        ("f4 && f4", "int4"),
        ("d2 || d2", "long2"),
        ("i4 << 2", "int4"),
        ("c4 << i4", "char4"),
        ("i4 ? f4 : f4", "float4"),
        ("i4 ? f4 : f", "float4"),
        ("l2 ? d2 : 0", "double2"),
        ("i4 ? 1 : 2", "int4"),
        ("b ? f4 : f", "float4"),
        ("(int4)(1, 2, 3, 4)", "int4"),
        ("(int4)(i4.xy, i4.zw)", "int4"),
        ("(float4)1", "float4"),
        ("(float4)(f)", "float4"),
        ("(float4)(f3, 1)", "float4"),
        ("f4.x", "float"),
        ("f4.xy", "float2"),
        ("f4.xxx", "float3"),
        ("f4.wzyx", "float4"),
        ("f4.s03", "float2"),
        ("f4.S3", "float"),
        ("f4.rgb", "float3"),
        ("f4.lo", "float2"),
        ("f4.hi.x", "float"),
        ("f4.even", "float2"),
        ("f3.lo", "float2"),
        ("f4.xyxyxyxy", "float8"),
    ],
)
def test_types_of_vector_expressions(text: str, expected: str | None) -> None:
    assert type_of(text, ALL) == expected


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        ("i4 §+ 1.0f", "invalid-operands"),
        ("c4 §+ i", "invalid-operands"),
        ("c4 §+ 300", "invalid-operands"),
        ("c4 §+ 1", "invalid-operands"),
        ("c4 §!= 0", "invalid-operands"),
        ("c4 §&= 15", "invalid-operands"),
        ("f4 §* 2.0", "invalid-operands"),
        ("0.5 §- f4", "invalid-operands"),
        ("f4 §< 1.0 * 2", "invalid-operands"),
        ("h2 §/ 2.0f", "invalid-operands"),
        ("§i4 ? f4 : 1.0", "invalid-operands"),
        ("d §+= f4", "invalid-operands"),
        ("f4 §+ d", "invalid-operands"),
        ("i4 §+ u4", "invalid-operands"),
        ("f4 §+ f3", "invalid-operands"),
        ("f4 §% f4", "invalid-operands"),
        ("f §& i", "invalid-operands"),
        ("i §<< i4", "invalid-operands"),
        ("f4 §<< 1", "invalid-operands"),
        ("gi §+ gi", "invalid-operands"),
        ("gi §* 2", "invalid-operands"),
        ("gi §== lf", "invalid-operands"),
        ("gi §- lf", "invalid-operands"),
        ("gi §== 1", "invalid-operands"),
        ("§*pv", "incomplete-type"),
        ("§f ? 1 : 2", "invalid-condition"),
        ("§-gi", "invalid-operands"),
        ("§~f", "invalid-operands"),
        ("§*i", "invalid-operands"),
        ("§i4 ? d2 : d2", "invalid-operands"),
        ("§f4 ? f4 : f4", "invalid-condition"),
        ("§i4 ? c4 : c4", "invalid-operands"),
        ("§i ? gi : lf", "invalid-operands"),
        ("§(int4)f4", "invalid-cast"),
        ("§(int)f4", "invalid-cast"),
        ("§(float)gi", "invalid-cast"),
        ("§(local int *)gi", "address-space"),
        ("§(float4)(1, 2)", "vector-literal"),
        ("(float4)(§i4.xy, 1.0f, 2.0f)", "vector-literal"),
        ("f4[§4]", "vector-subscript"),
        ("§i[0]", "not-subscriptable"),
        ("gi[§1.0f]", "invalid-index"),
        ("f4.§xr", "swizzle"),
        ("f3.§w", "swizzle"),
        ("f4.§s4", "swizzle"),
        ("f4.§sg", "swizzle"),
        ("i.§x", "no-member"),
        ("§as_int(d)", "no-matching-function"),
        ("f4 = §(float4)(1, 2, 3, 4, 5)", "vector-literal"),
        ("f4 §= f3", "incompatible-types"),
        ("i §= gi", "incompatible-types"),
        ("gi §= i", "incompatible-types"),
        ("gi §= lf", "address-space"),
        ("pi §= cgi", "address-space"),
    ],
)
def test_operands_that_do_not_fit(marked: str, code: str) -> None:
    expect(f"void f({' '.join(ALL.split())}) {{\n    {marked};\n}}", code)


def test_a_cast_mends_a_scalar_of_greater_rank() -> None:
    body = "{\n p[0] = p[1] * 2.0;\n *c = 1 + 2 + *c;\n *p += d; }"
    source = f"kernel void k(global float4 *p, global char4 *c, double d) {body}"
    with pytest.raises(coopmat.CompileError) as caught:
        coopmat.compile(source)
    found = [fixit for item in caught.value.diagnostics for fixit in item.fixits]
    assert [fixit.replacement for fixit in found] == ["(float)", "(char)(", ")", "(float)"]
    lines = source.split("\n")
    for fixit in reversed(found):
        text, at = lines[fixit.span.line - 1], fixit.span.column - 1
        lines[fixit.span.line - 1] = text[:at] + fixit.replacement + text[at:]
    assert coopmat.compile("\n".join(lines)).diagnostics == []


def test_with_single_precision_constants_they_meet_vectors_of_floats() -> None:
    source = "kernel void k(global float4 *p) { p[0] = p[1] * 2.0 + 0.1; }"
    assert coopmat.compile(source, ["-cl-single-precision-constant"]).diagnostics == []
    assert coopmat.compile(source, ["-cl-ext=-cl_khr_fp64"]).diagnostics == []


def test_scalars_widen_to_vectors_in_assignments() -> None:
    """Any arithmetic scalar, as by an explicit cast; only operators ask for a rank that fits."""
    good(
        "void g(uchar4 v); void g(uchar4 v) { } void f(int i, double d) { char4 c = i; float4 v = d; c = 300; g(-1); }"
    )


def test_bool_becomes_all_ones_in_vectors() -> None:
    assert "neg" in dumped("(int4)b", "bool b")
    assert "neg" not in dumped("(float4)b", "bool b")
    assert "neg" not in dumped("(int4)(b == b)", "bool b")  # an int already


def test_every_conversion_is_a_node() -> None:
    text = dumped("l = c + f", "long l, char c, float f")
    assert text.count("Convert") == 2
    assert "float-to-int" in text and "int-to-float" in text


# --- sizes, alignments, layouts ---

_BASIC = {
    "bool": 1,
    "char": 1,
    "uchar": 1,
    "short": 2,
    "ushort": 2,
    "half": 2,
    "int": 4,
    "uint": 4,
    "float": 4,
    "long": 8,
    "ulong": 8,
    "double": 8,
    "size_t": 8,
    "global int *": 8,
    "local char *": 8,
}


@pytest.mark.parametrize("name", _BASIC)
def test_sizes_of_scalars(name: str) -> None:
    assert constant(f"sizeof({name})") == constant(f"__alignof__({name})") == _BASIC[name]


@pytest.mark.parametrize("count", [2, 3, 4, 8, 16])
@pytest.mark.parametrize("name", ["char", "ushort", "int", "ulong", "half", "float", "double"])
def test_vectors_are_aligned_to_their_size(name: str, count: int) -> None:
    size = _BASIC[name] * (4 if count == 3 else count)
    assert constant(f"sizeof({name}{count})") == constant(f"__alignof__({name}{count})") == size


@pytest.mark.parametrize(
    ("declaration", "size", "align", "offsets"),
    [
        ("struct S { char a; int b; };", 8, 4, (0, 4)),
        ("struct S { int b; char a; };", 8, 4, (0, 4)),
        ("struct S { char a; float3 b; char c; };", 48, 16, (0, 16, 32)),
        ("struct S { char a; double b; short c[3]; };", 24, 8, (0, 8, 16)),
        ("struct __attribute__((packed)) S { char a; int b; };", 5, 1, (0, 1)),
        ("struct S { char a; int b; } __attribute__((packed));", 5, 1, (0, 1)),
        ("struct S { char a; int b; } __attribute__((aligned(32)));", 32, 32, (0, 4)),
        ("struct S { char a; int b; } __attribute__((packed, aligned(4)));", 8, 4, (0, 1)),
        ("struct S { char a; int b; } __attribute__((aligned));", 16, 16, (0, 4)),
        ("struct S { char a; int b __attribute__((aligned(16))); char c; };", 32, 16, (0, 16, 20)),
        ("struct S { char a; __attribute__((aligned(2))) int b; };", 8, 4, (0, 4)),
        ("union S { char a; double b; int c[3]; };", 16, 8, (0, 0, 0)),
        ("union S { char a; } __attribute__((aligned(4)));", 4, 4, (0,)),
        ("struct I { char x; }; struct S { struct I a[3]; global int *p; };", 16, 8, (0, 8)),
        ("struct S { char a, b, *c; };", 16, 8, (0, 1, 8)),
        ("struct S { bool a; bool b[2]; ushort c; };", 6, 2, (0, 1, 4)),
        ("struct S { };", 0, 1, ()),
    ],
)
def test_layouts(declaration: str, size: int, align: int, offsets: tuple[int, ...]) -> None:
    kind = "union" if declaration.startswith("union") else "struct"
    record = good(declaration).records[-1]
    assert (record.size_bytes, record.align_bytes) == (size, align)
    assert tuple(field.offset for field in record.fields or ()) == offsets
    assert constant(f"sizeof({kind} S)", before=declaration) == size
    assert constant(f"__alignof__({kind} S)", before=declaration) == align


def test_sizes_of_expressions_and_arrays() -> None:
    assert constant("sizeof a", "void", "constant char a[3][5] = {0};") == 15
    assert constant("sizeof *a", "void", "constant char a[3][5] = {0};") == 5
    assert constant("sizeof a[0][0]", "void", "constant char a[3][5] = {0};") == 1
    assert constant("sizeof(a)", "float a[100]") == 8
    assert constant('sizeof "abc"') == 4
    assert constant("sizeof('a')") == 4
    assert constant("sizeof(c + c)", "char c") == 4
    assert constant("sizeof(float[2][3])") == 24
    assert constant("vec_step(float3)") == 4
    assert constant("vec_step(v)", "int8 v") == 8
    assert constant("vec_step(char)") == 1


def test_the_same_tag_in_two_scopes_is_two_types() -> None:
    unit = good("struct S { int a; }; void f(void) { struct S { char b; } s; s.b = 1; }")
    assert [record.size_bytes for record in unit.records] == [4, 1]
    assert len(set(unit.records)) == 2 and all(isinstance(record, RecordType) for record in unit.records)


def test_types_that_have_no_size() -> None:
    expect("void f(void) { §sizeof(void); }", "incomplete-type")
    expect("struct S; void f(struct S *s) { sizeof(§*s); }", "incomplete-type")
    expect("int g(void); void f(void) { sizeof(§g); }", "function-pointer")
    expect("void f(int *p) { §vec_step(p); }", "invalid-operands")


# --- constant folding against C's meaning ---

_TYPES = {"int": (32, True), "uint": (32, False), "long": (64, True), "ulong": (64, False)}
_SUFFIX = {"int": "", "uint": "u", "long": "L", "ulong": "UL"}


def _wrap(value: int, name: str) -> int:
    bits, signed = _TYPES[name]
    value %= 1 << bits
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def _common(a: str, b: str) -> str:
    order = ["int", "uint", "long", "ulong"]
    return max(a, b, key=order.index)


@st.composite
def folded(draw: st.DrawFn, depth: int = 4) -> tuple[str, str, int]:
    """An expression as text, its type and its value by C's rules."""
    kind = draw(st.sampled_from(["leaf", "unary", "binary", "binary", "cast", "choice"])) if depth else "leaf"
    if kind == "leaf":
        name = draw(st.sampled_from(list(_TYPES)))
        top = (1 << (_TYPES[name][0] - _TYPES[name][1])) - 1
        value = draw(st.one_of(st.integers(0, 40), st.integers(0, top)))
        # A larger literal would be of a larger type all by itself.
        return f"{value}{_SUFFIX[name]}", name, value
    text, name, value = draw(folded(depth - 1))
    if kind == "unary":
        op = draw(st.sampled_from("-~!+"))
        if op == "!":
            return f"!({text})", "int", int(value == 0)
        return f"{op}({text})", name, _wrap({"-": -value, "~": ~value, "+": value}[op], name)
    if kind == "cast":
        narrow = {"char": (8, True), "uchar": (8, False), "short": (16, True), "ushort": (16, False)}
        target = draw(st.sampled_from([*_TYPES, *narrow]))
        if target in _TYPES:
            return f"({target})({text})", target, _wrap(value, target)
        bits, signed = narrow[target]
        cut = value % (1 << bits)
        return f"+({target})({text})", "int", cut - (1 << bits) if signed and cut >> (bits - 1) else cut
    other, other_name, other_value = draw(folded(depth - 1))
    common = _common(name, other_name)
    a, b = _wrap(value, common), _wrap(other_value, common)
    if kind == "choice":
        test, _, test_value = draw(folded(depth - 1))
        return f"({test}) ? ({text}) : ({other})", common, a if test_value else b
    op = draw(st.sampled_from(["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", "<=", "==", "!=", "&&", "||"]))
    both = f"({text}) {op} ({other})"
    if op in ("&&", "||"):
        result = (value and other_value) if op == "&&" else (value or other_value)
        return both, "int", int(bool(result))
    if op in ("<", "<=", "==", "!="):
        return both, "int", int({"<": a < b, "<=": a <= b, "==": a == b, "!=": a != b}[op])
    if op in ("<<", ">>"):
        count = other_value % _TYPES[name][0]
        return both, name, _wrap(value << count if op == "<<" else value >> count, name)
    if op in ("/", "%"):
        if b == 0 or ((a // b if b else 0) > (1 << (_TYPES[common][0] - 1)) - 1 and _TYPES[common][1]):
            return text, name, value  # undefined
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return both, common, _wrap(quotient if op == "/" else a - quotient * b, common)
    exact = {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}[op]
    return both, common, _wrap(exact, common)


@settings(max_examples=150)
@given(folded())
def test_integer_constants_fold_as_in_c(case: tuple[str, str, int]) -> None:
    text, name, value = case
    unit = _without_shift_warnings(f"void f(void) {{ {text}; }}")
    body = unit.functions[0].body
    assert body is not None and isinstance(body.items[0], typed.ExprStmt)
    e = body.items[0].expr
    assert isinstance(e, typed.IntConst), text
    assert (str(e.type), e.value) == (name, value), text


def _without_shift_warnings(source: str) -> typed.Unit:
    unit, diagnostics = analysed(source)
    assert all(item.code.startswith("shift-count-") for item in diagnostics.items)
    return unit


@given(st.floats(width=32, allow_nan=False), st.floats(width=32, allow_nan=False), st.sampled_from("+-*/"))
def test_float_constants_fold_in_single_precision(a: float, b: float, op: str) -> None:
    import numpy as np

    if abs(a) == float("inf") or abs(b) == float("inf") or (op == "/" and b == 0):
        return
    with np.errstate(all="ignore"):
        expected = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[op](np.float32(a), np.float32(b))
    spelled = [f"({'-' if str(x).startswith('-') else ''}{abs(x).hex()}f)" for x in (a, b)]
    value = constant(f"{spelled[0]} {op} {spelled[1]}")
    assert struct.pack("<f", value) == struct.pack("<f", float(expected))


def test_what_is_undefined_is_not_folded() -> None:
    for text in ("1 / 0", "1 % 0", "(-2147483647 - 1) / -1", "(int)1e20f"):
        assert not isinstance(expression(text), (typed.IntConst, typed.FloatConst)), text


def test_constants_need_not_look_at_what_is_not_chosen() -> None:
    good("constant int a[1 ? 2 : 1 / 0] = {0}; constant int b[0 ? 1 / 0 : 3] = {0}; constant int c[1 || 1 / 0] = {0};")
    good('enum { E = 1 && 2, F = 0 || 0, G = !0 && (E || F) }; _Static_assert(E == 1 && F == 0 && G == 1, "");')


def test_bits_of_constants() -> None:
    assert constant("as_int(1.0f)") == 0x3F800000
    assert constant("as_float(0x40490fdb)") == pytest.approx(3.14159274)
    assert constant("as_ushort((half)1)") == 0x3C00
    assert constant("as_uint(-1)") == 0xFFFFFFFF


# --- against another compiler ---


def test_layouts_agree_with_clang(tmp_path) -> None:
    """Where clang is installed: sizes and alignments of records as it computes them."""
    import shutil

    clang = next((found for name in ("clang-19", "clang") if (found := shutil.which(name))), None)
    if clang is None:
        pytest.skip("no clang")
    source = """
typedef struct { char a; float3 b; uchar c[3]; } S1;
typedef struct { bool a; double b; half c; global char *d; } S2;
typedef union { S1 a; long b[5]; } U1;
typedef struct { U1 a; char b __attribute__((aligned(8))); } S3;
typedef struct __attribute__((packed)) { char a; S2 b; ushort c; } S4;
typedef struct { S4 a; char b; } __attribute__((aligned(64))) S5;
"""
    names = ["S1", "S2", "U1", "S3", "S4", "S5"]
    checks = []
    for name in names:
        for op in ("sizeof", "__alignof__"):
            checks.append(f'_Static_assert({op}({name}) == {constant(f"{op}({name})", before=source)}, "{op} {name}");')
    path = tmp_path / "layout.cl"
    path.write_text(source + "\n".join(checks))
    command = [clang, "-x", "cl", "-cl-std=CL3.0", "-target", "spirv64", "-fsyntax-only", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
