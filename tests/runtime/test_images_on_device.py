"""Images and samplers: every kind of image, access, channel type and sampler against the device's own compiler."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import pytest
from differential import (
    CHANNELS,
    PLAIN_AND_OPTIMISED,
    Argument,
    Array,
    Image,
    Launch,
    Sampler,
    Value,
    compare,
    execute,
)

import coopmat
from coopmat.devices import DeviceInfo

#: Sizes, the greatest first, and what picks coordinates out of a vector of four.
SIZES = {"1d": (17,), "1d_buffer": (19,), "1d_array": (3, 17), "2d": (5, 9), "2d_array": (3, 5, 9), "3d": (4, 5, 9)}
PICK = {"1d": "x", "1d_buffer": "x", "1d_array": "xy", "2d": "xy", "2d_array": "xyzw", "3d": "xyzw"}
DEPTH_SIZES = {"2d_depth": SIZES["2d"], "2d_array_depth": SIZES["2d_array"]}
PICK |= {"2d_depth": "xy", "2d_array_depth": "xyzw"}

#: The suffix of a builtin, its value's type and what images it is for.
VALUES = {
    "f": ("float4", ("FLOAT", "UNORM_INT8", "SNORM_INT16", "HALF_FLOAT")),
    "i": ("int4", ("SIGNED_INT8", "SIGNED_INT16", "SIGNED_INT32")),
    "ui": ("uint4", ("UNSIGNED_INT8", "UNSIGNED_INT16", "UNSIGNED_INT32")),
    "h": ("half4", ("HALF_FLOAT", "UNORM_INT8")),
}
STORED = {
    **{"FLOAT": np.float32, "HALF_FLOAT": np.float16, "UNORM_INT8": np.uint8, "UNORM_INT16": np.uint16},
    **{"SNORM_INT16": np.int16, "SIGNED_INT8": np.int8, "SIGNED_INT16": np.int16, "SIGNED_INT32": np.int32},
    **{"UNSIGNED_INT8": np.uint8, "UNSIGNED_INT16": np.uint16, "UNSIGNED_INT32": np.uint32},
}
RESULTS = {"f": np.float32, "i": np.int32, "ui": np.uint32, "h": np.float16}
ITEMS = 96

ADDRESSINGS = ("NONE", "CLAMP_TO_EDGE", "CLAMP", "REPEAT", "MIRRORED_REPEAT")
FILTERS = ("NEAREST", "LINEAR")
# Repetition is for normalised coordinates only.
SAMPLERS = [
    Sampler(normalised, addressing, chosen)
    for normalised, addressing, chosen in product((False, True), ADDRESSINGS, FILTERS)
    if normalised or "REPEAT" not in addressing
]


def literal(sampler: Sampler) -> str:
    """The sampler as an OpenCL C constant."""
    coordinates = f"CLK_NORMALIZED_COORDS_{'TRUE' if sampler.normalised else 'FALSE'}"
    return f"{coordinates} | CLK_ADDRESS_{sampler.addressing} | CLK_FILTER_{sampler.filter}"


def picture(
    sizes: Sequence[int], channel_type: str, kind: str = "2d", order: str = "RGBA", seed: int = 5, *, fill: bool = True
) -> Image:
    generator, dtype = np.random.default_rng(seed), np.dtype(STORED[channel_type])
    shape = (*sizes, CHANNELS[order])
    if not fill:
        return Image(np.zeros(shape, dtype), channel_type, kind, order)
    if dtype.kind == "f":
        return Image(generator.uniform(-2, 2, shape).astype(dtype), channel_type, kind, order)
    span = np.iinfo(dtype)
    return Image(generator.integers(span.min, span.max, shape, dtype, endpoint=True), channel_type, kind, order)


def inside(sizes: Sequence[int]) -> Array:
    """Whole coordinates of elements, x first."""
    sizes = (*sizes[::-1], 1, 1, 1)[:4]
    generator = np.random.default_rng(11)
    return np.stack([generator.integers(0, size, ITEMS) for size in sizes], 1).astype(np.int32)


def outside(sizes: Sequence[int], sampler: Sampler) -> Array:
    """Whole coordinates around the image; inside it where the sampler allows no others."""
    if sampler.addressing == "NONE":
        return inside(sizes)
    sizes = (*sizes[::-1], 1, 1, 1)[:4]
    generator = np.random.default_rng(12)
    return np.stack([generator.integers(-3, size + 3, ITEMS) for size in sizes], 1).astype(np.int32)


def between(sizes: Sequence[int], sampler: Sampler) -> Array:
    """Coordinates within and, where the sampler says what is there, outside of the image."""
    extent = np.array((*sizes[::-1], 1, 1, 1)[:4], np.float32)
    generator = np.random.default_rng(13)
    low, high = (0.2, 0.8) if sampler.addressing == "NONE" else (-1.3, 2.3)
    at = generator.uniform(low, high, (ITEMS, 4)).astype(np.float32)
    at[:8] = np.linspace(low, high, 8, dtype=np.float32)[:, None]
    return at if sampler.normalised else at * extent


def read_kernels(kinds: Sequence[str], suffixes: Sequence[str], values: dict[str, str]) -> str:
    """For each kind and value a kernel with a sampler and whole coordinates, one with any, and two without."""
    text = ""
    for kind, suffix in product(kinds, suffixes):
        image, pick, value = f"image{kind}_t", PICK[kind], values[suffix]
        read = f"global {value} *out) {{ size_t i = get_global_id(0); out[i] = read_image{suffix}(im"
        for element in ("int", "float") if kind != "1d_buffer" else ():
            name = f"{element}_{kind}_{suffix}"
            parameters = f"read_only {image} im, sampler_t s, global const {element}4 *at"
            text += f"kernel void {name}({parameters}, {read}, s, at[i].{pick}); }}\n"
        for access in ("read_only", "read_write"):
            parameters = f"{access} {image} im, global const int4 *at"
            text += f"kernel void {access}_{kind}_{suffix}({parameters}, {read}, at[i].{pick}); }}\n"
    return text


def read_launches(
    kind: str, suffix: str, image: Image, sizes: Sequence[int], samplers: Sequence[Sampler], out: Array
) -> Iterator[Launch]:
    def launch(name: str, *arguments: Argument) -> Launch:
        return Launch(f"{name}_{kind}_{suffix}", (image, *arguments, out), (ITEMS,))

    for access in ("read_only", "read_write"):
        yield launch(access, inside(sizes))
    for sampler in samplers if kind != "1d_buffer" else ():
        if sampler.filter == "LINEAR" and suffix in ("i", "ui"):
            continue
        if not sampler.normalised and sampler.filter == "NEAREST":
            yield launch("int", sampler, outside(sizes, sampler))
        yield launch("float", sampler, between(sizes, sampler))


@pytest.mark.parametrize("suffix", VALUES)
def test_every_kind_of_image_is_read_as_the_device_reads_it(device: DeviceInfo, suffix: str) -> None:
    value, channel_types = VALUES[suffix]
    out = np.zeros((ITEMS, 4), RESULTS[suffix])
    launches = [
        launch
        for (kind, sizes), channel_type in product(SIZES.items(), channel_types)
        for launch in read_launches(kind, suffix, picture(sizes, channel_type, kind), sizes, SAMPLERS, out)
    ]
    compare(device, read_kernels(list(SIZES), [suffix], {suffix: value}), launches, PLAIN_AND_OPTIMISED)


def test_depths_are_read_as_the_device_reads_them(device: DeviceInfo) -> None:
    out = np.zeros(ITEMS, np.float32)
    launches = [
        launch
        for (kind, sizes), channel_type in product(DEPTH_SIZES.items(), ("FLOAT", "UNORM_INT16"))
        for launch in read_launches(kind, "f", picture(sizes, channel_type, kind, "DEPTH"), sizes, SAMPLERS, out)
    ]
    compare(device, read_kernels(list(DEPTH_SIZES), ["f"], {"f": "float"}), launches, PLAIN_AND_OPTIMISED)


def test_elements_are_read_as_they_lie_in_memory(device: DeviceInfo) -> None:
    """Against numpy, so that the two compilers cannot be wrong together."""
    sizes = SIZES["3d"]
    image, at = picture(sizes, "SIGNED_INT16", "3d"), inside(sizes)
    source = read_kernels(["3d"], ["i"], {"i": "int4"})
    module = coopmat.compile(source, name="images.cl")
    launch = Launch("read_write_3d_i", (image, at, np.zeros((ITEMS, 4), np.int32)), (ITEMS,))
    (after,) = execute(device, module.spirv, [launch])
    assert (after[2] == image.data[at[:, 2], at[:, 1], at[:, 0]]).all()


# --- writing ---------------------------------------------------------------------------------------


def written_values(suffix: str, count: int) -> Array:
    """Values that some of the channel types cannot hold."""
    generator = np.random.default_rng(17)
    if suffix in ("f", "h"):
        return generator.uniform(-1.5, 1.5, (count, 4)).astype(RESULTS[suffix])
    shifts = generator.integers(0, 32, (count, 4), np.uint64)
    return (generator.integers(0, 1 << 32, (count, 4), np.uint64) >> shifts).astype(np.uint32).view(RESULTS[suffix])


def everywhere(sizes: Sequence[int]) -> Array:
    """The coordinates of each element, once."""
    grid = np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), -1).reshape(-1, len(sizes))[:, ::-1]
    result = np.zeros((len(grid), 4), np.int32)
    result[:, : len(sizes)] = grid
    return result


def write_kernels(kinds: Sequence[str], suffix: str, value: str) -> str:
    text = ""
    for kind, access in product(kinds, ("write_only", "read_write")):
        parameters = f"{access} image{kind}_t im, global const int4 *at, global const {value} *value"
        body = f"size_t i = get_global_id(0); write_image{suffix}(im, at[i].{PICK[kind]}, value[i]);"
        text += f"kernel void {access}_{kind}({parameters}) {{ {body} }}\n"
    return text


@pytest.mark.parametrize("suffix", VALUES)
def test_every_kind_of_image_is_written_as_the_device_writes_it(device: DeviceInfo, suffix: str) -> None:
    value, channel_types = VALUES[suffix]
    launches = []
    for (kind, sizes), channel_type, access in product(SIZES.items(), channel_types, ("write_only", "read_write")):
        at = everywhere(sizes)
        image = picture(sizes, channel_type, kind, fill=False)
        launches.append(Launch(f"{access}_{kind}", (image, at, written_values(suffix, len(at))), (len(at),)))
    compare(device, write_kernels(list(SIZES), suffix, value), launches, PLAIN_AND_OPTIMISED)


def test_depths_are_written_as_the_device_writes_them(device: DeviceInfo) -> None:
    launches = []
    for (kind, sizes), channel_type, access in product(
        DEPTH_SIZES.items(), ("FLOAT", "UNORM_INT16"), ("write_only", "read_write")
    ):
        at = everywhere(sizes)
        image = picture(sizes, channel_type, kind, "DEPTH", fill=False)
        launches.append(Launch(f"{access}_{kind}", (image, at, written_values("f", len(at))[:, 0]), (len(at),)))
    compare(device, write_kernels(list(DEPTH_SIZES), "f", "float"), launches, PLAIN_AND_OPTIMISED)


def test_integers_saturate_with_their_sign_in_old_spirv_too(device: DeviceInfo) -> None:
    """SPIR-V before 1.4 does not tell the signs of an image's elements."""
    source = """
kernel void f(write_only image2d_t narrow, write_only image2d_t wide, global const int4 *v, global const uint4 *u)
{
    int2 p = (int2)(get_global_id(0), 0);
    write_imagei(narrow, p, v[p.x]);
    write_imageui(wide, p, u[p.x]);
}
"""
    v = np.array([[-1, 300, -300, 127], [1 << 30, -(1 << 31), 0, 5]], np.int32)
    narrow = picture((1, 2), "SIGNED_INT8", fill=False)
    wide = picture((1, 2), "UNSIGNED_INT8", fill=False)
    for version in ("1.2", "1.4"):
        module = coopmat.compile(source, ["--spirv-version", version], name="images.cl")
        (after,) = execute(device, module.spirv, [Launch("f", (narrow, wide, v, v.view(np.uint32)), (2,))])
        assert (after[0][0] == np.clip(v, -128, 127)).all()
        assert (after[1][0] == np.clip(v.view(np.uint32), 0, 255)).all()


