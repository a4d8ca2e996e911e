"""Matrices and scalars: m + s, m - s, m * s, m / s in either order, assignments, and matrices of a scalar."""

from __future__ import annotations

import numpy as np

from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import Array, narrow
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType, MatrixType

from ..experiment import Argument, Experiment
from ..values import divisors, moderate, specials, whole_range
from ..writers.c import OPERATORS, CWriter
from .base import Operation, Setting, round_robin, type_cases

_C = ("c",)
# is the component type an integer -> scalars (type, value) of other types. The conversion to the component type changes
# some of the values.
_SCALARS = {
    True: (("s32", -3), ("f32", 2.75), ("u8", 200), ("s64", 2**40 + 7), ("u16", 65535)),
    False: (("s32", -3), ("f32", 0.1), ("s8", -128), ("u64", 12345), ("s16", 2049)),
}


def _other_scalar(setting: Setting, component: ComponentType) -> tuple[Argument, Array]:
    """Return a buffer with a scalar of another type, and the scalar converted to the component type."""
    options = [option for option in _SCALARS[component.is_integer] if option[0] != component.name]
    name, value = round_robin(setting.profile, setting.case.name, options)[0]
    source = COMPONENT_TYPES[name]
    scalar = np.array([value], source.numpy)
    return Argument("t", source, scalar), numpy_reference.convert(scalar, source, component)


def _edges(component: ComponentType) -> Array:
    """Return the scalars that devices mishandle most easily."""
    values = specials(component)
    return np.array(values, component.numpy) if component.is_integer else narrow(component, np.array(values))


def _filled(matrix: MatrixType, scalar: Array) -> Array:
    return np.full((matrix.rows, matrix.columns), scalar)


# --- scalar_add, scalar_sub, scalar_mul, scalar_div: m op s, s op m, m op= s


def _operation(operator: str) -> Operation:
    def experiment(setting: Setting) -> Experiment:
        """Make an experiment with the scalar on the right, on the left (of another type), and in an assignment."""
        matrix: MatrixType = setting.parameters
        component, rng = matrix.component, setting.random()
        x = whole_range(rng, component, matrix.rows, matrix.columns)
        scalars = np.array([moderate(rng, component, 1)[0], rng.choice(_edges(component))], component.numpy)
        other, converted = _other_scalar(setting, component)
        if operator == "div":
            x, scalars = divisors(component, x), divisors(component, scalars)
        operands = {
            "right": (x, _filled(matrix, scalars[0])),
            "left": (_filled(matrix, converted[0]), x),
            "assigned": (x, _filled(matrix, scalars[1])),
        }
        outputs = []
        for name, (left, right) in operands.items():
            result = numpy_reference.binary(component, operator, left, right)
            tolerance = numpy_reference.division_tolerance(component, result) if operator == "div" else 0.0
            outputs.append(setting.output(name, matrix, result, tolerance))
        return Experiment([setting.input("x", matrix, x), Argument("s", component, scalars), other, *outputs])

    def write(setting: Setting, w: CWriter) -> None:
        x, _, _, right, left, assigned = w.experiment.arguments
        m, sign = w.load(x), OPERATORS[operator]
        w.store(right, w.variable(setting.parameters, f"{m} {sign} s[0]"))
        w.store(left, w.variable(setting.parameters, f"t[0] {sign} {m}"))
        w.line(f"{m} {sign}= s[1];")
        w.store(assigned, m)

    return Operation(f"scalar_{operator}", type_cases, experiment, write, _C)


# --- init_runtime: all components are a scalar that is known only when the kernel runs


def _init_experiment(setting: Setting) -> Experiment:
    matrix: MatrixType = setting.parameters
    component, rng = matrix.component, setting.random()
    scalars = rng.choice(_edges(component), 2, replace=False)
    other, converted = _other_scalar(setting, component)
    values = {"first": scalars[0], "second": scalars[1], "other": converted[0]}
    results = {name: _filled(matrix, value) for name, value in values.items()}
    return Experiment([Argument("s", component, scalars), other, *setting.outputs(results)])


def _write_init(setting: Setting, w: CWriter) -> None:
    matrix = setting.parameters
    kind, scalar = w.type(matrix), matrix.component.opencl_c
    w.outside.append(f"static {kind} @_fill({scalar} value) {{ return coop_mat_init(value); }}")
    w.store(w.experiment.argument("first"), w.variable(matrix, "coop_mat_init(s[0])"))
    w.store(w.experiment.argument("second"), w.variable(matrix, "@_fill(s[1])"))
    w.store(w.experiment.argument("other"), w.variable(matrix, "coop_mat_init(t[0])"))


OPERATIONS = (
    *(_operation(operator) for operator in OPERATORS),
    Operation("init_runtime", type_cases, _init_experiment, _write_init, _C),
)
