"""Itanium names: clang's for every builtin (through tests/frontend/test_builtins.py), and the corners here."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from coopmat.diagnostics import InternalError, Span
from coopmat.frontend.types import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    FLOATS,
    HALF,
    INT,
    INTEGERS,
    SIZE_T,
    UINT,
    VECTOR_SIZES,
    VOID,
    AddressSpace,
    ArrayType,
    PointerType,
    Qualifiers,
    RecordType,
    Type,
    VectorType,
)
from coopmat.ir.lower.builtin_calls import mangle

F4, H4 = VectorType(FLOAT, 4), VectorType(HALF, 4)
POINT = RecordType("struct", "Point", Span("a.cl", 1, 1, 1, 2))


def to(pointee: Type, space: AddressSpace = AddressSpace.PRIVATE, **qualifiers: bool) -> PointerType:
    return PointerType(pointee, Qualifiers(space, **qualifiers))


GLOBAL, LOCAL = AddressSpace.GLOBAL, AddressSpace.LOCAL
# Each as `clang-19 -x cl -cl-std=CL3.0 -target spir64` mangles an overloadable function of these parameters.
NAMES: dict[str, list[Type]] = {
    "_Z1fv": [],
    "_Z1fDv4_fS_S_": [F4, F4, F4],
    "_Z1fmPU3AS1Kf": [SIZE_T, to(FLOAT, GLOBAL, const=True)],
    "_Z1fPU3AS1fS0_": [to(FLOAT, GLOBAL), to(FLOAT, GLOBAL)],
    "_Z1fPU3AS1fPU3AS1KfPU3AS3f": [to(FLOAT, GLOBAL), to(FLOAT, GLOBAL, const=True), to(FLOAT, LOCAL)],
    "_Z1fPU3AS1VKDv4_fS_": [to(F4, GLOBAL, const=True, volatile=True), F4],
    "_Z1fDv4_fPU3AS1S_PS_": [F4, to(F4, GLOBAL), to(F4)],
    "_Z1fDv4_DhDv4_fS_S0_": [H4, F4, H4, F4],
    "_Z1fbchdDh": [BOOL, CHAR, INTEGERS[1], DOUBLE, HALF],
    "_Z1fPU3AS1PU3AS1fS2_S0_": [to(to(FLOAT, GLOBAL), GLOBAL), to(to(FLOAT, GLOBAL), GLOBAL), to(FLOAT, GLOBAL)],
    "_Z1fPv": [to(VOID)],
    "_Z1f5PointPU3AS1S_": [POINT, to(POINT, GLOBAL)],
}


@pytest.mark.parametrize("expected", NAMES)
def test_names(expected: str) -> None:
    assert mangle("f", NAMES[expected]) == expected


def test_the_length_of_the_name_is_part_of_it() -> None:
    assert mangle("convert_int_rtz", [FLOAT]) == "_Z15convert_int_rtzf"
    assert mangle("__spirv_ControlBarrier", [UINT] * 3) == "_Z22__spirv_ControlBarrierjjj"


def test_sequence_numbers_count_in_base_36() -> None:
    vectors: list[Type] = [VectorType(t, n) for t in (*INTEGERS, *FLOATS) for n in VECTOR_SIZES]
    assert mangle("f", [*vectors[:40], vectors[37], vectors[0], vectors[38]]).endswith("S10_S_S11_")


def test_a_private_pointee_has_no_qualifiers() -> None:
    # As the ABI has it; clang counts an empty qualifier as a component (S0_), which demanglers cannot read back.
    assert mangle("f", [to(FLOAT), to(FLOAT)]) == "_Z1fPfS_"


def test_types_without_a_mangling() -> None:
    with pytest.raises(InternalError):
        mangle("f", [ArrayType(INT, 3)])


scalars = st.sampled_from([*INTEGERS, *FLOATS])
values = scalars | st.builds(VectorType, scalars, st.sampled_from(VECTOR_SIZES))
qualifiers = st.builds(Qualifiers, st.sampled_from(list(AddressSpace)), st.booleans(), st.booleans())
types = values | st.builds(PointerType, values, qualifiers)
CODES = {t.mangling: t for t in (*INTEGERS, *FLOATS)}


class Demangler:
    """Reads parameter types back, with the component numbers of the Itanium rules."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.seen: list[Type | tuple[Type, Qualifiers]] = []

    def all(self) -> list[Type]:
        found = []
        while self.text:
            found.append(self.type())
        return found

    def eat(self, pattern: str) -> re.Match[str] | None:
        match = re.match(pattern, self.text)
        if match:
            self.text = self.text[match.end() :]
        return match

    def back(self) -> Type | tuple[Type, Qualifiers] | None:
        match = self.eat(r"S([0-9A-Z]*)_")
        return None if match is None else self.seen[int(match[1], 36) + 1 if match[1] else 0]

    def type(self) -> Type:
        known = self.back()
        if known is not None:
            assert isinstance(known, Type)
            return known
        if match := self.eat(r"Dv(\d+)_"):
            element = self.type()
            result: Type = VectorType(element, int(match[1]))  # type: ignore[arg-type]
        elif self.eat("P"):
            result = PointerType(*self.pointee())
        else:
            match = self.eat(r"Dh|[a-z]")
            assert match is not None, self.text
            return CODES[match[0]]
        self.seen.append(result)
        return result

    def pointee(self) -> tuple[Type, Qualifiers]:
        known = self.back()
        if isinstance(known, tuple):
            return known
        if known is not None:
            return known, Qualifiers()
        match = self.eat(r"(?:U3AS(\d))?(V?)(K?)")
        assert match is not None
        where = Qualifiers(AddressSpace(int(match[1] or 0)), bool(match[3]), bool(match[2]))
        pair = (self.type(), where)
        if match[0]:
            self.seen.append(pair)
        return pair


@given(st.lists(types, min_size=1, max_size=8))
def test_a_name_can_be_read_back(parameters: list[Type]) -> None:
    assert Demangler(mangle("f", parameters).removeprefix("_Z1f")).all() == parameters
