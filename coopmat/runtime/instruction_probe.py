"""Which of a route's instructions a device has: each tried in a process of its own, once for each driver and processor.

They are reached by words that a driver's compiler may refuse, or end its process over (docs/vendors.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coopmat.devices import DeviceInfo, opencl, probe as process, route_for
from coopmat.devices.environment import processor
from coopmat.matrices import meaning, small_floats
from coopmat.matrices.products import Product
from coopmat.matrices.strategies import STRATEGIES
from coopmat.matrices.variants import COMPONENT_TYPES, MatrixType, Use, default_operands
from coopmat.options import LINKED, CompileOptions

_RIGHT = "right"
_FUNCTION = "coopmat.runtime.instruction_probe:run"
_K = 8

_SOURCE = """
#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable
#define M(R, C, U) coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, R, C, CLK_COOPERATIVE_MATRIX_##U)
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef {a} A __attribute__((M({m}, {k}, A)));
typedef {b} B __attribute__((M({k}, {n}, B)));
typedef {c} C __attribute__((M({m}, {n}, ACCUMULATOR)));
kernel void probe(global const {a} *a, global const {b} *b, global {c} *c)
{{
    A x = coop_mat_load(a, ROW, {k});
    B y = coop_mat_load(b, ROW, {n});
    C z = coop_mat_load(c, ROW, {n});
    coop_mat_store(c, coop_mat_mulAdd(x, y, z), ROW, {n});
}}
"""


def instructions(device: DeviceInfo, route: str, *, asks: bool = True) -> tuple[str, ...]:
    """The sections of the route's products that are right on the device; where that is not known, it is asked, or it
    has none where `asks` is False."""
    flags = " ".join(processor()).split()
    rows = (row for row in STRATEGIES[route].products if row.feature in flags)
    return tuple(row.section for row in rows if _is_right(device, f"{route} {row.section}", asks))


def code_for(device: DeviceInfo) -> str:
    """The form in which a route that only OpenCL C has words for goes to the device."""
    return LINKED if device.takes_spirv and route_for(device).code == "spirv" else "c"


def _is_right(device: DeviceInfo, question: str, asks: bool) -> bool:
    try:
        said = process.ask(device, _FUNCTION, question) if asks else process.known(device, _FUNCTION, question)
    except process.NotAsked:
        return False
    return said is not None and said.value == _RIGHT


# --- in the process of its own ---------------------------------------------------------------------


def run(device: DeviceInfo, question: str) -> str:
    """What came out of a product, "ROUTE SECTION": "right", or what was wrong."""
    from coopmat import compiler

    from . import driver

    route, section = question.split()
    row = next(row for row in STRATEGIES[route].products if row.section == section)
    a, b, c = _matrices(row)
    spelled = {name: matrix.component.opencl_c for name, matrix in (("a", a), ("b", b), ("c", c))}
    source = _SOURCE.format(**spelled, m=a.rows, n=b.columns, k=a.columns)
    module = compiler.compile(source, CompileOptions(matrices=route, code=code_for(device)), name="probe.cl")
    x, y, z = (_values(matrix, seed) for seed, matrix in enumerate((a, b, c)))
    types = a.component, b.component, c.component
    expected, _ = meaning.mul_add(types, x, y, z, default_operands(*types))

    cl = opencl()
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    program = driver.build(context, module, device)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (x, y, z)]
    cl.Kernel(program, "probe")(queue, (1,), (1,), *buffers)
    got = np.empty_like(z)
    cl.enqueue_copy(queue, got, buffers[2]).wait()
    wrong = int(np.count_nonzero(got != expected))
    return _RIGHT if not wrong else f"{wrong} of {got.size} components are wrong"


def _matrices(row: Product) -> tuple[MatrixType, MatrixType, MatrixType]:
    a, b, c = (COMPONENT_TYPES[names[0]] for names in (row.a, row.b, row.c))
    m, n, k = 4 * row.m, row.n, _K * row.k
    return MatrixType(a, m, k, Use.A), MatrixType(b, k, n, Use.B), MatrixType(c, m, n, Use.ACCUMULATOR)


def _values(matrix: MatrixType, seed: int) -> NDArray[Any]:
    """Small integers, with which floating point is exact."""
    rng, t = np.random.default_rng(seed), matrix.component
    values = rng.integers(-8 if t.signed else 0, 9, (matrix.rows, matrix.columns))
    return small_floats.encoded(t, values.astype(np.float32)) if t.is_bits else values.astype(t.numpy)
