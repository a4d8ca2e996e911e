"""Products by a processor's dot products: every sign, every layout, and what may not be had in another way."""

import itertools
import re
import sys
from dataclasses import replace

import numpy as np
import pytest

import coopmat
from coopmat.devices import DeviceInfo, opencl
from coopmat.matrices import numpy_reference
from coopmat.matrices.lowering import exported, prelude
from coopmat.matrices.routes import LOWERED_ROUTES
from coopmat.matrices.variants import COMPONENT_TYPES, Layout, Operands
from coopmat.options import LINKED, CompileOptions, UsageError
from coopmat.runtime import driver, instruction_probe
from coopmat.runtime.launch import compile_for, resolve_options

ROUTES = ("x86", "x86:emulated")
# The package has a function of that name.
LAUNCH = sys.modules["coopmat.runtime.launch"]
LAYOUTS = {Layout.ROW_MAJOR: "ROW_MAJOR", Layout.COLUMN_MAJOR: "COLUMN_MAJOR", Layout.PACKED: "PACKED"}

SOURCE = """
#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable
#define M(R, C, U) coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, R, C, CLK_COOPERATIVE_MATRIX_##U)
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef TA A __attribute__((M({m}, {k}, A)));
typedef TB B __attribute__((M({k}, {n}, B)));
typedef TC C __attribute__((M({m}, {n}, ACCUMULATOR)));
kernel void multiply(global const TA *a, global const TB *b, global TC *c)
{{
    A x = coop_mat_load(a, ROW, {k});
    B y = coop_mat_load(b, CLK_COOPERATIVE_MATRIX_LAYOUT_{layout}, {stride});
    C z = coop_mat_load(c, ROW, {n});
    coop_mat_store(c, coop_mat_mulAdd(x, y, z{operands}), ROW, {n});
}}
"""


def instructions(device: DeviceInfo, route: str, name: str) -> None:
    """Skips where the processor has not that one."""
    if route == "x86" and name not in instruction_probe.instructions(device, route):
        pytest.skip(f"the device has no {name}")


def product(device, route, names, shape, layout, operands=None, seed=0):
    """What comes out, and what should: of operands that reach the ends of their types."""
    types = [COMPONENT_TYPES[name] for name in names]
    m, n, k = shape
    rng = np.random.default_rng(seed)
    a, b, c = (values(rng, t, s) for t, s in zip(types, ((m, k), (k, n), (m, n)), strict=True))
    pack = layout.pack(types[1])
    stride = {Layout.ROW_MAJOR: n, Layout.COLUMN_MAJOR: k, Layout.PACKED: n * pack}[layout]
    memory = np.zeros(b.size, b.dtype)
    numpy_reference.store(memory, b, layout, stride)
    mask = "" if operands is None else f", {int(operands)}"
    text = SOURCE.format(m=m, n=n, k=k, layout=LAYOUTS[layout], stride=stride, operands=mask)
    defines = [f"-DT{place}={t.opencl_c}" for place, t in zip("ABC", types, strict=True)]
    options = CompileOptions.from_arguments(["--matrices", route, "-w", *defines])
    module = compile_for(text.encode(), options, device, name="x86.cl")
    cl = opencl()
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    kernel = cl.Kernel(driver.build(context, module, device, ()), "multiply")
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (a, memory, c)]
    kernel(queue, (1,), (1,), *buffers)
    got = np.empty_like(c)
    cl.enqueue_copy(queue, got, buffers[2]).wait()
    signs = zip(types, (Operands.A_SIGNED, Operands.B_SIGNED, Operands.C_SIGNED), strict=True)
    usual = sum((bit for t, bit in signs if t.is_integer and t.signed), Operands.NONE)
    usual |= Operands.RESULT_SIGNED if usual & Operands.C_SIGNED else Operands.NONE
    expected, tolerance = numpy_reference.mul_add(
        tuple(types), a, b, c, usual if operands is None else Operands(operands)
    )
    return numpy_reference.wrong_places(types[2], got, expected, tolerance)


