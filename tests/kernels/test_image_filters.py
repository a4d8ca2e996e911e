"""Filters on images, through samplers of the source and of the host."""

from __future__ import annotations

from image_filters import image_filters
from kernel_check import Close, check

from coopmat.devices import DeviceInfo


def test_image_filters(device: DeviceInfo) -> None:
    launches, found = image_filters()
    expected = {place: Close(values, bound) if bound else values for place, (values, bound) in found.items()}
    check(device, "convolve.cl", launches, expected)
