"""A source compiled by one route: its diagnostics, and the listings of its stages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from .. import compiler
from ..diagnostics import CompileError, Diagnostic
from ..frontend.reserved import LIBRARY_PREFIX
from ..frontend.typed_dump import lines as typed_lines
from ..matrices.routes import LOWERED_ROUTES, OPENCL_C_ONLY
from ..options import CompileOptions, UsageError
from ..spirv.tools import ToolError, ToolsMissing
from . import lines, listing, machine
from .listing import Line, Listing

if TYPE_CHECKING:
    from ..compiler import Module
    from ..devices import DeviceInfo

TITLES = {
    "ast": "Typed AST",
    "ll": "LLVM IR",
    "spv": "SPIR-V",
    "c": "OpenCL C",
    "lib": "Library",
    "asm": "Machine code",
}


@dataclass(frozen=True)
class Stages:
    """The stages of a source on one route.

    route: the name of the route.
    device: the label of the device, "" if the source is compiled for no device in particular.
    form: the form in which a device gets the program: "SPIR-V" or "OpenCL C".
    module: the compiled source; None if it has errors.
    diagnostics: the diagnostics, with the remarks on multiply-adds.
    sub_group_size: the size of subgroups that the route presumes; None on the native route.
    listings: key of TITLES -> the listing.
    """

    route: str
    device: str = ""
    form: str = ""
    module: Module | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    sub_group_size: int | None = None
    listings: dict[str, Listing] = field(default_factory=dict)


def compile_route(
    source: bytes, name: str, options: Sequence[str], route: str, device: DeviceInfo | None, target: str
) -> Stages:
    """Compile a source and return its stages; if it has errors, they have only diagnostics.

    options: options of the compiler.
    route: a route, or "auto" for the device's.
    target: the name of the device for machine code, "" for the usual one of the route.
    """
    from ..runtime.launch import compile_resolved, resolve_options, with_advice

    wanted = with_advice(CompileOptions.from_arguments([*options, "--matrices", route]))
    wanted = replace(wanted, remarks="matrix")
    label = device.label if device is not None else ""
    try:
        if device is None:
            module = compiler.compile(source, wanted, name=name)
        else:
            module = compile_resolved(source, resolve_options(wanted, device), device, name=name)
        # The passes for the device's form report the remarks and the advice.
        form = "OpenCL C" if module.code == "c" or module.matrices in OPENCL_C_ONLY else "SPIR-V"
        _ = module.opencl_c if form == "OpenCL C" else module.llvm_ir
        found = tuple(module.diagnostics)
    except CompileError as error:
        return Stages(route, label, diagnostics=tuple(error.diagnostics))
    own = module.matrices
    size = None if own == "native" else LOWERED_ROUTES[own].size(module.options.sub_group_size)
    return Stages(own, label, form, module, found, size, listings(module, target))


def listings(module: Module, target: str) -> dict[str, Listing]:
    """Return key -> listing of each stage."""
    name, file = module.name, module.name
    every = [_attempt("ast", lambda: (listing.of_spans(typed_lines(module.unit), name), ""), "ast", file)]
    every.append(_attempt("ll", lambda: (_llvm(module), ""), "ll", file))
    every.append(_attempt("spv", lambda: (_spirv(module), ""), "spvasm", file))
    every.append(_attempt("c", lambda: (_c(module)[0], _c_note(module)), "c", file))
    every.append(_attempt("lib", lambda: _library(module), "c", file))
    every.append(_attempt("asm", lambda: machine.code(_like(module), target), "c", file))
    return {item.key: item for item in every}


def _attempt(key: str, make: Callable[[], tuple[Iterable[Line], str]], kind: str, file: str) -> Listing:
    """Return the listing that `make` makes, or one without lines that says why there is none."""
    from ..budgets import Exceeded

    try:
        made, note = make()
    except CompileError as error:
        reasons = [item.message for item in error.diagnostics if item.severity.is_error]
        return Listing(key, TITLES[key], note=reasons[-1] if reasons else str(error))
    except (UsageError, ToolsMissing, ToolError, Exceeded, machine.Missing) as error:
        return Listing(key, TITLES[key], note=str(error))
    kept, missing = listing.limited(made, f"coopmat compile --emit {kind} {file}")
    return Listing(key, TITLES[key], kept, " ".join(filter(None, (note, missing))))


def _like(module: Module) -> Module:
    """Compile the source of a module again: an error of one stage would make others of the same module fail."""
    return compiler.recompile(module, replace(module.options, no_warnings=True, remarks=""))


def _require_spirv(module: Module) -> None:
    if module.matrices in OPENCL_C_ONLY:
        raise machine.Missing(f"The route {module.matrices} is OpenCL C only: the device's own compiler compiles it.")


def _llvm(module: Module) -> list[Line]:
    _require_spirv(module)
    lowered = lines.lowered(_like(module))
    texts = lowered.text.split("\n")[:-1]
    # A program without functions has no places.
    return listing.of_spans(zip(texts, lowered.places or [None] * len(texts), strict=True), module.name)


def _spirv(module: Module) -> list[Line]:
    _require_spirv(module)
    module = _like(module)
    return listing.of_spirv(module.spirv_text, lines.of_binary(module, module.spirv))


def _c(module: Module) -> tuple[list[Line], list[Line]]:
    options = replace(module.options, no_warnings=True, remarks="", target_env=None)
    source = module.source if isinstance(module.source, str) else module.source.decode("utf-8", "replace")
    return listing.of_c(compiler.recompile(module, options).opencl_c, module.name, source)


def _c_note(module: Module) -> str:
    if module.matrices != "native":
        return ""
    return "OpenCL C has no native matrices: this is the program by the route one."


def _library(module: Module) -> tuple[list[Line], str]:
    """Return the functions that the compiler adds: of OpenCL C on lowered routes, of LLVM IR on the native route."""
    if module.matrices != "native":
        found = _c(module)[1]
    else:
        found, inside = [], False
        for line in _llvm(module):
            inside = inside or (line.text.startswith("define") and f'@"{LIBRARY_PREFIX}' in line.text)
            found += [line] if inside else []
            inside = inside and line.text != "}"
    return found, "" if found else "The compiler adds no functions: the program has no matrix operation that needs one."
