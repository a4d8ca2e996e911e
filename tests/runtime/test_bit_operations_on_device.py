"""Bit operations and integer dot products against numpy and the device's own OpenCL C compiler."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from differential import INTEGERS, NUMPY, PLAIN_AND_OPTIMISED, PROLOGUE, Array, Launch, Value, execute, values
from repeats import SAME_WIDTH, slow_where

import coopmat
from coopmat.devices import DeviceInfo

ITEMS = 64
# Where a field starts and how long it is, as fractions of the width; the last begins at the end and is empty.
FIELDS = [(0, 1), (0, 0.5), (0.25, 0.5), (0.5, 0.5), (0.75, 0.125), (0.375, 0), (0, 0.125), (1, 0)]


def mask(count: int) -> int:
    return (1 << count) - 1


def reverse(x: int, bits: int) -> int:
    return int(format(x, f"0{bits}b")[::-1], 2)


def insert(base: int, value: int, offset: int, count: int) -> int:
    return base & ~(mask(count) << offset) | (value & mask(count)) << offset


def extract(x: int, offset: int, count: int, signed: bool) -> int:
    field = x >> offset & mask(count)
    return field - (1 << count) if signed and count and field >> count - 1 else field


def bits_of(x: Array) -> list[int]:
    return [int(value) & mask(x.dtype.itemsize * 8) for value in x]


def wrapped(numbers: list[int], bits: int, signed: bool) -> Array:
    kind = np.dtype(f"u{bits // 8}")
    return np.array([n & mask(bits) for n in numbers], kind).view(f"{'i' if signed else 'u'}{bits // 8}")


def load(pointer: str, n: int) -> str:
    return f"{pointer}[i]" if n == 1 else f"vload{n}(i, {pointer})"


def store(text: str, n: int, pointer: str) -> str:
    return f"{pointer}[i] = {text};" if n == 1 else f"vstore{n}({text}, i, {pointer});"


@pytest.mark.parametrize("t", slow_where(SAME_WIDTH.__contains__, INTEGERS))
def test_extended_bit_operations(device: DeviceInfo, t: str) -> None:
    bits = np.dtype(NUMPY[t]).itemsize * 8
    fields = [(int(bits * at), int(bits * count)) for at, count in FIELDS]
    source, launches, expected = "", [], []
    for n in (1, 3, 16):
        v = f"{t}{n if n > 1 else ''}"
        signed, unsigned = (f"{s}{t.removeprefix('u')}" for s in ("", "u"))
        head = f"global const {t} *xs, global const {t} *ys, global {t} *out, global {signed} *s, global {unsigned} *u"
        lines = [f"{v} x = {load('xs', n)}, y = {load('ys', n)};", store("bit_reverse(x)", n, "out")]
        for number, (offset, count) in enumerate([*fields, *fields]):
            # As constants, and as what nobody knows before it runs.
            at = f"{offset}u, {count}u" if number < len(fields) else f"{offset} + zero, {count} + zero"
            step = f"{(number + 1) * ITEMS * n}"
            lines.append(store(f"bitfield_insert(x, y, {at})", n, f"(out + {step})"))
            lines.append(store(f"bitfield_extract_signed(x, {at})", n, f"(s + {step})"))
            lines.append(store(f"bitfield_extract_unsigned(x, {at})", n, f"(u + {step})"))
        source += f"kernel void k{n}({head}, uint zero) {{ size_t i = get_global_id(0); {' '.join(lines)} }}\n"
        x, y = values(t, ITEMS * n, 1), values(t, ITEMS * n, 2)
        size = (2 * len(fields) + 1) * ITEMS * n
        outs = [np.zeros(size, NUMPY[r]) for r in (t, signed, unsigned)]
        launches.append(Launch(f"k{n}", [x, y, *outs, Value(np.uint32(0))], (ITEMS,)))
        a, b = bits_of(x), bits_of(y)
        inserted = [insert(p, q, at, count) for at, count in fields for p, q in zip(a, b, strict=True)]
        parts = {2: [reverse(p, bits) for p in a] + 2 * inserted}
        for number, is_signed in ((3, True), (4, False)):
            extracted = [extract(p, at, count, is_signed) for at, count in fields for p in a]
            parts[number] = [0] * len(a) + 2 * extracted
        expected.append({number: wrapped(part, bits, False) for number, part in parts.items()})
    for found in results(device, source, launches):
        for launch, result, want in zip(launches, found, expected, strict=True):
            for number, array in want.items():
                assert np.array_equal(result[number].view(array.dtype), array), (launch.kernel, number)


DOTS: dict[str, tuple[str, str, str]] = {
    "uu": ("uchar", "uchar", "uint"),
    "ss": ("char", "char", "int"),
    "us": ("uchar", "char", "int"),
    "su": ("char", "uchar", "int"),
}


def test_integer_dot_products(device: DeviceInfo) -> None:
    items = 512
    source, launches, expected = "", [], []
    edges = {"char": [-128, 127, -1, 0], "uchar": [255, 128, 1, 0]}
    for signs, (a, b, r) in DOTS.items():
        packed = f"4x8packed_{signs}_{r}"
        source += f"""kernel void {signs}(global const {a}4 *x, global const {b}4 *y, global const {r} *c,
            global {r} *out) {{ size_t i = get_global_id(0); out += 4 * i;
            out[0] = dot(x[i], y[i]); out[1] = dot_acc_sat(x[i], y[i], c[i]);
            out[2] = dot_{packed}(as_uint(x[i]), as_uint(y[i]));
            out[3] = dot_acc_sat_{packed}(as_uint(x[i]), as_uint(y[i]), c[i]); }}\n"""
        x, y = (values(t, 4 * items, seed).reshape(items, 4) for t, seed in ((a, 3), (b, 4)))
        for at, (p, q) in enumerate(itertools.product(edges[a], edges[b])):
            x[at], y[at] = p, q
        c = values(r, items, 5)
        # Near the ends, so that many sums saturate.
        limits = np.iinfo(c.dtype)
        c[::3], c[1::3] = limits.max - np.arange(len(c[::3])), limits.min + np.arange(len(c[1::3]))
        total = (x.astype(np.int64) * y.astype(np.int64)).sum(1)
        ended = np.clip(total + c.astype(np.int64), limits.min, limits.max)
        launches.append(Launch(signs, [x, y, c, np.zeros(4 * items, c.dtype)], (items,)))
        expected.append(np.stack([total, ended, total, ended], 1).astype(c.dtype).reshape(-1))
    for found in results(device, source, launches):
        for launch, result, want in zip(launches, found, expected, strict=True):
            assert np.array_equal(result[3], want), launch.kernel


def results(device: DeviceInfo, source: str, launches: list[Launch]) -> list[list[dict[int, Array]]]:
    """As lowered, after LLVM's passes, and from the device's own compiler."""
    routes = [coopmat.compile(source, ["--matrices", route], name="bits.cl").spirv for route in PLAIN_AND_OPTIMISED]
    return [execute(device, program, launches) for program in (*routes, PROLOGUE + source)]
