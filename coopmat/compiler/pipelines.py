"""The pipelines, one for each language: the stages with the functions that implement them.

Such a function takes the compilation, from which it requests the results of earlier stages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from . import from_ir, from_source, from_spirv, stages as s
from .stages import Stage

if TYPE_CHECKING:
    from .compilation import Compilation


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The pipeline of one language.

    title: the name of the language in messages.
    first: the stage that finds a source's errors.
    stages: stage -> the function that implements it.
    validate: the function that runs spirv-val on a binary.
    lacks: a stage that only other languages have -> the reason, for the message.
    pickled: the stages that must run before a module is pickled, since their inputs cannot be pickled.
    """

    title: str
    first: Stage[Any]
    stages: Mapping[Stage[Any], Callable[[Compilation], Any]]
    validate: Callable[[Compilation, bytes], None]
    lacks: Mapping[Stage[Any], str]
    pickled: tuple[Stage[Any], ...] = ()


_NOT_A_SOURCE: Mapping[Stage[Any], str] = {
    s.TOKENS: "is not preprocessed",
    **dict.fromkeys((s.TREE, s.UNIT, *s.PASSED.values(), s.WRITTEN), "has no syntax tree"),
}

PIPELINES: Mapping[str, Pipeline] = {
    "cl": Pipeline(
        "OpenCL C",
        s.UNIT,
        {
            **s.TOKENS.by(from_source.preprocess),
            **s.TREE.by(from_source.parse),
            **s.UNIT.by(from_source.analyse),
            **s.PASSED["spirv"].by(partial(from_source.run_passes, form="spirv")),
            **s.PASSED["c"].by(partial(from_source.run_passes, form="c")),
            **s.PASSED["flat"].by(partial(from_source.run_passes, form="flat")),
            **s.LOWERED.by(partial(from_source.lower, form="spirv")),
            **s.FLAT.by(lambda c: from_source.lower(c, form="flat").text),
            **s.WRITTEN.by(from_source.write),
            **s.INFOS.by(from_source.kernels),
            **s.KERNELS.by(from_source.emit),
            **s.VULKAN.by(from_source.convert_to_vulkan),
            **s.EMITTED.by(from_source.select_module),
        },
        from_source.validate,
        {},
    ),
    "ir": Pipeline(
        "LLVM IR",
        s.READ_IR,
        {
            **s.READ_IR.by(from_ir.read),
            **s.LOWERED.by(from_ir.lower),
            # Clang's matrix types are vectors in LLVM IR already.
            **s.FLAT.by(lambda c: c.result(s.READ_IR).text),
            **s.EMISSION.by(from_ir.emit),
            **s.EMITTED.by(lambda c: c.result(s.EMISSION).spirv),
            **s.INFOS.by(lambda c: (c.result(s.WRITTEN) if c.code == "c" else c.result(s.EMISSION)).kernels),
        },
        from_ir.validate,
        _NOT_A_SOURCE,
    ),
    "spv": Pipeline(
        "SPIR-V",
        s.READ_SPIRV,
        {
            **s.READ_SPIRV.by(from_spirv.read),
            **s.EMITTED.by(from_spirv.emit),
            **s.INFOS.by(lambda c: c.result(s.READ_SPIRV).kernels),
        },
        from_spirv.validate,
        {**_NOT_A_SOURCE, **dict.fromkeys((s.LOWERED, s.FLAT), "is not made of LLVM IR here")},
        (s.INFOS, s.EMITTED),
    ),
}
