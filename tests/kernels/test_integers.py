"""Kernels whose results are integers or copies: equal to the last bit."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from differential import Array, Launch, Shared
from kernel_check import F32, Close, check, scalars

from coopmat.devices import DeviceInfo

WG = 64


@pytest.mark.parametrize("options", [(), ("-DNO_PRAGMA",)])
def test_reductions_out_of_one_template(device: DeviceInfo, options: tuple[str, ...]) -> None:
    random = np.random.default_rng(1)
    n, groups = 1000, 3
    floats = random.integers(-1000, 1000, n).astype(np.float32)  # their sums are exact
    integers = random.integers(-(2**31), 2**31, n).astype(np.int32)
    longs = random.integers(0, 2**64, n, np.uint64)

    def by_group(values: Array, fold: np.ufunc) -> Array:
        group = np.arange(n) % (WG * groups) // WG
        return np.array([fold.reduce(values[group == g], dtype=values.dtype) for g in range(groups)])

    with np.errstate(over="ignore"):
        folds = {
            "reduce_SUM_float": by_group(floats, np.add),
            "reduce_MAX_float": by_group(floats, np.maximum),
            "reduce_SUM_int": by_group(integers, np.add),
            "reduce_MIN_uint": by_group(integers.view(np.uint32), np.minimum),
            "reduce_XOR_ulong": by_group(longs, np.bitwise_xor),
        }
    sevens = folds["reduce_XOR_ulong"]
    folds["reduce_XOR_ulong"] = sevens << np.uint64(7) | sevens >> np.uint64(57)
    data = {"float": floats, "int": integers, "uint": integers.view(np.uint32), "ulong": longs}
    launches = []
    for name, wanted in folds.items():
        arguments = [data[name.rpartition("_")[2]], np.zeros_like(wanted), *scalars(np.uint32, n)]
        launches.append(Launch(name, arguments, (WG * groups,), (WG,)))
    expected = {(i, 1): wanted for i, wanted in enumerate(folds.values())}
    launches.append(
        Launch("dot_float_wide4", [floats, floats[::-1], np.zeros(1, np.float64), *scalars(np.uint32, n // 4)], (1,))
    )
    expected[len(folds), 2] = np.array([floats.astype(np.float64) @ floats[::-1]])
    some = np.array([0, 1, -7, 99, 101, -40000, 2147483647, -2147483648], np.int32)
    with np.errstate(over="ignore"):
        columns = [(some / 2).astype(np.int32), some * some, -some, np.clip(some, -100, 100)]
    launches.append(Launch("map_operations", [some, np.zeros((8, 4), np.int32)], (8,)))
    expected[len(folds) + 1, 1] = np.stack(columns, 1)
    check(device, "multi/reduce.cl", launches, expected, options)


@pytest.mark.parametrize("options", [(), ("-DLOCAL_SIZE_LIMIT=32U",)])
def test_bitonic_sort(device: DeviceInfo, options: tuple[str, ...]) -> None:
    n, block = 1024, 32 if options else 128
    keys = np.random.default_rng(2).permutation(np.arange(n, dtype=np.uint32) * 4093)
    shared = [Shared(keys), Shared(np.arange(n, dtype=np.uint32))]
    launches, size = [Launch("bitonicSortLocal", shared, (n // 2,), (block // 2,))], 2 * block
    while size <= n:
        stride = size // 2
        while stride:
            launches.append(Launch("bitonicMergeGlobal", [*shared, *scalars(np.uint32, size, stride)], (n // 2,)))
            stride //= 2
        size *= 2
    # Merges go up in the first half of every pair of blocks: the last one sorts all.
    order = np.argsort(keys).astype(np.uint32)
    last = len(launches) - 1
    check(device, "bitonic.cl", launches, {(last, 0): keys[order], (last, 1): order}, options)


def test_sha256(device: DeviceInfo) -> None:
    random = np.random.default_rng(3)
    lengths = [0, 3, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000, *range(1, 21)]
    texts = [b"", b"abc", *(random.bytes(length) for length in lengths[2:])]
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    where = np.stack([starts, lengths], 1).astype(np.uint32)
    digests = np.frombuffer(b"".join(hashlib.sha256(text).digest() for text in texts), np.uint8)
    message = np.frombuffer(b"".join(texts), np.uint8)
    launch = Launch("sha256", [message, where, np.zeros_like(digests)], (len(texts),))
    check(device, "sha256.cl", [launch], {(0, 2): digests})


@pytest.mark.parametrize("options", [(), ("-DWIDE",)])
def test_philox(device: DeviceInfo, options: tuple[str, ...]) -> None:
    n, seed, mask = 200, 0x123456789ABCDEF0, 2**64 - 1
    state = (seed + 0x9E3779B97F4A7C15) & mask
    z = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
    z ^= z >> 31
    k0, k1 = np.uint64(z & 0xFFFFFFFF), np.uint64(z >> 32)
    c = [np.arange(n, dtype=np.uint64), *np.zeros((3, n), np.uint64)]
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(p1 >> shift) ^ c[1] ^ k0, p1 & low, (p0 >> shift) ^ c[3] ^ k1, p0 & low]
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & low, (k1 + np.uint64(0xBB67AE85)) & low
    bits = np.stack(c, 1).astype(np.uint32)
    uniform = ((bits >> 8).astype(np.float32) + np.float32(0.5)) * np.float32(2.0**-24)
    u = uniform.astype(np.float64)
    radius, angle = np.sqrt(-2 * np.log(u[:, ::2])), 2 * np.pi * u[:, 1::2]
    normal = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 2).reshape(n, 4)
    wide = bits.view(np.uint64).astype(object)
    products = np.stack([wide[:, i] * factor >> 64 for i, factor in enumerate((state, mask - state))], 1)
    arguments = [*scalars(np.uint64, seed), bits * 0, uniform * 0, uniform * 0, np.zeros((n, 2), np.uint64)]
    # log to 3 ulps, sqrt to 3, angles up to 2 pi with some roundings, sin and cos to 4
    bound = F32 * (12 * np.repeat(radius, 2, 1) + 1)
    expected = {(0, 1): bits, (0, 2): uniform, (0, 3): Close(normal, bound), (0, 4): products.astype(np.uint64)}
    check(device, "philox.cl", [Launch("generate", arguments, (n,))], expected, options)


@pytest.mark.parametrize("t", ["uint", "ulong"])
def test_scan_and_compaction(device: DeviceInfo, t: str) -> None:
    dtype, n, block = {"uint": np.uint32, "ulong": np.uint64}[t], 1000, 128
    flags = np.random.default_rng(4).integers(0, 2, n).astype(dtype)
    flags[[0, -1]] = 1
    positions = (np.cumsum(flags) - flags).astype(dtype)
    kept = np.zeros(n, dtype)
    kept[: flags.sum()] = np.flatnonzero(flags)
    blocks = -(-n // block)
    offsets, sums, where, out = (Shared(np.zeros(size, dtype)) for size in (blocks, blocks, n, n))
    none = Shared(np.zeros(1, dtype))
    of = scalars(np.uint32, n)
    launches = [
        Launch("scan_blocks", [flags, where, sums, *of], (blocks * 64,), (64,)),
        Launch("scan_blocks", [sums, offsets, none, *scalars(np.uint32, blocks)], (64,), (64,)),
        Launch("add_sums", [where, offsets, *of], (1024,)),
        Launch("scatter", [flags, where, out, *of], (1024,)),
    ]
    check(
        device, "scan.cl", launches, {(2, 0): positions, (3, 2): kept, (1, 2): flags.sum(keepdims=True)}, [f"-DT={t}"]
    )
