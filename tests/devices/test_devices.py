"""Listing, choosing and routing devices."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coopmat.cli.devices import as_dict
from coopmat.devices import (
    DeviceInfo,
    from_key_values,
    list_devices,
    native_profile_for,
    query,
    route_for,
    select,
)
from coopmat.diagnostics import CompileError
from coopmat.options import CompileOptions
from coopmat.runtime.device_build import cache_key
from coopmat.runtime.launch import resolve_options

CPU = DeviceInfo(
    index="0:0",
    platform="Some OpenCL",
    name="Fast CPU",
    kind="CPU",
    version="OpenCL 3.0",
    driver="1",
    spirv_versions=("1.0", "1.2"),
    sub_groups=True,
    sub_group_sizes=(8, 16),
    extensions=frozenset({"cl_khr_fp16"}),
    fp16=True,
    fp64=False,
    compute_units=2,
    local_memory=32768,
)
GPU = replace(CPU, index="1:0", platform="Other OpenCL", name="GPU 9000", kind="GPU")
GPU2 = replace(GPU, index="1:1", name="GPU 9000 Max")
SOURCE_ONLY = replace(CPU, index="2:0", platform="Portable", name="pthread", spirv_versions=())
ALL = [SOURCE_ONLY, CPU, GPU, GPU2]


@pytest.mark.parametrize(
    ("device", "matrices", "why"),
    [
        (CPU, "one", "CPU"),
        (GPU, "lanes", "subgroups of 16"),
        (replace(GPU, sub_group_sizes=(32,)), "one", "SPIR-V"),
        (replace(GPU, sub_groups=False), "one", "SPIR-V"),
        (replace(CPU, extensions=frozenset({"cl_khr_cooperative_matrix"})), "native", "cl_khr_cooperative_matrix"),
        (replace(SOURCE_ONLY, extensions=frozenset({"cl_khr_cooperative_matrix"})), "one", "OpenCL C only"),
        (SOURCE_ONLY, "one", "OpenCL C only"),
        (replace(SOURCE_ONLY, platform="Portable Computing Language"), "one", "PoCL"),
        (replace(SOURCE_ONLY, platform="Oclgrind"), "one", "simulator"),
    ],
)
def test_the_table_gives_each_family_its_route(device, matrices, why):
    route = route_for(device)
    assert route.matrices == matrices
    assert why in route.why


@pytest.mark.parametrize(
    ("device", "profile"),
    [
        (replace(GPU, platform="Intel(R) OpenCL Graphics"), "igc"),
        (replace(GPU, platform="Intel(R) OpenCL HD Graphics"), "igc"),
        (replace(CPU, platform="Intel(R) OpenCL"), "khr"),
        (replace(GPU, platform="rusticl", name="Intel(R) Arc(tm) A770"), "khr"),
        (GPU, "khr"),
    ],
)
def test_the_table_gives_each_compiler_its_native_modules(device, profile):
    assert native_profile_for(device) == profile
    assert resolve_options(CompileOptions(), device).native_profile == profile
    assert resolve_options(CompileOptions(native_profile="khr"), device).native_profile == "khr"
    assert as_dict(device)["native_profile"] == profile
    own, other = (cache_key(device, "", CompileOptions(native_profile=name), ()) for name in ("igc", "khr"))
    assert own != other


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("fast", CPU),
        ("Portable", SOURCE_ONLY),
        ("1:1", GPU2),
        ("2", SOURCE_ONLY),
        ("gpu 9000", GPU),  # a whole name beats a part of another
        ("Max", GPU2),
        (None, CPU),  # the first that takes SPIR-V
    ],
)
def test_a_choice_finds_its_device(choice, expected, monkeypatch):
    monkeypatch.delenv("PYOPENCL_CTX", raising=False)
    assert select(choice, ALL) == expected


def test_the_users_context_variable_counts(monkeypatch):
    monkeypatch.setenv("PYOPENCL_CTX", "1:0")
    assert select(None, ALL) == GPU
    assert select("Portable", ALL) == SOURCE_ONLY


def test_a_platform_is_found_by_its_versions_name():
    pocl = replace(SOURCE_ONLY, platform="Portable Computing Language", version="OpenCL 3.0 PoCL HSTR: x")
    assert select("pocl", [CPU, pocl]) == pocl


def test_a_platform_comes_before_a_device_of_that_name():
    intel = replace(CPU, platform="Intel(R) OpenCL")
    pocl = replace(SOURCE_ONLY, platform="Portable Computing Language", name="pthread-Intel(R) Xeon(R)")
    assert select("intel", [pocl, intel]) == intel
    assert select("xeon", [pocl, intel]) == pocl


def test_a_simulator_is_the_last_choice(monkeypatch):
    monkeypatch.delenv("PYOPENCL_CTX", raising=False)
    simulator = replace(SOURCE_ONLY, platform="Oclgrind")
    assert select(None, [simulator, SOURCE_ONLY]) == SOURCE_ONLY
    assert select(None, [simulator]) == simulator


@pytest.mark.parametrize(
    ("choice", "message", "listed"),
    [
        ("nothing", "no OpenCL device fits 'nothing'", 4),
        ("9:9", "no OpenCL device fits '9:9'", 4),
        ("Oclgrind", "no OpenCL device fits 'Oclgrind'; it comes with: pip install 'coopmat[oclgrind]'", 4),
        ("GPU", "'GPU' fits 2 devices", 2),
        ("1", "'1' fits 2 devices", 2),
        ("host", "host device is not supported yet", 4),
    ],
)
def test_a_bad_choice_lists_the_devices(choice, message, listed):
    with pytest.raises(CompileError) as caught:
        select(choice, ALL)
    (item,) = caught.value.diagnostics
    assert message in item.message
    assert len(item.notes) == listed


def test_no_device_at_all_names_the_command_that_mends_it():
    with pytest.raises(CompileError, match=r"pip install 'coopmat\[cpu\]'"):
        select(None, [])


def test_real_devices_are_described():
    devices = list_devices()
    if not devices:
        pytest.skip("no OpenCL device")
    assert [device.index for device in devices] == list(dict.fromkeys(device.index for device in devices))
    for device in devices:
        assert device.kind in ("CPU", "GPU", "ACCELERATOR", "CUSTOM")
        assert device.compute_units > 0 and device.local_memory > 0
        assert device.fp64 == bool(device.handle.double_fp_config)
        assert device.takes_spirv == ("SPIR-V" in device.handle.il_version)
        assert select(device.index, devices) is device


def test_sub_group_sizes_come_from_the_device_itself():
    device = next((d for d in list_devices() if "cl_intel_required_subgroup_size" in d.extensions), None)
    if device is None:
        pytest.skip("no device tells its subgroup sizes")
    assert 16 in device.sub_group_sizes
    assert query.raw_device_info(device.handle, 0xFFFF) == b""
    name = query.raw_device_info(device.handle, 0x102B)  # CL_DEVICE_NAME, against pyopencl's answer
    assert name.rstrip(b"\0").decode() == device.handle.name


def test_a_device_file_of_the_conformance_suite():
    text = 'CL_DEVICE_NAME="X 1"\n# a comment\n\nCL_DEVICE_IL_VERSION="SPIR-V_1.4 SPIR-V_1.0"\n'
    text += 'CL_DEVICE_EXTENSIONS="cl_khr_fp64 cl_khr_cooperative_matrix"\nCL_DEVICE_MAX_NUM_SUB_GROUPS=4\n'
    device = from_key_values(text, "dev.txt")
    assert (device.name, device.spirv_versions) == ("X 1", ("1.0", "1.4"))
    assert device.fp64 and not device.fp16 and device.sub_groups
    assert route_for(device).matrices == "native"


def test_a_device_file_with_a_bad_line_names_it():
    with pytest.raises(CompileError, match=r"dev.txt:2: "):
        from_key_values("A=1\nnonsense\n", "dev.txt")
