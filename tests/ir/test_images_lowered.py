"""Images and samplers in SPIR-V: what is emitted for them, in every route and version."""

from __future__ import annotations

import re
from itertools import product

import pytest

import coopmat
from coopmat.frontend import builtins
from coopmat.frontend.builtins import Overload, images
from coopmat.frontend.types import ImageType, VoidType

ADDRESSINGS = {"NONE": "None", "CLAMP_TO_EDGE": "ClampToEdge", "CLAMP": "Clamp", "REPEAT": "Repeat"}
ADDRESSINGS |= {"MIRRORED_REPEAT": "RepeatMirrored"}
FILTERS = {"NEAREST": "Nearest", "LINEAR": "Linear"}


def text(source: str, *options: str) -> str:
    """The validated SPIR-V as text, with blanks made one."""
    return re.sub(" +", " ", coopmat.compile(source, options, name="images.cl").spirv_text)


def capabilities(spirv: str) -> set[str]:
    return set(re.findall(r"OpCapability (\w+)", spirv)) - {"Kernel", "Addresses", "Int64", "Int8", "Int16", "Float16"}


def kernel(overload: Overload, number: int) -> str:
    """A kernel that calls the overload with what buffers hold, and keeps the result."""
    parameters, arguments = [], []
    for i, t in enumerate(overload.parameters):
        handle = isinstance(t, ImageType) or str(t) == "sampler_t"
        parameters.append(f"{t} p{i}" if handle else f"global {t} *p{i}")
        arguments.append(f"p{i}" if handle else f"*p{i}")
    call = f"{overload.name}({', '.join(arguments)})"
    if not isinstance(overload.result, VoidType):
        parameters.append(f"global {overload.result} *out")
        call = f"*out = {call}"
    return f"kernel void k{number}({', '.join(parameters)}) {{ {call}; }}\n"


@pytest.mark.parametrize("options", [(), ("--spirv-version", "1.2"), ("--matrices", "one"), ("-cl-opt-disable",)])
def test_every_overload_becomes_valid_spirv_without_calls(options: tuple[str, ...]) -> None:
    overloads = [o for row in images.TABLE if row.supported for o in builtins.overloads(row)]
    assert len(overloads) == 262
    source = "".join(kernel(overload, number) for number, overload in enumerate(overloads))
    spirv = text(source, *options)
    assert "OpFunctionCall" not in spirv and "LinkageAttributes" not in spirv
    # Nothing of the kind lies in memory.
    handles = re.findall(r"(%\S+) = OpType(?:Image|Sampler|SampledImage)\b", spirv)
    assert handles and not [h for h in handles if re.search(rf"OpTypePointer \w+ {re.escape(h)}\n", spirv)]


@pytest.mark.parametrize("normalised", [0, 1])
def test_constant_samplers(normalised: int) -> None:
    modes = list(product(ADDRESSINGS, FILTERS))
    words = ("FALSE", "TRUE")[normalised]
    source = "".join(
        f"constant sampler_t s{n} = CLK_NORMALIZED_COORDS_{words} | CLK_ADDRESS_{mode} | CLK_FILTER_{chosen};\n"
        for n, (mode, chosen) in enumerate(modes)
    )
    reads = " + ".join(f"read_imagef(im, s{n}, p)" for n in range(len(modes)))
    source += f"kernel void f(image2d_t im, float2 p, global float4 *out) {{ *out = {reads}; }}\n"
    spirv = text(source)
    made = re.findall(r"OpConstantSampler %\S+ (\w+) (\d) (\w+)", spirv)
    expected = {(ADDRESSINGS[mode], str(normalised), FILTERS[chosen]) for mode, chosen in modes}
    assert len(made) == len(modes) and set(made) == expected
    assert capabilities(spirv) == {"ImageBasic", "LiteralSampler"}


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("read_only image1d_t", {"ImageBasic", "Sampled1D"}),
        ("read_only image1d_array_t", {"ImageBasic", "Sampled1D"}),
        ("write_only image1d_buffer_t", {"ImageBasic", "SampledBuffer"}),
        ("read_only image2d_t", {"ImageBasic"}),
        ("write_only image2d_array_depth_t", {"ImageBasic"}),
        ("read_only image3d_t", {"ImageBasic"}),
        ("read_write image3d_t", {"ImageBasic", "ImageReadWrite"}),
    ],
)
def test_capabilities(image: str, expected: set[str]) -> None:
    source = f"kernel void f({image} im, global int *out) {{ *out = get_image_width(im); }}"
    for version in ("1.2", "1.4"):
        spirv = text(source, "--spirv-version", version)
        assert capabilities(spirv) == expected
    assert capabilities(text("kernel void f(sampler_t s) { }")) == {"ImageBasic"}


