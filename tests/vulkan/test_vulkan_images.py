"""Images and samplers on Vulkan devices, compared with numpy and with rusticl."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import differential
import numpy as np
import pytest
from differential import Array
from image_filters import image_filters
from vulkan_execution import execute_on_vulkan
from vulkan_support import open_device

import coopmat
from coopmat import CompileError
from coopmat.devices import DeviceInfo, list_devices
from coopmat.vulkan import Device, Image, Sampler, descriptors

ROOT = Path(__file__).resolve().parents[2]
# Kind of image -> its sizes, the greatest dimension first.
SIZES = {
    **{"1d": (17,), "1d_buffer": (19,), "1d_array": (3, 17), "2d": (5, 9), "2d_array": (3, 5, 9), "3d": (4, 5, 9)},
    **{"2d_depth": (5, 9), "2d_array_depth": (3, 5, 9)},
}
SAMPLED = [kind for kind in SIZES if "buffer" not in kind]
COORDINATES = {1: "", 2: "2", 3: "4"}
ITEMS = 96


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    with open_device() as opened:
        yield opened


def picture(kind: str, dtype: type = np.float32, channels: int = 4) -> Array:
    data = np.random.default_rng(3).integers(0, 100, (*SIZES[kind], channels))
    return (data / 8).astype(dtype) if np.dtype(dtype).kind == "f" else data.astype(dtype)


def image_of(kind: str, data: Array | None = None) -> Image:
    if "depth" in kind:
        return Image(picture(kind, channels=1) if data is None else data, order="DEPTH")
    return Image(picture(kind) if data is None else data)


def points(kind: str, margin: int) -> Array:
    """Whole coordinates, x first, up to `margin` texels outside of the image; layers are inside."""
    sizes, random = SIZES[kind][::-1], np.random.default_rng(4)
    found = np.zeros((ITEMS, 4 if len(sizes) == 3 else len(sizes)), np.int32)
    for number, size in enumerate(sizes):
        reach = 0 if "array" in kind and number == len(sizes) - 1 else margin
        found[:, number] = random.integers(-reach, size + reach, ITEMS)
    return found


def texels(data: Array, kind: str, where: Array, addressing: str) -> Array:
    """Return the texels at whole coordinates."""
    sizes = np.array(SIZES[kind][::-1])
    own = where[:, : len(sizes)]
    if addressing == "repeat":
        inside = own % sizes
    elif addressing == "mirrored_repeat":
        again = own % (2 * sizes)
        inside = np.minimum(again, 2 * sizes - 1 - again)
    else:
        inside = np.clip(own, 0, sizes - 1)
    found = data[tuple(inside.T[::-1])]
    if addressing == "clamp":
        found = np.where((own == inside).all(1)[:, None], found, 0)
    return found


def reading(kind: str, element: str, *, suffix: str = "f", sampler: str = "s, ", declaration: str = "") -> str:
    """Return a kernel that reads an image at points; `declaration` declares the sampler, if it is no argument."""
    vector = f"{element}{COORDINATES[len(SIZES[kind])]}"
    result = {"f": "float", "i": "int", "ui": "uint", "h": "half"}[suffix] + ("" if "depth" in kind else "4")
    parameter = ", sampler_t s" if sampler and not declaration else ""
    return (
        f"{declaration}kernel void k(read_only image{kind}_t im{parameter}, global const {vector} *at,"
        f" global {result} *r) {{ size_t i = get_global_id(0); r[i] = read_image{suffix}(im, {sampler}at[i]); }}"
    )


def test_the_filters_of_convolve(device: Device) -> None:
    launches, expected = image_filters()
    source = (ROOT / "tests/kernels/convolve.cl").read_text()
    found = execute_on_vulkan(device, source, launches)
    for (launch, argument), (values, bound) in expected.items():
        assert np.abs(found[launch][argument] - values).max() <= bound, launches[launch].kernel


def rusticl() -> DeviceInfo:
    """Return rusticl's device with images: OpenCL on Mesa's drivers."""
    devices = [d for d in list_devices() if d.platform == "rusticl" and d.handle is not None and d.handle.image_support]
    if not devices:
        pytest.skip("rusticl, or its device with images, is missing (RUSTICL_ENABLE=llvmpipe enables it)")
    return devices[0]


def test_rusticl_filters_alike(device: Device) -> None:
    launches, expected = image_filters()
    source, other = (ROOT / "tests/kernels/convolve.cl").read_text(), rusticl()
    theirs = differential.execute(other, coopmat.compile(source).spirv, launches)
    ours = execute_on_vulkan(device, source, launches)
    for (launch, argument), (_, bound) in expected.items():
        assert np.abs(ours[launch][argument] - theirs[launch][argument]).max() <= bound, launches[launch].kernel


@pytest.mark.parametrize("kind", SIZES)
def test_reads_without_a_sampler(device: Device, kind: str) -> None:
    image, at = image_of(kind), points(kind, 0)
    result = np.zeros((ITEMS, image.array.shape[-1]), np.float32)
    device.program(reading(kind, "int", sampler="")).k(ITEMS, 32, image, at, result)
    assert np.array_equal(result, texels(image.array, kind, at, "none"))


@pytest.mark.parametrize("addressing", ["clamp_to_edge", "clamp"])
@pytest.mark.parametrize("is_literal", [False, True])
@pytest.mark.parametrize("kind", SAMPLED)
def test_integer_coordinates(device: Device, kind: str, is_literal: bool, addressing: str) -> None:
    settings = f"CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_{addressing.upper()} | CLK_FILTER_NEAREST"
    declaration = f"constant sampler_t s = {settings}; " if is_literal else ""
    image, at = image_of(kind), points(kind, 3)
    result = np.zeros((ITEMS, image.array.shape[-1]), np.float32)
    samplers = [] if is_literal else [Sampler(False, addressing)]
    device.program(reading(kind, "int", declaration=declaration)).k(ITEMS, 32, image, *samplers, at, result)
    assert np.array_equal(result, texels(image.array, kind, at, addressing))


@pytest.mark.parametrize("is_literal", [False, True])
@pytest.mark.parametrize("kind", SAMPLED)
def test_unnormalized_coordinates_are_floored(device: Device, kind: str, is_literal: bool) -> None:
    declaration = "constant sampler_t s = CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST; " if is_literal else ""
    image, whole = image_of(kind), points(kind, 3)
    fraction = np.random.default_rng(6).choice([0.0, 0.25, 0.75, 0.999], whole.shape)
    if "array" in kind:
        fraction[:, len(SIZES[kind]) - 1] = 0  # layers are rounded
    at, result = (whole + fraction).astype(np.float32), np.zeros((ITEMS, image.array.shape[-1]), np.float32)
    samplers = [] if is_literal else [Sampler(False)]
    device.program(reading(kind, "float", declaration=declaration)).k(ITEMS, 32, image, *samplers, at, result)
    assert np.array_equal(result, texels(image.array, kind, whole, "clamp_to_edge"))


@pytest.mark.parametrize("addressing", ["clamp_to_edge", "clamp", "repeat", "mirrored_repeat"])
@pytest.mark.parametrize("kind", SAMPLED)
def test_normalized_coordinates(device: Device, kind: str, addressing: str) -> None:
    image, whole = image_of(kind), points(kind, 3)
    at, count = whole + 0.5, len(SIZES[kind]) - ("array" in kind)
    at[:, :count] /= SIZES[kind][::-1][:count]
    at[:, count:] = whole[:, count:]
    at, result = at.astype(np.float32), np.zeros((ITEMS, image.array.shape[-1]), np.float32)
    device.program(reading(kind, "float")).k(ITEMS, 32, image, Sampler(True, addressing), at, result)
    assert np.array_equal(result, texels(image.array, kind, whole, addressing))


def test_each_texel_of_a_wide_array(device: Device) -> None:
    """Coordinates that are divided by the size find the same texel again."""
    data = np.random.default_rng(5).integers(0, 1 << 31, (2, 16384, 1)).astype(np.uint32)
    at = np.stack([np.tile(np.arange(16384), 2), np.repeat([0, 1], 16384)], 1).astype(np.int32)
    for element, dtype in (("int", np.int32), ("float", np.float32)):
        result = np.zeros((len(at), 4), np.uint32)
        program = device.program(reading("1d_array", element, suffix="ui"))
        program.k(len(at), 64, Image(data), Sampler(False), at.astype(dtype), result)
        assert np.array_equal(result[:, 0], data.reshape(-1))


def between(data: Array, kind: str, at: Array) -> Array:
    """Return the texels around each unnormalized point, weighted linearly."""
    count, total = len(SIZES[kind]) - ("array" in kind), len(SIZES[kind])
    low = np.floor(at[:, :count] - 0.5).astype(int)
    weights = at[:, :count] - 0.5 - low
    result = np.zeros((len(at), data.shape[-1]))
    for corner in itertools.product((0, 1), repeat=count):
        where = np.concatenate([low + corner, at[:, count:total].astype(int)], 1)
        share = np.prod(np.where(corner, weights, 1 - weights), 1)
        result += share[:, None] * texels(data, kind, where, "clamp_to_edge")
    return result


@pytest.mark.parametrize("is_normalized", [False, True])
@pytest.mark.parametrize("kind", [kind for kind in SAMPLED if "depth" not in kind])
def test_linear_filters(device: Device, kind: str, is_normalized: bool) -> None:
    image, whole = image_of(kind), points(kind, 1)
    count = len(SIZES[kind]) - ("array" in kind)
    at = whole.astype(np.float64)
    at[:, :count] += np.random.default_rng(7).uniform(0, 1, (ITEMS, count))
    given = at.copy()
    if is_normalized:
        given[:, :count] /= SIZES[kind][::-1][:count]
    result = np.zeros((ITEMS, 4), np.float32)
    sampler = Sampler(is_normalized, "clamp_to_edge", "linear")
    device.program(reading(kind, "float")).k(ITEMS, 32, image, sampler, given.astype(np.float32), result)
    # Devices have weights of 8 bits or more.
    assert np.abs(result - between(image.array, kind, at)).max() <= 12.5 * count / 256


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize(
    ("channel_type", "dtype", "suffix"),
    [
        *(("FLOAT", np.float32, "f"), ("HALF_FLOAT", np.float16, "f"), ("UNORM_INT8", np.uint8, "f")),
        *(("SNORM_INT8", np.int8, "f"), ("SIGNED_INT32", np.int32, "i"), ("SIGNED_INT8", np.int8, "i")),
        *(("UNSIGNED_INT32", np.uint32, "ui"), ("UNSIGNED_INT8", np.uint8, "ui"), ("SIGNED_INT16", np.int16, "i")),
    ],
)
def test_channels(device: Device, channel_type: str, dtype: type, suffix: str, channels: int) -> None:
    is_signed = np.dtype(dtype).kind != "u"
    data = np.random.default_rng(8).integers(-100 if is_signed else 0, 100, (*SIZES["2d"], channels)).astype(dtype)
    image, at = Image(data, channel_type), points("2d", 2)
    result = np.zeros((ITEMS, 4), {"f": np.float32, "i": np.int32, "ui": np.uint32}[suffix])
    device.program(reading("2d", "int", suffix=suffix)).k(ITEMS, 32, image, Sampler(False, "clamp"), at, result)
    scale = {"UNORM_INT8": 255, "SNORM_INT8": 127}.get(channel_type, 1)
    expected = np.zeros((ITEMS, 4))
    # Outside, and where channels are missing, the components are 0, and the last one is 1 if it is missing.
    expected[:, 3] = 1 if channels < 4 else 0
    expected[:, :channels] = texels(data, "2d", at, "clamp") / scale
    assert np.abs(result - expected).max() <= (1e-6 if scale > 1 else 0)


def writing(kind: str, suffix: str, access: str = "write_only") -> str:
    vector = f"int{COORDINATES[len(SIZES[kind])]}"
    value = {"f": "float", "i": "int", "ui": "uint", "h": "half"}[suffix] + ("" if "depth" in kind else "4")
    enable = "#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable\n"
    return (
        f"{enable}kernel void k({access} image{kind}_t im, global const {vector} *at, global const {value} *v)"
        f" {{ size_t i = get_global_id(0); write_image{suffix}(im, at[i], v[i]); }}"
    )


@pytest.mark.parametrize("access", ["write_only", "read_write"])
@pytest.mark.parametrize("kind", [kind for kind in SIZES if "depth" not in kind])
def test_writes(device: Device, kind: str, access: str) -> None:
    image, at = image_of(kind, np.zeros_like(picture(kind))), points(kind, 0)
    at, first = np.unique(at, axis=0, return_index=True)
    values = np.random.default_rng(9).uniform(-1, 1, (len(first), 4)).astype(np.float32)
    device.program(writing(kind, "f", access), ["-cl-std=CL3.0"]).k(len(first), None, image, at, values)
    expected = np.zeros_like(picture(kind))
    expected[tuple(at[:, : len(SIZES[kind])].T[::-1])] = values
    assert np.array_equal(image.array, expected)


@pytest.mark.parametrize(("suffix", "dtype"), [("i", np.int32), ("ui", np.uint32), ("i", np.int8), ("h", np.float16)])
def test_writes_of_other_elements(device: Device, suffix: str, dtype: type) -> None:
    data = np.zeros((*SIZES["2d"], 4), dtype)
    at = np.indices(SIZES["2d"]).reshape(2, -1).T[:, ::-1].astype(np.int32).copy()
    low = 0 if np.dtype(dtype).kind == "u" else -100
    given = np.random.default_rng(9).integers(low, 100, (len(at), 4))
    values = given.astype({"i": np.int32, "ui": np.uint32, "h": np.float16}[suffix])
    image = Image(data)
    device.program(writing("2d", suffix)).k(len(at), None, image, at, values)
    assert np.array_equal(image.array, given.reshape(data.shape).astype(dtype))


def test_depth_images_are_written(device: Device) -> None:
    image = image_of("2d_depth", np.zeros((*SIZES["2d_depth"], 1), np.float32))
    at = np.indices(SIZES["2d_depth"]).reshape(2, -1).T[:, ::-1].astype(np.int32).copy()
    values = np.linspace(0, 1, len(at), dtype=np.float32)
    device.program(writing("2d_depth", "f")).k(len(at), None, image, at, values)
    assert np.array_equal(image.array.reshape(-1), values)


def test_halves_are_read(device: Device) -> None:
    image, at = Image(picture("2d", np.float16)), points("2d", 0)
    result = np.zeros((ITEMS, 4), np.float16)
    device.program(reading("2d", "int", suffix="h")).k(ITEMS, 32, image, Sampler(False), at, result)
    assert np.array_equal(result, texels(image.array, "2d", at, "none"))


def test_an_image_is_read_and_written(device: Device) -> None:
    source = """kernel void k(read_write image2d_t im) {
        local float4 row[9];
        int x = get_local_id(0), y = get_group_id(1);
        write_imagef(im, (int2)(x, y), 2 * read_imagef(im, (int2)(x, y)));
        work_group_barrier(CLK_IMAGE_MEM_FENCE);
        row[x] = read_imagef(im, (int2)(8 - x, y));
        work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_IMAGE_MEM_FENCE);
        write_imagef(im, (int2)(x, y), row[x]);
    }"""
    image = image_of("2d")
    before = image.array.copy()
    device.program(source, ["-cl-std=CL3.0"]).k((9, 5), (9, 1), image)
    assert np.array_equal(image.array, 2 * before[:, ::-1])


QUERIES = {
    **{"1d": "get_image_width(im)", "1d_buffer": "get_image_width(im)"},
    "1d_array": "get_image_width(im), (int)get_image_array_size(im)",
    **dict.fromkeys(("2d", "2d_depth"), "get_image_width(im), get_image_height(im)"),
    **dict.fromkeys(
        ("2d_array", "2d_array_depth"), "get_image_dim(im).x, get_image_dim(im).y, (int)get_image_array_size(im)"
    ),
    "3d": "get_image_dim(im).x, get_image_dim(im).y, get_image_dim(im).z, get_image_dim(im).w",
}


@pytest.mark.parametrize("access", ["read_only", "write_only"])
@pytest.mark.parametrize("kind", SIZES)
def test_queries(device: Device, kind: str, access: str) -> None:
    image = image_of(kind)
    source = f"""#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable
    kernel void k({access} image{kind}_t im, global int *r) {{
        int all[] = {{ get_image_channel_order(im), get_image_channel_data_type(im), {QUERIES[kind]} }};
        for (int i = 0; i < sizeof(all) / 4; i++) r[i] = all[i];
    }}"""
    result = np.full(6, -1, np.int32)
    device.program(source).k(1, 1, image, result)
    sizes = list(SIZES[kind][::-1]) + [0] * (kind == "3d")
    assert list(result[: 2 + len(sizes)]) == [0x10BD if "depth" in kind else 0x10B5, 0x10DE, *sizes]


def test_several_images_samplers_and_values(device: Device) -> None:
    source = """constant sampler_t edge = CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    kernel void k(int n, read_only image2d_t a, sampler_t s, global float4 *r, read_only image2d_array_t b,
                  local float *tile, write_only image2d_t c, sampler_t t) {
        int x = get_global_id(0);
        tile[get_local_id(0)] = n;
        r[x] = read_imagef(a, edge, (int2)(x, 1)) + read_imagef(a, s, (float2)(0.5f, 0.5f))
            + read_imagef(b, t, (float4)(x + 0.5f, 1.5f, 2, 0)) + read_imagef(a, t, (float2)(x + 0.5f, 2.5f));
        write_imagef(c, (int2)(x, 0), (float4)(tile[get_local_id(0)]));
    }"""
    a, b = image_of("2d"), image_of("2d_array")
    c, result = image_of("2d", np.zeros_like(a.array)), np.zeros((8, 4), np.float32)
    values = (np.int32(7), a, Sampler(True), result, b, coopmat.vulkan.LocalMemory(32), c, Sampler(False))
    device.program(source).k(8, 8, *values)
    expected = a.array[1, :8] + a.array[2, 4] + b.array[2, 1, :8] + a.array[2, :8]
    assert np.array_equal(result, expected)
    assert (c.array[0, :8] == 7).all()
    assert not c.array[1:].any()


def test_bound_launches_keep_their_images(device: Device) -> None:
    source = "kernel void k(read_write image1d_t im) { int x = get_global_id(0);"
    program = device.program(f"{source} write_imagef(im, x, 2 * read_imagef(im, x)); }}", ["-cl-std=CL3.0"])
    image = image_of("1d")
    before = image.array.copy()
    with program.bind(program.kernel(), {"im": image}) as launch:
        for _ in range(3):
            launch.run((17,), (1,))
        assert np.array_equal(launch.read("im"), 8 * before)
    assert np.array_equal(image.array, before)


PLAIN = (
    "kernel void k(read_only image2d_t im, sampler_t s, global float4 *r) { r[0] = read_imagef(im, s, (float2)(0)); }"
)
RGBA = np.zeros((2, 3, 4), np.float32)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((RGBA, Sampler(True)), r"'im' \(image2d_t\) of kernel 'k' needs a coopmat.vulkan.Image, not a ndarray"),
        ((Image(RGBA[0]), Sampler(True)), "'im' .* has 2 sizes, and its image has 1"),
        ((Image(RGBA.astype(np.int8)), Sampler(True)), "'im' .* is accessed as float, and SIGNED_INT8 has int"),
        ((Image(RGBA[..., :1].copy(), order="DEPTH"), Sampler(True)), "'im' .* cannot be an image of order DEPTH"),
        ((Image(RGBA), 1), "'s' .* needs a coopmat.vulkan.Sampler, not a int"),
        ((Image(np.zeros((1, 1 << 20, 4), np.float32)), Sampler(True)), "has no images of the sizes"),
    ],
)
def test_wrong_images_are_refused(device: Device, values: Sequence[object], message: str) -> None:
    with pytest.raises(CompileError, match=message):
        device.program(PLAIN).k(1, 1, *values, np.zeros(4, np.float32))


def test_formats_that_the_device_lacks(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    program = device.program(PLAIN)
    image, result = Image(RGBA), np.zeros(4, np.float32)
    image.format = 1  # VK_FORMAT_R4G4_UNORM_PACK8: few devices have it
    with pytest.raises(CompileError, match="does not support a read_only image of order RGBA and FLOAT, argument 'im'"):
        program.k(1, 1, image, Sampler(True), result)
    monkeypatch.setattr(descriptors, "_FILTERED_LINEARLY", 1 << 62)
    program.k(1, 1, Image(RGBA), Sampler(True), result)
    with pytest.raises(CompileError, match="image of order RGBA and FLOAT with a linear sampler, argument 'im'"):
        program.k(1, 1, Image(RGBA), Sampler(True, filter="linear"), result)


def test_wrong_samplers_are_refused(device: Device) -> None:
    one = "kernel void k(read_only image2d_t a, read_only image2d_t b, sampler_t s, global float4 *r, global int4 *i) {"
    source = one + "r[0] = read_imagef(a, s, (float2)(0)); i[0] = read_imagei(b, s, (float2)(0)); }"
    images = Image(RGBA), Image(RGBA.astype(np.int32))
    with pytest.raises(CompileError, match="reads images of integers and of floats: a border"):
        device.program(source).k(1, 1, *images, Sampler(True, "clamp"), np.zeros(4, "f4"), np.zeros(4, "i4"))
    integers = PLAIN.replace("float4", "int4").replace("imagef", "imagei")
    with pytest.raises(CompileError, match="reads images of integers: its filter must be nearest"):
        device.program(integers).k(1, 1, images[1], Sampler(True, filter="linear"), np.zeros(4, "i4"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Image(RGBA, "UNORM_INT8"), "no channel type 'UNORM_INT8' has elements of float32"),
        (lambda: Image(RGBA.astype(np.float64)), "no image has elements of float64"),
        (lambda: Image(RGBA[..., :3].copy()), "needs an array of its sizes and its channels, not of the shape"),
        (lambda: Image(RGBA, order="RG"), "an image of order 'RG' needs an array"),
        (lambda: Image(RGBA, order="BGRA"), "no image of order BGRA and FLOAT"),
        (lambda: Image(RGBA[:, ::2]), "needs an array in C's order"),
        (lambda: Sampler(True, "wrap"), "a sampler has one of none, clamp_to_edge"),
        (lambda: Sampler(True, filter="cubic"), "a sampler has one of nearest, linear, not 'cubic'"),
        (lambda: Sampler(False, "repeat"), "needs normalized coordinates"),
    ],
)
def test_invalid_images_and_samplers(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(CompileError, match=message):
        make()
