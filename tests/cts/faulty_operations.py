"""Operations for tests of the runner itself: what is right, and what is wrong in every way that it must survive.

`OPERATIONS` is a registry like `coopmat.cts.operations`; as a program, this file is `coopmat cts` with it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace

import click
import numpy as np

from coopmat.cli import cts
from coopmat.cts.experiment import Experiment, Place, matrix_input, matrix_output
from coopmat.cts.operations.base import Case, Operation, Setting
from coopmat.cts.profile import Profile
from coopmat.cts.writers import Writer
from coopmat.devices import select
from coopmat.matrices.variants import COMPONENT_TYPES, Layout, MatrixType, Use

MATRIX = MatrixType(COMPONENT_TYPES["s32"], 3, 4, Use.A)
PLACE = Place(MATRIX, Layout.ROW_MAJOR, stride=6)
# What a kernel does besides the copy that every one of them makes.
FAULTS: dict[str, str] = {
    "right": "",
    "wrong": "out[17] = 99;",
    "guard": "out[3] = 1;",
    "padding": "out[20] = 1;",
    "input": "((global int *)x)[16] += 1;",
    "refused": "no_such_function();",
    "hang": "while (((volatile global int *)out)[16] != 123456) { }",
    "crash": "*(volatile global int *)(size_t)64 = 1;",
}


def _cases(names: Iterable[str]) -> Callable[[Profile], Iterable[Case]]:
    def cases(profile: Profile) -> Iterable[Case]:
        return [Case(name, 1, name.partition(".")[0]) for name in names]

    return cases


def _experiment(setting: Setting) -> Experiment:
    values = np.arange(1, 13, dtype=np.int32).reshape(3, 4)
    x = replace(matrix_input("x", PLACE, values), name="x")
    return Experiment([x, matrix_output("out", PLACE, values)])


def _write(setting: Setting, w: Writer) -> None:
    x, out = w.experiment.arguments
    w.store(out, w.load(x))
    if setting.parameters == "raises":
        raise ZeroDivisionError("in the operation")
    if FAULTS[setting.parameters]:
        w.lines.append(FAULTS[setting.parameters])


def _operation(name: str, *cases: str, modes: tuple[str, ...] = ("c",)) -> Operation:
    return Operation(name, _cases(cases), _experiment, _write, modes)


OPERATIONS = {
    operation.name: operation
    for operation in (
        _operation("right", *(f"right.{n}" for n in range(3)), modes=("spirv", "c")),
        _operation("wrong", "right.0", "wrong", "right.1", "guard", "padding", "input"),
        _operation("refused", "right.0", "refused", "right.1", "raises", "right.2"),
        _operation("hang", "right.0", "hang", "right.1"),
        _operation("crash", "right.0", "crash", "right.1"),
        _operation("none"),
    )
}


def run(arguments: list[str]) -> int:
    context = cts.command.make_context("cts", list(arguments))
    device = select(context.params["device"])
    settings = replace(cts.settings_for(device, context.params), registry="faulty_operations")
    return cts.conduct(settings, device, context.params)


if __name__ == "__main__":
    try:
        sys.exit(run(sys.argv[1:]))
    except click.ClickException as error:
        sys.exit(error.exit_code)
