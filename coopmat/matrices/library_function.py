"""The description of a library function: its name, its parameters, and the source of its text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from .routes import LoweredRoute, Target


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a library function.

    type: OpenCL C's name of a scalar or vector type.
    space: if the parameter is a pointer to `type`, its address space; otherwise None.
    """

    name: str
    type: str
    space: str | None = None
    const: bool = False
    volatile: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    """The result type and the parameters of a library function."""

    returns: str
    parameters: tuple[Parameter, ...]


class LibraryFunction(ABC):
    """A library function for given matrix types; equal ones are the same function."""

    __slots__ = ()

    @property
    @abstractmethod
    def function_name(self) -> str: ...

    @property
    @abstractmethod
    def signature(self) -> Signature: ...

    def needs(self, target: Target) -> tuple[LibraryFunction, ...]:
        """Return the functions that this function calls."""
        return ()

    @property
    def of_work_group(self) -> bool:
        """Whether the matrices have the scope of a work-group."""
        return False

    def scratch_bytes(self, target: Target) -> int:
        """Return the bytes of local memory through which the subgroups of a work-group exchange values.

        If there are any, the function has a parameter `SCRATCH` with their address after those of the signature.
        """
        return 0


class FromTemplate(LibraryFunction):
    """A library function whose text is a section of a file in library/."""

    __slots__ = ()

    @abstractmethod
    def definitions(self, target: Target) -> dict[str, str]:
        """Return the macros of the template: name without `CM_` -> body.

        The macro "OP" is the name of the section, or several names in order of preference, separated by blanks.
        """

    def files(self, route: LoweredRoute) -> tuple[str, ...]:
        """Return the files of library/ that may have the section; the last file takes precedence."""
        return route.files


class Written(LibraryFunction):
    """A library function whose text is generated."""

    __slots__ = ()

    @abstractmethod
    def text(self, target: Target) -> str:
        """Return OpenCL C that defines `function_name` and no other name that another function's text may define."""


SCRATCH = Parameter("scratch", "ulong", "local")


def parameters(function: LibraryFunction, target: Target) -> tuple[Parameter, ...]:
    """Return the parameters of the function for `target`, including `SCRATCH` if required."""
    return function.signature.parameters + ((SCRATCH,) if function.scratch_bytes(target) else ())
