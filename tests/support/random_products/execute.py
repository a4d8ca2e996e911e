"""Makes the arrays of a call, calls gemm, and compares all memory."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from coopmat.devices import DeviceInfo, opencl
from coopmat.linalg import gemm, pack

from .activations import ACTIVATIONS
from .draw import Call
from .formats import FORMATS, Float, Format
from .layouts import SUB_BUFFER_ALIGNMENT, Layout
from .oracle import Expected, differences, expected, range_text

Array = npt.NDArray[Any]

PATIENCE = 400.0
"""Seconds after which a call that waits for the event itself is released, and counted as a failure.

They are many because the first call of a kind compiles its kernel, which takes long on a busy machine.
"""

HEAD_START = 0.01
"""Seconds in which a launch that does not wait for the event reads what precedes the operand."""


@dataclass
class Block:
    """A buffer: its image on the host, and how many bytes of the image are used."""

    image: Array = field(default_factory=lambda: np.zeros(0, np.uint8))
    buffer: Any = None

    def add(self, layout: Layout, item: int, source: np.random.Generator) -> tuple[int, int]:
        """Append the place of an operand; return the byte of its sub-buffer, and of its first component."""
        start = -(-len(self.image) // SUB_BUFFER_ALIGNMENT) * SUB_BUFFER_ALIGNMENT if len(self.image) else 0
        origin = start
        if layout.is_sub_buffer:
            origin = start + SUB_BUFFER_ALIGNMENT
        size = origin - len(self.image) + (layout.front + layout.extent + layout.back) * item
        pattern = source.integers(0, 256, size + (64 if layout.is_sub_buffer else 0), np.uint8)
        self.image = np.concatenate([self.image, pattern])
        return origin, origin + (layout.front + layout.first) * item


@dataclass
class Operand:
    """An operand: its place in the image of its block, and its array on the device."""

    name: str
    format: Format
    layout: Layout
    block: Block
    origin: int
    start: int
    array: Any = None

    def view(self, image: Array) -> Array:
        """Return the components in an image of the block."""
        strides = tuple(step * self.format.dtype.itemsize for step in self.layout.strides)
        found: Array = np.ndarray(self.layout.shape, self.format.dtype, image, self.start, strides)
        return found

    def is_component(self) -> Array:
        """Return a boolean for each byte of the block: whether it is part of a component."""
        found = np.zeros(len(self.block.image), np.uint8)
        self.view(found)[...] = np.frombuffer(b"\xff" * self.format.dtype.itemsize, self.format.dtype)[0]
        return found.astype(np.bool_)


class Device:
    """The queues of a device."""

    def __init__(self, device: DeviceInfo) -> None:
        self.cl = opencl()
        self.context = self.cl.Context([device.handle])
        out_of_order = self.cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
        self.queues = {
            "in-order": self.cl.CommandQueue(self.context),
            "out-of-order": self.cl.CommandQueue(self.context, properties=out_of_order),
            "other": self.cl.CommandQueue(self.context),
        }

    def read(self, memory: Any, wait_for: list[Any] | None = None) -> Array:
        found = np.zeros(memory.size, np.uint8)
        self.cl.enqueue_copy(self.queues["other"], found, memory, wait_for=wait_for)
        return found


class Execution:
    """One call on a device."""

    def __init__(self, device: Device, call: Call) -> None:
        self.device, self.call = device, call
        self.source = np.random.default_rng(call.seed)
        self.queue = device.queues[call.queue]
        self.operands: dict[str, Operand] = {}
        self.numbers: dict[str, Any] = {}
        self.kept: list[Any] = []
        self._place()
        self._draw_numbers()
        self._upload()

    def format(self, name: str) -> Format:
        found = {"a": self.call.options.a, "b": self.call.options.b, "c": self.call.options.out}.get(name)
        return FORMATS[found] if found else self.call.options.real

    def _place(self) -> None:
        shared = Block()
        for name, layout in self.call.layouts.items():
            block = shared if self.call.memory == "shared" else Block()
            origin, start = block.add(layout, self.format(name).dtype.itemsize, self.source)
            self.operands[name] = Operand(name, self.format(name), layout, block, origin, start)

    def _draw_numbers(self) -> None:
        for name, operand in self.operands.items():
            if name != "c" or self.call.beta:
                style = self.call.values if name in ("a", "b", "c") else "normal"
                stored = operand.format.encode(self._values(operand, style))
                if style == "special" and name != "c":
                    self._put_specials(stored, operand.format)
                operand.view(operand.block.image)[...] = stored
        for name in ("scale_a", "scale_b"):
            if getattr(self.call.options, name) == "number":
                self.numbers[name] = float(self.source.integers(-32, 32)) / 8

    def _values(self, operand: Operand, style: str) -> Array:
        shape, form = operand.layout.shape, operand.format
        if not isinstance(form, Float):
            low, high = (-(10**6), 10**6) if form.name == "s32" else (-128, 256)
            return self.source.integers(low, high, shape)
        if style == "integers":
            return self.source.integers(-8, 9, shape).astype(np.float64)
        if style == "bits" and form.dtype.itemsize <= 2 and form.name != "bf16":
            found = form.decode(self.source.integers(0, 1 << (8 * form.dtype.itemsize), shape).astype(
                np.uint16 if form.dtype.itemsize == 2 else np.uint8).view(form.dtype))  # fmt: skip
            return np.where(np.isfinite(found), found, 1.0)
        values = self.source.standard_normal(shape)
        if style == "wide":
            values = np.ldexp(values, self.source.integers(-8, 9, shape))
        return values

    def _put_specials(self, stored: Array, form: Format) -> None:
        """Replace a few components by infinities and NaNs."""
        assert isinstance(form, Float)
        special = [np.nan, np.inf, -np.inf] if form.overflow == "infinity" else [np.nan]
        if form.is_numpys:
            choices = np.array(special, form.dtype)
        else:
            bits = [int(np.flatnonzero(np.isnan(form.table) if np.isnan(x) else form.table == x)[0]) for x in special]
            choices = np.array(bits, form.dtype)
        for _ in range(2 if stored.size else 0):
            stored.ravel()[self.source.integers(stored.size)] = self.source.choice(choices)

    def _upload(self) -> None:
        cl = self.device.cl
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        for operand in self.operands.values():
            block = operand.block
            if block.buffer is None:
                image = block.image
                if self.call.wait and operand.name == self.call.late:
                    image = self.source.integers(0, 256, len(image), np.uint8)
                block.buffer = cl.Buffer(self.device.context, flags, hostbuf=image)
            operand.array = self._array(operand)

    def _array(self, operand: Operand) -> Any:
        import pyopencl.array

        memory, offset, item = operand.block.buffer, operand.start, operand.format.dtype.itemsize
        if operand.layout.is_sub_buffer:
            size = (operand.layout.front + operand.layout.extent + operand.layout.back) * item
            memory, offset = memory.get_sub_region(operand.origin, size), offset - operand.origin
        queue = {"same": self.queue, "other": self.device.queues["other"], "none": self.device.context}
        strides = tuple(step * item for step in operand.layout.strides)
        return pyopencl.array.Array(
            queue[self.call.arrays], operand.layout.shape, operand.format.dtype,
            data=memory, offset=offset, strides=strides,
        )  # fmt: skip

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Return the positional and the named arguments of the call."""
        call, options = self.call, self.call.options
        named: dict[str, Any] = {**self.numbers}
        for name, value, default in (
            ("alpha", call.alpha, 1), ("beta", call.beta, 0),
            ("trans_a", call.trans_a, False), ("trans_b", call.trans_b, False),
        ):  # fmt: skip
            if value != default:
                named[name] = value
        for name in ("a", "b"):
            if self.format(name).is_named:
                named[f"dtype_{name}"] = self.format(name).name
        if options.activation:
            named["activation"] = ACTIVATIONS[options.activation].text
        out = FORMATS[options.out]
        if options.is_out_named or out.is_named:
            named["out_dtype"] = out.name if out.is_named else out.dtype
        named |= {name: operand.array for name, operand in self.operands.items() if name not in ("a", "b", "c")}
        positional = [self.queue, self.operands["a"].array, self.operands["b"].array]
        if call.is_in_place:
            positional.append(self.operands["c"].array)
        return positional, named

    def _with_packed(self, positional: list[Any], named: dict[str, Any]) -> None:
        """Replace b by what `pack` makes of it."""
        words = {name: named.pop(name) for name in ("trans_b", "dtype_b") if name in named}
        positional[2] = pack(self.queue, positional[2], dtype_a=self.format("a").name, **words)

    def launch(self) -> tuple[Any, list[str]]:
        """Call gemm; return its array, and failures."""
        positional, named = self.arguments()
        if self.call.is_packed:
            self._with_packed(positional, named)
        if not self.call.wait:
            return gemm(*positional, **named), []
        cl, late = self.device.cl, self.operands[self.call.late]
        gate = cl.UserEvent(self.device.context)
        queue = self.device.queues["out-of-order" if self.call.queue == "out-of-order" else "other"]
        written = cl.enqueue_copy(queue, late.block.buffer, late.block.image, wait_for=[gate], is_blocking=False)
        queue.flush()
        released: list[str] = []

        def release() -> None:
            released.append("the call waits for an event before it returns")
            gate.set_status(cl.command_execution_status.COMPLETE)

        timer = threading.Timer(PATIENCE, release)
        timer.start()
        try:
            if self.call.wait == "wait_for":
                named["wait_for"] = [written]
            else:
                late.array.add_event(written)
            result = gemm(*positional, **named)
            self.queue.flush()
            time.sleep(HEAD_START)
            return result, released
        finally:
            timer.cancel()
            if not released:
                gate.set_status(cl.command_execution_status.COMPLETE)
            written.wait()

    def run(self) -> list[str]:
        """Return the failures of the call."""
        result, failures = self.launch()
        wait_for = [result.events[-1]] if result.events else []
        if not wait_for and result.size:
            failures.append("the result has no event")
        self.queue.flush()
        failures += self._compare_result(result, wait_for)
        return failures + self._compare_memory(wait_for)

    def _decoded(self) -> dict[str, Any]:
        found = {
            name: operand.format.decode(operand.view(operand.block.image))
            for name, operand in self.operands.items()
            if name != "c" or self.call.beta
        }
        return found | self.numbers

    def _compare_result(self, result: Any, wait_for: list[Any]) -> list[str]:
        call, out = self.call, FORMATS[self.call.options.out]
        failures = []
        matrix = (call.m, call.n)
        shapes = [(call.batch_c, *matrix) if call.batch_c else matrix]
        if call.batch_c == 1 and not call.is_in_place:
            shapes.append(matrix)  # The documentation does not say how many dimensions a batch of one has.
        if result.shape not in shapes or result.dtype != out.dtype:
            return [f"the result is {result.shape} {result.dtype}, not {shapes[0]} {out.dtype}"]
        if call.is_in_place and result is not self.operands["c"].array:
            failures.append("the result is not the array c")
        if not result.size:
            return failures
        memory = result.base_data
        image = self.device.read(memory, wait_for)
        actual = np.ndarray(result.shape, out.dtype, image, result.offset, result.strides)
        found = expected(call, self._decoded())
        found = Expected(found.value.reshape(result.shape), found.error.reshape(result.shape))
        wrong = differences(call, found, actual)
        if wrong.any():
            place = tuple(int(index) for index in np.argwhere(wrong)[0])
            got = out.decode(np.asarray(actual[place]))
            text = f"{int(wrong.sum())} of {wrong.size} components differ, first {place}: "
            failures.append(f"{text}{float(got):.9g} (stored {actual[place]!r}), not {range_text(call, found, place)}")
        return failures

    def _compare_memory(self, wait_for: list[Any]) -> list[str]:
        failures = []
        for operand in self.operands.values():
            block = operand.block
            image = self.device.read(block.buffer, wait_for)
            changed = image != block.image
            for other in self.operands.values():
                if other.block is block and other.name == "c":
                    changed &= ~other.is_component()
            if changed.any():
                byte = int(np.flatnonzero(changed)[0])
                place = "a component" if operand.is_component()[byte] else "a byte between or around components"
                failures.append(f"{operand.name}: {int(changed.sum())} bytes changed, first {byte}: {place}")
        return failures
