"""Whoever comes from another system of matrices is told what its names are called here."""

from __future__ import annotations

import pytest

from coopmat import CompileError, compile
from coopmat.frontend.builtins.matrix import BUILTINS
from coopmat.frontend.foreign_names import ABBREVIATIONS, CONSTANTS, FUNCTIONS, NAMES, QUALIFIERS, TYPES, WORK_ITEMS

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


@pytest.mark.parametrize("name", [*CONSTANTS, *ABBREVIATIONS])
def test_a_constant_can_be_put_in(name):
    (item,) = findings(f"m = coop_mat_load(p, {name}, 4);" if "LAYOUT" in NAMES[name].name else f"n = {name};")
    assert [fixit.replacement for fixit in item.fixits] == [NAMES[name].name]
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


@pytest.mark.parametrize("name", WORK_ITEMS)
def test_words_of_work_items(name):
    """The message has the call that replaces the name, and the call compiles."""
    call = "()" * name.startswith(("__", "Group"))
    (item,) = findings(f"n = {name}{call or '.x'};" if not call else f"{name}{call};")
    written = WORK_ITEMS[name].form.split(",")[0]
    assert item.code == "undeclared-identifier" and f"it is written: {written}" in item.notes[0].message
    compile(f"kernel void k(global int *p) {{ {written}; }}")


@pytest.mark.parametrize("name", QUALIFIERS)
def test_qualifiers_of_other_languages(name):
    """A foreign qualifier is one error at each place, and the declaration is compiled without the qualifier."""
    with pytest.raises(CompileError) as caught:
        compile(f"{name} int f(int x) {{ {name} float a[3], b; const {name} int c; {name} int d; return x + d + e; }}")
    *qualifiers, last = caught.value.diagnostics
    assert [item.message for item in qualifiers] == [f"unknown qualifier '{name}'"] * 4
    assert last.message == "'e' is not declared"
    ours = QUALIFIERS[name].name
    assert [fixit.replacement for item in qualifiers for fixit in item.fixits] == [ours] * 4 * bool(ours)


MEMBER = "OpenCL C has no member functions such as '{}': only a function can be called, by its name"
SUBSCRIPT = "a cooperative matrix has one subscript: the number of a component that the work-item holds"


@pytest.mark.parametrize(
    ("body", "message", "note", "fixes"),
    [
        ("n = m.length();", MEMBER.format("length"), "did you mean 'coop_mat_length'?", ["coop_mat_length(m)"]),
        ("m.coopMatLoad(3);", MEMBER.format("coopMatLoad"), "did you mean 'coop_mat_load'?", []),
        ("m[0][1] = 1;", SUBSCRIPT, "'coop_mat_coord(m, i)' is the row and the column of component i", []),
        ("n = K;", "'K' is not declared", "if 'K' is a macro, the option -DK=VALUE defines it", []),
        (
            "for (int k = 0; k < K; k++) n++;",
            "'K' is not declared",
            "if 'K' is a macro, the option -DK=VALUE defines it",
            [],
        ),
        ("int TILE_M; n = TILE_N;", "'TILE_N' is not declared", "did you mean 'TILE_M'?", ["TILE_M"]),
        (
            "auto w = n;",
            "'auto' does not deduce types in OpenCL C: 'w' is declared without a type",
            None,
            [],
        ),
    ],
)
def test_what_other_languages_have(body, message, note, fixes):
    (item,) = findings(body)
    assert item.message == message and [fixit.replacement for fixit in item.fixits] == fixes
    assert [n.message.partition(" it is")[0] for n in item.notes] == ([note] if note else [])


def test_a_product_of_a_and_b_is_no_operator():
    source = START + "".join(
        f"typedef half {use} __attribute__((coop_mat(SG, 4, 4, CLK_COOPERATIVE_MATRIX_{use})));\n" for use in "AB"
    )
    with pytest.raises(CompileError) as caught:
        compile(f"{source}kernel void k(void) {{ A a = coop_mat_init(0); B b = coop_mat_init(0); C c = (C)(a * b); }}")
    (item,) = caught.value.diagnostics
    message = "'*' multiplies component by component; the matrix product is 'coop_mat_mulAdd'"
    assert [note.message for note in item.notes] == [message]
