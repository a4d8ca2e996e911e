"""Matrices of components of 4 bits, printed, and drawn by `coopmat map`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from coopmat.devices import DeviceInfo

SOURCE = """
// run: kernel=k global=(sg) local=(sg) o=i32[1]:zeros
#define TYPE(T) T __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 2, 3, CLK_COOPERATIVE_MATRIX_A)))
static floate2m1_t number(uint r, uint c) { return (floate2m1_t)(r * 3.0f + c * 0.5f - 1); }
static signed4_t integer(uint r, uint c) { return (signed4_t)((int)r * 9 - (int)c); }
kernel void k(global int *o)
{
    TYPE(floate2m1_t) numbers = coop_mat_build(number);
    TYPE(signed4_t) integers = coop_mat_build(integer);
    coop_mat_print(numbers);
    coop_mat_print(integers);
    o[0] = 1;
}
"""


def command(*words: str) -> str:
    done = subprocess.run([sys.executable, "-m", "coopmat", *words], capture_output=True, text=True, check=True)
    return done.stdout


def test_prints(device: DeviceInfo, tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text(SOURCE)
    words = command("run", str(tmp_path / "k.cl"), "--device", device.index).split()
    text = " ".join(words)
    assert "numbers [2 x 3 floate2m1_t A] -1 -0.5 0 2 2 3 integers [2 x 3 signed4_t A] 0 -1 -2 7 7 7" in text


def test_map() -> None:
    assert '"row": 1' in command("map", "4x8.A.e2m1", "--route", "one", "--format", "json")
