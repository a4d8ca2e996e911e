"""Images: reading, writing and queries (OpenCL C 3.0, section 6.15.15).

The operations that an image allows depend on its access qualifier alone. Types that need another feature (`read_write`,
3D image writes, depth) are rejected where they are named.
"""

from __future__ import annotations

from ...features import IMAGES
from .rows import NOT_YET, Builtin, rows

SECTION = "6.15.15"

# Number of coordinates ("" for a scalar) -> image types, for colour images and for depth images.
_COLOURS = {"": "image1d_t", "2": "image1d_array_t image2d_t", "4": "image2d_array_t image3d_t"}
_DEPTHS = {"2": "image2d_depth_t", "4": "image2d_array_depth_t"}
# Images on top of a buffer cannot be read with a sampler.
_UNSAMPLED = {**_COLOURS, "": "image1d_t image1d_buffer_t"}

_READABLE, _WRITABLE, _ANY = ("ro", "rw"), ("wo", "rw"), ("ro", "wo", "rw")
_WIDE = "image2d_t image2d_array_t image2d_depth_t image2d_array_depth_t"
_ARRAYS = "image1d_array_t image2d_array_t image2d_array_depth_t"
_ALL = f"image1d_t image1d_buffer_t image1d_array_t {_WIDE} image3d_t"


def _set(accesses: tuple[str, ...], images: str) -> str:
    return "I in " + " ".join(f"{access}:{image}" for image in images.split() for access in accesses)


def _reads(result: str, sampled: dict[str, str], unsampled: dict[str, str]) -> list[str]:
    """Return the signatures of image reads, one for each number of coordinates; only read_only images take samplers."""
    signatures = []
    for count, images in sampled.items():
        for element in ("int", "float"):
            coordinates = f"{element}{count}"
            signatures.append(f"{result} @(I, sampler_t, {coordinates}) for {_set(('ro',), images)}")
    for count, images in unsampled.items():
        signatures.append(f"{result} @(I, int{count}) for {_set(_READABLE, images)} needs CL1.2")
    return signatures


def _writes(value: str, images: dict[str, str]) -> list[str]:
    return [f"void @(I, int{count}, {value}) for {_set(_WRITABLE, kinds)}" for count, kinds in images.items()]


def _row(name: str, *signatures: str, lowering: str = "call", needs: str = IMAGES) -> tuple[Builtin, ...]:
    return rows(name, *signatures, section=SECTION, lowering=lowering, convergent=True, needs=needs)


def _read(name: str, *signatures: str, needs: str = IMAGES) -> tuple[Builtin, ...]:
    return _row(name, *signatures, lowering="image_read", needs=needs)


def _write(name: str, *signatures: str, needs: str = IMAGES) -> tuple[Builtin, ...]:
    return _row(name, *signatures, lowering="image_write", needs=needs)


TABLE = (
    *_read("read_imagef", *_reads("float4", _COLOURS, _UNSAMPLED), *_reads("float", _DEPTHS, _DEPTHS)),
    *_read("read_imagei", *_reads("int4", _COLOURS, _UNSAMPLED)),
    *_read("read_imageui", *_reads("uint4", _COLOURS, _UNSAMPLED)),
    *_read("read_imageh", *_reads("half4", _COLOURS, _UNSAMPLED), needs=f"{IMAGES} cl_khr_fp16"),
    *_write("write_imagef", *_writes("float4", _UNSAMPLED), *_writes("float", _DEPTHS)),
    *_write("write_imagei", *_writes("int4", _UNSAMPLED)),
    *_write("write_imageui", *_writes("uint4", _UNSAMPLED)),
    *_write("write_imageh", *_writes("half4", _UNSAMPLED), needs=f"{IMAGES} cl_khr_fp16"),
    *_row("get_image_width", f"int @(I) for {_set(_ANY, _ALL)}"),
    *_row("get_image_height", f"int @(I) for {_set(_ANY, f'{_WIDE} image3d_t')}"),
    *_row("get_image_depth", f"int @(I) for {_set(_ANY, 'image3d_t')}"),
    *_row(
        "get_image_dim",
        f"int2 @(I) for {_set(_ANY, _WIDE)}",
        f"int4 @(I) for {_set(_ANY, 'image3d_t')}",
        lowering="image_dim",
    ),
    *_row("get_image_array_size", f"size_t @(I) for {_set(_ANY, _ARRAYS)}"),
    *_row("get_image_channel_data_type", f"int @(I) for {_set(_ANY, _ALL)}", lowering="image_data_type"),
    *_row("get_image_channel_order", f"int @(I) for {_set(_ANY, _ALL)}", lowering="image_order"),
    *rows("get_image_num_mip_levels", section="cl_khr_mipmap_image", status=NOT_YET),
    *rows("get_image_num_samples", section="cl_khr_gl_msaa_sharing", status=NOT_YET),
)
