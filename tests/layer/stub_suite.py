"""What the tests against the stub driver share: programs, settings, and short forms of queries."""

from __future__ import annotations

import difflib
import functools
import struct
from collections.abc import Callable
from typing import Any

from stub_application import CL, Application

import coopmat

EXTENSION = b"cl_khr_cooperative_matrix"
EXTENSIONS = "cl_khr_subgroups cl_intel_required_subgroup_size cl_intel_subgroups cl_khr_il_program"
SOURCE = b"""
#define MATRIX(T, use) T __attribute__((coop_mat(memory_scope_sub_group, 8, 8, CLK_COOPERATIVE_MATRIX_##use)))
#ifndef FIRST
#define FIRST 7
#endif
kernel void product(global const int *a, global const int *b, global int *c) {
    MATRIX(int, A) x = coop_mat_load(a, 0, 8);
    MATRIX(int, B) y = coop_mat_load(b, 0, 8);
    MATRIX(int, ACCUMULATOR) z = coop_mat_init(FIRST);
    coop_mat_store(c, coop_mat_mulAdd(x, y, z), 0, 8);
}
kernel void plain(global int *c) { c[get_global_id(0)] = get_global_id(0); }
"""
PLAIN = b"kernel void first(global int *c) { c[0] = 1; }\nkernel void second(global int *c) { c[0] = 2; }\n"
SIZE = 16
"""Of the subgroups of the route `lanes` on the driver's devices; the driver itself says 4."""
Stub = Callable[..., Application]


@functools.cache
def plain_module() -> bytes:
    return coopmat.compile(PLAIN.decode()).spirv


@functools.cache
def matrix_module() -> bytes:
    """SPIR-V with matrices, whose first value is a specialisation constant of the number 5 and 32 bits."""
    code = coopmat.compile(SOURCE.decode(), ["--matrices", "native"]).spirv
    words = list(struct.unpack(f"<{len(code) // 4}I", code))
    at, place = 5, 0
    while at < len(words):
        opcode, size = words[at] & 0xFFFF, words[at] >> 16
        if opcode == 71 and not place:
            place = at
        if opcode == 43 and words[at + 3] == 7:
            words[at] = size << 16 | 50
            words[place:place] = [4 << 16 | 71, words[at + 2], 1, 5]
            break
        at += size
    return struct.pack(f"<{len(words)}I", *words)


def pair(
    stub: Stub, scenario: Callable[[Application], Any], loader: str = "", starts: tuple[str, ...] = (), **variables: str
) -> None:
    """Assert that an application sees the same with the layer and without it, and that the driver does: all calls but
    queries, or those that start with these words."""
    seen = []
    for with_layer in (True, False):
        own = stub(loader, with_layer, **variables)
        result = scenario(own)
        own.end()
        seen.append((result, own.calls(*starts)))
    (result, calls), (bare_result, bare_calls) = seen
    assert calls == bare_calls, "\n".join(difflib.unified_diff(bare_calls, calls, "without the layer", "with it"))
    assert result == bare_result, f"{result}\n{bare_result}"
    assert len(calls) > 3


def built(app: Application, code: bytes = SOURCE, options: bytes = b"") -> tuple[int, int]:
    """A context, and a program in it that is built, of source or SPIR-V."""
    context = app.context()
    program = app.il(context, code) if code[:4] == b"\x03\x02\x23\x07" else app.source(context, code)
    assert app.build(program, options) == 0, app.info("clGetProgramBuildInfo", program, app.devices()[0], 0x1183)
    return context, program


def status(app: Application, program: int, device: int | None = None) -> int:
    data = app.info("clGetProgramBuildInfo", program, device or app.devices()[0], CL.PROGRAM_BUILD_STATUS)[1]
    return int.from_bytes(data, "little", signed=True)


def text(app: Application, program: int, what: CL, device: int | None = None) -> str:
    error, data = app.info("clGetProgramBuildInfo", program, device or app.devices()[0], what)
    assert error == 0 and data.endswith(b"\0")
    return str(data[:-1].decode())


def sub_group_size(app: Application, kernel: int) -> int:
    what = CL.KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE
    return int(app.number("clGetKernelSubGroupInfo", kernel, app.devices()[0], what, 8, [64]))
