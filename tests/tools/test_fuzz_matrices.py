"""The matrix fuzzer: its interpreter on cases calculated by hand, its generator, and a sample of programs."""

from __future__ import annotations

import ast
import random
import subprocess
import sys
from pathlib import Path

import fuzz_matrices_text as text
import fuzz_matrices_tree as tree
import numpy as np
import pytest
from fuzz_matrices_functions import FunctionMaker, reduction
from fuzz_matrices_meaning import Machine
from fuzz_matrices_names import Names
from fuzz_matrices_operations import InexactError, arithmetic, builtin, convert, multiply_add, position
from fuzz_matrices_programs import generate
from fuzz_matrices_types import (
    BFLOAT16,
    CHAR,
    COMPONENTS,
    E4M3,
    E5M2,
    FLOAT,
    HALF,
    INT,
    UCHAR,
    UINT,
    USHORT,
    MatrixType,
    Range,
    decode,
    encode,
    round_values,
)

_TOOLS = Path(text.__file__).parent


def _fill(kind: MatrixType, value: float) -> tree.Matrix:
    return tree.Fill(kind, Range(value, value), tree.Num(INT, value, True))


def _run(kind: MatrixType, body: list[tree.Node], data: list[float], value: tree.Matrix) -> np.ndarray:
    """Return what a program stores by rows; the memory `p` has the data."""
    values = np.array(data, kind.component.dtype)
    source = tree.Memory("p", kind.component, "global", len(data), Range(-1000, 1000), True, data=values)
    size = value.type.rows * value.type.columns
    out = tree.Memory("o", value.type.component, "global", size, Range(0, 0), output=True)
    store = tree.Store(tree.Address("o", 0), value, "ROW", tree.Num(INT, value.type.columns))
    program = tree.Program(0, 1, (1, 1, 1), True, "SUBGROUP", [source, out], {"n1": (INT, 2)}, [*body, store])
    return Machine(program).run()["o"].data


def test_integers_wrap_and_saturate() -> None:
    a = np.array([[[100, -128], [127, 3]]], np.int8)
    assert arithmetic(CHAR, "+", a, a).ravel().tolist() == [-56, 0, -2, 6]
    assert arithmetic(CHAR, "/", a, np.full_like(a, 3)).ravel().tolist() == [33, -42, 42, 1]
    one = np.array([[[200]]], np.uint8)
    assert builtin(UCHAR, "hadd", [one, one + np.uint8(1)]).item() == 200
    assert builtin(UCHAR, "rhadd", [one, one + np.uint8(1)]).item() == 201
    assert builtin(UCHAR, "mul_hi", [one, one]).item() == 156
    assert builtin(CHAR, "rotate", [np.array([-127], np.int8), np.array([1], np.int8)]).item() == 3
    assert builtin(USHORT, "ctz", [np.array([0], np.uint16)]).item() == 16
    assert convert(INT, UCHAR, np.array([-1, 300]), saturate=True).tolist() == [0, 255]
    assert convert(INT, UCHAR, np.array([-1, 300])).tolist() == [255, 44]


def test_multiply_add_takes_signs_from_the_mask() -> None:
    a, b = np.array([[[-1, 2]]], np.int8), np.array([[[200], [3]]], np.uint8)
    c = np.array([[[5]]], np.int32)
    assert multiply_add((CHAR, UCHAR, INT), a, b, c, 1 | 4 | 8).item() == -200 + 6 + 5
    assert multiply_add((CHAR, UCHAR, INT), a, b, c, 4 | 8).item() == 255 * 200 + 6 + 5
    assert multiply_add((CHAR, UCHAR, INT), a, b, c, 3 | 4 | 8).item() == 56 + 6 + 5
    most = np.array([[[2**31 - 1]]], np.int32)
    positive = np.array([[[1, 2]]], np.int8)
    assert multiply_add((CHAR, UCHAR, INT), positive, b, most, 1 | 4 | 8 | 16).item() == 2**31 - 1
    assert multiply_add((CHAR, UCHAR, INT), positive, b, most, 1 | 4 | 8).item() == -(2**31) + 205


