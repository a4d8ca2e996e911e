"""The page of `coopmat explain`: whole, escaped, small, and linked in both directions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from html_pages import Page

from coopmat.explain import explain
from coopmat.explain.html import text as escaped
from coopmat.explain.page import render
from coopmat.explain.stages import TITLES

KERNELS = sorted((Path(__file__).parents[2] / "kernels").glob("*.cl"))
NASTY = "</script><script>alert(1)</script> <img src=x onerror=alert(1)> & &amp; \"' \x1b[31m \u202e"
TYPES = """\
typedef half A __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 16, CLK_COOPERATIVE_MATRIX_A)));
typedef half B __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 16, 8, CLK_COOPERATIVE_MATRIX_B)));
#define ACC CLK_COOPERATIVE_MATRIX_ACCUMULATOR
typedef float C __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8, ACC)));
"""
SOURCE = (
    TYPES
    + """\
kernel void product(const global half *a, const global half *b, global float *c)
{
    A x = coop_mat_load(a, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
    B y = coop_mat_load(b, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    C z = coop_mat_init(0.0f);
    z = coop_mat_mulAdd(x, y, z);
    coop_mat_store(c, z, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
}
"""
)


def groups(page: Page) -> dict[str, set[int]]:
    """Stage of each route -> the lines of the source that it is linked with."""
    found: dict[str, set[int]] = {}
    for _, attributes in page.elements:
        if "data-l" in attributes:
            stage = attributes["id"].rpartition("-")[0]
            found.setdefault(stage, set()).add(int(attributes["data-l"]))
    return found


@pytest.fixture(scope="module")
def product() -> Page:
    return Page(render(explain(SOURCE.encode(), "dir/product.cl", routes=["native", "lanes"])))


def test_every_stage_is_linked_with_the_lines_of_the_source(product):
    product.require_links()
    found = groups(product)
    # Both routes have the same typed AST, which is shown once.
    assert set(found) == {"r0-ast", "r0-ll", "r1-ll", "r0-spv", "r1-spv", "r0-c", "r1-c"}
    assert found["r0-ast"] == set(range(5, 12))
    for stage, lines in found.items():
        assert {7, 8, 10, 11} <= lines <= set(range(5, 13)), stage
    # Numbers in the source lead to the stages, numbers in the stages to the source.
    numbers = [
        attributes["href"][1:]
        for _, attributes in product.elements
        if attributes.get("class") == "n" and "href" in attributes
    ]
    to_source = {number for number in numbers if re.fullmatch(r"L\d+", number)}
    assert to_source == {f"L{line}" for lines in found.values() for line in lines}
    to_stages = [number for number in numbers if number not in to_source]
    assert len(to_stages) == len(to_source) and set(product.values("aria-controls")) == {
        f"panel-{key}" for key in TITLES
    }


def test_matrices_and_multiply_adds_open_their_maps(product):
    links = product.values("href")
    for name in ("8x16-A-f16", "16x8-B-f16", "8x8-C-f32"):
        assert links.count(f"#map-{name}") >= 3  # the type, the variable where it is declared, and its use
    assert links.count("#mul-0") == 2  # a remark for each route
    assert "8x16.A.f16 by lanes: 16 lanes, 8 slots each" in product.text
    assert "the device's driver chooses the lanes of native matrices" in product.text
    assert "multiply-add: OpCooperativeMatrixMulAddKHR [matrix]" in product.text
    assert "no matrix instruction on the route 'lanes' [matrix]" in product.text


def test_the_library_is_apart_from_the_program(product):
    text = render(explain(SOURCE.encode(), "p.cl", routes=["one"]))
    c, library = (text.partition(f'id="panel-{key}"')[2].partition('role="tabpanel"')[0] for key in ("c", "lib"))
    assert "__kernel void product" in c and "static CM_INLINE" not in c
    assert "static CM_INLINE" in library and "__kernel" not in library and 'data-l="' not in library
    assert "OpenCL C has no native matrices: this is the program by the route one." in product.text


def test_a_page_has_nothing_of_other_places_and_runs_nothing(product):
    text = render(explain(SOURCE.encode(), "p.cl"))
    assert "://" not in text and "<link" not in text and "@import" not in text and "url(" not in text
    (policy,) = (a["content"] for _, a in Page(text).elements if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy and policy.count("'sha256-") == 1 and "script-src 'unsafe" not in policy


def test_whatever_the_source_has_is_text():
    source = (
        f'// {NASTY}\nkernel void k(global int *p)\n{{\n    printf("{NASTY[:60]}%d", *p); /* {NASTY}\n {NASTY} */\n}}\n'
    )
    name = "a<b>&\"'</title>.cl"
    page = Page(render(explain(source.replace("\"'", "'").encode(), name, ["-DX=<img>"], routes=["one"])))
    page.require_links()
    assert [tag for tag, _ in page.elements].count("script") == 1 and "img" not in {tag for tag, _ in page.elements}
    assert page.text.count("<img src=x onerror=alert(1)>") >= 3 and f"{name} explained" in page.text
    assert "\x1b" not in page.text and "\u202e" not in page.text and "\ufffd" in page.text


def test_unprintable_characters_are_replaced():
    assert escaped("<&\"'>") == "&lt;&amp;&quot;&#x27;&gt;"
    assert escaped("a\tb\n\u0436\U0001f600") == "a\tb\n\u0436\U0001f600"
    assert escaped("\0\x7f\x9b\u202a\u2066\ud800\ufffe") == "\ufffd" * 7


def test_a_source_with_errors_shows_them():
    found = explain(b"kernel void k(global int *p)\n{\n    *p = y < 1;\n}\n", "k.cl", routes=["one", "lanes"])
    page = Page(render(found))
    page.require_links()
    assert next(item.code for item in found.errors) == "undeclared-identifier"
    assert (
        "one, lanes error: " in page.text and "The source has errors." in page.text and "does not compile" in page.text
    )
    assert any("underlined" in value for value in page.values("class"))


@pytest.mark.parametrize(
    "source",
    ["kernel void k(global int *p)\n{\n", "kernel void k(global int *p)\n{\n\n\n", '#include "none.h"\n', "", "\n\n"],
)
def test_messages_about_the_end_are_shown(source):
    found = explain(source.encode(), "k.cl", ["-DX"], routes=["one"])
    page = Page(render(found))
    page.require_links()
    assert all(item.message in page.text for item in found.errors)
    assert bool(found.errors) == bool(source.strip())


def test_messages_about_other_files_name_them(tmp_path):
    (tmp_path / "a.h").write_text("int f(void) { return <b>; }\n")
    text = f'#include "{tmp_path}/a.h"\n'
    page = Page(render(explain(text.encode(), "k.cl", routes=["one", "native"])))
    assert f"{tmp_path}/a.h:1:22: error: " in page.text and "one, native" in page.text


def test_advice_and_warnings_are_at_their_lines():
    source = SOURCE.replace(
        "z = coop_mat_mulAdd", "int unused = 1;\n    for (int i = 0; i < 64; ++i) z = coop_mat_mulAdd"
    )
    text = render(explain(source.encode(), "p.cl", ["-Wall"], routes=["lanes"]))
    page = Page(text)
    assert "warning: " in page.text and "[matrix" in page.text
    at = text.index('id="L11"')
    assert "multiply-add" in text[at : text.index('id="L12"')] and "remark" in text[at : text.index('id="L12"')]


def test_columns_after_tabs_and_wide_characters():
    source = SOURCE.replace("    z = coop_mat_mulAdd", "/* \u0436\U0001f600 */\t\tz = coop_mat_mulAdd")
    assert Page(render(explain(source.encode(), "p.cl"))).values("href").count("#map-8x8-C-f32") >= 3


# The largest page, a kernel for each size of a page, and kernels without cooperative matrices; the others with --all.
USUAL = ("flash_attention", "gemm_f32", "kalman", "saxpy")


@pytest.mark.parametrize(
    "path", [pytest.param(p, id=p.stem, marks=[pytest.mark.slow] * (p.stem not in USUAL)) for p in KERNELS]
)
def test_pages_of_kernels_are_small_and_linked(path):
    name = f"kernels/{path.name}"
    text = render(explain(path.read_bytes(), name, routes=["one", "lanes"]))
    assert len(text.encode()) < 2_000_000
    page = Page(text)
    page.require_links()
    found = groups(page)
    # Each stage of each route is linked: none of them lost its lines. Without matrices both routes are the same.
    stages = [stage for stage in ("r0-ll", "r1-ll", "r0-spv", "r1-spv", "r0-c") if stage in found]
    assert {"r0-ll", "r0-spv", "r0-c"} <= set(stages) and ("coop_mat_" not in page.text or len(stages) == 5)
    ast = found["r0-ast"]
    for stage in stages:
        assert found[stage] & ast, stage
        if stage != "r0-c":  # closing braces have lines, but no nodes
            assert found[stage] <= ast, stage
