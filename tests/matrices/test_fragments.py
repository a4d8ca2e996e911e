"""Products by the vendors' matrix instructions, emulated: shapes, signs, and what no instruction does.

The emulated instructions are another hand's (tests/matrices/vendors), from the vendors' documents.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from repeats import slow_where
from test_x86 import LAYOUTS, SOURCE, values

import coopmat
from coopmat.devices import DeviceInfo, from_key_values, opencl, route_for, unit_for
from coopmat.matrices import fragments, numpy_reference
from coopmat.matrices.routes import LOWERED_ROUTES
from coopmat.matrices.variants import (
    COMPONENT_TYPES,
    EVERY_COMPONENT_TYPE,
    Layout,
    MatrixType,
    Operands,
    Use,
    default_operands,
)
from coopmat.matrices.vendor_instructions import DPAS, FAMILIES, Instruction
from coopmat.options import CompileOptions
from coopmat.runtime import driver, instruction_probe
from coopmat.runtime.launch import compile_for, resolve_options

PRODUCTS = {row.name: (family, row) for family in FAMILIES for row in fragments.products(family)}


def product(device, family, row, names, shape, operands=None, layout=Layout.ROW_MAJOR):
    """Where what comes out is not what should; only this product's instructions are there."""
    if row.lanes not in device.sub_group_sizes:
        pytest.skip(f"the device has no subgroups of {row.lanes}")
    types = tuple(COMPONENT_TYPES[name] for name in names)
    m, n, k = shape
    rng = np.random.default_rng(m * n * k)
    a, b, c = (values(rng, t, s) for t, s in zip(types, ((m, k), (k, n), (m, n)), strict=True))
    stride = {Layout.ROW_MAJOR: n, Layout.COLUMN_MAJOR: k}[layout]
    memory = np.zeros(b.size, b.dtype)
    numpy_reference.store(memory, b, layout, stride)
    mask = "" if operands is None else f", {int(operands)}"
    text = SOURCE.format(m=m, n=n, k=k, layout=LAYOUTS[layout], stride=stride, operands=mask)
    defines = [f"-DT{place}={t.opencl_c}" for place, t in zip("ABC", types, strict=True)]
    arguments = ["--matrices", f"{family}:emulated", "--sub-group-size", str(row.lanes), "-w", *defines]
    options = replace(CompileOptions.from_arguments(arguments), instructions=(row.name,))
    module = compile_for(text.encode(), options, device, name="fragments.cl")
    cl = opencl()
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    kernel = cl.Kernel(driver.build(context, module, device, ()), "multiply")
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (a, memory, c)]
    kernel(queue, (row.lanes,), (row.lanes,), *buffers)
    got = np.empty_like(c)
    cl.enqueue_copy(queue, got, buffers[2]).wait()
    expected, tolerance = numpy_reference.mul_add(
        types, a, b, c, default_operands(*types) if operands is None else operands
    )
    return numpy_reference.wrong_places(types[2], got, expected, tolerance)


# One of each family; all run with --all, those of the newest devices also in the conformance runner.
QUICK = ("mma_m8n8k16_s8_s32", "wmma_gfx12_m16n16k16_s8_s32", "mfma_m16n16k8_bf16_f32", "dpas_m4n8k16_f16_f32")


@pytest.mark.device
@pytest.mark.parametrize("name", slow_where(lambda name: name not in QUICK, PRODUCTS))
def test_products_of_many_tiles(device: DeviceInfo, name):
    family, row = PRODUCTS[name]
    first = row.instructions[-1].a, row.instructions[0].b, row.c[0]
    assert not product(device, family, row, first, (row.m * 2, row.n, row.k * 2)).any()


WRAPPING = Operands.A_SIGNED | Operands.C_SIGNED | Operands.RESULT_SIGNED


@pytest.mark.device
@pytest.mark.parametrize("operands", [WRAPPING, Operands.B_SIGNED, *(o | Operands.SATURATING for o in (WRAPPING, 0))])
@pytest.mark.parametrize("name", ["mma_m8n8k16_s8_s32", "dpas_m2n8k32_s8_s32"])
def test_the_mask_says_the_signs(device: DeviceInfo, name, operands):
    family, row = PRODUCTS[name]
    for c in ("s32", "u32"):
        names = ("s8", "u8", c)
        assert not product(device, family, row, names, (row.m, row.n, row.k), Operands(operands)).any()


