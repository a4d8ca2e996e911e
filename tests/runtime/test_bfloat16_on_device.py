"""Scalar bfloat16: what is stored from every other type, and what is read back, against exact arithmetic."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction

import numpy as np
import pytest
from differential import NUMPY, Array, Launch, execute, values

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.frontend import typed

# The finite positive bfloat16s in order: their patterns are their order.
POSITIVE = [Fraction(float(x)) for x in (np.arange(0x7F80, dtype=np.uint32) << 16).view(np.float32)]
POSITIVE.append(Fraction(2) ** 128)  # where infinity would be
ITEMS = 1024


def nearest(value: int | float) -> int:
    """The pattern of the bfloat16 nearest to the value, ties to even."""
    if value != value:
        return 0x7FC0
    sign = 0x8000 if np.signbit(np.float64(value) if isinstance(value, float) else np.float64(min(value, 0))) else 0
    if abs(value) == float("inf"):
        return sign | 0x7F80
    exact = abs(Fraction(value))
    if exact >= POSITIVE[-1]:
        return sign | 0x7F80
    at = bisect_left(POSITIVE, exact)
    if POSITIVE[at] == exact:
        return sign | at
    below, above = exact - POSITIVE[at - 1], POSITIVE[at] - exact
    return sign | (at - 1 if below < above or (below == above and at % 2) else at)


def numbers(name: str) -> Array:
    """Any values; those about the ties of the format; the least and the largest."""
    dtype = np.dtype(NUMPY[name])
    found = values(name, ITEMS)
    if dtype.kind == "f":
        ties = (np.arange(ITEMS // 2, dtype=np.uint32) * 8_380_417 & 0x7FFF0000 | 0x8000).view(np.float32)
        with np.errstate(over="ignore"):
            found[: ITEMS // 2] = ties.astype(dtype)
            found[: ITEMS // 2 : 3] = np.nextafter(found[: ITEMS // 2 : 3], dtype.type(0))
            found[1 : ITEMS // 2 : 3] = np.nextafter(found[1 : ITEMS // 2 : 3], dtype.type(np.inf))
        found[-4:] = np.inf, -np.inf, np.nan, -0.0
        return found
    limits = np.iinfo(dtype)
    for i in range(ITEMS // 2):
        shift = i % max(dtype.itemsize * 8 - 9, 1)
        tie = ((257 + 2 * (i % 128)) << shift >> 1) + (i % 3 - 1)
        found[i] = max(limits.min, min(limits.max, tie * (-1 if dtype.kind == "i" and i % 2 else 1)))
    found[-3:] = limits.min, limits.max, 0
    return found


@pytest.mark.parametrize("route", ["one", "lanes"])
def test_conversions_round_once(device: DeviceInfo, route: str) -> None:
    names = list(NUMPY)
    parameters = "".join(f", const global {name} *{name}s, global {name} *back_{name}" for name in names)
    lines = "".join(
        f"b = {name}s[i]; out[{number} * {ITEMS} + i] = b; back_{name}[i] = (i & 63) < 60 ? in[i] : (bfloat16)3.5f;\n"
        for number, name in enumerate(names)
    )
    source = f"kernel void k(const global bfloat16 *in, global bfloat16 *out{parameters}) {{\n"
    source += f"size_t i = get_global_id(0); bfloat16 b;\n{lines}}}\n"
    small = np.array([nearest(float(x)) for x in np.arange(ITEMS) % 120], np.uint16)
    inputs = [numbers(name) for name in names]
    out = np.zeros(ITEMS * len(names), np.uint16)
    backs = [np.zeros(ITEMS, NUMPY[name]) for name in names]
    pairs = [item for pair in zip(inputs, backs, strict=True) for item in pair]
    module = coopmat.compile(source, ["--matrices", route])
    results = execute(device, module.spirv, [Launch("k", [small, out, *pairs], (ITEMS,))])[0]
    got = results[1].reshape(len(names), ITEMS)
    plain = np.where(np.arange(ITEMS) % 64 < 60, np.arange(ITEMS) % 120, 3.5)
    for number, name in enumerate(names):
        expected = np.array([nearest(x.item()) for x in inputs[number]], np.uint16)
        nan = (expected == 0x7FC0) & ((got[number] & 0x7FFF) > 0x7F80)
        wrong = np.flatnonzero((got[number] != expected) & ~nan)
        assert not wrong.size, [(name, inputs[number][i], hex(got[number][i]), hex(expected[i])) for i in wrong[:5]]
        assert (results[3 + 2 * number] == plain.astype(NUMPY[name])).all(), name


def test_constants_round_once() -> None:
    texts = ("1.00390625", "1.00390625000000001", "1.01171875", "0x1.01000000001p0", "16843008", "33685505L", "-0.0")
    texts += ("3.4e38", "3.3961775e38", "1e-45", "9.2e-41f")
    source = "".join(f"bfloat16 v{i} = {text};\n" for i, text in enumerate(texts)) + "kernel void k() {}"
    for variable, text in zip(coopmat.compile(source).unit.variables, texts, strict=True):
        assert isinstance(variable.initializer, typed.FloatConst)
        value = float.fromhex(text) if "x" in text else np.float32(text[:-1]).item() if text[-1] == "f" else None
        exact = (
            value
            if value is not None
            else int(text.rstrip("L"))
            if "." not in text and "e" not in text
            else float(text)
        )
        got = np.array(variable.initializer.value, np.float32).view(np.uint32).item() >> 16
        assert got == nearest(exact), text


def test_expressions_are_of_floats(device: DeviceInfo) -> None:
    """As an operand a bfloat16 is a float; as a variable, a member, an element or an argument it is itself."""
    source = """
        struct S { char c; __bf16 b[2]; };
        static bfloat16 twice(bfloat16 x) { return x + x; }
        kernel void k(global bfloat16 *p, global float *out) {
            struct S s = { 1, { p[0], 2 } };
            bfloat16 b = s.b[0], *q = s.b;
            out[0] = b + 1; out[1] = b * b; out[2] = -b; out[3] = b < s.b[1]; out[4] = !b; out[5] = b && 1 ? 7 : 8;
            b += 0.5; out[6] = b; b /= 3; out[7] = b; out[8] = twice(q[1]); out[9] = n(b);
            out[10] = (bool)q[0]; out[11] = sizeof(struct S) + sizeof b; out[12] = (int)(bfloat16)-7.9f;
            p[1] = q[0]; volatile bfloat16 v = 1.0h; out[13] = v; out[14] = ((float)b == b) + as_short(p[0]);
            bfloat16 m[2] = { 1, 255 }; out[15] = m[0]++; out[16] = m[0]; out[17] = --m[0]; m[1]++; out[18] = ++m[1];
        }
    """.replace("n(b)", "b * 1024 - 0.5f")
    p, out = np.array([nearest(1.5), 0], np.uint16), np.zeros(19, np.float32)
    b = np.float32(POSITIVE[nearest(2.0 / 3)])
    expected = [2.5, 2.25, -1.5, 1, 0, 7, 2, b, 4, b * 1024 - 0.5, 1, 8, -7, 1, 1 + nearest(1.5), 1, 2, 1, 256]
    for route in ("one", "lanes"):
        module = coopmat.compile(source, ["--matrices", route])
        results = execute(device, module.spirv, [Launch("k", [p.copy(), out.copy()])])[0]
        assert results[1].tolist() == expected
        assert results[0][1] == nearest(1.5)


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("b % 2;", "invalid-operands"),
        ("b & b;", "invalid-operands"),
        ("sin(b);", "ambiguous-call"),
    ],
)
def test_what_is_not_there(statement: str, code: str) -> None:
    with pytest.raises(coopmat.CompileError) as caught:
        coopmat.compile(f"void f(bfloat16 b) {{ {statement} }}")
    assert [item.code for item in caught.value.diagnostics] == [code]


def test_a_kernel_takes_no_bfloat16_by_value() -> None:
    with pytest.raises(coopmat.CompileError) as caught:
        coopmat.compile("kernel void k(bfloat16 b) {}")
    assert [item.code for item in caught.value.diagnostics] == ["kernel-parameter"]