def test_rounding() -> None:
    assert round_values(HALF, np.array([2049.0, 2051.0, 2049.5])).tolist() == [2048.0, 2052.0, 2050.0]
    assert round_values(BFLOAT16, np.array([257.0, 259.0, -257.0])).tolist() == [256.0, 260.0, -256.0]
    assert round_values(E4M3, np.array([17.0, 19.0, 464.0]), "rtz").tolist() == [16.0, 18.0, 448.0]
    assert round_values(E4M3, np.array([17.0, -17.0]), "rtp").tolist() == [18.0, -16.0]
    assert np.isnan(round_values(E4M3, np.array([500.0]))).all()
    assert round_values(E4M3, np.array([500.0, -np.inf]), saturate=True).tolist() == [448.0, -448.0]
    assert round_values(E5M2, np.array([9.0, 11.0, 70000.0])).tolist() == [8.0, 12.0, np.inf]
    assert round_values(E4M3, np.array([2.0**-9, 2.0**-10, 3 * 2.0**-10])).tolist() == [2.0**-9, 0.0, 2.0**-8]
    with pytest.raises(InexactError):
        arithmetic(FLOAT, "+", np.array([2.0**24]), np.array([1.0]))


@pytest.mark.parametrize("component", [BFLOAT16, E4M3, E5M2, HALF])
def test_memory_holds_what_was_stored(component) -> None:
    values = np.array([0.0, 1.0, -2.0, 3.5, 0.25, -0.0])
    assert decode(component, encode(component, values)).tolist() == values.tolist()
    known = {BFLOAT16: 0x3F80, E4M3: 0x38, E5M2: 0x3C, HALF: 0x3C00}[component]
    assert encode(component, np.array([1.0])).view(f"u{component.bits // 8}").item() == known


def test_layouts() -> None:
    rows, columns = np.indices((4, 2))
    assert position("ROW", INT, rows, columns, 5).ravel().tolist() == [0, 1, 5, 6, 10, 11, 15, 16]
    assert position("COL", INT, rows, columns, 5).ravel().tolist() == [0, 5, 1, 6, 2, 7, 3, 8]
    assert position("PACKED", CHAR, rows, columns, 9).ravel().tolist() == [0, 4, 1, 5, 2, 6, 3, 7]
    assert position("PACKED", HALF, rows, columns, 9).ravel().tolist() == [0, 2, 1, 3, 9, 11, 10, 12]


def test_checked_loads_and_strides() -> None:
    kind = MatrixType(INT, 2, 2, "ACCUMULATOR")
    load = tree.Load(kind, Range(0, 99), tree.Address("p", 1), "ROW", tree.Num(INT, 3), checked=(1, 1, 2, 3))
    assert _run(kind, [], list(range(10)), load).tolist() == [5, 6, 0, 0]
    column = tree.Load(kind, Range(0, 99), tree.Address("p", 1), "COL", tree.Num(INT, 3))
    assert _run(kind, [], list(range(10)), column).tolist() == [1, 4, 2, 5]
    repeated = tree.Load(kind, Range(0, 99), tree.Address("p", 2), "ROW", tree.Num(INT, 0))
    assert _run(kind, [], list(range(10)), repeated).tolist() == [2, 3, 2, 3]


def test_loops_switches_and_returns_in_functions() -> None:
    """for (i < 3) { if (r == i) return 10 * i; } switch (c) { case 0: y = 7; default: y = y + 1; } return y;"""
    r, c, i, y = tree.Name(UINT, "r"), tree.Name(UINT, "c"), tree.Name(INT, "i"), tree.Name(INT, "y")
    leave = tree.If(
        tree.Binary(INT, "==", r, tree.Cast(UINT, i)), [tree.Return(tree.Binary(INT, "*", i, tree.Num(INT, 10)))], []
    )
    more = tree.SetScalar("y", tree.Binary(INT, "+", y, tree.Num(INT, 1)))
    body: list[tree.Node] = [
        tree.DeclareScalar(INT, "y", tree.Name(INT, "x")),
        tree.Loop("for", "i", INT, tree.Num(INT, 3), [leave]),
        tree.Switch(c, [([0], [tree.SetScalar("y", tree.Num(INT, 7))], True), ([None], [more], False)]),
        tree.Return(y),
    ]
    kind = MatrixType(INT, 4, 2, "ACCUMULATOR")
    parameters = [tree.Parameter("scalar", n, t) for n, t in (("r", UINT), ("c", UINT), ("x", INT))]
    function = tree.Function("f", parameters, INT, body)
    value = tree.Map(kind, Range(0, 99), [_fill(kind, 3)], function, [])
    assert _run(kind, [], [0], value).tolist() == [0, 0, 10, 10, 20, 20, 8, 4]


