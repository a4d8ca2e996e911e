"""The snapshot of a compilation after its preamble: taken from its stages, restored into those of another."""

from __future__ import annotations

import io
import pickle
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields
from typing import Any

from ..frontend import typed
from ..frontend.parse import Parser
from ..frontend.preprocess import Preprocessor
from ..frontend.sema.context import Context
from ..frontend.types import RecordType
from .store import ABSURD, Known, Unreached, digest, find, keep, key_of_preamble, read, words_of

#: The fewest tokens of a preamble that is kept: for fewer, analysis is about as fast as unpickling.
FEWEST_TOKENS = 5_000

# Each alternative can end at one position only, so that a failing match does not backtrack through many positions.
_REST = r"(?:[^\n\\]|\\[ \t]*\r?\n|\\(?![ \t]*\r?\n))*"
_PIECE = re.compile(
    r"[ \t\v\f\r]*(?![ \t\v\f\r])(?:"
    rf"(?:\#|%:)[ \t]*(?![ \t])(?P<directive>[a-z]*)(?![a-z])(?P<rest>{_REST})"
    rf"|//{_REST}"
    r"|/\*[^*]*(?:\*(?!/)[^*]*)*\*/[ \t\v\f\r]*"
    r"|)\n"
)
_SHARED = (typed.FunctionDecl, typed.VarDecl, RecordType)
_FUNCTION_FIELDS = tuple(item.name for item in fields(typed.FunctionDecl) if item.name != "body")


def preamble_length(text: str) -> int:
    """Return the number of characters of a source's preamble, 0 if it has none."""
    at = end = depth = 0
    included = False
    while match := _PIECE.match(text, at):
        directive = match["directive"] or ""
        if "/*" in (match["rest"] or ""):
            break  # the comment may end on another line
        depth += directive.startswith("if")
        depth -= directive == "endif"
        included = included or directive == "include"
        if depth < 0:
            break
        at = match.end()
        if not depth and included and directive in ("include", "endif"):
            end = at
    return end


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


Stage = Preprocessor | Parser | Context


