"""What the checks compare a kernel with: tiles, limits and gains, each with the measurement that it comes from.

Unless a line names another source, the measurements are of 1024 x 1024 x 1024 products on two cores of a Zen 5 with
Intel's CPU runtime 2026.2, 27 November 2026: medians of kernels that took turns in one process, as ratios to the best
tile, with padded rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..matrices.variants import Use

BYTES = ("s8", "u8")


@dataclass(frozen=True, slots=True)
class Tiles:
    """Good tiles for a route and a component type of A.

    best: m, n and k of the recommended tile.
    least: the number of components of C below which a tile is too small.
    gain: what the recommended tile gains over a tile that is too small.
    """

    best: tuple[int, int, int]
    least: int
    gain: str


# (route, component type of A) -> tiles; x86 is for the types that its instructions multiply. The recommended tiles are
# those of docs/performance.md that divide 1024. f32 reaches 0.25 with 4 x 4 and 1 x 16, 0.5 with 4 x 8 and 2 x 16, 0.75
# with 8 x 8, 0.9 with 4 x 16, and 1.0 with 16 x 16. f16 reaches 0.5 with 16 x 16 x 16, 0.65 with 8 x 16, and 0.8 to 0.9
# with 32 columns: 16 x 16 is not reported, as many kernels use it for GPUs. s8 on x86 reaches 0.5 with 4 x 16, 0.65
# with 16 x 16, 0.8 with 16 x 32, 0.9 with 32 x 32; coopmat.linalg uses 12 x 32. bf16 on x86 reaches 0.75 with 16 x 16.
_FEW = "2 to 4 times as fast"
TILES = {
    ("one", "f32"): Tiles((8, 32, 8), 64, _FEW),
    ("one", "f16"): Tiles((4, 64, 4), 64, _FEW),
    ("one", "f64"): Tiles((8, 16, 4), 64, _FEW),
    ("x86", "bf16"): Tiles((8, 32, 16), 64, _FEW),
    **{("x86", name): Tiles((64, 64, 64), 384, "1.4 to 2 times as fast") for name in BYTES},
}

# Larger sums than the second-level cache: 1024 x 1024 (4 MB) reaches 0.7, 512 x 512 (1 MB) and less reach 1.0.
MOST_SUM_BYTES = 1 << 20
GAIN_OF_SUMS_IN_CACHE = "about 1.4 times as fast"

# A multiply-add reads and writes sums that are not in registers once. A tile that is deep enough hides this. Depth
# counts instructions along K. With 64 x 64, depth 1 reaches 0.4 (f32, s8), 2 reaches 0.6, 4 reaches 0.8, 8 0.85.
LEAST_DEPTH = 8
GAIN_OF_SUMS_IN_REGISTERS = "1.2 to 2.5 times as fast"
# Registers of 32 bits that a lane of a GPU can have (CUDA C++ Programming Guide, technical specifications).
LANE_REGISTERS = 255
GAIN_WITHOUT_SPILLS = "usually 2 times as fast or more (an estimate)"

# Memory at distances of 4096 bytes shares a set of the first-level cache, which has 12 ways here. A padded stride
# brings 2.0 to 2.3 with 16 x 16 (f32), 1.05 to 1.25 with larger tiles, 1.5 with 16 x 16 of bf16, 1.1 to 1.3 with bytes,
# and 1.1 or less with at most 8 rows. Distances of 1024, 2048 and 3072 bytes cost nothing.
CACHE_DISTANCE = 4096
CACHE_WAYS = 12
PADDING_BYTES = 64
GAIN_OF_PADDING = "1.1 to 2.3 times as fast"

# Checked loads: f32 reaches 0.43 with 16 x 16 x 16, 0.75 with 8 x 32 x 8, and 1.0 with 32 x 32 x 32. f64 reaches 0.6 to
# 0.8 with 8 x 16 x 4. f16, bf16 and s8 reach 0.95 to 1.0.
CHECKED_BITS = 32
CHECKED_COMPONENTS = 256
GAIN_WITHOUT_CHECKS = "up to 2.3 times as fast"
GAIN_WITHOUT_CHECKS_ON_GPUS = "faster (how much is not measured for this device)"

# CPUs: docs/performance.md, and s8 in tiles of 8 x 8 x 8, which reaches 0.1. GPUs: docs/linalg.md, half by tensor cores
# and float without, neither with blocks.
GAIN_OF_INSTRUCTION = "2 to 10 times as fast"
GAIN_OF_TYPE = "10 times as fast or more"


@dataclass(frozen=True, slots=True)
class Layout:
    """A layout that is slow to load.

    route, use, components: the matrices that this row is about.
    by_rows: whether the slow layout is row-major; otherwise it is column-major.
    most_reuse: the largest number of multiply-adds for each component with which the load still matters.
    """

    route: str
    use: Use
    components: tuple[str, ...]
    by_rows: bool
    most_reuse: int
    gain: str


# By columns: f32 reaches 0.5 (A) and 0.6 (B) with 16 x 16 x 16, 0.6 (B) with 8 x 32 x 8, and 1.0 with 64 x 64 x 64. B
# of f16 reaches 0.25 with 4 x 64 x 4, and 0.5 with 8 x 32 x 8. On x86, A of bf16 reaches 0.75 with 16 x 16 x 16, and A
# of s8 reaches 0.45 with 16 x 16 x 16 and 0.6 with 64 x 64 x 64; B reaches 1.0. On mma: docs/linalg.md.
LAYOUTS = (
    Layout("one", Use.A, ("f32",), False, 16, "1.5 to 2 times as fast"),
    Layout("one", Use.B, ("f32",), False, 16, "about 1.5 times as fast"),
    Layout("one", Use.B, ("f16",), False, 8, "2 to 4 times as fast"),
    Layout("x86", Use.A, ("bf16",), False, 16, "about 1.3 times as fast"),
    Layout("x86", Use.A, BYTES, False, 1 << 20, "1.6 to 2 times as fast"),
    Layout("mma", Use.B, (*BYTES, "e4m3", "e5m2"), True, 1 << 20, "about 1.4 times as fast"),
)
