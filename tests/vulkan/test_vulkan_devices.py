"""Facts about Vulkan devices: how they are asked, chosen, listed and compared; most tests need no Vulkan."""

from __future__ import annotations

import ctypes
import itertools
import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest
from vulkan_support import ADDRESSES, vulkan_device

from coopmat import CompileError
from coopmat.cli.app import run_command
from coopmat.cts.profile import profile_for
from coopmat.devices import native_profile_for, route_for
from coopmat.devices.variants import variants_for
from coopmat.vulkan import NoVulkan, VulkanDevice, VulkanError, devices, interface, loader, plan, requirements, select
from coopmat.vulkan.devices import FLEXIBLE, Product
from coopmat.vulkan.health import try_empty_kernel
from coopmat.vulkan.loader import Functions
from coopmat.vulkan.modules.launch import KernelLaunch, LaunchDescription, MatrixProduct, MatrixShape, Requirements

HALF = Product(8, 8, 8, "f16", "f16", "f32", "f32", False, "subgroup")
LIMITS = {"maxPushConstantsSize": 128, "maxComputeWorkGroupInvocations": 1024}


def described(name: str = "Some GPU", number: int = 0, **fields: object) -> VulkanDevice:
    """Return a device that no machine has."""
    facts: dict[str, object] = {
        "index": f"vulkan:{number}",
        "platform": "Vulkan",
        "name": name,
        "kind": "GPU",
        "version": "Vulkan 1.3.0",
        "driver": "some driver",
        "spirv_versions": ("1.6",),
        "sub_groups": True,
        "sub_group_sizes": (32, 64),
        "extensions": frozenset({"VK_KHR_cooperative_matrix"}),
        "fp16": True,
        "fp64": False,
        "compute_units": 0,
        "local_memory": 32768,
        "target_env": "vulkan1.3",
        "number": number,
        "identifier": "00",
        "features": frozenset({ADDRESSES}),
        "limits": LIMITS,
        "sub_group_size": 64,
        "requires_sizes": True,
        "products": (HALF,),
    }
    return VulkanDevice.from_record({**replace(VulkanDevice(**facts), **fields).to_record()})  # type: ignore[arg-type]


def needing(**fields: tuple) -> LaunchDescription:
    return LaunchDescription("vulkan1.3", Requirements(**fields), {})


# --- the interface -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("VkPhysicalDeviceProperties2", 840),
        ("VkPhysicalDeviceVulkan11Properties", 112),
        ("VkPhysicalDeviceDriverProperties", 536),
        ("VkPhysicalDeviceMemoryProperties", 520),
        ("VkComputePipelineCreateInfo", 96),
        ("VkQueueFamilyProperties", 24),
        ("VkPhysicalDeviceFeatures", 240),
        ("VkCooperativeMatrixFlexibleDimensionsPropertiesNV", 56),
    ],
)
def test_structures_have_the_sizes_of_c(name: str, size: int) -> None:
    assert ctypes.sizeof(getattr(interface, name)) == size


def test_limits_are_inside_their_structure() -> None:
    assert interface.VkPhysicalDeviceProperties2.limits.offset == 312
    assert all(offset + ctypes.sizeof(kind) * count <= 504 for kind, offset, count in interface.LIMITS.values())


def test_names_that_are_not_in_the_tables() -> None:
    with pytest.raises(AttributeError, match="VkNothing"):
        interface.VkNothing  # noqa: B018
    with pytest.raises(AttributeError, match="vkNothing"):
        Functions(lambda name: 0).vkNothing  # noqa: B018
    with pytest.raises(VulkanError, match="vkCreateDevice failed: VK_ERROR_EXTENSION_NOT_PRESENT"):
        Functions(lambda name: 0).vkCreateDevice()


def test_every_other_result_than_success_raises_an_error() -> None:
    prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_uint64)
    lost = prototype(lambda device: -4)
    call = Functions(lambda name: ctypes.cast(lost, ctypes.c_void_p).value)
    with pytest.raises(VulkanError, match="vkDeviceWaitIdle failed: VK_ERROR_DEVICE_LOST") as failure:
        call.vkDeviceWaitIdle(0)
    assert pickle.loads(pickle.dumps(failure.value)).result == -4


