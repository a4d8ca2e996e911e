"""`coopmat run`: compile a kernel file, launch its kernels on a device, and check the results."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from coopmat.diagnostics import CompileError, Diagnostic, Note, Severity, SourceMap
from coopmat.matrices.routes import LISTED_ROUTES
from coopmat.options import CompileOptions, UsageError
from coopmat.targets import find_device, load

from .arguments import compile_options, names_and_flags
from .files import STANDARD_INPUT, read_source, write_outputs
from .report import Reporter
from .status import ExitStatus
from .tables import printed_as_tables
from .worker import Report, Step, run_in_worker

if TYPE_CHECKING:
    from coopmat.compiler import Module
    from coopmat.devices import DeviceInfo
    from coopmat.runtime import RunResult
    from coopmat.runtime.checks import CheckResult
    from coopmat.runtime.runheader import Piece, Run


@dataclass(slots=True)
class _CommandLine:
    """The options of `coopmat run` that override the `// run:` and `// check:` lines of the file (docs/run.md).

    arguments: NAME=FILE.npy or NAME=TYPE[SHAPE]:FILL.
    symbols: name -> value of --set.
    arrays: argument -> array, loaded from a .npy file.
    sources: the texts of options, on which diagnostics are shown.
    """

    kernel: str | None
    arguments: Sequence[str]
    checks: Sequence[str]
    global_size: str | None
    local_size: str | None
    symbols: dict[str, int]
    arrays: dict[str, Any] = field(default_factory=dict)
    sources: SourceMap = field(default_factory=SourceMap)

    def piece(self, option: str, text: str) -> Piece:
        from coopmat.runtime.runheader import Piece

        name = f"<{option}>"
        while name in self.sources.files:
            name = f"<{option} #{len(self.sources.files) + 1}>"
        self.sources.add(name, text)
        return Piece.of(text, name).part(0)


# There are no short options: click would look for their letters inside compiler flags such as -Dhalf.
@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="FILE [COMPILER FLAGS]")
@click.option("--kernel", metavar="K", help="Run only this kernel.")
@click.option("--device", metavar="D", help="Use this device: part of its or its platform's name, or vulkan:NAME.")
@click.option("--repeat", type=click.IntRange(1), default=1, help="Launch N times; print the median time.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Stop after this time.")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=INTEGER", help="Set a symbol of the header and a macro."
)
@click.option(
    "--matrices", metavar="HOW", default="auto", help=f"Use {', '.join(LISTED_ROUTES)}, or auto, the device's."
)
@click.option(
    "--arg", "values", multiple=True, metavar="NAME=FILE.npy", help="Set an argument, or NAME=TYPE[SHAPE]:FILL."
)
@click.option("--out", "outs", multiple=True, metavar="NAME=FILE.npy", help="Save an argument after the launch.")
@click.option("--check", "checks", multiple=True, metavar="CHECK", help="Replace the header's checks.")
@click.option("--global", "global_size", metavar="SIZES", help="Replace the header's global size.")
@click.option("--local", "local_size", metavar="SIZES", help="Replace the header's local size.")
def command(arguments: tuple[str, ...], **options: Any) -> int:
    """Compile FILE, run it as its header says, check the results and print the time.

    The header's `// run:` lines state the launches, its `// check:` lines the right results (docs/run.md). Other
    arguments that start with `-` are passed to the compiler: -DK=256, -cl-fast-relaxed-math.

    Example: coopmat run kernels/gemm_f16.cl --set K=512
    """
    if "-h" in arguments:
        click.echo(click.get_current_context().get_help())
        return ExitStatus.DONE
    files, flags = names_and_flags(arguments)
    flags = ["--matrices", options["matrices"], *flags]
    compile_options(flags, [name for option in command.params for name in option.opts])
    if len(files) != 1:
        files_phrase = f", not {len(files)} ({', '.join(files)})" if files else ""
        raise UsageError(f"one input file is needed{files_phrase}")
    symbols = dict(map(_setting, options["settings"]))
    sizes = options["global_size"], options["local_size"]
    line = _CommandLine(options["kernel"], options["values"], options["checks"], *sizes, symbols)
    flags += [f"-D{name}={value}" for name, value in symbols.items()]
    source = read_source(files[0])
    name = STANDARD_INPUT if files[0] == "-" else files[0]
    outs, how = options["outs"], (options["device"], options["repeat"])
    with printed_as_tables() as shown:
        return run_in_worker(shown(partial(_work, source, name, line, flags, outs, how)), options["timeout"])


def _setting(text: str) -> tuple[str, int]:
    """Return the name and the value of a --set option. Raises UsageError."""
    match = re.fullmatch(r"([A-Za-z_]\w*)=(-?\d+|0[xX][0-9a-fA-F]+)", text)
    if match is None:
        raise UsageError(f"--set takes NAME=INTEGER, not '{text}'")
    return match[1], int(match[2], 0 if match[2][:2] in ("0x", "0X") else 10)


def _work(
    source: bytes,
    name: str,
    line: _CommandLine,
    flags: list[str],
    outs: Sequence[str],
    how: tuple[str | None, int],
    report: Report,
) -> int:
    """Do the runs in the worker process, save the outputs, and return the exit status.

    On a CompileError, the texts of options are added to its sources, so that diagnostics can show them.
    """
    try:
        results = _run_all(source, name, line, flags, how, report)
        _save(outs, results)
    except CompileError as error:
        sources = error.sources or SourceMap()
        for label, text in line.sources.files.items():
            sources.add(label, text)
        raise CompileError(error.diagnostics, sources) from None
    return ExitStatus.DONE if all(result.ok for result in results) else ExitStatus.INPUT


def _run_all(
    source: bytes, name: str, line: _CommandLine, flags: list[str], how: tuple[str | None, int], report: Report
) -> list[RunResult]:
    from coopmat.runtime import parse_header
    from coopmat.runtime.runheader import with_source

    text = source.decode("utf-8", "replace")
    runs = _chosen_runs(parse_header(text, name), line, name)
    device = find_device(how[0])
    results = []
    shown: set[Diagnostic] = set()
    for run in runs:
        try:
            result = _run_one(source, name, run, (line, flags, how[1]), device, shown, report)
        except CompileError as error:
            raise with_source(error, name, text) from None
        _print_result(result, line.sources)
        results.append(result)
    return results


def _run_one(
    source: bytes,
    name: str,
    run: Run,
    wanted: tuple[_CommandLine, list[str], int],
    device: DeviceInfo,
    shown: set[Diagnostic],
    report: Report,
) -> RunResult:
    """Compile, build and launch one run; the module's diagnostics are printed before the launch."""
    from coopmat.runtime import launch
    from coopmat.runtime.launch import compile_for, with_advice

    line, flags, repeat = wanted
    report(Step(f"the compilation of {name}"))
    options = with_advice(CompileOptions.from_arguments([*run.options, *flags]))
    module = compile_for(source, options, device, name=name)
    _show(module, shown)
    _warn_of_macros(run, line, flags, module)
    report(Step(f"the device's compiler ({device.label})"))
    program = load(module, device)
    _show(program.module, shown)

    def starting(kernel: str, description: str) -> None:
        _show(program.module, shown)
        sys.stdout.flush()
        report(Step(f"kernel '{kernel}'", (f"it ran on {device.label} with {description}",)))

    return launch(program, run, repeat=repeat, arrays=line.arrays, starting=starting)


