"""The directory of files of a failing variant: the compiled program, the inputs and outputs, and the command that
repeats it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from coopmat.matrices.reference import Array

from .experiment import Experiment
from .outcome import Outcome


def place_of(keep: str, outcome: Outcome) -> Path:
    """Return the directory of a variant below `keep`; every file system accepts its name."""
    return Path(keep) / re.sub(r"[^\w.\-]", "_", f"{outcome.test}.{outcome.variant}.{outcome.route}")


def add(place: Path, files: Mapping[str, bytes]) -> None:
    """Write files to a directory. Raises OSError."""
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
    """Write `files`, and each argument as .npy: its contents before the launch, as expected, and after it (`outputs`).

    Types that numpy lacks, such as bf16, are written as bit patterns. Raises OSError.
    """
    place.mkdir(parents=True, exist_ok=True)
    add(place, files)
    lines = []
    for number, argument in enumerate(experiment.arguments):
        arrays = {"before": argument.before, "expected": argument.expected}
        if outputs is not None:
            arrays["after"] = outputs[number]
        data = {f"{argument.name}.{what}.npy": array for what, array in arrays.items() if array is not None}
        for name, array in data.items():
            np.save(place / name, array, allow_pickle=False)
        where = ""
        if (at := argument.place) is not None:
            where = f", {at.matrix.name} {at.layout.short} from component {at.offset}, stride {at.stride}"
        lines.append(f"- `{argument.name}`: {argument.component} in {argument.space} memory{where}: {', '.join(data)}")
    (place / "README.md").write_text(
        f"Repeat: `coopmat cts {command}`\n\nArguments of the kernel, in order, strides and offsets in components;\n"
        f"{experiment.groups} work-groups of {experiment.sub_groups} subgroups ran it:\n\n"
        + "\n".join(lines)
        + "\n\nWhat was wrong:\n\n"
        + "".join(f"    {line}\n" for line in log.splitlines()),
        encoding="utf-8",
    )
