"""Matrices and vectors: dense, quantised, sparse, and the attention of inference engines."""

from __future__ import annotations

import numpy as np
import pytest
from differential import Array, Launch, Local
from kernel_check import F32, Close, check, scalars

from coopmat.devices import DeviceInfo

GEMMS = {
    "float": {},
    "strided": {
        "STRIDED_M": 1,
        "STRIDED_N": 1,
        "USE_MAD": 2,
        "PAD_A": 1,
        "PAD_B": 1,
        "UNROLL_K": 16,
        "FENCE_GLOBAL": 1,
    },
    "no staging": {"CACHE_A": 0, "CACHE_B": 0, "VEC_M": 1, "VEC_N": 1, "USE_MAD": 1, "FIX_WORKGROUP": 0},
    "one side staged": {"CACHE_B": 0, "LOAD_A": 4, "WG_M": 4, "WG_N": 16, "VEC_M": 8, "VEC_N": 2, "SWIZZLE_GROUPS": 1},
    "wide": {
        "TILE_M": 64,
        "TILE_N": 64,
        "TILE_K": 32,
        "LOAD_A": 16,
        "LOAD_B": 4,
        "VEC_N": 8,
        "UNROLL_K": 4,
        "BETA_ZERO": 1,
    },
    "half": {"PRECISION": 16, "TILE_M": 16, "VEC_M": 2, "VEC_N": 4, "USE_MAD": 2},
    "double": {"PRECISION": 64, "UPLO": 1, "USE_MAD": 2},
    "complex": {"PRECISION": 3232, "VEC_M": 1, "VEC_N": 1, "UPLO": 2},
    "conjugated": {
        **{"PRECISION": 3232, "VEC_M": 1, "VEC_N": 1, "CONJUGATE_A": 1, "CONJUGATE_B": 1, "ALPHA_ONE": 1},
        **{"UNROLL_STAGE": 0, "RESTRICT": "", "HELPER": "static", "KERNEL_NAME": "gemm_conjugated"},
    },
}


