"""What the lowered text says: spellings that the backend relies on, metadata, attributes, limits."""

from __future__ import annotations

import re
import sys

import pytest
from ir_support import lower_source, lower_unit, unit_of

from coopmat.compiler import from_source
from coopmat.diagnostics import CompileError, Span
from coopmat.frontend import typed
from coopmat.frontend.types import INT, PLAIN, AddressSpace, FunctionType, PointerType, Qualifiers
from coopmat.ir import LowerOptions
from coopmat.ir.lower import lower

HERE = Span("<test>", 1, 1, 1, 1)
MATRICES = """
#define S CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
typedef half __attribute__((coop_mat(S, 16, 8, CLK_COOPERATIVE_MATRIX_A))) A;
typedef half __attribute__((coop_mat(S, 8, 16, CLK_COOPERATIVE_MATRIX_B))) B;
typedef float __attribute__((coop_mat(S, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR))) C;
typedef int __attribute__((coop_mat(S, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR))) I;
typedef uint __attribute__((coop_mat(S, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR))) U;
"""
GEMM = (
    MATRICES
    + """
kernel void gemm(const global half *a, const global half *b, global float *c, int k_size, int n) {
    C sum = coop_mat_init(0.0f);
    for (int k = 0; k < k_size; k += 8) {
        A x = coop_mat_load(a + k, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, k_size);
        B y = coop_mat_load(b + k * n, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, n);
        sum = coop_mat_mulAdd(x, y, sum);
    }
    coop_mat_store(c, sum, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, n);
}
"""
)


def _matrix(component: str, rows: int, columns: int, use: int) -> str:
    return f'target("spirv.CooperativeMatrixKHR", {component}, 3, {rows}, {columns}, {use})'


def test_canonical_gemm() -> None:
    module = lower_source(GEMM)
    a, b, c = _matrix("half", 16, 8, 0), _matrix("half", 8, 16, 1), _matrix("float", 16, 16, 2)
    load = "_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1Dhilu"
    declared = [re.sub(r' %"[.\d]+"', "", line) for line in module.text.splitlines() if line.startswith("declare")]
    assert [line.replace(" convergent nounwind", "").replace("declare spir_func ", "") for line in declared] == [
        f'{c} @"_Z26__spirv_CompositeConstruct_mf16x16C"(float)',
        f'{a} @"{load}8mDh16x8A"(ptr addrspace(1), i32, i64)',
        f'{b} @"{load}8mDh8x16B"(ptr addrspace(1), i32, i64)',
        f'{c} @"_Z34__spirv_CooperativeMatrixMulAddKHR_mDh16x8A_mDh8x16B_mf16x16C"({a}, {b}, {c}, i32)',
        f'void @"_Z33__spirv_CooperativeMatrixStoreKHRPU3AS1fu8mf16x16Cil"(ptr addrspace(1), {c}, i32, i64)',
    ]
    assert module.passes == "sroa"
    assert module.extensions == ("SPV_KHR_cooperative_matrix",)
    assert module.kernels[0].uses_matrices
    assert "select" not in module.text
    assert "lifetime" not in module.text


