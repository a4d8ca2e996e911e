"""`coopmat layer`: cooperative matrices for unmodified programs in any language."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from pathlib import Path

import click

from coopmat.layer import library

from .status import ExitStatus


@click.group(no_args_is_help=True)
def command() -> None:
    """Add cooperative matrices to any OpenCL program, unchanged, by a layer of the OpenCL loader.

    COOPMAT_ROUTE names a route to use instead of the device's. COOPMAT_LAYER_VARIANTS selects the multiply-adds that
    devices report: few (default), full, or a list of names.

    Example: coopmat layer run -- ./program
    """


_OUTPUT = click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write this library.")


@command.command()
@_OUTPUT
@click.option("--source", "from_source", is_flag=True, help="Compile the library even if this package contains it.")
def build(output: Path | None, from_source: bool) -> int:
    """Install the layer's library from this package, or compile it.

    The C compiler is $CC, the system's, or that of the extra `layer`.

    Example: coopmat layer build
    """
    click.echo(library.build(output, from_source).path)
    return ExitStatus.DONE


@command.command()
def env() -> int:
    """Print shell commands that set the variables which a program needs.

    Example: eval "$(coopmat layer env)"
    """
    for name, value in library.environment(_found()).items():
        click.echo(f"export {name}={shlex.quote(value)}")
    return ExitStatus.DONE


@command.command(context_settings={"ignore_unknown_options": True})
@click.argument("program")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(program: str, arguments: tuple[str, ...]) -> int:
    """Run PROGRAM with the layer.

    Example: coopmat layer run -- ./program --size 256
    """
    variables = library.environment(_found())
    path = shutil.which(program)
    if path is None:
        raise click.UsageError(f"program not found: {program}")
    if fault := library.loader_fault(Path(path)):
        click.echo(f"warning: {fault}", err=True)
    os.execve(path, [program, *arguments], {**os.environ, **variables})


@command.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def status(as_json: bool) -> int:
    """Show the library's path and any fault that keeps it from working.

    Example: coopmat layer status
    """
    found = library.find()
    path = found.path if found else library.default_path()
    faults = list(found.faults) if found else ["the library was not built: run `coopmat layer build`"]
    if as_json:
        click.echo(json.dumps({"library": str(path), "built": found is not None, "faults": faults}, indent=2))
    else:
        rows = [("library", str(path))]
        if found:
            rows += [("interpreter", str(found.interpreter)), ("helper", str(found.helper))]
        for name, text in [*rows, *(("fault", fault) for fault in faults)]:
            click.echo(f"{name:12}  {text}")
    return ExitStatus.INPUT if faults else ExitStatus.DONE


def _found() -> library.LayerLibrary:
    return library.find() or library.build()
