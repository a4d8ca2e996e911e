"""Invalid calls: each must raise an error that begins with the name of the argument, and change no memory."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import draw
from .draw import Call, Options
from .execute import Execution

Arguments = dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """A change that makes a call invalid.

    names: the arguments that the message may begin with.
    error: the type of the exception.
    change: replaces arguments in place.
    """

    name: str
    names: tuple[str, ...]
    error: type[Exception]
    change: Callable[[Execution, Arguments], None]


def base_call(seed: int) -> Call:
    """Return a valid call without events and empty matrices, that has an array c, to which faults are added."""
    for attempt in range(1000):
        call = draw.call(seed + 1_000_003 * attempt, without=(draw.VECTOR_OFFSETS,))
        is_full = min(call.m, call.n, call.k) > 1 and max(call.m, call.n, call.k) < 70
        if call.is_in_place and is_full and call.memory == "separate":
            return replace(call, seed=seed, wait="")
    raise AssertionError("no call has an array c")


def draw_fault(execution: Execution) -> Fault:
    """Draw one of the faults that the call can have."""
    call = execution.call
    source = random.Random(f"fault {call.seed}")
    return source.choice([fault for fault in FAULTS if _APPLIES.get(fault.name, _always)(call.options, call)])


def check(execution: Execution, fault: Fault) -> list[str]:
    """Return the failures of a call with a fault."""
    from coopmat.linalg import gemm

    positional, named = execution.arguments()
    arguments = dict(zip(("queue", "a", "b", "c"), positional, strict=False)) | named
    fault.change(execution, arguments)
    queue, a, b, c = (arguments.pop(name) for name in ("queue", "a", "b", "c"))
    failures = []
    try:
        gemm(queue, a, b, c, **arguments)
        failures.append("the call raises nothing")
    except (TypeError, ValueError) as error:
        failures += _message_failures(fault, error)
    except Exception as error:
        failures.append(f"the call raises {type(error).__name__}: {error}")
    execution.queue.finish()
    for operand in execution.operands.values():
        if (execution.device.read(operand.block.buffer) != operand.block.image).any():
            failures.append(f"the memory of {operand.name} changed")
    return failures


def _message_failures(fault: Fault, error: Exception) -> list[str]:
    found = []
    if not isinstance(error, fault.error):
        found.append(f"{type(error).__name__} instead of {fault.error.__name__}: {error}")
    if not str(error).startswith(tuple(f"{name}:" for name in (*fault.names, "a, b"))):
        found.append(f"the message begins with none of {fault.names}: {type(error).__name__}: {error}")
    return found


def _array(execution: Execution, shape: tuple[int, ...], dtype: Any, **more: Any) -> Any:
    import pyopencl.array

    return pyopencl.array.Array(execution.device.context, shape, dtype, **more)


def _with(name: str, make: Callable[[Execution, Any], Any]) -> Callable[[Execution, Arguments], None]:
    """Return a change that replaces one argument by a function of it."""

    def change(execution: Execution, arguments: Arguments) -> None:
        arguments[name] = make(execution, arguments.get(name))

    return change


def _same_size(dtype: Any) -> Callable[[Execution, Any], Any]:
    return lambda execution, array: _array(execution, array.shape, dtype)


def _elsewhere(execution: Execution, array: Any) -> Any:
    """Return an array of this shape in another context."""
    import pyopencl.array

    if "context" not in _OTHER:
        _OTHER["context"] = execution.device.cl.Context(execution.device.context.devices)
    return pyopencl.array.Array(_OTHER["context"], array.shape, array.dtype)


_OTHER: dict[str, Any] = {}


def _longer(axis: int) -> Callable[[Execution, Any], Any]:
    def make(execution: Execution, array: Any) -> Any:
        shape = list(array.shape)
        shape[axis] += 1
        return _array(execution, tuple(shape), array.dtype)

    return make


def _longer_k(name: str) -> Callable[[Execution, Arguments], None]:
    """Return a change that replaces a or b by an array whose k is larger."""

    def make(execution: Execution, array: Any) -> Any:
        is_transposed = execution.call.trans_a if name == "a" else execution.call.trans_b
        return _longer(-2 if is_transposed == (name == "a") else -1)(execution, array)

    return _with(name, make)


def _outside(execution: Execution, array: Any) -> Any:
    """Return an array that is one component larger than its sub-buffer, which ends inside its buffer.

    If the call is not refused, what it reads or writes is still in the buffer.
    """
    size = array.size * array.dtype.itemsize
    memory = execution.device.cl.Buffer(execution.device.context, 0, 2 * size)
    execution.kept.append(memory)  # The CPU's runtime releases a buffer in spite of its sub-buffers.
    part = memory.get_sub_region(0, size)
    return _array(execution, array.shape, array.dtype, data=part, offset=array.dtype.itemsize)


def _overlapping(name: str) -> Callable[[Execution, Arguments], None]:
    """Return a change that places c in the memory of another operand, of which it has the first component."""

    def change(execution: Execution, arguments: Arguments) -> None:
        other, c = arguments[name], arguments["c"]
        item = c.dtype.itemsize
        count = int(np.prod(c.shape))
        size = other.base_data.size + count * item
        memory = execution.device.cl.Buffer(execution.device.context, 0, size)
        offset = other.offset // item * item
        moved = _array(execution, other.shape, other.dtype, data=memory, offset=other.offset, strides=other.strides)
        arguments[name] = moved
        arguments["c"] = _array(execution, c.shape, c.dtype, data=memory, offset=offset)

    return change


def _drop_c(execution: Execution, arguments: Arguments) -> None:
    arguments["c"], arguments["beta"] = None, 1


def _integer_result(execution: Execution, arguments: Arguments) -> None:
    arguments.update({"c": None, "beta": 0, "out_dtype": np.int32})


def _mixed(execution: Execution, arguments: Arguments) -> None:
    is_integer = execution.call.options.has_integers
    arguments["b"] = _array(execution, arguments["b"].shape, np.float32 if is_integer else np.int8)
    arguments.pop("dtype_b", None)


def _batches(execution: Execution, arguments: Arguments) -> None:
    for name, count in (("a", 2), ("b", 3)):
        arguments[name] = _array(execution, (count, *arguments[name].shape[-2:]), arguments[name].dtype)


def _broadcast(execution: Execution, array: Any) -> Any:
    return _array(execution, array.shape, array.dtype, data=array.base_data, strides=(0,) * array.ndim)


def _bias_with_gaps(execution: Execution, _: Any) -> Any:
    n, dtype = execution.call.n, execution.call.options.real.dtype
    return _array(execution, (2 * n,), dtype)[::2]


def _constant(value: Any) -> Callable[[Execution, Any], Any]:
    return lambda execution, array: value


def _new(shape: Callable[[Call], tuple[int, ...]], dtype: Any = None) -> Callable[[Execution, Any], Any]:
    """Return a function that makes an array of a shape, by default of the type of the bias."""
    return lambda execution, _: _array(execution, shape(execution.call), dtype or execution.call.options.real.dtype)


FAULTS = (
    Fault("a is of int32", ("a",), TypeError, _with("a", _same_size(np.int32))),
    Fault("b is of complex64", ("b",), TypeError, _with("b", _same_size(np.complex64))),
    Fault("a is of numpy", ("a",), TypeError, _with("a", lambda _, a: np.zeros(a.shape, a.dtype))),
    Fault("b is None", ("b",), TypeError, _with("b", _constant(None))),
    Fault("a number is multiplied", ("a",), TypeError, _with("a", _constant(3.0))),
    Fault("integers and floating point", ("b",), TypeError, _mixed),
    Fault("k of a differs", ("a", "b"), ValueError, _longer_k("a")),
    Fault("k of b differs", ("a", "b"), ValueError, _longer_k("b")),
    Fault("a has one dimension", ("a",), ValueError, _with("a", lambda e, a: _array(e, (4,), a.dtype))),
    Fault("b has four dimensions", ("b",), ValueError, _with("b", lambda e, b: _array(e, (1, 2, 3, 4), b.dtype))),
    Fault("batches differ", ("a", "b"), ValueError, _batches),
    Fault("c has a row more", ("c",), ValueError, _with("c", _longer(-2))),
    Fault("c has a column more", ("c",), ValueError, _with("c", _longer(-1))),
    Fault("c is of complex64", ("c", "out_dtype"), TypeError, _with("c", _same_size(np.complex64))),
    Fault("c is of numpy", ("c",), TypeError, _with("c", lambda _, c: np.zeros(c.shape, c.dtype))),
    Fault("components of c overlap", ("c",), ValueError, _with("c", _broadcast)),
    Fault("c overlaps a", ("a", "c"), ValueError, _overlapping("a")),
    Fault("c overlaps b", ("b", "c"), ValueError, _overlapping("b")),
    Fault("a is outside its buffer", ("a",), ValueError, _with("a", _outside)),
    Fault("c is outside its buffer", ("c",), ValueError, _with("c", _outside)),
    Fault("a is of another context", ("a",), ValueError, _with("a", _elsewhere)),
    Fault("b is of another context", ("b",), ValueError, _with("b", _elsewhere)),
    Fault("c is of another context", ("c",), ValueError, _with("c", _elsewhere)),
    Fault("bias is of another context", ("bias",), ValueError, _with("bias", _elsewhere)),
    Fault("beta without c", ("beta", "c"), ValueError, _drop_c),
    Fault("bias is too long", ("bias",), ValueError, _with("bias", _new(lambda call: (call.n + 1,)))),
    Fault("bias has one row", ("bias",), ValueError, _with("bias", _new(lambda call: (1, call.n)))),
    Fault("bias is a matrix", ("bias",), ValueError, _with("bias", _new(lambda call: (call.m, call.n)))),
    Fault("bias has gaps", ("bias",), ValueError, _with("bias", _bias_with_gaps)),
    Fault("bias is of complex64", ("bias",), TypeError, _with("bias", _new(lambda call: (call.n,), np.complex64))),
    Fault("bias is a number", ("bias",), TypeError, _with("bias", _constant(1.0))),
    Fault("scale_a is too long", ("scale_a",), ValueError, _with("scale_a", _new(lambda c: (c.m + 1,), np.float32))),
    Fault("scale_b is too short", ("scale_b",), ValueError, _with("scale_b", _new(lambda c: (c.n - 1,), np.float32))),
    Fault("scale_a is a text", ("scale_a",), TypeError, _with("scale_a", _constant("2"))),
    Fault("scale_b is of complex64", ("scale_b",), TypeError, _with("scale_b", _new(lambda c: (c.n,), np.complex64))),
    Fault("activation is unknown", ("activation",), ValueError, _with("activation", _constant("softplus"))),
    Fault("activation is a number", ("activation",), TypeError, _with("activation", _constant(3))),
    Fault("alpha is a text", ("alpha",), TypeError, _with("alpha", _constant("1"))),
    Fault("beta is None", ("beta",), TypeError, _with("beta", _constant(None))),
    Fault("dtype_a is unknown", ("dtype_a", "a"), TypeError, _with("dtype_a", _constant("e3m4"))),
    Fault("dtype_b does not fit", ("dtype_b", "b"), TypeError, _with("dtype_b", _constant("bf16"))),
    Fault("out_dtype is unknown", ("out_dtype",), TypeError, _with("out_dtype", _constant("e3m4"))),
    Fault("out_dtype is complex", ("out_dtype",), TypeError, _with("out_dtype", _constant(np.complex64))),
    Fault("out_dtype is of integers", ("out_dtype",), TypeError, _integer_result),
    Fault("queue is None", ("queue",), TypeError, _with("queue", _constant(None))),
    Fault("alpha is no integer", ("alpha",), ValueError, _with("alpha", _constant(0.5))),
)


def _always(options: Options, call: Call) -> bool:
    return True


def _is_single(options: Options, call: Call) -> bool:
    return options.real.name == "f32"


# name of the fault -> whether a call can have it, if not every one can
_APPLIES: dict[str, Callable[[Options, Call], bool]] = {
    "bias is of another context": lambda options, call: bool(options.bias),
    "scale_a is too long": _is_single,
    "scale_b is too short": _is_single,
    "dtype_b does not fit": lambda options, call: options.b != "bf16",
    "out_dtype is of integers": lambda options, call: not options.has_integers,
    "alpha is no integer": lambda options, call: options.is_integer and options.out == "s32",
    "a is of int32": lambda options, call: options.a not in ("bf16", "e4m3", "e5m2"),
}
