"""Statements and control flow in the matrix fuzzer's interpreter: masks select the lanes that execute a statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import fuzz_matrices_tree as tree
import numpy as np
from fuzz_matrices_operations import InexactError, arithmetic
from fuzz_matrices_types import Array

if TYPE_CHECKING:
    from fuzz_matrices_meaning import Frame, Machine

_STEPS = 3000


def run(machine: Machine, body: list[tree.Node], frame: Frame, mask: Array) -> Array:
    """Execute statements and return the mask of the lanes that reach the end."""
    for statement in body:
        if not mask.any():
            break
        machine.steps += 1
        if machine.steps > _STEPS:
            raise InexactError("too many steps")
        mask = _statement(machine, statement, frame, mask)
    return mask


def _set(frame: Frame, name: str, value: Array, mask: Array) -> None:
    """Assign to a scalar variable in the lanes of the mask."""
    old = frame.variables[name]
    frame.variables[name] = np.where(mask, value.astype(old.dtype), old)


def _statement(machine: Machine, node: tree.Node, frame: Frame, mask: Array) -> Array:
    """Execute a statement and return the mask of the lanes that continue after it."""
    match node:
        case tree.DeclareScalar():
            value = machine.scalar(node.value, frame, mask)
            frame.variables[node.name] = np.array(np.broadcast_to(value, mask.shape)).astype(node.t.dtype)
        case tree.SetScalar():
            _set(frame, node.name, machine.scalar(node.value, frame, mask), mask)
        case tree.Declare():
            _declare(machine, node, frame, mask)
        case tree.DeclareStruct():
            machine.declare_struct(node, frame, mask)
        case tree.CopyStruct():
            members = machine.struct(node.value, frame, mask)
            machine.put_struct(node.struct, node.name, members, frame, mask)
        case tree.Assign():
            _assign(machine, node, frame, mask)
        case tree.Store():
            machine.store(node, frame, mask)
        case tree.DeclareMemory():
            _declare_memory(machine, node.memory, frame)
        case tree.Elements():
            _elements(machine, node, frame, mask)
        case tree.Barrier() | tree.Prefetch():
            pass
        case tree.Evaluate():
            machine.call(node.function, node.args, frame, mask)
        case _:
            return _control(machine, node, frame, mask)
    return mask


def _declare(machine: Machine, node: tree.Declare, frame: Frame, mask: Array) -> None:
    """Make a matrix variable or an array."""
    values = [machine.matrix(value, frame, mask) for value in node.values]
    first = None if node.value is None else machine.matrix(node.value, frame, mask)
    machine.declare(node.name, node.type, node.count, frame)
    if first is not None:
        frame.variables[node.name], frame.defined[node.name] = first, mask.copy()
    for index, value in enumerate(values):
        frame.variables[node.name][index], frame.defined[node.name][index] = value, mask


def _assign(machine: Machine, node: tree.Assign, frame: Frame, mask: Array) -> None:
    """Assign to a matrix, also by a compound operator."""
    if not node.op:
        machine.put(node.place, machine.matrix(node.value, frame, mask), frame, mask)
        return
    old = machine.get(node.place, frame, mask)
    component, value = None, None
    if isinstance(node.value, tree.Matrix):
        component, value = node.value.type.component, machine.matrix(node.value, frame, mask)
        if value.shape != old.shape:
            raise InexactError("a matrix of another shape")
    else:
        assert isinstance(node.value, tree.Num)
        component = node.value.t
        value = np.broadcast_to(np.asarray(node.value.value, component.dtype), old.shape)
    machine.put(node.place, arithmetic(component, node.op, old, value), frame, mask)


def _declare_memory(machine: Machine, memory: tree.Memory, frame: Frame) -> None:
    """Make an array in local or private memory, filled by the same formula as in the program's text."""
    view = machine.view(memory)
    values = np.arange(memory.size) % 5 - (0 if memory.component.kind == "unsigned" else 2)
    view.data[:] = np.tile(values.astype(memory.component.dtype), machine.count)
    view.valid[:] = True
    frame.memory[memory.name] = view


