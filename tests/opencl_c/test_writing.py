"""What the text asks of devices, what it cannot say, and its constants."""

from __future__ import annotations

import math
import struct

import pytest

import coopmat
from coopmat.diagnostics import CompileError, SourceMap
from coopmat.frontend.types import BOOL, CHAR, DOUBLE, FLOAT, HALF, INT, LONG, SCALARS, UINT, ULONG, USHORT
from coopmat.opencl_c import WriteOptions, literals, logs
from coopmat.opencl_c.write import write


@pytest.mark.parametrize(
    ("value", "t", "text"),
    [
        (-5, INT, "-5"),
        (-(2**31), INT, "(-2147483647 - 1)"),
        (2**32 - 1, UINT, "4294967295u"),
        (-(2**63), LONG, "(-9223372036854775807L - 1)"),
        (2**64 - 1, ULONG, "18446744073709551615UL"),
        (-128, CHAR, "(char)-128"),
        (65535, USHORT, "(ushort)65535"),
        (1, BOOL, "(bool)1"),
    ],
)
def test_integers(value, t, text):
    assert literals.integer(value, t) == text


@pytest.mark.parametrize(
    ("value", "t", "text"),
    [
        (0.5, FLOAT, "0.5f"),
        (-0.0, DOUBLE, "-0.0"),
        (0.1, DOUBLE, "0x1.999999999999ap-4"),
        (2.0**-149, FLOAT, "0x1p-149f"),
        (1.5, HALF, "(half)1.5f"),
        (-math.inf, FLOAT, "-INFINITY"),
        (math.nan, DOUBLE, "(double)NAN"),
        (-1.0, SCALARS["bfloat16"], "(ushort)0xbf80"),
    ],
)
def test_floats(value, t, text):
    assert literals.floating(value, t) == text


@pytest.mark.parametrize("bits", [1, 0x3DCCCCCD, 0x7F7FFFFF, 0x00800000, 0x4B000001, 0x3F800001])
def test_float_literals_are_exact(bits):
    (value,) = struct.unpack("<f", struct.pack("<I", bits))
    text = literals.floating(value, FLOAT).removesuffix("f")
    assert (float.fromhex(text) if "x" in text else float(text)) == value


def test_strings_keep_their_bytes():
    assert literals.string(b'a"\\\n\0019??=\xff') == '"a\\"\\\\\\n\\0019?\\?=\\377"'


VERSIONS = {
    "kernel void k(global int *o) { o[0] = 1; }": "CL1.2",
    "kernel void k(global int *o) { work_group_barrier(CLK_LOCAL_MEM_FENCE); }": "CL1.2",
    "global int counter; kernel void k(global int *o) { o[0] = counter; }": "CL2.0",
    "kernel void k(global atomic_int *a) { atomic_fetch_add_explicit(a, 1, memory_order_relaxed); }": "CL2.0",
    "int f(int *p) { return *p; } kernel void k(global int *o) { o[0] = f(o); }": "CL2.0",
    "kernel void k(read_write image2d_t i) { write_imagef(i, (int2)(0), read_imagef(i, (int2)(0))); }": "CL2.0",
    "kernel void k(global uint *o) { o[0] = get_sub_group_local_id(); }": "CL2.0",
    "kernel void k(global uint *o) { o[0] = bit_reverse(o[1]); }": "CL2.0",
    "kernel void k(global uint *o) { o[0] = dot_4x8packed_uu_uint(o[1], o[2]); }": "CL2.0",
    "kernel void k(global int *o) { o[0] = work_group_reduce_mul(o[1]); }": "CL2.0",
    "kernel void k(global uint *o) { barrier(1); o[0] = get_global_linear_id() + get_local_linear_id(); }": "CL1.2",
    "kernel void k(global uint *o) { work_group_barrier(CLK_LOCAL_MEM_FENCE); o[0] = ctz(o[1]); }": "CL1.2",
    "kernel void k(global uint *o) { work_group_barrier(1, memory_scope_device); }": "CL2.0",
}


@pytest.mark.parametrize(("source", "version"), VERSIONS.items())
def test_no_newer_version_is_asked_for_than_needed(source, version):
    assert coopmat.compile(source).opencl_c_options[:2] == (f"-cl-std={version}", "-w")


def test_barriers_with_a_scope_need_opencl_2():
    """Text for OpenCL C 1.2 has no names of scopes."""
    source = "kernel void k(global int *o) { sub_group_barrier(1, 4); o[0] = 1; }"
    with pytest.raises(coopmat.CompileError, match="'sub_group_barrier' needs OpenCL C"):
        _ = coopmat.compile(source, ["--code", "c", "-cl-std=CL1.2"]).opencl_c
    older = coopmat.compile(source.replace(", 4", ""), ["--code", "c", "-cl-std=CL1.2"])
    assert "sub_group_barrier(CLK_LOCAL_MEM_FENCE)" in older.opencl_c


