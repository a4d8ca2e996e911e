"""Component by component: add, sub, mul, div, negate."""

from __future__ import annotations

from coopmat.matrices import meaning
from coopmat.matrices.variants import MatrixType

from ..experiment import Experiment, matrix_input, matrix_output
from ..values import divisors, whole_range
from ..writers import Writer
from .base import Operation, Setting, is_bfloat16, type_cases


def _binary(operator: str) -> Operation:
    def experiment(setting: Setting) -> Experiment:
        matrix: MatrixType = setting.parameters
        rng, component = setting.random(), matrix.component
        x, y = (whole_range(rng, component, matrix.rows, matrix.columns) for _ in range(2))
        if operator == "div":
            y = divisors(component, y)
        result = meaning.binary(component, operator, x, y)
        tolerance = meaning.division_tolerance(component, result) if operator == "div" else 0.0
        return Experiment(
            [
                matrix_input("x", setting.place("x", matrix), x),
                matrix_input("y", setting.place("y", matrix), y),
                matrix_output("out", setting.place("out", matrix), result, tolerance),
            ]
        )

    def write(setting: Setting, w: Writer) -> None:
        x, y, out = w.experiment.arguments
        w.store(out, w.binary(operator, setting.parameters, w.load(x), w.load(y)))

    return Operation(operator, type_cases, experiment, write, not_spirv=is_bfloat16)


def _negate_experiment(setting: Setting) -> Experiment:
    matrix: MatrixType = setting.parameters
    x = whole_range(setting.random(), matrix.component, matrix.rows, matrix.columns)
    return Experiment(
        [
            matrix_input("x", setting.place("x", matrix), x),
            matrix_output("out", setting.place("out", matrix), meaning.negate(matrix.component, x)),
        ]
    )


def _write_negate(setting: Setting, w: Writer) -> None:
    x, out = w.experiment.arguments
    w.store(out, w.negate(setting.parameters, w.load(x)))


OPERATIONS = (
    *(_binary(operator) for operator in ("add", "sub", "mul", "div")),
    Operation("negate", type_cases, _negate_experiment, _write_negate, not_spirv=is_bfloat16),
)
