"""Names in the C text. They belong to three disjoint sets:

- The library's: functions, records, macros, and objects of passes. They begin with a prefix that no kernel's name has.
- The user's, which the text keeps. One that begins with that prefix, or that a compiler may know, gets the prefix and
  a letter; so does one with characters beyond ASCII or `$`, which are escaped. Names of kernels stay as they are.
- The language's. Text of the library calls builtins, and the user's functions by names with the prefix only: so the
  names of its own local variables cannot hide what it calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..frontend import typed
from ..frontend.reserved import LIBRARY_PREFIX, is_library, is_reserved, is_word
from ..frontend.types import RecordType, Type


class Names:
    """The names in one text. What a host or another program knows keeps its name: `shared` functions, and those of the
    `variables` that have a symbol. `prelude` is text before it, whose functions and macros have
    the library's prefix, and which may call functions that only the device knows."""

    def __init__(
        self,
        shared: Iterable[typed.FunctionDecl] = (),
        variables: Iterable[typed.VarDecl] = (),
        prelude: str = "",
    ) -> None:
        self._functions = {decl: decl.name for decl in shared}
        self._variables = {decl: decl.symbol for decl in variables if decl.symbol is not None}
        self._used = {*self._functions.values(), *self._variables.values()}
        self._of_device = {*re.findall(r"(\w+)\s*\(", prelude)}
        self._records: dict[RecordType, str] = {}
        self._operands: set[typed.FunctionDecl] = set()
        self.prefix, number = LIBRARY_PREFIX, 1
        while any(name.lower().startswith(self.prefix) for name in self._used):
            number += 1
            self.prefix = f"{LIBRARY_PREFIX.removesuffix('_')}{number}_"

    def text(self, text: str) -> str:
        """Return a text of the library, a prelude, with the prefix of this one."""
        upper = LIBRARY_PREFIX.upper()
        text = re.sub(rf"\b{LIBRARY_PREFIX}", self.prefix, text)
        return re.sub(rf"\b{upper}", self.prefix.upper(), text)

    def own(self, name: str) -> str:
        """Return the name of something of the library's, or of a pass: that has a dot."""
        return self.prefix + name.removeprefix(LIBRARY_PREFIX).replace(".", "")

    def keep(self, decl: typed.FunctionDecl) -> None:
        """Name a function of the library as the prelude does, which defines it."""
        self._functions[decl] = self.own(decl.name)
        self._used.add(self._functions[decl])

    def operand(self, decl: typed.FunctionDecl) -> None:
        """Give a user's function that text of the library calls a name with the prefix."""
        self._operands.add(decl)

    def function(self, decl: typed.FunctionDecl) -> str:
        name = self._functions.get(decl)
        if name is None:
            kept = decl not in self._operands and "." not in decl.name and not is_reserved(decl.name)
            own = is_library(decl.span.file)
            name = self._functions[decl] = self._numbered(decl.name) if own else self._unique(decl.name, kept)
        return name

    def variable(self, decl: typed.VarDecl) -> str:
        """Return the name of a variable. Scopes are the source's, so that several variables may have the same name."""
        result = self._variables.get(decl)
        if result is None:
            name = decl.name
            result = self.own(name) if "." in name else self._user(name, "v", is_reserved(name))
            self._variables[decl] = result
        return result

    def rename(self, decl: typed.VarDecl) -> None:
        """Rename a variable that leaves the scope which distinguishes it from others of its name."""
        self._variables[decl] = f"{self.prefix}s{len(self._variables)}_{_ascii(decl.name.replace('.', ''))}"

    def label(self, name: str) -> str:
        return self._user(name, "l", is_word(name))

    def member(self, t: Type, index: int) -> str:
        """Return the name of a field; an unnamed record inside another has one here."""
        assert isinstance(t, RecordType) and t.fields is not None
        name = t.fields[index].name
        return self._user(name, "f", is_word(name)) if name else self.own(f"unnamed{index}")

    def record(self, record: RecordType) -> str:
        result = self._records.get(record)
        if result is None:
            name = record.name or f"{record.kind}_{len(self._records)}"
            own = is_library(record.span.file)
            result = self._numbered(name) if own else self._unique(name, not is_reserved(name))
            self._records[record] = result
        return result

    def _user(self, name: str, letter: str, reserved: bool) -> str:
        """Return a name of the user's; one that may have another meaning gets the prefix and a letter."""
        written = _ascii(name)
        reserved = reserved or written != name or name.lower().startswith(self.prefix) or name in self._of_device
        return f"{self.prefix}{letter}_{written}" if reserved else name

    def _unique(self, base: str, kept: bool) -> str:
        """Return an unused name for a user's function or record."""
        base = base.replace(".", "_")
        name, number = self._user(base, "u", not kept), 1
        while name in self._used:
            number += 1
            name = f"{self.prefix}u{number}_{_ascii(base)}"
        self._used.add(name)
        return name

    def _numbered(self, base: str) -> str:
        """Return an unused name for a function or record of the library; instances for several targets get numeric
        suffixes."""
        name, number = self.own(base), 1
        while name in self._used:
            number += 1
            name = f"{self.own(base)}_{number}"
        self._used.add(name)
        return name


def _ascii(name: str) -> str:
    """Return a name of letters, digits and underscores of ASCII, a different one for each name that has others."""
    if name.isascii() and "$" not in name:
        return name
    return re.sub(r"[^A-Za-z0-9]", lambda match: "__" if match[0] == "_" else f"_u{ord(match[0]):x}_", name)
