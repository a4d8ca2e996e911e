"""The group of all subcommands, and the conversion of errors to exit statuses."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any

import click

from . import verbose
from .report import Reporter
from .response_files import expand
from .status import ExitStatus, run_guarded

# command -> (module, summary). A module is imported when its command is used.
COMMANDS = {
    "bench": ("coopmat.cli.bench", "Compare coopmat.linalg in speed with the libraries that are installed."),
    "cache": ("coopmat.cli.cache", "Show how large the cache of builds is, or empty it."),
    "cluster": ("coopmat.cli.cluster", "Start a worker of a cluster, or list its devices."),
    "compile": ("coopmat.cli.compile", "Compile OpenCL C, LLVM IR or SPIR-V to SPIR-V, or print a stage."),
    "completion": ("coopmat.cli.completion", "Print the script by which a shell completes coopmat's options."),
    "cts": ("coopmat.cli.cts", "Run the conformance tests of cooperative matrices on a device."),
    "devices": ("coopmat.cli.devices", "List the OpenCL and Vulkan devices and the route of each."),
    "doctor": ("coopmat.cli.doctor", "Report what is missing, and the command that fixes it."),
    "export": ("coopmat.cli.export", "Write a C header with products of matrices, for programs without Python."),
    "layer": ("coopmat.cli.layer", "Add cooperative matrices to any OpenCL program by a layer of the loader."),
    "map": ("coopmat.cli.map", "Draw which lane holds each component of a matrix."),
    "plan": ("coopmat.cli.plan", "Show how a product of matrices is computed, its time, and what limits it."),
    "run": ("coopmat.cli.run", "Compile a kernel file, run it as its header says, and check the results."),
    "tune": ("coopmat.cli.tune", "Search faster tiles for products of matrices on a device."),
}


class _Commands(click.Group):
    """A command group that imports the module of a command only when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
    no_args_is_help=True,
)
@click.option("--version", is_flag=True, help="Print the version; with -v, also what a bug report needs.")
@click.option("-v", "--verbose", "details", is_flag=True, help="With --version: print versions, tools and devices.")
@click.pass_context
def group(context: click.Context, version: bool, details: bool) -> None:
    """Compile and run OpenCL C with cooperative matrices, on every OpenCL device.

    Example: coopmat run kernels/gemm_f16.cl
    """
    if version:
        _print_version(details)
        context.exit()
    if details:
        raise click.UsageError("-v needs --version; `coopmat compile -v` prints the commands of a compilation")
    if context.invoked_subcommand is None:
        raise click.UsageError("Missing command.")


def _print_version(details: bool) -> None:
    if not details:
        click.echo(verbose.version())
        return
    from . import doctor

    click.echo(verbose.head(), nl=False)
    doctor.print_findings(list(doctor.findings()))


def run_command(arguments: Sequence[str] | None = None) -> int:
    """Run one command line (default: the process's arguments) and return its exit status."""
    return run_guarded(lambda: _invoke(arguments), Reporter().show_error)


def _invoke(arguments: Sequence[str] | None) -> int:
    try:
        words = expand(sys.argv[1:] if arguments is None else arguments)
        result: Any = group.main(args=words, prog_name="coopmat", standalone_mode=False)
        return int(result or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
    except click.Abort:
        return ExitStatus.INTERRUPTED
    except click.UsageError as error:
        error.show()
    except click.FileError as error:
        raise OSError(0, error.message, error.filename) from None
    return ExitStatus.USAGE


def main() -> None:
    """Run the process's command line and end the process: the entry point of the program `coopmat`."""
    sys.exit(run_command())
