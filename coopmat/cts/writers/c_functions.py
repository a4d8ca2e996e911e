"""Functions of scalars as OpenCL C."""

from __future__ import annotations

from coopmat.matrices.variants import ComponentType

from ..functions import Function, Pointer, Scalars
from .literals import literal

_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "and": "&", "xor": "^", "shift": ">>"}


def definition(name: str, function: Function) -> list[str]:
    """Return the lines that define the function under the name `name`."""
    scalars = CScalars()
    names = [f"x{number}" for number in range(len(function.parameters))]
    result = function.body(scalars, *names)
    parameters = ", ".join(f"{_parameter(p)}{n}" for p, n in zip(function.parameters, names, strict=True))
    lines = [*scalars.lines, f"return {result};"]
    return [f"static {function.result.opencl_c} {name}({parameters})", "{", *(f"    {line}" for line in lines), "}"]


def of_neighbours(name: str, one: str, function: Function, operands: int, width: int, down: bool) -> list[str]:
    """Return the lines that define `name`, which calls the function `one` for each of `width` neighbours.

    `one` has the parameters of `function`. The first `operands` of them after the row and the column are components,
    which become vectors.
    """
    row, column, *rest = (f"x{number}" for number in range(len(function.parameters)))
    v = f"{function.result.opencl_c}{width}"
    types = [f"{v} " if 2 <= n < 2 + operands else _parameter(p) for n, p in enumerate(function.parameters)]
    calls = []
    for n in range(width):
        place = (f"{row} + {n}", column) if down else (row, f"{column} + {n}")
        parts = [f"{x}.s{n:x}" if m < operands else x for m, x in enumerate(rest)]
        calls.append(f"{one}({', '.join([*place, *parts])})")
    parameters = ", ".join(f"{t}{x}" for t, x in zip(types, (row, column, *rest), strict=True))
    return [f"static {v} {name}({parameters})", "{", f"    return ({v})({', '.join(calls)});", "}"]


def _parameter(parameter: ComponentType | Pointer) -> str:
    if isinstance(parameter, Pointer):
        return f"{parameter.space} const {parameter.component.opencl_c} *"
    return f"{parameter.opencl_c} "


class CScalars(Scalars[str]):
    """The operations as statements, collected in `lines`.

    Each result is assigned to a variable, so that no expression can be contracted or promoted.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []

    def _set(self, kind: str, expression: str) -> str:
        name = f"v{len(self.lines)}"
        self.lines.append(f"{kind} {name} = {expression};")
        return name

    def number(self, component: ComponentType, value: int | float) -> str:
        return self._set(component.opencl_c, literal(component, value))

    def binary(self, operator: str, component: ComponentType, x: str, y: str) -> str:
        t = component.opencl_c
        # Compute in unsigned types, since signed integers must not overflow. Integers of less than 32 bits would be
        # promoted to int, which is signed.
        wide = "ulong" if component.bits == 64 else "uint"
        x, y = (f"({wide}){v}" if component.is_integer else self._wide(component, v) for v in (x, y))
        return self._set(t, f"({t})({x} {_OPERATORS[operator]} {y})")

    def builtin(self, name: str, component: ComponentType, *operands: str) -> str:
        t = component.opencl_c
        return self._set(t, f"({t}){name}({', '.join(self._wide(component, x) for x in operands)})")

    def is_less(self, component: ComponentType, x: str, y: str) -> str:
        return self._set("bool", f"{self._wide(component, x)} < {self._wide(component, y)}")

    def select(self, component: ComponentType, truth: str, x: str, y: str) -> str:
        return self._set(component.opencl_c, f"{truth} ? {x} : {y}")

    def convert(self, source: ComponentType, to: ComponentType, x: str) -> str:
        return self._set(to.opencl_c, f"({to.opencl_c}){'(float)' * to.is_bits}{x}")

    def item(self, pointer: Pointer, array: str, index: str) -> str:
        return self._set(pointer.component.opencl_c, f"{array}[{index}]")

    @staticmethod
    def _wide(component: ComponentType, x: str) -> str:
        """Return x converted to float if it is a small float, else x."""
        return f"(float){x}" if component.is_bits else x
