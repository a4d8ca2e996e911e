"""Valid programs with Clang's matrix types, and rules that spoil one line of them, as `matrix_mutations` has it."""

from __future__ import annotations

from matrix_mutations import Rule

_TYPES = """\
typedef float M __attribute__((matrix_type(4, 4)));
typedef float W __attribute__((matrix_type(4, 8)));
typedef float R __attribute__((matrix_type(4, 4, layout(row_major), row_padding(2))));
typedef int I __attribute__((matrix_type(4, 4, column_padding(1))));
typedef float Row __attribute__((matrix_type(1, 4)));
typedef float Column __attribute__((matrix_type(4, 1)));
struct S { M m; int n; };
"""
# Values of which no place has use.
_SPARES = "int spare_n, float spare_x, float4 spare_v, global long *spare_p, const global float *spare_const, W spare_w"

_ARITHMETIC = """\
static M combine(M a, M b, SPARES)
{
    M sum = a + b;
    M product = a * b;
    sum = sum - product;
    sum += product;
    sum *= b;
    sum -= spare_x;
    M scaled = sum * 2.0f;
    scaled = spare_n * scaled;
    M chosen = spare_n ? sum : scaled;
    return chosen;
}
static R converted(M m, I i, SPARES)
{
    R r = (R)m;
    I whole = (I)r;
    whole = whole + i;
    M back = (M)whole;
    if (spare_n > 2)
        back = back * m;
    M filled = (M)spare_x;
    back = back + filled;
    r = (R)back;
    return r;
}
"""
_ELEMENTS = """\
static float elements(M *p, struct S s, SPARES)
{
    M m = *p;
    m[1][2] = spare_x;
    m[3][0] += 2.0f;
    s.m[0][3] = m[2][1];
    for (int k = 0; k < 4; k++)
        m[k][k] = 1.0f;
    M all[2];
    all[0] = m;
    all[1] = s.m;
    float x = all[1][0][3];
    x = __builtin_matrix_extract(m, 1, 2);
    m = __builtin_matrix_insert(m, 3, 0, x);
    Row row = __builtin_matrix_row(m, 2);
    Column column = __builtin_matrix_column(m, 1);
    m = __builtin_matrix_insert_row(m, 3, row);
    m = __builtin_matrix_insert_column(m, 0, column);
    float4 v = (float4)row;
    row = (Row)v;
    *p = m;
    return x + v.x;
}
"""
_MEMORY = """\
static void memory(global float *from, local float *to, constant float *table, SPARES)
{
    M m = __builtin_matrix_column_major_load(from, 4, 4, 8);
    M n = __builtin_matrix_column_major_load(table, 4, 4);
    m = __builtin_matrix_add(m, n);
    m = __builtin_matrix_sub(m, n);
    m = __builtin_matrix_multiply(m, n);
    m = __builtin_matrix_scalar_multiply(m, spare_x);
    m = __builtin_matrix_transpose(m);
    __builtin_matrix_column_major_store(m, from, 8);
    __builtin_matrix_row_major_store(m, to);
    __builtin_matrix_column_store(m, to, 4);
}
kernel void whole(global M *p, global float *f, int spare_n, float spare_x)
{
    local M shared[2];
    shared[0] = p[1];
    M m = p[spare_n] * shared[0];
    p[0] = m;
    f[0] = m[1][1];
}
"""
PROGRAMS = {
    name: _TYPES + body.replace("SPARES", _SPARES)
    for name, body in {"arithmetic": _ARITHMETIC, "elements": _ELEMENTS, "memory": _MEMORY}.items()
}


def _rule(name: str, pattern: str, *replacements: str, codes: str) -> Rule:
    return Rule(
        name, pattern, replacements, frozenset(f"matrix-type-{c}" if c[0] != "-" else c[1:] for c in codes.split())
    )


_CALL = r"(__builtin_matrix_\w+)\("
# A whole assignment of a matrix to a variable.
_VALUE = r"^(\s+(?:M )?(?:sum|product|scaled|chosen|back|filled|all\[\d\]|m)) = [^;]+;"

