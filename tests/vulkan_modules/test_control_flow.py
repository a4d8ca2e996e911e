"""Random control flow: modules for Vulkan are valid, and the OpenCL device computes the same as gcc.

`python -m control_flow` compares more programs, and runs them on Vulkan devices.
"""

from __future__ import annotations

import shutil

import pytest
from control_flow.__main__ import failing
from control_flow.executors import execute
from control_flow.programs import Program, generate, opencl_source
from control_flow.statements import Settings
from opencl_devices import device_of
from valid_modules import assert_valid

import coopmat

# Statements that compute r from x and y, of forms that random programs do not have.
UNUSUAL = [
    "switch (x & 7u) { case 0: r = 1; if (y > 2u) { r += 5; case 1: r += 7; } case 2: r *= 3; break; default: r = 9; }",
    "switch (x & 3u) { case 0: if (y & 1u) r = 3; else { case 1: r += 11; } break; case 2: { { case 3: r += y; } } }",
    "uint i = 0; for (;;) { if (i > x % 5u) goto end; switch (i & 3u) { case 0: i += 2; continue; case 1: r += i; "
    "break; default: if (y == i) return; r ^= 3u; } i++; } end: r += 100;",
    "do { if (x > 3u) break; if (y > 3u) continue; r = 5; } while (0); r += x;",
    "for (uint i = 0; i < 10u; i++) { r += x; if (y & 1u) break; else { r = 2; break; } } while (x) { r = 7; break; }",
    "for (uint i = 0; i < 4u; i++) for (uint j = 0; j < 4u; j++) { for (uint k = 0; k < 4u; k++) { "
    "if (i * j + k == (x & 15u)) goto end; if (k == (y & 3u)) goto next; r += k; } r *= 3; next: r++; } end: r ^= 1;",
    "switch (x) { } switch (y) { default: r = 8; } switch (x & 1u) { case 5: r = 1; }",
    "long l = (long)x - 3; switch (l) { case -3: r = 1; case -2: r += 2; break; case 4294967290L: r = 9; break; "
    "case 2147483644L: r = 77; break; default: r = 5; }",
    "if (x > 3u) { if (y > 3u) goto a; if (y > 1u) goto b; r = 1; } else { if (y == 0u) goto b; r = 2; } r += 10; "
    "a: r += 100; b: r += 1000;",
]
HEAD = "global uint *out, const global uint *in, uint n"
LOADS = "const uint item = get_global_id(0), x = in[item * 8], y = in[item * 8 + 1]; uint r = 0;"


def programs_of(sample: str) -> list[Program]:
    if sample == "unusual":
        texts = [f"{{ {LOADS}\n{statements}\nout[item] = r; }}" for statements in UNUSUAL]
        return [Program(n, None, f"kernel void p{n}({HEAD}) {text}\n") for n, text in enumerate(texts)]
    return [generate(seed) for seed in (range(1, 13) if sample == "first" else range(13, 25))]


@pytest.mark.parametrize("sample", ["unusual", "first", "second"])
@pytest.mark.parametrize("route", ["native", "lanes"])
def test_modules_are_valid(route: str, sample: str) -> None:
    options = ["-w", "--target-env", "vulkan1.3", "--matrices", route, "--sub-group-size", "8"]
    assert_valid(coopmat.compile(opencl_source(programs_of(sample)), options, name="control_flow.cl"))


@pytest.mark.parametrize("sample", ["unusual", "first"])
def test_the_opencl_device_agrees_with_gcc(sample: str) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    device_of("cpu")
    programs = programs_of(sample)
    assert not list(failing(programs, execute("gcc", programs), "opencl"))


def test_programs_depend_on_the_seed_alone() -> None:
    assert generate(7) == generate(7) != generate(8)
    assert all(generate(seed, Settings(matrices=0)).family is None for seed in range(8))
    assert "goto" not in "".join(generate(seed, Settings(goto=0)).text for seed in range(50))
