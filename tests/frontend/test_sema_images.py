"""Images and samplers: the types, where they may stand, and every error about them with its place."""

from __future__ import annotations

import pytest
from sema_support import analysed, expect, expression, good, type_of

import coopmat
from coopmat.diagnostics import Severity
from coopmat.features import Features
from coopmat.frontend import typed
from coopmat.frontend.types import IMAGE_NAMES, SAMPLER, ImageType

NEAREST = "CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST"


def wrong_in(marked: str, *codes: str) -> None:
    """Findings in a kernel that has images and samplers at hand."""
    head = "kernel void f(image2d_t a, image2d_t b, write_only image2d_t w, sampler_t s, sampler_t t, int n)\n{\n"
    expect(f"{marked}\n}}", *codes, before=head)


@pytest.mark.parametrize("name", IMAGE_NAMES)
@pytest.mark.parametrize("access", ["", "read_only", "__write_only", "read_write"])
def test_images_are_parameters_and_go_down_to_functions(name: str, access: str) -> None:
    unit = good(f"void g({access} {name} i) {{ }}\nkernel void f({access} {name} i) {{ g(i); }}")
    wanted = ImageType(name, access.strip("_") or "read_only")
    assert [f.type.parameters for f in unit.functions] == [(wanted,), (wanted,)]


def test_a_typedef_keeps_its_access_qualifier() -> None:
    unit = good(
        "typedef write_only image3d_t T; typedef image1d_t U; kernel void f(T t, const U u, read_only image1d_t v) { }"
    )
    names = [str(t) for t in unit.functions[0].type.parameters]
    assert names == ["write_only image3d_t", "read_only image1d_t", "read_only image1d_t"]


@pytest.mark.parametrize(
    ("marked", "codes"),
    [
        ("struct S { image2d_t §i; };", ["image-member"]),
        ("struct S { int n; sampler_t §s; };", ["sampler-member"]),
        ("union U { sampler_t §s; };", ["sampler-member"]),
        ("image2d_t §i;", ["image-variable"]),
        ("constant image2d_t §i = 0;", ["image-variable"]),
        ("kernel void f(image2d_t §i[2]) { }", ["image-array"]),
        ("kernel void f(image2d_t *§i) { }", ["image-pointer"]),
        ("kernel void f(global image2d_t *§i) { }", ["image-pointer"]),
        ("void f(sampler_t *§s) { }", ["sampler-pointer"]),
        ("image2d_t §f(image2d_t i) { return i; }", ["image-result"]),
        ("sampler_t §f(sampler_t s) { return s; }", ["sampler-result"]),
        ("constant sampler_t §s[2] = { 0x10, 0x20 };", ["sampler-array"]),
        ("kernel void f(§global image2d_t i) { }", ["address-space"]),
        ("kernel void f(§constant sampler_t s) { }", ["address-space"]),
        ("kernel void f(§read_only int n) { }", ["access-qualifier"]),
        ("kernel void f(§write_only sampler_t s) { }", ["access-qualifier"]),
        ("kernel void f(§read_only global int *p) { }", ["access-qualifier"]),
        ("kernel void f(global int *§read_only p) { }", ["access-qualifier"]),
        ("kernel void f(read_only §write_only image2d_t i) { }", ["access-qualifier"]),
        ("typedef image2d_t T; kernel void f(§write_only T i) { }", ["access-qualifier"]),
        ("typedef read_only image2d_t T; kernel void f(§read_write T i) { }", ["access-qualifier"]),
        ("kernel void f(§image2d_msaa_t i) { }", ["not-supported"]),
        ("kernel void f(§read_only image2d_array_msaa_depth_t i) { }", ["not-supported"]),
        ("sampler_t §s = 0x10;", ["sampler-address-space"]),
        ("static sampler_t §s = 0x10;", ["sampler-address-space"]),
        ("global sampler_t §s = 0x10;", ["sampler-address-space"]),
        ("constant sampler_t §s;", ["sampler-initializer"]),
        ("constant sampler_t s = §0x10ul;", ["sampler-initializer"]),
        ("constant sampler_t s = §1.0f;", ["sampler-initializer"]),
        ("constant sampler_t s = §{ 0x10 };", ["sampler-initializer"]),
        ("constant sampler_t s = §0xFFF;", ["sampler-initializer"]),
        ("constant sampler_t s = §CLK_FILTER_NEAREST | CLK_FILTER_LINEAR | 0xE;", ["sampler-initializer"]),
        ("constant sampler_t s = 0x10; constant sampler_t t = §s;", ["sampler-initializer"]),
        ("constant sampler_t s = §CLK_ADDRESS_CLAMP;", ["spir-compat"]),
        ("constant sampler_t s = 0x10; constant int §s = 2;", ["redefinition"]),
    ],
)
def test_declarations_that_are_wrong(marked: str, codes: list[str]) -> None:
    expect(marked, *codes)


