"""Long constant arrays, which go past LLVM's backend, have the values that they have through it."""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import coopmat
from coopmat.spirv import constant_arrays, emit as emit_module, long_arrays
from coopmat.spirv.emit import EmitOptions, emit
from coopmat.spirv.module import Module, decode_string
from coopmat.spirv.tools import find_tools, validate

BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "half": 16, "float": 32, "double": 64}
FLOATS = (0.0, -0.0, 1.0, -1.5, 0.1, math.inf, -math.inf, 65504.0, 5.9604644775390625e-08, 1e-40, 3e38, 1.7e308, 5e-324)


def _float(value: float, kind: str) -> str:
    """The value as LLVM's text has it, rounded to the type."""
    code = {"half": "e", "float": "f", "double": "d"}[kind]
    try:
        data = struct.pack(f">{code}", value)
    except OverflowError:
        data = struct.pack(f">{code}", math.copysign(math.inf, value))
    if kind == "half":
        return f"0xH{data.hex().upper()}"
    return f"0x{struct.pack('>d', struct.unpack(f'>{code}', data)[0]).hex().upper()}"


@st.composite
def arrays(draw: st.DrawFn) -> tuple[str, str]:
    """The type and the initializer of an array of one to three dimensions."""
    kind = draw(st.sampled_from(sorted(BITS)))
    shape = draw(st.sampled_from([(64,), (100,), (8, 9), (2, 4, 16), (3, 3), (70, 1), (1, 65)]))
    random = draw(st.randoms(use_true_random=False))

    def build(dimensions: tuple[int, ...]) -> tuple[str, str]:
        if not dimensions:
            value = str(random.randrange(-(1 << BITS[kind] - 1), 1 << BITS[kind] - 1)) if kind[0] == "i" else ""
            return kind, value or _float(random.choice(FLOATS), kind)
        if kind == "i8" and len(dimensions) == 1 and random.random() < 0.5:
            data = bytes(random.randrange(256) for _ in range(dimensions[0]))
            text = "".join(chr(b) if 32 <= b < 127 and b not in (34, 92) else f"\\{b:02X}" for b in data)
            return f"[{len(data)} x i8]", f'c"{text}"'
        parts = [build(dimensions[1:]) for _ in range(dimensions[0])]
        return f"[{dimensions[0]} x {parts[0][0]}]", f"[{', '.join(f'{t} {value}' for t, value in parts)}]"

    return build(shape)


def _module(rows: list[tuple[str, str]]) -> str:
    text = ""
    body = ""
    for number, (kind, value) in enumerate(rows):
        text += f'@"a {number}.x" = internal addrspace(2) constant {kind} {value}, align 8\n'
        body += (
            f'  %v{number} = load i8, ptr addrspace(2) @"a {number}.x"\n  store i8 %v{number}, ptr addrspace(1) %p\n'
        )
    return f"{text}define spir_kernel void @k(ptr addrspace(1) %p) {{\n{body}  ret void\n}}\n"


def _values(spirv: bytes) -> dict[str, list[int]]:
    """The words of the elements of every variable with an initializer, by its name."""
    module = Module.parse(spirv)
    definitions = module.definitions()

    def words(number: int) -> list[int]:
        item = definitions[number]
        if item.name == "OpConstantComposite":
            return [word for part in item.operands for word in words(part)]
        return list(item.operands) if item.name == "OpConstant" else zeros(item.result_type)

    def zeros(number: Any) -> list[int]:
        item = definitions[number]
        if item.name == "OpTypeArray":
            return zeros(item.operands[0]) * definitions[item.operands[1]].operands[0]
        return [0] * (2 if item.operands[0] == 64 else 1)

    names = {
        item.operands[0]: decode_string(item.operands[1:])[0] for item in module.instructions if item.name == "OpName"
    }
    found = [item for item in module.instructions if item.name == "OpVariable" and len(item.operands) == 2]
    return {names[item.result]: words(item.operands[1]) for item in found if item.result is not None}


def _by_llvm(text: str, monkeypatch: pytest.MonkeyPatch) -> bytes:
    with monkeypatch.context() as patch:
        patch.setattr(constant_arrays, "written", lambda spirv, found: None)
        result = emit(text, EmitOptions()).spirv
    assert result is not None
    return result


@settings(max_examples=40)
@given(st.lists(arrays(), min_size=1, max_size=3))
def test_the_values_are_llvms(rows: list[tuple[str, str]]) -> None:
    text = _module(rows)
    with pytest.MonkeyPatch.context() as monkeypatch:
        expected = _by_llvm(text, monkeypatch)
    result = emit(text, EmitOptions()).spirv
    assert result is not None
    assert _values(result) == _values(expected)
    if find_tools() is not None:
        assert validate(result, "spv1.4") is None


def test_what_is_taken_out() -> None:
    numbers = ", ".join(f"i32 {number}" for number in range(64))
    taken = f"@a = addrspace(1) global [64 x i32] [{numbers}], align 4\n"
    text, found = long_arrays.without_arrays(taken)
    assert text == "@a = addrspace(1) global [64 x i32] zeroinitializer, align 4\n"
    assert found == {"a": {"shape": [64], "words": [[number] for number in range(64)]}}
    for left in (
        "@a = constant [63 x i32] [" + numbers.rpartition(",")[0] + "]\n",
        taken.replace("i32 7,", "i32 undef,"),
        taken.replace("[64 x i32] [", "[64 x i32] zeroinitializer ; ["),
        "@p = constant [64 x ptr] [" + ", ".join(["ptr null"] * 64) + "]\n",
        f"@s = constant {{ [64 x i32] }} {{ [64 x i32] [{numbers}] }}\n",
        "@r = constant [2 x [64 x i32]] [[64 x i32] zeroinitializer, [64 x i32] [" + numbers + "]]\n",
        f'@"quo\\22ted" = constant [64 x i32] [{numbers}]\n',
    ):
        assert long_arrays.without_arrays(left) == (left, {})


@pytest.mark.parametrize(("suffix", "expected"), [("", [True]), ("?", [True, False])])
def test_only_one_that_is_not_found_goes_through_llvm(
    suffix: str, expected: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = _module([("[64 x i32]", "[" + ", ".join(f"i32 {number}" for number in range(64)) + "]")])
    requests: list[bool] = []
    answer = emit_module._answer

    def renamed(request: Any, data: bytes) -> Any:
        requests.append(request["cuts_arrays"])
        fields, blobs = answer(request, data)
        return {**fields, "arrays": {f"{name}{suffix}": array for name, array in fields["arrays"].items()}}, blobs

    monkeypatch.setattr(emit_module, "_answer", renamed)
    result = emit(text, EmitOptions()).spirv
    assert result is not None and requests == expected
    assert _values(result)["a 0.x"] == list(range(64))


def test_functions_do_not_pay_for_arrays() -> None:
    table = ", ".join(str(number * 7) for number in range(4096))

    def seconds(functions: int) -> float:
        source = f"constant int t[4096] = {{ {table} }};\n" + "".join(
            f"static int __attribute__((noinline)) f{number}(int x) {{ return t[x] + {number}; }}\n"
            for number in range(functions)
        )
        calls = "".join(f"*p += f{number}(*p);" for number in range(functions))
        module = coopmat.compile(f"{source}kernel void k(global int *p) {{ {calls} }}", ["-w", "--no-validate"])
        module.llvm_ir  # noqa: B018
        return emit(module.llvm_ir, EmitOptions()).seconds["emit"]

    seconds(1)
    assert min(seconds(64) for _ in range(3)) < 12 * min(seconds(8) for _ in range(3)) + 0.05
