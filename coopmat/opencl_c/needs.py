"""The requirements of a text on the device's compiler: a language version and extensions."""

from __future__ import annotations

from ..diagnostics import CompileError, Diagnostic, Note, Severity, Span
from ..features import LANGUAGE_VERSIONS, TABLE
from ..frontend.types import DOUBLE, HALF, AtomicType, Type, element_type

_FEATURES = {row.name: row for row in TABLE}
_EXTENSIONS: dict[Type, str] = {HALF: "cl_khr_fp16", DOUBLE: "cl_khr_fp64"}
_OPENCL_2 = LANGUAGE_VERSIONS["CL2.0"]
# Prefixes of extensions that need OpenCL C 2.0: clang, on which AMD's compiler is based, declares their functions only
# since that version. A device without newer versions may have the extensions nevertheless.
_SINCE_2 = (
    *("cl_khr_subgroup", "cl_khr_extended_bit_ops", "cl_khr_integer_dot_product"),
    *("cl_khr_work_group_uniform_arithmetic", "__opencl_c_integer_dot_product"),
)


class Needs:
    """The requirements collected while a text is written.

    `most` is the newest version that the text may require, as a value of __OPENCL_C_VERSION__.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.version = LANGUAGE_VERSIONS["CL1.2"]
        self.extensions: set[str] = set()
        # The location of the statement that is being written.
        self.span: Span | None = None

    def extension(self, name: str) -> None:
        self.extensions.add(name)
        self._prefer_2(name)

    def value_of(self, t: Type) -> None:
        """Require the extension for values and objects of type `t`; a pointer to it needs none."""
        name = _EXTENSIONS.get(element_type(t))
        if name is not None:
            self.extensions.add(name)

    def feature(self, name: str, what: str = "this") -> None:
        """Require a language version ("CL2.0"), an extension, or a feature of OpenCL C 3.0.

        Raise CompileError if the version is newer than `most`; `what` is the message's subject.
        """
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
        """Require each of the features in `names`, separated by blanks."""
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
        """The value for -cl-std=."""
        return f"CL{self.version / 100:.1f}"