def test_images_are_changed_in_place(device: DeviceInfo) -> None:
    source = """
kernel void next(read_write image2d_t im, read_write image3d_t volume)
{
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    for (int i = 0; i < 3; i++) {
        write_imagef(im, p, read_imagef(im, p).yzwx * 0.5f + 0.25f);
        atomic_work_item_fence(CLK_IMAGE_MEM_FENCE, memory_order_acq_rel, memory_scope_work_item);
    }
    uint4 more = (uint4)(p.x, p.y, get_image_depth(volume), 7);
    write_imageui(volume, (int4)(p, 1, 0), read_imageui(volume, (int4)(p, 0, 0)) + more);
}
"""
    height, width = SIZES["2d"]
    pair = picture((2, height, width), "UNSIGNED_INT16", "3d")
    launches = [Launch("next", (picture((height, width), "FLOAT"), pair), (width, height))]
    compare(device, source, launches, PLAIN_AND_OPTIMISED)


# --- queries ---------------------------------------------------------------------------------------

# Sizes of an image by the names of the functions that ask for them.
QUERIES = {"width": "get_image_width", "height": "get_image_height", "depth": "get_image_depth"}
FORMATS = (
    ("RGBA", "FLOAT"),
    ("RGBA", "SIGNED_INT16"),
    ("R", "UNORM_INT8"),
    ("BGRA", "UNORM_INT8"),
    ("RG", "HALF_FLOAT"),
)
ORDERS = {"R": 0x10B0, "RG": 0x10B2, "RGBA": 0x10B5, "BGRA": 0x10B6, "DEPTH": 0x10BD}
TYPES = {"FLOAT": 0x10DE, "SIGNED_INT16": 0x10D8, "UNORM_INT8": 0x10D2, "HALF_FLOAT": 0x10DD, "UNORM_INT16": 0x10D3}