# --- the question in a separate process --------------------------------------------------------------


@pytest.fixture
def asked_anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    monkeypatch.setattr(devices, "library", lambda: None)
    devices._ask.cache_clear()
    yield monkeypatch
    devices._ask.cache_clear()


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import os; os.abort()", r"listing the devices crashed with signal 6 \(SIGABRT\)"),
        ("import sys; sys.exit('lost')", "listing the devices ended its process with status 1; lost"),
        ("import time; time.sleep(60)", "listing the devices took longer than 0.5 s"),
        ("print('coopmat vulkan finds none: no driver')", "no driver"),
    ],
)
def test_a_driver_may_crash_or_hang(asked_anew: pytest.MonkeyPatch, program: str, message: str) -> None:
    asked_anew.setattr(devices, "_START", program)
    asked_anew.setattr(devices, "TIME_LIMIT", 0.5 if "sleep" in program else 30)
    with pytest.raises(NoVulkan, match=message):
        devices.list_devices()


def test_without_a_loader_one_line_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    load = loader.ctypes.CDLL
    # Without a name, it is this process, which is asked for the permission to use AMX's tiles.
    monkeypatch.setattr(loader.ctypes, "CDLL", lambda name: load(None) if name is None else _no_library(name))
    with pytest.raises(NoVulkan, match=r"^no loader found; install libvulkan1 and a driver, for example mesa-vulkan"):
        devices.list_devices()
    with pytest.raises(CompileError, match="Vulkan: no loader found"):
        select("vulkan:any")
    run_command(["devices"])
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if line.startswith("Vulkan: no loader found; install")]


def _no_library(name: str) -> None:
    raise OSError(name)


# --- choice and facts --------------------------------------------------------------------------------


def test_a_name_or_a_number_chooses_a_device() -> None:
    two = [described("First"), described("Second", 1)]
    assert select("vulkan", two) is two[0]
    assert select("vulkan:1", two) is two[1]
    assert select("VULKAN:second", two) is two[1]
    with pytest.raises(CompileError, match="'vulkan:s' fits 2 devices; name one") as failure:
        select("vulkan:s", two)
    assert "available device: vulkan:1 Vulkan: Second" in str(failure.value)
    with pytest.raises(CompileError, match="no Vulkan device fits 'vulkan:third'"):
        select("vulkan:third", two)


def test_facts_survive_json_and_pickle() -> None:
    device = described(flexible=(HALF,))
    assert VulkanDevice.from_record(json.loads(json.dumps(device.to_record()))) == device
    assert pickle.loads(pickle.dumps(device)) == device


def test_routes_and_profiles() -> None:
    device = described()
    assert (route_for(device).matrices, native_profile_for(device)) == ("native", "vulkan")
    assert route_for(described(products=())).matrices == "lanes"
    names = ("Reductions", "Conversions", "PerElementOperations")
    features = {f"{FLEXIBLE.partition('.')[0]}.cooperativeMatrix{name}" for name in names}
    able = described(features=frozenset(features))
    assert able.has_maintenance and native_profile_for(able) == "vulkan-nv2"
    assert native_profile_for(replace(able, name="llvmpipe (LLVM 22.1.8, 256 bits)")) == "vulkan-mesa"


def test_flexible_dimensions_are_multiples() -> None:
    assert [str(v) for v in variants_for(described(), None) or ()] == ["8x8x8.f16xf16_f32_f32.nosat"]
    flexible = variants_for(described(flexible=(HALF,)), None) or ()
    assert "16x24x32.f16xf16_f32_f32.nosat" in map(str, flexible)
    assert len(set(flexible)) == len(flexible) == 6**3


def test_the_conformance_runner_tests_small_multiples_of_flexible_dimensions() -> None:
    flexible = Product(8, 16, 4, "f16", "f16", "f32", "f32", False, "subgroup")
    native = profile_for(described(features=frozenset({ADDRESSES, FLEXIBLE}), flexible=(flexible,)), "native")
    shapes = {(v.m, v.n, v.k) for v, _ in native.multiply_adds}
    assert shapes == {(8, 8, 8), *itertools.product((8, 16), (16, 32), (4, 8))}
    wimpy = profile_for(described(flexible=(flexible,)), "native", wimpy=True)
    # The selection has some with twice the smallest K.
    assert {(v.m, v.n, v.k) for v, _ in wimpy.multiply_adds} & {(16, 16, 8), (8, 32, 8), (16, 32, 8)}


