"""What the checks compare a kernel with: tiles, limits and gains, each with the measurement that it comes from.

Unless a line names another source, the measurements are of 1024 x 1024 x 1024 products on two cores of a Zen 5 with
Intel's CPU runtime 2026.2: medians of kernels that took turns in one process, as ratios to the best tile.
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
# those of docs/performance.md that divide 1024. `least`: f32 reaches 0.25 with 4 x 4 and 1 x 16, 0.44 with 4 x 8, 0.8
# with 8 x 8 and 4 x 16, 1.0 with 16 x 16. s8 on x86 reaches 0.17 with 1 x 16, 0.5 with 4 x 16, 0.5 to 0.7 with 16 x 16,
# and 0.85 with 32 x 32; coopmat.linalg uses 12 x 32 (of panels).
_FEW = "2 to 4 times as fast"
TILES = {
    ("one", "f32"): Tiles((8, 32, 8), 64, _FEW),
    ("one", "f16"): Tiles((4, 64, 4), 64, _FEW),
    ("one", "f64"): Tiles((8, 16, 4), 64, _FEW),
    ("x86", "bf16"): Tiles((8, 32, 16), 64, _FEW),
    **{("x86", name): Tiles((64, 64, 64), 384, "1.5 to 2 times as fast") for name in BYTES},
}

# Larger sums than the second-level cache: 1024 x 1024 (4 MB) reaches 0.7, 512 x 512 (1 MB) and less reach 1.0.
MOST_SUM_BYTES = 1 << 20
GAIN_OF_SUMS_IN_CACHE = "about 1.4 times as fast"

# A multiply-add reads and writes sums that are not in registers once. A tile that is deep enough hides this: f32
# reaches 0.5 to 0.7 with 32 x 64 x 4 and 64 x 64 x 8, and 0.9 with 64 x 64 x 64. Depth counts instructions along K.
LEAST_DEPTH = 16
GAIN_OF_SUMS_IN_REGISTERS = "1.4 to 2 times as fast"
# Registers of 32 bits that a lane of a GPU can have (CUDA C++ Programming Guide, technical specifications).
LANE_REGISTERS = 255
GAIN_WITHOUT_SPILLS = "usually 2 times as fast or more (an estimate)"

# Memory at distances of 4096 bytes shares a set of the first-level cache, which has 12 ways here. f32 reaches 0.44 with
# 16 rows at this distance (2.3 times slower), and 0.9 with 8 rows. Distances of 1024, 2048 and 3072 bytes cost nothing.
CACHE_DISTANCE = 4096
CACHE_WAYS = 12
PADDING_BYTES = 64
GAIN_OF_PADDING = "up to 2.3 times as fast"

# Checked loads: f32 reaches 0.48 with 16 x 16 x 16, and 0.83 with 8 x 32 x 8.
GAIN_WITHOUT_CHECKS = "up to 2 times as fast"

# CPUs: docs/performance.md. GPUs: docs/linalg.md, half by tensor cores and float without, neither with blocks.
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


# By columns, f32 reaches 0.6 with 16 x 16 x 16 (A, B) and 8 x 32 x 8 (B), and 1.0 with 8 x 32 x 8 (A) and 64 x 64 x 64.
# bf16 on x86 reaches 0.7 (A) and 1.0 (B), s8 0.4 to 0.7 (A, any tile) and 1.0 (B). On mma: docs/linalg.md.
LAYOUTS = (
    Layout("one", Use.A, ("f32",), False, 16, "about 1.5 times as fast"),
    Layout("one", Use.B, ("f32",), False, 16, "about 1.5 times as fast"),
    Layout("x86", Use.A, ("bf16",), False, 16, "about 1.4 times as fast"),
    Layout("x86", Use.A, BYTES, False, 1 << 20, "about 1.4 times as fast"),
    Layout("mma", Use.B, (*BYTES, "e4m3", "e5m2"), True, 1 << 20, "about 1.4 times as fast"),
)
