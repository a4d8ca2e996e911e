"""The directory of files of a failing variant.

The files are the compiled program, the inputs and outputs, and the command that repeats the variant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from coopmat.matrices.numpy_reference import Array

from .experiment import Experiment
from .outcome import Outcome


def place_of(keep: str, outcome: Outcome) -> Path:
    """Return the directory of a variant's files below `keep`, with a name that every file system accepts."""
    return Path(keep) / re.sub(r"[^\w.\-]", "_", f"{outcome.test}.{outcome.variant}.{outcome.route}")


def add(place: Path, files: Mapping[str, bytes]) -> None:
    """Write the `files` (name -> contents) to the existing directory `place`. Raises OSError."""
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
    """Create the directory `place` with `files`, the arguments' arrays and a README.md that describes the failure.

    Each argument is saved as .npy files: its contents before the launch, the required contents, and the contents after
    the launch if `outputs` is not None. Types that numpy lacks, such as bf16, are saved as bit patterns.
    `command`: the arguments of `coopmat cts` that repeat the variant.
    `log`: the description of the errors.
    Raises OSError.
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
