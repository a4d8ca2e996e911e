"""What a device says about its matrices: through the extension's queries, played by a library of our own."""

from __future__ import annotations

import ctypes
import pickle
import struct
from dataclasses import replace
from types import SimpleNamespace

import pytest
from test_devices import CPU

import coopmat
from coopmat.cli import devices as listing
from coopmat.compiler import compile
from coopmat.devices import from_key_values, list_devices, query, raw
from coopmat.devices.matrix_queries import bytes_of, native_variants
from coopmat.diagnostics import CompileError
from coopmat.matrices.supported import parse_variants
from coopmat.matrices.variants import COMPONENT_TYPES
from coopmat.options import CompileOptions
from coopmat.runtime.launch import resolve_options

DEFAULT = parse_variants("8x16x16.f16xf16_f32_f32 8x16x32.s8xu8_s32_s32.sat")
OF_32 = parse_variants("16x16x16.f32xf32_f32_f32")
ALIGNMENT, MULTIPLE = struct.pack("=I", 16), struct.pack("=I", 64)
FUNCTION = b"clGetDeviceCooperativeMatrixInfoKHR"
DEVICE, PLATFORM = 0x1234, 0x5678
INVALID_VALUE = -30


def records(variants):
    return b"".join(struct.pack("=8I", *variant.to_record()) for variant in variants)


class Library:
    """An OpenCL loader in front of one device: C functions over memory, as ctypes sees a real one."""

    def __init__(self, info, matrix_info=None):
        self.info, self.matrix_info = info, matrix_info
        size, pointer = ctypes.c_size_t, ctypes.c_void_p
        self.clGetDeviceInfo = ctypes.CFUNCTYPE(ctypes.c_int, pointer, ctypes.c_uint, size, pointer, pointer)(
            lambda device, parameter, room, place, needed: self.answer(device, info.get(parameter), room, place, needed)
        )
        kind = ctypes.CFUNCTYPE(ctypes.c_int, pointer, ctypes.c_uint, size, pointer, size, pointer, pointer)
        self.function = kind(self.ask)
        self.clGetExtensionFunctionAddressForPlatform = ctypes.CFUNCTYPE(pointer, pointer, ctypes.c_char_p)(
            lambda platform, name: (
                ctypes.cast(self.function, pointer).value
                if matrix_info is not None and (platform, name) == (PLATFORM, FUNCTION)
                else 0
            )
        )

    def ask(self, device, parameter, given, place_in, room, place, needed):
        size = ctypes.c_uint.from_address(place_in).value if given == 4 else None
        return self.answer(device, self.matrix_info.get((parameter, size)), room, place, needed)

    def answer(self, device, data, room, place, needed):
        if device != DEVICE or data is None or (place and room < len(data)):
            return INVALID_VALUE
        if place:
            ctypes.memmove(place, data, len(data))
        if needed:
            ctypes.c_size_t.from_address(needed).value = len(data)
        return 0


@pytest.fixture
def played(monkeypatch):
    """`played(info, matrix_info)`: a pyopencl device of such a library."""

    def make(info, matrix_info=None):
        library = Library(info, matrix_info)
        monkeypatch.setattr(raw, "library", lambda: library)
        return SimpleNamespace(int_ptr=DEVICE, platform=SimpleNamespace(int_ptr=PLATFORM))

    return make


def test_the_extensions_function_tells_the_variants(played):
    device = played(
        {0x107A: ALIGNMENT, 0x107B: MULTIPLE},
        {(0x1078, None): records(DEFAULT), (0x1079, 32): records(OF_32), (0x1079, 8): b""},
    )
    assert native_variants(device) == DEFAULT
    assert native_variants(device, 32) == OF_32
    assert native_variants(device, 8) == ()
    assert native_variants(device, 64) is None  # refused
    assert (bytes_of(device, 0x107A), bytes_of(device, 0x107B), bytes_of(device, 0x107C)) == (16, 64, None)


