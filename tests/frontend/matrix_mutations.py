"""Valid programs with cooperative matrices, and rules that spoil one line of them.

A rule is a pattern and what to put in its place, as for `re.sub`; names with spare_ are variables that the functions
have at hand. Whatever the line, what comes out must be an error on that line, and on no other.
"""

from __future__ import annotations

from dataclasses import dataclass

_USES = {"A": "16, 8", "B": "8, 32", "ACCUMULATOR": "16, 32"}
_MATRICES = (
    *(("half", "A", "A"), ("half", "B", "B"), ("float", "C", "ACCUMULATOR"), ("double", "W", "ACCUMULATOR")),
    *(("char", "AI", "A"), ("uchar", "BI", "B"), ("int", "CI", "ACCUMULATOR")),
)
_TYPES = "".join(
    f"typedef {component} {name} __attribute__((coop_mat({scope}, {_USES[use]}, CLK_COOPERATIVE_MATRIX_{use})));\n"
    for (component, name, use), scope in zip(
        _MATRICES, ["CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP", "memory_scope_sub_group"] * 4, strict=False
    )
)
_TYPES += """\
typedef float D __attribute__((coop_mat(memory_scope_sub_group, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
struct S { C c; int n; };
"""
# What a function has at hand to be spoiled with: values, pointers and matrices of which no place has use.
_SPARES = (
    "D spare_d, int spare_n, float spare_x, float4 spare_v, const global float *spare_const,"
    " global long *spare_p, struct S spare_s"
)

_GEMM = """\
static void gemm(const global half *p, const global half *q, global float *r, int n, SPARES)
{
    C acc = coop_mat_init(0.0f);
    for (int k = 0; k < n; k += 8) {
        A a = coop_mat_load(p + k, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, n);
        B b = coop_mat_load(q + k * n, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, n);
        if (k > n)
            break;
        acc = coop_mat_mulAdd(a, b, acc);
    }
    coop_mat_store(r, acc, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, n);
}
"""
_INTEGERS = """\
static C finish(CI m, C bias)
{
    C result = (C)m;
    result = result + bias;
    return result;
}
static void quantised(const global char *p, const local uchar4 *q, global float *r, int n, SPARES)
{
    AI ai = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    BI bi = coop_mat_load(q, CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED, 32);
    CI acc;
    acc = coop_mat_init(n);
    acc = coop_mat_mulAdd(ai, bi, acc, CLK_COOPERATIVE_MATRIX_OPERAND_SATURATING_ACCUMULATION | 13);
    acc = coop_matmul_add(ai, bi, acc);
    C bias = coop_mat_load_checked(r, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 32, 16, n, 100, 60);
    C done = finish(acc, bias);
    coop_mat_store_checked(r, done, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 32, n, 0, 100, 60);
}
"""
_OBJECTS = """\
static void scale(C *m, float x)
{
    for (uint i = 0; i < coop_mat_length(C); i++)
        (*m)[i] = (*m)[i] * x;
}
static void objects(global float *r, int n, SPARES)
{
    struct S s = { coop_mat_init(1), 2 };
    C all[2] = { s.c, coop_mat_load(r, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 32) };
    C one = all[1];
    one = one - all[0];
    one *= spare_x;
    one += coop_mat_load(r + n, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, 16);
    W wide = coop_mat_convert(one);
    one = coop_mat_convert_rtz(wide);
    CI whole;
    whole = coop_mat_convert_sat_rte(one);
    one[0] = spare_x;
    uint2 at = coop_mat_coord(one, 1);
    s.c = n ? one : -one;
    all[0] = s.c / one;
    scale(&all[1], at.x);
    coop_mat_store(r, all[1] * spare_x, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 32);
    coop_mat_store(r, all[0], CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 32);
}
"""
# The functions whose names begin with spare_ are operands of nothing, until a line is spoiled with one.
_FURTHER = """\
static float larger(float x, float y)
{
    return x > y ? x : y;
}
static float masked(uint row, uint column, float x, int last)
{
    return column > row + last ? 0.0f : x;
}
static float chosen(uint row, uint column, float x, float y)
{
    return row < column ? x : y;
}
static float weight(uint row, uint column, const global float *p)
{
    return p[row] * column;
}
static double spare_wide(double x, double y)
{
    return x + y;
}
static float spare_signed(int row, int column, float x, int last)
{
    return x;
}
static float spare_store(uint row, uint column, global float *p)
{
    return p[row] = column;
}
static float spare_lane(float x, float y)
{
    return x + y * get_sub_group_local_id();
}
kernel void spare_kernel(void)
{
}
static void further(global float *r, int n, SPARES)
{
    C one = coop_mat_load(r, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 32);
    C two = coop_mat_build(weight, spare_const);
    D square;
    square = coop_mat_reduce(one, CLK_COOPERATIVE_MATRIX_REDUCE_ROW, larger);
    two = coop_mat_map(one, masked, n);
    two = coop_mat_map(one, two, chosen);
    one = fma(one, two, 1.5f);
    one = fmax(exp(one), spare_x);
    coop_mat_prefetch(C, r, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 32);
    coop_mat_store(r, one / two, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 32);
    coop_mat_store(r, square - spare_x, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 32);
}
"""
_KERNEL = """\
static C twice(C m)
{
    return m + m;
}
kernel void whole(const global half *p, global float *r, const global float *spare_const, global long *spare_p,
                  float4 spare_v, int spare_n, float spare_x, local half *l)
{
    D spare_d = coop_mat_init(0);
    struct S spare_s;
    A a = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    B b = coop_mat_load(l, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 32);
    C acc = twice(coop_mat_init(spare_n));
    switch (spare_n) {
    case 1:
        acc = coop_mat_mulAdd(a, b, acc, 0);
        break;
    default:
        acc = twice(acc);
    }
    spare_s.c = acc;
    spare_d = spare_d * spare_x;
    coop_mat_store(r, acc, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 32);
}
"""

