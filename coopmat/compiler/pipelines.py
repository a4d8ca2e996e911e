"""The pipelines, one for each language: the stages by name.

A stage is a function of the compilation, from which it requests the results of earlier stages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from . import from_ir, from_source, from_spirv

if TYPE_CHECKING:
    from .compilation import Compilation

Stage = Callable[["Compilation"], Any]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The pipeline of one language.

    title: the name of the language in messages.
    first: the stage that finds a source's errors.
    stages: name -> stage.
    validate: the function that runs spirv-val on a binary.
    lacks: a stage that only other languages have -> the reason, for the message.
    pickled: the stages that must run before a module is pickled, since their inputs cannot be pickled.
    """

    title: str
    first: str
    stages: Mapping[str, Stage]
    validate: Callable[[Compilation, bytes], None]
    lacks: Mapping[str, str]
    pickled: tuple[str, ...] = ()


_NOT_A_SOURCE = {
    "tokens": "is not preprocessed",
    **dict.fromkeys(("tree", "unit", "passed spirv", "passed c", "written"), "has no syntax tree"),
}

PIPELINES: Mapping[str, Pipeline] = {
    "cl": Pipeline(
        "OpenCL C",
        "unit",
        {
            "tokens": from_source.preprocess,
            "tree": from_source.parse,
            "unit": from_source.analyse,
            "passed spirv": partial(from_source.run_passes, form="spirv"),
            "passed c": partial(from_source.run_passes, form="c"),
            "passed flat": partial(from_source.run_passes, form="flat"),
            "lowered": partial(from_source.lower, form="spirv"),
            "flat": lambda c: from_source.lower(c, form="flat").text,
            "written": from_source.write,
            "infos": from_source.kernels,
            "emitted": from_source.emit,
        },
        from_source.validate,
        {},
    ),
    "ir": Pipeline(
        "LLVM IR",
        "read",
        {
            "read": from_ir.read,
            "lowered": from_ir.lower,
            # Clang's matrix types are vectors in LLVM IR already.
            "flat": lambda c: c.result("read").text,
            "emission": from_ir.emit,
            "emitted": lambda c: c.result("emission").spirv,
            "infos": lambda c: c.result("written" if c.code == "c" else "emission").kernels,
        },
        from_ir.validate,
        _NOT_A_SOURCE,
    ),
    "spv": Pipeline(
        "SPIR-V",
        "read",
        {
            "read": from_spirv.read,
            "emitted": from_spirv.emit,
            "infos": lambda c: c.result("read").kernels,
        },
        from_spirv.validate,
        {**_NOT_A_SOURCE, **dict.fromkeys(("lowered", "flat"), "is not made of LLVM IR here")},
        ("infos", "emitted"),
    ),
}
