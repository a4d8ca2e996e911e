"""Test everything about a route to matrix instructions that only a device with them can show.

Usage: tools/device-proof ROUTE [--device D] [--size 4096] [--wimpy]        such as: tools/device-proof mma
       tools/device-proof vulkan [--device vulkan:NAME] [--size 4096] [--wimpy]

 1. The conformance runner, on that route.
 2. The kernels of kernels/ that have matrices, run and compared with numpy; one of them without a named route, which
    must be this one.
 3. Products of SIZE x SIZE by kernels/gemm_blocks.cl in several tiles, compared with numpy, and the same by PyTorch,
    which calls the vendor's library (cuBLAS, rocBLAS, oneMKL), if PyTorch is installed and has such a device.

The exit status is 1 if one of the first two fails, or if no tile of the third is right. Speed is only reported.

`vulkan` does the same on a Vulkan device, by its own matrices and by --matrices lanes, after printing the device's
facts. A kernel is not wrong if it is refused for a type or a construct that the device lacks. The kernels also run
with the validation layers, which must report nothing, if VK_LAYER_KHRONOS_validation is installed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from coopmat.matrices.routes import ROUTES
from coopmat.matrices.vendor_instructions import FAMILIES

KERNELS = Path(__file__).parents[1] / "kernels"
# component type of A and B -> the type of C, both types in run headers, the values of A and B, and the check of C. Sums
# of bytes are exact in float, in which numpy is fast.
TYPES = {
    "half": ("float", "f16", "f32", "uniform(-1,1)", "c ~ a.astype(f32) @ b.astype(f32)   atol=1e-2"),
    "char": ("int", "i8", "i32", "integers(-8,8)", "c == (a.astype(f32) @ b.astype(f32)).astype(i32)"),
}
Tile = tuple[int, int, int]
TILES: tuple[Tile, ...] = ((32, 32, 32), (64, 32, 32), (64, 64, 32), (64, 64, 64))
# The tile that most Vulkan devices have without flexible dimensions.
TILE: Tile = (16, 16, 16)
_SPEED = re.compile(r"([\d.,]+) (?:GFLOP|GOP)/s")
# A program that prints PyTorch's speed in 10^9 operations per second, the fastest of several products.
_LIBRARY = """
import sys, time, torch
size, name = int(sys.argv[1]), sys.argv[2]
kind = "cuda" if torch.cuda.is_available() else "xpu"
a, b = (torch.ones(size, size, device=kind, dtype={"half": torch.float16, "char": torch.int8}[name]) for _ in "ab")
multiply, wait = {"half": torch.matmul, "char": torch._int_mm}[name], getattr(torch, kind).synchronize
seconds = []
for turn in range(20):
    wait(); start = time.perf_counter(); multiply(a, b); wait()
    seconds.append(time.perf_counter() - start)
print(2 * size**3 / min(seconds) * 1e-9)
"""


def coopmat(*words: str, **variables: str) -> tuple[bool, str]:
    """Run a coopmat command, print its output, and return whether the command succeeded, and the output.

    `variables` are added to the environment.
    """
    command, environment = [sys.executable, "-m", "coopmat", *words], {**os.environ, **variables}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    text = done.stdout + done.stderr
    print(f"--- coopmat {' '.join(words)}\n{text if done.returncode else _end(text)}", flush=True)
    return done.returncode == 0, text


def _end(text: str) -> str:
    return "\n".join(text.rstrip().splitlines()[-3:])


def speeds(route: Sequence[str], size: int, name: str, place: Path, tiles: Sequence[Tile]) -> Iterator[float]:
    """Yield the speed of each tile whose product is right, in 10^9 operations per second."""
    out, a, c, fill, check = TYPES[name]
    body = (KERNELS / "gemm_blocks.cl").read_text(encoding="utf-8")
    for m, n, k in tiles:
        tile = f"-DIN={name} -DOUT={out} -DTILE_M={m} -DTILE_N={n} -DTILE_K={k}"
        sizes = " ".join(f"-D{word}={size}" for word in ("M", "N", "K", "LDA", "LDB", "LDC"))
        head = (
            f"// run: kernel=gemm_blocks global=(S/{m}*sg, S/{n}) local=(sg, 1) S={size} {tile} {sizes}\n"
            f"//      flop=2*S*S*S a={a}[S,S]:{fill} b={a}[S,S]:{fill} c={c}[S,S]:zeros\n"
            f"// check: {check}\n\n"
        )
        file = place / f"gemm_{name}_{m}x{n}x{k}.cl"
        file.write_text(head + body[body.index("#pragma") :], encoding="utf-8")
        right, text = coopmat("run", str(file), *route, "--repeat", "20")
        if right and (found := _SPEED.findall(text)):
            yield float(found[-1].replace(",", ""))


def beside_the_library(
    route: Sequence[str], size: int, name: str, place: Path, tiles: Sequence[Tile] | None = None
) -> bool:
    """Print our fastest speed and PyTorch's, and return whether any tile was right."""
    found = max(speeds(route, size, name, place, tiles or TILES), default=0.0)
    words = [sys.executable, "-c", _LIBRARY, str(size), name]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    theirs = float(done.stdout) if done.returncode == 0 else 0.0
    told = f"the vendor's library {theirs:.0f}: {found / theirs:.0%} of it" if theirs else _end(done.stderr)
    print(f"=== {name} {size}^3: {found:.0f} G op/s; {told}", flush=True)
    return found > 0


