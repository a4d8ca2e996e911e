"""The names in the C text, from three disjoint sets.

- The library's names: functions, records, macros, and objects of passes. They begin with a prefix that no kernel's name
  has.
- The user's names, which are kept. A name that begins with that prefix, or that a compiler may know, gets the prefix
  and a letter. The same applies to names with `$` or characters beyond ASCII, which are escaped. Names of kernels are
  never changed.
- The language's names. The library's text calls only builtins, and user functions by names with the prefix. Therefore
  the library's local variables cannot hide a callee.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..frontend import typed
from ..frontend.reserved import LIBRARY_PREFIX, is_library, is_reserved, is_word
from ..frontend.types import RecordType, Type


class Names:
    """The names in one text.

    shared: functions whose names are kept, because the host or other programs know them.
    variables: all variables; those with a symbol keep it.
    prelude: the text before the program. Its functions and macros have the library's prefix, and it may call functions
        that only the device knows.
    """

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
        """Return a text of the library, such as the prelude, with this text's prefix in place of the default one."""
        upper = LIBRARY_PREFIX.upper()
        text = re.sub(rf"\b{LIBRARY_PREFIX}", self.prefix, text)
        return re.sub(rf"\b{upper}", self.prefix.upper(), text)

    def own(self, name: str) -> str:
        """Return the prefixed name of an entity of the library or of a pass; dots are removed."""
        return self.prefix + name.removeprefix(LIBRARY_PREFIX).replace(".", "")

    def keep(self, decl: typed.FunctionDecl) -> None:
        """Give a library function, which the prelude defines, the name that the prelude uses."""
        self._functions[decl] = self.own(decl.name)
        self._used.add(self._functions[decl])

    def operand(self, decl: typed.FunctionDecl) -> None:
        """Record that library text calls a user's function, which therefore gets a name with the prefix."""
        self._operands.add(decl)

    def function(self, decl: typed.FunctionDecl) -> str:
        name = self._functions.get(decl)
        if name is None:
            kept = decl not in self._operands and "." not in decl.name and not is_reserved(decl.name)
            own = is_library(decl.span.file)
            name = self._functions[decl] = self._numbered(decl.name) if own else self._unique(decl.name, kept)
        return name

    def variable(self, decl: typed.VarDecl) -> str:
        """Return the name of a variable; variables in different scopes may share a name, as in the source."""
        result = self._variables.get(decl)
        if result is None:
            name = decl.name
            result = self.own(name) if "." in name else self._user(name, "v", is_reserved(name))
            self._variables[decl] = result
        return result

    def rename(self, decl: typed.VarDecl) -> None:
        """Give a variable that moves to an outer scope a unique name."""
        self._variables[decl] = f"{self.prefix}s{len(self._variables)}_{_ascii(decl.name.replace('.', ''))}"

    def label(self, name: str) -> str:
        return self._user(name, "l", is_word(name))

    def member(self, t: Type, index: int) -> str:
        """Return the name of a field; an unnamed field gets a name."""
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
        """Return a user's name; if it may have another meaning, prefixed by the library's prefix and `letter`."""
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
        """Return an unused name for a library function or record; copies for several targets get a number."""
        name, number = self.own(base), 1
        while name in self._used:
            number += 1
            name = f"{self.own(base)}_{number}"
        self._used.add(name)
        return name


def _ascii(name: str) -> str:
    """Escape characters other than ASCII letters, digits and underscores; different names stay different."""
    if name.isascii() and "$" not in name:
        return name
    return re.sub(r"[^A-Za-z0-9]", lambda match: "__" if match[0] == "_" else f"_u{ord(match[0]):x}_", name)
