"""Names in the C text: the user's own wherever they mean the same to the device's compiler."""

from __future__ import annotations

from ..frontend import builtins, typed
from ..frontend.types import RecordType
from ..passes.storage import LIBRARY_NAME

# Words of later versions and of compilers, which an older source may use as names.
_WORDS = frozenset(
    {
        *("pipe", "generic", "queue_t", "clk_event_t", "ndrange_t", "reserve_id_t", "inline", "restrict", "asm"),
        *("typeof", "auto", "register", "uniform", "linux", "unix", "NULL", "INFINITY", "NAN"),
    }
)
LIBRARY_PREFIX = "cm_"


class Names:
    """The names in one text. Kernels keep their names; another name that a device may know already, or that another
    function has, receives the library's prefix."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._functions: dict[typed.FunctionDecl, str] = {}
        self._variables: dict[typed.VarDecl, str] = {}
        self._records: dict[RecordType, str] = {}

    def keep(self, decl: typed.FunctionDecl) -> None:
        """A name that is told elsewhere: a kernel's, which hosts ask for, or a prelude's."""
        self._functions[decl] = decl.name
        self._used.add(decl.name)

    def function(self, decl: typed.FunctionDecl) -> str:
        name = self._functions.get(decl)
        if name is None:
            own = decl.span.file == LIBRARY_NAME
            name = self._functions[decl] = self._numbered(decl.name) if own else self.unique(decl.name)
        return name

    def variable(self, decl: typed.VarDecl) -> str:
        """Scopes are the source's, so that the same name may stand for several variables. Names of passes have a
        dot."""
        result = self._variables.get(decl)
        if result is None:
            name = decl.name if _is_free(decl.name) else f"{LIBRARY_PREFIX}v_{decl.name}"
            if "." in name:
                name = LIBRARY_PREFIX + decl.name.replace(".", "")
            result = self._variables[decl] = name
        return result

    def rename(self, decl: typed.VarDecl) -> None:
        """Rename a variable that leaves the scope which distinguishes it from others of its name."""
        self._variables[decl] = f"{LIBRARY_PREFIX}s{len(self._variables)}_{decl.name.replace('.', '')}"

    def record(self, record: RecordType) -> str:
        result = self._records.get(record)
        if result is None:
            name = record.name or f"{record.kind}_{len(self._records)}"
            own = record.span.file == LIBRARY_NAME
            result = self._records[record] = self._numbered(name) if own else self.unique(name)
        return result

    def unique(self, base: str) -> str:
        """Return an unused name. A new name begins with the library's prefix, which no name of the user's keeps."""
        name, number = base if _is_free(base) else f"{LIBRARY_PREFIX}u_{base}", 1
        while name in self._used:
            number += 1
            name = f"{LIBRARY_PREFIX}u{number}_{base}"
        self._used.add(name)
        return name

    def _numbered(self, base: str) -> str:
        """A name of the library's: what one text defines for different targets is told apart by numbers."""
        name, number = base, 1
        while name in self._used:
            number += 1
            name = f"{base}_{number}"
        self._used.add(name)
        return name


def _is_free(name: str) -> bool:
    return name not in _WORDS and not name.startswith(LIBRARY_PREFIX) and builtins.find(name) is None
