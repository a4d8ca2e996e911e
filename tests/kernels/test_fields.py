"""Kernels of physics and signals, in floats."""

from __future__ import annotations

import numpy as np
import pytest
from differential import Array, Launch, Local, Shared, Value
from kernel_check import F32, Close, check, scalars

from coopmat.devices import DeviceInfo


@pytest.mark.parametrize("n", [64, 128, 1024])
@pytest.mark.parametrize("direction", [-1, 1])
def test_fft(device: DeviceInfo, n: int, direction: int) -> None:
    parts = np.random.default_rng(1).standard_normal((3, n, 2)).astype(np.float32)
    values = parts.astype(np.float64).view(np.complex128)[..., 0]
    wanted = np.fft.ifft(values) if direction > 0 else np.fft.fft(values)
    # Each pass adds a few roundings to sums whose norm is that of the result.
    bound = 8 * F32 * np.log2(n) * np.linalg.norm(wanted, axis=-1, keepdims=True)
    launch = Launch("fft", [parts, np.zeros_like(parts)], (3 * n // 4,), (n // 4,))
    expected = Close(wanted[..., None].view(np.float64), bound[..., None])
    check(device, "fft.cl", [launch], {(0, 1): expected}, [f"-DN={n}", f"-DDIRECTION={direction}"])


@pytest.mark.parametrize("options", [(), ("-DFAST",)])
def test_nbody(device: DeviceInfo, options: tuple[str, ...]) -> None:
    random, n, dt, eps2 = np.random.default_rng(2), 150, np.float32(0.01), np.float32(0.01)
    bodies = random.standard_normal((n, 4)).astype(np.float32)
    bodies[:, 3] = random.uniform(0.1, 1, n)
    velocities = random.standard_normal((n, 4)).astype(np.float32)
    p, mass = bodies[:, :3].astype(np.float64), bodies[:, 3].astype(np.float64)
    r = p - p[:, None]
    inverse = 1 / np.sqrt((r**2).sum(-1) + eps2)
    pulls = r * (mass * inverse**3)[..., None]
    velocity = velocities.astype(np.float64)
    velocity[:, :3] += pulls.sum(1) * dt
    position = bodies.astype(np.float64)
    position[:, :3] += velocity[:, :3] * dt
    weights = mass * inverse
    potential = -0.5 * mass * (weights.sum(1) - np.diag(weights))
    # n sums; each term: differences with half an ulp, three factors rsqrt of 2 ulps; native_rsqrt is as exact as the
    # device likes: 1.5 * 2^-12 by the instruction of processors without AVX-512.
    relative = (n + 24) * F32 + (3 * 1.5 * 2.0**-12 if options else 0)
    moved = relative * dt * np.abs(pulls).sum(1) + 4 * F32 * (np.abs(velocity[:, :3]) + np.abs(position[:, :3]))
    moved = np.pad(moved, ((0, 0), (0, 1)))
    energy = relative * mass * weights.sum(1)
    numbers = [*scalars(np.int32, n), *scalars(np.float32, dt, eps2)]
    arguments = [bodies, np.zeros_like(bodies), velocities, np.zeros(n, np.float32), *numbers, Local(64 * 16)]
    expected = {(0, 1): Close(position, moved), (0, 2): Close(velocity, moved * 2), (0, 3): Close(potential, energy)}
    check(device, "nbody.cl", [Launch("nbody_step", arguments, (192,), (64,))], expected, options)


@pytest.mark.parametrize("radius", [1, 2])
def test_heat(device: DeviceInfo, radius: int) -> None:
    nx, ny, nz, r = 32, 12, 9, radius
    u = np.random.default_rng(3).standard_normal((nz, ny, nx)).astype(np.float32)
    weights = {1: (-2, 1), 2: (-5 / 2, 4 / 3, -1 / 12)}[r]
    exact, size = u.astype(np.float64), np.abs(u.astype(np.float64))

    def laplacian(field: Array, factors: tuple[float, ...]) -> Array:
        inner = tuple(slice(r, extent - r) for extent in field.shape)
        total = 3 * factors[0] * field[inner]
        for axis, distance in ((a, d) for a in range(3) for d in range(1, r + 1)):
            for step in (-distance, distance):
                total = total + factors[distance] * np.roll(field, step, axis)[inner]
        return total

    wanted, bound, inner = np.zeros_like(exact), np.zeros_like(exact), np.s_[r:-r, r:-r, r:-r]
    c = np.float32(0.1)
    wanted[inner] = exact[inner] + c * laplacian(exact, weights)
    bound[inner] = 12 * F32 * (size[inner] + c * laplacian(size, tuple(abs(w) for w in weights)))
    numbers = [*scalars(np.uint32, nx, ny, nz), *scalars(np.float32, c)]
    launch = Launch("heat", [u, np.zeros_like(u), *numbers], (nx, ny), (16, 4))
    check(device, "heat.cl", [launch], {(0, 1): Close(wanted, bound)}, [f"-DR={r}"])


C = np.array([(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)])
W = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
OPPOSITE = [0, 3, 4, 1, 2, 7, 8, 5, 6]


def equilibrium(rho: Array, u: Array) -> Array:
    cu = 3 * u @ C.T
    return W * rho[..., None] * (1 + cu + 0.5 * cu**2 - 1.5 * (u**2).sum(-1, keepdims=True))


def test_lattice_boltzmann(device: DeviceInfo) -> None:
    width, height, steps, omega, speed = 20, 12, 10, np.float32(1.2), np.float32(0.08)
    kind = np.zeros((height, width), np.uint8)
    kind[0], kind[-1], kind[4:7, 8:10] = 1, 2, 1
    f = equilibrium(np.ones((height, width)), np.broadcast_to([0.05, 0.0], (height, width, 2)))
    for _ in range(steps):
        came = np.empty_like(f)
        for i, (x, y) in enumerate(C):
            source = np.roll(kind, (y, x), (0, 1))
            moved = np.roll(f[..., i], (y, x), (0, 1))
            bounced = f[..., OPPOSITE[i]] + np.where(source & 2, 6 * W[i] * x * speed, 0)
            came[..., i] = np.where(source, bounced, moved)
        rho = came.sum(-1)
        relaxed = came + omega * (equilibrium(rho, came @ C / rho[..., None]) - came)
        f = np.where(kind[..., None], f, relaxed)
    size, zeros = np.array([width, height], np.int32), np.zeros((height * width, 9), np.float32)
    a, b = Shared(zeros), Shared(zeros)
    launches = [Launch("initialise", [a, Value(size), Value(np.array([0.05, 0], np.float32))], (width, height))]
    for _ in range(steps):
        numbers = [Value(size), *scalars(np.float32, omega, speed)]
        launches.append(Launch("step_lattice", [a, b, kind, *numbers], (width, height)))
        a, b = b, a
    # About thirty roundings of sums near one a step; collisions do not amplify.
    check(device, "lattice.cl", launches, {(steps, 1): Close(f.reshape(-1, 9), 30 * steps * F32)})
