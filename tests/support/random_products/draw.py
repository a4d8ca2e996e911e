"""Draws calls of gemm from seeds."""

from __future__ import annotations

import random
from collections.abc import Container
from dataclasses import dataclass, fields, replace

import numpy as np

from . import layouts
from .activations import ACTIVATIONS
from .formats import FORMATS, Format, Integer
from .layouts import Layout

FAMILY = 32
"""The number of subsequent seeds that share types and options, so that fewer kernels are compiled."""

VECTOR_OFFSETS = "vector-offsets"
"""The feature that a bias or a vector of factors has an offset."""

NARROW = ("f16", "bf16", "e4m3", "e5m2")
SMALL = (2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 16, 17)
MIDDLE = (19, 23, 31, 32, 33, 47, 48, 63, 64, 65)
LARGE = (97, 127, 128, 129, 160, 191, 199, 200)


@dataclass(frozen=True)
class Options:
    """What the calls of one family share.

    a, b, out: the names of the types.
    is_out_named: whether the call passes out_dtype though it could be omitted.
    bias: "", "row" (of n numbers) or "column".
    scale_a, scale_b: "", "number" or "vector".
    """

    a: str
    b: str
    out: str
    is_out_named: bool
    bias: str
    activation: str
    scale_a: str
    scale_b: str

    @property
    def is_integer(self) -> bool:
        """Whether alpha, beta, the bias and the result are integers."""
        return self.has_integers and self.out == "s32"

    @property
    def has_integers(self) -> bool:
        return isinstance(FORMATS[self.a], Integer)

    @property
    def is_scaled(self) -> bool:
        return bool(self.scale_a or self.scale_b)

    @property
    def real(self) -> Format:
        """Return the type in which the sums are scaled, and of the bias."""
        return FORMATS["s32" if self.is_integer else "f64" if "f64" in (self.a, self.out) else "f32"]

    @property
    def epsilon(self) -> float:
        """Return the relative distance of numbers in the less exact of the types of the sums and of what follows."""
        is_double = self.a == "f64" or (self.has_integers and self.out == "f64")
        return float(np.finfo(np.float64 if is_double else np.float32).eps)

    @property
    def default_out(self) -> str:
        if self.has_integers:
            return "f32" if self.is_scaled else "s32"
        return "f64" if self.a == "f64" else "f32"


@dataclass(frozen=True)
class Call:
    """A call of gemm; `tests/support/random_products/execute.py` makes its arrays.

    batch_a, batch_b: the number of matrices; 0 for an array of two dimensions.
    is_in_place: whether c is given.
    queue: "in-order" or "out-of-order"; arrays: the queue of the arrays: "same", "other" or "none".
    wait: "", "wait_for" or "events": how the call gets to know the event that `late` waits for.
    late: the operand that is written after the call.
    memory: "separate", or "shared" if all operands are in one buffer.
    values: how the numbers are drawn.
    is_packed: whether `pack` copies b before the call.
    layouts: name of the operand -> its layout.
    """

    seed: int
    options: Options
    m: int
    n: int
    k: int
    batch_a: int
    batch_b: int
    batch_c: int
    trans_a: bool
    trans_b: bool
    alpha: float
    beta: float
    is_in_place: bool
    queue: str
    arrays: str
    wait: str
    late: str
    memory: str
    values: str
    is_packed: bool
    layouts: dict[str, Layout]

    def __str__(self) -> str:
        parts = [f"{part.name}={getattr(self.options, part.name)!r}" for part in fields(self.options)]
        parts += [f"{part.name}={getattr(self, part.name)!r}" for part in fields(self)[2:-1]]
        lines = [" ".join(parts), *(f"  {name}: {layout}" for name, layout in self.layouts.items())]
        return "\n".join(lines)


def options(seed: int) -> Options:
    """Draw the options of the seed's family."""
    source = random.Random(f"family {seed // FAMILY}")
    kind = source.choices(["f32", "narrow", "with_f32", "f64", "integer"], [2, 5, 1, 2, 4])[0]
    if kind == "narrow":
        a, b = source.choice(NARROW), source.choice(NARROW)
        b = a if source.random() < 0.4 else b
    elif kind == "with_f32":
        a, b = source.sample(["f32", source.choice(NARROW)], 2)
    elif kind == "integer":
        a, b = source.choice(["s8", "u8"]), source.choice(["s8", "u8"])
    else:
        a = b = kind
    out = ""
    if source.random() < 0.6:
        out = source.choice(["f32", "f16", "bf16", "f64", "s8", "u8", "e4m3", "e5m2"])
        if kind == "integer" and source.random() < 0.3:
            out = "s32"
    scales = ["", "number", "vector"]
    is_scaled = source.random() < 0.4 and out != "s32"
    scale_a, scale_b = (source.choice(scales) if is_scaled else "" for _ in "ab")
    bias = source.choice(["row", "column"]) if source.random() < 0.4 else ""
    activation = source.choice(list(ACTIVATIONS)) if source.random() < 0.35 else ""
    drawn = Options(a, b, out, bool(out), bias, "", scale_a, scale_b)
    drawn = replace(drawn, out=out or drawn.default_out, is_out_named=bool(out) or source.random() < 0.2)
    return drawn if drawn.is_integer else replace(drawn, activation=activation)