@pytest.mark.parametrize("name", GEMMS)
def test_gemm(device: DeviceInfo, name: str) -> None:
    macros = {
        "TILE_M": 32,
        "TILE_N": 32,
        "WG_M": 8,
        "WG_N": 8,
        "PRECISION": 32,
        "UPLO": 0,
        "BETA_ZERO": 0,
        "ALPHA_ONE": 0,
        "CONJUGATE_A": 0,
        "CONJUGATE_B": 0,
        "KERNEL_NAME": "gemm",
        **GEMMS[name],
    }
    dtype = {16: np.float16, 32: np.float32, 64: np.float64, 3232: np.complex64}[macros["PRECISION"]]
    m, n, k = 64, 128, 96
    random = np.random.default_rng(5)

    def draw(rows: int, columns: int) -> Array:
        parts = random.uniform(-1, 1, (2, rows, columns))
        return (parts[0] + 1j * parts[1] if dtype is np.complex64 else parts[0]).astype(dtype)

    a, b, c = draw(k, m), draw(k, n), draw(n, m)
    alpha, beta = (1.5 - 0.5j, 0.25j) if dtype is np.complex64 else (1.5, 0.0 if macros["BETA_ZERO"] else -0.75)
    exact = np.complex128 if dtype is np.complex64 else np.float64
    if macros["ALPHA_ONE"]:
        alpha = 1.0 + 0j
    left, right = (x.conj() if macros[f"CONJUGATE_{which}"] else x for x, which in ((a, "A"), (b, "B")))
    wanted = alpha * (right.astype(exact).T @ left) + beta * c.astype(exact)
    size = abs(alpha) * (np.abs(b).astype(np.float64).T @ np.abs(a)) + abs(beta) * np.abs(c).astype(np.float64)
    row_tile, column_tile = (np.arange(size) // macros[tile] for size, tile in ((m, "TILE_M"), (n, "TILE_N")))
    first_row, first_column = row_tile * macros["TILE_M"], (column_tile * macros["TILE_N"])[:, None]
    if macros["UPLO"] == 1:
        wanted = np.where(first_row < first_column + macros["TILE_N"], wanted, c)
    if macros["UPLO"] == 2:
        wanted = np.where(first_row + macros["TILE_M"] > first_column, wanted, c)
    # k products and sums, one rounding each, and a few around them
    bound = (k + 4) * float(np.finfo(dtype).eps) * size * (2 if dtype is np.complex64 else 1)
    if dtype is np.complex64:
        real = (n, m, 2)
        wanted, bound = wanted.astype(np.complex128).view(np.float64).reshape(real), np.repeat(bound[..., None], 2, 2)
        a, b, c = (x.view(np.float32) for x in (a, b, c))
        alpha, beta = ((x.real, x.imag) for x in (alpha, beta))
    factors = scalars(np.float64 if dtype is np.float64 else np.float32, alpha, beta)
    sizes = scalars(np.int32, m, n, k)
    arguments = [*sizes, *factors, a, *scalars(np.int32, m), b, *scalars(np.int32, n), c, *scalars(np.int32, m)]
    groups = m // macros["TILE_M"] * macros["WG_M"], n // macros["TILE_N"] * macros["WG_N"]
    launch = Launch(macros["KERNEL_NAME"], arguments, groups, (macros["WG_M"], macros["WG_N"]))
    options = [f"-D{key}={value}" for key, value in GEMMS[name].items()]
    reordered = ("gemm_conjugated",)
    check(device, "gemm.cl", [launch], {(0, 9): Close(wanted, bound)}, options, reordered=reordered)


Q4 = np.dtype([("d", np.float16), ("qs", np.uint8, 16)])
Q8 = np.dtype([("d", np.float16), ("qs", np.int8, 32)])
Q4S = np.dtype([("d", np.float16), ("dmin", np.float16), ("scales", np.uint8, 4), ("qs", np.uint8, 64)])


def test_quantised(device: DeviceInfo) -> None:
    random = np.random.default_rng(6)
    rows, blocks = 6, 24

    def draw(dtype: np.dtype, *shape: int) -> Array:
        made = np.frombuffer(random.bytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape).copy()
        for name in ("d", "dmin"):
            if name in (dtype.names or ()):
                made[name] = random.uniform(0.01, 0.1, shape)
        return made

    def nibbles(qs: Array) -> Array:
        return np.concatenate([qs & 15, qs >> 4], -1).astype(np.int64)

    x, y, xs = draw(Q4, rows, blocks), draw(Q8, blocks), draw(Q4S, rows, blocks // 4)
    scale = x["d"].astype(np.float32)[..., None]
    floats = scale * (nibbles(x["qs"]) - 8).astype(np.float32)
    terms = (scale[..., 0] * y["d"].astype(np.float64)) * ((nibbles(x["qs"]) - 8) * y["qs"]).sum(-1)
    subs = xs["qs"].reshape(rows, -1, 16)
    factor = (xs["d"].astype(np.float64)[..., None] * (xs["scales"] & 15)).reshape(rows, -1)
    least = (xs["dmin"].astype(np.float64)[..., None] * (xs["scales"] >> 4)).reshape(rows, -1)
    wide = y["qs"].astype(np.int64)
    parts = y["d"] * factor * (nibbles(subs) * wide).sum(-1), y["d"] * least * wide.sum(-1)

    vector = random.standard_normal((20, 32)).astype(np.float32)
    vector[3], vector[4] = 0, 1e-3
    packed = np.zeros(20, Q8)
    d = np.abs(vector).max(-1) / np.float32(127)
    with np.errstate(divide="ignore"):
        inverse = np.where(d > 0, np.float32(1) / d, np.float32(0))
    packed["d"], packed["qs"] = d, np.rint(vector * inverse[:, None])

    launches = [
        Launch("dequantise_q4", [x, np.zeros(rows * blocks * 32, np.float32)], (rows * blocks,)),
        Launch("quantise_q8", [vector, np.zeros(20, Q8)], (20,)),
        Launch(
            "mul_vec_q4_q8",
            [x, y, np.zeros(rows, np.float32), *scalars(np.int32, blocks), Local(64)],
            (rows * 16,),
            (16,),
        ),
        Launch(
            "mul_vec_q4s_q8", [xs, y, np.zeros(rows, np.float32), *scalars(np.int32, blocks // 4)], (rows * 16,), (16,)
        ),
    ]
    # blocks terms, each with a few roundings, summed
    bound = (blocks + 8) * F32
    expected = {
        (0, 1): floats.reshape(rows * blocks * 32),
        (1, 1): packed,
        (2, 2): Close(terms.sum(-1), bound * np.abs(terms).sum(-1)),
        (3, 2): Close((parts[0] - parts[1]).sum(-1), bound * (np.abs(parts[0]) + np.abs(parts[1])).sum(-1)),
    }
    check(device, "quantised.cl", launches, expected, by_subgroup=["mul_vec_q4s_q8"])


@pytest.mark.parametrize(
    "options", [(), ("-DUSE_DOUBLE", "-DSHUFFLE", "-DINDEX=uint"), ("-DSHUFFLE", "-D", "INDEX=long")]
)
def test_sparse_matrix_times_vector(device: DeviceInfo, options: tuple[str, ...]) -> None:
    random = np.random.default_rng(7)
    n, columns = 60, 90
    counts = random.integers(0, 12, n)
    counts[[4, 30]] = 0, 77
    dtype = np.float64 if "-DUSE_DOUBLE" in options else np.float32
    index = {"-DINDEX=uint": np.uint32, "INDEX=long": np.int64}.get(options[-1] if options else "", np.int32)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(index)
    where = random.integers(0, columns, starts[-1]).astype(index)
    values, x = random.standard_normal(starts[-1]).astype(dtype), random.standard_normal(columns).astype(dtype)
    dense = np.zeros((n, columns))
    size = np.zeros((n, columns))
    of_row = np.repeat(np.arange(n), counts)
    np.add.at(dense, (of_row, where), values)
    np.add.at(size, (of_row, where), np.abs(values))
    wanted = Close(dense @ x, ((counts + 4) * float(np.finfo(dtype).eps)) * (size @ np.abs(x)))

    common = [starts, where, values, x, np.full(n, -1, dtype)]
    groups = np.arange(0, n + 1, 10).astype(np.int32)
    longest = int(np.diff(starts[groups].astype(np.int64)).max())
    launches = [
        Launch("spmv_scalar", [*scalars(np.int32, n), *common], (64,)),
        Launch("spmv_subgroup", [*scalars(np.int32, n), *common], (16 * 64,), (64,)),
        Launch("spmv_stream", [groups, *common, Local(longest * values.itemsize)], (6 * 32,), (32,)),
    ]
    check(device, "sparse.cl", launches, {(i, 5): wanted for i in range(3)}, options, ["spmv_subgroup"])


@pytest.mark.parametrize("options", [(), ("-DHALF_KV", "-DHEAD=32", "-DKEYS=16")])
def test_attention(device: DeviceInfo, options: tuple[str, ...]) -> None:
    random = np.random.default_rng(8)
    head, tile = (32, 16) if options else (64, 32)
    queries, keys, heads = 5, 75, 2
    q = random.standard_normal((queries, heads, head)).astype(np.float32)
    k, v = random.standard_normal((2, keys, heads, head)).astype(np.float16 if options else np.float32)
    scale = np.float32(head**-0.5)
    launches, expected = [], {}
    for causal in (0, 1):
        scores = np.einsum("qhd,khd->hqk", q.astype(np.float64) * scale, k)
        size = np.einsum("qhd,khd->hqk", np.abs(q).astype(np.float64) * scale, np.abs(k)).max()
        if causal:
            hidden = np.arange(keys) > np.arange(queries)[:, None] + keys - queries
            scores = np.where(hidden, -np.inf, scores)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        # A score of head terms goes into exp; then sums of up to 75 keys with a rescaling per tile.
        bound = F32 * ((head + 4) * size * 2 + keys + 4 * (keys // tile) + 16)
        bounds = bound * np.einsum("hqk,khd->qhd", weights, np.abs(v))
        numbers = [*scalars(np.int32, queries, keys, heads), *scalars(np.float32, scale), *scalars(np.int32, causal)]
        arguments = [q, k, v, np.zeros_like(q), *numbers]
        launches.append(Launch("attention", arguments, (queries * tile, heads), (tile, 1)))
        expected[causal, 3] = Close(np.einsum("hqk,khd->qhd", weights, v.astype(np.float64)), bounds)
    x = (random.standard_normal((4, 101)) * 9).astype(np.float32)
    y = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    y /= y.sum(-1, keepdims=True)
    launches.append(Launch("softmax", [x, np.zeros_like(x), *scalars(np.int32, 101)], (4 * 16,), (16,)))
    # differences up to 60 with half an ulp each, before exp
    expected[2, 1] = Close(y, F32 * (64 + 101) * y + 1e-38)
    check(device, "attention.cl", launches, expected, options, ["softmax"])
