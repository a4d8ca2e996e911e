"""Operations component by component: add, sub, mul, div, negate."""

from __future__ import annotations

from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import Array

from ..experiment import Experiment
from ..values import divisors
from ..writers import Writer
from .base import Operation, Setting, is_of_small_floats, of_matrices, type_cases


def _binary(operator: str) -> Operation:
    def experiment(setting: Setting) -> Experiment:
        matrix, values = setting.parameters, setting.drawn("xy")
        tolerance: Array | float = 0.0
        if operator == "div":
            values["y"] = divisors(matrix.component, values["y"])
        result = numpy_reference.binary(matrix.component, operator, *values.values())
        if operator == "div":
            tolerance = numpy_reference.division_tolerance(matrix.component, result)
        return Experiment([*setting.inputs(values), setting.output("out", matrix, result, tolerance)])

    def write(setting: Setting, w: Writer) -> None:
        x, y, out = w.experiment.arguments
        w.store(out, w.binary(operator, setting.parameters, w.load(x), w.load(y)))

    return Operation(operator, type_cases, experiment, write, not_spirv=is_of_small_floats)


_negate_experiment = of_matrices(lambda component, x: {"out": numpy_reference.negate(component, x)}, "x")


def _write_negate(setting: Setting, w: Writer) -> None:
    x, out = w.experiment.arguments
    w.store(out, w.negate(setting.parameters, w.load(x)))


OPERATIONS = (
    *(_binary(operator) for operator in ("add", "sub", "mul", "div")),
    Operation("negate", type_cases, _negate_experiment, _write_negate, not_spirv=is_of_small_floats),
)