def _elements(machine: Machine, node: tree.Elements, frame: Frame, mask: Array) -> None:
    """Execute a loop over components, all at once."""
    value = machine.get(node.place, frame, mask)
    rows, columns = np.indices(value.shape[1:], np.uint32)
    lanes = np.array(np.broadcast_to(mask[:, None, None], value.shape))
    saved = dict(frame.variables)
    frame.variables[node.row] = np.array(np.broadcast_to(rows, value.shape))
    frame.variables[node.column] = np.array(np.broadcast_to(columns, value.shape))
    frame.variables[node.name] = value
    run(machine, node.body, frame, lanes)
    result = frame.variables[node.name]
    frame.variables = saved
    machine.put(node.place, result, frame, mask)


def _control(machine: Machine, node: tree.Node, frame: Frame, mask: Array) -> Array:
    """Execute a statement of control flow."""
    nobody = np.zeros_like(mask)
    match node:
        case tree.If():
            c = np.broadcast_to(machine.scalar(node.c, frame, mask) != 0, mask.shape)
            then = run(machine, node.then, frame, mask & c)
            return then | run(machine, node.other, frame, mask & ~c)
        case tree.Switch():
            return _switch(machine, node, frame, mask)
        case tree.Loop():
            return _loop(machine, node, frame, mask)
        case tree.Break():
            frame.broken[-1] |= mask
            return nobody
        case tree.Continue():
            frame.continued[-1] |= mask
            return nobody
        case tree.Return():
            _return(machine, node, frame, mask)
            return nobody
    raise AssertionError(node)


def _return(machine: Machine, node: tree.Return, frame: Frame, mask: Array) -> None:
    """Store the result for the lanes of the mask."""
    before = np.zeros_like(mask) if frame.returned is None else frame.returned
    frame.returned = before | mask
    if node.value is None:
        return
    if isinstance(node.value, tree.Matrix):
        value: Any = machine.matrix(node.value, frame, mask)
        lanes = mask[:, None, None]
    elif isinstance(node.value, tree.Scalar):
        value, lanes = np.broadcast_to(machine.scalar(node.value, frame, mask), mask.shape), mask
    else:
        frame.result = machine.struct(node.value, frame, mask)
        return
    frame.result = value if frame.result is None else np.where(lanes, value, frame.result)


def _switch(machine: Machine, node: tree.Switch, frame: Frame, mask: Array) -> Array:
    """Execute a switch."""
    c = np.broadcast_to(machine.scalar(node.c, frame, mask), mask.shape).astype(np.int64)
    labels = [label for case, _, _ in node.cases for label in case if label is not None]
    frame.broken.append(np.zeros_like(mask))
    inside, after = np.zeros_like(mask), mask.copy()
    for case, body, falls in node.cases:
        for label in case:
            chosen = ~np.isin(c, labels) if label is None else c == label
            inside = inside | (mask & chosen)
            after &= ~chosen
        inside = run(machine, body, frame, inside)
        if not falls:
            frame.broken[-1] |= inside
            inside = np.zeros_like(mask)
    return after | inside | frame.broken.pop()


def _loop(machine: Machine, node: tree.Loop, frame: Frame, mask: Array) -> Array:
    """Execute a loop."""
    kind = node.t.dtype
    name = node.name
    frame.variables[name] = np.zeros(mask.shape, kind)
    frame.broken.append(np.zeros_like(mask))
    active, first = mask, True
    while active.any():
        if node.form != "do" or not first:
            count = machine.scalar(node.count, frame, active)
            active = active & (frame.variables[name] < count)
        first = False
        frame.continued.append(np.zeros_like(mask))
        active = run(machine, node.body, frame, active) | frame.continued.pop()
        frame.variables[name] = np.where(active, frame.variables[name] + kind.type(1), frame.variables[name])
    frame.broken.pop()
    return mask if frame.returned is None else mask & ~frame.returned