PROGRAMS = {
    name: _TYPES + body.replace("SPARES", _SPARES)
    for name, body in {
        "gemm": _GEMM,
        "integers": _INTEGERS,
        "objects": _OBJECTS,
        "further": _FURTHER,
        "kernel": _KERNEL,
    }.items()
}


@dataclass(frozen=True, slots=True)
class Rule:
    """The pattern and its replacements, one of which is taken; the codes that the error may have."""

    name: str
    pattern: str
    replacements: tuple[str, ...]
    codes: frozenset[str]


def _rule(name: str, pattern: str, *replacements: str, codes: str) -> Rule:
    return Rule(
        name, pattern, replacements, frozenset(f"coop-mat-{c}" if c[0] != "-" else c[1:] for c in codes.split())
    )


# Of coop_mat_map and coop_mat_build any number of arguments may be right.
_CALL = r"(?<![\w.])(coop_mat(?!_map|_build)\w+)\("
_LAYOUT = r"CLK_COOPERATIVE_MATRIX_LAYOUT_\w+"
_MUL_ADD = r"(coop_mat_mulAdd|coop_matmul_add)\((\w+), (\w+), (\w+)"
_FROM_CONTEXT = r"^(\s+)((?:[A-Z]+ )?[\w.]+) = (?=coop_mat_(?:load|init|convert)\w*\()"
_STORE = r"(coop_mat_store(?:_checked)?)\(r"
_VARIABLE = r"^(\s+)(C|A|B|AI|BI|CI|W) (?=\w+(?:\[2\])?[ ;])"
_FUNCTION = r"(?<=[ (])(larger|masked|chosen|weight)(?=[,)])"
_ONE_ELEMENT = r"one\[0\]"