def test_products_that_opencl_c_lacks_are_listed_and_not_used() -> None:
    products = (HALF, replace(HALF, scope="workgroup"), replace(HALF, a="1000672000"))
    device = described(products=products)
    assert [str(v) for v in device.variants or ()] == ["8x8x8.f16xf16_f32_f32.nosat"]
    assert str(products[1]) == "8x8x8.f16xf16_f32_f32.nosat.workgroup"


# --- requirements ------------------------------------------------------------------------------------

SHAPE = MatrixShape("float16", "A", "subgroup", 8, 8)
PRODUCT = MatrixProduct(8, 8, 8, "float16", "float16", "float32", "float32", "subgroup", False)


@pytest.mark.parametrize(
    ("shape", "has"),
    [
        (SHAPE, True),
        (replace(SHAPE, use="accumulator", type="float32"), True),
        (replace(SHAPE, use="accumulator"), False),
        (replace(SHAPE, rows=16), False),
        (replace(SHAPE, type="sint8"), False),
        (replace(SHAPE, scope="workgroup"), False),
    ],
)
def test_matrix_types_come_from_the_products(shape: MatrixShape, has: bool) -> None:
    assert (requirements.missing(described(), needing(matrix_types=(shape,))) == []) is has


def test_flexible_dimensions_allow_multiples_and_are_then_enabled() -> None:
    device = described(flexible=(HALF,))
    wide = needing(matrix_types=(replace(SHAPE, rows=24),), matrix_products=(replace(PRODUCT, m=24),))
    assert requirements.missing(device, wide) == []
    assert requirements.enabled(device, wide)[0] == {"VK_NV_cooperative_matrix2"}
    assert FLEXIBLE in requirements.enabled(device, wide)[1]
    exact = needing(matrix_types=(SHAPE,), matrix_products=(PRODUCT,))
    assert FLEXIBLE not in requirements.enabled(device, exact)[1]
    odd = needing(matrix_products=(replace(PRODUCT, m=12),))
    assert requirements.missing(device, odd) == ["the multiply-add 12x8x8.f16xf16_f32_f32.nosat"]
    saturating = needing(matrix_products=(replace(PRODUCT, saturating=True),))
    assert requirements.missing(device, saturating) == ["the multiply-add 8x8x8.f16xf16_f32_f32.sat"]


def test_other_lacks() -> None:
    kernel = KernelLaunch(None, None, 256, 0, ())
    description = LaunchDescription("vulkan1.4", Requirements(("VK_KHR_shader_clock",), ("Other.x",)), {"k": kernel})
    assert requirements.missing(described(features=frozenset()), description) == [
        "Vulkan 1.4 (it has 1.3)",
        "the extension VK_KHR_shader_clock",
        f"the feature {ADDRESSES}",
        "the feature Other.x, which this version of coopmat does not know",
        "256 bytes of push constants for the arguments of kernel 'k' (it has 128)",
    ]


def test_a_driver_of_a_subset_of_vulkan() -> None:
    subset = frozenset({"VK_KHR_portability_subset"})
    assert requirements.enabled(described(extensions=subset), needing())[0] == subset
    assert requirements.enabled(described(), needing())[0] == frozenset()


def test_subgroup_sizes() -> None:
    kernel = KernelLaunch(None, None, 0, 0, ())
    choose = requirements.required_sub_group_size
    assert choose(described(), "k", kernel) == (64, "")
    assert choose(described(), "k", replace(kernel, sub_group_size=32)) == (32, "")
    fixed = described(requires_sizes=False, sub_group_sizes=(64,))
    assert choose(fixed, "k", kernel) == (None, "")
    assert choose(described(sub_group_sizes=(64,)), "k", kernel) == (None, "")
    assert "needs subgroups of 16" in choose(fixed, "k", replace(kernel, sub_group_size=16))[1]