def _show(module: Module, shown: set[Diagnostic]) -> None:
    fresh = [item for item in module.diagnostics if item not in shown]
    shown.update(fresh)
    Reporter().show(fresh, module.sources)


def _warn_of_macros(run: Run, line: _CommandLine, flags: Sequence[str], module: Module) -> None:
    """Warn if -DNAME=VALUE differs from the header's symbol NAME, whose value the launch uses."""
    symbols = {name: piece for name, piece in run.symbols if name not in line.symbols}
    for flag in flags:
        name, _, value = flag.removeprefix("-D").partition("=")
        if flag.startswith("-D") and name in symbols and symbols[name].text != value:
            message = (
                f"{flag} does not change the header's symbol {name} = {symbols[name].text}: --set {name}={value} does"
            )
            item = Diagnostic(Severity.WARNING, "run-header", message, symbols[name].span())
            Reporter().show([item], module.sources)


def _chosen_runs(runs: list[Run], line: _CommandLine, name: str) -> list[Run]:
    """Return the header's runs, changed by the options; without a matching run, one run made of the options."""
    from coopmat.runtime.runheader import Piece, header_error, parse_run

    matches = [run for run in runs if line.kernel is None or (run.kernel and run.kernel.text == line.kernel)]
    if not matches and line.global_size is not None:
        matches = [parse_run(Piece.of("", name))]
    if not matches:
        which = f" of kernel '{line.kernel}'" if line.kernel else ""
        raise header_error(f"{name} has no '// run:' line{which}; give --global, --arg and --check instead")
    for symbol in line.symbols:
        names = dict.fromkeys(known for run in matches for known, _ in run.symbols)
        if symbol not in names and line.global_size is None:
            listing = f"its symbols are: {', '.join(names)}" if names else "it has none"
            raise UsageError(f"--set {symbol}: the run header has no symbol '{symbol}'; {listing}")
    return [_with_options(run, line) for run in matches]


