"""Copies that a work-group makes together."""

from __future__ import annotations

import numpy as np
from differential import Launch, Local
from kernel_check import check, scalars

from coopmat.devices import DeviceInfo


def test_copies_of_the_work_group(device: DeviceInfo) -> None:
    random = np.random.default_rng(7)
    rows, columns, groups, tile = 5, 48, 3, 16
    values = random.standard_normal((groups * rows, columns)).astype(np.float32)
    factors = random.standard_normal(groups * rows).astype(np.float32)
    scaled = [values, factors, values * 0, *scalars(np.int32, rows, columns), Local(2 * columns * 4)]
    height, width = 2 * tile, 3 * tile
    image = random.standard_normal((height, width, 4)).astype(np.float32)
    turned = np.ascontiguousarray(image.transpose(1, 0, 2))
    launches = [
        Launch("scale_rows", scaled, (groups * 16,), (16,)),
        Launch("transpose", [image, turned * 0, *scalars(np.int32, width, height)], (width, height), (tile, tile)),
    ]
    check(device, "transpose.cl", launches, {(0, 2): values * factors[:, None], (1, 1): turned})