@pytest.mark.device
@pytest.mark.parametrize(
    ("names", "shape"),
    [
        (("f16", "f16", "f32"), (16, 24, 20)),
        pytest.param(("f16", "f16", "f32"), (8, 24, 16), marks=pytest.mark.slow),
        (("f16", "f16", "f64"), (16, 8, 16)),
        (("f16", "f16", "f16"), (16, 9, 16)),
        (("s8", "s8", "s16"), (16, 8, 32)),
        pytest.param(("u8", "s8", "s64"), (16, 8, 32), marks=pytest.mark.slow),
        (("f32", "f32", "f32"), (5, 7, 3)),
        pytest.param(("bf16", "f16", "f32"), (16, 16, 16), marks=pytest.mark.slow),
    ],
)
def test_what_no_instruction_does_is_right_all_the_same(device: DeviceInfo, names, shape):
    """Operands that lie for an instruction, each by itself, and are multiplied with others."""
    mma = LOWERED_ROUTES["mma"]
    m, n, k = shape
    a, b, c = (COMPONENT_TYPES[name] for name in names)
    matrices = MatrixType(a, m, k, Use.A), MatrixType(b, k, n, Use.B), MatrixType(c, m, n, Use.ACCUMULATOR)
    assert mma.product(*matrices, default_operands(a, b, c), 32) is None
    for row in mma.products[:3]:
        assert not product(device, "mma", row, names, shape, layout=Layout.COLUMN_MAJOR).any()


def test_every_multiple_of_an_instruction_is_made_of_it():
    for name in ("mma", "wmma", "mfma", "dpas"):
        route = LOWERED_ROUTES[name]
        for row in route.products:
            for a, b, c in ((a, b, c) for a in row.a for b in row.b for c in row.c):
                types = tuple(EVERY_COMPONENT_TYPE[t] for t in (a, b, c))
                for down, across, along in ((1, 1, 1), (2, 1, 3), (1, 2, 1), (4, 2, 2)):
                    m, n, k = row.m * down, row.n * across, row.k * along
                    shapes = (m, k), (k, n), (m, n)
                    matrices = [MatrixType(t, *s, use) for t, s, use in zip(types, shapes, Use, strict=True)]
                    mask = default_operands(*types) if len(row.instructions) > 1 else row_mask(row)
                    assert route.product(*matrices, mask, row.lanes) is not None, (row.name, m, n, k)


@pytest.mark.parametrize("route", FAMILIES)
def test_texts_for_gpus_have_matrices_in_registers(route):
    """No loop counts through a matrix, no array is read as of another type, and nothing is there for what is emulated:
    the vendors' compilers (tools/vendor-compilers) would leave matrices in memory, or refuse the text."""
    row = LOWERED_ROUTES[route].products[0]
    (a, b, c, _), shape = row.variants()[0].components, (4 * row.m, 4 * row.n, 2 * row.k)
    m, n, k = shape
    text = SOURCE.format(m=m, n=n, k=k, layout=LAYOUTS[Layout.ROW_MAJOR], stride=n, operands="")
    defines = [f"-DT{place}={t.opencl_c}" for place, t in zip("ABC", (a, b, c), strict=True)]
    made = coopmat.compile(text, ["--matrices", route, "--sub-group-size", str(row.lanes), "-w", *defines]).opencl_c
    own = made[made.index("cm_load_") :]
    assert row.instructions[0].name in own and '_Pragma("unroll")' in own and "nounroll" not in own
    assert "*)(a + " not in own and "*)(b + " not in own
    emulated = coopmat.compile(
        text, ["--matrices", f"{route}:emulated", "-w", "--sub-group-size", str(row.lanes), *defines]
    )
    assert "nounroll" in emulated.opencl_c