def query_kernel(kind: str, access: str) -> str:
    """Width, height, depth, array size, channel order and type, then the four of get_image_dim; -1 for what is not."""
    array, volume, flat = "array" in kind, kind == "3d", kind.startswith("1d")
    asked = [
        "get_image_width(im)",
        "-1" if flat else "get_image_height(im)",
        "get_image_depth(im)" if volume else "-1",
        "(int)get_image_array_size(im)" if array else "-1",
        "get_image_channel_order(im)",
        "get_image_channel_data_type(im)",
        "-1, -1, -1, -1" if flat else "get_image_dim(im)" if volume else "get_image_dim(im), -1, -1",
    ]
    body = f"int16 all = (int16)({', '.join(asked)}, 0, 0, 0, 0, 0, 0); vstore16(all, 0, out);"
    return f"kernel void {access}_{kind}({access} image{kind}_t im, global int *out) {{ {body} }}\n"


def expected_answers(kind: str, sizes: Sequence[int], order: str, channel_type: str) -> list[int]:
    array, flat = "array" in kind, kind.startswith("1d")
    inner = sizes[1:] if array else sizes
    width, height = inner[-1], -1 if flat else inner[-2]
    depth = sizes[0] if kind == "3d" else -1
    dim = [-1] * 4 if flat else [width, height, depth, 0] if kind == "3d" else [width, height, -1, -1]
    return [width, height, depth, sizes[0] if array else -1, ORDERS[order], TYPES[channel_type], *dim]