def values(rng, t, shape):
    if not t.is_integer:
        values = rng.uniform(-4, 4, shape).astype(np.float32)
        return numpy_reference.encode_bits(t, values) if t.is_bits else values.astype(t.numpy)
    ends = np.iinfo(t.numpy)
    values = rng.integers(ends.min, ends.max, shape, dtype=t.numpy, endpoint=True)
    return np.where(rng.random(shape) < 0.3, rng.choice([ends.min, ends.max], shape), values).astype(t.numpy)


@pytest.mark.device
@pytest.mark.covering
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("b", ("s8", "u8"))
@pytest.mark.parametrize("a", ("s8", "u8"))
@pytest.mark.parametrize("route", ROUTES)
def test_bytes_of_every_sign(device: DeviceInfo, route, a, b, layout):
    instructions(device, route, "vpdpbusd")
    for number, (c, shape) in enumerate((("s32", (16, 16, 32)), ("u32", (3, 48, 4)))):
        assert not product(device, route, (a, b, c), shape, layout, seed=number).any(), (c, shape)


@pytest.mark.device
@pytest.mark.covering
@pytest.mark.parametrize("saturating", (0, int(Operands.SATURATING)))
@pytest.mark.parametrize("c", ("s8", "u8", "s16", "u16", "s32", "u32", "s64"))
@pytest.mark.parametrize("route", ROUTES)
def test_the_mask_says_the_signs(device: DeviceInfo, route, c, saturating):
    instructions(device, route, "vpdpbusd")
    for mask in (0, 3) if saturating else (1, 2):
        result = 12 if c.startswith("s") else 0
        operands = Operands(mask | result | saturating)
        assert not product(device, route, ("s8", "u8", c), (4, 16, 8), Layout.ROW_MAJOR, operands, mask).any(), mask


@pytest.mark.device
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_bfloat16(device: DeviceInfo, route, layout):
    instructions(device, route, "vdpbf16ps")
    for number, shape in enumerate(((16, 16, 16), (3, 48, 2))):
        assert not product(device, route, ("bf16", "bf16", "f32"), shape, layout, seed=number).any(), shape


CONVERSION = """
#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable
#define B(T) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 16, CLK_COOPERATIVE_MATRIX_B)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef char C B(char);
typedef short S B(short);
typedef float F B(float);
kernel void convert(global char *p, global float *f)
{
    C c = coop_mat_load(p, ROW, 16);
    F wide = (F)c;
    coop_mat_store(f, wide * 2.0f, ROW, 16);
    C back = coop_mat_convert_sat(wide * 2.0f);
    back = -back;
    for (uint i = 0; i < coop_mat_length(back); i++) {
        uint2 at = coop_mat_coord(back, i);
        back[i] += (char)(at.x == 3 && at.y == 5);
    }
    coop_mat_store(p, back, ROW, 16);
}
"""


@pytest.mark.device
@pytest.mark.parametrize("route", ROUTES)
def test_a_matrix_that_lies_in_packs_is_as_any_other(device: DeviceInfo, route):
    instructions(device, route, "vpdpbusd")
    x = np.arange(-64, 64, dtype=np.int8).reshape(8, 16)
    cl = opencl()
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    program = coopmat.Program(context, CONVERSION).build(f"--matrices {route} -w")
    bytes_, floats = x.copy(), np.zeros(x.shape, np.float32)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (bytes_, floats)]
    program.convert(queue, (1,), (1,), *buffers)
    for array, buffer in zip((bytes_, floats), buffers, strict=True):
        cl.enqueue_copy(queue, array, buffer).wait()
    doubled = 2 * x.astype(np.int32)
    assert (floats == doubled).all()
    expected = -np.clip(doubled, -128, 127).astype(np.int8)
    expected[3, 5] += 1
    assert (bytes_ == expected).all()


# --- what is chosen --------------------------------------------------------------------------------