def test_placeholders() -> None:
    source = """
kernel void k(global float *c, global int *d, float s) {
    C m = coop_mat_load(c, 0, 16), n = m;
    m = -(m + n) * s - n / m;
    m[3] = m[1] + coop_mat_length(m);
    I i = (I)m; U u = (U)i; C f = (C)u;
    i = -i / i; u = u / u; i *= 2;
    coop_mat_store(c, f, 0, 16); coop_mat_store(d, i, 0, 16); coop_mat_store((global uint *)d, u, 0, 16);
}
"""
    text = lower_source(MATRICES + source).text
    called = set(re.findall(r'call [^@]*@"(\w+)"', text))
    names = {name.split("__spirv_")[-1] for name in called}
    assert names >= {
        *(f"{op}_mf16x16C" for op in ("FAdd", "FNegate", "FMul", "FSub", "FDiv")),
        *("SNegate_mi16x16C", "SDiv_mi16x16C", "UDiv_mj16x16C", "IMul_mi16x16C"),
        *("ConvertFToS_mf16x16C_mi16x16C", "ConvertUToF_mj16x16C_mf16x16C"),
        *("CooperativeMatrixLengthKHR_mf16x16C", "__cm_get_mf16x16C", "__cm_set_mf16x16C"),
    }
    # SPIR-V's integers have no sign: from int to uint there is nothing to convert.
    assert not any("SConvert" in name or "UConvert" in name or "Bitcast" in name for name in names)
    for name in called:
        length, rest = re.fullmatch(r"_Z(\d+)(\w+)", name).groups() if name.startswith("_Z") else ("0", name)
        assert rest[: int(length)] == rest.split("_m")[0] or "KHRP" in rest or not name.startswith("_Z")


def test_matrices_in_records_and_functions() -> None:
    source = """
typedef struct { int tag; C m; C two[2]; } T;
C twice(C m) { return m + m; }
T wrap(C m) { T t; t.m = m; t.two[1] = twice(m); return t; }
void bump(C *m) { *m = *m + *m; }
kernel void k(global float *c, int n) {
    C m = coop_mat_load(c, 0, 16);
    T t = wrap(m), u = t;
    bump(&u.two[0]);
    C r = n ? u.m : t.two[1];
    coop_mat_store(c, r, 0, 16);
}
"""
    text = lower_source(MATRICES + source).text
    matrix = _matrix("float", 16, 16, 2)
    assert f'define internal spir_func {matrix} @"twice"({matrix} %"m")' in text
    assert re.search(r'define internal spir_func void @"wrap"\(ptr sret\(%"struct\.\w+"\) align 8 %"result"', text)
    assert f'@"bump"(ptr byref({matrix}) align 8 %"m")' in text
    assert "memcpy" not in text
    assert f"phi  {matrix}" in text


@pytest.mark.parametrize(
    ("route", "size", "storage"), [("one", 1, 256), ("lanes", 16, 16), ("lanes", 8, 32), ("scratch", 4, 64)]
)
def test_by_reference(route: str, size: int, storage: int) -> None:
    asked: list[str] = []

    def library(text: str) -> typed.Unit:
        asked.append(text)
        return from_source.library(text)

    options = LowerOptions(matrices=route)
    module = lower_unit(unit_of(GEMM), options, library, size if route != "one" else None)
    assert "target(" not in module.text
    assert "__spirv_CooperativeMatrix" not in module.text
    assert module.passes == "O1"
    assert module.extensions == ()
    assert module.kernels[0].sub_group_size == size
    assert len(asked) == 1
    defined = re.findall(r'define internal spir_func void @"(cm_\w+)"[^{\n]*alwaysinline', module.text)
    assert sorted(defined) == sorted(re.findall(r"CM_NAME (\w+)", asked[0]))
    # By `one` A is converted in vectors before it is multiplied.
    assert len(defined) == (7 if route == "one" else 5)
    width = storage // int(re.search(r'%"struct.cm_float_16x16_accumulator" = type {\[(\d+) x', module.text)[1])
    assert width == (16 if route == "one" else 1)
    if route != "lanes":
        assert "sub_group_size" not in module.text
    else:
        node = re.search(r"!intel_reqd_sub_group_size !(\d+)", module.text)
        assert node and f"!{node[1]} = !{{ i32 {size} }}" in module.text


def test_functions_with_matrices_are_inlined_by_reference() -> None:
    source = "C f(C m) { return m; } int g(int x) { return x; }"
    kernel = "kernel void k(global float *c) { C m = f((C)coop_mat_init(1.0f)); coop_mat_store(c, m, 0, g(16)); }"
    text = lower_source(f"{MATRICES}{source}{kernel}", matrices="one").text
    assert re.search(r'@"f"\(ptr sret\(.*alwaysinline', text)
    assert not re.search(r'@"g"\(.*alwaysinline', text)


