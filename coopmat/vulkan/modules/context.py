"""What the passes of one conversion share: the module's parts, the layout of its types, and its kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ...foreign.consumers import Parts
from ...spirv.module import ENUM, OP, Instruction, decode_string
from ...spirv.refusal import Refused
from ...spirv.sections import Section
from .launch import KernelLaunch, Sampler
from .layout import Layout

if TYPE_CHECKING:
    from .builtins import Builtins


class Parameter(Protocol):
    """A parameter of a kernel, as the compiler describes it."""

    @property
    def name(self) -> str: ...
    @property
    def type_name(self) -> str: ...


class Kernel(Protocol):
    """A kernel, as the compiler describes it."""

    @property
    def name(self) -> str: ...
    @property
    def reqd_work_group_size(self) -> tuple[int, int, int] | None: ...
    @property
    def sub_group_size(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class Handle:
    """An image or sampler that is an argument of a kernel.

    binding: the descriptor's number in the set 0.
    uses: as `image_uses.find_uses` returns them.
    values: "order", "data_type" or "mask" -> the id of the number that the host pushes.
    """

    binding: int
    uses: frozenset[str]
    values: Mapping[str, int]


@dataclass(slots=True)
class Context:
    """The state of a conversion.

    target_env: "vulkan1.3" or "vulkan1.4".
    kernels: name -> description.
    parameters: name of a kernel -> its parameters.
    entries: id of a kernel's function -> name of the kernel.
    launches: name of a kernel -> its interface, once the pass `interface` has run.
    handles: id of a kernel's parameter -> the image or sampler.
    samplers: the samplers of the source, once the pass `images` has run.
    work_group_size: the ids of the three specialisation constants.
    work_group_vector: the id of these as a vector.
    glsl: the id of the instruction set GLSL.std.450, once the pass `extended` has run.
    builtins: the builtin variables, once a pass has asked for them.
    """

    parts: Parts
    target_env: str
    kernels: dict[str, Kernel]
    parameters: Mapping[str, Sequence[Parameter]]
    layout: Layout = field(init=False)
    entries: dict[int, str] = field(init=False)
    launches: dict[str, KernelLaunch] = field(default_factory=dict)
    handles: dict[int, Handle] = field(default_factory=dict)
    samplers: list[Sampler] = field(default_factory=list)
    work_group_size: tuple[int, int, int] = (0, 0, 0)
    work_group_vector: int = 0
    glsl: int = 0
    builtins: Builtins | None = None

    def __post_init__(self) -> None:
        self.layout = Layout(self.parts)
        entries = self.parts.sections[Section.ENTRY_POINT]
        self.entries = {item.operands[1]: decode_string(item.operands[2:])[0] for item in entries}

    def refused(self, what: str) -> Refused:
        """Return the error for a construct of OpenCL C that the target lacks."""
        return Refused("vulkan", f"not supported with --target-env {self.target_env}: {what}")

    def variable(self, type_id: int, storage_class: str) -> int:
        """Add a global variable of a type and return its id."""
        number = ENUM[f"StorageClass.{storage_class}"]
        globals_ = self.parts.globals
        pointer = globals_.pointer(type_id, number)
        return globals_.add(Instruction(OP["OpVariable"], (number,), pointer, self.parts.module.new_id()))
