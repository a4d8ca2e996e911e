"""`coopmat layer`: cooperative matrices for programs that know nothing of coopmat, in any language."""

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
    """Give any OpenCL program cooperative matrices, unchanged, by a layer that the OpenCL loader loads.

    COOPMAT_ROUTE names the route that programs take in place of the device's, COOPMAT_LAYER_VARIANTS the multiply-adds
    that devices tell of: few (default), full, or their names.
    """


_OUTPUT = click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="The library's path.")


@command.command()
@_OUTPUT
@click.option("--source", "from_source", is_flag=True, help="Compile it, also where this package has it compiled.")
def build(output: Path | None, from_source: bool) -> int:
    """Make the layer's library: the one in this package, or by the C compiler: CC, the system's, the extra `layer`."""
    click.echo(library.build(output, from_source).path)
    return ExitStatus.DONE


@command.command()
def env() -> int:
    """Print the variables that a program needs, for a shell: eval "$(coopmat layer env)"."""
    for name, value in library.environment(_found()).items():
        click.echo(f"export {name}={shlex.quote(value)}")
    return ExitStatus.DONE


@command.command(context_settings={"ignore_unknown_options": True})
@click.argument("program")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(program: str, arguments: tuple[str, ...]) -> int:
    """Run a program with the layer: coopmat layer run -- PROGRAM ARGUMENTS."""
    variables = library.environment(_found())
    path = shutil.which(program)
    if path is None:
        raise click.UsageError(f"there is no program {program}")
    if fault := library.loader_fault(Path(path)):
        click.echo(f"warning: {fault}", err=True)
    os.execve(path, [program, *arguments], {**os.environ, **variables})


@command.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def status(as_json: bool) -> int:
    """Tell where the library is, and what keeps it from working."""
    found = library.find()
    path = found.path if found else library.default_path()
    faults = list(found.faults) if found else ["it was not made: run `coopmat layer build`"]
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