@pytest.mark.parametrize(
    ("marked", "codes"),
    [
        ("image2d_t §x;", ["image-variable"]),
        ("image2d_t §x = a;", ["image-variable"]),
        ("image2d_t §x[2];", ["image-array"]),
        ("sampler_t §x;", ["sampler-initializer"]),
        ("sampler_t x = §n;", ["sampler-initializer"]),
        ("local sampler_t §x;", ["sampler-address-space"]),
        ("global sampler_t §x = 0x10;", ["sampler-address-space"]),
        ("a §= b;", ["image-assignment"]),
        ("s §= t;", ["sampler-assignment"]),
        ("s §= 0x10;", ["sampler-assignment"]),
        ("a §+ b;", ["invalid-operands"]),
        ("n = s §+ 1;", ["invalid-operands"]),
        ("n = a §== b;", ["invalid-operands"]),
        ("n = §!s;", ["invalid-operands"]),
        ("§s++;", ["sampler-assignment"]),
        ("if (§a) n = 1;", ["invalid-condition"]),
        ("n = read_imagei(§n ? a : b, (int2)(0)).x;", ["image-operand"]),
        ("read_imagei(a, §n ? s : t, (int2)(0));", ["sampler-operand"]),
        ("§&a;", ["image-pointer"]),
        ("§&s;", ["sampler-pointer"]),
        ("(void)§(image2d_t)a;", ["image-cast"]),
        ("(void)§(sampler_t)0x10;", ["sampler-cast"]),
        ("(void)§(sampler_t){ 0x10 };", ["sampler-variable"]),
        ("n = §(int)a;", ["invalid-cast"]),
        ("n §= s;", ["incompatible-types"]),
        ("§a[0];", ["not-subscriptable"]),
        ("§read_imagef(w, (int2)(0));", ["no-matching-function"]),
        ("§write_imagef(a, (int2)(0), (float4)(0));", ["no-matching-function"]),
        ("§read_imagef(a, s, (int4)(0));", ["no-matching-function"]),
        ("§read_imagef(a, s, (float2)(0), 1.0f);", ["no-matching-function"]),
        ("read_imagef(a, §n, (int2)(0));", ["sampler-initializer"]),
        ("§get_image_depth(a);", ["no-matching-function"]),
        ("§get_image_num_samples(a);", ["not-supported"]),
        ("§get_image_num_mip_levels(a);", ["not-supported"]),
    ],
)
def test_uses_that_are_wrong(marked: str, codes: list[str]) -> None:
    wrong_in(marked, *codes)


def test_images_of_another_kind_or_access_do_not_convert() -> None:
    before = "void g(image2d_t i) { }\nvoid h(sampler_t s) { }\n"
    expect("kernel void f(image3d_t i) { g(§i); }", "incompatible-types", before=before)
    expect("kernel void f(write_only image2d_t i) { g(§i); }", "incompatible-types", before=before)
    expect("kernel void f(read_write image2d_t i) { g(§i); }", "incompatible-types", before=before)
    expect("kernel void f(image2d_t i) { h(§i); }", "incompatible-types", before=before)
    expect("kernel void f(int n) { h(§n); }", "sampler-initializer", before=before)


def test_a_read_write_image_has_no_sampler() -> None:
    text = "kernel void f(read_write image2d_t i, sampler_t s) { §read_imagef(i, s, (int2)(0)); }"
    expect(text, "no-matching-function")


def test_samplers_are_constants_or_other_names() -> None:
    unit = good(
        f"""
constant sampler_t a = {NEAREST};
const sampler_t b = CLK_FILTER_LINEAR;
void g(sampler_t s) {{ }}
kernel void f(sampler_t s)
{{
    const sampler_t c = {NEAREST};
    sampler_t d = s;
    g(a); g(b); g(c); g(d); g({NEAREST});
    for (sampler_t e = CLK_FILTER_NEAREST;;)
        g(e);
}}
"""
    )
    assert [v.type for v in unit.variables] == [SAMPLER, SAMPLER]
    for variable, value in zip(unit.variables, (0x14, 0x20), strict=True):
        made = variable.initializer
        assert isinstance(made, typed.Convert) and made.kind is typed.ConvertKind.SAMPLER
        assert isinstance(made.operand, typed.IntConst) and made.operand.value == value


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("read_imagef(i, s, (float2)(0))", "float4"),
        ("read_imagef(i, s, (int2)(0))", "float4"),
        ("read_imagei(i, (int2)(0))", "int4"),
        ("read_imageui(i, (int2)(0))", "uint4"),
        ("read_imageh(i, s, (float2)(0))", "half4"),
        ("read_imagef(d, s, (float2)(0))", "float"),
        ("get_image_dim(i)", "int2"),
        ("get_image_dim(v)", "int4"),
        ("get_image_array_size(r)", "ulong"),
        ("sizeof(i)", "ulong"),
        ("(i, v, s, 1)", "int"),
    ],
)
def test_types_of_calls(call: str, result: str) -> None:
    parameters = "image2d_t i, image3d_t v, image1d_array_t r, image2d_depth_t d, sampler_t s"
    assert type_of(call, parameters) == result


