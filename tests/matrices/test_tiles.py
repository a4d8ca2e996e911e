"""AMX on the route `x86`: the numbers by emulation, the instructions by LLVM's assembly, and work-items kept apart.

Processors without tiles skip the tests that run them (docs/vendors.md).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from repeats import slow_where
from test_x86 import LAUNCH, SOURCE, product, values

import coopmat
from coopmat.devices import DeviceInfo, opencl
from coopmat.diagnostics import Severity
from coopmat.matrices import lowering, numpy_reference
from coopmat.matrices.lowering import prelude
from coopmat.matrices.routes import LOWERED_ROUTES
from coopmat.matrices.variants import COMPONENT_TYPES, Layout, Operands
from coopmat.options import CompileOptions
from coopmat.runtime import driver, instruction_probe
from coopmat.runtime.device_build import cache_key
from coopmat.runtime.launch import compile_for

SIGNS = {("s8", "s8"): "tdpbssd", ("s8", "u8"): "tdpbsud", ("u8", "s8"): "tdpbusd", ("u8", "u8"): "tdpbuud"}
TILES = [row for row in LOWERED_ROUTES["x86"].products if row.keeps_state]
NAMES = [row.name for row in TILES]
BF16 = "bf16", "bf16"
# One tile; an end in each direction; several blocks of several tiles.
SHAPES = ((16, 16, 64), (48, 16, 128), (16, 48, 64), (64, 32, 192))


def source(types: tuple[str, str, str], shape: tuple[int, int, int], operands: str = "") -> tuple[str, list[str]]:
    m, n, k = shape
    text = SOURCE.format(m=m, n=n, k=k, layout="ROW_MAJOR", stride=n, operands=operands)
    return text, [f"-DT{place}={COMPONENT_TYPES[name].opencl_c}" for place, name in zip("ABC", types, strict=True)]


def compiled(types: tuple[str, str, str], shape: tuple[int, int, int], route: str = "x86") -> coopmat.Module:
    text, defines = source(types, shape)
    return coopmat.compile(text, [*defines, "--matrices", route, "-Rpass=matrix"], name="tiles.cl")


# --- numbers ---------------------------------------------------------------------------------------


@pytest.mark.device
@pytest.mark.parametrize("types", SIGNS, ids="-".join)
@pytest.mark.parametrize(
    "layout", slow_where(lambda layout: layout is Layout.PACKED, [Layout.ROW_MAJOR, Layout.PACKED])
)
def test_bytes_emulated(device: DeviceInfo, types: tuple[str, str], layout: Layout) -> None:
    for number, shape in enumerate(SHAPES):
        for c in ("s32", "u32"):
            assert not product(device, "x86:emulated", (*types, c), shape, layout, seed=number).any(), (shape, c)


@pytest.mark.device
@pytest.mark.parametrize("layout", [Layout.ROW_MAJOR, Layout.PACKED])
def test_bfloat16_emulated(device: DeviceInfo, layout: Layout) -> None:
    for number, (m, n, k) in enumerate(SHAPES):
        assert not product(device, "x86:emulated", (*BF16, "f32"), (m, n, k // 2), layout, seed=number).any(), (m, n, k)


@pytest.mark.device
@pytest.mark.parametrize("shape", [(15, 16, 64), (16, 32, 60), (40, 16, 64)])
def test_other_shapes_are_left_to_vectors(device: DeviceInfo, shape: tuple[int, int, int]) -> None:
    assert not product(device, "x86:emulated", ("s8", "u8", "s32"), shape, Layout.ROW_MAJOR).any()
    text = compiled(("s8", "u8", "s32"), shape, "x86:emulated").opencl_c
    assert "cm_tile_load" not in text and "cm_vpdpbusd" in text


# --- what is chosen --------------------------------------------------------------------------------


def test_each_choice_of_signs_has_its_instruction() -> None:
    x86 = LOWERED_ROUTES["x86"]
    for row in TILES:
        for variant in row.variants():
            a, b, c, _ = variant.matrix_types()
            mask = Operands(row.signs)
            assert x86.product(a, b, c, mask, 1) is row and x86.lane_layout(b, 1).pack == row.pack
            if a.component.is_integer:
                assert row.name == SIGNS[a.component.name, b.component.name]
                assert x86.product(a, b, c, mask | Operands.SATURATING, 1).name == "vpdpbusd"
    assert sorted(NAMES) == sorted([*SIGNS.values(), "tdpbf16ps"])


@pytest.mark.parametrize(
    ("types", "shape", "expected"),
    [
        (("s8", "u8", "s32"), (32, 32, 128), "8 of tdpbsud (16 x 16 x 64)"),
        ((*BF16, "f32"), (16, 16, 96), "3 of tdpbf16ps (16 x 16 x 32)"),
        (("s8", "s8", "s16"), (16, 16, 64), "256 of vpdpbusd (1 x 16 x 4)"),
    ],
)
def test_remarks_name_it(types: tuple[str, str, str], shape: tuple[int, int, int], expected: str) -> None:
    module = compiled(types, shape)
    assert module.opencl_c
    (remark,) = (item for item in module.diagnostics if item.severity is Severity.REMARK)
    assert remark.message.endswith(expected)


def test_the_processor_and_the_system_are_asked(device: DeviceInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    granted: list[bool] = []

    def answer(device: DeviceInfo, question: str, asks: bool) -> bool:
        asked.append(question.split()[1])
        return True

    def ask_system() -> bool:
        granted.append(True)
        return len(granted) == 1

    monkeypatch.setattr(instruction_probe, "_is_right", answer)
    monkeypatch.setattr(instruction_probe, "may_use_tiles", ask_system)
    monkeypatch.setattr(instruction_probe, "processor", lambda: ("flags : avx512_vnni amx_int8",))
    assert instruction_probe.instructions(device, "x86") == ("vpdpbusd",) and not granted
    monkeypatch.setattr(instruction_probe, "processor", lambda: ("flags : avx512_vnni amx_tile amx_bf16",))
    assert instruction_probe.instructions(device, "x86") == ("tdpbf16ps", "vpdpbusd")
    assert instruction_probe.instructions(device, "x86") == ("vpdpbusd",)
    assert asked == ["vpdpbusd", "tdpbf16ps", "vpdpbusd", "vpdpbusd"] and len(granted) == 2


# --- the assembly ----------------------------------------------------------------------------------


def assembled(text: str) -> list[list[str]]:
    """The instructions on tiles, and those of the dot products, with their operands."""
    clang = next(filter(None, map(shutil.which, ("clang-19", "clang"))), None)
    if clang is None:
        pytest.skip("there is no clang")
    command = [clang, "-target", "x86_64", "-march=sapphirerapids", "-x", "cl", "-cl-std=CL3.0", "-w", "-O2", "-S"]
    # A process of its own, as LLVM may end it.
    done = subprocess.run([*command, "-o", "-", "-"], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    lines = (re.split(r"\s+", line.strip(), maxsplit=1) for line in done.stdout.splitlines())
    return [words for words in lines if re.fullmatch(r"tdp\w+|tile\w+|ldtilecfg|vpdpbusd|vdpbf16ps", words[0])]


def register(operands: str) -> list[int]:
    return [int(number) for number in re.findall(r"%tmm(\d)", operands)]


@pytest.mark.parametrize("types", [*SIGNS, BF16], ids="-".join)
def test_the_assembly_has_as_many_as_the_shape_needs(types: tuple[str, str]) -> None:
    is_float = types == BF16
    name, depth, c = ("tdpbf16ps", 32, "f32") if is_float else (SIGNS[types], 64, "s32")
    lines = assembled(compiled((*types, c), (32, 32, depth)).opencl_c)
    counts = Counter(words[0] for words in lines)
    assert counts == {"ldtilecfg": 1, "tileloadd": 8, name: 4, "tilestored": 4, "tilerelease": 1}
    assert lines[0][0] == "ldtilecfg" and lines[-1][0] == "tilerelease"
    # In this order of operands: B, A, and C, which is added to.
    assert [register(words[1]) for words in lines if words[0] == name] == [[6, 4, 0], [7, 4, 1], [6, 5, 2], [7, 5, 3]]
    assert [register(words[1]) for words in lines if words[0] == "tilestored"] == [[0], [1], [2], [3]]
    loaded = [register(words[1]) for words in lines if words[0] == "tileloadd"]
    assert sorted(loaded) == [[n] for n in range(8)]
    one = Counter(words[0] for words in assembled(compiled((*types, c), (16, 16, depth)).opencl_c))
    assert one == {"ldtilecfg": 1, "tileloadd": 3, name: 1, "tilestored": 1, "tilerelease": 1}


@pytest.mark.parametrize(
    ("types", "shape", "name", "count"),
    [(("u8", "s8", "s32"), (4, 16, 16), "vpdpbusd", 16), ((*BF16, "f32"), (4, 32, 4), "vdpbf16ps", 16)],
)
def test_the_assembly_of_dot_products(
    types: tuple[str, str, str], shape: tuple[int, int, int], name: str, count: int
) -> None:
    assert Counter(words[0] for words in assembled(compiled(types, shape).opencl_c)) == {name: count}


# The labels of the prelude as LLVM IR; a tile's number is a constant.
_ASSEMBLE = """
import sys
from llvmlite import binding as llvm
llvm.initialize_all_targets(); llvm.initialize_all_asmprinters()
module = llvm.parse_assembly(sys.stdin.read()); module.verify()
machine = llvm.Target.from_triple("x86_64-unknown-linux-gnu").create_target_machine(
    cpu="x86-64-v4", features="+amx-tile,+amx-int8,+amx-bf16")
