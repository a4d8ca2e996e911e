"""Units after the passes: what is left of matrices, what is shared with the unit before, what the verifier finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from coopmat.compiler import compile as compile_source
from coopmat.compiler.from_source import library
from coopmat.diagnostics import CompileError, InternalError
from coopmat.frontend import typed
from coopmat.frontend.nodes import walk
from coopmat.frontend.typed_dump import dump
from coopmat.frontend.types import FLOAT, INT, PLAIN, CoopMatrixType
from coopmat.matrices.routes import LISTED_ROUTES, LOWERED_ROUTES
from coopmat.matrix_types.lowering import MatrixTypes
from coopmat.passes import Report, run
from coopmat.passes.matrices import Matrices
from coopmat.passes.native_calls import NativeMatrices
from coopmat.passes.small_floats import SmallFloats
from coopmat.passes.verify import check, complete
from coopmat.passes.verify.rules import RULES

SOURCE = """
#define S CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
typedef float C __attribute__((coop_mat(S, 4, 4, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
typedef float M __attribute__((matrix_type(2, 3)));
struct both { int n; C m; };
int plain(int x) { return x + 1; }
C doubled(C m) { return m + m; }
kernel void k(global float *p, global M *a, global bfloat16 *h, int n)
{
    struct both b = { plain(n), coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 4) };
    C *at = &b.m;
    for (int i = 0; i < n; i++)
        *at = doubled(b.m) * 0.5f - -*at;
    b.m[1] += sub_group_any(n) ? 2 : 1;
    coop_mat_store(p, b.m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 4);
    a[1] = a[0] + a[0];
    (*h)++;
}
"""


def _unit(source: str = SOURCE) -> typed.Unit:
    return compile_source(source, ["-Wno-all"]).unit


def _lowered(route: str = "one") -> typed.Unit:
    passes = [Matrices(LOWERED_ROUTES[route], library), MatrixTypes(library), SmallFloats(library)]
    return run(_unit(), passes, Report(), verify=True)


def _function(unit: typed.Unit, name: str) -> typed.FunctionDecl:
    return next(f for f in unit.functions if f.name == name)


@pytest.mark.parametrize("route", sorted(LISTED_ROUTES[1:]))
def test_nothing_is_left_of_matrices(route: str) -> None:
    unit = _lowered(route)
    nodes = [node for f in unit.functions for node in walk(*f.parameters, f.body)]
    assert not any("Matrix" in type(node).__name__ for node in nodes)
    assert not any(isinstance(node, typed.IncDec) and node.type.name == "bfloat16" for node in nodes)
    assert _function(unit, "k").info is not None
    assert {record.name for record in unit.records} >= {"both", "cm_float_4x4_accumulator", "cm_float_2x3"}


def test_units_are_left_as_they_are() -> None:
    unit = _unit()
    before = dump(unit)
    plain = _function(unit, "plain")
    after = run(unit, [Matrices(LOWERED_ROUTES["one"], library)], Report(), verify=True)
    assert dump(unit) == before
    assert _function(after, "plain") is plain and _function(after, "doubled") is not _function(unit, "doubled")


def test_results_go_straight_to_variables() -> None:
    body = "{ C m = coop_mat_load(p, 0, 4); m = m + m; coop_mat_store(p, m, 0, 4); }"
    source = SOURCE[: SOURCE.index("typedef float M")] + f"kernel void k(global float *p) {body}"
    unit = run(_unit(source), [Matrices(LOWERED_ROUTES["one"], library)], Report(), verify=True)
    declared = [node.name for node in walk(_function(unit, "k").body) if isinstance(node, typed.VarDecl)]
    assert declared == ["m"]


def test_kernels_of_other_subgroups_get_functions_of_their_own() -> None:
    kernel = "{} kernel void k{}(global float *p) {{ coop_mat_store(p, doubled(coop_mat_init(1)), 0, 4); }}"
    sizes = [f"__attribute__((intel_reqd_sub_group_size({n})))" for n in (8, 16, 8)]
    head = SOURCE[: SOURCE.index("typedef float M")] + "C doubled(C m) { return m + m; }"
    source = head + "".join(kernel.format(size, n) for n, size in enumerate(sizes))
    unit = run(_unit(source), [Matrices(LOWERED_ROUTES["lanes"], library)], Report(), verify=True)
    assert [f.name for f in unit.functions].count("doubled") == 2


def test_kernels_that_call_kernels_call_those_of_the_new_unit() -> None:
    source = "kernel void a(global int *x) { *x = 1; } kernel void b(global int *x) { a(x); }"
    for made in (Matrices(LOWERED_ROUTES["one"], library), NativeMatrices(library)):
        unit = run(_unit(source), [made], Report(), verify=True)
        (call,) = (node for node in walk(_function(unit, "b").body) if isinstance(node, typed.Call))
        assert call.function is _function(unit, "a")


def test_accesses_that_are_staged_are_calls_of_functions_on_native_matrices() -> None:
    source = SOURCE.replace("coop_mat_load(p, ", "coop_mat_load_checked(p, ").replace(
        "MAJOR, 4) };", "MAJOR, 4, 0, 0, 3, 3) };"
    )
    unit = run(_unit(source), [NativeMatrices(library)], Report(), verify=True)
    assert [f.name for f in unit.functions if f.span.file == "<matrix library>"] == [
        "coop_mat_load_4x4_C_f32_global_rowm"
    ]
    assert any(decl.name == "coop_mat_tiles.16.float" for decl in unit.variables)


def test_sizes_that_are_at_odds_are_an_error_at_the_kernel() -> None:
    unit = _unit(SOURCE.replace("kernel void", "__attribute__((intel_reqd_sub_group_size(8))) kernel void"))
    with pytest.raises(CompileError) as caught:
        run(unit, [Matrices(LOWERED_ROUTES["lanes"], library, size_option=16)], Report())
    (item,) = caught.value.diagnostics
    assert item.code == "not-supported" and item.span is not None and item.span.line == 8


# --- the verifier ----------------------------------------------------------------------------------


def _first(unit: typed.Unit, kind: type) -> typed.Expr:
    return next(node for node in walk(_function(unit, "k").body) if isinstance(node, kind))


def _retype(unit: typed.Unit) -> None:
    _first(unit, typed.Load).type = FLOAT if _first(unit, typed.Load).type == INT else INT


def _unknown_variable(unit: typed.Unit) -> None:
    reference = _first(unit, typed.VarRef)
    assert isinstance(reference, typed.VarRef)
    reference.decl = typed.VarDecl(reference.span, "stranger", reference.type, PLAIN, "automatic")


def _unknown_function(unit: typed.Unit) -> None:
    call = _first(unit, typed.Call)
    assert isinstance(call, typed.Call)
    head = call.function
    call.function = typed.FunctionDecl(head.span, "stranger", head.type, head.parameters, False, False)


def _no_place(unit: typed.Unit) -> None:
    change = _first(unit, typed.IncDec)
    assert isinstance(change, typed.IncDec)
    change.target = typed.IntConst(change.span, change.type, 1)  # type: ignore[assignment]


def _too_few_arguments(unit: typed.Unit) -> None:
    call = _first(unit, typed.Call)
    assert isinstance(call, typed.Call)
    call.arguments = []


def _read_only(unit: typed.Unit) -> None:
    change = _first(unit, typed.IncDec)
    assert isinstance(change, typed.IncDec)
    change.target.place = replace(change.target.place, const=True)


def _object_for_value(unit: typed.Unit) -> None:
    comparison = _first(unit, typed.Binary)
    assert isinstance(comparison, typed.Binary) and isinstance(comparison.left, typed.Load)
    comparison.left = comparison.left.operand


def _too_large(unit: typed.Unit) -> None:
    constant = _first(unit, typed.IntConst)
    assert isinstance(constant, typed.IntConst)
    constant.value = 1 << 70


def _jump_out(unit: typed.Unit) -> None:
    body = _function(unit, "k").body
    assert body is not None
    body.items.append(typed.Break(body.span))


def _result_of_kernel(unit: typed.Unit) -> None:
    body = _function(unit, "k").body
    assert body is not None
    body.items.append(typed.Return(body.span, typed.IntConst(body.span, INT, 0)))


FAULTS: list[tuple[Callable[[typed.Unit], None], str]] = [
    (_retype, "wrong types"),
    (_unknown_variable, "'stranger', which is not declared"),
    (_unknown_function, "'stranger', which is not in the unit"),
    (_no_place, "IncDec in 'k' has operands of wrong types"),
    (_too_few_arguments, "Call in 'k' has operands of wrong types"),
    (_read_only, "IncDec in 'k' has operands of wrong types"),
    (_object_for_value, "Binary in 'k' has operands of wrong types"),
    (_too_large, "IntConst in 'k' has operands of wrong types"),
    (_jump_out, "Break in 'k' is misplaced"),
    (_result_of_kernel, "Return in 'k' returns a wrong type"),
]


@pytest.mark.parametrize(("spoil", "message"), FAULTS)
def test_the_verifier_finds_faults(spoil: Callable[[typed.Unit], None], message: str) -> None:
    unit = _unit()
    check(unit, "analysis")
    spoil(unit)
    with pytest.raises(InternalError) as caught:
        check(unit, "analysis")
    assert message in str(caught.value)


def test_the_verifier_finds_types_that_should_be_gone() -> None:
    with pytest.raises(InternalError, match=r"coop_mat.*is still there"):
        check(_unit(), "analysis", (CoopMatrixType,))


def test_a_class_without_a_rule_is_an_error() -> None:
    rules = {kind: rule for kind, rule in RULES.items() if kind is not typed.MatrixReduce}
    with pytest.raises(TypeError, match="MatrixReduce"):
        complete(rules)
