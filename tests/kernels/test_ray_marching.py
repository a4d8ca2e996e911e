"""A picture of signed distance fields, drawn here once more in doubles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from differential import Array, Launch
from kernel_check import Close, check, scalars

from coopmat.devices import DeviceInfo


class Scene:
    """The scene of raymarch.cl, in doubles; rays are rows of three."""

    eye, light, focal, fog = np.array([0, 1.2, -4]), np.array([3.0, 6, -3]), 1.5, 0.03
    albedo = np.array([(0.8, 0.8, 0.75), (0.9, 0.15, 0.1), (0.1, 0.2, 0.9), (0.3, 0.7, 0.3)])

    def __init__(self, time: float) -> None:
        self.balls = ((np.array([-1.2, 0.8, 0.3]), 0.8), (np.array([1.3, 0.6 + 0.3 * np.sin(time), 0]), 0.6))

    def distance(self, p: Array) -> tuple[Array, Array]:
        """To the nearest surface, and whose that is."""
        solids = [p[..., 1], *(norm(p - centre) - radius for centre, radius in self.balls)]
        d, which = np.min(solids, 0), np.argmin(solids, 0)
        q = np.abs(p - np.array([0, 0.6, 1.5])) - 0.5
        box = norm(np.maximum(q, 0)) + np.minimum(q.max(-1), 0) - 0.1
        h = np.clip(0.5 + 0.5 * (box - d) / 0.2, 0, 1)
        return box + (d - box) * h - 0.2 * h * (1 - h), np.where(box < d, 3, which)

    def march(self, direction: Array) -> tuple[Array, Array, Array]:
        """How far the eye's rays go, whether they hit, and how sure that is: the least gap to deciding otherwise."""
        t, found, sure = np.zeros(direction.shape[:-1]), np.zeros(direction.shape[:-1], bool), np.inf
        going = ~found
        for _ in range(96):
            d, _ = self.distance(self.eye + t[..., None] * direction)
            sure = np.minimum(sure, np.where(going, np.abs(d - 0.001), np.inf))
            found |= going & (d < 0.001)
            going &= ~found
            t = np.where(going, t + d, t)
            going &= t <= 40
        return t, found, sure

    def lit(self, origin: Array, direction: Array) -> Array:
        lit, t, going = np.ones(origin.shape[:-1]), np.full(origin.shape[:-1], 0.05), True
        for _ in range(24):
            d, _ = self.distance(origin + direction * t[..., None])
            lit = np.where(going, np.minimum(lit, 8 * d / t), lit)
            t = t + np.clip(d, 0.05, 0.5)
            going = going & (lit > 0)
        return smoothstep(lit)

    def colours(self, direction: Array, t: Array, found: Array, shadows: bool) -> Array:
        rise = np.clip(direction[..., 1:2] * 2, 0, 1)
        sky = np.array([0.9, 0.9, 1]) * (1 - rise) + np.array([0.3, 0.5, 0.9]) * rise
        p = self.eye + t[..., None] * direction
        _, which = self.distance(p)
        steps = [np.eye(3)[i] * 0.005 for i in range(3)]
        normal = unit(np.stack([self.distance(p + h)[0] - self.distance(p - h)[0] for h in steps], -1))
        tile = np.floor(p[..., 0]) + np.floor(p[..., 2])
        checks = np.where((which == 0) & (tile % 2 == 0), 0.6, 1.0)
        light = unit(self.light - p)
        diffuse = np.maximum((normal * light).sum(-1), 0)
        shine = np.maximum((normal * unit(light - direction)).sum(-1), 0) ** 32 * (which != 0)
        lit = np.where(diffuse > 0, self.lit(p + 0.01 * normal, light), 1) if shadows else np.ones_like(t)
        colour = self.albedo[which] * (checks * (0.15 + 0.85 * diffuse * lit))[..., None] + (shine * lit)[..., None]
        haze = 1 - np.exp(-self.fog * t)[..., None]
        return np.clip(np.where(found[..., None], colour * (1 - haze) + sky * haze, sky), 0, 1)


def norm(v: Array) -> Array:
    return np.sqrt((v**2).sum(-1))


def unit(v: Array) -> Array:
    return v / norm(v)[..., None]


def smoothstep(x: Array) -> Array:
    x = np.clip(x, 0, 1)
    return x * x * (3 - 2 * x)


@pytest.mark.parametrize("shadows", [0, 1])
def test_ray_marching(device: DeviceInfo, shadows: int) -> None:
    width, height, time = 48, 32, 0.7
    scene = Scene(time)
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    u, v = (2 * (x + 0.5) - width) / height, (2 * (y + 0.5) - height) / height
    direction = unit(np.stack([u, -v, np.full_like(u, scene.focal)], -1))
    t, found, sure = scene.march(direction)
    colours = scene.colours(direction, t, found, bool(shadows))
    # Rounding decides where a ray passes a surface by about its limit, and on the floor where tiles meet.
    p = scene.eye + t[..., None] * direction
    edge = np.abs(p[..., [0, 2]] - np.rint(p[..., [0, 2]])).min(-1)
    clear = (sure > 1e-5) & (~found | (edge > 1e-4))
    assert clear.mean() > 0.95 and found.mean() > 0.4
    # Positions are good to an ulp of 40 (4e-6); differences of distances over 0.01 make normals a thousand times worse.
    far = np.where(clear, 2e-4, np.inf)
    expected: Any = {
        (0, 0): Close(colours, np.where(clear, 0.03, 1.0)[..., None]),
        (0, 1): Close(np.where(found, t, -1.0), far),
    }
    picture, depth = np.zeros((height, width, 3), np.float32), np.zeros((height, width), np.float32)
    numbers = [*scalars(np.int32, width, height), *scalars(np.float32, time), *scalars(np.int32, shadows)]
    launch = Launch("render", [picture, depth, *numbers], (width, height))
    check(device, "raymarch.cl", [launch], expected)
