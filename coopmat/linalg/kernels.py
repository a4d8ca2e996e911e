"""The kernels of the products: their variants, builds and launches."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from math import gcd, prod
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array

from coopmat import Program
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType

from .contexts import keep
from .operands import Operand, vectors_of
from .panels import CHUNK, Format, Panels, line_of, pack_of, panels_of, scratch_of, with_a_in_place
from .parameters import Tiling, tilings_of


@dataclass(frozen=True)
class Variant:
    """What selects a kernel of gemm.cl.

    types: the component types of A, B (or of their panels), the sums, what follows them (REAL in gemm.cl), and D.
    flags: the names of the macros that are 1.
    activation: OpenCL C that defines the function `activation`; empty if there is none.
    piece: the bytes of A and B that are copied to local memory at a time: 4, 8 or 16; 0 if none are.
    """

    types: tuple[ComponentType, ...]
    flags: frozenset[str]
    activation: str
    tiling: Tiling
    piece: int

    def __hash__(self) -> int:
        # Two variants differ in their flags or the tiling almost always, and each launch calculates a hash.
        return hash((self.flags, self.tiling))


@dataclass(frozen=True)
class Product:
    """A product for arrays of the same description, in any memory.

    operands: A, B and the output.
    shape: (matrices in the batch, m, n, k).
    offsets: name of the bias or of scales -> offset of its first element. The launch reads the arrays of these names.
    packed: how B is packed; None if it is not.
    is_batch: whether A or B has three dimensions.
    launches: device -> its launch; filled by `run`.
    """

    operands: tuple[Operand, Operand, Operand]
    types: tuple[ComponentType, ...]
    flags: frozenset[str]
    activation: str
    shape: tuple[int, int, int, int]
    offsets: Mapping[str, int]
    packed: Format | None = None
    is_batch: bool = False
    launches: dict[Any, _Launch] = field(default_factory=dict)

    @property
    def result_shape(self) -> tuple[int, ...]:
        """The shape of a new array for the result: 3-dimensional if A or B is."""
        return self.shape[:3] if self.is_batch else self.shape[1:3]

    def run(self, queue: Any, arrays: dict[str, Any], factors: Mapping[str, float], events: list[Any]) -> Any:
        """Enqueue the product of `arrays`, and return the array "c", or a new one, which has the event of the launch.

        factors: alpha and beta. events: what to wait for; this function adds to them.
        """
        if "c" not in arrays:
            arrays["c"] = pyopencl.array.empty(queue, self.result_shape, self.types[4].numpy)
        result = arrays["c"]
        for array in arrays.values():
            events += array.events
        if not prod(self.shape[:3]):
            return result
        left, right, output = self.operands
        memory = {name: array.base_data for name, array in arrays.items()}
        arrays_only = (left, right) if self.packed is None else (left,)
        operands = [*(readable(queue, item, memory, events) for item in arrays_only), right][:2]
        if output.is_by_rows:
            event = self._enqueue(queue, (*operands, output), memory, factors, events)
        else:
            dense, own = output.dense(), memory["c"]
            memory["c"] = memory_for(queue, dense)
            if "HAS_BETA" in self.flags:
                events[:] = [enqueue_copy(queue, output, own, dense, memory["c"], events)]
            event = self._enqueue(queue, (*operands, dense), memory, factors, events)
            event = enqueue_copy(queue, dense, memory["c"], output, own, [event])
        result.add_event(event)
        return result

    def _enqueue(
        self,
        queue: Any,
        operands: tuple[Operand, ...],
        memory: Mapping[str, Any],
        factors: Mapping[str, float],
        events: list[Any],
    ) -> Any:
        """Enqueue the kernel, and return its event."""
        device = queue.device
        launch = self.launches.get(device)
        if launch is None:
            launch = self.launches[device] = self._launch(queue, operands)
        arguments = [memory["a"], memory["b"], memory["c"]]
        for name in ("bias", "scale_a", "scale_b"):
            arguments += memory.get(name), self.offsets.get(name, 0)
        arguments += factors["alpha"], factors["beta"], *launch.numbers
        kernel = gemm_kernel(queue.context, device, launch.variant)
        if not launch.copies:
            return kernel.enqueue(queue, launch.global_size, launch.local_size, arguments, events)

        def multiply_panels(buffer: Any, before: list[Any]) -> Any:
            for copy in launch.copies:
                arguments[copy.panels.is_b] = buffer
            copied = [copy.enqueue(queue, memory, buffer, before) for copy in launch.copies]
            return kernel.enqueue(queue, launch.global_size, launch.local_size, arguments, copied)

        return scratch_of(queue.context, device).launch(queue, launch.scratch, events, multiply_panels)

    def _launch(self, queue: Any, operands: tuple[Operand, ...]) -> _Launch:
        """Return the launch on the queue's device; its kernel is built."""
        batch, m, n, k = self.shape
        tilings = tilings_of(queue.device, self.types, self.shape, vectors_of(operands))
        for copied in tilings if self.packed is None else [self.packed.tiling_of(m)]:
            tiling = with_a_in_place(copied, operands)
            piece = _piece(operands, tiling)
            if bool(piece) != bool(tiling.block):
                continue
            variant = self._variant(operands, tiling, piece)
            size = gemm_kernel(queue.context, queue.device, variant).sub_group_size
            if tiling.sub_group_size in (0, size):
                break
        else:  # a single one that is measured
            raise ValueError("no tiling fits the operands and the subgroups")
        if tiling.panels:
            return self._launch_on_panels(operands, variant, size)
        rows, columns, _depth = tiling.group
        group = tiling.dot or size * tiling.sub_groups
        numbers = [m, n, k, *(item.line for item in operands), *(item.offset for item in operands)]
        numbers += [item.strides[0] for item in operands]
        return _Launch(variant, (-(-n // columns) * group, -(-m // rows), batch), (group, 1, 1), tuple(numbers))

    def _launch_on_panels(self, operands: tuple[Operand, ...], variant: Variant, size: int) -> _Launch:
        """Return the launch that copies A and B into panels, and multiplies these. `size` is that of a subgroup."""
        batch, m, n, k = self.shape
        a, b = panels_of(operands, variant.tiling)
        left, _right, output = operands
        # Panels of B are behind those of A, unless either is not copied.
        begin, copies = 0, list[PanelCopy]()
        depth, line, offset, batch_a = k, left.line, left.offset, left.strides[0]
        if "A_IN_PLACE" not in variant.flags:
            copies.append(PanelCopy.to(a, 0))
            depth, line, offset, batch_a = a.depth, a.size, 0, a.batch
            begin = a.bytes // b.component.size
        if self.packed is None:
            copies.append(PanelCopy.to(b, begin))
        else:
            b, begin = self.packed.panels, 0
        numbers = [m, n, depth, line, b.size, output.line, offset, begin, output.offset]
        numbers += batch_a, b.batch, output.strides[0]
        scratch = sum(copy.panels.bytes for copy in copies)
        return _Launch(variant, (a.count * size, b.count, batch), (size, 1, 1), tuple(numbers), tuple(copies), scratch)

    def _variant(self, operands: tuple[Operand, ...], tiling: Tiling, piece: int) -> Variant:
        (_batch, m, n, k), (rows, columns, depth) = self.shape, tiling.group
        # Panels are padded to multiples of the tile's k.
        is_whole = not (m % rows or n % columns or (k % depth and not tiling.panels))
        is_low = m < rows and not (tiling.panels or tiling.block or tiling.dot)
        flags = self.flags | ({"IS_LOW"} if is_low else set())
        return variant_of(operands, self.types, flags, tiling, piece, is_whole, self.activation)


@dataclass(frozen=True)
class _Launch:
    """A kernel's variant and sizes, and the numbers that are its last arguments.

    copies: the copies of A and B into panels that precede the launch. scratch: the bytes of their memory.
    """

    variant: Variant
    global_size: tuple[int, int, int]
    local_size: tuple[int, int, int]
    numbers: tuple[int, ...]
    copies: tuple[PanelCopy, ...] = ()
    scratch: int = 0


@dataclass(frozen=True)
class PanelCopy:
    """A copy of an operand into panels: the options of pack.cl, and the numbers that are its last arguments."""

    panels: Panels
    options: tuple[str, ...]
    numbers: tuple[int, ...]

    @classmethod
    def to(cls, panels: Panels, offset: int) -> PanelCopy:
        """Return the copy into panels that begin at `offset` of a buffer, in components."""
        return cls(panels, panels.options(), panels.numbers(offset))

    def enqueue(self, queue: Any, memory: Mapping[str, Any], buffer: Any, events: list[Any]) -> Any:
        """Enqueue the copy into the buffer, and return its event."""
        kernel = _pack_kernel(queue.context, queue.device, self.options)
        arguments = [memory[self.panels.operand.name], buffer, *self.numbers]
        size, panels = kernel.sub_group_size, self.panels
        global_size = panels.count * size, panels.chunks, panels.operand.shape[0]
        return kernel.enqueue(queue, global_size, (size, 1, 1), arguments, events)


def _piece(operands: tuple[Operand, ...], tiling: Tiling) -> int:
    """Return the most bytes of which rows (columns, if they are consecutive) of A and B are multiples: 4, 8 or 16.

    Also each work-item's share of a block is a multiple. Return 0 if there is no block, or if so few bytes are left
    that a kernel without blocks is faster (measured on an H100).
    """
    if not tiling.block:
        return 0
    size = operands[0].component.size
    numbers: list[int] = []
    for item in operands[:2]:
        numbers += item.shape[2 if item.is_by_rows else 1], item.line, item.offset, item.strides[0]
    piece = gcd(most_of_piece(tiling, size), *(number * size for number in numbers))
    return piece if piece >= least_of_piece(size) else 0


def most_of_piece(tiling: Tiling, size: int) -> int:
    """Return the most bytes, up to 16, of which each work-item's share of a block is a multiple.

    size: the bytes of a component.
    """
    m, n, depth = tiling.block
    work_items = tiling.sub_groups * tiling.sub_group_size
    return gcd(16, *(side * depth // work_items * size for side in (m, n)))


def least_of_piece(size: int) -> int:
    """Return the fewest bytes of a piece for which blocks are faster. `size` is that of a component, in bytes."""
    return 4 if size >= 4 else 8


def variant_of(
    operands: tuple[Operand, ...],
    types: tuple[ComponentType, ...],
    flags: frozenset[str],
    tiling: Tiling,
    piece: int,
    is_whole: bool,
    activation: str = "",
) -> Variant:
    """Return the kernel of gemm.cl for a tiling.

    types, flags: those of the product; the flags of the operands and the tiling are added.
    """
    orders = {"A_BY_COLUMNS": not operands[0].is_by_rows, "B_BY_COLUMNS": not operands[1].is_by_rows}
    added = {"WHOLE": is_whole and not tiling.dot} | ({} if tiling.panels else orders)
    if tiling.panels:
        a, b = panels_of(operands, tiling)
        types = a.component, b.component, *types[2:]
        added |= {
            "PANELS": True,
            "A_IN_PLACE": not tiling.panels[0],
            "A_FLIPPED": a.is_flipped,
            "B_FLIPPED": b.is_flipped,
        }
    elif not tiling.dot:
        added["STAGED"] = bool(tiling.block)
    flags_set = flags | {name for name, is_set in added.items() if is_set}
    return Variant(types, flags_set, activation, tiling, piece)


@dataclass
class Kernel:
    """A kernel of the cache. Only one thread at a time may set its arguments.

    program: the built program; some drivers release one that still has kernels.
    """

    program: Any
    kernel: Any
    sub_group_size: int
    lock: threading.Lock = field(default_factory=threading.Lock)

    def enqueue(self, queue: Any, sizes: Any, local: Any, arguments: list[Any], events: list[Any]) -> Any:
        with self.lock:
            return self.kernel(queue, sizes, local, *arguments, wait_for=events)


@keep
def gemm_kernel(context: Any, device: Any, variant: Variant) -> Kernel:
    """Return a kernel of gemm.cl, or of dot.cl; the context keeps it."""
    types = variant.types
    head = f"#define REAL {types[3].opencl_c}\n"
    head += f'#define ACTIVATION activation\n#line 1 "activation"\n{variant.activation}\n' if variant.activation else ""
    real = np.dtype(types[3].numpy)
    vector = [None, np.uint64]
    arguments = [None] * 3 + vector * 3 + [real] * 2 + [np.uint32] * 3 + [np.uint64] * 9
    macros, is_dot = macros_of(variant), variant.tiling.dot > 0
    if is_dot and not variant.activation:
        return _kernel_without_matrices(context, device, "dot.cl", "gemm", macros, arguments, head)
    # The caller's functions are in the language that coopmat compiles. Program does so if the source names matrices.
    head = f"#define MATRIX coop_mat\n{head}" if is_dot else head
    options = [f"-D{name}={value}" for name, value in macros.items()]
    program = build(context, device, "dot.cl" if is_dot else "gemm.cl", options, head)
    return kernel_of(program, device, "gemm", arguments, has_matrices=not is_dot)


def macros_of(variant: Variant) -> dict[str, object]:
    """Return the macros that select the variant of gemm.cl or dot.cl, but for its activation."""
    types, tiling = variant.types, variant.tiling
    names = ("A_TYPE", "B_TYPE", "SUM_TYPE", "REAL_TYPE", "D_TYPE")
    values: dict[str, object] = {name: t.opencl_c for name, t in zip(names, types, strict=True)}
    values |= dict(zip(("TILE_M", "TILE_N", "TILE_K"), tiling.tile, strict=True))
    values |= dict.fromkeys(sorted(variant.flags), 1)
    if tiling.block:
        values |= dict(zip(("BLOCK_M", "BLOCK_N", "DEPTH"), tiling.block, strict=True))
        values["SUB_GROUP_SIZE"] = tiling.sub_group_size
        values["PIECE"] = {4: "uint", 8: "uint2", 16: "uint4"}[variant.piece]
    if tiling.panels:
        panels = COMPONENT_TYPES[tiling.panels[1]]
        values |= {"LINE": line_of(panels, tiling.tile[2]), "PACK": pack_of(panels), "CHUNK": CHUNK}
    if tiling.dot:
        values |= {name: "ushort" for name, value in values.items() if value == "bfloat16"}
        values["WORK_ITEMS"] = tiling.dot
    return values


@keep
def _pack_kernel(context: Any, device: Any, options: tuple[str, ...]) -> Kernel:
    """Return a kernel of pack.cl; the context keeps it."""
    program = build(context, device, "pack.cl", options)
    return kernel_of(program, device, "pack", [None, None] + [np.uint64] * 6 + [np.uint32] * 3)


def is_cpu(device: Any) -> bool:
    """Return whether a pyopencl device is a CPU."""
    return bool(device.type & cl.device_type.CPU)


def build_peak(
    queue: Any, types: tuple[ComponentType, ...], tiling: Tiling, *, in_registers: bool
) -> tuple[Callable[[int], Any], int]:
    """Return a function that enqueues peak.cl, and the number of operations for each unit of the function's argument.

    The argument is the number of products that each subgroup adds up.

    types: the component types of A, B and the sums. in_registers: whether the tiles are read only once.
    """
    operands = [COMPONENT_TYPES[name] for name in tiling.panels] or list(types[:2])
    m, n, k = tiling.tile
    values = dict(zip(("A_TYPE", "B_TYPE", "SUM_TYPE"), (item.opencl_c for item in (*operands, types[2])), strict=True))
    sizes = {"TILE_M": m, "TILE_N": n, "TILE_K": k, "PACK": pack_of(operands[1]) if tiling.panels else 1}
    sizes["IN_REGISTERS"] = int(in_registers)
    options = [f"-D{name}={value}" for name, value in (values | sizes).items()]
    device = queue.device
    kernel = build(queue.context, device, "peak.cl", options).peak
    size, groups = kernel.sub_group_size(device), 16 * device.max_compute_units
    # GPUs need some 128 work-items in a work-group to fill a compute unit.
    in_group = 1 if is_cpu(device) else max(1, 128 // size)
    items = in_group * size
    a, b = (pyopencl.array.zeros(queue, 2 * k * side, item.numpy) for side, item in zip((m, n), operands, strict=True))
    sums = pyopencl.array.empty(queue, groups * in_group * m * n, types[2].numpy)

    def launch(times: int) -> Any:
        return kernel(queue, (groups * items,), (items,), a.data, b.data, sums.data, np.uint32(times))

    return launch, groups * in_group * 2 * m * n * k


@keep
def sub_group_size(context: Any, device: Any) -> int:
    """Return the number of work-items that compute with a matrix by default; the context keeps it."""
    matrix = "coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)"
    store = "coop_mat_store(p, x, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);"
    source = f"kernel void f(global float *p) {{ float __attribute__(({matrix})) x = coop_mat_init(0); {store} }}"
    return int(Program(context, source).build([], [device]).f.sub_group_size(device))


def build(context: Any, device: Any, file: str, options: Sequence[str], head: str = "") -> Any:
    """Return the built program of a file of this folder. `head` precedes the file's text."""
    # Tiles are measured, or tried; advice on them would puzzle the user, who has written no kernel.
    words = [*options, "-Wno-matrix-performance"]
    return Program(context, f'{head}#line 1 "{file}"\n{source_text(file)}').build(words, [device])


def kernel_of(program: Any, device: Any, name: str, types: list[Any], *, has_matrices: bool = True) -> Kernel:
    """Return a kernel of a program, without the checks of arguments. `types` are those of the arguments."""
    kernel = getattr(program, name)
    plain = cl.Kernel.from_int_ptr(kernel.int_ptr)
    plain.set_arg_types(types)
    return Kernel(program, plain, kernel.sub_group_size(device) if has_matrices else 1)


def source_text(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


# --- arrays with other strides -----------------------------------------------------------------------------


def readable(queue: Any, item: Operand, memory: dict[str, Any], events: list[Any]) -> Operand:
    """Return an operand whose rows or columns are consecutive: itself, or a copy.

    A copy replaces the operand's memory in `memory`, and its event joins `events`.
    """
    if not prod(item.shape):
        return item.dense()  # nothing is read
    if item.is_by_rows or item.is_by_columns:
        return item
    dense = item.dense()
    own, memory[item.name] = memory[item.name], memory_for(queue, dense)
    events.append(enqueue_copy(queue, item, own, dense, memory[item.name], events))
    return dense


def memory_for(queue: Any, dense: Operand) -> Any:
    """Return new memory for an operand whose rows are consecutive."""
    return pyopencl.array.empty(queue, dense.shape, dense.component.numpy).base_data


def enqueue_copy(queue: Any, source: Operand, own: Any, target: Operand, other: Any, events: list[Any]) -> Any:
    """Enqueue a copy of the numbers of an operand from the memory `own` to `other`, and return its event."""
    kernel = _copy_kernel(queue.context, queue.device, source.component.size)
    batch, rows, columns = source.shape
    numbers = [np.int64(number) for item in (source, target) for number in (item.offset, *item.strides)]
    return kernel.enqueue(queue, (columns, rows, batch), None, [own, other, *numbers], events)


@keep
def _copy_kernel(context: Any, device: Any, size: int) -> Kernel:
    return _kernel_without_matrices(context, device, "copy.cl", "copy", {"TYPE": _WORDS[size]})


@keep
def patches_kernel(context: Any, device: Any, size: int) -> Kernel:
    """Return the kernel of conv2d.cl for components of `size` bytes; the context keeps it."""
    arguments = [None, None, np.uint64] + [np.int32] * 14
    return _kernel_without_matrices(context, device, "conv2d.cl", "patches", {"TYPE": _WORDS[size]}, arguments)


# Bytes of a component -> a type of this size.
_WORDS = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}


def _kernel_without_matrices(
    context: Any,
    device: Any,
    file: str,
    name: str,
    macros: Mapping[str, object],
    types: Sequence[Any] = (),
    head: str = "",
) -> Kernel:
    """Return a kernel without matrices, which the device's own compiler builds.

    types: those of the arguments, by which scalars are converted; empty if arguments have the right types.
    head: text that precedes the file's.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)  # drivers write a log even if the build succeeds
        program = cl.Program(context, head + source_text(file))
        program.build([f"-D{macro}={value}" for macro, value in macros.items()], [device])
    kernel = getattr(program, name)
    if types:
        kernel.set_scalar_arg_dtypes(types)
    return Kernel(program, kernel, 1)