def test_subgroup_functions_of_one() -> None:
    source = "kernel void k(global float4 *x) { x[get_sub_group_size()] = sub_group_broadcast(x[0], 3); }"
    # Without matrices subgroups stay the device's.
    assert "cm_" not in lower_source(source, matrices="one").text
    text = lower_source(f"{MATRICES} kernel void m() {{ C m = coop_mat_init(1.0f); }} {source}", matrices="one").text
    assert "cm_get_sub_group_size" in text
    assert "sub_group_broadcast" in lower_source(source).text
    assert "_Z19sub_group_broadcast" not in text


def test_only_kernels_with_matrices_are_given_a_subgroup_size() -> None:
    source = f"""{MATRICES} kernel void plain(global int *x) {{ x[0] = get_sub_group_size(); }}
    kernel void matrix(global float *c) {{ C m = coop_mat_init(1.0f); coop_mat_store(c, m, 0, 16); }}"""
    lanes = lower_source(source, matrices="lanes")
    assert {kernel.name: kernel.sub_group_size for kernel in lanes.kernels} == {"plain": None, "matrix": 16}
    assert lanes.text.count("!intel_reqd_sub_group_size") == 1


def test_kernel_metadata() -> None:
    source = """
typedef struct { int a; float3 b; } P;
__attribute__((reqd_work_group_size(8, 4, 2))) __attribute__((work_group_size_hint(1, 2, 3)))
__attribute__((vec_type_hint(uint4))) __attribute__((intel_reqd_sub_group_size(8)))
kernel void k(global const uint4 *x, P p, short s, local double *l) { local int tile[4]; tile[s] = p.a; }
"""
    module = lower_source(source)
    head = next(line for line in module.text.splitlines() if line.startswith("define spir_kernel"))
    assert 'ptr byval(%"struct.anon") align 16 %"p", i16 %"s", ptr addrspace(3) %"l"' in head
    nodes = dict(re.findall(r"^(!\d+) = !\{ (.*) \}$", module.text, re.MULTILINE))
    attached = {name: nodes[node] for name, node in re.findall(r"!(\w+) (!\d+)", head)}
    assert attached == {
        "reqd_work_group_size": "i32 8, i32 4, i32 2",
        "work_group_size_hint": "i32 1, i32 2, i32 3",
        "vec_type_hint": "<4 x i32> undef, i32 0",
        "intel_reqd_sub_group_size": "i32 8",
    }
    assert '@"k.tile" = internal addrspace(3) global [4 x i32] undef, align 4' in module.text
    info = module.kernels[0]
    assert (info.reqd_work_group_size, info.sub_group_size, info.uses_matrices) == ((8, 4, 2), 8, False)
    parameters = [(p.name, p.address_space, p.scalar, p.is_pointer, p.size) for p in info.parameters]
    assert parameters == [
        ("x", "global", "uint", True, 8),
        ("p", "private", None, False, 32),
        ("s", "private", "short", False, 2),
        ("l", "local", "double", True, 8),
    ]


def test_loop_metadata() -> None:
    hints = ["", "(1)", "(4)"]
    loops = "".join(f"__attribute__((opencl_unroll_hint{h})) for (int i = 0; i < 8; ++i) x[i]++;" for h in hints)
    text = lower_source(f"kernel void k(global int *x) {{ {loops} }}").text
    nodes = re.findall(r"!llvm\.loop !(\d+)", text)
    hinted = [re.search(rf"^!{n} = distinct !{{ !{n}, !(\d+) }}", text, re.MULTILINE)[1] for n in nodes]
    told = [re.search(rf"^!{h} = !{{ (.*) }}", text, re.MULTILINE)[1] for h in hinted]
    assert told == ['!"llvm.loop.unroll.full"', '!"llvm.loop.unroll.disable"', '!"llvm.loop.unroll.count", i32 4']