def test_subgroups_of_an_older_language_are_the_devices_own():
    """NVIDIA's devices take OpenCL C 1.2: the prelude has what subgroups do, without an instruction, too."""
    tile = "typedef float C __attribute__((coop_mat(3, 16, 16, 2)));\n"
    source = tile + "kernel void k(global float *p) { C c = coop_mat_load(p, 0, 16); coop_mat_store(p, c, 0, 16); }"
    module = coopmat.compile(source, "--matrices mma -cl-std=CL1.2")
    assert module.opencl_c_options[0] == "-cl-std=CL1.2"
    assert "#define get_sub_group_local_id cm_lane" in module.opencl_c
    plain = coopmat.compile("kernel void k(global int *o) { o[0] = 1; }", "--matrices mma")
    assert "cm_lane" not in plain.opencl_c


def test_extensions_and_options_are_passed_on():
    source = "kernel void k(global half *h, global double *d) { *d = *h; }"
    module = coopmat.compile(source, "-cl-mad-enable -cl-denorms-are-zero -cl-opt-disable")
    first = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    assert module.opencl_c.startswith(first)
    assert module.opencl_c_options[2:] == ("-cl-mad-enable", "-cl-opt-disable", "-cl-denorms-are-zero")
    pointers = coopmat.compile("kernel void k(global half *h, global float *f) { *f = vload_half(0, h); }")
    assert "cl_khr_fp16" not in pointers.opencl_c


def test_the_generic_address_space_needs_a_newer_language():
    # A source in OpenCL C 1.2 itself has no such pointers.
    unit = coopmat.compile("kernel void k(global int *o) {\n    int x, *p = &x;\n    *p = 3;\n}").unit
    with pytest.raises(CompileError) as caught:
        write(unit, WriteOptions(cl_std="CL1.2"))
    (item,) = caught.value.diagnostics
    assert "generic address space needs OpenCL C 2.0" in item.message and item.span.line == 2


def test_names_that_mean_something_to_devices_are_replaced():
    source = "static int select(int x) { int min = x, cm_y = 2; return min + cm_y; }"
    text = coopmat.compile(source + "kernel void k(global int *pipe) { pipe[0] = select(3); }").opencl_c
    assert "cm_u_select(int x)" in text and "cm_v_min + cm_v_cm_y" in text and "cm_v_pipe[0]" in text


def test_lines_are_the_users():
    source = "\n\nkernel void k(global int *o)\n{\n    o[0] = 1;\n\n\n\n\n\n    o[1] = 2; o[2] = 3;\n}\n"
    lines = coopmat.compile(source, name='a "b".cl').opencl_c.split("\n")
    assert lines[:2] == ['#line 3 "a \\"b\\".cl"', "__kernel void k(__global int *o)"]
    assert lines[4:6] == ['#line 11 "a \\"b\\".cl"', "    o[1] = 2; o[2] = 3;"]


def test_local_memory_stays_with_its_kernel_where_one_text_makes_several(tmp_path):
    (tmp_path / "k.inc").write_text("kernel void NAME(global int *o) { local int l[4]; l[0] = 1; o[0] = l[0]; }\n")
    source = '#define NAME a\n#include "k.inc"\n#undef NAME\n#define NAME b\n#include "k.inc"\n'
    text = coopmat.compile(source, ["-I", str(tmp_path)]).opencl_c
    first, second = text.split("__kernel ")[1:]
    assert first.count("__local int cm_s0_l[4];") == 1 == second.count("__local int cm_s1_l[4];")
    assert "cm_s0_l[0] = 1;" in first and "cm_s1_l[0] = 1;" in second


def test_braces_within_arguments_are_safe_from_macros():
    source = "struct s { int a; uint b; }; kernel void k(global int *o) { o[0] = as_int((struct s){ 1, o[1] }.b); }"
    assert "as_int(((struct s){1, o[1]}.b))" in coopmat.compile(source).opencl_c


def test_functions_called_before_they_are_defined_are_declared():
    source = "int f(int x);\nkernel void k(global int *o) { o[0] = f(1); }\nint f(int x) { return x; }\n"
    text = coopmat.compile(source).opencl_c
    assert text.index("static int f(int x);") < text.index("__kernel") < text.index("static int f(int x)\n{")


SOURCES = SourceMap({"<source>": "kernel\n    o = x;\n"})
TEXT = '#line 1 "<source>"\nkernel\n    o = x;\n'
LOGS = {
    "<source>:2:9: error: undeclared identifier 'x'\n    o = x;\n        ^\n": "undeclared identifier 'x'",
    "error: <source>:2:9: too few arguments": "too few arguments",
    "error: <source>:2:9 <Spelling=/usr/include/h.h:8:2>: too few arguments": "too few arguments",
    "input.cl:3:9: fatal error: too many": "too many",
}


@pytest.mark.parametrize(("log", "message"), LOGS.items())
def test_what_drivers_say_is_found_in_the_users_source(log, message):
    (item,) = logs.diagnostics("Compilation started\n" + log, SOURCES, TEXT)
    assert (item.message, str(item.span), item.span.end_column) == (message, "<source>:2:5", 11)
    assert item.severity.is_error and item.code == "device-build"


def test_notes_and_messages_without_a_place():
    log = "<matrix library>:3:1: warning: odd\n<source>:1:2: note: here\nerror: out of registers\n"
    first, second = logs.diagnostics(log, SourceMap({"<source>": "kernel\n"}))
    assert first.message == "odd (in the matrix library, line 3)" and first.span is None
    assert first.notes[0].message == "here" and first.notes[0].span.line == 1
    assert second.message == "out of registers" and second.span is None