def test_images_tell_their_sizes_and_formats(device: DeviceInfo) -> None:
    cases = [(kind, sizes, *kept) for (kind, sizes), kept in product(SIZES.items(), FORMATS)]
    cases += [(kind, sizes, "DEPTH", t) for kind, sizes in DEPTH_SIZES.items() for t in ("FLOAT", "UNORM_INT16")]
    accesses = ("read_only", "write_only", "read_write")
    source = "".join(query_kernel(kind, access) for kind, access in product((*SIZES, *DEPTH_SIZES), accesses))
    launches = [
        Launch(f"{access}_{kind}", (picture(sizes, channel_type, kind, order), np.zeros(16, np.int32)))
        for (kind, sizes, order, channel_type), access in product(cases, accesses)
    ]
    compare(device, source, launches, PLAIN_AND_OPTIMISED)
    after = execute(device, coopmat.compile(source, name="images.cl").spirv, launches)
    for (case, access), found in zip(product(cases, accesses), after, strict=True):
        assert list(found[1][:10]) == expected_answers(*case), (case, access)


def test_orders_and_types_are_the_macros(device: DeviceInfo) -> None:
    source = """
kernel void f(read_only image2d_t im, global int *out)
{
    out[0] = get_image_channel_order(im) == CLK_BGRA;
    out[1] = get_image_channel_data_type(im) == CLK_UNORM_INT8;
}
"""
    launches = [Launch("f", (picture((2, 2), "UNORM_INT8", order="BGRA"), np.zeros(2, np.int32)))]
    compare(device, source, launches)
    (after,) = execute(device, coopmat.compile(source, name="images.cl").spirv, launches)
    assert list(after[1]) == [1, 1]


