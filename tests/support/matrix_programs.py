"""Programs with matrices, compiled by this compiler and run on a device, and the expected results in numpy."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from optimizer import device_options

import coopmat
from coopmat.devices import DeviceInfo, opencl
from coopmat.matrices.numpy_reference import Array
from coopmat.matrices.variants import ComponentType, MatrixType, Use

PRELUDE = r"""
#define COOP(T, R, C, U) \
    T __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, R, C, CLK_COOPERATIVE_MATRIX_##U)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
"""


@dataclass(frozen=True)
class Target:
    """A route and its subgroup size.

    route: may have a native profile after a colon.
    more: further options of the compiler.
    through: "spv" or "ir" if a native module is compiled first, and lowered from this language.
    """

    route: str
    sub_group_size: int
    more: tuple[str, ...] = ()
    through: str = ""

    @property
    def is_native(self) -> bool:
        return self.route.partition(":")[0] == "native"

    @property
    def options(self) -> list[str]:
        if self.is_native:
            route, _, profile = self.route.partition(":")
            return ["--matrices", route, *(["--native-profile", profile] if profile else []), *self.more]
        is_chosen = self.sub_group_size > 1 or self.route in ("lanes", "scratch")
        size = ["--sub-group-size", str(self.sub_group_size)] if is_chosen else []
        return ["--matrices", self.route, *size, *self.more]

    def __str__(self) -> str:
        return f"{self.route}{self.sub_group_size}{self.through and f':{self.through}'}"


TARGETS = (Target("one", 1), Target("lanes", 8), Target("lanes", 16), Target("lanes", 32), Target("scratch", 16))


@dataclass(frozen=True)
class Case:
    """A kernel with the buffers p0, p1, ..., and then scalar arguments.

    outside: text before the kernel; @ is replaced by the kernel's name.
    check: a function that gets the buffers after the launch, and raises AssertionError if they are wrong.
    sub_groups: the number of subgroups in the only work-group.
    """

    name: str
    outside: str
    parameters: Sequence[str]
    body: str
    buffers: Sequence[Array]
    check: Callable[[Sequence[Array], Target], None] = field(repr=False)
    scalars: Sequence[Any] = ()
    sub_groups: int = 1

    def text(self, kernel: str) -> str:
        head = f"kernel void {kernel}({', '.join(self.parameters)})"
        return f"{self.outside}\n{head}\n{{\n{self.body}\n}}\n".replace("@", kernel)


def program_text(cases: Sequence[Case]) -> str:
    return PRELUDE + "\n".join(case.text(f"t{number}") for number, case in enumerate(cases))


def run(device: DeviceInfo, target: Target, cases: Sequence[Case]) -> None:
    """Compile the cases as one program, run each as one work-group, and fail if any check fails."""
    cl = opencl()
    module = coopmat.compile(program_text(cases), target.options, name="cases.cl")
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    options = device_options(device, program_text(cases), [target.route])
    with warnings.catch_warnings():
        # Ignore the device compiler's log on the vectorization of each kernel.
        warnings.simplefilter("ignore", cl.CompilerWarning)
        program = cl.Program(context, module.spirv).build(options)
    wrong = []
    for number, case in enumerate(cases):
        info = module.kernels[f"t{number}"]
        assert info.uses_matrices and info.sub_group_size == target.sub_group_size, info
        size = (target.sub_group_size * case.sub_groups,)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        buffers = [cl.Buffer(context, flags, hostbuf=np.ascontiguousarray(array)) for array in case.buffers]
        getattr(program, f"t{number}")(queue, size, size, *buffers, *case.scalars)
        results = [np.empty_like(np.ascontiguousarray(array)) for array in case.buffers]
        for array, buffer in zip(results, buffers, strict=True):
            cl.enqueue_copy(queue, array, buffer)
        queue.finish()
        try:
            case.check(results, target)
        except AssertionError as error:
            wrong.append(f"{target}: {case.name}\n{error}")
    assert not wrong, "\n".join(wrong)


class Kernel:
    """A writer of a case, line by line: matrices from buffers, results to buffers, and the expected results."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.outside: list[str] = []
        self.lines: list[str] = []
        self.parameters: list[str] = []
        self.buffers: list[Array] = []
        self.scalars: list[Any] = []
        self.scalar_parameters: list[str] = []
        self.checks: list[Callable[[Sequence[Array], Target], None]] = []

    def buffer(self, array: Array, type_name: str, space: str = "global") -> str:
        name = f"p{len(self.buffers)}"
        self.buffers.append(array)
        self.parameters.append(f"{space} {type_name} *{name}")
        return name

    def scalar(self, value: Any, type_name: str) -> str:
        name = f"s{len(self.scalars)}"
        self.scalars.append(value)
        self.scalar_parameters.append(f"{type_name} {name}")
        return name

    def line(self, *text: str) -> Kernel:
        self.lines += [f"    {item}" for item in text]
        return self

    def type(self, name: str, matrix: MatrixType) -> str:
        """Write a typedef in the kernel, and return its name."""
        self.line(f"typedef {spelled(matrix)} {name};")
        return name

    def matrix(self, name: str, matrix: MatrixType, values: Array) -> str:
        """Write a matrix variable with these values, and a typedef T<name> of its type."""
        pointer = self.buffer(values.ravel(), matrix.component.opencl_c)
        self.type(f"T{name}", matrix)
        self.line(f"T{name} {name} = coop_mat_load({pointer}, ROW, {matrix.columns});")
        return name

    def store(self, expression: str, component: ComponentType, expected: Array, tolerance: Array | float = 0.0) -> None:
        """Write a row-major store of a matrix to a new buffer, and add a check of the buffer."""
        array = np.frombuffer(b"\xa5" * (expected.size * component.size), component.numpy).copy()
        number = len(self.buffers)
        pointer = self.buffer(array, component.opencl_c)
        self.line(f"coop_mat_store({pointer}, {expression}, ROW, {expected.shape[1]});")
        self.checks.append(lambda results, target: equal(results[number], expected, tolerance, expression))

    def case(self, sub_groups: int = 1) -> Case:
        checks = self.checks

        def check(results: Sequence[Array], target: Target) -> None:
            for item in checks:
                item(results, target)

        parameters = [*self.parameters, *self.scalar_parameters]
        body, outside = "\n".join(self.lines), "\n".join(self.outside)
        return Case(self.name, outside, parameters, body, self.buffers, check, self.scalars, sub_groups)


def spelled(matrix: MatrixType) -> str:
    use = {Use.A: "A", Use.B: "B", Use.ACCUMULATOR: "ACCUMULATOR"}[matrix.use]
    return f"COOP({matrix.component.opencl_c}, {matrix.rows}, {matrix.columns}, {use})"


def equal(got: Array, expected: Array, tolerance: Array | float = 0.0, what: str = "") -> None:
    """Fail unless the arrays are equal, up to NaNs, or within the absolute `tolerance`."""
    got = got.reshape(expected.shape)
    right = got == expected
    if expected.dtype.kind == "f":
        with np.errstate(all="ignore"):
            right |= np.abs(got - expected) <= tolerance
        right |= np.isnan(got) & np.isnan(expected)
    if not right.all():
        at = [tuple(map(int, i)) for i in np.argwhere(~right)[:6]]
        some = ", ".join(f"{i}: {got[i]!r} not {expected[i]!r}" for i in at)
        raise AssertionError(f"{what}: {np.count_nonzero(~right)} of {expected.size} differ: {some}")
