"""Run one source through this compiler and through the device's own OpenCL C compiler, and compare all buffers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from optimizer import device_options

import coopmat
from coopmat.devices import DeviceInfo, opencl

Array = npt.NDArray[Any]
# Required by the device's compiler for half, and to evaluate floating-point expressions without contraction.
PROLOGUE = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL FP_CONTRACT OFF\n"
SIZES = (1, 2, 3, 4, 8, 16)
NUMPY: dict[str, Any] = {
    **{"char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32},
    **{"uint": np.uint32, "long": np.int64, "ulong": np.uint64, "half": np.float16, "float": np.float32},
    "double": np.float64,
}
# Without matrices, `native` is the program as lowered, and `one` is the same after LLVM's O1 pipeline.
PLAIN_AND_OPTIMISED = ("native", "one")
INTEGERS = tuple(NUMPY)[:8]
FLOATS = tuple(NUMPY)[8:]


@dataclass(frozen=True)
class Value:
    """An argument that is passed by value, as bytes."""

    data: Array


@dataclass(frozen=True)
class Local:
    """An argument in local memory, with its size in bytes."""

    size: int


@dataclass(frozen=True, eq=False)
class Shared:
    """A buffer that initially contains `data`; all launches whose arguments include this object share it."""

    data: Array


CHANNELS = {"R": 1, "RG": 2, "RGBA": 4, "BGRA": 4, "DEPTH": 1}
_DEPTH = 0x10BD  # CL_DEPTH, which pyopencl does not name


@dataclass(frozen=True, eq=False)
class Image:
    """An image.

    data: the texels; the dimensions are the sizes, largest dimension first, then the channels.
    kind: the name of the image type without `image` and `_t`.
    channel_type, order: OpenCL's names.
    """

    data: Array
    channel_type: str
    kind: str = "2d"
    order: str = "RGBA"

    @property
    def region(self) -> tuple[int, int, int]:
        """The sizes, width first."""
        sizes = (*self.data.shape[-2::-1], 1, 1)
        return sizes[0], sizes[1], sizes[2]


@dataclass(frozen=True)
class Sampler:
    """A sampler from the host, with OpenCL's names of its modes."""

    normalised: bool
    addressing: str
    filter: str


Argument: TypeAlias = "Array | Value | Local | Shared | Image | Sampler"


@dataclass(frozen=True)
class Launch:
    """A launch of a kernel.

    arguments: an array is a buffer of this launch, read and written.
    ulps: index of an argument -> allowed distance of its floats; 0 by default.
    """

    kernel: str
    arguments: Sequence[Argument]
    global_size: tuple[int, ...] = (1,)
    local_size: tuple[int, ...] | None = None
    offset: tuple[int, ...] | None = None
    ulps: Mapping[int, float] = field(default_factory=dict)


def compare(device: DeviceInfo, source: str, launches: Sequence[Launch], routes: Sequence[str] = ("native",)) -> None:
    """Fail if any buffer differs; the message has the route, the kernel, the buffer, and the differing elements."""
    options = device_options(device, source, routes)
    theirs = execute(device, PROLOGUE + source, launches, options)
    wrong = []
    for route in routes:
        module = coopmat.compile(source, ["--matrices", route], name="differential.cl")
        ours = execute(device, module.spirv, launches, options)
        for launch, mine, other in zip(launches, ours, theirs, strict=True):
            for number in mine:
                found = difference(mine[number], other[number], launch.ulps.get(number, 0.0))
                if found:
                    wrong.append(f"{route}: {launch.kernel}, argument {number}: {found}")
    assert not wrong, "\n".join(wrong)


def difference(ours: Array, theirs: Array, ulps: float = 0.0) -> str:
    """Describe the difference of two arrays, "" if they are equal.

    All NaNs are equal; zeros are equal if their signs are. Structures are compared by members, since padding is
    undefined.
    """
    if ours.dtype.names:
        found = {name: difference(ours[name], theirs[name], ulps) for name in ours.dtype.names}
        return "; ".join(f"{name}: {text}" for name, text in found.items() if text)
    ours, theirs = np.ascontiguousarray(ours), np.ascontiguousarray(theirs)
    if ours.dtype.kind == "f":
        bits = f"u{ours.dtype.itemsize}"
        right = (ours.view(bits) == theirs.view(bits)) | (np.isnan(ours) & np.isnan(theirs))
        if ulps:
            with np.errstate(all="ignore"):
                right |= np.abs(ours - theirs) <= ulps * np.spacing(np.abs(theirs))
    else:
        right = ours == theirs
    if right.all():
        return ""
    at = np.argwhere(~right)
    some = ", ".join(f"[{', '.join(map(str, i))}] {ours[tuple(i)]!r} not {theirs[tuple(i)]!r}" for i in at[:8])
    return f"{len(at)} of {right.size} differ: {some}"


