"""The store of preambles: in this process, and behind it in the cache on disk, as pickles."""

from __future__ import annotations

import errno
import hashlib
import io
import pickle
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from .. import budgets, file_table
from ..cache import Cache, Entry, key_of, package_version
from ..diagnostics import Diagnostics

if TYPE_CHECKING:
    from ..frontend.preprocess_options import PreprocessOptions

#: The fewest tokens of a preamble that is kept: for fewer, analysis is about as fast as unpickling.
FEWEST_TOKENS = 5_000
#: How many preambles of equal lines and options are kept, which differ in macros or in the contents of files.
_MOST_ALTERNATIVES = 8
#: The bytes of preambles that a process keeps.
_MOST_BYTES = 64 << 20

# Each alternative can end at one position only, so that a failing match does not backtrack through many positions.
_REST = r"(?:[^\n\\]|\\[ \t]*\r?\n|\\(?![ \t]*\r?\n))*"
_PIECE = re.compile(
    r"[ \t\v\f\r]*(?![ \t\v\f\r])(?:"
    rf"(?:\#|%:)[ \t]*(?![ \t])(?P<directive>[a-z]*)(?![a-z])(?P<rest>{_REST})"
    rf"|//{_REST}"
    r"|/\*[^*]*(?:\*(?!/)[^*]*)*\*/[ \t\v\f\r]*"
    r"|)\n"
)
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
# The errors that a damaged or foreign file causes: its digest may be right for any contents.
_ABSURD = (ValueError, LookupError, TypeError, AttributeError)


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


@dataclass(frozen=True, slots=True)
class Known:
    """A preamble that an earlier compilation has kept.

    preprocessor, parser: the state of these after the preamble.
    declarations: the pickle of the declarations.
    bodies: the number of a function among the declarations -> the pickle of its body.
    """

    preprocessor: dict[str, Any]
    parser: dict[str, Any]
    declarations: bytes
    bodies: dict[int, bytes]


class Unreached(Exception):
    """Raised if a function is reached whose body was not kept, or a pickle cannot be read."""


@dataclass(slots=True)
class Preamble:
    """The preamble of one compilation.

    settings: all options that affect the result, except include directories and macros.
    whole: whether all functions are kept; otherwise only reachable ones.
    known: the preamble as an earlier compilation kept it, None if there is none.
    tokens, declarations: the number of each in the preamble; None if the preamble cannot be kept.
    state: the state after the preamble, collected in this compilation if the preamble is not known.
    """

    settings: str
    whole: bool = False
    known: Known | None = None
    #: Set by the preprocessor and the parser.
    tokens: int | None = None
    declarations: int | None = None
    state: dict[str, Any] = field(default_factory=dict)
    _key: str = ""
    _defines: tuple[tuple[str, str], ...] = ()

    def find(self, name: str, text: str, options: PreprocessOptions, diagnostics: Diagnostics) -> None:
        """Look the preamble up in the store. On a hit, set `known` and register its files' texts in `diagnostics`."""
        parts = {
            "kind": "preamble",
            "version": package_version(),
            "source": [name, text],
            "settings": [self.settings, options.include_dirs, options.undefines, sorted(options.virtual_files.items())],
        }
        self._key, self._defines = key_of(parts), options.defines
        index = None if self.whole else _STORE.get(self._key)
        for row in index.facts if index is not None and isinstance(index.facts, list) else ():
            try:
                if row["defines"] == _seen(options.defines, row["words"]) and self._take(
                    row["key"], options, diagnostics
                ):
                    return
            except _ABSURD:
                continue

    def _take(self, key: str, options: PreprocessOptions, diagnostics: Diagnostics) -> bool:
        """Load the preamble that is stored under `key` into `known`, and return True.

        Register the texts of the preamble's files in `diagnostics`. If the entry is missing or damaged, or if a file
        has changed since, return False.
        """
        entry = _STORE.get(key)
        texts = _texts(entry.facts, options.virtual_files) if entry is not None else None
        if entry is None or texts is None:
            return False
        try:
            known = read(entry.payload)
        except Unreached:
            return False
        if not isinstance(known, Known):
            return False
        self.known = known
        for file, text in texts.items():
            diagnostics.sources.add(file, text)
        return True

    def keep(self, declarations: bytes, bodies: Mapping[int, bytes], absent: Sequence[str]) -> None:
        """Store the preamble of this compilation: its state, declarations, bodies, and the names of absent files."""
        known = Known(self.state["preprocessor"], self.state["parser"], declarations, dict(bodies))
        words = "\n".join(["", *sorted(self.state["words"]), ""])
        # (name, is virtual, digest of the text that was read): the file may have changed since.
        files: list[tuple[str, bool, str]] = self.state["files"]
        row: dict[str, Any] = {"defines": _seen(self._defines, words), "words": words}
        row["key"] = key_of({"preamble": self._key, "files": sorted(files), "defines": row["defines"]})
        _STORE.put(row["key"], Entry(pickle.dumps(known, 5), {"files": files, "absent": list(absent)}))
        index = _STORE.get(self._key)
        others = [other for other in index.facts if other["key"] != row["key"]] if index is not None else []
        _STORE.put(self._key, Entry(b"", [row, *others][:_MOST_ALTERNATIVES]))


