"""Kernels of many builtin functions: Vulkan devices must give the words of builtins/NAME.txt.

These are the results of an OpenCL device, whose own compiler has compiled the kernels.
`--update-golden` writes these words anew, on a machine with an OpenCL device that has subgroups of 8.
"""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from opencl_devices import full_device
from vulkan_support import open_device

SOURCES = sorted((Path(__file__).parent / "builtins").glob("*.cl"))
ITEMS, GROUP = 64, 16
Words = np.ndarray[tuple[int], np.dtype[np.uint32]]
# The words behind those of the work-items, which all of them change.
SHARED = 16


def columns(text: str) -> int:
    """The number of words that each work-item writes."""
    found = re.search(r"^#define N (\d+)$", text, re.MULTILINE)
    assert found
    return int(found[1])


def arrays(text: str) -> tuple[Words, Words]:
    """The output and the input of a kernel."""
    words = np.random.default_rng(4).integers(0, 1 << 32, 1024, np.uint32)
    return np.zeros(ITEMS * columns(text) + SHARED, np.uint32), words


def rows(words: Words, count: int) -> list[str]:
    """The words as lines, one for each work-item."""
    return [" ".join(f"{word:08x}" for word in words[at : at + count]) for at in range(0, len(words), count)]


def compare(path: Path, words: Words) -> None:
    text = path.read_text()
    found, right = rows(words, columns(text)), path.with_suffix(".txt").read_text().splitlines()
    wrong = {
        (n, k)
        for n, (line, other) in enumerate(zip(found, right, strict=True))
        for k, (a, b) in enumerate(zip(line.split(), other.split(), strict=True))
        if a != b
    }
    assert not wrong, f"words {sorted({k for _, k in wrong})} differ, first in work-item {min(wrong)[0]}"


@pytest.mark.device
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_an_opencl_device_gives_the_words(path: Path, request: pytest.FixtureRequest) -> None:
    import pyopencl as cl

    context = cl.Context([full_device().handle])
    queue, text = cl.CommandQueue(context), path.read_text()
    output, words = arrays(text)
    access = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, access, hostbuf=array) for array in (output, words)]
    program = cl.Program(context, text).build("-w -cl-std=CL3.0", cache_dir=False)
    program.test(queue, (ITEMS,), (GROUP,), *buffers)
    cl.enqueue_copy(queue, output, buffers[0])
    if request.config.getoption("--update-golden"):
        path.with_suffix(".txt").write_text("\n".join(rows(output, columns(text))) + "\n")
    compare(path, output)


@pytest.mark.parametrize("route", ["native", "lanes"])
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_vulkan_device_gives_the_words(path: Path, route: str) -> None:
    text = path.read_text()
    output, words = arrays(text)
    with open_device() as device:
        if "sub_group_size(8)" in text and device.info.sub_group_size != 8:
            pytest.skip("the device has no subgroups of 8")
        program = device.program(text, ["-w", "--matrices", route], name=path.name)
        program.test(ITEMS, GROUP, output, words)
    compare(path, output)


# Function of double -> (numpy's, the range of the arguments). The libraries' errors are measured elsewhere
# (tests/vulkan_modules/test_library_accuracy.py); this is about their execution by a driver.
DOUBLES = {
    "acos": (np.arccos, (-1, 1)),
    "acosh": (np.arccosh, (1, 90)),
    "asin": (np.arcsin, (-1, 1)),
    "asinh": (np.arcsinh, (-1e9, 1e9)),
    "atan": (np.arctan, (-9, 9)),
    "atanh": (np.arctanh, (-1, 1)),
    "cbrt": (np.cbrt, (-9e9, 9e9)),
    "cos": (np.cos, (-1e6, 1e6)),
    "cosh": (np.cosh, (-700, 700)),
    "degrees": (np.degrees, (-9, 9)),
    "exp": (np.exp, (-700, 700)),
    "exp2": (np.exp2, (-1000, 1000)),
    "expm1": (np.expm1, (-1, 1)),
    "log": (np.log, (0, 1e300)),
    "log10": (np.log10, (0, 9)),
    "log1p": (np.log1p, (-1, 1)),
    "log2": (np.log2, (0, 9)),
    "sin": (np.sin, (-1e20, 1e20)),
    "sinh": (np.sinh, (-9, 9)),
    "tan": (np.tan, (-9, 9)),
    "tanh": (np.tanh, (-9, 9)),
}