def compiled(*options: str) -> coopmat.Module:
    text = SOURCE.format(m=16, n=16, k=32, layout="ROW_MAJOR", stride=16, operands="")
    return coopmat.compile(text, ["-DTA=char", "-DTB=char", "-DTC=int", *options], name="x86.cl")


def test_the_prelude_takes_the_place_of_what_emulates():
    real, emulated = (compiled("--matrices", route, "--code=c").opencl_c for route in ROUTES)
    assert 'asm__("llvm.x86.avx512.vpdpbusd.512")' in real and "llvm" not in emulated
    assert real.count("uint16 cm_vpdpbusd(uint16 c") == emulated.count("uint16 cm_vpdpbusd(uint16 c") == 1
    none = coopmat.compile("kernel void k(global int *p) { p[0] = 1; }", ["--matrices", "x86"]).opencl_c
    assert "llvm" not in none


def test_a_device_that_links_gets_a_module_that_imports():
    options = replace(compiled("--matrices", "x86").options, code=LINKED)
    module = coopmat.compiler.recompile(compiled("--matrices", "x86"), options)
    names = re.findall(r'LinkageAttributes "(\w+)" Import', module.spirv_text)
    assert sorted(names) == ["cm_interleave4", "cm_vpdpbusd"] and module.code == "spirv"
    text, functions = prelude("x86")
    assert set(names) < functions and all(f" {name}(" in exported(text) for name in functions)
    assert "static" not in exported(text)


def test_it_is_opencl_c_only():
    assert compiled("--matrices", "x86").code == "c"
    with pytest.raises(coopmat.CompileError, match="OpenCL C only"):
        compiled("--matrices", "x86").spirv  # noqa: B018
    with pytest.raises(UsageError, match="x86:emulated"):
        compiled("--matrices", "x86", "--code=spirv")
    assert compiled("--matrices", "x86:emulated").spirv


def intel() -> DeviceInfo:
    return DeviceInfo(
        index="0:0", platform="Intel(R) OpenCL", name="CPU", kind="CPU", version="OpenCL 3.0", driver="1",
        spirv_versions=("1.4",), sub_groups=True, sub_group_sizes=(16,), extensions=frozenset(), fp16=True, fp64=True,
        compute_units=2, local_memory=32768, opencl_c="CL3.0", handle=object(),
    )  # fmt: skip


@pytest.mark.parametrize("there", [(), ("vdpbf16ps",), ("vpdpbusd",)])
def test_it_is_taken_where_it_is_right(monkeypatch, there):
    # This machine's processor may have neither, and then the device is not asked.
    monkeypatch.setattr(LAUNCH, "likely_instructions", lambda device, route: ("vdpbf16ps", "vpdpbusd"))
    monkeypatch.setattr(LAUNCH, "instructions", lambda device, route: there)
    text = SOURCE.format(m=16, n=16, k=32, layout="ROW_MAJOR", stride=16, operands="").encode()
    types = {"s8": ("char", "char", "int"), "bf16": ("bfloat16", "bfloat16", "float"), "f32": ("float",) * 3}
    for name, (a, b, c) in types.items():
        options = CompileOptions.from_arguments(["--matrices", "auto", f"-DTA={a}", f"-DTB={b}", f"-DTC={c}"])
        module = compile_for(text, options, intel(), name="x86.cl")
        is_there = {"s8": "vpdpbusd", "bf16": "vdpbf16ps"}.get(name) in there
        assert (module.matrices, module.options.code) == (("x86", LINKED) if is_there else ("one", "auto")), name


def test_auto_asks_nothing_without_a_product(monkeypatch):
    def fail(device, route):
        raise AssertionError("asked")

    monkeypatch.setattr(LAUNCH, "instructions", fail)
    options = resolve_options(CompileOptions.from_arguments(["--matrices", "auto"]), intel())
    assert options.unit == "x86" and options.matrices == "one"
    compile_for(b"kernel void k(global int *p) { p[0] = 1; }", CompileOptions(matrices="auto"), intel(), name="k.cl")