def words_of(texts: Iterable[str]) -> set[str]:
    """Return the identifiers in texts, including those in comments and in text excluded by `#if`."""
    return {word for text in texts for word in _WORD.findall(text)}


def _seen(defines: Sequence[tuple[str, str]], words: str) -> list[list[str]]:
    """Return [name, definition] of those command-line macros that occur in `words`, a list separated by line ends."""
    return [[name, value] for name, value in defines if f"\n{name.partition('(')[0]}\n" in words]


def digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=32).hexdigest()


def _texts(facts: Mapping[str, Any], virtual: Mapping[str, str]) -> dict[str, str] | None:
    """Return file name -> text for the files of an entry.

    Return None if a text has changed, or a file exists that an include has searched for in vain.
    """
    texts: dict[str, str] = {}
    try:
        for name, is_virtual, expected in facts["files"]:
            text = virtual.get(name, "") if is_virtual else _read(name)
            if digest(text) != expected:
                return None
            texts[name] = text
        for name in facts["absent"]:
            with suppress(FileNotFoundError, NotADirectoryError):
                file_table.is_regular(name)
                return None
    except (OSError, UnicodeError):
        return None
    return texts


def _read(name: str) -> str:
    if not file_table.is_regular(name):
        raise OSError(errno.EINVAL, "not a regular file", name)
    data = file_table.read(name, budgets.limit("source-bytes"))
    if data is None:
        raise OSError(errno.EFBIG, "too large", name)
    return data.decode("utf-8").removeprefix("\ufeff")


# --- pickles ---------------------------------------------------------------------------------------


@cache
def _readable() -> Mapping[tuple[str, str], Callable[..., Any]]:
    """Return (module, name) -> the classes and constructor functions that preambles' pickles may contain."""
    from .. import diagnostics
    from ..frontend import expansion, tokens, typed, types
    from ..frontend.sema import context
    from . import declarations as preamble

    named: list[Callable[..., Any]] = [Known, set, frozenset, types.scalar_named, preamble.function_without_body]
    named += [getattr(diagnostics, name) for name in ("Diagnostic", "FixIt", "Label", "Note", "Severity", "Span")]
    named += [tokens.Token, expansion.Macro, expansion._Operand]
    named += [getattr(context, name) for name in ("EnumConstant", "EnumTag", "Overloads", "Scope", "Typedef")]
    for module in (types, typed.declarations, typed.expressions, typed.statements):
        own = (item for item in vars(module).values() if isinstance(item, type) and item.__module__ == module.__name__)
        # A class with a __reduce__ method is pickled as a call of another function: pickles do not name the class.
        named += [item for item in own if "__reduce__" not in vars(item)]
    return {(item.__module__, item.__qualname__): item for item in named}


class _Reader(pickle.Unpickler):
    """An unpickler that creates only objects of the classes in `_readable`.

    It imports no module. A dotted name, which would reach the attributes of a module or class, is not in `_readable`.
    """

    def __init__(self, data: bytes, shared: Sequence[object] = ()) -> None:
        super().__init__(io.BytesIO(data))
        self._shared = shared

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("coopmat.preambles.declarations", "shared_object"):
            return self._shared.__getitem__
        found = _readable().get((module, name))
        if found is None:
            raise pickle.UnpicklingError(f"{module}.{name} is not a part of a preamble")
        return found


def read(data: bytes, shared: Sequence[object] = ()) -> Any:
    """Return the object of a pickle; `shared` are objects that it refers to by number. Raises Unreached on errors."""
    try:
        return _Reader(data, shared).load()
    except Exception as error:  # the classes may raise anything for wrong arguments
        raise Unreached from error


# --- where they are kept ---------------------------------------------------------------------------


class _Store:
    """A store of preambles: the most recently used entries in this process, and behind them the cache on disk."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._bytes = 0

    def get(self, key: str) -> Entry | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
                return entry
        entry = Cache.of_environment().get(key)
        if entry is not None:
            self._remember(key, entry)
        return entry

    def put(self, key: str, entry: Entry) -> None:
        self._remember(key, entry)
        Cache.of_environment().put(key, entry)

    def _remember(self, key: str, entry: Entry) -> None:
        with self._lock:
            old = self._entries.pop(key, None)
            self._bytes += len(entry.payload) - (len(old.payload) if old is not None else 0)
            self._entries[key] = entry
            while self._bytes > _MOST_BYTES:
                self._bytes -= len(self._entries.popitem(last=False)[1].payload)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._bytes = 0


_STORE = _Store()


def forget() -> None:
    """Drop the preambles that this process keeps; those on disk remain."""
    _STORE.clear()
