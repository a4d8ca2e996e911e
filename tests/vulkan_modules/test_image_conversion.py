"""Images and samplers as descriptors: what the module declares, the launch description, and what is refused."""

from __future__ import annotations

import pytest
from vulkan_modules import names, refusal, vulkan

from coopmat.compiler import Module
from coopmat.spirv.module import ENUM, OP, Module as SpirvModule
from coopmat.vulkan.modules import LaunchDescription

CL3 = "-cl-std=CL3.0"
FEATURE = "VkPhysicalDeviceFeatures.shaderStorageImage{}WithoutFormat"
COORDINATES = {"1d": "", "1d_buffer": "", "1d_array": "2", "2d": "2", "2d_array": "4", "3d": "4", "2d_depth": "2"}


def read(kind: str, element: str = "int", suffix: str = "f", access: str = "read_only", sampler: str = "") -> str:
    result = {"f": "float4", "i": "int4", "ui": "uint4", "h": "half4"}[suffix]
    result = "float" if "depth" in kind else result
    handle, parameter = (f"{sampler}, ", "") if sampler else ("s, ", ", sampler_t s")
    if sampler == "none":
        handle, parameter = "", ""
    where = f"{element}{COORDINATES[kind]}"
    return (
        f"kernel void k({access} image{kind}_t im{parameter}, global const {where} *at, global {result} *r)"
        f" {{ r[0] = read_image{suffix}(im, {handle}at[0]); }}"
    )


def described(module: Module) -> LaunchDescription:
    launch = module.launch
    assert launch is not None
    assert LaunchDescription.from_json(launch.to_json()) == launch
    return launch


def decorations(module: Module) -> list[tuple[int, ...]]:
    found = SpirvModule.parse(module.spirv).instructions
    return [item.operands[1:] for item in found if item.opcode == OP["OpDecorate"]]


@pytest.mark.parametrize("element", ["int", "float"])
@pytest.mark.parametrize("kind", [kind for kind in COORDINATES if "buffer" not in kind])
@pytest.mark.parametrize("sampler", ["", "0x12", "0x14"])
def test_reads_with_a_sampler(kind: str, element: str, sampler: str) -> None:
    module = vulkan(read(kind, element, sampler=sampler))
    assert "OpImageSampleExplicitLod" in names(module)
    needs_normalized = kind not in ("1d", "2d", "2d_depth")
    launch = described(module)
    if sampler:
        assert [row.normalized for row in launch.samplers] == [needs_normalized]
        assert [row.border for row in launch.samplers] == ["float" if sampler == "0x14" else None]
    else:
        row = launch.kernels["k"].arguments[1]
        assert (row.kind, row.descriptor, row.set, row.binding) == ("sampler", "sampler", 0, 1)
        assert (row.mask_offset is not None) == needs_normalized


@pytest.mark.parametrize("kind", COORDINATES)
def test_reads_without_a_sampler(kind: str) -> None:
    module = vulkan(read(kind, sampler="none"))
    assert "OpImageFetch" in names(module)
    row = described(module).kernels["k"].arguments[0]
    descriptor = "uniform_texel_buffer" if "buffer" in kind else "sampled_image"
    assert (row.descriptor, row.access, row.elements) == (descriptor, "read_only", "float")


@pytest.mark.parametrize("kind", [kind for kind in COORDINATES if "depth" not in kind])
def test_storage_images_need_features_of_their_accesses(kind: str) -> None:
    module = vulkan(read(kind, access="read_write", sampler="none"), CL3)
    launch = described(module)
    descriptor = "storage_texel_buffer" if "buffer" in kind else "storage_image"
    assert launch.kernels["k"].arguments[0].descriptor == descriptor
    assert FEATURE.format("Read") in launch.requires.features
    assert FEATURE.format("Write") not in launch.requires.features
    assert (ENUM["Decoration.NonWritable"],) in decorations(module)
    source = f"kernel void k(write_only image{kind}_t im, global const int{COORDINATES[kind]} *at)"
    written = vulkan(f"{source} {{ write_imageui(im, at[0], (uint4)(1)); }}", CL3)
    launch = described(written)
    assert FEATURE.format("Write") in launch.requires.features
    assert FEATURE.format("Read") not in launch.requires.features
    assert (ENUM["Decoration.NonReadable"],) in decorations(written)


@pytest.mark.parametrize(
    ("suffix", "elements", "sign"), [("f", "float", None), ("h", "float", None), ("i", "int", 1), ("ui", "uint", 0)]
)
def test_the_type_of_elements(suffix: str, elements: str, sign: int | None) -> None:
    module = vulkan(read("2d", suffix=suffix))
    definitions = SpirvModule.parse(module.spirv).definitions()
    image = next(item for item in definitions.values() if item.name == "OpTypeImage")
    component = definitions[image.operands[0]]
    assert (component.operands[1] if component.name == "OpTypeInt" else None) == sign
    assert [row.elements for row in described(module).kernels["k"].arguments[:2]] == [elements, elements]


