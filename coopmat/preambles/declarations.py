"""The declarations of a preamble (`coopmat.preambles.store`), pickled after the preamble's analysis and restored later.

`PreambleSnapshot` takes the declarations out of an analysis; `PreambleLoader` puts them into another one.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any

from ..diagnostics import Diagnostic
from ..frontend import typed
from ..frontend.sema.context import Context
from ..frontend.types import RecordType
from ..graphs import reachable
from .store import Preamble, Unreached, read

# The attributes of Context that describe the unit as a whole. Parameters of declarators are not needed after their
# declaration, and a preamble with errors is never kept.
_STATE = (
    *("matrix_pragma", "scope", "unit", "functions", "contract", "contract_default", "tentative", "calls"),
    *("operand_functions", "has_work_group_matrices", "named_types", "enumerations", "excused"),
)
_OF_VARIABLES = ("references", "only_set", "host_sized")
_SHARED = (typed.FunctionDecl, typed.VarDecl, RecordType)
_FUNCTION_FIELDS = tuple(item.name for item in fields(typed.FunctionDecl) if item.name != "body")


def function_without_body(*values: Any) -> typed.FunctionDecl:
    """Return a function with an empty body, to be replaced if the function is reached. Unpickling calls this."""
    function = typed.FunctionDecl(**dict(zip(_FUNCTION_FIELDS, values, strict=True)))
    function.body = typed.Block(function.span, [])
    return function


def shared_object(number: int) -> object:
    """Mark a declaration's number in the pickle of a body; never called, since `_Reader` substitutes a function."""
    raise AssertionError(number)


def _pickled(value: object, reduce: Callable[[Any], Any]) -> bytes:
    """Return the pickle of `value`; `reduce` is the reduction function for declarations, which bodies may share."""
    file = io.BytesIO()
    pickler = pickle.Pickler(file, 5)
    # Unlike an override of reducer_override, a dispatch table costs no call for objects of other classes.
    pickler.dispatch_table = dict.fromkeys(_SHARED, reduce)
    pickler.dump(value)
    return file.getvalue()


class PreambleSnapshot:
    """The declarations of a preamble and its findings, pickled directly after its analysis."""

    def __init__(self, c: Context, findings: list[Diagnostic]) -> None:
        state = {name: getattr(c, name) for name in _STATE}
        named = {id(decl) for decl in _variables(c)}
        for name in _OF_VARIABLES:
            state[name] = {decl: value for decl, value in getattr(c, name).items() if id(decl) in named}
        self._shared: list[object] = []

        def reduce(value: Any) -> Any:
            self._shared.append(value)
            if isinstance(value, typed.FunctionDecl) and value.body is not None:
                return function_without_body, tuple(getattr(value, name) for name in _FUNCTION_FIELDS)
            return value.__reduce_ex__(5)

        # The pickler reaches the list last, when it is complete.
        self._declarations = _pickled((state, findings, self._shared), reduce)
        self._functions = [f for f in self._shared if isinstance(f, typed.FunctionDecl) and f.body is not None]

    def keep(self, c: Context, preamble: Preamble) -> None:
        """Keep the declarations in the preamble's entry, with the bodies of all functions or of the reachable ones."""
        wanted = set(self._functions) if preamble.whole else reached(c, _roots(c, self._functions))
        numbers = {id(value): number for number, value in enumerate(self._shared)}

        def reduce(value: Any) -> Any:
            number = numbers.get(id(value))
            return value.__reduce_ex__(5) if number is None else (shared_object, (number,))

        bodies = {
            numbers[id(function)]: _pickled(function.body, reduce) for function in self._functions if function in wanted
        }
        preamble.keep(self._declarations, bodies, preamble.state["preprocessor"]["absent"])


def _variables(c: Context) -> Iterator[typed.VarDecl]:
    yield from c.unit.variables
    for function in c.unit.functions:
        yield from function.parameters


class PreambleLoader:
    """The declarations of a known preamble, restored into an analysis that continues after the preamble."""

    def __init__(self, c: Context, preamble: Preamble) -> None:
        assert preamble.known is not None
        self._bodies = preamble.known.bodies
        state, findings, self._shared = read(preamble.known.declarations)
        for item in findings:
            c.diagnostics.add(item)
        for name, value in state.items():
            setattr(c, name, value)
        functions = [(f, number) for number, f in enumerate(self._shared) if isinstance(f, typed.FunctionDecl)]
        self._numbers = dict(functions)
        self._own = [function for function, _ in functions if function.body is not None]

    def complete(self, c: Context) -> set[typed.FunctionDecl]:
        """Read the bodies of the preamble's reachable functions; return its other functions.

        Raises Unreached if the body of a reachable function was not kept.
        """
        found = reached(c, _roots(c, self._own))
        for function in self._own:
            if function in found:
                data = self._bodies.get(self._numbers[function])
                if data is None:
                    raise Unreached
                function.body = read(data, self._shared)
        return {function for function in self._own if function not in found}


def _roots(c: Context, functions: Sequence[typed.FunctionDecl]) -> list[typed.FunctionDecl]:
    """Return the functions that later stages process: kernels, and functions that are not in `functions`.

    `functions` are those of the preamble. If the unit has no kernel, return all functions.
    """
    own = set(functions)
    return [f for f in c.unit.functions if f.is_kernel or f not in own or not c.unit.kernels]


def reached(c: Context, roots: Iterable[typed.FunctionDecl]) -> set[typed.FunctionDecl]:
    """Return the transitive closure of `roots` in the call graph: the roots and all functions that they call."""
    return reachable(roots, lambda function: c.calls.get(function, ()))
