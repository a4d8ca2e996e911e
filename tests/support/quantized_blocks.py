"""Random blocks of quantized weights, and decoders in numpy that follow the formats' descriptions alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
RANDOM = np.random.default_rng(7)
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
# Name of a format -> the weights and the bytes of a block.
BLOCKS = {"q4_0": (32, 18), "q8_0": (32, 34), "q4_k": (256, 144), "q6_k": (256, 210), "mxfp4": (32, 17)}
# Name of a format -> where a block has halves.
HALVES = {"q4_0": (0,), "q8_0": (0,), "q4_k": (0, 2), "q6_k": (208,), "mxfp4": ()}


def random_blocks(name: str, n: int, k: int) -> Array:
    """Return random blocks, whose scales are small finite numbers."""
    weights, size = BLOCKS[name]
    blocks = RANDOM.integers(0, 256, (n, k // weights, size), np.uint8)
    for place in HALVES[name]:
        scales = RANDOM.uniform(-1, 1, blocks.shape[:2]).astype(np.float16)
        blocks[..., place : place + 2] = scales[..., None].view(np.uint8)
    if name == "mxfp4":
        blocks[..., 0] = RANDOM.integers(120, 131, blocks.shape[:2])
    return blocks


def half(block: Array, place: int) -> float:
    return float(block[place : place + 2].view(np.float16)[0])


def nibbles(data: Array) -> Array:
    """Return the low nibbles, then the high ones."""
    return np.concatenate([data % 16, data // 16]).astype(float)


def decode_q4_k(block: Array) -> Array:
    """Decode eight groups of 32 weights. The 6-bit scales and minima of the last four are in two pieces."""
    packed, data = [int(byte) for byte in block[4:16]], block[16:].reshape(4, 32)
    scales = [byte % 64 for byte in packed[:4]]
    least = [byte % 64 for byte in packed[4:8]]
    for i in range(4):
        scales.append(packed[8 + i] % 16 + packed[i] // 64 * 16)
        least.append(packed[8 + i] // 16 + packed[4 + i] // 64 * 16)
    groups = np.concatenate([nibbles(line).reshape(2, 32) for line in data])
    weights = half(block, 0) * np.array(scales)[:, None] * groups - half(block, 2) * np.array(least)[:, None]
    return weights.ravel()


def decode_q6_k(block: Array) -> Array:
    """Decode weights one by one: weight i is weight `place` of group `group` of a half of the block."""
    weights = np.empty(256)
    scales = block[192:208].view(np.int8)
    for i in range(256):
        part, group, place = i // 128, i % 128 // 32, i % 32
        low = int(block[part * 64 + group % 2 * 32 + place]) >> (group // 2 * 4) & 15
        high = int(block[128 + part * 32 + place]) >> (group * 2) & 3
        weights[i] = half(block, 208) * float(scales[i // 16]) * (low + 16 * high - 32)
    return weights


# Name of a format -> the function that decodes a block.
DECODERS = {
    "q4_0": lambda block: half(block, 0) * (nibbles(block[2:]) - 8),
    "q8_0": lambda block: half(block, 0) * block[2:].view(np.int8),
    "q4_k": decode_q4_k,
    "q6_k": decode_q6_k,
    "mxfp4": lambda block: 2.0 ** (int(block[0]) - 127) * E2M1[nibbles(block[1:]).astype(int)],
}


def decode(name: str, blocks: Array) -> Array:
    return np.array([np.concatenate([DECODERS[name](block) for block in row]) for row in blocks])
