"""What a function of the library is: its name, its parameters, and where its text comes from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from .strategies import Strategy, Target


@dataclass(frozen=True, slots=True)
class Parameter:
    """`type` is OpenCL C's name of a scalar or vector; `space` the address space where it is a pointer to one."""

    name: str
    type: str
    space: str | None = None
    const: bool = False
    volatile: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    returns: str
    parameters: tuple[Parameter, ...]


class Instance(ABC):
    """A library function for given matrix types. Equal instances are the same function."""

    __slots__ = ()

    @property
    @abstractmethod
    def function_name(self) -> str: ...

    @property
    @abstractmethod
    def signature(self) -> Signature: ...

    def needs(self, target: Target) -> tuple[Instance, ...]:
        """Functions that this one calls."""
        return ()

    @property
    def of_work_group(self) -> bool:
        """Whether its matrices are of the scope of a work-group."""
        return False

    def scratch_bytes(self, target: Target) -> int:
        """Of the local memory that a work-group's subgroups exchange values through: its address is then a parameter
        after those of the signature, `SCRATCH`."""
        return 0


class FromTemplate(Instance):
    """A function whose text is a section of a file in library/."""

    __slots__ = ()

    @abstractmethod
    def definitions(self, target: Target) -> dict[str, str]:
        """The macros of the template, `CM_` left out; "OP" names its section, or several, the best first."""

    def files(self, strategy: Strategy) -> tuple[str, ...]:
        """Those of library/ that may have the section, the last first."""
        return strategy.files


class Written(Instance):
    """A function whose text is made for it."""

    __slots__ = ()

    @abstractmethod
    def text(self, target: Target) -> str:
        """OpenCL C that defines `function_name` and nothing else that another text may define."""


SCRATCH = Parameter("scratch", "ulong", "local")


def parameters(instance: Instance, target: Target) -> tuple[Parameter, ...]:
    """Of the instance's function, instantiated for `target`."""
    return instance.signature.parameters + ((SCRATCH,) if instance.scratch_bytes(target) else ())