def test_a_platform_without_the_function_answers_clGetDeviceInfo(played):
    device = played({0x1078: records(DEFAULT)})
    assert native_variants(device) == DEFAULT
    assert native_variants(device, 32) is None
    assert native_variants(played({})) is None


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (records(OF_32)[:-4], None),  # no whole records
        (records(OF_32) + struct.pack("=8I", 8, 8, 8, 99, 99, 1, 1, 0) + records(DEFAULT), OF_32 + DEFAULT),
        (records(OF_32) + struct.pack("=8I", 0, 8, 8, 0, 0, 1, 1, 0), OF_32),
        (records(OF_32) * 2, OF_32),
    ],
)
def test_what_means_nothing_is_left_out(played, data, expected):
    assert native_variants(played({}, {(0x1078, None): data})) == expected


def test_every_component_type_of_the_draft_arrives(played):
    named = [name for name, component in COMPONENT_TYPES.items() if component.value is not None]
    variants = parse_variants(" ".join(f"1x2x3.{name}x{name}_{name}_{name}" for name in named))
    assert native_variants(played({}, {(0x1078, None): records(variants)})) == variants


@pytest.fixture
def native_device(played):
    """As `describe` gives it, with the device's handle."""
    handle = played({0x107A: ALIGNMENT, 0x107B: MULTIPLE}, {(0x1078, None): records(DEFAULT), (0x1079, 32): b""})
    fields = query._native(handle)
    return replace(CPU, extensions=frozenset({"cl_khr_cooperative_matrix"}), handle=handle, **fields)


def test_devices_lists_what_a_native_device_has(native_device):
    found = listing.as_dict(native_device)
    assert found["native_variants"] == [variant.name for variant in DEFAULT]
    assert (found["pointer_alignment"], found["stride_multiple"]) == (16, 64)
    text = listing._rows(native_device)["matrices"]
    assert "8x16x16.f16xf16_f32_f32.nosat, 8x16x32.s8xu8_s32_s32.sat" in text
    assert "pointers at multiples of 16 bytes, strides at multiples of 64 bytes" in text
    many = replace(native_device, variants=parse_variants(" ".join(f"{m}x1x1.f32xf32_f32_f32" for m in range(1, 31))))
    assert "6x1x1.f32xf32_f32_f32.nosat, 24 more" in listing._rows(many)["matrices"]
    assert "does not report which" in listing._rows(replace(native_device, variants=None))["matrices"]
    assert listing.as_dict(CPU)["native_variants"] == [] and listing.as_dict(CPU)["stride_multiple"] == 1


ASKS = """
typedef half __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 16, CLK_COOPERATIVE_MATRIX_A))) A;
kernel void k(global half *p) {
    A a = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 32);
    coop_mat_store(p, a + a, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 32);
}
"""


def test_a_source_is_checked_against_a_live_device(native_device):
    options = resolve_options(CompileOptions.from_arguments([]), native_device)
    assert options.variants == tuple(variant.name for variant in DEFAULT)
    assert compile(ASKS, options).kernels["k"].uses_matrices
    with pytest.raises(CompileError, match=r"does not support the matrix type 8x4\.A\.f16"):
        compile(ASKS.replace("8, 16", "8, 4"), options)
    # For other subgroups the device has another list: an empty one.
    smaller = resolve_options(CompileOptions.from_arguments(["--sub-group-size", "32"]), native_device)
    with pytest.raises(CompileError, match="supports no cooperative matrices at all"):
        compile(ASKS, smaller)


def test_memory_is_checked_against_a_live_device(native_device):
    options = resolve_options(CompileOptions.from_arguments([]), native_device)
    assert (options.pointer_alignment, options.stride_multiple) == (16, 64)
    with pytest.raises(CompileError, match=r"48 components \(96 bytes\) is not a multiple of 64 bytes .*, which \S+ "):
        compile(ASKS.replace(", 32)", ", 48)"), options)
    lowered = resolve_options(CompileOptions.from_arguments(["--matrices", "one"]), native_device)
    assert compile(ASKS.replace(", 32)", ", 48)"), lowered).kernels
    own = resolve_options(CompileOptions.from_arguments(["--matrix-stride-multiple", "32"]), native_device)
    assert (own.pointer_alignment, own.stride_multiple) == (None, 32)