def test_functions_of_emulated_instructions_are_for_those():
    defines = ["-DTA=floate4m3_t", "-DTB=floate4m3_t", "-DTC=float", "--sub-group-size", "32", "-w"]
    text = SOURCE.format(m=16, n=8, k=32, layout=LAYOUTS[Layout.ROW_MAJOR], stride=8, operands="")
    made, emulated = (coopmat.compile(text, ["--matrices", r, *defines]).opencl_c for r in ("mma", "mma:emulated"))
    assert "cm_e4m3(" in emulated and "cm_e4m3(" not in made


def row_mask(row):
    """Of a product that is for one sign only."""
    return Operands.A_SIGNED | Operands.B_SIGNED if row.instructions[0].a == "s8" else Operands.NONE


def test_lowering_of_accumulators_that_lie_alike_moves_nothing():
    mma = LOWERED_ROUTES["mma"]
    sixteen, eight = ((MatrixType(COMPONENT_TYPES[name], 32, 16, Use.ACCUMULATOR)) for name in ("f32", "s32"))
    assert mma.lane_layout(sixteen, 32).lies_as(mma.lane_layout(eight, 32))
    assert not mma.lane_layout(sixteen, 32).lies_as(
        mma.lane_layout(replace(sixteen, component=COMPONENT_TYPES["s64"]), 32)
    )


# The last repeats the first, with a build of 10 s.
PROBED = slow_where(
    lambda name: name.startswith("mfma"), ["dpas_m8n8k16_f16_f32", "dpas_m1n16k32_s8_s32", "mfma_m16n16k8_bf16_f32"]
)


@pytest.mark.device
@pytest.mark.parametrize("name", PROBED)
def test_a_probe_tries_the_product_that_it_names(device: DeviceInfo, name, monkeypatch):
    """In its subgroups, and with no other; a wrong one is seen."""
    family, row = PRODUCTS[name]
    if row.lanes not in device.sub_group_sizes:
        pytest.skip(f"the device has no subgroups of {row.lanes}")
    question = f"{family}:emulated {name}"
    assert instruction_probe.run(device, question) == "right"
    text = Instruction.emulated.fget
    short = property(lambda self: text(self).replace(f", {self.k}, ", f", {self.k - 1}, "))
    monkeypatch.setattr(Instruction, "emulated", short)
    assert "components are wrong" in instruction_probe.run(device, question)


def test_devices_are_asked_for_what_they_may_have(monkeypatch):
    """By compute capability, by AMD's names, by extension; nobody else is."""
    asked = []
    monkeypatch.setattr(instruction_probe, "_is_right", lambda device, question, asks: bool(asked.append(question)))
    monkeypatch.setattr(instruction_probe, "compute_capability", lambda device: 80)
    gpu = from_key_values('CL_DEVICE_TYPE="GPU"\nCL_PLATFORM_NAME="NVIDIA CUDA"\nCL_DEVICE_NAME="A100"', "gpu.txt")
    assert instruction_probe.instructions(gpu, "mma") == ()
    assert len(asked) == 9 and not any("e4m3" in question for question in asked) and unit_for(gpu) == "mma"
    monkeypatch.setattr(instruction_probe, "compute_capability", lambda device: None)
    counts = (("gfx1100", "wmma", 4), ("gfx1201", "wmma", 5), ("gfx90a", "mfma", 5), ("gfx942", "mfma", 4))
    for name, family, count in counts:
        asked.clear()
        amd = replace(gpu, platform="AMD Accelerated Parallel Processing", name=name)
        assert instruction_probe.instructions(amd, family) == () and unit_for(amd) == family
        assert len(asked) == count, (name, asked)
    asked.clear()
    intel = replace(gpu, platform="Intel(R) OpenCL Graphics", name="Arc", extensions=frozenset({DPAS}))
    assert instruction_probe.instructions(intel, "dpas") == () and unit_for(intel) == "dpas"
    assert len(asked) == 24
    assert instruction_probe.instructions(gpu, "wmma") == () and len(asked) == 24


@pytest.mark.device
def test_a_route_that_the_device_has_not_is_told(device: DeviceInfo, caplog):
    options = resolve_options(CompileOptions(matrices="mma"), device)
    assert options.matrices == route_for(device).matrices and options.code == "auto"
    assert "executes no instruction of --matrices mma correctly" in caplog.text
