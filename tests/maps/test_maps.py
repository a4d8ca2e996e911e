"""Maps of matrices as data, text, SVG, PNG and HTML, and the command that draws them."""

from __future__ import annotations

import json
import os
import re
from importlib.util import find_spec
from xml.dom import minidom

import pytest
from command_server import shared_server

from coopmat.maps import MapError, lane_map, multiply_add_map, register
from coopmat.matrices.routes import LISTED_ROUTES
from coopmat.matrices.supported import parse_variants

ROUTES = [route for route in LISTED_ROUTES if route != "native"]
SOURCE = b"""\
// run: kernel=k global=(sg) local=(sg) -DK=16 p=f16[16,16]:zeros
#define MATRIX(rows, columns, use) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, use)))
typedef half A MATRIX(16, K, CLK_COOPERATIVE_MATRIX_A);
typedef half B MATRIX(K, 16, CLK_COOPERATIVE_MATRIX_B);
typedef float C MATRIX(16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR);
__attribute__((intel_reqd_sub_group_size(8))) kernel void k(global half *p)
{
    A a = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
    B b = coop_mat_init(1);
    C c = coop_mat_mulAdd(a, b, (C)coop_mat_init(0));
}
"""


@pytest.fixture
def coopmat(tmp_path):
    (tmp_path / "k.cl").write_bytes(SOURCE)

    def run(*arguments: str):
        return shared_server().run(["map", *arguments], b"", tmp_path, dict(os.environ))

    run.place = tmp_path
    return run


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", ["16x16.A.f16", "8x24.B.s8", "5x7.C.f32"])
def test_every_component_has_its_places(route: str, name: str) -> None:
    made = lane_map(name, route)
    layout, matrix = made.lane_layout, made.matrix
    assert sorted(made.holders) == [(r, c) for r in range(matrix.rows) for c in range(matrix.columns)]
    assert {len(holders) for holders in made.holders.values()} == {layout.copies}
    for (row, column), holders in made.holders.items():
        assert layout.holder(row, column) == holders[0]
    assert made.to_json()[0] == dict(zip(("lane", "slot", "row", "column"), made.places[0], strict=True))


def test_registers_are_those_of_the_instruction() -> None:
    made = lane_map("16x16.A.f16", "mma")
    assert made.register_bits == 32 and [made.register(slot) for slot in range(8)] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert lane_map("16x16.A.f16", "lanes").register(3) is None
    assert "registers of 32 bits, each component in 2 lanes" in lane_map("16x16.A.f16", "wmma@gfx11").title


def test_text_has_a_cell_for_each_component() -> None:
    text = lane_map("4x4.A.s32", "lanes", 2).text()
    rows = [line.split() for line in text.splitlines()[3:]]
    assert rows[2] == ["2", "0:2", "1:2", "0:6", "1:6"]
    colored = lane_map("4x4.A.s32", "lanes", 2).text(color=True)
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == text and len(set(re.findall(r"5;(\d+)m", colored))) == 2
    narrow = lane_map("4x40.A.s32").text(width=60)
    assert max(map(len, narrow.splitlines()[1:])) <= 60 and narrow.count(" 39") == 1


def test_svg_has_tooltips_and_borders_of_tiles() -> None:
    made = multiply_add_map("32x16.A.f16", "16x16.B.f16", "32x16.C.f32", "mma")
    page = minidom.parseString(made.svg())
    tips = [node.firstChild.data for node in page.getElementsByTagName("title")]
    assert "row 8, column 1: lane 0, slot 3, register 1" in tips and len(tips) == 1 + 32 * 16 + 16 * 16 + 32 * 16
    borders = [node for node in page.getElementsByTagName("rect") if node.getAttribute("stroke-width") == "2"]
    assert len(borders) == 2 + 2 + 4 and "4 of mma_m16n8k16_f16_f32 (16 x 8 x 16)" in made.title
    # Nothing is outside of the picture.
    width = float(page.documentElement.getAttribute("width"))
    groups = [node for node in page.getElementsByTagName("g") if node.hasAttribute("transform")]
    for group in groups:
        left = float(group.getAttribute("transform")[10:].split()[0])
        assert all(
            left + float(node.getAttribute("x")) + float(node.getAttribute("width")) <= width
            for node in group.getElementsByTagName("rect")
        )


