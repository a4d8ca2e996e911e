"""A page that explains a kernel: its source beside each stage of its compilation, by one or two routes.

`explain` compiles the source and returns an Explanation; `page.render` writes it as one HTML file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..devices import DeviceInfo
from ..diagnostics import CompileError, Diagnostic
from ..runtime import parse_header
from ..runtime.runheader import Run
from . import measure
from .source import Matrices, find
from .stages import Stages, compile_route

__all__ = ["Explanation", "explain"]


@dataclass(frozen=True)
class Explanation:
    """The contents of a page.

    name, source: the name of the file and its text.
    options: the compiler's options, with those of the file's run header.
    routes: the stages by each route.
    matrices: the matrices of the source; none if it has errors.
    measured: the times by each route, if they were measured.
    plan: the plan for the product that the file computes, "" if there is none.
    """

    name: str
    source: str
    options: tuple[str, ...]
    routes: tuple[Stages, ...]
    matrices: Matrices
    measured: tuple[measure.Measured, ...] = ()
    plan: str = ""

    @property
    def errors(self) -> list[Diagnostic]:
        """The diagnostics of the routes by which the source does not compile."""
        found = (item for stages in self.routes if stages.module is None for item in stages.diagnostics)
        return list(dict.fromkeys(found))


def explain(
    source: bytes,
    name: str,
    options: Sequence[str] = (),
    *,
    routes: Sequence[str] = ("native",),
    device: DeviceInfo | None = None,
    target: str = "",
) -> Explanation:
    """Return the explanation of a source.

    routes: the routes; "auto" is the device's.
    device: the device to compile for, None to compile for no device in particular.
    target: the vendor's device for machine code, "" for the usual one of the route.
    """
    text = source.decode("utf-8", "replace")
    header = header_of(text, name)
    every = (*(header[0].options if header else ()), *options)
    stages = tuple(compile_route(source, name, every, route, device, target) for route in routes)
    module = next((item.module for item in stages if item.module is not None), None)
    matrices = Matrices() if module is None else find(module.unit, name, text)
    return Explanation(name, text, every, stages, matrices)


def header_of(text: str, name: str) -> list[Run]:
    """Return the runs of a file's header; none if the header is wrong, which `coopmat run` reports."""
    try:
        return parse_header(text, name)
    except CompileError:
        return []
