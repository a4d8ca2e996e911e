"""Programs on a device of any interface, OpenCL or Vulkan, as the launches of run headers use them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from coopmat.ir.kernel_info import KernelInfo


@dataclass(frozen=True, slots=True)
class LocalMemory:
    """The size, in bytes, of an argument in local memory."""

    size: int


class LaunchSizes(Protocol):
    """A kernel of a program, with the rules for the sizes of its launches."""

    @property
    def info(self) -> KernelInfo: ...
    @property
    def sub_group_size(self) -> int: ...
    def local_size_for(
        self, global_size: Sequence[int], local_size: Sequence[int] | None
    ) -> tuple[int, ...] | None: ...


class Launched(Protocol):
    """A kernel with its arguments on a device, which may be run several times.

    run: executes the kernel, and returns its time on the device in seconds.
    read: returns an argument's value after the runs.
    """

    def run(self, global_size: Sequence[int], local_size: Sequence[int] | None) -> float: ...
    def read(self, name: str) -> Any: ...


class Launchable(Protocol):
    """A module that is built for a device.

    errors: the exceptions of a launch that the device rejects.
    """

    @property
    def module(self) -> Any: ...
    @property
    def errors(self) -> tuple[type[Exception], ...]: ...
    def kernel(self, name: str | None = None) -> Any: ...
    def bind(self, kernel: Any, values: Mapping[str, Any]) -> AbstractContextManager[Launched]: ...