# --- samplers of the program, functions, control flow ----------------------------------------------


def test_constant_samplers_are_what_the_host_would_make(device: DeviceInfo) -> None:
    """Each sampler at program scope, in a function, as another name of one, and as the argument itself."""
    sizes = SIZES["2d"]
    source, launches = "", []
    image, out = picture(sizes, "UNORM_INT8"), np.zeros((4, ITEMS, 4), np.float32)
    for n, sampler in enumerate(SAMPLERS):
        outside_space = ("constant", "const")[n % 2]
        source += f"""
{outside_space} sampler_t program{n} = {literal(sampler)};
float4 passed{n}(image2d_t im, sampler_t s, float2 at) {{ sampler_t again = s; return read_imagef(im, again, at); }}
kernel void f{n}(image2d_t im, global const float4 *at, global float4 *out)
{{
    const sampler_t local_one = {literal(sampler)};
    sampler_t another = local_one;
    size_t i = get_global_id(0);
    out[i] = read_imagef(im, program{n}, at[i].xy);
    out[i + {ITEMS}] = read_imagef(im, another, at[i].xy);
    out[i + {2 * ITEMS}] = read_imagef(im, {literal(sampler)}, at[i].xy);
    out[i + {3 * ITEMS}] = passed{n}(im, program{n}, at[i].xy);
}}
kernel void host{n}(image2d_t im, sampler_t s, global const float4 *at, global float4 *out)
{{
    size_t i = get_global_id(0);
    for (int k = 0; k < 4; k++)
        out[i + k * {ITEMS}] = passed{n}(im, s, at[i].xy);
}}
"""
        at = between(sizes, sampler)
        launches.append(Launch(f"f{n}", (image, at, out), (ITEMS,)))
        launches.append(Launch(f"host{n}", (image, sampler, at, out), (ITEMS,)))
    compare(device, source, launches, PLAIN_AND_OPTIMISED)
    after = execute(device, coopmat.compile(source, name="images.cl").spirv, launches)
    for ours, hosts in zip(after[::2], after[1::2], strict=True):
        assert (ours[2] == hosts[3]).all()


def test_images_and_samplers_in_branches_and_functions(device: DeviceInfo) -> None:
    """What LLVM's passes would like to make one call of."""
    source = """
constant sampler_t near = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
constant sampler_t far = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
float4 twice(read_only image2d_t im, sampler_t s, float2 p, int depth)
{
    float4 sum = read_imagef(im, s, p);
    if (depth > 2)
        sum += read_imagef(im, near, p + 1.0f);
    else
        sum += read_imagef(im, far, p + 1.0f);
    return sum;
}
void put(write_only image2d_t target, int2 p, float4 v) { write_imagef(target, p, v); }
kernel void f(read_only image2d_t a, read_only image2d_t b, write_only image2d_t c, write_only image2d_t d, sampler_t s,
              int n, global float4 *out)
{
    int x = get_global_id(0);
    int2 p = (int2)(x % 9, x / 9);
    float4 v;
    if ((x & 1) != 0)
        v = twice(a, s, convert_float2(p) * 0.5f, x & 7);
    else
        v = twice(b, s, convert_float2(p) * 0.5f, x & 7);
    switch (x % 3) {
    case 0: v += read_imagef(a, near, p); break;
    case 1: v += read_imagef(b, near, p); break;
    default: v += read_imagef(b, far, convert_float2(p) / 9.0f);
    }
    for (int i = 0; i < n; i++)
        v += i % 2 ? read_imagef(a, p) : read_imagef(b, p);
    if (x > 20)
        put(c, p, v);
    else
        put(d, p, v);
    out[x] = v;
}
"""
    sizes = SIZES["2d"]
    host = Sampler(False, "CLAMP_TO_EDGE", "LINEAR")
    pictures = [picture(sizes, "FLOAT", seed=seed, fill=seed < 3) for seed in (1, 2, 3, 4)]
    out = np.zeros((sizes[0] * sizes[1], 4), np.float32)
    arguments = (*pictures, host, Value(np.int32(5)), out)
    compare(device, source, [Launch("f", arguments, (len(out),))], PLAIN_AND_OPTIMISED)
