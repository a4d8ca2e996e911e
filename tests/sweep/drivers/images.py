"""Images: reading, writing and queries, for every kind and access. tests/runtime tries more channels and samplers."""

from __future__ import annotations

import re

import numpy as np
from cases import KERNEL, Array, Case, Driver, Same, blank, in_memory, same
from differential import NUMPY, Image, Sampler

from coopmat.frontend.builtins import Overload
from coopmat.frontend.types import ImageType, element_count, element_type

# By a type's name without `image` and `_t`: the sizes, the greatest first.
SIZES = {
    **{"1d": (17,), "1d_buffer": (19,), "1d_array": (3, 17), "2d": (5, 9), "2d_array": (3, 5, 9), "3d": (4, 5, 9)},
    **{"2d_depth": (5, 9), "2d_array_depth": (3, 5, 9)},
}
ITEMS = 96
# By the builtin's suffix: a channel type whose elements are the values themselves, and how they are stored.
_CHANNELS = {
    **{"f": ("FLOAT", np.float32), "h": ("HALF_FLOAT", np.float16)},
    **{"i": ("SIGNED_INT32", np.int32), "ui": ("UNSIGNED_INT32", np.uint32)},
}
_NAME = re.compile(r"(?P<what>read|write)_image(?P<suffix>f|h|i|ui)")


def _image(overload: Overload) -> ImageType:
    found = overload.parameters[0]
    assert isinstance(found, ImageType)
    return found


def _kind(overload: Overload) -> str:
    return _image(overload).name.removeprefix("image").removesuffix("_t")


def _picture(overload: Overload, suffix: str, fill: bool = True) -> Image:
    kind = _kind(overload)
    channel_type, stored = _CHANNELS[suffix]
    depth = "depth" in kind
    shape = (*SIZES[kind], 1 if depth else 4)
    data = np.random.default_rng(3).integers(0 if suffix == "ui" else -100, 100, shape) * fill
    values = (data / 8).astype(stored) if stored in (np.float32, np.float16) else data.astype(stored)
    return Image(values, channel_type, kind, "DEPTH" if depth else "RGBA")


def _coordinates(kind: str, count: int, margin: int) -> Array:
    """Whole coordinates, x first, up to `margin` elements outside of the image; four of them for three."""
    generator, sizes = np.random.default_rng(4), SIZES[kind][::-1]
    found = np.zeros((ITEMS, count), np.int32)
    for number, size in enumerate(sizes):
        # The layer of an array is clamped, whatever the sampler says, and rounded; so it stays inside.
        found[:, number] = generator.integers(-margin, size + margin, ITEMS)
    return found


def _read(overload: Overload) -> Case:
    match = _NAME.fullmatch(overload.name)
    assert match is not None
    suffix, kind, image = match["suffix"], _kind(overload), _picture(overload, match["suffix"])
    sampled, where, result = len(overload.parameters) == 3, overload.parameters[-1], overload.result
    count = element_count(where)
    whole = _coordinates(kind, count, 3 if sampled else 0)
    sizes = np.array(SIZES[kind][::-1])
    inside = np.clip(whole[:, : len(sizes)], 0, sizes - 1)
    expected = image.data[tuple(inside.T[::-1])]
    sampler, at = Sampler(False, "CLAMP_TO_EDGE", "NEAREST"), whole
    reference: Array | None = expected
    if str(element_type(where)) == "float":
        linear = "LINEAR" if suffix in ("f", "h") else "NEAREST"
        sampler = Sampler(True, "CLAMP_TO_EDGE", linear)
        at = np.random.default_rng(5).uniform(-0.4, 1.4, (ITEMS, count)).astype(np.float32)
        reference = None
    parameter = ", sampler_t s" if sampled else ""
    text = (
        f"kernel void {KERNEL}({_image(overload)} im{parameter}, global const {where} *at, global {result} *r)"
        f" {{ size_t i = get_global_id(0); r[i] = {overload.name}(im, {'s, ' * sampled}at[i]); }}"
    )
    buffers = [in_memory(at, where), blank(result, ITEMS)]
    arguments = [image, *([sampler] if sampled else []), *buffers]
    return Case(text, arguments, {len(arguments) - 1: same(result, reference=reference)}, (ITEMS,), (16,))


def _write(overload: Overload) -> Case:
    match = _NAME.fullmatch(overload.name)
    assert match is not None
    kind, where, value = _kind(overload), overload.parameters[1], overload.parameters[2]
    image, expected = (_picture(overload, match["suffix"], fill) for fill in (False, True))
    grid = np.stack(np.meshgrid(*map(np.arange, SIZES[kind]), indexing="ij"), -1).reshape(-1, len(SIZES[kind]))
    at = np.zeros((len(grid), element_count(where)), np.int32)
    at[:, : grid.shape[1]] = grid[:, ::-1]
    values = expected.data.reshape(len(grid), -1)
    text = (
        f"kernel void {KERNEL}({_image(overload)} im, global const {where} *at, global const {value} *v)"
        f" {{ size_t i = get_global_id(0); {overload.name}(im, at[i], v[i]); }}"
    )
    arguments = [image, in_memory(at, where), in_memory(values, value)]
    return Case(text, arguments, {0: Same(reference=expected.data.ravel())}, (len(grid),))


def _query(overload: Overload) -> Case:
    kind, result = _kind(overload), overload.result
    sizes = [*SIZES[kind][::-1], 0, 0]
    layers = kind.count("array")
    dimensions = len(SIZES[kind]) - layers
    expected = {
        "get_image_width": sizes[:1],
        "get_image_height": sizes[1:2],
        "get_image_depth": sizes[2:3],
        "get_image_dim": [*sizes[:dimensions], 0][: element_count(result)],
        "get_image_array_size": [sizes[dimensions]],
        # CLK_FLOAT; CLK_DEPTH and CLK_RGBA.
        "get_image_channel_data_type": [0x10DE],
        "get_image_channel_order": [0x10BD if "depth" in kind else 0x10B5],
    }[overload.name]
    text = f"kernel void {KERNEL}({_image(overload)} im, global {result} *r) {{ r[0] = {overload.name}(im); }}"
    reference = np.array(expected, NUMPY[str(element_type(result))])
    return Case(text, [_picture(overload, "f"), blank(result, 1)], {1: same(result, reference=reference)})


DRIVERS = (
    Driver("reading images", lambda o: o.name.startswith("read_image"), _read),
    Driver("writing images", lambda o: o.name.startswith("write_image"), _write),
    Driver("queries of images", lambda o: o.name.startswith("get_image_"), _query),
)
