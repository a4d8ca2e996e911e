"""The builtins table against clang's header and clang's overload resolution, and the rules for names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from builtin_golden import chosen, declared, parse_type
from pages.builtins import document

from coopmat.frontend import builtins
from coopmat.frontend.builtins import Ambiguous, ConversionName, NoMatch, Overload, rows
from coopmat.frontend.types import (
    CHAR,
    FLOAT,
    HALF,
    INT,
    SMALL_FLOATS,
    UINT,
    PointerType,
    Type,
    VectorType,
    element_type,
    is_bits,
)
from coopmat.ir.lower.builtin_calls import mangle

ROOT = Path(__file__).parents[2]
ALL_ROWS = [row for family in builtins.FAMILIES for row in family.TABLE]
# The header of the clang that the golden file is from does not declare the functions of these extensions.
NOT_IN_CLANG = {"cl_khr_work_group_uniform_arithmetic", "cl_khr_extended_async_copies", "cl_khr_kernel_clock"}
# It has this one before OpenCL C 2.0 only.
ALIASES = {"size_t": "ulong", "cl_mem_fence_flags": "uint"}
BEFORE_GENERIC = ("wait_group_events", "void", "iP9ocl_event")


def suffix(overload: Overload) -> str:
    prefix = f"_Z{len(overload.name)}{overload.name}"
    return mangle(overload.name, overload.parameters).removeprefix(prefix)


def resolved(name: str, *types: str) -> Overload:
    result = builtins.resolve(name, [parse_type(t) for t in types])
    assert isinstance(result, Overload), result
    return result


def of_bits(t: Type) -> bool:
    """Whether a type, a vector's components or what a pointer points to are stored as bits."""
    return is_bits(element_type(t.pointee if isinstance(t, PointerType) else t))


def test_every_overload_is_one_that_clang_declares_and_none_is_missing() -> None:
    golden = declared()
    supported = {
        name: row
        for name in builtins.names()
        if (row := builtins.find(name)) and row.supported and row.signatures and row.section not in NOT_IN_CLANG
        if not name.startswith(tuple(f"convert_{t}" for t in SMALL_FLOATS))
    }
    assert supported.keys() == golden.keys()
    for name, row in supported.items():
        ours = {(str(o.result), suffix(o)) for o in builtins.overloads(row) if not any(map(of_bits, o.parameters))}
        ours -= {BEFORE_GENERIC[1:]} if name == BEFORE_GENERIC[0] else set()
        theirs = {(ALIASES.get(result, result), parameters) for result, parameters in golden[name]}
        if name.startswith("intel_sub_group_block"):
            theirs = {(result, parameters) for result, parameters in theirs if "ocl_image" not in parameters}
        assert ours == theirs, name


def test_overload_resolution_agrees_with_clang() -> None:
    calls = list(chosen())
    assert len(calls) == 1500
    for name, types, expected in calls:
        result = builtins.resolve(name, types)
        if isinstance(result, Overload):
            assert suffix(result) == expected, (name, types)
        else:
            assert isinstance(result, NoMatch if expected == "none" else Ambiguous), (name, types, expected)


def test_names_are_unique_and_rows_say_where_they_come_from() -> None:
    assert len({row.name for row in ALL_ROWS}) == len(ALL_ROWS)
    assert all(row.section and row.status in (builtins.SUPPORTED, builtins.NOT_YET) for row in ALL_ROWS)


def test_supported_rows_have_signatures_unless_analysis_types_the_call() -> None:
    for row in ALL_ROWS:
        if row.supported:
            assert bool(row.signatures) != (row.lowering == "analysis"), row.name


@pytest.mark.parametrize("name", ["read_pipe", "get_image_num_samples", "enqueue_kernel"])
def test_the_rest_of_the_language_is_known_but_not_supported(name: str) -> None:
    row = builtins.find(name)
    assert row is not None and not row.supported


def test_unknown_names() -> None:
    assert builtins.find("fmaa") is None
    assert builtins.resolve("fmaa", [FLOAT]) == NoMatch("fmaa", ())
    assert {"fma", "convert_int4_sat_rte", "as_float3", "coop_mat_load"} <= builtins.names()
    assert all(builtins.find(name) for name in builtins.names())


def test_no_match_shows_the_signatures() -> None:
    result = builtins.resolve("mad24", [VectorType(FLOAT, 4), INT, INT])
    assert result == NoMatch("mad24", ("Tn mad24(Tn, Tn, Tn) for T in int uint, n in any",))


def test_ambiguous_lists_the_overloads_that_tie() -> None:
    result = builtins.resolve("max", [parse_type("ulong"), INT])
    assert isinstance(result, Ambiguous)
    assert result.candidates == ("int max(int, int)", "ulong max(ulong, ulong)")


def test_matching_address_space_beats_the_generic_one() -> None:
    assert suffix(resolved("vload4", "int", "__local float *")) == "mPU3AS3Kf"
    assert suffix(resolved("sincos", "float", "__generic float *")) == "fPU3AS4f"
    result = builtins.resolve("vstore4", [parse_type("float4"), INT, parse_type("__global const float *")])
    assert isinstance(result, NoMatch)


def test_records_and_arrays_match_nothing() -> None:
    class Opaque(Type):
        pass

    assert isinstance(builtins.resolve("fabs", [Opaque()]), NoMatch)


CONVERSIONS = {
    "convert_int": ConversionName(INT, False, None),
    "convert_char_sat": ConversionName(CHAR, True, None),
    "convert_int4_sat_rte": ConversionName(VectorType(INT, 4), True, "rte"),
    "convert_half16_rtz": ConversionName(VectorType(HALF, 16), False, "rtz"),
    "convert_float_sat": None,
    "convert_int5": None,
    "convert_int_rtx": None,
    "convert_bool": None,
    "as_int": None,
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversion_names(name: str) -> None:
    assert builtins.parse_conversion(name) == CONVERSIONS[name]


def test_as_names() -> None:
    assert builtins.parse_as("as_float3") == VectorType(FLOAT, 3)
    assert builtins.parse_as("as_uint") == UINT
    assert builtins.parse_as("as_float5") is None
    assert builtins.parse_as("convert_uint") is None


def test_signature_language() -> None:
    (row,) = rows.rows("f", "Wn @(Un, S, writable const T *, int4) for T in char, n in 2", section="-")
    first = builtins.overloads(row)[0]
    assert str(first) == "short2 f(uchar2, char, private const char *, int4)"
    assert len(builtins.overloads(row)) == 4


def test_import_is_lazy_and_cheap() -> None:
    # Only names are made at import; overloads are expanded per name, on first use.
    program = (
        "import sys; from coopmat.frontend import builtins as b;"
        "assert b.overloads.cache_info().currsize == 0; b.resolve('fma', ()); "
        "assert b.overloads.cache_info().currsize == 1; assert not {'llvmlite', 'numpy', 'lark'} & sys.modules.keys()"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_documentation_names_every_row() -> None:
    text = document()
    assert all(f"`{row.name}`" in text for row in ALL_ROWS)
    assert "`Tn NAME(Tn, Tn, Tn) for T in floats, n in any`" in text  # one line for fma and mad


def test_the_page_in_docs_is_up_to_date() -> None:
    assert (ROOT / "docs" / "builtins.md").read_text() == document()
