"""The parser of the arguments of `coopmat compile`, with clang's conventions.

This module has the flags for inputs and outputs. Every other argument that starts with `-` is passed to
`CompileOptions.from_arguments`, which has the compiler's flags and rejects unknown ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from coopmat import options
from coopmat.options import CompileOptions, UnknownOption, UsageError

from .report import FORMATS


@dataclass(frozen=True, slots=True)
class Invocation:
    """The parsed arguments of `coopmat compile`.

    options: the arguments for the compiler, not parsed yet.

    `FLAGS` documents the other fields.
    """

    inputs: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    output: str | None = None
    emit: str = ""
    assembly: bool = False
    object: bool = False
    llvm: bool = False
    verbose: bool = False
    dry: bool = False
    version: bool = False
    preprocess: bool = False
    macros: bool = False
    syntax_only: bool = False
    language: str | None = None
    device: str | None = None
    device_info: str | None = None
    dependencies: str = ""
    dependency_file: str | None = None
    dependency_targets: tuple[str, ...] = ()
    phony_targets: bool = False
    diagnostics: str = "text"
    color: bool | None = None
    time_passes: bool = False
    print_after: tuple[str, ...] = ()
    run_pass: str | None = None
    mode: str | None = None
    batch: str | None = None
    jobs: str = "1"
    cluster: str | None = None
    help: bool = False


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag of `coopmat compile`.

    names: the spellings.
    sets: the field of `Invocation` that the flag sets.
    help: the text in the help; the help omits a flag without one, which is for developers of the compiler.
    metavar: the name of the value in the help, "" if the flag takes no value.
    constant: the value that is set if the flag takes none.
    choices: the allowed values, empty if all are allowed.
    """

    names: tuple[str, ...]
    sets: str
    help: str
    metavar: str = ""
    constant: Any = None
    choices: tuple[str, ...] = ()


FLAGS: tuple[Flag, ...] = (
    Flag(("-o", "--output"), "output", "Write FILE; by default, the input's name with the kind's suffix.", "FILE|-"),
    Flag(("--emit",), "emit", "Select, with commas: spv (default), spvasm, launch, ll, ast, header, c.", "KIND"),
    Flag(("-c",), "object", "Compile an object that is linked with other programs.", constant=True),
    Flag(("-S",), "assembly", "Emit spvasm; with -emit-llvm, ll.", constant=True),
    Flag(("-emit-llvm",), "llvm", "Emit ll, also with -c.", constant=True),
    Flag(("-E",), "preprocess", "Preprocess only, to standard output.", constant=True),
    Flag(("-dM",), "macros", "Print the macros that are defined at the end of the source, with -E.", constant=True),
    Flag(("-fsyntax-only",), "syntax_only", "Check the source and write nothing.", constant=True),
    Flag(("-x",), "language", "Set the input language (default: by suffix).", "LANG", choices=("cl", "ir", "spv")),
    Flag(("--device",), "device", "Compile for this OpenCL device.", "D"),
    Flag(("--device-info", "--cl-device-info"), "device_info", "Compile for the device in a KEY=VALUE file.", "FILE"),
    Flag(("-MD", "-MMD"), "dependencies", "Write a dependency file as well.", constant="also"),
    Flag(("-M", "-MM"), "dependencies", "Write the dependencies only.", constant="only"),
    Flag(("-MF",), "dependency_file", "Write the dependencies to FILE.", "FILE"),
    Flag(("-MT",), "dependency_targets", "Set the rule's target.", "TARGET"),
    Flag(("-MQ",), "dependency_targets", "Set the rule's target, and escape make's special characters.", "TARGET"),
    Flag(("-MP",), "phony_targets", "Add a rule without a command for each header.", constant=True),
    Flag(("--diagnostics",), "diagnostics", "Print diagnostics as text, json or sarif.", "FORMAT", choices=FORMATS),
    Flag(("-fcolor-diagnostics",), "color", "Print colours, even if the output is no terminal.", constant=True),
    Flag(("-fno-color-diagnostics",), "color", "Print no colours.", constant=False),
    Flag(("--time-passes",), "time_passes", "Print the time of each stage.", constant=True),
    Flag(
        ("--print-after",),
        "print_after",
        "Print the result of preprocess, parse, analyse, lower, matrices, emit or a pass on the typed AST.",
        "STAGE",
    ),
    Flag(("--run-pass",), "run_pass", "", "NAME"),
    Flag(("--source",), "inputs", "Read FILE (the conformance suite's flag).", "FILE"),
    Flag(("--mode",), "mode", "Select the output (that suite's flag).", "MODE", choices=("spir-v", "binary")),
    Flag(("--batch",), "batch", "Compile the sources that a TOML or JSON file lists (docs/batch.md).", "FILE"),
    Flag(("-j", "--jobs"), "jobs", "Use N processes, with --batch (default 1).", "N"),
    Flag(("--cluster",), "cluster", "Use a scheduler of dask.distributed, or local:N, with --batch.", "ADDRESS"),
    Flag(("-v", "--verbose"), "verbose", "Print versions, paths and the command for each input.", constant=True),
    Flag(("-###",), "dry", "Print the same as -v, and compile nothing.", constant=True),
    Flag(("--version",), "version", "Print the version.", constant=True),
    Flag(("-h", "--help"), "help", "Show this text.", constant=True),
)

