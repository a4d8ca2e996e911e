"""The stages of a compilation, each with the type of its result; `pipelines` states which functions implement them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from ..frontend import syntax, typed
    from ..frontend.preprocess import TokenStream
    from ..ir import LoweredModule
    from ..ir.kernel_info import KernelInfo
    from ..opencl_c import Written
    from ..passes import Report
    from ..vulkan.modules import Converted
    from .compilation import Compilation
    from .from_ir import Emission, Read as ReadIr
    from .from_spirv import Read as ReadSpirv

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stage(Generic[T]):
    """A stage whose result has the type T."""

    name: str

    def by(self, run: Callable[[Compilation], T]) -> dict[Stage[Any], Callable[[Compilation], Any]]:
        """Return the entry of a pipeline: the stage with the function that implements it, whose type mypy checks."""
        return {self: run}


TOKENS: Stage[TokenStream] = Stage("tokens")
TREE: Stage[syntax.TranslationUnit] = Stage("tree")
UNIT: Stage[typed.Unit] = Stage("unit")
# form of the program ("spirv", "c", or "flat" for LLVM IR with Clang's matrix types as vectors) -> stage of the passes
PASSED: dict[str, Stage[tuple[typed.Unit, Report]]] = {form: Stage(f"passed {form}") for form in ("spirv", "c", "flat")}
LOWERED: Stage[LoweredModule] = Stage("lowered")
FLAT: Stage[str] = Stage("flat")
WRITTEN: Stage[Written] = Stage("written")
READ_IR: Stage[ReadIr] = Stage("read IR")
READ_SPIRV: Stage[ReadSpirv] = Stage("read SPIR-V")
EMISSION: Stage[Emission] = Stage("emission")
# the module for OpenCL; the module for Vulkan, made of that; the one of the two that the options select
KERNELS: Stage[bytes] = Stage("kernels")
VULKAN: Stage[Converted] = Stage("vulkan")
EMITTED: Stage[bytes] = Stage("emitted")
INFOS: Stage[tuple[KernelInfo, ...]] = Stage("infos")
