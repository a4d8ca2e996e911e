"""Changes of a matrix's use: convert_use, which keeps rows and columns, and transpose."""

from __future__ import annotations

from collections.abc import Iterable

from coopmat.matrices import numpy_reference
from coopmat.matrices.variants import COMPONENT_TYPES, MatrixType, Use

from ..experiment import Experiment
from ..profile import Profile
from ..values import whole_range
from ..writers import Writer
from .base import Case, Operation, Setting, round_robin
from .conversion import Conversion, has_small_floats_and_integers, values_for


def _pairs(profile: Profile, transposed: bool) -> Iterable[Case]:
    """Yield each matrix type with two targets of other uses: one of the same component type, and one of another.

    If the profile is exhaustive, yield all targets.
    """
    word = "transpose" if transposed else "use"
    for source, size in profile.matrix_types:
        rows, columns = (source.columns, source.rows) if transposed else (source.rows, source.columns)
        uses = [use for use in Use if transposed or use != source.use]
        for same in (True, False):
            targets = [
                MatrixType(component, rows, columns, use)
                for component in dict.fromkeys((source.component, *COMPONENT_TYPES.values()))
                for use in uses
                if (component == source.component) == same
            ]
            targets = [target for target in targets if profile.has_type(target, size)]
            chosen = round_robin(profile, f"{word} {source} {same}", targets)
            # If several work-items hold each component of the result, test that every copy is written.
            copied = [target for target in targets if same and (profile.copies(target, size) or 1) > 1]
            for target in dict.fromkeys([*chosen, *copied]):
                yield Case(f"{source.name}.{target.name}{profile.suffix(size)}", size, Conversion(source, target))


def _experiment(setting: Setting, transposed: bool) -> Experiment:
    source, target = setting.parameters.source, setting.parameters.target
    rng, old, new = setting.random(), source.component, target.component
    if old == new:
        values = whole_range(rng, old, source.rows, source.columns)
    else:
        values = values_for(rng, old, new, source.rows, source.columns)
    result = numpy_reference.convert(values, old, new)
    out = setting.output("out", target, result.T if transposed else result)
    return Experiment([setting.input("x", source, values), out])


def _write_use(setting: Setting, w: Writer) -> None:
    x, out = w.experiment.arguments
    w.store(out, w.convert(setting.parameters.source, setting.parameters.target, w.load(x)))


def _write_transpose(setting: Setting, w: Writer) -> None:
    x, out = w.experiment.arguments
    w.store(out, w.transpose(setting.parameters.source, setting.parameters.target, w.load(x)))


OPERATIONS = (
    Operation(
        "convert_use",
        lambda profile: _pairs(profile, False),
        lambda setting: _experiment(setting, False),
        _write_use,
        not_spirv=has_small_floats_and_integers,
        narrow=True,
    ),
    Operation(
        "transpose",
        lambda profile: _pairs(profile, True),
        lambda setting: _experiment(setting, True),
        _write_transpose,
        not_spirv=has_small_floats_and_integers,
        narrow=True,
    ),
)
