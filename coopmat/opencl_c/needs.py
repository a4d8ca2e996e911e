"""The requirements of a text on the device's compiler: a language version, extensions, build options."""

from __future__ import annotations

from ..diagnostics import CompileError, Diagnostic, Note, Severity, Span
from ..features import LANGUAGE_VERSIONS, TABLE
from ..frontend.types import DOUBLE, HALF, AtomicType, Type, element_type

_FEATURES = {row.name: row for row in TABLE}
_EXTENSIONS: dict[Type, str] = {HALF: "cl_khr_fp16", DOUBLE: "cl_khr_fp64"}
_OPENCL_2 = LANGUAGE_VERSIONS["CL2.0"]
# Extensions of OpenCL C 2.0: clang, on which AMD's compiler for one is based, has none of their functions in an older
# version. A device that has no newer version may have them all the same.
_SINCE_2 = (
    *("cl_khr_subgroup", "cl_khr_extended_bit_ops", "cl_khr_integer_dot_product"),
    *("cl_khr_work_group_uniform_arithmetic", "__opencl_c_integer_dot_product"),
)


class Needs:
    """Collected while the text is written. `most` is the newest version that may be asked for, as __OPENCL_C_VERSION__
    has it."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.version = LANGUAGE_VERSIONS["CL1.2"]
        self.extensions: set[str] = set()
        # Of the statement being written.
        self.span: Span | None = None

    def extension(self, name: str) -> None:
        self.extensions.add(name)
        self._prefer_2(name)

    def value_of(self, t: Type) -> None:
        """A value of the type, or an object: pointers need nothing."""
        name = _EXTENSIONS.get(element_type(t))
        if name is not None:
            self.extensions.add(name)

    def feature(self, name: str, what: str = "this") -> None:
        """A language version ("CL2.0"), an extension or a feature of OpenCL C 3.0."""
        if name in LANGUAGE_VERSIONS:
            self._at_least(LANGUAGE_VERSIONS[name], what)
            return
        row = _FEATURES[name]
        if name.startswith("cl_"):
            self.extension(name)
        self._prefer_2(name)
        self._at_least(row.since, what)

    def _prefer_2(self, name: str) -> None:
        if name.startswith(_SINCE_2) and self.most >= _OPENCL_2:
            self.version = max(self.version, _OPENCL_2)

    def features(self, names: str, what: str) -> None:
        """Separated by blanks."""
        for name in names.split():
            self.feature(name, what)

    def generic(self) -> None:
        self._at_least(_OPENCL_2, "a pointer to the generic address space", "give the pointer an address space")

    def version_for(self, t: AtomicType) -> None:
        self._at_least(_OPENCL_2, f"the type '{t}'")
        if t.value.bits == 64:
            self.extensions |= {"cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"}

    def _at_least(self, version: int, what: str, advice: str = "") -> None:
        if version > self.most:
            message = f"{what} needs OpenCL C {version / 100:.1f}: not supported in OpenCL C {self.most / 100:.1f}"
            notes = (Note(advice),) if advice else ()
            raise CompileError([Diagnostic(Severity.ERROR, "not-supported", message, self.span, notes=notes)])
        self.version = max(self.version, version)

    @property
    def standard(self) -> str:
        """Return the value for -cl-std=."""
        return f"CL{self.version / 100:.1f}"