def _with_options(run: Run, line: _CommandLine) -> Run:
    from coopmat.runtime.runheader import parse_argument, parse_check

    chosen = {name: line.piece("--set", str(value)) for name, value in line.symbols.items()}
    run = replace(run, symbols=tuple({**dict(run.symbols), **chosen}.items()))
    if line.kernel is not None:
        run = replace(run, kernel=line.piece("--kernel", line.kernel))
    if line.global_size is not None:
        run = replace(run, global_size=line.piece("--global", line.global_size))
    if line.local_size is not None:
        run = replace(run, local_size=line.piece("--local", line.local_size))
    for text in line.arguments:
        name, _, value = text.partition("=")
        if value.endswith(".npy"):
            line.arrays[name] = _load(value)
        else:
            argument = parse_argument(line.piece("--arg", text))
            others = tuple(old for old in run.arguments if old.name.text != name)
            run = replace(run, arguments=(*others, argument))
    if line.checks:
        run = replace(run, checks=tuple(parse_check(line.piece("--check", text)) for text in line.checks))
    return run


def _load(path: str) -> Any:
    import numpy as np

    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        message = f"{path} is not a .npy file: {error}"
        raise CompileError([Diagnostic(Severity.ERROR, "npy-file", message)]) from None


def _save(outs: Sequence[str], results: list[RunResult]) -> None:
    import numpy as np

    contents = {}
    for text in outs:
        name, _, path = text.partition("=")
        if len(results) != 1:
            raise UsageError("--out needs a single run; choose one with --kernel")
        if not path or not isinstance(results[0].after.get(name), np.ndarray):
            raise UsageError(f"--out takes NAME=FILE.npy with an array argument's name, not '{text}'")
        buffer = io.BytesIO()
        np.save(buffer, results[0].after[name], allow_pickle=False)
        contents[path] = buffer.getvalue()
    write_outputs(contents)


def _print_result(result: RunResult, sources: SourceMap) -> None:
    sizes = f"global {result.global_size} local {result.local_size or 'any'} subgroup {result.sub_group_size}"
    outcome = "not checked"
    if result.checks:
        outcome = f"{'ok' if result.ok else 'WRONG'}, max error {result.max_error:.3g}"
    speed = "".join(f", {speed:.4g} {unit}" for unit, speed in result.speeds.items())
    time = f"{result.median_time * 1e3:.3f} ms{speed}"
    click.echo(f"{result.kernel}: {result.module.matrices}, {sizes}, {time}: {outcome}")
    texts = SourceMap({**result.module.sources.files, **sources.files})
    Reporter().show([_failure(check) for check in result.checks if not check.ok], texts)


def _failure(result: CheckResult) -> Diagnostic:
    message = f"{result.wrong} of {result.total} elements are wrong, max error {result.max_error:.6g}"
    assert result.first is not None
    index, actual, expected = result.first
    notes = [f"the first is at {list(index)}: got {actual}, expected {expected}", result.map]
    if result.swapped:
        arrays, verb = " and ".join(result.swapped), "are" if len(result.swapped) > 1 else "is"
        notes.append(
            f"correct if {arrays} {verb} transposed: check the layouts (row-major, column-major) of its accesses"
        )
    span = result.check.whole.span()
    return Diagnostic(Severity.ERROR, "check-failed", message, span, notes=tuple(Note(text) for text in notes if text))
