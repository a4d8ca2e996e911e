"""Runs cases on an OpenCL device: through its own OpenCL C compiler, or through ours."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from tree_cases import Array, Case, Slot

import coopmat
from coopmat.devices import DeviceInfo, opencl
from coopmat.matrices.lowering import LOWERED_ROUTES, Target, instantiate
from coopmat.matrix_types.expressions import InMemory

TARGET = Target(LOWERED_ROUTES["one"], 1)
PRAGMA = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"


def run(device: DeviceInfo, cases: Sequence[Case], *, ours: bool) -> None:
    """One program, a kernel for each case, each run by one work-item; every case checks its buffers."""
    cl = opencl()
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        program = _program(cl, context, cases, ours)
    for number, case in enumerate(cases):
        arrays = [*case.buffers, _numbers(case)]
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        buffers = [cl.Buffer(context, flags, hostbuf=array) for array in [*arrays, *_scalars(case)]]
        getattr(program, f"t{number}")(queue, (1,), (1,), *buffers)
        after = [np.empty_like(array) for array in case.buffers]
        for array, buffer in zip(after, buffers, strict=False):
            cl.enqueue_copy(queue, array, buffer)
        case.label = case.label or f"case {number}"
        case.check(after)


def _program(cl: Any, context: Any, cases: Sequence[Case], ours: bool) -> Any:
    text = source(cases)
    if not ours:
        return cl.Program(context, text).build("-cl-std=CL3.0", cache_dir=False)
    # Contraction is a matter of a whole module: cases are all of one kind.
    return cl.Program(context, coopmat.compile(text, ["-w"]).spirv).build(cache_dir=False)


def source(cases: Sequence[Case]) -> str:
    functions = instantiate(TARGET, [case.tree for case in cases])
    return PRAGMA + functions + "\n" + "\n".join(kernel(f"t{n}", case) for n, case in enumerate(cases))


def _numbers(case: Case) -> Array:
    """Strides and indices: of the result, then of each input."""
    of_inputs = [case.slots[n].stride if n in case.slots else _index(case, n) for n in range(len(case.tree.inputs))]
    return np.array([case.out.stride, *of_inputs], np.uint64)


def _index(case: Case, number: int) -> int:
    item = case.tree.inputs[number]
    return 0 if isinstance(item, InMemory) or item.element else int(case.numbers[number])


def _scalars(case: Case) -> list[Array]:
    return [np.array([case.numbers[n]]) for n in _scalar_inputs(case)]


def _scalar_inputs(case: Case) -> list[int]:
    return [n for n, item in enumerate(case.tree.inputs) if not isinstance(item, InMemory) and item.element]


def kernel(name: str, case: Case) -> str:
    """Buffers that stand for local or private memory are copied there, and back."""
    tree, names, before, after = case.tree, {}, [], []
    spaces = _spaces(case)
    parameters = []
    for number, buffer in enumerate(case.buffers):
        t, space = _type(buffer), spaces[number]
        parameters.append(f"{'constant' if space == 'constant' else 'global'} {t} *b{number}")
        names[number] = f"b{number}"
        if space in ("local", "private"):
            names[number] = f"m{number}"
            before.append(f"{space} {t} m{number}[{len(buffer)}];")
            copy = f"for (uint i = 0; i < {len(buffer)}; ++i)"
            before.append(f"{copy} m{number}[i] = b{number}[i];")
            after.append(f"{copy} b{number}[i] = m{number}[i];")
    parameters.append("global const ulong *n")
    scalars = _scalar_inputs(case)
    parameters += [f"global {tree.inputs[s].element.library_c} *x{s}" for s in scalars]  # type: ignore[union-attr]
    arguments = _pointer(case.out, names, 0)
    for number, item in enumerate(tree.inputs):
        if isinstance(item, InMemory):
            arguments += _pointer(case.slots[number], names, number + 1)
        else:
            arguments.append(f"x{number}[0]" if item.element else f"n[{number + 1}]")
    call = f"{tree.function_name}({', '.join(arguments)});"
    body = "\n".join("    " + line for line in [*before, call, *after])
    return f"kernel void {name}({', '.join(parameters)})\n{{\n{body}\n}}\n"


def _pointer(slot: Slot, names: dict[int, str], number: int) -> list[str]:
    stride = [f"n[{number}]"] if slot.where.stride is None else []
    return [f"{names[slot.buffer]} + {slot.start}", *stride]


def _spaces(case: Case) -> dict[int, str]:
    return {slot.buffer: slot.where.space for slot in (*case.slots.values(), case.out)} | {
        n: "global" for n in range(len(case.buffers)) if n not in {s.buffer for s in (*case.slots.values(), case.out)}
    }


def _type(buffer: Array) -> str:
    from coopmat.matrices.variants import COMPONENT_TYPES

    return next(c.opencl_c for c in COMPONENT_TYPES.values() if c.numpy == buffer.dtype.name and not c.is_bits)