@pytest.mark.parametrize(
    ("options", "spelled"),
    [
        ({}, "fadd float"),
        ({"float_flags": ("contract",)}, "fadd contract float"),
        ({"float_flags": ("fast",)}, "fadd fast float"),
    ],
)
def test_floating_point_flags(options: dict[str, bool], spelled: str) -> None:
    text = lower_source("kernel void k(global float *x) { x[0] = x[1] * x[2] + x[3]; }", **options).text
    assert spelled in text
    assert "!opencl.enable.FP_CONTRACT" in text
    assert re.search(r"!opencl\.ocl\.version = !{ (!\d+) }", text)


def test_conditions_stay_one_bit() -> None:
    text = lower_source(
        "kernel void k(global int *x, float f) { if (x[0] < 3 && !(f > 0.5f || !x[1])) x[2] = 1; }"
    ).text
    assert "zext" not in text
    assert text.count("icmp") == 2


def test_entry_block_holds_all_variables() -> None:
    text = lower_source(
        "kernel void k(global int *x) { for (int i = 0; i < 4; ++i) { int t[3] = {i}; x[i] = t[1]; } }"
    ).text
    body = text[text.index("entry:") :]
    assert body.rindex("alloca") < body.index("store")


def test_kernel_called_as_a_function() -> None:
    text = lower_source("kernel void a(global int *x) { x[0] = 1; } kernel void b(global int *x) { a(x); }").text
    assert re.search(r'define internal spir_func void @"a\.1"', text)
    assert re.search(r'call spir_func void @"a\.1"', text)


def test_other_work_items_components_are_left_alone() -> None:
    text = lower_source("kernel void k(global float4 *x) { x[0].y = 1.0f; }").text
    assert "store <4 x float>" not in text
    assert re.search(r"store float 1\.0, ptr addrspace\(1\) %\S+, align 4", text)


def test_packed_access_alignment() -> None:
    source = "typedef struct __attribute__((packed)) { char c; int i; } P; kernel void k(global P *p) { p->i = 1; }"
    assert re.search(r"store i32 1, ptr addrspace\(1\) %\S+, align 1$", lower_source(source).text, re.MULTILINE)


def test_declared_only() -> None:
    with pytest.raises(CompileError, match="undefined-function"):
        lower_source("int f(int); kernel void k(global int *x) { x[0] = f(1); }")


@pytest.mark.parametrize(
    ("pointer", "address"),
    [
        ("global int *p = &x;", '@"x"'),
        ("global int *p = &pairs[0].a;", '@"pairs"'),
        ("global int *p = table;", '@"table"'),
        ("global void *p = (global char *)&x;", '@"x"'),
        ("global int *p = 0;", "null"),
    ],
)
def test_addresses_of_variables_in_initialisers(pointer: str, address: str) -> None:
    declared = "global int x; int table[4]; struct { int a, b; } pairs[2];"
    text = lower_source(f"{declared} {pointer} kernel void k(global int *o) {{ o[0] = p == 0; }}").text
    assert f'@"p" = internal addrspace(1) global ptr addrspace(1) {address}' in text


