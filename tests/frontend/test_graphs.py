"""Walks over call graphs."""

from __future__ import annotations

from sema_support import analysed

from coopmat.frontend.calls import CallGraph
from coopmat.graphs import postorder, reachable, reaching

CALLS = {"kernel": ["f", "g"], "f": ["g", "h"], "g": ["f"], "h": [], "alone": ["h"]}


def test_functions_that_a_kernel_reaches() -> None:
    assert reachable(["kernel"], CALLS.__getitem__) == {"kernel", "f", "g", "h"}


def test_callers_of_a_function() -> None:
    assert reaching(["h"], CALLS) == set(CALLS)
    assert reaching(["alone"], CALLS) == {"alone"}


def test_callees_come_first_and_recursion_is_cut() -> None:
    assert postorder(["kernel", "alone"], CALLS.__getitem__) == ["g", "h", "f", "kernel", "alone"]


def test_functions_that_use_matrices() -> None:
    unit, diagnostics = analysed(
        """
typedef float M __attribute__((coop_mat(memory_scope_work_group, 16, 16, CLK_COOPERATIVE_MATRIX_A)));
void barriers(void) { sub_group_barrier(CLK_LOCAL_MEM_FENCE); }
void g(void);
void f(void) { g(); }
void g(void) { M m; }
void alone(void) { f(); barriers(); }
__attribute__((reqd_work_group_size(8, 1, 1))) kernel void with(void) { f(); }
kernel void without(void) { barriers(); }
kernel void missing(void) { f(); }
"""
    )
    named = {function.name: function for function in unit.functions}
    graph = CallGraph(unit)
    assert [function.name for function in graph.in_order()[:3]] == ["barriers", "g", "f"]
    assert {function.name for function in graph.in_use()} == named.keys() - {"alone"}
    assert {name for name in named if graph.uses(named[name], "of_work_groups")} == named.keys() - {
        "barriers",
        "without",
    }
    assert {name for name in named if graph.uses(named[name], "subgroups")} == {"barriers", "alone", "without"}
    assert {function.name for function in graph.users([named["barriers"]])} == {"barriers", "alone", "without"}
    # The note shows the matrix in the callee.
    (error,) = diagnostics.items
    assert (error.code, error.span.line if error.span else 0) == ("coop-mat-work-group-size", 10)
    assert error.notes[0].span is not None and error.notes[0].span.line == 6