RULES = (
    # The type.
    _rule(
        "element",
        r"^typedef \w+(?= \w+ __)",
        *("typedef bool", "typedef float4", "typedef void", "typedef event_t", "typedef enum { ONE }"),
        codes="element",
    ),
    _rule(
        "no typedef",
        r"^static M combine\(M a",
        "static M combine(float a __attribute__((matrix_type(4, 4)))",
        "float __attribute__((matrix_type(4, 4))) bad; static M combine(M a",
        codes="attribute",
    ),
    _rule("pointer", r"^typedef float (?=W)", "typedef float *", codes="element"),
    _rule("volatile", r"^typedef (?=float (?:W|R) __)", "typedef volatile ", codes="element"),
    _rule(
        "rows", r"(?<=matrix_type\()\d", *("0", "-1", "1.5f", "1048576", "rows"), codes="shape -undeclared-identifier"
    ),
    _rule(
        "columns",
        r"(?<=matrix_type\(\d, )\d",
        *("0", "-4", "2.0", "0x100000", "65537", "columns"),
        codes="shape -undeclared-identifier",
    ),
    _rule("too few arguments of the attribute", r"(?<=matrix_type\(\d), \d", "", codes="attribute"),
    _rule("layout", r"row_major(?=\))", *("diagonal", "0", '"row_major"', "column_major"), codes="clause"),
    _rule("clause", r"(?:row|column)_padding(?=\()", *("padding", "layout", "stride"), codes="clause"),
    _rule("padding", r"(?<=_padding\()\d", *("-1", "1.0f", "1 << 30", ""), codes="clause"),
    _rule("name of a builtin", r"^static M combine", "static M __builtin_matrix_add", codes="-redefinition"),
    _rule(
        "declared again",
        r"^struct S \{",
        "typedef int W __attribute__((matrix_type(4, 8))); struct S {",
        "typedef float M; struct S {",
        codes="redeclaration",
    ),
    _rule(
        "kernel parameter",
        r"^kernel void whole\(",
        *("kernel void whole(M bad, ", "kernel void whole(struct S bad, "),
        codes="kernel-parameter",
    ),
    # Values.
    _rule(
        "assigned",
        _VALUE,
        *(r"\1 = 0;", r"\1 = spare_x;", r"\1 = spare_n;", r"\1 = 1.5f;"),
        codes="mismatch",
    ),
    _rule("list", _VALUE, r"\1 = (M){ 0 };", r"\1 = (M){ 1, 2 };", codes="initializer"),
    _rule("returned", r"return (?:chosen|r);", "return 1;", "return spare_v;", "return spare_w;", codes="mismatch"),
    _rule(
        "operator",
        r"(?<=sum|row|ole) [-+] (?=product|i;)|(?<=\w) \* (?=b;|m;|shared)",
        *(" / ", " % ", " & ", " << ", " == ", " < ", " && "),
        codes="operator",
    ),
    _rule("compound operator", r" (?:\+|-|\*)= (?=product|b;|spare_x;)", *(" /= ", " %= ", " |= "), codes="operator"),
    _rule(
        "unary operator",
        r"= (?=sum|chosen|back |\*p;)",
        *("= -", "= !", "= ~", "= +"),
        codes="operator -invalid-operands",
    ),
    _rule("increment", r"= (?=sum|back )", "= ++", "= --", codes="operator"),
    _rule(
        "operand",
        r"(?<=[-+] )(?:b|product|filled|i);",
        *("spare_w;", "(R)1;", "(I)1 + (I)1 * 1 + (R)1;"),
        codes="operand-types",
    ),
    _rule("no operand", r"(?<=[-+*] )(?:b|product|filled);", "spare_v;", "spare_p;", codes="operator"),
    _rule("product", r"(?<=\* )(?:b|m);", "(Row)1;", "(W)1 * 2.0f * (W)1;", codes="shapes"),
    _rule("product of another layout", r"(?<=\* )(?:b|m);", "(R)1;", "(I)1;", codes="operand-types"),
    _rule("product assigned", r"sum \*= b", "sum *= spare_w", codes="operand-types"),
    _rule(
        "cast",
        r"\((?:R|I|M)\)(?=m;|r;|whole|back)",
        *("(W)", "(Row)", "(Column)", "(float)", "(float4)", "(int *)"),
        codes="cast",
    ),
    _rule("cast of a vector", r"\(float4\)(?=row)", *("(int4)", "(float2)", "(float8)", "(float)"), codes="cast"),
    _rule("condition", r"if \(spare_n > 2\)", "if (m)", "while (back)", "switch (m)", codes="condition"),
    _rule(
        "chosen",
        r"spare_n \? sum : scaled",
        "sum ? sum : sum",
        "spare_n ? sum : spare_w",
        codes="condition operand-types",
    ),
    _rule("chosen by a vector", r"spare_n \? sum", "convert_int4(spare_v) ? sum", codes="operator"),
    # Elements.
    _rule("single subscript", r"(?<=m)\[\d\](?=\[\d\] (?:=|\+=))", "", codes="subscript"),
    _rule("comma", r"(?<=m)\[(\d)\]\[(\d)\](?= (?:=|\+=))", r"[\1, \2]", r"[\1, 1][\2]", codes="subscript"),
    _rule("three subscripts", r"(?<=m\[\d\]\[\d\]) = ", "[0] = ", codes="-not-subscriptable"),
    _rule(
        "index",
        r"(?<=m\[)\d(?=\]\[\d\] (?:=|\+=))",
        *("4", "-1", "1.0f", "m", "spare_v", "spare_p", "2 + 2"),
        codes="index",
    ),
    _rule("second index", r"(?<=m\[\d\]\[)\d(?=\] (?:=|\+=))", *("4", "-1", "1.5", "spare_p", "1 << 2"), codes="index"),
    _rule("address", r"return x \+ v.x;", "return *&m[1][2];", "return *&p[0][1][2];", codes="element-address"),
    _rule("value changed", r"(?<=^    )m\[3\]\[0\] \+=", "(m + m)[3][0] +=", codes="-not-an-lvalue"),
    # Calls.
    _rule(
        "name",
        r"__builtin_matrix_(?=\w+\()",
        "__builtin_matrices_",
        "__builtin_matrix_my_",
        codes="-undeclared-identifier",
    ),
    _rule("too many arguments", _CALL, r"\1(0, 0, 0, ", codes="-argument-count"),
    _rule("too few arguments", r"(__builtin_matrix_\w+)\([^()]+\)", r"\1()", codes="-argument-count"),
    _rule(
        "no matrix",
        r"(__builtin_matrix_(?:add|sub|multiply|transpose|scalar_multiply|row|column|insert\w*|extract|\w+store))\(m",
        *(r"\1(spare_x", r"\1(spare_v", r"\1(1"),
        codes="not-a-matrix",
    ),
    _rule("other operand", r"(_(?:add|sub)\(m), n\)", r"\1, spare_w)", r"\1, (I)n)", codes="operand-types"),
    _rule("factor", r"(scalar_multiply\(m), spare_x", r"\1, m", r"\1, spare_v", codes="mismatch -incompatible-types"),
    _rule("part", r"(insert_(?:row|column)\(m, \d), \w+", r"\1, m", r"\1, x", r"\1, spare_w", codes="part"),
    _rule(
        "number of a row or column",
        r"(_(?:row|column|extract|insert\w*)\(m), \d",
        *(r"\1, 4", r"\1, -1", r"\1, 1.5f", r"\1, m"),
        codes="index",
    ),
    _rule(
        "pointer to load",
        r"(?<=_load\()\w+",
        *("spare_n", "spare_v", "spare_w", "&spare_v", "(global float4 *)spare_p"),
        codes="pointee",
    ),
    _rule("pointer to store", r"(?<=_store\(m, )\w+", *("spare_p", "spare_x", "&spare_w"), codes="pointee"),
    _rule("const", r"(?<=_store\(m, )\w+", "spare_const", "table", codes="const-store"),
    _rule("rows of a load", r"(?<=_load\()(\w+), 4", r"\1, 0", r"\1, spare_n", r"\1, 1.0f", codes="shape"),
    _rule("too large", r"(?<=_load\()(\w+), 4, 4, 8", r"\1, 1000, 1000, 1000", codes="shape"),
    _rule("stride of a load", r"(?<=4, 4, )8", *("3", "-1", "spare_p", "spare_v", "spare_w"), codes="stride"),
    _rule("stride of a store", r"(?<=m, from, )8|(?<=m, to, )4", *("3", "0", "spare_w", "spare_p"), codes="stride"),
)