def test_a_vulkan_device_computes_functions_of_double() -> None:
    random = np.random.default_rng(7)
    stored = "".join(f"o[i + {n * 256}] = {name}(a[i + {n * 256}]);\n" for n, name in enumerate(DOUBLES))
    further = """
    int e, q;
    double f = frexp(a[i], &e), c, s = sincos(a[i], &c);
    double2 p = pow((double2)(fabs(a[i]), 1.5), (double2)(2.5, a[i]));
    r[4 * i] = ldexp(f, e) - a[i] + s * s + c * c;
    r[4 * i + 1] = p.x / (a[i] * a[i] * sqrt(fabs(a[i]))) + remquo(a[i] * 8.0, a[i], &q);
    r[4 * i + 2] = p.y - exp2(a[i] * log2(1.5)) + fmod(7.5, 2.0) + q;
    r[4 * i + 3] = tgamma(5.0 + (double)(i & 3)) + erf(a[i]) + erfc(a[i]);
    """
    text = "kernel void test(global double *o, global const double *a, global double *r) { size_t i = get_global_id(0);"
    values = np.concatenate([random.uniform(*bounds, 256) for _, bounds in DOUBLES.values()])
    found, rest = np.zeros_like(values), np.zeros(1024)
    with open_device() as device:
        if not any("shaderFloat64" in name for name in device.info.features):
            pytest.skip("the device has no double")
        device.program(f"{text}\n{stored}{further}}}", ["-w"]).test(256, 16, found, values, rest)
    for n, (name, (function, _)) in enumerate(DOUBLES.items()):
        part = slice(256 * n, 256 * (n + 1))
        assert np.allclose(found[part], function(values[part]), rtol=2e-15, atol=0), name
    right = np.array([[1, 1, 9.5, gamma + 1] for gamma in (24, 120, 720, 5040)] * 64)
    assert np.allclose(rest.reshape(-1, 4), right, rtol=1e-14)


def test_fma_of_half_rounds_once() -> None:
    """Sums near the middle of two numbers, whose sum in float is this middle; and all kinds of numbers."""
    device = open_device()
    if not device.info.fp16:
        pytest.skip("the device has no half")
    random, count = np.random.default_rng(5), 4096
    x, y, z = (random.integers(0, 1 << 16, count).astype(np.uint16).view(np.float16) for _ in range(3))
    near = slice(0, count // 2)
    x[near], y[near] = (random.integers(1024, 2048, count // 2) * 2.0**-10 for _ in range(2))
    z[near] = random.integers(-2048, 2048, count // 2) * 2.0 ** random.integers(-22, 5, count // 2)
    out = np.zeros(count, np.float16)
    source = """
    kernel void test(global const half4 *x, global const half4 *y, global const half4 *z, global half4 *out)
    {
        size_t i = get_global_id(0);
        out[i] = fma(x[i], y[i], z[i]);
    }
    """
    device.program(source).test((count // 4,), None, x, y, z, out)
    tried = 0
    for a, b, c, result in zip(x, y, z, out, strict=True):
        exact = float(a) * float(b) + float(c) if not np.isfinite([a, b, c]).all() else None
        if exact is not None:
            assert np.isnan(result) if np.isnan(exact) else result == exact
            continue
        wanted = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
        if not 2.0**-14 <= abs(wanted) < 65504:  # drivers may flush numbers below
            continue
        tried += 1
        error = abs(Fraction(float(result)) - wanted)
        steps = [np.nextafter(result, np.float16(bound)) for bound in (-np.inf, np.inf)]
        others = [abs(Fraction(float(step)) - wanted) for step in steps if np.isfinite(step)]
        assert error <= min(others) and (error < min(others) or result.view(np.uint16) % 2 == 0), (a, b, c)
    assert tried > count // 2
