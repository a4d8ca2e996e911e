"""Runs one source through this compiler and through the device's own OpenCL C compiler, and compares all buffers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

import coopmat
from coopmat.devices import DeviceInfo, opencl

Array = npt.NDArray[Any]
# What the device's compiler needs to take half, and floating-point expressions as they are written.
PROLOGUE = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL FP_CONTRACT OFF\n"
SIZES = (1, 2, 3, 4, 8, 16)
NUMPY: dict[str, Any] = {
    **{"char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32},
    **{"uint": np.uint32, "long": np.int64, "ulong": np.uint64, "half": np.float16, "float": np.float32},
    "double": np.float64,
}
# Without matrices, `native` is a program as lowered, and `one` the same after LLVM's O1 pipeline.
PLAIN_AND_OPTIMISED = ("native", "one")
INTEGERS = tuple(NUMPY)[:8]
FLOATS = tuple(NUMPY)[8:]


@dataclass(frozen=True)
class Value:
    """An argument that is passed by value: these bytes."""

    data: Array


@dataclass(frozen=True)
class Local:
    """An argument in local memory, in bytes."""

    size: int


@dataclass(frozen=True, eq=False)
class Shared:
    """A buffer that starts with `data` and that all launches which name this object work on."""

    data: Array


CHANNELS = {"R": 1, "RG": 2, "RGBA": 4, "BGRA": 4, "DEPTH": 1}
_DEPTH = 0x10BD  # CL_DEPTH, which pyopencl does not name


@dataclass(frozen=True, eq=False)
class Image:
    """An image of `kind`, its type's name without `image` and `_t`; `data` has its sizes, the greatest first, and then
    the channels. `channel_type` and `order` are OpenCL's names."""

    data: Array
    channel_type: str
    kind: str = "2d"
    order: str = "RGBA"

    @property
    def region(self) -> tuple[int, int, int]:
        """Width first."""
        sizes = (*self.data.shape[-2::-1], 1, 1)
        return sizes[0], sizes[1], sizes[2]


@dataclass(frozen=True)
class Sampler:
    """A sampler from the host, by OpenCL's names for its modes."""

    normalised: bool
    addressing: str
    filter: str


Argument: TypeAlias = "Array | Value | Local | Shared | Image | Sampler"


@dataclass(frozen=True)
class Launch:
    """`arguments`: an array is a buffer of this launch's own, read and written. `ulps`: how far floats of each buffer
    may lie apart, by the buffer's number among the arguments; 0 where it is not said."""

    kernel: str
    arguments: Sequence[Argument]
    global_size: tuple[int, ...] = (1,)
    local_size: tuple[int, ...] | None = None
    offset: tuple[int, ...] | None = None
    ulps: Mapping[int, float] = field(default_factory=dict)


def compare(device: DeviceInfo, source: str, launches: Sequence[Launch], routes: Sequence[str] = ("native",)) -> None:
    """Fails with everything that differs: which route and kernel, which buffer, where, what."""
    theirs = execute(device, PROLOGUE + source, launches)
    wrong = []
    for route in routes:
        module = coopmat.compile(source, ["--matrices", route], name="differential.cl")
        ours = execute(device, module.spirv, launches)
        for launch, mine, other in zip(launches, ours, theirs, strict=True):
            for number in mine:
                found = difference(mine[number], other[number], launch.ulps.get(number, 0.0))
                if found:
                    wrong.append(f"{route}: {launch.kernel}, argument {number}: {found}")
    assert not wrong, "\n".join(wrong)


def difference(ours: Array, theirs: Array, ulps: float = 0.0) -> str:
    """What differs, in words; empty where nothing does. NaNs are alike, zeros are so with their sign only.

    Records are compared field by field: padding is nobody's.
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
    device: DeviceInfo, program: bytes | str, launches: Sequence[Launch], options: Sequence[str] = ("-cl-std=CL3.0",)
) -> list[dict[int, Array]]:
    """For every launch its buffers and images as the kernel left them, by argument number; `options` are for source."""
    cl = opencl()
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    with warnings.catch_warnings():
        # The device's compiler tells how it vectorised each kernel.
        warnings.simplefilter("ignore", cl.CompilerWarning)
        if isinstance(program, bytes):
            built = cl.Program(context, program).build()
        else:
            built = cl.Program(context, program).build(list(options), cache_dir=False)
    kept: dict[Shared | Image, Any] = {}
    return [run_kernel(cl, context, queue, built, launch, kept) for launch in launches]


def run_kernel(
    cl: Any, context: Any, queue: Any, program: Any, launch: Launch, kept: dict[Shared | Image, Any]
) -> dict[int, Array]:
    """The buffers and images as the kernel left them; `kept` holds those that outlive a launch."""
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
    """By mapping it, since `enqueue_copy` knows no images of one dimension."""
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
    # The third is the size of an array, too.
    described.shape = (sizes[0], 1, sizes[1]) if image.kind == "1d_array" else sizes
    described.pitches, described.num_mip_levels, described.num_samples = (0, 0), 0, 0
    # The descriptor does not keep it alive.
    buffer = cl.Buffer(context, flags, hostbuf=data) if image.kind == "1d_buffer" else None
    described.buffer = buffer
    if buffer is not None:
        return cl.Image(context, cl.mem_flags.READ_WRITE, kind, desc=described)
    return cl.Image(context, flags, kind, desc=described, hostbuf=data)


def _data(argument: Any) -> Array:
    return np.ascontiguousarray(argument.data if isinstance(argument, Shared | Image) else argument)


def values(name: str, count: int, seed: int = 1) -> Array:
    """Integers over their whole range with the ends first; floats of all magnitudes with specials first."""
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