def execute(
    device: DeviceInfo, program: bytes | str, launches: Sequence[Launch], options: Sequence[str] = ()
) -> list[dict[int, Array]]:
    """Return for each launch index of the argument -> contents of the buffer or image after it.

    Source is OpenCL C 3.0 unless `options`, the build options, name another version.
    """
    cl = opencl()
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    with warnings.catch_warnings():
        # Ignore the device compiler's log on the vectorization of each kernel.
        warnings.simplefilter("ignore", cl.CompilerWarning)
        if isinstance(program, bytes):
            built = cl.Program(context, program).build(list(options))
        else:
            built = cl.Program(context, program).build(["-cl-std=CL3.0", *options], cache_dir=False)
    kept: dict[Shared | Image, Any] = {}
    return [run_kernel(cl, context, queue, built, launch, kept) for launch in launches]


def run_kernel(
    cl: Any, context: Any, queue: Any, program: Any, launch: Launch, kept: dict[Shared | Image, Any]
) -> dict[int, Array]:
    """Launch a kernel, and return its buffers and images after it; `kept` holds those that are shared by launches."""
    kernel, memory = cl.Kernel(program, launch.kernel), {}
    for number, argument in enumerate(launch.arguments):
        if isinstance(argument, Local | Value | Sampler):
            kernel.set_arg(number, _passed(cl, context, argument))
            continue
        if isinstance(argument, Shared | Image):
            if argument not in kept:
                kept[argument] = _memory(cl, context, argument)
            memory[number] = kept[argument]
        else:
            memory[number] = _memory(cl, context, argument)
        kernel.set_arg(number, memory[number])
    cl.enqueue_nd_range_kernel(queue, kernel, launch.global_size, launch.local_size, launch.offset)
    result = {}
    for number, source in memory.items():
        argument = launch.arguments[number]
        if isinstance(argument, Image):
            result[number] = _read_image(cl, queue, source, argument)
            continue
        result[number] = np.empty_like(_data(argument))
        cl.enqueue_copy(queue, result[number], source)
    queue.finish()
    return result


def _read_image(cl: Any, queue: Any, image: Any, argument: Image) -> Array:
    """Return an image's contents by mapping it, since `enqueue_copy` does not support one-dimensional images."""
    data = argument.data
    whole = (0, 0, 0), argument.region, (data.nbytes,), np.uint8
    mapped, _, row, _ = cl.enqueue_map_image(queue, image, cl.map_flags.READ, *whole)
    assert data.ndim == 2 or row == data[(0,) * (data.ndim - 2)].nbytes, "the rows lie apart"
    result = mapped.view(data.dtype).reshape(data.shape).copy()
    mapped.base.release(queue)
    return result


def _passed(cl: Any, context: Any, argument: Local | Value | Sampler) -> Any:
    if isinstance(argument, Local):
        return cl.LocalMemory(argument.size)
    if isinstance(argument, Value):
        return np.ascontiguousarray(argument.data)
    modes = getattr(cl.addressing_mode, argument.addressing), getattr(cl.filter_mode, argument.filter)
    return cl.Sampler(context, argument.normalised, *modes)


def _memory(cl: Any, context: Any, argument: Array | Shared | Image) -> Any:
    flags, data = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, _data(argument)
    if isinstance(argument, Image):
        return _image(cl, context, flags, argument, data)
    return cl.Buffer(context, flags, hostbuf=data)


def _image(cl: Any, context: Any, flags: Any, image: Image, data: Array) -> Any:
    order = _DEPTH if image.order == "DEPTH" else getattr(cl.channel_order, image.order)
    kind = cl.ImageFormat(order, getattr(cl.channel_type, image.channel_type))
    described = cl.ImageDescriptor()
    described.image_type = getattr(cl.mem_object_type, f"IMAGE{image.kind.removesuffix('_depth').upper()}")
    sizes = image.region[: data.ndim - 1]
    # The third is also the size of an array.
    described.shape = (sizes[0], 1, sizes[1]) if image.kind == "1d_array" else sizes
    described.pitches, described.num_mip_levels, described.num_samples = (0, 0), 0, 0
    # Keep a reference: the descriptor does not keep the buffer alive.
    buffer = cl.Buffer(context, flags, hostbuf=data) if image.kind == "1d_buffer" else None
    described.buffer = buffer
    if buffer is not None:
        return cl.Image(context, cl.mem_flags.READ_WRITE, kind, desc=described)
    return cl.Image(context, flags, kind, desc=described, hostbuf=data)


def _data(argument: Any) -> Array:
    return np.ascontiguousarray(argument.data if isinstance(argument, Shared | Image) else argument)


def values(name: str, count: int, seed: int = 1) -> Array:
    """Return integers of the whole range, extremes first, or floats of all magnitudes, special values first."""
    generator, dtype = np.random.default_rng(seed), np.dtype(NUMPY[name])
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        first = [0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 2.5, limits.max, limits.min, limits.tiny, np.inf, -np.inf, np.nan]
        with np.errstate(over="ignore"):
            rest = (generator.standard_normal(count) * 2.0 ** generator.integers(-8, 9, count)).astype(dtype)
    else:
        span = np.iinfo(dtype)
        first = [0, 1, span.max, span.min, 2, span.max - 1, span.min + 1, 3, 7, span.max // 2]
        rest = generator.integers(span.min, span.max, count, dtype, endpoint=True)
    start = min(len(first), count)
    rest[:start] = np.array(first[:start]).astype(dtype) if dtype.kind == "f" else np.array(first[:start], dtype)
    return rest
