"""Whoever comes from another system of matrices is told what its names are called here."""

from __future__ import annotations

import pytest

from coopmat import CompileError, compile
from coopmat.frontend.builtins.matrix import BUILTINS
from coopmat.frontend.foreign_names import CONSTANTS, FUNCTIONS, TYPES

START = """
#define SG CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef float C __attribute__((coop_mat(SG, 4, 4, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
"""


def findings(body: str):
    with pytest.raises(CompileError) as caught:
        compile(f"{START}kernel void k(global float *p, int n) {{ C m; {body} }}\n")
    return caught.value.diagnostics


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_told_by_its_name_here(name):
    (item,) = findings(f"{name}(m, p, 4);")
    meant = FUNCTIONS[name]
    assert item.code == "undeclared-identifier" and meant.name in BUILTINS
    assert [note.message.split(" it is")[0] for note in item.notes] == [f"did you mean '{meant.name}'?"]
    assert [fixit.replacement for fixit in item.fixits] == ([meant.name] if meant.interchangeable else [])


def test_filling_is_not_loading():
    (item,) = findings("m = coop_mat_fill(0.0f);")
    assert [fixit.replacement for fixit in item.fixits] == ["coop_mat_init"]


def test_other_arguments_are_told_and_not_put_in():
    (item,) = findings("joint_matrix_load(n, m, p, 4);")
    assert not item.fixits and "m = coop_mat_load(p, layout, stride)" in item.notes[0].message


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_constant_can_be_put_in(name):
    (item,) = findings(f"m = coop_mat_load(p, {name}, 4);" if "LAYOUT" in CONSTANTS[name].name else f"n = {name};")
    assert [fixit.replacement for fixit in item.fixits] == [CONSTANTS[name].name]
    fixed = item.fixits[0].replacement
    if "LAYOUT" in fixed:
        compile(f"{START}kernel void k(global float *p) {{ C m = coop_mat_load(p, {fixed}, 4); }}\n")


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("arguments", ["<float, 4, 4>", ""])
def test_a_type_is_told_how_it_is_written(name, arguments):
    (item,) = findings(f"{name}{arguments} x;")
    assert item.code == "unknown-type" and f"'{name}'" in item.message and not item.fixits
    assert "__attribute__((coop_mat(scope, rows, columns, use)))" in item.notes[0].message


def test_a_qualified_name_is_told():
    (item,) = findings("wmma::fill_fragment(m, 0.0f);")
    assert item.code == "unsupported-cpp" and "did you mean 'coop_mat_init'?" in item.notes[0].message


def test_what_is_declared_is_no_foreign_name():
    compile(
        "int mma_sync(int fragment) { return fragment < 3; }\nkernel void k(global int *p) { *p = mma_sync(*p); }\n"
    )
