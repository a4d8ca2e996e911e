"""The launch description of Vulkan modules, and modules of whole kernels."""

from __future__ import annotations

import pytest

import coopmat
from coopmat.vulkan.modules import LaunchDescription

SOURCE = """
kernel void scale(global float *y, constant float *x, float a, local float *t, uchar k, float4 v)
{
    const size_t i = get_global_id(0);
    t[get_local_id(0)] = a * x[i] + k + v.y;
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = t[get_local_size(0) - 1 - get_local_id(0)];
}
"""


def launch(source: str, *options: str) -> LaunchDescription:
    module = coopmat.compile(source, ["--target-env", "vulkan1.3", *options])
    assert module.spirv
    assert module.validated
    description = module.launch
    assert description is not None
    return description


def test_arguments_have_places() -> None:
    kernel = launch(SOURCE).kernels["scale"]
    places = [(row.name, row.kind, row.offset, row.bytes, row.alignment) for row in kernel.arguments]
    assert places == [
        ("y", "address", 0, 8, 4),
        ("x", "address", 8, 8, 4),
        ("a", "value", 16, 4, None),
        ("t", "local", None, None, None),
        ("k", "value", 20, 4, None),
        ("v", "value", 32, 16, None),
    ]
    assert kernel.push_constant_bytes == 48
    assert (kernel.arguments[3].spec_id, kernel.arguments[3].element_bytes) == (3, 4)


@pytest.mark.parametrize(("element", "size"), [("char", 12), ("short", 16), ("int", 20)])
def test_the_block_has_whole_words(element: str, size: int) -> None:
    source = (
        f"typedef struct {{ {element} a, b, c; }} Triple; kernel void k(global int *out, Triple t) {{ *out = t.c; }}"
    )
    assert launch(source).kernels["k"].push_constant_bytes == size


def test_functions_of_work_groups_need_memory_for_each_work_item() -> None:
    body = "*o = work_group_reduce_add(*o); *d = work_group_scan_inclusive_min(*d);"
    text = f"kernel void k(global int *o, global double *d) {{ {body} }}"
    any_size = launch(text).kernels["k"]
    assert (any_size.local_bytes, any_size.local_item_bytes) == (0, 12)
    fixed = launch(text.replace("void", "__attribute__((reqd_work_group_size(16, 2, 1))) void")).kernels["k"]
    assert (fixed.local_bytes, fixed.local_item_bytes) == (12 * 32, 0)


@pytest.mark.parametrize("operation", ["add", "min", "max"])
@pytest.mark.parametrize("space", ["global", "local"])
def test_atomics_of_floats_need_a_feature_for_the_memory(operation: str, space: str) -> None:
    text = f"{space} atomic_float *f) {{ atomic_fetch_{operation}_explicit(f, 1.0f, memory_order_relaxed"
    requires = launch(f"kernel void k({text}, memory_scope_device); }}").requires
    version, kind = ("", "Add") if operation == "add" else ("2", "MinMax")
    name = f"shader{'Shared' if space == 'local' else 'Buffer'}Float32Atomic{kind}"
    own = [feature for feature in requires.features if "AtomicFloat" in feature]
    assert own == [f"VkPhysicalDeviceShaderAtomicFloat{version}FeaturesEXT.{name}"]
    assert f"VK_EXT_shader_atomic_float{version}" in requires.extensions


def test_json_and_back() -> None:
    description = launch(SOURCE)
    assert LaunchDescription.from_json(description.to_json()) == description


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 2}'])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        LaunchDescription.from_json(text)


def test_other_environments_have_no_description() -> None:
    assert coopmat.compile(SOURCE, ["--matrices", "one"]).launch is None
