"""Native matrices on devices that do not list the extension: separate processes try which multiply-adds are right.

Intel's CPU runtime accepts cooperative matrices on processors with matrix instructions without listing the extension.
Shapes that it does not support end the process. Therefore, multiply-adds are tried only on request (`coopmat devices
--probe`), and each in a separate process. The answers are cached. `--matrices native` accepts the multiply-adds that
were right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coopmat.devices import DeviceInfo, opencl, probe as process
from coopmat.devices.query import COOPERATIVE_MATRIX
from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import in_memory
from coopmat.matrices.supported import parse_variants
from coopmat.matrices.variants import Layout, MatrixType, Variant, default_operands
from coopmat.options import CompileOptions

if TYPE_CHECKING:
    from coopmat.compiler import Module

# Multiply-adds of processors' matrix instructions (docs/backend.md); a few shapes end the process on some processors.
CANDIDATES = parse_variants(
    "16x16x64.s8xs8_s32_s32 16x16x64.u8xu8_s32_s32 16x16x64.s8xu8_s32_s32 16x16x64.u8xs8_s32_s32 8x16x64.s8xs8_s32_s32"
    " 8x16x32.s8xs8_s32_s32 16x16x32.f16xf16_f32_f32 16x16x16.f16xf16_f32_f32"
)
RIGHT = "right"
_FUNCTION = "coopmat.runtime.native_probe:run"

_SOURCE = """
#define M(R, C, U) coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, R, C, CLK_COOPERATIVE_MATRIX_##U)
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef {a} A __attribute__((M({m}, {k}, A)));
typedef {b} B __attribute__((M({k}, {n}, B)));
typedef {c} C __attribute__((M({m}, {n}, ACCUMULATOR)));
kernel void probe(global const {a} *a, global const {b} *b, global {c} *c)
{{
    A x = coop_mat_load(a, ROW, {k});
    B y = coop_mat_load(b, CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED, {stride});
    C z = coop_mat_load(c, ROW, {n});
    coop_mat_store(c, coop_mat_mulAdd(x, y, z{mask}), ROW, {n});
}}
"""


@dataclass(frozen=True)
class Answer:
    """The outcome of one multiply-add.

    variant: the multiply-add.
    right: whether the result was right.
    text: a description of the fault; empty if the result was right.
    """

    variant: Variant
    right: bool
    text: str


def probe(device: DeviceInfo, candidates: Iterable[Variant] = CANDIDATES) -> list[Answer]:
    """Try each multiply-add, unless the answer is cached, and return the answers in order.

    B has the packed layout, which such instructions read.
    """
    return [_answer(variant, _ask(device, variant)) for variant in candidates]


def proven(device: DeviceInfo, candidates: Iterable[Variant] = CANDIDATES) -> tuple[Variant, ...]:
    """Return the multiply-adds that the device does not list, and that an earlier probe found to be right.

    Nothing is tried.
    """
    if not needs_proof(device):
        return ()
    answers = ((variant, process.known(device, _FUNCTION, variant.name)) for variant in candidates)
    return tuple(variant for variant, answer in answers if answer is not None and _answer(variant, answer).right)


def needs_proof(device: DeviceInfo) -> bool:
    """Return whether a device may support native matrices although it does not list the extension."""
    return device.takes_spirv and COOPERATIVE_MATRIX not in device.extensions


def _ask(device: DeviceInfo, variant: Variant) -> process.Answer:
    """Return the answer of a probe, from the cache or a separate process; a failure if that cannot start."""
    try:
        return process.ask(device, _FUNCTION, variant.name)
    except process.NotAsked as error:
        return process.Answer(failure=str(error))


def _answer(variant: Variant, answer: process.Answer) -> Answer:
    right = answer.value == RIGHT
    return Answer(variant, right, "" if right else answer.failure or str(answer.value))


# --- in the separate process -----------------------------------------------------------------------


def run(device: DeviceInfo, name: str) -> str:
    """Return the outcome of the multiply-add `name`: "right", or a description of the fault."""
    (variant,) = parse_variants(name)
    options = CompileOptions(matrices="native", spirv_version=device.spirv_versions[-1])
    return outcome(device, variant, options, lambda context, module: opencl().Program(context, module.spirv).build())


def outcome(
    device: DeviceInfo,
    variant: Variant,
    options: CompileOptions,
    build: Callable[[Any, Module], Any],
    mask: str = "",
) -> str:
    """Run a multiply-add with packed B on the device, and return RIGHT or a description of the fault.

    `build` returns a program of the module in a context. `mask` is the enumerator of the operands, if any.
    """
    from coopmat import compiler

    a, b, c, _ = variant.matrix_types()
    types = a.component, b.component, c.component
    spelled = {name: t.opencl_c for name, t in zip("abc", types, strict=True)}
    stride = variant.n * Layout.PACKED.pack(b.component)
    source = _SOURCE.format(**spelled, m=variant.m, n=variant.n, k=variant.k, stride=stride, mask=mask and f", {mask}")
    module = compiler.compile(source, options, name="probe.cl")
    x, y, z = (_values(matrix, seed) for seed, matrix in enumerate((a, b, c)))
    packed = np.zeros(y.size, y.dtype)
    numpy_reference.store(packed, y, Layout.PACKED, stride)
    expected, _ = numpy_reference.mul_add(types, x, y, z, default_operands(*types))

    cl = opencl()
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    program = build(context, module)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    memory = (in_memory(t, array.reshape(-1)) for t, array in zip(types, (x, packed, z), strict=True))
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in memory]
    size = module.kernels["probe"].sub_group_size or 16
    cl.Kernel(program, "probe")(queue, (size,), (size,), *buffers)
    actual = np.empty_like(z)
    cl.enqueue_copy(queue, actual, buffers[2]).wait()
    wrong = int(np.count_nonzero(actual != expected))
    return RIGHT if not wrong else f"{wrong} of {actual.size} components are wrong"


def _values(matrix: MatrixType, seed: int) -> numpy_reference.Array:
    """Return a matrix of small random integers, with which floating-point arithmetic is exact."""
    rng, t = np.random.default_rng(seed), matrix.component
    values = rng.integers(-8 if t.signed else 0, 9, (matrix.rows, matrix.columns))
    return numpy_reference.encode_bits(t, values.astype(np.float32)) if t.is_bits else values.astype(t.numpy)
