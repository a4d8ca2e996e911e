"""The text of exported headers: any C compiler takes it without warnings, and it is the same each time."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from c_library import compiler

from coopmat.devices import from_key_values
from coopmat.export import Library, header_text
from coopmat.layer import library as layer
from coopmat.linalg.listing import Listing
from coopmat.runtime.ahead import AheadTarget

INFO = """CL_PLATFORM_NAME="A platform"
CL_DEVICE_NAME="A GPU"
CL_DEVICE_TYPE=CL_DEVICE_TYPE_GPU
CL_DEVICE_EXTENSIONS="cl_khr_fp16"
CL_DEVICE_LOCAL_MEM_SIZE=49152
CL_DEVICE_MAX_NUM_SUB_GROUPS=4
"""
WITH_SPIRV, WITHOUT = (f'{INFO}CL_DEVICE_IL_VERSION="{versions}"\n' for versions in ("SPIR-V_1.2", ""))
SOURCE = '#include "gemm.h"\nint main(void) { return 0; }\n'
# For other functions and options
MORE = "#define CL_TARGET_OPENCL_VERSION 120\n#define GEMM_IMPLEMENTATION\n"


def described(text: str, matrices: str, *types: str) -> Library:
    listings = [Listing.of(tuple(words.split(","))) for words in types]
    return Library.of(AheadTarget.of(from_key_values(text, "info"), matrices), listings)


@pytest.fixture(scope="module")
def headers() -> dict[str, str]:
    """Headers with SPIR-V; with OpenCL C and blocks in local memory; with native matrices; and with all types."""
    every = ("f16", "f32", "bf16", "s8", "u8,s8,f32", "e4m3", "e5m2,e4m3,e5m2", "f16,f16,f16")
    return {
        "spirv": header_text(described(WITH_SPIRV, "auto", "f16"), "gemm"),
        "mma": header_text(described(WITHOUT, "mma", "f16"), "gemm"),
        "native": header_text(described(WITH_SPIRV, "native", "f16"), "gemm"),
        "all": header_text(described(WITHOUT, "one", *every), "gemm"),
        "x86": header_text(described(WITHOUT, "x86", "f16", "s8"), "gemm"),
    }


def command(language: str, name: str) -> list[str]:
    """Return the command of a compiler. If it is not installed, skip the test."""
    if name != "zig":
        return [compiler(name)]
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("this Python environment has no ziglang")
    return [sys.executable, "-m", "ziglang", "cc" if language == "c99" else "c++"]


@pytest.mark.covering
@pytest.mark.parametrize(
    ("language", "name"),
    [("c99", "gcc"), ("c99", "clang"), ("c99", "zig"), ("c++11", "g++"), ("c++11", "clang++"), ("c++11", "zig")],
)
@pytest.mark.parametrize("which", ["spirv", "mma", "native", "all", "x86"])
def test_compilers_have_no_warnings(
    headers: dict[str, str], which: str, language: str, name: str, tmp_path: Path
) -> None:
    (tmp_path / "gemm.h").write_text(headers[which])
    source = tmp_path / ("test.c" if language == "c99" else "test.cc")
    flags = [f"-std={language}", "-Wall", "-Wextra", "-pedantic", "-Werror", "-c", "-o", str(tmp_path / "test.o")]
    for before in ("", "#define GEMM_IMPLEMENTATION\n", MORE):
        source.write_text(before + SOURCE)
        line = [*command(language, name), *flags, "-isystem", str(layer.INCLUDE), str(source)]
        done = subprocess.run(line, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


def test_what_the_comment_says(headers: dict[str, str]) -> None:
    comments = {name: text.partition("*/")[0] for name, text in headers.items()}
    assert "A platform: A GPU" in comments["spirv"] and "in SPIR-V" in comments["spirv"]
    assert "the route one, which were not measured" in comments["spirv"]
    assert "measured on NVIDIA" in comments["mma"] and "not tried" in comments["mma"]
    assert "mma_m16n8k16_f16_f32" in comments["mma"] and "in OpenCL C" in comments["mma"]
    assert "routes         native" in comments["native"]
    assert all("only in Python bias, scales, activations, batches," in comment for comment in comments.values())
    assert "gemm_u8_s8_f32" in comments["all"] and "gemm_e5m2_e4m3_e5m2" in comments["all"]
    assert "amx" not in comments["x86"] and "tdp" not in comments["x86"] and "vpdpbusd" in comments["x86"]


def test_blocks_have_pieces_of_two_sizes(headers: dict[str, str]) -> None:
    """Rows that are multiples of 16 bytes are copied in pieces of 16 bytes, multiples of 8 bytes in such of 8."""
    rows = [line.split(",") for line in headers["mma"].splitlines() if line.startswith("    { gemm_large")]
    assert [int(row[3]) for row in rows] == [16, 8, 0]


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    info = tmp_path / "info"
    info.write_text(WITH_SPIRV)
    texts = []
    for seed in ("1", "2"):
        line = [sys.executable, "-m", "coopmat", "export", "gemm", "--device-info", str(info), "--types", "f16"]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([*line, "--types", "s8", "-o", "-"], env=environment, check=True, capture_output=True)
        texts.append(done.stdout)
    assert texts[0] == texts[1] and texts[0].startswith(b"/*")


def test_a_kernel_that_two_products_share_is_written_once() -> None:
    library = described(WITHOUT, "one", "f16", "f16,f16,f32")
    # One kernel is for fewer rows than the tile's.
    assert len(library.products) == 1 and len(library.programs) == 2
