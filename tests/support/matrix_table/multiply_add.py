"""Multiply-adds: every combination of component types, operand masks, saturation with overflowing sums, layouts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from coopmat.cts import values
from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import narrow
from coopmat.matrices.variants import ComponentType, Layout, MatrixType, Operands, Use, default_operands

from .axes import types
from .memory import layouts
from .rows import Key, Row, Writer, key

# m, n and k. Products of narrow types overflow already with these.
SHAPES = ((2, 3, 3), (3, 2, 2), (1, 4, 3), (4, 1, 2), (2, 2, 4), (3, 3, 1))
WIDE = ((16, 16, 16), (8, 32, 7), (5, 17, 33), (16, 8, 32), (1, 67, 3), (32, 1, 16), (8, 8, 64))
WORDS = {
    Operands.A_SIGNED: "MATRIX_A_SIGNED",
    Operands.B_SIGNED: "MATRIX_B_SIGNED",
    Operands.C_SIGNED: "MATRIX_C_SIGNED",
    Operands.RESULT_SIGNED: "MATRIX_RESULT_SIGNED",
    Operands.SATURATING: "SATURATING_ACCUMULATION",
}
Types = tuple[ComponentType, ComponentType, ComponentType]
Shape = tuple[int, int, int]


def rows() -> Iterator[Row]:
    for n, types_ in enumerate(pairings()):
        a, b, c = types_
        masks: list[Operands | None] = [None]
        if not a.is_integer:
            masks += [Operands.NONE] * (n % 2)
        else:
            # Use each of the 16 sign patterns once in 16 rows, and another one with saturation.
            masks += [Operands(n * 5 % 16), Operands.SATURATING | (n * 7 + n // 16) % 16]
        keys = [mul_add_key(types_, mask) for mask in masks]

        def write(w: Writer, types_: Types = types_, masks: list[Operands | None] = masks, n: int = n) -> None:
            for m, mask in enumerate(masks):
                case, shape = mul_add_key(types_, mask), SHAPES[(n + m) % len(SHAPES)]
                _mul_add(w, case, types_, mask, shape, n + m, str(m))

        yield Row(f"multiply-add {a} {b} {c}", tuple(keys), write)
    for n, shape in enumerate(WIDE):
        for number, types_ in enumerate(list(pairings())[(n * 3) % 29 :: 97]):
            case = key("multiply-add of another shape", a=types_[0], b=types_[1], c=types_[2], shape=shape)

            def write_wide(
                w: Writer, case: Key = case, types_: Types = types_, shape: Shape = shape, n: int = n
            ) -> None:
                _mul_add(w, case, types_, None, shape, n, "")

            name = f"multiply-add {'x'.join(map(str, shape))} {' '.join(map(str, types_))}"
            yield Row(name, (case,), write_wide, everywhere=number == 0)


def usual(a: str, b: str, c: str) -> bool:
    """Return whether the combination is not rare: 8-bit floats accumulate in half or float, or have the same type."""
    small = {t.name for t in types() if t.is_bits and t.bits == 8} & {a, b, c}
    return not small or (c in ("f16", "f32")) or a == b == c


def pairings() -> Iterator[Types]:
    """Yield all combinations that the language allows for A, B and C: all integers or all floating point."""
    for is_integer in (True, False):
        triples = itertools.product([t for t in types() if t.is_integer == is_integer], repeat=3)
        yield from (triple for triple in triples if usual(*(t.name for t in triple)))


def mul_add_key(types_: Types, mask: Operands | None) -> Key:
    text = "none" if mask is None else int(mask & ~Operands.SATURATING)
    saturating = mask is not None and Operands.SATURATING in mask
    return key("multiply-add", a=types_[0], b=types_[1], c=types_[2], mask=text, saturating=saturating)


def _mul_add(w: Writer, case: Key, types_: Types, mask: Operands | None, shape: Shape, n: int, suffix: str) -> None:
    m, columns, k = shape
    a, b, c = (f"{name}{suffix}" for name in "abc")
    matrices = [
        MatrixType(types_[0], m, k, Use.A),
        MatrixType(types_[1], k, columns, Use.B),
        MatrixType(types_[2], m, columns, Use.ACCUMULATOR),
    ]
    inputs = [values.moderate(w.rng, t.component, t.rows, t.columns) for t in matrices]
    if not types_[0].is_integer and n % 5 == 0:
        # One infinity or NaN gives the same result in any order of the sums.
        inputs[n % 3].flat[n % inputs[n % 3].size] = narrow(types_[n % 3], np.array((np.inf, np.nan)[n % 2]))
    memory = layouts(w.target.route)
    for number, (name, matrix, value) in enumerate(zip((a, b, c), matrices, inputs, strict=True)):
        w.matrix(name, matrix, value, memory[(n // 2 + number) % len(memory)])
    derived = default_operands(*types_)
    chosen = [f"CLK_COOPERATIVE_MATRIX_OPERAND_{word}" for bit, word in WORDS.items() if mask and mask & bit]
    text = "" if mask is None else ", " + (" | ".join(chosen) or "CLK_COOPERATIVE_MATRIX_OPERAND_NONE")
    call = f"{('coop_mat_mulAdd', 'coop_matmul_add')[n % 2]}({a}, {b}, {c}{text})"
    # The result may be assigned to the addend, or be an expression.
    if n % 3 == 0:
        w.line(f"{c} = {call};")
        call = c
    expected, bound = numpy_reference.mul_add(types_, *inputs, derived if mask is None else mask)
    w.result(case, call, matrices[2], expected, np.where(np.isfinite(bound), bound, 0.0), Layout(n % 2))
