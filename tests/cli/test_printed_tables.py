"""Printed matrices as tables: in a terminal that is wide enough, and nothing is lost otherwise."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest
from opencl_devices import spirv_device

from coopmat.cli import tables

KERNEL = b"""\
// run: kernel=k global=(sg) local=(sg) p=i32[2,3]:range
typedef int A __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 2, 3, CLK_COOPERATIVE_MATRIX_A)));
kernel void k(global int *p)
{
    A a = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 3);
    coop_mat_print(a, "a [b]");
}
"""


@pytest.fixture
def shown(capsys, monkeypatch):
    def show(*lines: str, width: int = 60) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(width))
        tables.show(lines)
        return [line.rstrip() for line in capsys.readouterr().out.splitlines()]

    return show


def test_matrices_and_lanes_are_tables(shown):
    out = shown("before", "a [2 x 2 int A]", "   1    2", "   3    4", "1 0 0 1 7", "0 0 0 0 -1.5e+02", "k: one: ok")
    assert out[0] == "before" and out[1] == "a [2 x 2 int A]" and out[-1] == "k: one: ok"
    cells = [line.replace("\u2502", " ").split() for line in out if line.startswith("\u2502")]
    assert cells == [["0", "1", "2"], ["1", "3", "4"], ["0", "0", "0", "0", "-1.5e+02"], ["1", "0", "0", "1", "7"]]


@pytest.mark.parametrize(
    ("lines", "width"),
    [
        (["a [2 x 2 int A]", "1 2", "a [2 x 2 int A]", "1 2", "3 4", "3 4"], 60),
        (["a [1 x 2 int A]"], 60),
        (["a [1 x 9 int A]", " ".join("123456789")], 20),
    ],
)
def test_lines_that_are_mixed_missing_or_too_long_are_left(shown, lines, width):
    out = "\n".join(shown(*lines, width=width))
    assert all(number in out for line in lines for number in line.split())


def test_a_terminal_shows_tables_and_a_file_the_rows(tmp_path):
    spirv_device()
    (tmp_path / "k.cl").write_bytes(KERNEL)
    command = [sys.executable, "-m", "coopmat", "run", "k.cl"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    plain = done.stdout.splitlines()
    assert plain[0] == "a [b] [2 x 3 int A]" and plain[2].split() == ["3", "4", "5"] and "k: one" in plain[3]
    parent, child = pty.openpty()
    with subprocess.Popen(command, cwd=tmp_path, stdout=child, env={**os.environ, "TERM": "xterm"}) as process:
        os.close(child)
        out = b""
        while True:
            try:
                part = os.read(parent, 65536)
            except OSError:
                break
            if not part:
                break
            out += part
    os.close(parent)
    assert process.returncode == 0 and "\u2502".encode() in out and b"a [b] [2 x 3 int A]" in out and b"k: one" in out


def test_a_line_without_end_reaches_a_file(tmp_path):
    spirv_device()
    (tmp_path / "k.cl").write_bytes(b'// run: kernel=k global=(1) local=(1)\nkernel void k() { printf("no end"); }\n')
    command = [sys.executable, "-m", "coopmat", "run", "k.cl"]
    assert "no end" in subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
