"""The pipelines, one for each language: the stages with the functions that implement them.

Such a function takes the compilation, from which it requests the results of earlier stages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from . import from_ir, from_source, from_spirv, stages as s
from .stages import Stage, T

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


def _stage(stage: Stage[T], run: Callable[[Compilation], T]) -> tuple[Stage[Any], Callable[[Compilation], Any]]:
    """Return the pair; mypy checks that the function's result has the type of the stage's."""
    return stage, run


_NOT_A_SOURCE: Mapping[Stage[Any], str] = {
    s.TOKENS: "is not preprocessed",
    **dict.fromkeys((s.TREE, s.UNIT, *s.PASSED.values(), s.WRITTEN), "has no syntax tree"),
}

PIPELINES: Mapping[str, Pipeline] = {
    "cl": Pipeline(
        "OpenCL C",
        s.UNIT,
        dict(
            (
                _stage(s.TOKENS, from_source.preprocess),
                _stage(s.TREE, from_source.parse),
                _stage(s.UNIT, from_source.analyse),
                *(_stage(stage, partial(from_source.run_passes, form=form)) for form, stage in s.PASSED.items()),
                _stage(s.LOWERED, partial(from_source.lower, form="spirv")),
                _stage(s.FLAT, lambda c: from_source.lower(c, form="flat").text),
                _stage(s.WRITTEN, from_source.write),
                _stage(s.INFOS, from_source.kernels),
                _stage(s.EMITTED, from_source.emit),
            )
        ),
        from_source.validate,
        {},
    ),
    "ir": Pipeline(
        "LLVM IR",
        s.READ_IR,
        dict(
            (
                _stage(s.READ_IR, from_ir.read),
                _stage(s.LOWERED, from_ir.lower),
                # Clang's matrix types are vectors in LLVM IR already.
                _stage(s.FLAT, lambda c: c.result(s.READ_IR).text),
                _stage(s.EMISSION, from_ir.emit),
                _stage(s.EMITTED, lambda c: c.result(s.EMISSION).spirv),
                _stage(s.INFOS, lambda c: (c.result(s.WRITTEN) if c.code == "c" else c.result(s.EMISSION)).kernels),
            )
        ),
        from_ir.validate,
        _NOT_A_SOURCE,
    ),
    "spv": Pipeline(
        "SPIR-V",
        s.READ_SPIRV,
        dict(
            (
                _stage(s.READ_SPIRV, from_spirv.read),
                _stage(s.EMITTED, from_spirv.emit),
                _stage(s.INFOS, lambda c: c.result(s.READ_SPIRV).kernels),
            )
        ),
        from_spirv.validate,
        {**_NOT_A_SOURCE, **dict.fromkeys((s.LOWERED, s.FLAT), "is not made of LLVM IR here")},
        (s.INFOS, s.EMITTED),
    ),
}