def test_a_call_names_the_lowering() -> None:
    e = expression("read_imagef(i, s, (float2)(0))", "image2d_t i, sampler_t s")
    assert isinstance(e, typed.BuiltinCall) and e.lowering == "image_read"


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ("kernel void f(read_only image2d_t i) { }", "-cl-ext=-__opencl_c_images"),
        ("kernel void f(sampler_t s) { }", "-cl-ext=-__opencl_c_images"),
        ("kernel void f(read_write image2d_t i) { }", "-cl-std=CL1.2"),
        ("kernel void f(read_write image2d_t i) { }", "-cl-ext=-__opencl_c_read_write_images"),
        ("kernel void f(write_only image3d_t i) { }", "-cl-ext=-__opencl_c_3d_image_writes"),
        ("kernel void f(write_only image3d_t i) { }", "-cl-std=CL1.2 -cl-ext=-cl_khr_3d_image_writes"),
        ("kernel void f(image2d_depth_t i) { }", "-cl-ext=-cl_khr_depth_images"),
        ("kernel void f(image2d_t i, global half4 *o) { *o = read_imageh(i, (int2)(0)); }", "-cl-ext=-cl_khr_fp16"),
        ("kernel void f(image2d_t i, global float4 *o) { *o = read_imagef(i, (int2)(0)); }", "-cl-std=CL1.1"),
    ],
)
def test_what_needs_a_feature_says_so(source: str, options: str) -> None:
    with pytest.raises(coopmat.CompileError) as caught:
        coopmat.compile(source, options)
    found = {item.code for item in caught.value.diagnostics if item.severity is Severity.ERROR}
    assert found in ({"extension-off"}, {"no-matching-function"})


def test_old_standards_have_images() -> None:
    for standard in ("CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0"):
        assert "__opencl_c_images" in Features.of(standard)
        coopmat.compile(
            f"""
constant sampler_t s = {NEAREST};
kernel void f(read_only image2d_t i, write_only image2d_t o, __read_only image3d_t v)
{{
    int2 p = (int2)(get_global_id(0), get_image_width(i));
    write_imagef(o, p, read_imagef(i, s, p) + read_imagef(v, s, (float4)(0)));
}}
#if !defined(__IMAGE_SUPPORT__)
#error no images
#endif
""",
            f"-cl-std={standard}",
        )


def test_the_macros_have_the_values_of_the_headers_for_spir() -> None:
    """Those of clang 19's opencl-c-base.h: the first and the last of each group, and where the count jumps."""
    values = {
        **{"CLK_NORMALIZED_COORDS_TRUE": 1, "CLK_NORMALIZED_COORDS_FALSE": 0, "CLK_ADDRESS_NONE": 0},
        **{"CLK_ADDRESS_CLAMP_TO_EDGE": 2, "CLK_ADDRESS_CLAMP": 4, "CLK_ADDRESS_REPEAT": 6},
        **{"CLK_ADDRESS_MIRRORED_REPEAT": 8, "CLK_FILTER_NEAREST": 0x10, "CLK_FILTER_LINEAR": 0x20},
        **{"CLK_R": 0x10B0, "CLK_RGBA": 0x10B5, "CLK_DEPTH": 0x10BD, "CLK_sRGB": 0x10BF, "CLK_ABGR": 0x10C3},
        **{"CLK_SNORM_INT8": 0x10D0, "CLK_UNORM_INT8": 0x10D2, "CLK_FLOAT": 0x10DE, "CLK_UNORM_INT_101010_2": 0x10E0},
    }
    for name, value in values.items():
        good(f'_Static_assert({name} == {value}, "{name}");')


def test_without_images_there_are_no_macros() -> None:
    with pytest.raises(coopmat.CompileError):
        coopmat.compile("kernel void f(global int *p) { *p = CLK_FILTER_LINEAR; }", "-cl-ext=-__opencl_c_images")


def test_every_finding_names_the_thing() -> None:
    _, diagnostics = analysed("struct S { image2d_t i; }; constant sampler_t s = 0xFFF;")
    assert [item.message for item in diagnostics] == [
        "an image ('read_only image2d_t') cannot be a member of a struct or union",
        "the initial value of sampler 's' is not a valid sampler: 0xfff",
    ]