print(machine.emit_assembly(module))
"""


def test_the_labels_are_intrinsics_of_llvm() -> None:
    text, types = prelude("x86")[0], {"uchar": "i8", "ulong": "i64"}
    declared = re.findall(r'^void \w+\(([^)]*)\) __asm__\("(llvm\.x86\.t[^"]*|llvm\.x86\.ldtilecfg)"\);', text, re.M)
    assert len(declared) == 9
    lines, calls = [], []
    for parameters, label in declared:
        kinds = ["ptr" if "*" in p else types[p.strip()] for p in parameters.split(",") if p.strip() != "void"]
        lines.append(f"declare void @{label}({', '.join(kinds)})")
        given = {"ptr": "ptr %p", "i64": "i64 64"}
        passed = ", ".join(given.get(kind) or f"i8 {number}" for number, kind in enumerate(kinds))
        calls.append(f"  call void @{label}({passed})")
    module = "\n".join([*lines, "define void @f(ptr %p) {", *calls, "  ret void", "}"])
    command = [sys.executable, "-c", _ASSEMBLE]
    done = subprocess.run(command, input=module, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = {words[0] for line in done.stdout.splitlines() if (words := line.split())}
    assert found >= {*NAMES, "ldtilecfg", "tilerelease", "tileloadd", "tilestored"} and "callq" not in found


# What the device's own compiler makes for a processor with tiles, whatever this one is: built, and never run.
_BUILD = """
import sys
from test_tiles import *
from coopmat.devices import list_devices
device = next(d for d in list_devices() if d.kind == "CPU" and d.platform.startswith("Intel"))
try:
    context = opencl().Context([device.handle])
