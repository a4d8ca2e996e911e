"""`coopmat explain`: write a page with a kernel's source beside each stage of its compilation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coopmat.diagnostics import CompileError, SourceMap
from coopmat.matrices.routes import ROUTES
from coopmat.options import UsageError

from .arguments import compile_options, names_and_flags
from .completion import complete_routes
from .files import STANDARD_INPUT, keep_input, read_source, write_outputs
from .report import Reporter
from .status import ExitStatus

if TYPE_CHECKING:
    from coopmat.devices import DeviceInfo


class _Command(click.Command):
    """A command whose `-o` is read here: click would look for an `o` inside compiler flags such as -Dfoo."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, ["--output" if word == "-o" else word for word in args])


@click.command(cls=_Command, context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="FILE.cl [COMPILER FLAGS]")
@click.option(
    "--routes",
    metavar="R1,R2",
    shell_complete=complete_routes,
    help="Compare these routes; by default the device's, or native without one.",
)
@click.option("--device", metavar="D", help="Compile for this device: part of its or its platform's name.")
@click.option("--run", "is_run", is_flag=True, help="Run the file as its header says, and show times and advice.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), default=120.0, help="Stop a run after this time.")
@click.option("--machine", default="", metavar="NAME", help="Show machine code of this device: sm_80, gfx1100, pvc.")
@click.option("--output", metavar="FILE", help="Write to this file, as -o does; - is standard output.")
def command(
    arguments: tuple[str, ...],
    routes: str | None,
    device: str | None,
    is_run: bool,
    timeout: float,
    machine: str,
    output: str | None,
) -> int:
    """Write one HTML file with a kernel's source beside its typed AST, LLVM IR, SPIR-V, OpenCL C and machine code.

    Lines are linked in both directions, matrices open their lane maps, and each multiply-add shows its instruction.
    Arguments that start with `-` are passed to the compiler. Macros come from the file's run header (docs/run.md).

    Example: coopmat explain kernels/gemm_f16.cl --routes one,lanes -o page.html
    """
    if "-h" in arguments:
        click.echo(click.get_current_context().get_help())
        return ExitStatus.DONE
    names, flags = names_and_flags(arguments)
    if len(names) != 1:
        raise UsageError(f"one OpenCL C file is needed, not {len(names)}")
    if output is not None:
        keep_input(output, names[0])
    options = compile_options(flags, [option for parameter in command.params for option in parameter.opts])
    is_named = any(flag.partition("=")[0] == "--matrices" for flag in flags)
    wanted = _routes(routes.split(",") if routes is not None else [options.matrices] if is_named else [])
    if is_run and names[0] == "-":
        raise UsageError("--run needs a file, not standard input")
    found = _device(device, wanted)
    return _write(
        names[0], flags, wanted or ["auto" if found else "native"], found, (device, is_run, timeout), machine, output
    )


def _routes(routes: list[str]) -> list[str]:
    """Return the routes of --routes or --matrices; none if the device chooses. Raises UsageError."""
    for route in routes:
        if route not in ROUTES:
            raise UsageError(f"--routes takes one or two of {', '.join(ROUTES)}, not '{route}'")
    if len(routes) > 2 or len(set(routes)) < len(routes):
        raise UsageError(f"--routes takes one or two different routes, not {', '.join(routes)}")
    return routes


def _device(choice: str | None, routes: list[str]) -> DeviceInfo | None:
    """Return the device to compile for: the named one, the default one if no route is named; None without one."""
    from coopmat.targets import find_device

    if choice is None and routes:
        return None
    try:
        return find_device(choice)
    except CompileError:
        if choice is not None:
            raise
        return None


def _write(
    file: str,
    flags: list[str],
    routes: list[str],
    device: DeviceInfo | None,
    runs: tuple[str | None, bool, float],
    machine: str,
    output: str | None,
) -> int:
    from coopmat.explain import explain, header_of, measure
    from coopmat.explain.page import render
    from coopmat.targets import is_vulkan

    name = STANDARD_INPUT if file == "-" else file
    found = explain(read_source(file), name, flags, routes=routes, device=device, target=machine)
    if runs[1] and not found.errors:
        choice, _, seconds = runs
        measured = tuple(measure.run(file, flags, stages.route, choice, seconds) for stages in found.routes)
        plan = "" if is_vulkan(choice) else measure.plan(header_of(found.source, name), choice, seconds)
        found = replace(found, measured=measured, plan=plan)
    place = output or ("-" if file == "-" else f"{Path(file).stem}.explain.html")
    write_outputs({place: render(found).encode("utf-8", "replace")})
    if found.errors:
        Reporter().show(found.errors, SourceMap({name: found.source}))
        return ExitStatus.INPUT
    return ExitStatus.DONE