# Codes of the diagnostics that refuse a kernel for what a Vulkan device lacks.
_REFUSED = re.compile(r"\[(vulkan|vulkan-device|coop-mat-target-\w+)\]")
_LAYER = "VK_LAYER_KHRONOS_validation"


def on_vulkan(device: str, size: int, wimpy: bool) -> list[bool]:
    """Return whether each part of the proof on a Vulkan device is right."""
    is_listed, text = coopmat("devices", "--json")
    right = [is_listed and '"index": "vulkan:' in text]
    if not right[0]:
        return right
    for route in ("native", "lanes"):
        words = ["--device", device, "--matrices", route, "--timeout", "300"]
        right.append(coopmat("cts", "--route", route, "--device", device, *["--wimpy"] * wimpy)[0])
        right += [_runs(path, words) for path in sorted(KERNELS.glob("*.cl"))]
        with tempfile.TemporaryDirectory() as place:
            right += [beside_the_library(words, size, name, Path(place), (TILE, *TILES)) for name in TYPES]
    for path in sorted(KERNELS.glob("*.cl")):
        words = ["run", str(path), "--device", device, "--timeout", "300"]
        found = coopmat(*words, VK_INSTANCE_LAYERS=_LAYER)[1]
        if "VK_ERROR_LAYER_NOT_PRESENT" in found:
            print(f"=== {_LAYER} is not installed, so it was not used", flush=True)
            break
        right.append("VUID-" not in found)
    return right


def _runs(path: Path, words: Sequence[str]) -> bool:
    """Return whether a kernel file is right on a Vulkan device, or refused for what the device lacks."""
    is_right, text = coopmat("run", str(path), *words)
    return is_right or _REFUSED.search(text) is not None


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("route", choices=(*ROUTES, "vulkan"), metavar="ROUTE", help=f"{', '.join(FAMILIES)}, vulkan")
    parser.add_argument("--device", help="part of its name")
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--wimpy", action="store_true", help="of the conformance runner's variants only a few")
    given = parser.parse_args(arguments)
    if given.route == "vulkan":
        right = on_vulkan(given.device or "vulkan", given.size, given.wimpy)
        print(f"{sum(right)} of {len(right)} right")
        return int(not all(right))
    device = ["--device", given.device] if given.device else []
    run = ["--matrices", given.route, *device]
    jobs = ["-j", str(os.cpu_count() or 1)]
    right = [coopmat("cts", "--route", given.route, *jobs, *device, *["--wimpy"] * given.wimpy)[0]]
    kernels = [path for path in sorted(KERNELS.glob("*.cl")) if "coop_mat(" in path.read_text(encoding="utf-8")]
    right += [coopmat("run", str(path), *run)[0] for path in kernels]
    is_right, text = coopmat("run", str(KERNELS / "gemm_f16.cl"), *device)
    right.append(is_right and f": {given.route}," in text)
    with tempfile.TemporaryDirectory() as place:
        right += [beside_the_library(run, given.size, name, Path(place)) for name in TYPES]
    print(f"{sum(right)} of {len(right)} right")
    return int(not all(right))


if __name__ == "__main__":
    sys.exit(main())
