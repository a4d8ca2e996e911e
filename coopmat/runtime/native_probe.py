"""Native matrices on devices that do not say they have them: what was tried in a process of its own, and was right.

Intel's CPU runtime takes cooperative matrices on processors with matrix instructions without listing the extension, and
shapes that it does not have end the process. So nothing is tried unless somebody asks (`coopmat devices --probe`), each
multiply-add alone; the answers are kept in the cache, and `--matrices native` is taken there for what was right.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from coopmat.devices import DeviceInfo, list_devices, opencl
from coopmat.devices.query import COOPERATIVE_MATRIX
from coopmat.matrices import reference
from coopmat.matrices.supported import parse_variants
from coopmat.matrices.variants import Layout, MatrixType, Variant, default_operands

from .cache import Cache, Entry, key_of, package_version
from .device_build import driver_environment

# What matrix instructions of processors can do (docs/backend.md), with a few shapes that end the process elsewhere.
CANDIDATES = parse_variants(
    "16x16x64.s8xs8_s32_s32 16x16x64.u8xu8_s32_s32 16x16x64.s8xu8_s32_s32 16x16x64.u8xs8_s32_s32 8x16x64.s8xs8_s32_s32"
    " 8x16x32.s8xs8_s32_s32 16x16x32.f16xf16_f32_f32 16x16x16.f16xf16_f32_f32"
)
TIMEOUT = 60.0
_RIGHT = "right"

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
    coop_mat_store(c, coop_mat_mulAdd(x, y, z), ROW, {n});
}}
"""


@dataclass(frozen=True)
class Answer:
    """Of one probe. `text` says what went wrong."""

    variant: Variant
    right: bool
    text: str


def probe(device: DeviceInfo, candidates: Iterable[Variant] = CANDIDATES, cache: Cache | None = None) -> list[Answer]:
    """Tries each multiply-add (B packed, as such instructions read it), unless the cache knows the answer."""
    kept = Cache.of_environment() if cache is None else cache
    answers = []
    for variant in candidates:
        entry = kept.get_or_build(_key(device, variant), lambda variant=variant: _entry(_try(device, variant)))  # type: ignore[misc]
        answers.append(Answer(variant, entry.facts["right"], entry.facts["text"]))
    return answers


def proven(device: DeviceInfo, candidates: Iterable[Variant] = CANDIDATES) -> tuple[Variant, ...]:
    """The multiply-adds that a device does not tell of, and that were right when somebody had them tried."""
    if not needs_proof(device):
        return ()
    cache = Cache.of_environment()
    found = ((variant, cache.get(_key(device, variant))) for variant in candidates)
    return tuple(variant for variant, entry in found if entry is not None and entry.facts["right"])


def needs_proof(device: DeviceInfo) -> bool:
    return device.takes_spirv and COOPERATIVE_MATRIX not in device.extensions


def _key(device: DeviceInfo, variant: Variant) -> str:
    return key_of(
        {
            "kind": "native probe",
            "version": package_version(),
            "variant": variant.name,
            "device": [device.platform, device.name, device.version, device.driver],
            "environment": driver_environment(),
        }
    )


def _entry(answer: Answer) -> Entry:
    return Entry(b"", {"right": answer.right, "text": answer.text})


def _try(device: DeviceInfo, variant: Variant) -> Answer:
    command = [sys.executable, "-m", "coopmat.runtime.native_probe", device.index, variant.name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return Answer(variant, False, f"it did not end within {TIMEOUT:.0f} s")
    last = (done.stdout.strip().splitlines() or [""])[-1]
    if done.returncode == 0 and last == _RIGHT:
        return Answer(variant, True, "")
    how = f"the process ended with {done.returncode}" if done.returncode else last
    return Answer(variant, False, "; ".join([how, *(done.stderr.strip().splitlines() or [])[-1:]])[:400])


# --- in the process of its own ---------------------------------------------------------------------


def run(device: DeviceInfo, variant: Variant) -> str:
    """What came out of one multiply-add: "right", or what was wrong."""
    from coopmat import compiler

    a, b, c, _ = variant.matrix_types()
    pack = max(1, 4 // b.component.size)
    names = {"a": a.component.opencl_c, "b": b.component.opencl_c, "c": c.component.opencl_c}
    source = _SOURCE.format(**names, m=variant.m, n=variant.n, k=variant.k, stride=variant.n * pack)
    newest = device.spirv_versions[-1]
    module = compiler.compile(source, ["--matrices", "native", "--spirv-version", newest], name="probe.cl")
    x, y, z = (_values(matrix, seed) for seed, matrix in enumerate((a, b, c)))
    packed = np.zeros(y.size, y.dtype)
    reference.store(packed, y, Layout.PACKED, variant.n * pack)
    expected = reference.mul_add(x, y, z, default_operands(a.component, b.component, c.component))

    cl = opencl()
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    program = cl.Program(context, module.spirv).build()
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (x, packed, z)]
    size = module.kernels["probe"].sub_group_size or 16
    cl.Kernel(program, "probe")(queue, (size,), (size,), *buffers)
    got = np.empty_like(z)
    cl.enqueue_copy(queue, got, buffers[2]).wait()
    wrong = int(np.count_nonzero(got != expected))
    return _RIGHT if not wrong else f"{wrong} of {got.size} components are wrong"


def _values(matrix: MatrixType, seed: int) -> reference.Array:
    """Small integers, with which floating point is exact."""
    rng, low = np.random.default_rng(seed), 0 if matrix.component.name.startswith("u") else -8
    return rng.integers(low, 9, (matrix.rows, matrix.columns)).astype(matrix.component.numpy)


def main(arguments: list[str]) -> int:
    index, name = arguments
    device = next(device for device in list_devices() if device.index == index)
    (variant,) = parse_variants(name)
    print(run(device, variant), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
