"""What a driver makes of an overload: a kernel, its arguments, and how its results are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from differential import NUMPY, Argument, Array, difference

from coopmat.frontend.builtins import Overload
from coopmat.frontend.types import ScalarType, Type, element_count, element_type

# Stands for the kernel's name in a case's source, and begins the names of other things at file scope.
KERNEL = "KERNEL"
# Where the text stands that the kernel printed, among the results.
PRINTED = -1


# Who is unequal: this compiler alone, the device when it runs this compiler's SPIR-V, nobody knows who, both compilers
# in comparison with a reference, the device's own compiler alone. The worst comes first.
OURS, DEVICE, DIFFER, BOTH, OWN = KINDS = ("ours", "device", "differ", "both", "own")
# A kind and what was found, in words.
Fault = tuple[str, str]


class Check(Protocol):
    """Compares one buffer as the kernels left it."""

    def __call__(self, ours: Array, theirs: Array | None) -> Fault | None:
        """What is wrong; None where nothing is. `theirs` is None where the device's own compiler does not take the
        kernel."""


@dataclass(frozen=True)
class Case:
    """One kernel. `checks`: what is compared, by the number of the argument (or PRINTED). `options` are for both
    compilers, and kernels with the same ones share programs."""

    source: str
    arguments: Sequence[Argument]
    checks: Mapping[int, Check]
    global_size: tuple[int, ...] = (1,)
    local_size: tuple[int, ...] | None = None
    offset: tuple[int, ...] | None = None
    options: tuple[str, ...] = ()
    # What `--matrices` is for the case's route after LLVM's O1 pipeline: by `one`, a subgroup is one work-item.
    optimised: str = "one"


@dataclass(frozen=True)
class Driver:
    """A way to test overloads. The first driver that takes an overload is the one that tests it.

    `case` makes the kernel; None: other tests cover the row, and `covered_by` names their file or folder, which must
    mention the builtin.
    """

    name: str
    takes: Callable[[Overload], bool]
    case: Callable[[Overload], Case] | None = None
    covered_by: str | None = None
    # Overloads that the device's compiler is known to die of: they share no program with others.
    alone: Callable[[Overload], bool] = lambda overload: False


@dataclass(frozen=True)
class Same:
    """Both compilers' results have the same bits, and those of `reference` where there is one.

    NaNs are alike unless `payloads`; zeros are unless `signed_zeros` is false. Of every `stride` elements the first
    `count` are compared. `where` picks those elements (of the compared ones) that are defined.
    """

    count: int = 1
    stride: int = 1
    reference: Array | None = None
    payloads: bool = False
    signed_zeros: bool = True
    where: Array | None = None
    truth: bool = False

    def __call__(self, ours: Array, theirs: Array | None) -> Fault | None:
        mine = self._view(ours)
        apart = "" if theirs is None else difference(mine, self._view(theirs))
        if self.reference is None:
            return (DIFFER, f"not what the device's own compiler gives: {apart}") if apart else None
        expected = self._normal(self.reference.reshape(mine.shape))
        text = difference(mine, expected)
        if not text:
            return (OWN, f"right here, but not what the device's own compiler gives: {apart}") if apart else None
        own = theirs is not None and bool(difference(self._view(theirs), expected))
        return (BOTH if own else OURS), f"not the reference: {text}"

    def _view(self, array: Array) -> Array:
        return self._normal(array.reshape(-1, self.stride)[:, : self.count])

    def _normal(self, values: Array) -> Array:
        values = np.ascontiguousarray(values)
        if self.truth:
            values = (values != 0).astype(np.int32)
        if values.dtype.kind == "f" and not self.signed_zeros:
            values = values + values.dtype.type(0)
        if values.dtype.kind == "f" and self.payloads:
            values = values.view(f"u{values.dtype.itemsize}")
        if self.where is not None:
            values = np.where(self.where.reshape(values.shape), values, values.dtype.type(0))
        return values


# --- types as text and as arrays -----------------------------------------------------------------


def scalar(t: Type) -> ScalarType:
    found = element_type(t)
    assert isinstance(found, ScalarType), t
    return found


def dtype(t: Type) -> np.dtype:  # type: ignore[type-arg]
    return np.dtype(NUMPY[scalar(t).name])


def stride(t: Type) -> int:
    """Elements from one value to the next in memory."""
    return 4 if element_count(t) == 3 else element_count(t)


def in_memory(values: Array, t: Type) -> Array:
    """Values of shape (items, components) as they lie in memory: shape (items, stride)."""
    padded = np.zeros((len(values), stride(t)), dtype(t))
    padded[:, : element_count(t)] = values
    return padded


def blank(t: Type, items: int) -> Array:
    """A buffer for results of the type, with something in it that should be overwritten."""
    return np.full((items, stride(t)), 77, dtype(t))


def same(t: Type, **more: object) -> Same:
    """Compares a buffer of values of the type."""
    return Same(element_count(t), stride(t), **more)  # type: ignore[arg-type]