def test_a_multiply_add_without_an_instruction_says_so() -> None:
    made = multiply_add_map("5x7.A.f32", "7x3.B.f32", "5x3.C.f32", "mma")
    assert made.title.endswith("no instruction, general code") and made.to_json()["instruction"] is None


def test_notebooks_show_maps_and_types() -> None:
    made = lane_map("4x4.A.s32")
    assert made._repr_svg_() == made.svg() and made.title in made._repr_html_()
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell.instance()
    register(shell)
    formatter = shell.display_formatter.formatters["image/svg+xml"]
    (variant,) = parse_variants("4x4x4.f32xf32_f32_f32")
    assert formatter(made.matrix) == made.svg() and "multiply-add of f32 x f32" in formatter(variant)


@pytest.mark.parametrize(
    ("names", "route", "message"),
    [
        (["16x16.A.f17"], "lanes", "'f17' is no component type"),
        (["16x16.D.f16"], "lanes", "is no matrix type"),
        (["0x16.A.f16"], "lanes", "1 to 1048575 rows"),
        (["512x512.A.f16"], "lanes", "at most 16384 components"),
        (["16x16.A.f16"], "native", "coop_mat_print_lanes"),
        (["16x16.A.f16"], "lane", "'lane' is no route"),
        (["16x16.A.f16", "16x16.A.f16", "16x16.C.f32"], "lanes", "takes A, B and C"),
        (["16x16.A.f16", "8x16.B.f16", "16x16.C.f32"], "lanes", "shapes do not fit"),
        (["16x16.A.f16", "16x16.B.s8", "16x16.C.f32"], "lanes", "all integers"),
    ],
)
def test_wrong_maps(names: list[str], route: str, message: str) -> None:
    with pytest.raises(MapError, match=re.escape(message)):
        lane_map(*names, route) if len(names) == 1 else multiply_add_map(*names, route)


def test_the_command_draws_types(coopmat) -> None:
    result = coopmat("16x16.A.f16", "--route", "mma", "--format", "json")
    assert (result.status, result.err) == (0, "")
    assert json.loads(result.out) == lane_map("16x16.A.f16", "mma").to_json()
    assert coopmat("16x16.A.f16").out.decode() == lane_map("16x16.A.f16").text()
    assert coopmat("16x16.A.f16", "16x16.C.f32", "-o", "both.svg").status == 0
    assert len(minidom.parse(str(coopmat.place / "both.svg")).getElementsByTagName("g")) == 2 * (1 + 256)
    product = ["--mul-add", "16x16.A.f16", "16x16.B.f16", "16x16.C.f32", "--route", "dpas"]
    assert json.loads(coopmat(*product, "--format", "json").out)["instruction"]["name"] == "dpas_m8n16k16_f16_f32"
    for wrong in (["--mul-add", "16x16.A.f16"], ["16x16.A.f16", "-DK=1"], ["16x16.A.f16", "--route", "native"]):
        assert coopmat(*wrong).status == 2


def test_the_command_draws_lines_of_programs(coopmat) -> None:
    """The macros of the run header hold, and the kernel's subgroup size."""
    assert coopmat("k.cl:8").out.decode() == lane_map("16x16.A.f16", sub_group_size=8).text()
    line = coopmat("-D", "K=32", "k.cl:10", "--format=json")
    assert line.status == 0 and len(json.loads(line.out)["a"]) == 16 * 32
    assert coopmat("k.cl:7").status == 2 and "no matrix" in coopmat("k.cl:7").err
    assert "the output './k.cl' is the input" in coopmat("k.cl:10", "-o", "./k.cl").err
    assert coopmat("k.cl:10", "-DK=x").status == 1 and coopmat("none.cl:3").status != 0


def test_png_is_a_picture_or_says_what_is_missing(coopmat) -> None:
    result = coopmat("8x8.A.f16", "-o", "a.png")
    if find_spec("matplotlib") is None:
        assert result.status == 2 and "pip install 'coopmat[bench]'" in result.err
    else:
        assert result.status == 0 and (coopmat.place / "a.png").read_bytes().startswith(b"\x89PNG")