def test_bindings_are_in_the_order_of_the_arguments() -> None:
    module = vulkan(
        "kernel void k(global int *o, sampler_t s, int n, write_only image2d_t b, read_only image3d_t a)"
        " { write_imagei(b, (int2)(n), read_imagei(a, s, (float4)(0))); o[0] = get_image_channel_order(b); }"
        "kernel void other(read_only image1d_t c, global float4 *o) { o[0] = read_imagef(c, 0x12, 3); }"
    )
    launch = described(module)
    rows = [(row.kind, row.binding, row.offset) for row in launch.kernels["k"].arguments]
    assert rows == [
        ("address", None, 0),
        ("sampler", 0, None),
        ("value", None, 8),
        ("image", 1, None),
        ("image", 2, None),
    ]
    # The numbers that the host pushes follow all arguments.
    assert launch.kernels["k"].arguments[1].mask_offset == 12
    assert launch.kernels["k"].arguments[3].order_offset == 16
    assert launch.kernels["k"].push_constant_bytes == 20
    assert launch.kernels["other"].arguments[0].binding == 0
    assert [(row.set, row.binding, row.addressing, row.filter) for row in launch.samplers] == [
        (1, 0, "clamp_to_edge", "nearest")
    ]


def test_an_image_without_accesses_has_no_elements() -> None:
    module = vulkan("kernel void k(read_only image2d_t a, global int *o) { o[0] = get_image_width(a); }")
    assert described(module).kernels["k"].arguments[0].elements is None


def test_the_samplers_that_read_an_image() -> None:
    module = vulkan(
        "kernel void k(read_only image2d_t a, sampler_t s, read_only image2d_t b, sampler_t t, global float4 *o)"
        " { o[0] = read_imagef(a, s, (float2)(0)) + read_imagef(a, t, (float2)(0)) + read_imagef(a, 0x12, (int2)(0))"
        " + read_imagef(b, 0x22, (float2)(0)); }"
    )
    rows = described(module).kernels["k"].arguments
    assert [(row.samplers, row.linear) for row in rows[:4:2]] == [(("s", "t"), None), (None, True)]


def test_barriers_order_accesses_to_images() -> None:
    module = vulkan(
        "kernel void k(read_write image2d_t a) { write_imagef(a, (int2)(0), read_imagef(a, (int2)(1)));"
        " work_group_barrier(CLK_IMAGE_MEM_FENCE); write_imagef(a, (int2)(2), read_imagef(a, (int2)(0)));"
        " atomic_work_item_fence(CLK_IMAGE_MEM_FENCE, memory_order_acq_rel, memory_scope_work_item); }",
        CL3,
    )
    code = SpirvModule.parse(module.spirv)
    reads = [item for item in code.instructions if item.opcode == OP["OpImageRead"]]
    assert [item.operands[2:] for item in reads] == [(ENUM["ImageOperands.NonPrivateTexel"],)] * 2
    barrier = next(item for item in code.instructions if item.opcode == OP["OpControlBarrier"])
    assert code.definitions()[barrier.operands[2]].operands[0] & ENUM["MemorySemantics.ImageMemory"]
    assert "OpMemoryBarrier" not in names(module)  # an invocation's own accesses have an order


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            read("2d", sampler="0x13"),
            "read_imagef with integer coordinates and a sampler without CLK_NORMALIZED",
        ),
        (
            read("2d", sampler="0x22"),
            "read_imagef with integer coordinates and a sampler without CLK_NORMALIZED",
        ),
        (read("2d", "float", sampler="0x16"), "read_imagef with a sampler that repeats the image and has no CLK_NORM"),
        (read("2d", "float", "ui", sampler="0x23"), "read_imageui with CLK_FILTER_LINEAR is undefined"),
        (
            "int4 f(read_only image2d_t a, sampler_t s) { return read_imagei(a, s, (int2)(1)); }"
            "kernel void k(read_only image2d_t a, global int4 *o) { o[0] = f(a, 0x13); }",
            "integer coordinates with a sampler that is normalized or linear",
        ),
        (
            "kernel void k(read_only image2d_t a, global int4 *o, global float4 *f)"
            " { o[0] = read_imagei(a, (int2)(1)); f[0] = read_imagef(a, (int2)(1)); }",
            "the image 'a', whose elements are read or written as different types",
        ),
    ],
)
def test_undefined_reads_are_refused(source: str, reason: str) -> None:
    message = refusal(source)
    assert "not supported with --target-env vulkan1.3: " in message
    assert reason in message
