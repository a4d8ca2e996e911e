"""Private memory as registers are spilled to: aligned to them where kernels go round with matrices in registers."""

from __future__ import annotations

import re

import pytest

import coopmat
from coopmat.spirv.emit import EmitOptions, emit

SOURCE = """
typedef float M __attribute__((matrix_type(8, 8)));
static void step(M *x, const M *y) { *x = *x * *y; }
static M power(M x, const M *y, int n) { while (n--) step(&x, y); return x; }
kernel void around(global M *d, const global M *a, int n)
{
    M x = d[0], y = a[0];
    for (int i = 0; i < n; ++i)
        x = x * y;
    d[0] = x;
}
kernel void elsewhere(global M *d, const global M *a, int n) { M y = a[0]; d[0] = power(d[0], &y, n); }
kernel void once(global M *d, const global M *a, int n) { d[0] = d[0] * a[0]; }
kernel void plain(global int *p, int n) { for (int i = 0; i < n; ++i) p[i] = i; }
"""


KERNEL = re.compile(r"define [^\n]*spir_kernel [^\n]*@(\w+)\([^\n]*\{\n(.*?)\n\}", re.DOTALL)


def frames(*options: str) -> dict[str, int]:
    """How kernels' frames are aligned, after optimisation: those whose are."""
    result = emit(coopmat.compile(SOURCE, options).llvm_ir, EmitOptions(passes="O1", want=frozenset({"llvm_ir"})))
    assert result.llvm_ir is not None
    found = {}
    for name, body in KERNEL.findall(result.llvm_ir):
        slot = re.search(r"%frame\S* = alloca i32, align (\d+)", body)
        if slot is not None:
            assert len(re.findall(r"store volatile i32 0, ptr %frame", body)) == 1
            found[name] = int(slot[1])
    return found


@pytest.mark.parametrize("bits", [512, 256])
def test_kernels_that_go_round_with_matrices_have_aligned_frames(bits: int) -> None:
    options = (f"--matrix-registers={bits}x32",)
    assert frames(*options) == {"around": bits // 8, "elsewhere": bits // 8}
    assert re.search(rf"OpDecorate %frame\w* Alignment {bits // 8}\b", coopmat.compile(SOURCE, options).spirv_text)


@pytest.mark.parametrize("options", [(), ("--matrix-registers=128x16",)])
def test_nothing_is_done_for_devices_of_which_nothing_is_known(options: tuple[str, ...]) -> None:
    assert frames(*options) == {}
