"""The stages of each language, and the passes of each route, as data.

A stage takes the compilation and requests the results of earlier ones from it.
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
    """The pipeline of one language: `first` is the stage that finds a source's errors, `validate` runs spirv-val on the
    binary. `lacks` gives the reason why a stage of other languages does not exist. `pickled` are stages that run before
    a module is pickled, since their inputs cannot be."""

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
            # Matrix types are vectors in IR already: they stay as they were read.
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
