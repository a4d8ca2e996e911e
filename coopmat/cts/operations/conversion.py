"""The operation convert: every component type is converted to every other."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import Array, narrow
from coopmat.matrices.variants import COMPONENT_TYPES, NARROW_TYPES, ComponentType, MatrixType

from ..experiment import Experiment
from ..profile import Profile
from ..values import convertible
from ..writers import Writer
from .base import Case, Operation, Setting

# The number of conversions for each matrix type.
_EACH = 4


@dataclass(frozen=True)
class Conversion:
    source: MatrixType
    target: MatrixType


def _cases(profile: Profile) -> Iterable[Case]:
    """Yield conversions between each pair of component types, with one of the source's matrix types.

    If the source has few matrix types, yield some of the pairs, at least one for each matrix type. If the profile is
    exhaustive, yield all pairs for all matrix types.
    """
    sources: dict[ComponentType, list[tuple[MatrixType, int | None]]] = {}
    for matrix, size in profile.matrix_types:
        sources.setdefault(matrix.component, []).append((matrix, size))
    for number, (source, types) in enumerate(sources.items()):
        most = len(COMPONENT_TYPES) if profile.exhaustive else _EACH * len(types)
        for target in _targets(source, number, most):
            pairs = [(matrix, replace(matrix, component=target), size) for matrix, size in types]
            if source.name in NARROW_TYPES:
                # As many to the type as from it.
                pairs = [
                    (to, matrix, size) if n % 2 else (matrix, to, size) for n, (matrix, to, size) in enumerate(pairs)
                ]
            cases = [
                Case(f"{matrix.name}.{to.name}{profile.suffix(size)}", size, Conversion(matrix, to))
                for matrix, to, size in pairs
                if profile.has_type(to, size)
            ]
            first = zlib.crc32(f"{source} {target}".encode()) % max(1, len(cases))
            yield from cases if profile.exhaustive else cases[first : first + 1]


def _targets(source: ComponentType, number: int, most: int) -> Iterable[ComponentType]:
    """Return at most `most` component types other than the source, rotated by `number`, the index of the source."""
    others = [target for target in COMPONENT_TYPES.values() if target != source]
    step = max(1, len(others) // most)
    rotation = others[number % len(others) :] + others[: number % len(others)]
    return rotation[::step][:most]


def has_small_floats_and_integers(case: Case) -> bool:
    """Return whether a case converts between small floats and integers, which SPIR-V cannot do in one instruction."""
    components = {case.parameters.source.component, case.parameters.target.component}
    return any(t.is_bits for t in components) and any(component.is_integer for component in components)


def _experiment(setting: Setting) -> Experiment:
    conversion: Conversion = setting.parameters
    source, target = conversion.source, conversion.target
    values = values_for(setting.random(), source.component, target.component, source.rows, source.columns)
    result = numpy_reference.convert(values, source.component, target.component)
    return Experiment([setting.input("x", source, values), setting.output("out", target, result)])


def values_for(rng: np.random.Generator, source: ComponentType, to: ComponentType, *shape: int) -> Array:
    """Return values whose conversion is defined.

    From floating point to integers, half of the values are near ties. The others have any magnitude that both types can
    represent.
    """
    values = convertible(rng, source, to, *shape)
    if source.is_integer or not to.is_integer:
        return values
    most = min(to.width - to.signed, int(math.log2(source.largest)))
    # The factor keeps values below the greatest integer, even after rounding to the source's type.
    large = np.exp2(rng.uniform(-1, most, shape)) * (1 - 2.0**-6)
    if to.signed:
        large *= rng.choice([-1.0, 1.0], shape)
    return np.where(rng.random(shape) < 0.5, values, narrow(source, large))


def _write(setting: Setting, w: Writer) -> None:
    conversion: Conversion = setting.parameters
    x, out = w.experiment.arguments
    w.store(out, w.convert(conversion.source, conversion.target, w.load(x)))


OPERATIONS = (Operation("convert", _cases, _experiment, _write, not_spirv=has_small_floats_and_integers, narrow=True),)