def test_the_empty_kernel_on_a_device_that_lacks_something() -> None:
    device = replace(vulkan_device(), api=(1, 1), features=frozenset())
    assert try_empty_kernel(device, "") == f"{device.label} lacks Vulkan 1.3 (it has 1.1); the feature {ADDRESSES}"


# --- the command line --------------------------------------------------------------------------------


def test_nothing_of_vulkan_is_imported_where_it_is_not_used() -> None:
    program = (
        "import sys, coopmat; from coopmat import targets; import coopmat.cli.run, coopmat.cli.cts, coopmat.runtime\n"
        "coopmat.compile('kernel void k(global int *p) { *p = 1; }').spirv\n"
        "print([name for name in sys.modules if name.startswith('coopmat.vulkan')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_plan_names_the_multiply_add_of_a_device() -> None:
    rows = [Product(s, s, s, "f16", "f16", "f32", "f32", False, "subgroup") for s in (8, 16)]
    saturating = Product(32, 32, 32, "f16", "f16", "f32", "f32", True, "subgroup")
    device = described(products=(*rows, saturating), flexible=())
    planned = plan(device, "gemm", m=48, n=64, k=8, batch=1, types=("f16", "f16", "f32"))
    assert (planned.supported, planned.route, planned.multiply_add) == (False, "native", str(rows[0]))
    assert planned.multiply_adds == tuple(map(str, rows))
    larger = plan(device, "gemm", m=48, n=64, k=32, batch=1, types=("f16", "f16"))
    assert larger.multiply_add == str(rows[1])
    odd = plan(device, "gemm", m=7, n=7, k=7, batch=1, types=("f16", "f16", "f32"))
    assert odd.multiply_add == str(rows[1])
    other = plan(device, "gemm", m=48, n=64, k=32, batch=2, types=("s8", "s8", "s32"))
    assert (other.route, other.multiply_add, other.shape) == ("lanes", "", (2, 48, 64, 32))
    assert "not supported: coopmat.linalg does not support Vulkan devices" in str(other)
    with pytest.raises(ValueError, match="types: expected those of A, B and C"):
        plan(device, "gemm", m=8, n=8, k=8, batch=1, types=("f16", "f17"))


def test_plan_of_the_machines_vulkan_device(capsys: pytest.CaptureFixture[str]) -> None:
    device = vulkan_device()
    words = ["plan", "gemm", "-M", "64", "-N", "64", "-K", "64", "--types", "f16,f16,f32", "--device", device.index]
    assert run_command(words) == 0
    text = capsys.readouterr().out
    assert "plan         not supported: coopmat.linalg does not support Vulkan devices" in text
    assert f"coopmat run --device {device.index}" in text
    assert run_command([*words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["device"], record["supported"], record["types"]) == (device.label, False, ["f16", "f16", "f32"])
    products = [str(p) for p in device.products if (p.a, p.b, p.result, p.saturating) == ("f16", "f16", "f32", False)]
    assert record["multiply_adds"] == products
    assert run_command([*words[:-4], "--types", "f16,f16,f16,f16", "--device", device.index]) == 2
    assert "--types: expected those of A, B and C" in capsys.readouterr().err


def test_a_cluster_has_no_vulkan(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["cts", "--device", "vulkan:llvmpipe", "--cluster", "local:2"]) == 2
    assert "not supported on a cluster yet" in capsys.readouterr().err


def test_devices_lists_the_machines_vulkan_devices(capsys: pytest.CaptureFixture[str]) -> None:
    device = vulkan_device()
    assert run_command(["devices"]) == 0
    text = capsys.readouterr().out
    assert device.label in text
    assert "empty kernel: is built" in text.partition(device.label)[2]
    assert run_command(["devices", "--json"]) == 0
    record = next(row for row in json.loads(capsys.readouterr().out) if row["index"] == device.index)
    assert (record["builds"], record["type"]) == (True, device.kind)
    assert record["vulkan"]["products"] == [str(product) for product in device.products]
    assert ADDRESSES in record["vulkan"]["features"]