def test_sizes_that_a_device_lacks_are_told(native_device):
    assert issubclass(coopmat.SubGroupSizeError, ValueError)
    known = replace(CPU, sub_group_sizes=(4, 8))
    for device, size, sizes in ((known, 5, (1, 4, 8)), (replace(native_device, sub_group_sizes=(32,)), 16, (32,))):
        with pytest.raises(coopmat.SubGroupSizeError, match=f"no subgroups of {size} work-items; it has") as caught:
            coopmat.variants(device, size)
        assert caught.value.sizes == sizes
        assert pickle.loads(pickle.dumps(caught.value)).sizes == sizes
    assert coopmat.variants(known, 8) == coopmat.variants(known, 1) == coopmat.variants(known)
    # Which sizes there are is not always known.
    assert coopmat.variants(replace(CPU, sub_group_sizes=()), 5)


def test_the_query_is_answered_for_every_device(native_device):
    assert coopmat.variants(native_device) == DEFAULT
    native_device = replace(native_device, sub_group_sizes=(16, 32))
    assert coopmat.variants(native_device, 32) == ()
    with pytest.raises(ValueError, match="does not say which matrices it has for subgroups of 16 work-items"):
        coopmat.variants(native_device, 16)
    emulated = coopmat.variants(CPU, sub_group_size=16)
    components = {component.name for variant in emulated for component in variant.components}
    assert components == set(COMPONENT_TYPES) - {"f64"}  # that device has no double
    with pytest.raises(ValueError, match="at least 1"):
        coopmat.variants(CPU, 0)


def test_a_pyopencl_device_may_be_asked():
    devices = list_devices()
    if not devices:
        pytest.skip("no OpenCL device")
    for device in devices:
        assert coopmat.variants(device.handle) == coopmat.variants(device)
        # Not an answer to anything else.
        assert native_variants(device.handle) is None or "cl_khr_cooperative_matrix" in device.extensions


def test_a_device_file_tells_alignment_and_multiple():
    text = "CL_DEVICE_COOPERATIVE_MATRIX_POINTER_ALIGNMENT_KHR=16\n"
    text += 'CL_DEVICE_COOPERATIVE_MATRIX_STRIDE_MULTIPLE_KHR="32"\n'
    device = from_key_values(text, "dev.txt")
    assert (device.pointer_alignment, device.stride_multiple) == (16, 32)
    for bad in ("x", "0", "-4", "1.5", "99999999999999999999", "²"):
        with pytest.raises(CompileError, match=r"dev.txt: CL_DEVICE_\w+: .* is not a positive number of bytes"):
            from_key_values(f"CL_DEVICE_COOPERATIVE_MATRIX_POINTER_ALIGNMENT_KHR={bad}", "dev.txt")


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ('CL_DEVICE_NAME="X"\n', ("1.2", "1.3", "1.4")),
        ('CL_DEVICE_VERSION="OpenCL 3.0 X"\n', ("1.2", "1.3", "1.4")),
        ('CL_DEVICE_VERSION="OpenCL 1.2 X"\n', ()),
        ('CL_DEVICE_VERSION="OpenCL 1.2 X"\nCL_DEVICE_EXTENSIONS="cl_khr_il_program"\n', ("1.2", "1.3", "1.4")),
        ('CL_DEVICE_IL_VERSION=""\n', ()),
        ('CL_DEVICE_IL_VERSION="SPIR-V_1.0"\n', ("1.0",)),
    ],
)
def test_a_device_file_without_an_il_version(text, versions):
    device = from_key_values(text, "dev.txt")
    assert device.spirv_versions == versions
    options = CompileOptions.from_arguments(["--matrices", "native"])
    if device.takes_spirv:
        assert resolve_options(options, device).code != "c"
        return
    with pytest.raises(CompileError, match="takes no SPIR-V, and OpenCL C has no native matrices"):
        resolve_options(options, device)


def test_addresses_of_32_bits():
    device = from_key_values("CL_DEVICE_ADDRESS_BITS=32\n", "dev.txt")
    assert device.address_bits == 32
    for code in ("auto", "c"):
        with pytest.raises(CompileError, match="addresses of 32 bits, which are not supported yet"):
            resolve_options(CompileOptions.from_arguments(["--code", code, "--matrices", "auto"]), device)
    with pytest.raises(CompileError, match=r"CL_DEVICE_ADDRESS_BITS: '48' is neither"):
        from_key_values("CL_DEVICE_ADDRESS_BITS=48\n", "dev.txt")
    assert from_key_values("CL_DEVICE_ADDRESS_BITS=64\n", "dev.txt").address_bits == 64
