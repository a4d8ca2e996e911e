"""The directory that a failing variant leaves: what was compiled, what went in, what came out, how to repeat it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from coopmat.matrices.reference import Array

from .experiment import Experiment
from .outcome import Outcome


def place_of(keep: str, outcome: Outcome) -> Path:
    """The directory of a variant below `keep`; a name that every file system takes."""
    return Path(keep) / re.sub(r"[^\w.\-]", "_", f"{outcome.test}.{outcome.variant}.{outcome.route}")


def add(place: Path, files: Mapping[str, bytes]) -> None:
    """Raises OSError."""
    for name, data in files.items():
        (place / name).write_bytes(data)


def write(
    place: Path,
    files: Mapping[str, bytes],
    experiment: Experiment,
    outputs: Sequence[Array] | None,
    command: str,
    log: str,
) -> None:
    """Writes `files`, and each argument as .npy: before the launch, as expected, and what `outputs` holds after it.

    bf16 and the like are their bit patterns. Raises OSError.
    """
    place.mkdir(parents=True, exist_ok=True)
    add(place, files)
    lines = []
    for number, argument in enumerate(experiment.arguments):
        arrays = {"before": argument.before, "expected": argument.expected}
        if outputs is not None:
            arrays["after"] = outputs[number]
        kept = {f"{argument.name}.{what}.npy": array for what, array in arrays.items() if array is not None}
        for name, array in kept.items():
            np.save(place / name, array, allow_pickle=False)
        where = ""
        if (at := argument.place) is not None:
            where = f", {at.matrix.name} {at.layout.short} from component {at.offset}, stride {at.stride}"
        lines.append(f"- `{argument.name}`: {argument.component} in {argument.space} memory{where}: {', '.join(kept)}")
    (place / "README.md").write_text(
        f"Repeat: `coopmat cts {command}`\n\nArguments of the kernel, in order, strides and offsets in components;\n"
        f"{experiment.groups} work-groups of {experiment.sub_groups} subgroups ran it:\n\n"
        + "\n".join(lines)
        + "\n\nWhat was wrong:\n\n"
        + "".join(f"    {line}\n" for line in log.splitlines()),
        encoding="utf-8",
    )
