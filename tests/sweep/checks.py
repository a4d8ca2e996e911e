"""Checks of floating-point results against exact ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from cases import BOTH, DIFFER, OURS, OWN, Fault
from differential import Array, difference
from references import Exact, ulps

# The references of half and float are float64: their own error, in ulp.
SLACK = 1e-6


@dataclass(frozen=True)
class Within:
    """Each value lies within `bound` ulp of the exact one, in any of `references`: where flushing subnormal numbers
    or rounding twice is allowed, there are several. `absolute` is allowed on top, for each value."""

    references: Sequence[Exact]
    bound: float
    count: int = 1
    stride: int = 1
    absolute: Array | None = None
    signed_zeros: bool = True
    # Where results are undefined, anything goes.
    where: Array | None = None

    def __call__(self, ours: Array, theirs: Array | None) -> Fault | None:
        here = self.errors(ours)
        there = np.zeros(here.shape) if theirs is None else self.errors(theirs)
        wrong, own_wrong = (~(errors <= self.bound + SLACK) for errors in (here, there))
        if not wrong.any():
            if not own_wrong.any() or theirs is None:
                return None
            return OWN, f"right here, by the device's own compiler {self._some(theirs, there, own_wrong)}"
        kind = BOTH if own_wrong.any() else OURS
        return kind, f"{self._some(ours, here, wrong)}; by the device's own compiler {_worst(there)}"

    def _some(self, values: Array, errors: Array, wrong: Array) -> str:
        near = self.references[0][0].reshape(errors.shape)
        got = values.reshape(-1, self.stride)[:, : self.count]
        some = ", ".join(f"[{i}, {j}] {got[i, j]!r} for {near[i, j]!r}" for i, j in np.argwhere(wrong)[:4])
        return f"{_worst(errors)}, {self.bound:g} allowed ({np.count_nonzero(wrong)} of {wrong.size}): {some}"

    def errors(self, array: Array) -> Array:
        """In ulp, of every value; infinite where no distance means anything."""
        values = array.reshape(-1, self.stride)[:, : self.count]
        found = np.full(values.shape, np.inf)
        for reference in self.references:
            error = ulps(values, reference, self.signed_zeros)
            if self.absolute is not None:
                near = reference[0].reshape(values.shape)
                with np.errstate(all="ignore"):
                    close = np.abs(values.astype(float) - near) <= self.absolute.reshape(values.shape)
                error = np.where(close, 0.0, error)
            found = np.minimum(found, error)
        if self.where is not None:
            found = np.where(self.where.reshape(values.shape), found, 0.0)
        return found


def _worst(errors: Array) -> str:
    worst = float(np.max(errors))
    return "a wrong special value" if np.isinf(worst) else f"up to {worst:.3g} ulp"


@dataclass(frozen=True)
class Alike:
    """Both compilers' results lie within `ulp` of each other: where the specification bounds nothing."""

    ulp: float
    count: int = 1
    stride: int = 1

    def __call__(self, ours: Array, theirs: Array | None) -> Fault | None:
        if theirs is None:
            return None
        mine, other = (a.reshape(-1, self.stride)[:, : self.count] for a in (ours, theirs))
        text = difference(np.ascontiguousarray(mine), np.ascontiguousarray(other), self.ulp)
        return (DIFFER, text) if text else None
