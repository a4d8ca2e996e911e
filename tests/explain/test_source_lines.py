"""The source lines of instructions, and of the lines of listings."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from coopmat import compiler
from coopmat.explain import lines, listing
from coopmat.explain.source import Token, find, tokens
from coopmat.spirv.module import Module

SOURCE = """\
// A function that is inlined, one that is not, and control flow.
typedef half A __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 16, CLK_COOPERATIVE_MATRIX_A)));
static int twice(int x)
{
    return x * 2;
}
__attribute__((noinline)) static int half_of(int x)
{
    return x / 2;
}
kernel void k(global int *p, global half *m, int n)
{
    A a = coop_mat_load(m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
    for (int i = 0; i < n; ++i) {
        if (p[i] > 3)
            p[i] = twice(p[i]) +
                   half_of(p[i + 1]);
        else
            p[i] = 7;
    }
    switch (n) {
    case 1:
        p[0] = 5;
        break;
    default:
        p[1] = 6;
    }
    coop_mat_store(m + 128, a, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
}
"""


@pytest.mark.parametrize("route", ["native", "one", "lanes", "scratch", "wmma:emulated"])
@pytest.mark.parametrize("flags", [(), ("-O0",), ("-cl-opt-disable",)], ids=["O1", "O0", "disabled"])
def test_instructions_have_the_lines_of_their_statements(route, flags):
    module = compiler.compile(SOURCE, ["-w", "--matrices", route, *flags], name="k.cl")
    code = Module.parse(module.spirv).instructions
    found = lines.of_binary(module, module.spirv)
    assert len(found) == len(code)
    by_name = Counter((line, item.name) for line, item in zip(found, code, strict=True))
    # Constants are stored where the source stores them, but for the 7 that optimisation makes an operand of a phi.
    constants = {i.result: i.operands[0] for i in code if i.name == "OpConstant"}
    stored = {constants.get(i.operands[1]): line for i, line in zip(code, found, strict=True) if i.name == "OpStore"}
    assert (stored[5], stored[6], stored.get(7, 19)) == (23, 26, 19), stored
    assert by_name[9, "OpSDiv"] == 1 and sum(by_name[line, "OpSDiv"] for line in range(1, 30)) == 1
    assert sum(count for (line, name), count in by_name.items() if line == 13) > 0, by_name
    assert not any(line in (1, 2) or line > 29 for line in found)


def test_places_change_no_text():
    module = compiler.compile(SOURCE, ["-w", "--matrices", "lanes"], name="k.cl")
    lowered = lines.lowered(module)
    assert lowered.text == module.llvm_ir and len(lowered.places) == lowered.text.count("\n")
    stores = [
        place.line
        for text, place in zip(lowered.text.split("\n"), lowered.places, strict=False)
        if text.strip().startswith("store i32 7") and place is not None
    ]
    assert stores == [19]


def test_lines_are_unknown_if_the_second_emission_differs(monkeypatch):
    module = compiler.compile(SOURCE, ["-w", "--matrices", "one"], name="k.cl")
    right = lines._with_markers
    monkeypatch.setattr(lines, "_with_markers", lambda text: right(text.replace("sdiv", "udiv")))
    assert lines.of_binary(module, module.spirv) == []
    monkeypatch.setattr(lines, "_with_markers", lambda text: "no module")
    assert lines.of_binary(module, module.spirv) == []


def test_other_files_have_no_lines(tmp_path):
    (tmp_path / "a.h").write_text("static int thrice(int x)\n{\n    return x * 3;\n}\n")
    text = f'#include "{tmp_path}/a.h"\nkernel void k(global int *p)\n{{\n    p[0] = thrice(p[0]) + 1;\n}}\n'
    module = compiler.compile(text, ["-w", "--matrices", "one"], name="k.cl")
    code = Module.parse(module.spirv).instructions
    found = {item.name: line for item, line in zip(code, lines.of_binary(module, module.spirv), strict=True)}
    assert found["OpStore"] == 4 and set(found.values()) <= {0, 2, 4}


def test_listing_of_c():
    text = 'head\n#line 3 "k.cl"\nint x;\n\n}\n#line 9 "<matrix library>"\nf();\n'
    text += '#line 5 "k.cl"\n{\n#line 1 "a\\\\b.h"\ny;\n'
    own, library = listing.of_c(text, "k.cl", "1\n2\n3\n4\n}\n")
    assert [(line.text, line.source) for line in own] == [
        *(("int x;", 3), ("", 0), ("}", 5), ("{", 0), ('#line 1 "a\\\\b.h"', 0), ("y;", 0)),
    ]
    assert [line.text for line in library] == ["head", "f();"]


def test_listing_of_assembly():
    text = "\n".join(
        [
            *('\t.file\t1 "kernels" "k.cl"', '\t.file\t2 "<matrix library>"', "k:", "\t.loc\t1 4 2", "\ts_add"),
            *("\t.loc\t2 9 9 ; <matrix library>:9:9 @[ kernels/k.cl:5:1 @[ kernels/k.cl:3:1 ] ]", "\tv_wmma_f32_x a"),
            *(
                "\t.loc 2 1 1",
                "\ts_sub",
                ".Ltmp3:",
                "\t.cfi_endproc",
                "\t.loc 2 7 0, function_name x, inlined_at 1 6 3",
            ),
            *("\tmma.sync.aligned.m16n8k16 x", '\t.section\t.debug_line,"",@progbits', "\tv_wmma_f32_y"),
        ]
    )
    found = listing.of_assembly(text, "kernels/k.cl")
    assert [(line.text.strip(), line.source) for line in found] == [
        *(("k:", 0), ("s_add", 4), ("v_wmma_f32_x a", 5), ("s_sub", 0), ("mma.sync.aligned.m16n8k16 x", 6)),
    ]


def test_listing_of_a_disassembly():
    assert [line.source for line in listing.of_spirv("; head\nOpA\nOpB\n", [4, 0])] == [0, 4, 0]
    assert [line.source for line in listing.of_spirv("; head\nOpA\nOpB\n", [4])] == [0, 0, 0]


def test_long_listings_are_cut():
    line = listing.Line("x" * 999)
    kept, note = listing.limited([line] * 600, "coopmat compile --emit c k.cl")
    assert len(kept) == 500 and note == "100 of 600 lines are left out: `coopmat compile --emit c k.cl` prints all."
    assert listing.limited([line], "") == ((line,), "")


KERNELS = sorted((Path(__file__).parents[2] / "kernels").glob("*.cl"))


@pytest.mark.parametrize(
    "text",
    [
        *(
            '"a//b" /* c */ // d\n',
            "/* open\n\n",
            "'\\'' x\n\"no end\n#define A \\\r\n  b\r\n// c \\\n d\ne",
            "",
            "\n\n",
        ),
        *(path.read_text() for path in KERNELS[:4]),
    ],
)
def test_tokens_are_the_source(text):
    rows: dict[int, str] = {}
    for token in tokens(text):
        assert token.column == len(rows.get(token.line, "")) + 1
        rows[token.line] = rows.get(token.line, "") + token.text
    assert [rows.get(number, "") for number, _ in enumerate(text.split("\n"), 1)] == [
        line.rstrip("\r") for line in text.split("\n")
    ]


def test_matrices_are_found_by_variable_and_by_type():
    text = SOURCE.replace("half *m", "half *m, A *q").replace("A a =", "A rows[2], a =")
    text = text.replace("global half *m, A *q", "global half *m").replace("int n)", "int n) /* A a */")
    unit = compiler.compile(text, ["-w"], name="k.cl").unit
    found = find(unit, "k.cl", text)
    names = [(t.text, t.line, [m.name for m in found.of(t)]) for t in tokens(text) if found.of(t)]
    assert [(word, line) for word, line, _ in names] == [("A", 2), ("A", 13), ("rows", 13), ("a", 13), ("a", 28)]
    assert {name for _, _, types in names for name in types} == {"8x16.A.f16"}
    assert found.of(Token("a", "comment", 12, 1)) == [] and found.multiply_adds == []
    assert replace(found, names={}).of(Token("a", "word", 28, 29)) == []
