"""Runs library functions on an OpenCL device, through that device's own OpenCL C compiler.

A `Case` is one library call: matrices are loaded from row-major memory, or by the function itself, and its results are
stored row-major. Cases are batched: one program, one kernel each.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from optimizer import device_options

from coopmat.devices import DeviceInfo, opencl
from coopmat.matrices import lowering
from coopmat.matrices.numpy_reference import Array
from coopmat.matrices.variants import Layout, MatrixType

ROW = Layout.ROW_MAJOR


@dataclass(frozen=True)
class Case:
    """`body` is a kernel's body over the buffers p0, p1, ... (pointers to their dtype's OpenCL C type).

    `check` gets the buffers as the kernel left them. One subgroup runs, alone.
    """

    name: str
    library_functions: Sequence[lowering.LibraryFunction]
    parameters: Sequence[str]
    body: str
    buffers: Sequence[Array]
    check: Callable[[Sequence[Array]], None] = field(repr=False)


def storage(name: str, route: lowering.LoweredRoute, sub_group_size: int, matrix: MatrixType) -> str:
    """The declaration of a matrix in private memory."""
    count = lowering.storage_components(route, matrix, sub_group_size)
    alignment = lowering.storage_alignment(route, matrix, sub_group_size)
    return f"__attribute__((aligned({alignment}))) {matrix.component.library_c} {name}[{count}];"


def run(
    device: DeviceInfo,
    route: lowering.LoweredRoute,
    sub_group_size: int,
    cases: Sequence[Case],
    local_size: tuple[int, ...] | None = None,
    device_size: int | None = None,
) -> None:
    """Builds the cases, runs each as one work-group (by default one subgroup), and lets each check its buffers.

    With `device_size`, the device's subgroups stand for several smaller ones that all do the same.
    """
    cl = opencl()
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    size = local_size or (1 if route.has_one_work_item else device_size or sub_group_size, 1, 1)
    target = lowering.Target(route, sub_group_size, math.prod(size))
    text = lowering.instantiate(target, [i for case in cases for i in case.library_functions])
    attributes = f"__attribute__((reqd_work_group_size({', '.join(map(str, size))})))"
    if route.has_sub_groups_of_device:
        attributes += f" __attribute__((intel_reqd_sub_group_size({device_size or sub_group_size})))"
    scratch = max((i.scratch_bytes(target) for case in cases for i in case.library_functions), default=0)
    local = f"    local ulong scratch[{-(-scratch // 8)}];\n" if scratch else ""
    kernels = [_kernel(f"{attributes} kernel void t{number}", case, local) for number, case in enumerate(cases)]
    pragma = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    if device_size is not None:
        pragma += _SMALLER_SUBGROUPS.replace("SIZE", str(sub_group_size))
    text = pragma + text + "\n".join(kernels)
    options = ["-cl-std=CL3.0", *device_options(device, text, [route.name])]
    with warnings.catch_warnings():
        # The device's compiler tells how it vectorised each kernel.
        warnings.simplefilter("ignore", cl.CompilerWarning)
        program = cl.Program(context, text).build(options, cache_dir=False)
    for number, case in enumerate(cases):
        buffers = [_upload(cl, context, array) for array in case.buffers]
        getattr(program, f"t{number}")(queue, size, size, *buffers)
        results = [np.empty_like(array) for array in case.buffers]
        for array, buffer in zip(results, buffers, strict=True):
            cl.enqueue_copy(queue, array, buffer)
        try:
            case.check(results)
        except AssertionError as error:
            raise AssertionError(f"{route.name} {sub_group_size}: {case.name}\n{error}") from error


_SMALLER_SUBGROUPS = """
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
uint device_lane(void) { return get_sub_group_local_id(); }
#define get_sub_group_local_id() (device_lane() % SIZE)
#define sub_group_broadcast(x, lane) sub_group_shuffle(x, device_lane() / SIZE * SIZE + (lane))
"""


def _kernel(prefix: str, case: Case, local: str) -> str:
    return f"{prefix}({', '.join(case.parameters)})\n{{\n{local}{case.body}\n}}\n"


def _upload(cl: Any, context: Any, array: Array) -> Any:
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    return cl.Buffer(context, flags, hostbuf=array)


@dataclass
class Builder:
    """Writes the body of a case: matrices in, one call, a matrix out."""

    route: lowering.LoweredRoute
    sub_group_size: int
    library_functions: list[lowering.LibraryFunction] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    buffers: list[Array] = field(default_factory=list)

    def buffer(self, array: Array, type_name: str, space: str = "global") -> str:
        name = f"p{len(self.buffers)}"
        self.buffers.append(array)
        self.parameters.append(f"{space} {type_name} *{name}")
        return name

    def declare(self, name: str, matrix: MatrixType) -> str:
        self.lines.append(storage(name, self.route, self.sub_group_size, matrix))
        return name

    def matrix(self, name: str, matrix: MatrixType, values: Array) -> str:
        """A matrix with these values, loaded row-major from a buffer of its own."""
        pointer = self.buffer(values.ravel(), matrix.component.library_c)
        self.declare(name, matrix)
        self.call(lowering.Load(matrix, "global", ROW), name, pointer, str(matrix.columns))
        return name

    def store(self, name: str, matrix: MatrixType) -> str:
        """Stores row-major into a new buffer, which is all ones before."""
        array = np.frombuffer(b"\xff" * (matrix.rows * matrix.columns * matrix.component.size), matrix.component.numpy)
        pointer = self.buffer(array.copy(), matrix.component.library_c)
        self.call(lowering.Store(matrix, "global", ROW), pointer, name, str(matrix.columns))
        return pointer

    def call(self, function: lowering.LibraryFunction, *arguments: str) -> None:
        self.lines.append(self.expression(function, *arguments) + ";")

    def expression(self, function: lowering.LibraryFunction, *arguments: str) -> str:
        assert len(arguments) == len(function.signature.parameters), function
        self.library_functions.append(function)
        target = lowering.Target(self.route, self.sub_group_size)
        arguments += ("scratch",) * bool(function.scratch_bytes(target))
        return f"{function.function_name}({', '.join(arguments)})"

    def case(self, name: str, check: Callable[[Sequence[Array]], None]) -> Case:
        body = "\n".join("    " + line for line in self.lines)
        return Case(name, self.library_functions, self.parameters, body, self.buffers, check)