def call(seed: int, without: Container[str] = ()) -> Call:
    """Draw the call of a seed; `without` names features to leave out, which changes nothing else."""
    shared = options(seed)
    source = random.Random(seed)
    m, n, k = (_size(source) for _ in "mnk")
    batch_a, batch_b, batch_c = _batches(source)
    is_in_place = source.random() < 0.5
    trans_a, trans_b = source.random() < 0.3, source.random() < 0.3
    shapes = {
        "a": _shape(batch_a, *((k, m) if trans_a else (m, k))),
        "b": _shape(batch_b, *((n, k) if trans_b else (k, n))),
    }
    if is_in_place:
        shapes["c"] = _shape(batch_c, m, n)
    if shared.bias:
        shapes["bias"] = (n,) if shared.bias == "row" else (m, 1)
    for name, size in (("scale_a", m), ("scale_b", n)):
        if getattr(shared, name) == "vector":
            shapes[name] = (size,)
    wait = source.choice(["", "wait_for", "events"])
    beta = _factor(source, shared) if is_in_place and source.random() < 0.6 else 0
    late = source.choice([name for name in shapes if name != "c" or beta])
    memory = "shared" if source.random() < 0.15 and not wait else "separate"
    drawn = {name: _layout(source, name, shape, memory) for name, shape in shapes.items()}
    if VECTOR_OFFSETS in without and len(shapes) > 2 + is_in_place:
        memory = "separate"
        drawn = {name: found if name in ("a", "b", "c") else replace(found, front=0) for name, found in drawn.items()}
    return Call(
        seed, shared, m, n, k, batch_a, batch_b, batch_c, trans_a, trans_b, _factor(source, shared), beta, is_in_place,
        queue=source.choice(["in-order", "in-order", "out-of-order"]), arrays=source.choice(["same", "other", "none"]),
        wait=wait, late=late, memory=memory, values=_values(source, shared),
        is_packed=source.random() < 0.3 and not (wait and late == "b"), layouts=drawn,
    )  # fmt: skip


def _size(source: random.Random) -> int:
    drawn = source.random()
    if drawn < 0.02:
        return 0
    if drawn < 0.12:
        return 1
    return source.choice(SMALL if drawn < 0.65 else MIDDLE if drawn < 0.9 else LARGE)


def _batches(source: random.Random) -> tuple[int, int, int]:
    """Return the matrices of a, b and c; 0 for two dimensions."""
    if source.random() < 0.5:
        return 0, 0, 0
    count = source.choice([1, 2, 2, 3, 4])
    batch_a, batch_b = source.choice([(count, count), (count, 1), (1, count), (count, 0), (0, count)])
    return batch_a, batch_b, max(batch_a, batch_b)


def _shape(batch: int, rows: int, columns: int) -> tuple[int, ...]:
    return (batch, rows, columns) if batch else (rows, columns)


def _layout(source: random.Random, name: str, shape: tuple[int, ...], memory: str) -> Layout:
    found = layouts.draw(source, shape, name == "c")
    if name in ("a", "b", "c") and memory == "separate":
        return found
    strides, first, extent = found.strides, found.first, found.extent
    if name not in ("a", "b", "c"):
        # Whether a bias or a vector of factors may have gaps is left to the plain tests.
        strides, first, extent = layouts.contiguous(shape), 0, shape[0]
    is_sub_buffer = found.is_sub_buffer and memory == "separate"
    return Layout(shape, strides, first, extent, found.front, found.back, is_sub_buffer)


def _factor(source: random.Random, shared: Options) -> float:
    """Return alpha or beta: a number that float represents, an integer if the result is one."""
    if shared.is_integer:
        return source.choice([1, 1, -1, 2, 3, -3, 0])
    if source.random() < 0.4:
        return 1
    return source.choice([0.5, -2, 3.25, 0, -0.8125, source.randrange(-64, 64) / 16])


def _values(source: random.Random, shared: Options) -> str:
    may_be_special = not (shared.has_integers or shared.activation or shared.out in ("s8", "u8"))
    drawn = source.random()
    if drawn < 0.06 and may_be_special:
        return "special"
    return "normal" if drawn < 0.5 else "wide" if drawn < 0.75 else "integers" if drawn < 0.9 else "bits"