def test_loops_of_the_kernel_and_pointers() -> None:
    kind = MatrixType(INT, 1, 2, "ACCUMULATOR")
    m = tree.Ref(kind, Range(-1000, 1000), tree.Place("m"))
    q = tree.Ref(kind, Range(-1000, 1000), tree.Place("q", None, True))
    double = tree.Function(
        "f", [tree.Parameter("matrix pointer", "q", kind)], None, [tree.Assign(tree.Place("q", None, True), "+", q)]
    )
    stop = tree.If(tree.Binary(INT, "==", tree.Name(INT, "i"), tree.Num(INT, 2)), [tree.Break()], [])
    call = tree.Evaluate(double, [tree.To(tree.Place("m"))])
    body = [
        tree.Declare(kind, "m", _fill(kind, 3)),
        tree.Loop("do", "i", INT, tree.Num(INT, 5), [stop, call]),
        tree.Elements(
            tree.Place("m"), kind, "e", "r", "c", [tree.SetScalar("e", tree.Cast(INT, tree.Name(UINT, "c")))], True
        ),
        tree.Assign(tree.Place("m"), "+", _fill(kind, 5)),
    ]
    assert _run(kind, body[:2], [0], m).tolist() == [12, 12]
    assert _run(kind, body, [0], m).tolist() == [5, 6]


def test_reductions_and_transposes() -> None:
    kind, turned = MatrixType(INT, 2, 4, "ACCUMULATOR"), MatrixType(INT, 4, 2, "A")
    load = tree.Load(kind, Range(0, 99), tree.Address("p", 0), "ROW", tree.Num(INT, 4))
    data = [float(value) for value in range(8)]
    assert _run(kind, [], data, tree.Transpose(turned, load.range, load)).tolist() == [0, 4, 1, 5, 2, 6, 3, 7]
    maker = FunctionMaker(random.Random(1), Names(random.Random(1)), INT, set())
    total = reduction(maker, "sum")
    limits, narrow = Range(-1000, 1000), MatrixType(INT, 2, 1, "ACCUMULATOR")
    assert _run(kind, [], data, tree.Reduce(narrow, limits, load, "row", total)).tolist() == [6, 22]
    blocks = MatrixType(INT, 1, 2, "ACCUMULATOR")
    assert _run(kind, [], data, tree.Reduce(blocks, limits, load, "2x2", "max")).tolist() == [5, 7]
    assert _run(kind, [], data, tree.Reduce(narrow, limits, load, "all", total)).tolist() == [28, 28]


def test_programs_follow_from_their_seeds() -> None:
    texts = [text.source(generate(seed)) for seed in range(12)]
    assert texts == [text.source(generate(seed)) for seed in range(12)]
    assert len(set(texts)) == 12


def test_programs_are_defined() -> None:
    """Nearly all programs can be interpreted: what is not defined raises, and is left out."""
    undefined = 0
    for seed in range(60):
        try:
            Machine(generate(seed)).run()
        except InexactError:
            undefined += 1
    assert undefined <= 2


def test_programs_have_every_component_type() -> None:
    names = {component.name for component in COMPONENTS}
    found = {name for seed in range(60) for name in names if f" {name} " in text.source(generate(seed))}
    assert found == names


def test_the_interpreter_imports_nothing_of_the_package() -> None:
    for path in _TOOLS.glob("fuzz_matrices_*.py"):
        if path.stem == "fuzz_matrices_run":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = [item.name for item in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.split(".")[0] == "coopmat" for name in names), path.name


def _sample(count: int, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the tool on programs from seed 0 on."""
    command = [sys.executable, str(_TOOLS / "fuzz_matrices.py"), "--count", str(count), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_sample(tmp_path: Path) -> None:
    ran = _sample(6, "--routes", "one/spirv,lanes/spirv,scratch/spirv", "--output", str(tmp_path))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "6 programs" in ran.stdout


@pytest.mark.slow
def test_larger_sample(tmp_path: Path) -> None:
    ran = _sample(150, "--output", str(tmp_path))
    assert ran.returncode == 0, ran.stdout + ran.stderr
