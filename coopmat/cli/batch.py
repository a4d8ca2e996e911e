"""`coopmat compile --batch FILE`: compile many sources, in several processes or on the machines of a cluster.

An entry of the batch file corresponds to one call of `coopmat compile` in the file's directory. This process reads the
source and its includes and sends them to a worker. The worker returns the outputs and the diagnostics, which equal
those of a separate compilation.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coopmat import file_table
from coopmat.cluster import Failed, Lost, engine_for
from coopmat.options import CompileOptions, UsageError

from .arguments import Invocation, parse_arguments
from .compile import compile_one, outputs_of
from .files import write_outputs
from .progress import Bar, progress
from .status import ExitStatus

_KEYS = {"source", "options", "output"}
# The largest number of entries in a unit of work, and the least number of units for each process.
_MOST, _EACH = 16, 8
_INCLUDE = re.compile(r"(?:#|%:)[ \t]*include\b[ \t]*(?:[\"<]([^\">\n]+)[\">])?")
_HAS_INCLUDE = "__has_include"


@dataclass(frozen=True)
class Entry:
    """An entry of a batch.

    name: the name of the source.
    arguments: the arguments of `coopmat compile`.
    files: file name -> contents of all files that the compilation reads.
    color: whether diagnostics are printed in colour.
    """

    name: str
    arguments: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    color: bool = False


@dataclass(frozen=True)
class Compiled:
    """The result of an entry.

    status: the exit status.
    text: the diagnostics as printed.
    outputs: file name -> contents.
    """

    status: int
    text: str
    outputs: Mapping[str, bytes]


# --- in workers --------------------------------------------------------------------------------------


def compile_entries(entries: Sequence[Entry]) -> list[Compiled]:
    """Compile each of the entries like a separate call of `coopmat compile`, and return the results."""
    return [_compiled(entry) for entry in entries]


def _compiled(entry: Entry) -> Compiled:
    outputs: dict[str, bytes] = {}
    text = io.StringIO()
    with contextlib.redirect_stderr(text), file_table.use(entry.files):
        status = compile_one(entry.arguments, outputs.update, entry.color)
    return Compiled(int(status), text.getvalue(), outputs)


# --- the batch file ----------------------------------------------------------------------------------


def run(invocation: Invocation, arguments: Sequence[str]) -> int:
    """Compile the entries of the file of --batch, and return the worst exit status. Raises UsageError, OSError.

    `arguments` are those of the whole command; all except the batch's own flags apply to every entry.
    """
    assert invocation.batch is not None
    if invocation.inputs:
        raise UsageError("input files cannot be combined with --batch, whose file lists the sources")
    if not invocation.jobs.isdecimal() or not 0 < int(invocation.jobs) <= 1024:
        raise UsageError(f"-j takes a number of processes, not '{invocation.jobs}'")
    batch = Path(invocation.batch)
    rows = read_entries(batch)
    color = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    common = _without(arguments, ("--batch", "-j", "--jobs", "--cluster"))
    before = Path.cwd()
    os.chdir(batch.parent)
    try:
        entries = _checked(rows, common, color)
        return _Run(entries, invocation).run()
    finally:
        os.chdir(before)


def _without(arguments: Sequence[str], names: tuple[str, ...]) -> list[str]:
    """Return the arguments without the flags in `names` and their values."""
    kept: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word in names:
            rest[:1] = []
        elif not word.startswith(tuple(f"{name}=" for name in names)) and not re.fullmatch(r"-j\d+", word):
            kept.append(word)
    return kept


def read_entries(path: Path) -> list[dict[str, Any]]:
    """Return the entries of a batch file in TOML or JSON, each a table with a source. Raises UsageError, OSError."""
    data = path.read_bytes()
    try:
        document = json.loads(data) if path.suffix == ".json" else _toml(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not {'JSON' if path.suffix == '.json' else 'TOML'}: {error}") from None
    rows = document.get("kernel") if isinstance(document, dict) else document
    if not isinstance(rows, list):
        raise UsageError(f"{path} has no list of entries: [[kernel]] in TOML, a list in JSON")
    for number, row in enumerate(rows, 1):
        _check_row(row, f"entry {number} of {path}")
    return rows


def _toml(data: bytes) -> Any:
    try:
        import tomllib  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        import tomli as tomllib  # type: ignore[import-not-found, no-redef, unused-ignore]
    return tomllib.loads(data.decode())


def _check_row(row: object, name: str) -> None:
    if not isinstance(row, dict) or not isinstance(row.get("source"), str) or not row["source"]:
        raise UsageError(f"{name} has no source")
    if unknown := sorted(set(row) - _KEYS):
        raise UsageError(f"{name}: unknown keys {', '.join(map(str, unknown))} (allowed: {', '.join(sorted(_KEYS))})")
    options = row.get("options", [])
    if not isinstance(options, str) and not (isinstance(options, list) and all(isinstance(w, str) for w in options)):
        raise UsageError(f"{name}: 'options' must be a string or a list of strings")
    if not isinstance(row.get("output", ""), str):
        raise UsageError(f"{name}: 'output' must be a string")


def _checked(rows: Sequence[Mapping[str, Any]], common: Sequence[str], color: bool) -> list[Entry]:
    """Return the entries of a batch with the files that they read.

    Raises UsageError for wrong arguments, and for two outputs, or an output and a source, with the same name.
    """
    entries: list[Entry] = []
    owners: dict[str, str] = {}
    sources = {os.path.normpath(row["source"]) for row in rows}
    for number, row in enumerate(rows, 1):
        source, options = row["source"], row.get("options", [])
        words = shlex.split(options) if isinstance(options, str) else options
        output = ["-o", row["output"]] if "output" in row else []
        arguments = (*common, *words, *output, "--", source)
        try:
            # Parse these alone first, so that no flag takes the source as its value.
            _refuse(parse_arguments((*common, *words)), source)
            invocation, parsed, outputs = outputs_of(arguments)
        except UsageError as error:
            raise UsageError(f"entry {number}, {source}: {error}") from None
        for name in map(os.path.normpath, outputs.values()):
            if name in sources or name in owners:
                other = "a source" if name in sources else f"the output of {owners[name]}, too"
                raise UsageError(f"entry {number}, {source}: the output '{name}' is {other}")
            if name != "-":
                owners[name] = f"entry {number}"
        entries.append(Entry(source, arguments, _files(invocation, parsed), color))
    return entries


def _refuse(options: Invocation, source: str) -> None:
    if options.inputs or source == "-":
        raise UsageError("an entry must have exactly one source, which must be a file")
    if options.verbose or options.dry or options.help or options.version:
        raise UsageError("-v, -###, --help and --version cannot be combined with --batch")


def _files(invocation: Invocation, options: CompileOptions) -> dict[str, bytes]:
    """Return name -> contents of the files that an entry reads.

    A file that cannot be read is left out: the compiler reports it.
    """
    files: dict[str, bytes] = {}
    names = [invocation.inputs[0], *([invocation.device_info] if invocation.device_info else [])]
    for name in names:
        with contextlib.suppress(OSError):
            files[os.path.normpath(name)] = Path(name).read_bytes()
    directories = *options.include_dirs, *options.system_dirs
    if options.includes or not _collect(invocation.inputs[0], files, directories):
        _collect_by_preprocessor(invocation, options, files)
    return files


def _collect(name: str, files: dict[str, bytes], directories: tuple[str, ...]) -> bool:
    """Add the files that `name` includes to `files`, also those in groups that conditionals skip.

    Return False if only the preprocessor can determine the names: those of macros, or in __has_include.
    """
    text = files.get(os.path.normpath(name), b"").decode(errors="replace")
    if _HAS_INCLUDE in text:
        return False
    for match in _INCLUDE.finditer(text):
        if match[1] is None:
            return False
        for folder in (os.path.dirname(name), *directories):  # noqa: PTH120 - the name that is searched and printed
            path = os.path.normpath(os.path.join(folder, match[1]))  # noqa: PTH118
            if path in files:
                break
            if Path(path).is_file():
                files[path] = Path(path).read_bytes()
                if not _collect(path, files, directories):
                    return False
                break
    return True


def _collect_by_preprocessor(invocation: Invocation, options: CompileOptions, files: dict[str, bytes]) -> None:
    from coopmat import compiler
    from coopmat.diagnostics import CompileError

    name = invocation.inputs[0]
    with contextlib.suppress(CompileError, OSError):
        module = compiler.preprocess_only(files[os.path.normpath(name)], options, name=name)
        for path in module.dependencies:
            with contextlib.suppress(OSError):
                files[os.path.normpath(path)] = Path(path).read_bytes()


# --- the run -----------------------------------------------------------------------------------------


class _Run:
    """A run of a batch: results are written as they arrive, and diagnostics are printed in the order of the entries."""

    def __init__(self, entries: Sequence[Entry], invocation: Invocation) -> None:
        self._entries = entries
        self._cluster, self._jobs = invocation.cluster, int(invocation.jobs)
        self._results: dict[int, Compiled] = {}
        self._shown = 0
        self._bar = Bar()

    def run(self) -> int:
        start = time.monotonic()
        status: int = ExitStatus.DONE
        engine = engine_for(self._cluster, self._jobs)
        try:
            with progress() as self._bar:
                self._bar.begin(len(self._entries))
                self._compile(engine, self._groups())
        except KeyboardInterrupt:
            status = ExitStatus.INTERRUPTED
        finally:
            engine.close()
        seconds = time.monotonic() - start
        done = len(self._results)
        failed = sum(result.status != ExitStatus.DONE for result in self._results.values())
        rest = f", {len(self._entries) - done} not tried" if done < len(self._entries) else ""
        rate = done / seconds if seconds else 0.0
        sys.stderr.write(f"{done - failed} compiled, {failed} failed{rest}, in {seconds:.1f} s: {rate:.1f} a second\n")
        return max([status, *(result.status for result in self._results.values())])

    def _groups(self) -> list[list[int]]:
        """Return the entries' numbers, in units of work that last seconds, with several units for each process."""
        workers = self._jobs if self._cluster is None else 8
        size = max(1, min(_MOST, len(self._entries) // (_EACH * workers)))
        numbers = list(range(len(self._entries)))
        return [numbers[at : at + size] for at in range(0, len(numbers), size)]

    def _compile(self, engine: Any, groups: Sequence[Sequence[int]]) -> None:
        """Compile the groups. If the process of a group dies, each of its entries is compiled alone."""
        again: list[list[int]] = []

        def done(number: int, result: object) -> None:
            group = groups[number]
            if isinstance(result, list):
                for place, compiled in zip(group, result, strict=True):
                    self._keep(place, compiled)
            elif len(group) > 1:
                again.extend([place] for place in group)
            else:
                self._keep(group[0], Compiled(ExitStatus.INTERNAL, _reason(self._entries[group[0]].name, result), {}))

        engine.run(compile_entries, [[self._entries[place] for place in group] for group in groups], done)
        if again:
            self._compile(engine, again)

    def _keep(self, number: int, result: Compiled) -> None:
        if result.outputs:
            try:
                write_outputs(result.outputs)
            except OSError as error:
                text = f"coopmat: error: {error.filename}: {error.strerror}\n"
                result = Compiled(ExitStatus.INPUT, result.text + text, {})
        # The outputs are written; keep only the status and the text.
        self._results[number] = Compiled(result.status, result.text, {})
        while (shown := self._results.get(self._shown)) is not None:
            sys.stderr.write(shown.text)
            self._shown += 1
        self._bar.advance()


def _reason(name: str, result: object) -> str:
    if isinstance(result, Lost):
        return f"coopmat: error: {name}: the process that compiled it did not answer: {result.reason}\n"
    text = result.traceback if isinstance(result, Failed) else repr(result)
    return f"coopmat: error: {name}: it was not compiled:\n{text}\n"
