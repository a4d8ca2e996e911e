"""Preambles that are kept: in this process, and in the cache on disk, as pickles."""

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

#: Fewer tokens are analysed about as fast as what is kept of them is read.
FEWEST_TOKENS = 5_000
#: Preambles of the same lines and options for which other macros or files were seen.
_MOST_ALTERNATIVES = 8
#: Bytes that a process keeps.
_MOST_BYTES = 64 << 20

# Each part ends at one place only: what follows would else be tried with each of many.
_REST = r"(?:[^\n\\]|\\[ \t]*\r?\n|\\(?![ \t]*\r?\n))*"
_PIECE = re.compile(
    r"[ \t\v\f\r]*(?![ \t\v\f\r])(?:"
    rf"(?:\#|%:)[ \t]*(?![ \t])(?P<directive>[a-z]*)(?![a-z])(?P<rest>{_REST})"
    rf"|//{_REST}"
    r"|/\*[^*]*(?:\*(?!/)[^*]*)*\*/[ \t\v\f\r]*"
    r"|)\n"
)
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
# What wrong facts raise: a file may have the right digest and any contents.
_ABSURD = (ValueError, LookupError, TypeError, AttributeError)


def preamble_length(text: str) -> int:
    """Return the number of characters of a source's preamble, 0 where there is none."""
    at = end = depth = 0
    included = False
    while match := _PIECE.match(text, at):
        directive = match["directive"] or ""
        if "/*" in (match["rest"] or ""):
            break  # a comment that may end on another line
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
    """A `Known` preamble: the state of the preprocessor and of the parser after it, and the pickles of the
    declarations and of the functions' bodies, by their numbers among the declarations."""

    preprocessor: dict[str, Any]
    parser: dict[str, Any]
    declarations: bytes
    bodies: dict[int, bytes]


class Unreached(Exception):
    """Raised where a function is reached whose body was not kept, or what was kept cannot be read."""


@dataclass(slots=True)
class Preamble:
    """The `Preamble` of one compilation: `known` is what an earlier one has kept; otherwise `state` collects what this
    one has made. `settings` are all options that matter but include directories and macros. `whole`: all functions
    are kept, not only those that are reached."""

    settings: str
    whole: bool = False
    known: Known | None = None
    #: The number of tokens and of declarations of the preamble; None where it cannot be kept.
    tokens: int | None = None
    declarations: int | None = None
    state: dict[str, Any] = field(default_factory=dict)
    _key: str = ""
    _defines: tuple[tuple[str, str], ...] = ()

    def find(self, name: str, text: str, options: PreprocessOptions, diagnostics: Diagnostics) -> None:
        """Set `known`, if the source's preamble is, and add its files' texts to the diagnostics'."""
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
        """Take over an entry, and return whether it is there and fits the files."""
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
        """Keep what this compilation has made of its preamble."""
        known = Known(self.state["preprocessor"], self.state["parser"], declarations, dict(bodies))
        words = "\n".join(["", *sorted(self.state["words"]), ""])
        # Each with whether it was never on disk, and what was read: by now it may be another.
        files: list[tuple[str, bool, str]] = self.state["files"]
        row: dict[str, Any] = {"defines": _seen(self._defines, words), "words": words}
        row["key"] = key_of({"preamble": self._key, "files": sorted(files), "defines": row["defines"]})
        _STORE.put(row["key"], Entry(pickle.dumps(known, 5), {"files": files, "absent": list(absent)}))
        index = _STORE.get(self._key)
        others = [other for other in index.facts if other["key"] != row["key"]] if index is not None else []
        _STORE.put(self._key, Entry(b"", [row, *others][:_MOST_ALTERNATIVES]))


def words_of(texts: Iterable[str]) -> set[str]:
    """Return the names in texts, comments and text that is not compiled included."""
    return {word for text in texts for word in _WORD.findall(text)}


def _seen(defines: Sequence[tuple[str, str]], words: str) -> list[list[str]]:
    """Return the macros of the command line that the words name."""
    return [[name, value] for name, value in defines if f"\n{name.partition('(')[0]}\n" in words]


def digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=32).hexdigest()


def _texts(facts: Mapping[str, Any], virtual: Mapping[str, str]) -> dict[str, str] | None:
    """Return the texts of the files of an entry by their names, or None where one is another than it was, or a name
    that was searched for is a file's now."""
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
    """Return the classes that preambles contain, and the functions that make objects for them, by module and name."""
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
        # A class that reduces its objects itself is not named in pickles.
        named += [item for item in own if "__reduce__" not in vars(item)]
    return {(item.__module__, item.__qualname__): item for item in named}


class _Reader(pickle.Unpickler):
    """A reader that makes nothing but objects of the classes in `_readable`. It imports nothing, and a name with a dot,
    which leads into a module's or a class's attributes, is none of these."""

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
    """Return the object of a pickle; `shared` are those that it names by their number. Raises Unreached."""
    try:
        return _Reader(data, shared).load()
    except Exception as error:  # whatever the classes raise for arguments that are none of theirs
        raise Unreached from error


# --- where they are kept ---------------------------------------------------------------------------


class _Store:
    """A `_Store` has the entries of this process, those used last, and the cache on disk behind them."""

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
    """Forget what this process has kept; what is on disk stays."""
    _STORE.clear()
