"""`coopmat explain` as a command: its files, routes, flags and messages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from html_pages import Page
from opencl_devices import spirv_device
from test_explain_page import SOURCE

from coopmat.explain import header_of, measure

KERNEL = """\
// run: kernel=k global=(sg) local=(sg) p=i32[2,3]:range STEP=1 -DSTEP=1
// check: p == p
typedef int A __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 2, 3, CLK_COOPERATIVE_MATRIX_A)));
kernel void k(global int *p)
{
    A a = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 3 * STEP);
    coop_mat_print(a, "a <b>&amp;");
}
"""


def run(*words: str, directory: Path, **options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "coopmat", "explain", *words]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False, **options)


def test_a_file_is_explained_by_two_routes(tmp_path):
    name = "p<q>&'.cl"
    (tmp_path / name).write_text(SOURCE)
    done = run(name, "-Dfoo=1", "-DN=<img>", "--routes", "one,lanes", "-o", "page.html", directory=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    page.require_links()
    assert page.values("value") == ["both", "0", "1"] and "-Dfoo=1 -DN=<img>" in page.text and name in page.text


def test_the_default_output_and_standard_input(tmp_path):
    (tmp_path / "p.cl").write_text(SOURCE)
    assert run("--matrices", "one", "-D", "foo", "p.cl", directory=tmp_path).returncode == 0
    assert "compiled to" in Page((tmp_path / "p.explain.html").read_text()).text
    done = run("p.cl", "--matrices", "one", "-o", "p.cl", directory=tmp_path)
    assert done.returncode == 2 and "the output 'p.cl' is the input" in done.stderr
    assert (tmp_path / "p.cl").read_text() == SOURCE
    done = run("-", "--routes", "native", directory=tmp_path, input=SOURCE)
    assert done.returncode == 0 and "<stdin> explained" in Page(done.stdout).text


def test_errors_of_the_source_are_printed_and_shown(tmp_path):
    (tmp_path / "p.cl").write_text("kernel void k(global int *p) { *p = nothing; }\n")
    done = run("p.cl", "--routes", "one,lanes", "-o", "page.html", directory=tmp_path)
    assert done.returncode == 1 and done.stderr.count("[undeclared-identifier]") == 1
    assert (
        "use of undeclared" in (tmp_path / "page.html").read_text()
        or "undeclared" in (tmp_path / "page.html").read_text()
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["p.cl", "--routes", "one,lanes,scratch"], "one or two different routes"),
        (["p.cl", "--routes", "one,one"], "one or two different routes"),
        (["p.cl", "--routes", "nowhere"], "not 'nowhere'"),
        ([], "one OpenCL C file is needed"),
        (["p.cl", "q.cl"], "not 2"),
        (["p.cl", "--unknown-flag"], "--unknown-flag"),
        (["-", "--run"], "--run needs a file"),
    ],
)
def test_wrong_command_lines(tmp_path, words, message):
    (tmp_path / "p.cl").write_text(SOURCE)
    done = run(*words, directory=tmp_path, input="")
    assert done.returncode == 2 and message in done.stderr and not list(tmp_path.glob("*.html"))


def test_a_run_shows_times_and_printed_matrices(tmp_path):
    spirv_device()
    (tmp_path / "k.cl").write_text(KERNEL)
    done = run("k.cl", "--routes", "one,lanes", "--run", "-o", "page.html", directory=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "page.html").read_text()
    page = Page(text)
    page.require_links()
    runs = page.text[page.text.index("Runs") :]
    assert runs.count(" ms") == 2 and runs.count("ok, max error 0") == 2
    assert "<caption>a &lt;b&gt;&amp;amp; [2 x 3 int A]</caption>" in text
    assert '<tr><th scope="row">1</th><td>3</td><td>4</td><td>5</td></tr>' in text


def test_a_run_that_fails_shows_why(tmp_path):
    spirv_device()
    (tmp_path / "k.cl").write_text(KERNEL.replace("p == p", "p == p + 1"))
    assert run("k.cl", "--run", "--matrices=one", "-o", "page.html", directory=tmp_path).returncode == 0
    text = Page((tmp_path / "page.html").read_text()).text
    assert "WRONG" in text and "6 of 6 elements are wrong" in text
    found = measure.run(str(tmp_path / "k.cl"), [], "one", None, 0.01)
    assert found.rows == () and "took longer than 0.01 s" in found.messages


def test_products_have_plans():
    header = "// run: kernel=k M=8 N=16 K=32 a=f16[M,K]:ones b=f16[K,N]:ones c=f32[M,N]:zeros\n"
    for text in ("", header.replace("K=32 ", ""), header.replace("a=f16", "d=f16"), header.replace("M=8", "M=2*4")):
        assert measure.plan(header_of(text, "k.cl"), None, 1) == ""
    assert measure.plan(header_of(header, "k.cl"), "no such device", 60).startswith(
        "$ coopmat plan gemm -M 8 -N 16 -K 32 --types f16,f16,f32\n"
    )
    assert header_of("// run: kernel=\n", "k.cl") == []