# The compiler's flags whose value may be the next argument.
COMPILER_FLAGS_WITH_VALUE = frozenset(flag.spelling.rstrip("=") for flag in options.FLAGS if flag.form == "separate")
# These are never the value of the flag before them: `--matrices --help` prints the help.
_ASKING_FOR_HELP = (["-h"], ["--help"])
_REPEATABLE = frozenset({"inputs", "print_after", "dependency_targets"})


def parse_arguments(arguments: Sequence[str]) -> Invocation:
    """Parse the arguments of `coopmat compile`. Raises UsageError for a missing or wrong value."""
    result = Invocation()
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            # After `--` there are file names; with --source, the conformance suite passes build options there.
            if result.inputs:
                return replace(result, options=(*result.options, *rest))
            return replace(result, inputs=tuple(rest))
        match = _match(argument, rest)
        if match is not None:
            result = _set(result, *match)
        elif not argument.startswith("-") or argument == "-":
            result = replace(result, inputs=(*result.inputs, argument))
        else:
            result = replace(result, options=(*result.options, *_compiler_flag(argument, rest)))
    return result


def _compiler_flag(argument: str, rest: list[str]) -> tuple[str, ...]:
    """Return a compiler's flag, and its value if this is the next word, which is removed from `rest`."""
    wants_value = argument in COMPILER_FLAGS_WITH_VALUE and rest[:1] not in _ASKING_FOR_HELP
    return (argument, rest.pop(0)) if wants_value and rest else (argument,)


def names_and_flags(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return (names, the compiler's flags with their values) of a command's other arguments."""
    names: list[str] = []
    flags: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "-" or not word.startswith("-"):
            names.append(word)
        else:
            flags += _compiler_flag(word, rest)
    return names, flags


def compile_options(arguments: Sequence[str], others: Sequence[str], *, separate: bool = False) -> CompileOptions:
    """Parse the compiler's flags, and return the options. Raises UsageError.

    others: the command's flags, which are suggested for a misspelled flag.
    separate: whether the program is compiled to be linked with others.

    Callers must do this before they count the inputs: the value of a misspelled flag is taken for an input.
    """
    try:
        return replace(CompileOptions.from_arguments(arguments), separate=separate)
    except UnknownOption as error:
        raise UnknownOption(error.argument, others) from None


def _match(argument: str, rest: list[str]) -> tuple[Flag, Any] | None:
    for flag in FLAGS:
        for name in flag.names:
            if argument == name:
                if not flag.metavar:
                    return flag, flag.constant
                if not rest:
                    raise UsageError(f"{name} needs a value")
                if rest[:1] in _ASKING_FOR_HELP:
                    return flag, None
                return flag, rest.pop(0)
            joined = name + "=" if name.startswith("--") else name
            if flag.metavar and argument.startswith(joined):
                return flag, argument[len(joined) :]
    return None


def escape(name: str) -> str:
    """Escape the characters of a file name that are special in a make rule."""
    return name.replace("$", "$$").replace(" ", "\\ ").replace("#", "\\#")


def _set(result: Invocation, flag: Flag, value: Any) -> Invocation:
    if value is None:
        return result
    if flag.choices and value not in flag.choices:
        raise UsageError(f"{flag.names[0]} takes {', '.join(flag.choices)}, not '{value}'")
    if "-MQ" in flag.names:
        value = escape(value)
    if flag.sets in _REPEATABLE:
        value = (*getattr(result, flag.sets), value)
    return replace(result, **{flag.sets: value})