def test_the_sign_of_elements_is_told_where_spirv_can() -> None:
    source = """
kernel void f(image2d_t i, sampler_t s, int2 p, write_only image2d_t o, global int4 *v, global uint4 *u)
{
    v[0] = read_imagei(i, s, p) + read_imagei(i, p);
    u[0] = read_imageui(i, s, p) + read_imageui(i, p);
    write_imagei(o, p, v[0]);
    write_imageui(o, p, u[0]);
}
"""
    new, old = text(source), text(source, "--spirv-version", "1.2")
    assert re.findall(r"OpImage\w+ .*?((?:Lod\|)?\w+Extend)", new) == [
        *("Lod|SignExtend", "SignExtend", "Lod|ZeroExtend", "ZeroExtend"),
        *("SignExtend", "ZeroExtend"),
    ]
    assert "Extend" not in old.replace("CompositeExt", "") and old.count("OpImage") == new.count("OpImage")


def test_the_fourth_size_is_zero() -> None:
    """The backend leaves it undefined."""
    spirv = text("kernel void f(image3d_t i, global int4 *out) { *out = get_image_dim(i); }")
    assert re.search(r"OpCompositeInsert %v4uint %\S+ %\S+ 3", spirv)


@pytest.mark.parametrize("route", ["native", "one", "lanes"])
def test_images_beside_matrices(route: str) -> None:
    source = """
#define USE(u) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_##u)))
constant sampler_t near = CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
float4 pick(image2d_t im, sampler_t s, int2 p) { return read_imagef(im, s, p); }
kernel void f(read_only image2d_t a, read_only image2d_t b, sampler_t s, write_only image2d_t c, global float *m)
{
    typedef float C USE(ACCUMULATOR);
    int x = get_global_id(0);
    float4 v;
    if (x & 1)
        v = pick(a, s, (int2)(x, 0));
    else
        v = pick(b, near, (int2)(x, 1));
    C sum = coop_mat_load(m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    coop_mat_store(m, sum + sum, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    write_imagef(c, (int2)(x, 0), v);
}
"""
    spirv = text(source, "--matrices", route)
    assert "LiteralSampler" in capabilities(spirv)
    handles = set(re.findall(r"(%\S+) = OpType(?:Image|Sampler|SampledImage)\b", spirv))
    choices = [line.split() for line in spirv.splitlines() if " = OpPhi " in line or " = OpSelect " in line]
    assert not [words for words in choices if handles & set(words)]


def test_kernels_tell_of_images_and_samplers() -> None:
    source = (
        "kernel void f(read_only image2d_t a, write_only image3d_t b, image1d_buffer_t c, sampler_t s, float x) { }"
    )
    parameters = coopmat.compile(source).kernels["f"].parameters
    assert [(p.type_name, p.address_space, p.access, p.size, p.is_pointer) for p in parameters] == [
        ("image2d_t", "global", "read_only", 8, False),
        ("image3d_t", "global", "write_only", 8, False),
        ("image1d_buffer_t", "global", "read_only", 8, False),
        ("sampler_t", "private", "none", 8, False),
        ("float", "private", "none", 4, False),
    ]
    assert [p.is_handle for p in parameters] == [True, True, True, True, False]