RULES = (
    # The type.
    _rule(
        "component",
        r"^typedef \w+",
        "typedef bool",
        "typedef float4",
        "typedef void",
        "typedef struct S",
        codes="component -incomplete-type",
    ),
    _rule(
        "scope",
        r"CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP|memory_scope_sub_group",
        "memory_scope_device",
        "memory_scope_work_item",
        "1",
        "1.5f",
        '"SUBGROUP"',
        "CLK_COOPERATIVE_MATRIX_A",
        codes="scope",
    ),
    _rule(
        "rows",
        r"(?<=, )(\d+)(?=, \d+, CLK)",
        "0",
        "-1",
        "1048576",
        "1.5f",
        r"n\1",
        codes="shape -undeclared-identifier",
    ),
    _rule(
        "columns", r"(?<=, )(\d+)(?=, CLK)", "0", "-1", "0x100000", "2.0", r"n\1", codes="shape -undeclared-identifier"
    ),
    _rule(
        "use",
        r"CLK_COOPERATIVE_MATRIX_(?:A|B|ACCUMULATOR)(?=\))",
        "3",
        "-1",
        "1.0f",
        '"A"',
        "CLK_COOPERATIVE_MATRIX_C",
        codes="use -undeclared-identifier",
    ),
    _rule("arguments of the attribute", r"coop_mat\((\w+), ", "coop_mat(", r"coop_mat(\1, 4, ", codes="attribute"),
    _rule(
        "address space",
        _VARIABLE,
        r"\1local \2 ",
        r"\1static \2 ",
        r"\1constant \2 ",
        r"\1global \2 ",
        codes="address-space",
    ),
    _rule(
        "file scope",
        r"^struct S \{",
        "C bad; struct S {",
        "struct S { C c; }; constant struct S bad = { }; struct T {",
        codes="file-scope",
    ),
    _rule(
        "kernel parameter",
        r"^kernel void whole\(",
        "kernel void whole(C bad, ",
        "kernel void whole(C *bad, ",
        "kernel void whole(struct S bad, ",
        codes="kernel-parameter",
    ),
    # Calls.
    _rule(
        "layout",
        _LAYOUT,
        "3",
        "-1",
        "spare_n",
        "1.0f",
        '"ROW"',
        "CLK_COOPERATIVE_MATRIX_LAYOUT_DIAGONAL",
        "spare_d",
        codes="layout -undeclared-identifier",
    ),
    _rule(
        "stride",
        rf"({_LAYOUT}), (\w+)",
        r"\1, 1.5f",
        r"\1, -1",
        r"\1, spare_p",
        r"\1, spare_d",
        r"\1, spare_v",
        codes="invalid-stride",
    ),
    _rule("bounds", r", 100, 60\)", ", 1.5f, 60)", ", -1, 60)", ", 100, spare_d)", ", spare_p, 60)", codes="bounds"),
    _rule(
        "operand mask",
        r"CLK_COOPERATIVE_MATRIX_OPERAND_SATURATING_ACCUMULATION \| 13|(?<=acc, )0(?=\))",
        "32",
        "-1",
        "spare_n",
        "1.0f",
        "spare_d",
        '"SIGNED"',
        codes="operands",
    ),
    _rule("exchanged operands", _MUL_ADD, r"\1(\3, \2, \4", r"\1(\4, \3, \2", r"\1(\2, \4, \3", codes="wrong-use"),
    _rule("wrong use", _MUL_ADD, r"\1(spare_d, \3, \4", r"\1(\2, spare_d, \4", r"\1(\2, \3, \2", codes="wrong-use"),
    _rule("wrong shape", _MUL_ADD, r"\1(\2, \3, spare_d", codes="shapes mismatch"),
    _rule(
        "operand is no matrix",
        _MUL_ADD,
        r"\1(\2, spare_x, \4",
        r"\1(0, \3, \4",
        r"\1(\2, \3, spare_v",
        codes="not-a-matrix",
    ),
    _rule(
        "too few arguments",
        r"(coop_mat(?!_map|_build)\w*)\([^(),]+(?:, |(?=\)))",
        r"\1(",
        codes="-argument-count attribute",
    ),
    _rule("too many arguments", _CALL, r"\1(0, 0, ", codes="-argument-count"),
    _rule(
        "name",
        r"coop_mat_(load|store|init|mulAdd|convert|coord|length)",
        r"coop_mat_no\1",
        r"coopmat_\1_",
        codes="-undeclared-identifier",
    ),
    _rule("no context", _FROM_CONTEXT, r"\1\2; ", r"\1\2; (void)", r"\1\2; spare_x + ", codes="no-target"),
    _rule(
        "context of a scalar",
        _FROM_CONTEXT,
        *(r"\1\2; spare_x = ", r"\1\2; spare_v = ", r"\1\2; int new = ", r"\1\2; struct S new = "),
        codes="mismatch",
    ),
    _rule(
        "pointee",
        r"(coop_mat_load\w*)\([^,]+",
        r"\1(spare_p",
        r"\1(spare_n",
        r"\1(spare_d",
        r"\1(&spare_s",
        codes="pointee",
    ),
    _rule("pointee of a store", _STORE, r"\1(spare_p", r"\1(spare_v", r"\1((global half *)r", codes="pointee"),
    _rule(
        "const",
        _STORE,
        r"\1(spare_const",
        r"\1((const global float *)r",
        r"\1((constant float *)0",
        codes="const-store",
    ),
    _rule(
        "stored",
        r"(coop_mat_store(?:_checked)?\(r), [^,]+",
        r"\1, spare_x",
        r"\1, 0",
        r"\1, spare_s",
        codes="not-a-matrix",
    ),
    _rule(
        "initial value",
        r"coop_mat_init\([\w.]+\)",
        "coop_mat_init(spare_v)",
        "coop_mat_init(spare_d)",
        "coop_mat_init(spare_p)",
        codes="init",
    ),
    _rule("converted", r"coop_mat_convert(\w*)\(\w+\)", r"coop_mat_convert\1(spare_d)", codes="conversion"),
    _rule(
        "converted is no matrix", r"coop_mat_convert(\w*)\(\w+\)", r"coop_mat_convert\1(spare_x)", codes="not-a-matrix"
    ),
    _rule("length", r"coop_mat_length\(\w+\)", "coop_mat_length(x)", "coop_mat_length(float)", codes="not-a-matrix"),
    _rule(
        "coordinates",
        r"coop_mat_coord\(one, 1\)",
        "coop_mat_coord(one, spare_x)",
        "coop_mat_coord(one, -1)",
        "coop_mat_coord(one, one)",
        "coop_mat_coord(one, 512)",
        codes="index",
    ),
    # Functions as operands.
    _rule(
        "no function",
        _FUNCTION,
        r"&\1",
        "spare_x",
        "spare_n",
        "0",
        "1.5f",
        r"(\1)",
        r"n ? \1 : \1",
        codes="function -function-pointer",
    ),
    _rule(
        "another function",
        _FUNCTION,
        "spare_wide",
        "spare_signed",
        "further",
        "sin",
        "isnan",
        "get_global_id",
        codes="function-type",
    ),
    _rule(
        "kernel as a function",
        _FUNCTION,
        "spare_kernel",
        codes="function function-type",
    ),
    _rule("function with effects", r"(?<=[ (])larger(?=\))", "spare_lane", codes="function-effect"),
    _rule("function that stores", r"(?<=\()weight, spare_const(?=\))", "spare_store, r", codes="function-effect"),
    _rule(
        "argument of a function",
        r"(?<=weight, )spare_const|(?<=masked, )n",
        "spare_d",
        "spare_s",
        "n, n",
        codes="function-type mismatch -incompatible-types",
    ),
    _rule("too few arguments of a function", r"(weight|masked), \w+", r"\1", codes="function-type"),
    _rule("no arguments", r"coop_mat_(map|build)\([^)]*\)", r"coop_mat_\1()", codes="-argument-count"),
    _rule("mapped", r"coop_mat_map\(one", "coop_mat_map(spare_x", "coop_mat_map(r", codes="not-a-matrix"),
    _rule("mapped together", r"(?<=, )two(?=, chosen)", "spare_d", "spare_s.c, spare_d", codes="operand-types"),
    _rule(
        "direction",
        r"CLK_COOPERATIVE_MATRIX_REDUCE_ROW",
        "0",
        "5",
        "8",
        "-1",
        "n",
        "1.0f",
        "CLK_COOPERATIVE_MATRIX_REDUCE_2X2 | CLK_COOPERATIVE_MATRIX_REDUCE_ROW",
        codes="reduce",
    ),
    _rule("reduced shape", r"CLK_COOPERATIVE_MATRIX_REDUCE_ROW", "2", "4", codes="reduce"),
    _rule("reduced", r"(?<=coop_mat_reduce\()one", "spare_x", "r", "spare_s", codes="not-a-matrix"),
    _rule("builtin", r"(?<= )(?:fma|fmax)\(|exp\(", "dot(", "isnan(", "pown(", "fract(", codes="builtin"),
    _rule("operand of a builtin", r"1\.5f|(?<=\), )spare_x", "spare_v", "r", "spare_s", codes="builtin"),
    _rule("matrix of a builtin", r"1\.5f|(?<=\), )spare_x", "spare_d", codes="operand-types"),
    # Values.
    _rule(
        "operator",
        r"(?<=\w|\]) [-+/] (?=all\[0\]|bias|one;|m;)",
        " % ",
        " & ",
        " << ",
        " == ",
        " && ",
        " || ",
        " < ",
        codes="operator",
    ),
    _rule(
        "other operand",
        r"(?<=\w|\]) [-+/] (?:all\[0\]|bias|one|m);",
        " - (float4)(1);",
        " / (int2)(2, 3);",
        " + (global float *)0;",
        ' + "3";',
        codes="operator",
    ),
    _rule(
        "scalar operand",
        r"(?<=\w|\]) [-+/] (?:all\[0\]|bias|one|m);",
        " % 1;",
        " & 2;",
        " << 3;",
        " >= 2.0f;",
        codes="operator",
    ),
    _rule(
        "types of operands",
        r"(?<=\w|\]) [-/] (?:all\[0\]|one);",
        " - spare_d;",
        " / spare_d;",
        " * spare_d;",
        codes="operand-types",
    ),
    _rule("unary operator", r"= twice\(acc\)", "= !acc", "= ~acc", "= +acc", "= acc++", codes="operator"),
    _rule(
        "assigned",
        r"^(\s+(?:s\.c|all\[0\]|one|acc|result|spare_s\.c)) = .*;",
        r"\1 = spare_d;",
        r"\1 = spare_x;",
        r"\1 = 0;",
        r"\1 = spare_s;",
        r"\1 = &\1;",
        codes="mismatch -undeclared-identifier",
    ),
    _rule("returned", r"return (?:result|m)\b.*;", "return 0;", "return 1.5f;", "return (void *)0;", codes="mismatch"),
    _rule("argument", r"(twice|finish)\(\w+(?=[,)])", r"\1(spare_d", r"\1(1.0f", r"\1(spare_v", codes="mismatch"),
    _rule("cast", r"= \(C\)m", "= (D)m", "= (float)m", "= (A)m", "= (C)1.5f", codes="conversion"),
    _rule(
        "condition", r"if \(k > n\)", "if (acc)", "if (!acc)", "if (a && n)", "while (acc)", codes="condition operator"
    ),
    _rule("switch", r"switch \(spare_n\)", "switch (acc)", codes="condition"),
    _rule(
        "chosen",
        r"n \? one : -one",
        "one ? one : one",
        "n ? one : spare_d",
        "n ? one : spare_x",
        codes="condition operand-types",
    ),
    _rule("index", _ONE_ELEMENT, "one[1.5f]", "one[-1]", "one[one]", "one[512]", "one[spare_p]", codes="index"),
    _rule("component of a component", _ONE_ELEMENT, "one[0][0]", "one.x", codes="-not-subscriptable -no-member"),
    _rule("address", r"scale\(&all\[1\]", "scale(&all[1][0]", codes="element-address"),
    _rule("opaque", r"at\.x\)", "sizeof(one))", "sizeof(struct S))", "sizeof(C))", codes="opaque"),
)
