"""The store of preambles: in this process, and behind it in the cache on disk, as pickles."""

from __future__ import annotations

import errno
import hashlib
import io
import pickle
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any

from .. import budgets, file_table
from ..cache import Cache, Entry, key_of, package_version
from ..diagnostics import Diagnostics

if TYPE_CHECKING:
    from ..frontend.preprocess_options import PreprocessOptions

#: How many preambles of equal lines and options are kept, which differ in macros or in the contents of files.
_MOST_ALTERNATIVES = 8
#: The bytes of preambles that a process keeps.
_MOST_BYTES = 64 << 20

_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
# The errors that a damaged or foreign file causes: its digest may be right for any contents.
ABSURD = (ValueError, LookupError, TypeError, AttributeError)


@dataclass(frozen=True, slots=True)
class Known:
    """A preamble that an earlier compilation has kept.

    states: name of a stage's class -> the pickle of the stage's state after the preamble.
    bodies: the number of a function among the declarations -> the pickle of its body.
    """

    states: dict[str, bytes]
    bodies: dict[int, bytes]


class Unreached(Exception):
    """Raised if a function is reached whose body was not kept, or a pickle cannot be read."""


def key_of_preamble(settings: object, name: str, text: str, options: PreprocessOptions) -> str:
    """Return the key of all preambles with these lines and options; they differ in macros or contents of files."""
    own = [options.include_dirs, options.undefines, sorted(options.virtual_files.items())]
    parts = {"kind": "preamble", "version": package_version(), "source": [name, text], "settings": [settings, *own]}
    return key_of(parts)


def find(key: str, options: PreprocessOptions, diagnostics: Diagnostics) -> Iterator[Known]:
    """Yield the preambles that are stored under a key and whose macros and files are those of this compilation.

    Register the texts of a preamble's files in `diagnostics` before.
    """
    index = _STORE.get(key)
    for row in index.facts if index is not None and isinstance(index.facts, list) else ():
        try:
            entry = _STORE.get(row["key"]) if row["defines"] == _seen(options.defines, row["words"]) else None
            texts = _texts(entry.facts, options.virtual_files) if entry is not None else None
            known = read(entry.payload) if entry is not None and texts is not None else None
        except (*ABSURD, Unreached):
            continue
        if isinstance(known, Known) and texts is not None:
            for file, text in texts.items():
                diagnostics.sources.add(file, text)
            yield known


def keep(key: str, known: Known, words: str, facts: Mapping[str, Any], defines: Sequence[tuple[str, str]]) -> None:
    """Store a preamble under a key, with the facts that its text depends on.

    words: the identifiers in the text, separated by line ends; those macros of the command line count that are in it.
    facts: "files": (name, whether the file is held in memory, digest of the text that was read), since the file may
      have changed since; "absent": the paths at which includes were searched but do not exist.
    """
    row: dict[str, Any] = {"defines": _seen(defines, words), "words": words}
    row["key"] = key_of({"preamble": key, "files": sorted(facts["files"]), "defines": row["defines"]})
    _STORE.put(row["key"], Entry(pickle.dumps(known, 5), facts))
    index = _STORE.get(key)
    others = [other for other in index.facts if other["key"] != row["key"]] if index is not None else []
    _STORE.put(key, Entry(b"", [row, *others][:_MOST_ALTERNATIVES]))


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
    from .snapshot import function_without_body

    named: list[Callable[..., Any]] = [Known, set, frozenset, types.scalar_named, function_without_body]
    named += [getattr(diagnostics, name) for name in ("Diagnostic", "FixIt", "Label", "Note", "Severity", "Span")]
    named += [tokens.Token, expansion.Macro, expansion._Operand]
    named += [getattr(context, name) for name in ("EnumConstant", "EnumTag", "Overloads", "Scope", "Typedef")]
    for module in (types, typed.declarations, typed.expressions, typed.statements):
        own = (item for item in vars(module).values() if isinstance(item, type) and item.__module__ == module.__name__)
        # A class with a __reduce__ method is pickled as a call of another function: pickles do not name the class.
        named += [item for item in own if "__reduce__" not in vars(item)]
    return {(item.__module__, item.__qualname__): item for item in named}


def _member(of: Any, name: str) -> Enum:
    """Return a member of an enumeration: Python 3.11.0 to 3.11.3 pickle members as calls of getattr."""
    if not (isinstance(of, type) and issubclass(of, Enum)):
        raise pickle.UnpicklingError(f"{of} is no enumeration")
    return of[name]


class _Reader(pickle.Unpickler):
    """An unpickler that creates only objects of the classes in `_readable`.

    It imports no module. A dotted name, which would reach the attributes of a module or class, is not in `_readable`.
    """

    def __init__(self, data: bytes, shared: Sequence[object] = ()) -> None:
        super().__init__(io.BytesIO(data))
        self._shared = shared

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("coopmat.preambles.snapshot", "shared_object"):
            return self._shared.__getitem__
        if (module, name) == ("builtins", "getattr"):
            return _member
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