except opencl().Error as error:
    sys.exit(f"no such processor: {error}")
LAUNCH.instructions = lambda device, route: tuple(NAMES)
*types, depth = sys.argv[1:]
text, defines = source(types, (32, 32, int(depth)))
module = compile_for(text.encode(), CompileOptions.from_arguments([*defines, "--matrices", "x86"]), device, name="t.cl")
(binary,) = driver.build(context, module, device).get_info(opencl().program_info.BINARIES)
print(module.code, binary.hex())
"""
# VEX's prefix and the opcode (Intel's SDM, volume 2).
CODES = {"tdpbssd": (3, 0x5E), "tdpbsud": (2, 0x5E), "tdpbusd": (1, 0x5E), "tdpbuud": (0, 0x5E), "tdpbf16ps": (2, 0x5C)}


def machine_code(name: str, c: int, a: int, b: int) -> bytes:
    prefix, opcode = CODES[name]
    return bytes([0xC4, 0xE2, (15 - b) << 3 | prefix, opcode, 0xC0 | c << 3 | a])


@pytest.mark.device
@pytest.mark.parametrize("types", [*SIGNS, BF16], ids="-".join)
def test_the_devices_compiler_makes_them(device: DeviceInfo, types: tuple[str, str]) -> None:
    """Of the SPIR-V as it is linked with the prelude's C. A process of its own, as a compiler may end it."""
    if not (device.platform.startswith("Intel") and device.kind == "CPU"):
        pytest.skip("the route is for Intel's CPU runtime")
    name, *rest = ("tdpbf16ps", "f32", "32") if types == BF16 else (SIGNS[types], "s32", "64")
    paths = [str(Path(__file__).parent), *sys.path]
    environment = os.environ | {"CL_CONFIG_CPU_TARGET_ARCH": "sapphirerapids", "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-c", _BUILD, *types, *rest]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if "no such processor" in done.stderr:
        pytest.skip("this version of the runtime makes no code for processors with tiles here")
    assert done.returncode == 0, done.stderr[-4000:]
    form, binary = done.stdout.split()[-2:]
    code = bytes.fromhex(binary)
    assert form == "spirv"
    for other in NAMES:
        counts = [code.count(machine_code(other, n, 4 + n // 2, 6 + n % 2)) for n in range(4)]
        assert counts == [int(other == name)] * 4, (other, counts)
    # TILERELEASE, and LDTILECFG with any address.
    assert code.count(bytes.fromhex("c4e27849c0")) == 1 and code.count(bytes.fromhex("c4e27849")) == 2


# --- work-items ------------------------------------------------------------------------------------

ITEMS = """
#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable
#define M(R, C, U) coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, R, C, CLK_COOPERATIVE_MATRIX_##U)
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef char A __attribute__((M(32, 64, A)));
typedef char B __attribute__((M(64, 16, B)));
typedef int C __attribute__((M(32, 16, ACCUMULATOR)));
C twice(A a, B b, C c) { return coop_mat_mulAdd(a, b, coop_mat_mulAdd(a, b, c)); }
kernel void multiply(global const char *a, global const char *b, global int *c)
{
    size_t i = get_global_id(0);
    A x = coop_mat_load(a + i * 2048, ROW, 64);
    B y = coop_mat_load(b + i * 1024, ROW, 16);
    C z = coop_mat_load(c + i * 512, ROW, 16);
    if (i % 3 != 1)
        z = twice(x, y, z);
    coop_mat_store(c + i * 512, z, ROW, 16);
}
"""


def shared_tiles() -> str:
    """A prelude whose tiles are one place for all work-items, as registers are, and whose functions stay calls, as
    instructions do: a compiler that made vectors of work-items would mix them up."""
    emulation = lowering.library_sections("x86.cl")["PROLOGUE"].replace("CM_FUNCTION ", "static inline ")
    apart = []
    for text in re.split(r"(?=^static inline )", emulation, flags=re.M):
        if re.match(r"static inline void cm_t", text):
            head, brace, body = text.replace("cm_tile_bytes(tiles", "cm_tile_bytes(own").partition("{")
            text = f"{head.replace('*tiles', '*own')}{brace} global uint16 *tiles = cm_registers; {body}"
            text = text.replace("static inline void", "static inline __attribute__((noinline)) void")
        apart.append(text.replace("__private const uint16 *tiles, int n, int r", "global uint16 *tiles, int n, int r"))
    text = "".join(apart).replace("(__private const uint *)(tiles", "(global const uint *)(tiles")
    return "global uint16 cm_registers[128];\n" + text


@pytest.mark.device
@pytest.mark.parametrize("items", [1, 16, 21, 64])
@pytest.mark.parametrize("registers", ["memory", "tiles"])
def test_work_items_do_not_share_registers(
    device: DeviceInfo, monkeypatch: pytest.MonkeyPatch, items: int, registers: str
) -> None:
    """Calls of functions with private pointers, linked to a device's own C, one work-item after the other."""
    if not (device.platform.startswith("Intel") and device.kind == "CPU"):
        pytest.skip("the route is for Intel's CPU runtime")
    if registers == "tiles" and "tdpbssd" not in instruction_probe.instructions(device, "x86"):
        pytest.skip("the device has no tdpbssd")
    if registers == "memory":
        monkeypatch.setattr(LAUNCH, "instructions", lambda device, route: tuple(NAMES))
        monkeypatch.setattr(driver, "prelude", lambda route: (shared_tiles(), prelude(route)[1]))
    options = CompileOptions.from_arguments(["--matrices", "x86", "-w"])
    module = compile_for(ITEMS.encode(), options, device, name="items.cl")
    assert "cm_tdpbssd" in module.spirv_text
    rng, t = np.random.default_rng(items), [COMPONENT_TYPES[name] for name in ("s8", "s8", "s32")]
    shapes = (32, 64), (64, 16), (32, 16)
    a, b, c = (values(rng, row, (items, *shape)) for row, shape in zip(t, shapes, strict=True))
    cl = opencl()
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    kernel = cl.Kernel(driver.build(context, module, device, ()), "multiply")
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (a, b, c)]
    kernel(queue, (items,), (items,), *buffers)
    got = np.empty_like(c)
    cl.enqueue_copy(queue, got, buffers[2]).wait()
    for i in range(items):
        expected = c[i]
        for _ in range(2 * (i % 3 != 1)):
            expected, _ = numpy_reference.mul_add(tuple(t), a[i], b[i], expected, Operands(15))
        assert (got[i] == expected).all(), i


@pytest.mark.device
def test_nor_where_the_compiler_must_make_vectors_of_work_items() -> None:
    """It then does so with every kernel that does not say otherwise; these tests fail without that."""
    test = f"{__file__}::{test_work_items_do_not_share_registers.__name__}"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
    environment = os.environ | {"CL_CONFIG_CPU_VECTORIZER_MODE": "16"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]


def test_kernels_with_tiles_are_not_made_vectors_of() -> None:
    text, defines = source(("s8", "s8", "s32"), (16, 16, 64))
    for route, instructions, said in (
        ("x86", None, True),
        ("x86", ("vpdpbusd",), False),
        ("x86:emulated", None, False),
    ):
        options = replace(CompileOptions.from_arguments([*defines, "--matrices", route]), instructions=instructions)
        module = coopmat.compiler.compile(text.encode(), options, name="tiles.cl")
        assert ("vec_type_hint(float16)" in module.opencl_c) == said


# --- binaries from the cache -----------------------------------------------------------------------


def test_the_permission_is_requested_for_binaries_from_the_cache(
    device: DeviceInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that has compiled nothing lacks the permission, and its first tile instruction would end it."""
    if not device.platform.startswith("Intel(R)"):
        pytest.skip("the route is for Intel's CPU runtime")
    keys, features = set(), [*instruction_probe.processor(), "amx_tile amx_int8"]
    monkeypatch.setattr(instruction_probe, "processor", lambda: features)
    for granted in (True, False):
        requests: list[bool] = []
        monkeypatch.setattr(instruction_probe, "may_use_tiles", lambda g=granted, r=requests: r.append(g) or g)
        keys.add(cache_key(device, "kernel void k() {}", CompileOptions(), ()))
        assert requests
    assert len(keys) == 2  # a process without the permission has binaries of its own


_TWICE = """
import sys, numpy as np, pyopencl as cl, coopmat
context = coopmat.context("intel")
queue, program = cl.CommandQueue(context), coopmat.Program(context, sys.argv[1]).build(sys.argv[2])
a, b, c = np.ones((16, 64), "i1"), np.ones((64, 16), "i1"), np.zeros((16, 16), "i4")
flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (a, b, c)]
program.multiply(queue, (1,), (1,), *buffers)
cl.enqueue_copy(queue, c, buffers[2])
print(program.multiply.matrix_route, c.min(), c.max())
"""


@pytest.mark.device
def test_a_second_process_uses_tiles_from_the_cache(device: DeviceInfo, tmp_path: Path) -> None:
    if "tdpbssd" not in instruction_probe.instructions(device, "x86", asks=True):
        pytest.skip("the device has no tdpbssd")
    text, defines = source(("s8", "s8", "s32"), (16, 16, 64))
    command = [sys.executable, "-c", _TWICE, text, " ".join(defines)]
    environment = os.environ | {"COOPMAT_CACHE_DIR": str(tmp_path)}
    environment.pop("COOPMAT_NO_CACHE", None)
    for _ in range(2):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr[-2000:]
        assert done.stdout.split() == ["x86", "64", "64"]