class Snapshot:
    """The state of the stages of one compilation after its preamble.

    settings: all options that affect the result, except include directories and macros.
    retain: whether the bodies of all functions are kept; otherwise only those of reachable ones.
    known: the preamble as an earlier compilation kept it, None if there is none.
    """

    def __init__(self, settings: str, *, retain: bool = False) -> None:
        self.settings = settings
        self.retain = retain
        self.known: Known | None = None
        self._key, self._text = "", ""
        # The length of the preamble in the input of the next stage; None if no state is to be taken.
        self._length: int | None = None
        # The number of diagnostics before the current stage.
        self._findings = 0
        self._keep: Callable[[Known], None] | None = None
        self._states: dict[str, bytes] = {}
        self._bodies: dict[int, bytes] | None = None
        # The declarations of the preamble; those functions among them that have bodies -> their indices.
        self._shared: list[object] = []
        self._functions: dict[typed.FunctionDecl, int] = {}
        # The functions of a known preamble whose bodies are not read.
        self._unreached: set[typed.FunctionDecl] = set()

    def portions(self, stage: Stage, whole: Sequence[object]) -> Iterator[range]:
        """Divide a stage's input into the preamble, after which the stage's state is taken, and the rest.

        If the preamble is known, restore the stage's state, and yield the rest only.
        """
        if isinstance(whole, str):
            assert isinstance(stage, Preprocessor)
            self._look_up(stage, whole)
        elif self.known is not None:
            self.restore(stage)
        length, self._length = self._length, None
        if length is not None and self.known is None:
            self._findings = len(stage.diagnostics.items)
            yield range(length)
            self.take(stage)
        yield range(length or 0, len(whole))
        if isinstance(stage, Context):
            self._add_bodies(stage)

    def take(self, stage: Stage) -> None:
        """Pickle the stage's state and the diagnostics that it has added, unless they cannot be kept."""
        state = stage.state
        if state is None or stage.diagnostics.has_errors:
            return
        if isinstance(stage, Preprocessor):
            if len(stage.out) < FEWEST_TOKENS:
                return
            self._take_facts(stage)
        if not isinstance(stage, Context):
            self._length = len(stage.out)
        shared = self._shared = []

        def reduce(value: Any) -> Any:
            shared.append(value)
            if isinstance(value, typed.FunctionDecl) and value.body is not None:
                return function_without_body, tuple(getattr(value, name) for name in _FUNCTION_FIELDS)
            return value.__reduce_ex__(5)

        # The pickler reaches the list of declarations last, when it is complete.
        taken = state, stage.diagnostics.items[self._findings :], shared
        self._states[type(stage).__name__] = _pickled(taken, reduce)
        self._functions = _with_bodies(shared)

    def restore(self, stage: Stage) -> None:
        """Restore the state that `take` took from a stage of this class. Raises Unreached if the pickle is damaged."""
        assert self.known is not None
        state, findings, self._shared = read(self.known.states[type(stage).__name__])
        stage.state = state
        for item in findings:
            stage.diagnostics.add(item)
        self._functions = _with_bodies(self._shared)

    def finish(self, unit: typed.Unit) -> None:
        """Store the snapshot of a new preamble, or remove a restored preamble's unreached functions from the unit."""
        if self._keep is not None and self._bodies is not None:
            self._keep(Known(self._states, self._bodies))
        unit.functions = [function for function in unit.functions if function not in self._unreached]
        # Release the declarations, which the garbage collector would traverse in later stages.
        self._shared, self._functions, self._unreached, self._keep = [], {}, set(), None

    def _look_up(self, stage: Preprocessor, source: str) -> None:
        """Find the end of the preamble in a source text; if the preamble is known, restore the stage's state."""
        length = preamble_length(source)
        if not length:
            return
        self._length, self._text = length, source[:length]
        self._key = key_of_preamble(self.settings, stage.stack[-1].source.name, self._text, stage.options)
        for known in () if self.retain else find(self._key, stage.options, stage.diagnostics):
            self.known = known
            with suppress(*ABSURD, Unreached):
                return self.restore(stage)
        self.known = None

    def _take_facts(self, stage: Preprocessor) -> None:
        """Take the facts on which the preamble's text depends."""
        texts = list(stage.diagnostics.sources.files.items())[1:]
        words = words_of([self._text, *(text for _, text in texts)]) | stage.expander.joined
        files = [(name, name not in stage.dependencies, digest(text)) for name, text in texts]
        facts = {"files": files, "absent": list(dict.fromkeys(stage.absent))}
        lines, defines = "\n".join(["", *sorted(words), ""]), stage.options.defines
        self._keep = lambda known: keep(self._key, known, lines, facts, defines)

    def _add_bodies(self, c: Context) -> None:
        """Read the bodies of a known preamble's reachable functions, or pickle those of the functions to keep.

        Raises Unreached if the body of a reachable function was not kept.
        """
        own, kernels = self._functions, c.unit.kernels
        # Later stages process kernels and the functions after the preamble; all functions if there is no kernel.
        roots = [f for f in c.unit.functions if f.is_kernel or f not in own or not kernels]
        reached = c.reached(roots)
        if self.known is not None:
            self._unreached = own.keys() - reached
            for function in own.keys() & reached:
                if own[function] not in self.known.bodies:
                    raise Unreached
                function.body = read(self.known.bodies[own[function]], self._shared)
        elif Context.__name__ in self._states:
            numbers = {id(value): number for number, value in enumerate(self._shared)}

            def reduce(value: Any) -> Any:
                number = numbers.get(id(value))
                return value.__reduce_ex__(5) if number is None else (shared_object, (number,))

            kept = {function: number for function, number in own.items() if self.retain or function in reached}
            self._bodies = {number: _pickled(function.body, reduce) for function, number in kept.items()}


def _with_bodies(shared: Sequence[object]) -> dict[typed.FunctionDecl, int]:
    """Return those functions among the declarations that have a body -> their indices."""
    numbered = ((value, number) for number, value in enumerate(shared) if isinstance(value, typed.FunctionDecl))
    return {function: number for function, number in numbered if function.body is not None}
