"""Kernels and memory that are kept for each context, for the next call."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any, TypeVar

_MOST_CONTEXTS = 8  # the least recently used ones of more are forgotten
_Result = TypeVar("_Result")
# context -> (function, its other arguments) -> its result. Results keep their context alive: OpenCL reports to no one
# that the caller has released it, and pyopencl makes a new object for each query, so that weak references are no help.
_kept: OrderedDict[Any, dict[Any, Any]] = OrderedDict()
_lock = Lock()


def keep(function: Callable[..., _Result]) -> Callable[..., _Result]:
    """Decorate a function of a context and hashable arguments: keep its results until the context is forgotten."""

    @wraps(function)
    def call(context: Any, *arguments: Any) -> _Result:
        with _lock:
            results = _kept.setdefault(context, {})
            _kept.move_to_end(context)
            if len(_kept) > _MOST_CONTEXTS:
                _kept.popitem(last=False)
        key = function, *arguments
        found: _Result | None = results.get(key)
        return results.setdefault(key, function(context, *arguments)) if found is None else found

    return call


def forget(context: Any = None) -> None:
    """Release the kernels and the memory that this package keeps for a context, or for all if it is None.

    They keep the context alive. Finish its queues before. Later calls build the kernels again.
    """
    with _lock:
        if context is None:
            _kept.clear()
        else:
            _kept.pop(context, None)