def test_the_environments_route_takes_the_place_of_the_devices(monkeypatch):
    monkeypatch.setenv("COOPMAT_ROUTE", "lanes")
    options = resolve_options(CompileOptions(matrices="auto"), intel())
    assert (options.matrices, options.unit) == ("lanes", "")
    assert resolve_options(CompileOptions(matrices="scratch"), intel()).matrices == "scratch"
    monkeypatch.setenv("COOPMAT_ROUTE", "fast")
    with pytest.raises(coopmat.CompileError, match="COOPMAT_ROUTE is one of"):
        resolve_options(CompileOptions(matrices="auto"), intel())


@pytest.mark.device
def test_what_the_device_has_not_is_not_used(device: DeviceInfo, monkeypatch):
    """A processor without the instructions is not asked, and whose answer is wrong is not believed."""
    monkeypatch.setattr(instruction_probe, "processor", lambda: ("flags : sse2",))
    assert instruction_probe.instructions(device, "x86") == ()
    monkeypatch.setattr(instruction_probe, "processor", lambda: ("flags : avx512_vnni avx512_bf16",))
    monkeypatch.setattr(instruction_probe, "_FUNCTION", "os:no_such_function")
    assert instruction_probe.instructions(device, "x86") == ()


TRANSPOSES = """
#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable
#define M_(R, C, U) coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, R, C, CLK_COOPERATIVE_MATRIX_##U)
#define M(R, C, U) M_(R, C, U)
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef char From __attribute__((M(16, 32, FROM)));
typedef char To __attribute__((M(32, 16, TO)));
kernel void turn(global const char *p, global char *q)
{
    From x = coop_mat_load(p, ROW, 32);
    To y = coop_mat_transpose(x);
    coop_mat_store(q, y, ROW, 16);
}
"""


USES = [
    pytest.param((a, b), marks=[pytest.mark.slow] if a == b or "ACCUMULATOR" not in (a, b) else [])
    for a, b in itertools.product(("A", "B", "ACCUMULATOR"), repeat=2)
]


@pytest.mark.device
@pytest.mark.parametrize(("route", "lanes"), [("x86:emulated", 1), ("mma:emulated", 32), ("dpas:emulated", 16)])
@pytest.mark.parametrize("uses", USES, ids="-".join)
def test_the_transposed_may_lie_otherwise(device: DeviceInfo, route, lanes, uses):
    """For its use, as what it is made of lies for another."""
    if lanes > 1 and lanes not in device.sub_group_sizes:
        pytest.skip(f"the device has no subgroups of {lanes}")
    x = np.random.default_rng(5).integers(-128, 128, (16, 32)).astype(np.int8)
    options = CompileOptions.from_arguments(["--matrices", route, "-w", f"-DFROM={uses[0]}", f"-DTO={uses[1]}"])
    module = compile_for(TRANSPOSES.encode(), options, device, name="turn.cl")
    cl = opencl()
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    source, result = (cl.Buffer(context, flags, hostbuf=array) for array in (x, np.zeros_like(x)))
    cl.Kernel(driver.build(context, module, device, ()), "turn")(queue, (lanes,), (lanes,), source, result)
    got = np.empty((32, 16), np.int8)
    cl.enqueue_copy(queue, got, result).wait()
    assert (got == x.T).all()


def test_only_whole_multiples_go_by_the_instructions():
    x86 = LOWERED_ROUTES["x86"]
    for product_ in x86.products:
        if product_.keeps_state:
            # Of those of tiles (test_tiles.py) vectors take the rest.
            continue
        a, b, c, _ = product_.variants(3, 2, 3)[0].matrix_types()
        assert x86.product(a, b, c, Operands.NONE, 1) is product_ and x86.lane_layout(b, 1).pack == product_.pack
        a, b = replace(a, columns=a.columns - 1), replace(b, rows=b.rows - 1)
        assert x86.product(a, b, c, Operands.NONE, 1) is None and x86.lane_layout(b, 1).name == "WHOLE"