def test_addresses_of_static_variables_of_functions() -> None:
    text = lower_source("kernel void k(global int *o) { static int n = 5; static global int *p = &n; o[0] = *p; }").text
    assert re.search(r'@"p" = internal addrspace\(1\) global ptr addrspace\(1\) @"n"', text)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("global int x; int *p = &x;", "generic pointers in initialisers are not supported"),
        ("int x[4]; global int *p = &x[2];", "addresses of elements or members other than the first in initialisers"),
        ("struct { int a, b; } x; global int *p = &x.b;", "addresses of elements or members other than the first"),
    ],
)
def test_addresses_that_are_refused(source: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        lower_source(f"{source} kernel void k(global int *o) {{ o[0] = p == 0; }}")


def test_addresses_in_aggregates_are_refused() -> None:
    objects = "constant int t[2] = {1, 2}; constant int *constant p[2] = {t, t};"
    with pytest.raises(CompileError, match="not-supported"):
        lower_source(objects + "kernel void k(global int *x) { x[0] = *p[x[1]]; }")


def test_unknown_route() -> None:
    with pytest.raises(ValueError, match="unknown lowering"):
        LowerOptions(matrices="both")


def test_long_chains() -> None:
    """20,000 terms, and chains of every other kind that is walked rather than recursed on."""
    count = 20_000
    one = typed.IntConst(HERE, INT, 1)
    decl = typed.VarDecl(HERE, "x", INT, PLAIN, "parameter")
    x = typed.Load(HERE, INT, typed.VarRef(HERE, INT, PLAIN, decl))
    total: typed.Expr = x
    truth: typed.Expr = x
    negated: typed.Expr = x
    choice: typed.Expr = one
    otherwise: typed.Stmt | None = None
    for _ in range(count):
        total = typed.Binary(HERE, INT, "add", total, x)
    for _ in range(count // 10):
        truth = typed.Logical(HERE, INT, "land", truth, x)
        negated = typed.Unary(HERE, INT, "neg", negated)
        choice = typed.Conditional(HERE, INT, x, one, choice)
        otherwise = typed.If(HERE, x, typed.ExprStmt(HERE, one), otherwise)
    assert otherwise is not None
    sums = typed.Binary(HERE, INT, "add", typed.Binary(HERE, INT, "add", total, negated), choice)
    body = typed.Block(
        HERE, [otherwise, typed.If(HERE, truth, typed.ExprStmt(HERE, sums), None), typed.Return(HERE, sums)]
    )
    function = typed.FunctionDecl(HERE, "f", FunctionType(INT, (INT,)), [decl], False, False, body=body)
    assert count // 10 > sys.getrecursionlimit()
    text = lower(typed.Unit([function], [], []), LowerOptions()).text
    assert text.count(" = add nsw i32") == 2 * (count + 2)


def test_restrict_pointers() -> None:
    text = lower_source("kernel void k(global int *restrict x, global int *y) { x[0] = y[0]; }").text
    assert 'k"(ptr addrspace(1) noalias %"x", ptr addrspace(1) %"y")' in text


def test_program_scope_variables_and_address_spaces() -> None:
    """Of which the front end makes none yet."""
    place = Qualifiers(AddressSpace.GLOBAL)
    counter = typed.VarDecl(HERE, "counter", INT, place, "static", typed.IntConst(HERE, INT, 3))
    unset = typed.VarDecl(HERE, "unset", INT, place, "static")
    generic = Qualifiers(AddressSpace.GENERIC)

    def value(decl: typed.VarDecl) -> typed.Expr:
        address = typed.AddressOf(HERE, PointerType(INT, place), typed.VarRef(HERE, INT, place, decl))
        cast = typed.Convert(HERE, PointerType(INT, generic), typed.ConvertKind.ADDRESS_SPACE, address)
        return typed.Load(HERE, INT, typed.Deref(HERE, INT, generic, cast))

    total = typed.Binary(HERE, INT, "add", value(counter), value(unset))
    body = typed.Block(HERE, [typed.Return(HERE, total)])
    function = typed.FunctionDecl(HERE, "f", FunctionType(INT, ()), [], False, False, body=body)
    text = lower(typed.Unit([function], [counter, unset], []), LowerOptions()).text
    assert '@"counter" = internal addrspace(1) global i32 3, align 4' in text
    assert '@"unset" = internal addrspace(1) global i32 0, align 4' in text
    assert 'addrspacecast ptr addrspace(1) @"counter" to ptr addrspace(4)' in text
    assert re.search(r"load i32, ptr addrspace\(4\) %\S+, align 4", text)
