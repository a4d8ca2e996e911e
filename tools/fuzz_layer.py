#!/usr/bin/env python3
"""Run libFuzzer on the parts of the layer that read foreign data: SPIR-V, messages, binaries, the cache, includes.

Usage: tools/fuzz-layer [--count N] [--seed S] [--target NAME] [--source DIR] [--keep DIR]
Each part is built with the address and undefined-behaviour sanitizers. The status is 1 if an input fails, which is then
in the directory, and 0 if clang has no libFuzzer here. `--count` is the number of inputs of all parts together.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# part -> (its share of the inputs, the longest input in bytes)
TARGETS = {
    "il": (0.5, 2048),
    "messages": (0.3, 512),
    "binaries": (0.17, 1024),
    "cache": (0.01, 1024),
    "includes": (0.02, 1024),
}
# part -> files of the layer that the target includes or replaces
_REPLACED = {"cache": ("cache.c", "helper.c")}
_FLAGS = ("-std=gnu11", "-O1", "-g", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=undefined")


def compiler() -> str | None:
    """Return the path of a clang that has libFuzzer, or None."""
    names = ("clang", *(f"clang-{version}" for version in range(22, 13, -1)))
    for path in filter(None, map(shutil.which, names)):
        with tempfile.TemporaryDirectory() as directory:
            source = Path(directory, "empty.c")
            source.write_text("int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n ? 0 : 0; }\n")
            command = [path, *_FLAGS, "-o", str(source.with_suffix("")), str(source)]
            if subprocess.run(command, capture_output=True).returncode == 0:
                return path
    return None


def build(clang: str, name: str, source: Path, directory: Path) -> Path:
    """Compile the fuzz target of a part, and return its path. Raises CalledProcessError."""
    path = directory / name
    files = [str(file) for file in sorted(source.glob("*.c")) if file.name not in _REPLACED.get(name, ())]
    words = [clang, *_FLAGS, f"-DTARGET_{name}", "-I", str(source), "-isystem", str(source.parent / "include")]
    if name == "includes":
        words.append("-Dopen=fuzz_open")
    subprocess.run(
        [*words, "-o", str(path), str(ROOT / "tools" / "fuzz_layer.c"), *files, "-lpthread", "-ldl"], check=True
    )
    return path


def seeds(name: str) -> Iterator[bytes]:
    """Yield valid inputs of a part."""
    from stub_suite import matrix_module

    from coopmat.layer.messages import packed

    facts = {"name": "product", "sub_group_size": 16, "most_items": 256, "uses_matrices": 1, "is_fixed": 0}
    message = packed([("form", "spirv"), ("code", b"\3\2\x23\7"), ("kernel", packed(facts.items()))])
    if name == "il":
        module = matrix_module()
        yield module + b"\5"
        words = struct.pack("<19I", *_CONSTANT)
        yield module[:20] + words + b"\5"
    elif name == "messages":
        yield message
    elif name == "binaries":
        for count in range(8):
            yield bytes([count]) + struct.pack("<4Q", 64, 64, 2, 1) + _container(message)
    elif name == "cache":
        row = struct.pack("<I", 4) + bytes(32) + b"none"
        yield b"\1" + bytes(16 + 32) + struct.pack("<3Q", len(row), 0, 10) + row + b"1 2 /path\n"
        yield b"\3" + b"123 456 /path\n7 8 /other\n"
    else:
        yield b'-Isub -I "a b"\n#include "a.h"\n# include <b.h>\nmatrix_type (4, 4)\n'


# Words of SPIR-V: capabilities, a decoration, types, a constant.
_CONSTANT = (
    *(2 << 16 | 17, 6022, 4 << 16 | 71, 5, 1, 5, 4 << 16 | 21, 4, 32, 0, 4 << 16 | 50, 4, 5, 7),
    *(4 << 16 | 48, 4, 6, 2 << 16 | 49, 4),
)


def _container(message: bytes) -> bytes:
    return b"coopmat binary 1" + struct.pack("=Q", len(message)) + message + b"the driver's"


def run(program: Path, name: str, count: int, seed: int, directory: Path) -> str:
    """Run `count` inputs, and return a description of the failure, "" if there is none."""
    # Use a directory in memory, if there is one, since files are rewritten all the time.
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as place:
        return _run(program, name, count, seed, directory, Path(place))


def _run(program: Path, name: str, count: int, seed: int, directory: Path, place: Path) -> str:
    corpus = directory / f"{name}-corpus"
    for path in (corpus, place / "sub", place / "cache"):
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    for number, data in enumerate(seeds(name)):
        (corpus / f"seed{number}").write_bytes(data)
    (place / "a.h").write_text('#include "b.h"\n#include "sub/a.h"\n')
    (place / "b.h").write_text('#include "a.h"\n')
    (place / "sub" / "a.h").write_text('#include "../a.h"\n#include <b.h>\ncoop_mat\n')
    words = [f"-runs={count}", f"-seed={seed}", f"-max_len={TARGETS[name][1]}", "-timeout=20", "-rss_limit_mb=2048"]
    variables = {"FUZZ_DIRECTORY": str(place), "COOPMAT_CACHE_DIR": str(place / "cache")}
    command = [str(program), *words, f"-artifact_prefix={directory}/{name}-", str(corpus)]
    done = subprocess.run(
        command, cwd=place, env={**os.environ, **variables}, stderr=subprocess.PIPE, text=True, errors="replace"
    )
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stderr.splitlines() if re.search(r"ERROR|runtime error|Test unit|SUMMARY", line)]
    return "\n".join(lines) or done.stderr[-2000:]


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/fuzz-layer", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000, help="inputs of all parts together")
    parser.add_argument("--seed", type=int, default=1, help="of libFuzzer")
    parser.add_argument("--target", action="append", choices=sorted(TARGETS), help="only this part")
    parser.add_argument("--source", type=Path, default=ROOT / "coopmat" / "layer" / "source", help="the layer's source")
    parser.add_argument("--keep", type=Path, help="the directory for programs, inputs and what fails")
    arguments = parser.parse_args()
    clang = compiler()
    if clang is None:
        print("not run: there is no clang with libFuzzer (on Debian: clang and libclang-rt-14-dev, or newer)")
        return 0
    directory = arguments.keep or Path(tempfile.mkdtemp(prefix="coopmat-fuzz-layer-"))
    directory.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in arguments.target or TARGETS:
        count, start = max(1, int(arguments.count * TARGETS[name][0])), time.monotonic()
        program = build(clang, name, arguments.source.resolve(), directory.resolve())
        fault = run(program, name, count, arguments.seed, directory.resolve())
        failed += bool(fault)
        print(f"{name}: {count} inputs in {time.monotonic() - start:.0f} s: {fault or 'no fault'}", flush=True)
    if not failed and arguments.keep is None:
        shutil.rmtree(directory)
    elif failed:
        print(f"what failed is in {directory}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
