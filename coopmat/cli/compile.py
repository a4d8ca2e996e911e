"""`coopmat compile`: translate each source to one or more kinds of output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter, methodcaller
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coopmat import budgets, passes
from coopmat.diagnostics import CompileError, Diagnostic, Severity
from coopmat.matrices.routes import LISTED_ROUTES, OPENCL_C_ONLY
from coopmat.options import CompileOptions, UsageError

from . import verbose
from .arguments import FLAGS, Invocation, compile_options, escape, parse_arguments
from .files import STANDARD_INPUT, keep_input, read_source, write_outputs
from .header import header
from .report import Reporter
from .status import ExitStatus, run_guarded

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from coopmat.compiler import Module
    from coopmat.devices import DeviceInfo


Write = Callable[[Mapping[str, bytes]], None]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of output.

    suffix: the suffix of its files.
    content: the function that makes the contents from a module.
    beginnings: byte strings with which files of this kind begin. They distinguish such files from the user's. The first
    is written before the content, unless the content begins with one of them.
    binary: whether the content is not text.
    """

    suffix: str
    content: Callable[[Module], bytes]
    beginnings: tuple[bytes, ...]
    binary: bool = False

    def file(self, module: Module) -> bytes:
        """Return the contents of a file of this kind."""
        content = self.content(module)
        return content if content.startswith(self.beginnings) else self.beginnings[0] + content


_MARK = "Written by coopmat compile"


def _launch(module: Module) -> str:
    description = module.launch
    if description is None:
        raise UsageError("--emit launch needs --target-env vulkan1.3 or vulkan1.4")
    return description.to_json()


KINDS = {
    "spv": Kind(".spv", lambda module: module.spirv, (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03"), binary=True),
    "spvasm": Kind(".spvasm", lambda module: module.spirv_text.encode(), (b"; SPIR-V",)),
    "ll": Kind(".ll", lambda module: module.llvm_ir.encode(), (f"; {_MARK}\n".encode(),)),
    "ast": Kind(".ast", lambda module: module.ast.encode(), (f"// {_MARK}\n".encode(),)),
    "header": Kind(".h", lambda module: header(module).encode(), (f"/* {_MARK} */\n".encode(),)),
    "launch": Kind(".launch.json", lambda module: _launch(module).encode(), (b'{\n "schema": ',)),
    "c": Kind(".lowered.cl", lambda module: module.opencl_c.encode(), (f"// {_MARK}\n".encode(),)),
}


STAGES: dict[str, Callable[[Module], str]] = {
    "preprocess": attrgetter("preprocessed"),
    "parse": attrgetter("ast"),
    "analyse": attrgetter("typed_ast"),
    "matrices": attrgetter("matrix_plans"),
    "lower": attrgetter("llvm_ir"),
    "emit": attrgetter("spirv_text"),
    **{name: methodcaller("typed_ast_after", name) for name in passes.NAMES},
}


class _RawCommand(click.Command):
    """A command that passes on its arguments unchanged: click would split `-Wno-foo` into letters."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.params = {"arguments": list(args)}
        return []

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from .completion import compile_items

        return compile_items(ctx.params["arguments"], incomplete)


def _run(arguments: list[str]) -> int:
    invocation = parse_arguments(arguments)
    if invocation.help:
        click.echo(help_text())
        return ExitStatus.DONE
    options = _options(invocation)
    if invocation.version:
        click.echo(verbose.version())
        return ExitStatus.DONE
    if invocation.verbose or invocation.dry:
        sys.stderr.write(verbose.head())
    if invocation.batch is not None:
        from .batch import run

        return run(invocation, arguments)
    if not invocation.inputs and invocation.verbose:
        return ExitStatus.DONE
    if not invocation.inputs:
        raise UsageError("an input file (or - for standard input) is needed; see `coopmat compile --help`")
    kinds = _kinds(invocation, options.matrices)
    reporter = Reporter(invocation.diagnostics, invocation.color)
    each = [replace(invocation, inputs=(name,)) for name in invocation.inputs]
    if len(each) > 1:
        _check_several(each, kinds, options)
        reporter = reporter.for_inputs()
    status: int = ExitStatus.DONE
    for one in each:
        if one.verbose or one.dry:
            outputs = _outputs(one, kinds, options.matrices)
            sys.stderr.write(verbose.command(one, outputs))
        if one.dry:
            continue
        status = max(status, run_guarded(partial(_compile, one, options, kinds, reporter), reporter.show_error))
        if status == ExitStatus.INTERRUPTED:
            break
    reporter.finish()
    return status


def _check_several(each: Sequence[Invocation], kinds: list[str], options: CompileOptions) -> None:
    """Raise UsageError if several inputs would have the same output, or if standard input would be read twice."""
    for flag, value in (("-o", each[0].output), ("-MF", each[0].dependency_file)):
        if value is not None:
            raise UsageError(f"{flag} names one file, and there are {len(each)} inputs")
    inputs = [one.inputs[0] for one in each]
    if inputs.count("-") > 1:
        raise UsageError("standard input can be read only once")
    outputs = [name for one in each for name in _outputs(one, kinds, options.matrices).values() if name != "-"]
    for name in outputs:
        if name in inputs:
            raise UsageError(f"the output '{name}' is an input")
        if outputs.count(name) > 1:
            raise UsageError(f"two outputs have the same name, '{name}'")


def _options(invocation: Invocation) -> CompileOptions:
    """Return the compiler's options.

    If --device names a device and no flag names a route, the route is `auto`, the device's.
    """
    names = [name for flag in FLAGS for name in flag.names]
    options = compile_options(invocation.options, names, separate=invocation.object)
    names_route = any(word.partition("=")[0] == "--matrices" for word in invocation.options)
    return options if names_route or invocation.device is None else replace(options, matrices="auto")


# clang's flag -> kind of output. If there are several flags, the first in this order decides.
_KIND_OF_WORD = {None: "spv", "-emit-llvm": "ll", "-S": "spvasm"}


def _is_for_spirv(invocation: Invocation) -> bool:
    """Return whether the output can only be SPIR-V, by its name or by --target-env."""
    is_named = invocation.output is not None and invocation.output.endswith((".spv", ".spvasm"))
    return is_named or any(option.startswith("--target-env") for option in invocation.options)


def _kinds(invocation: Invocation, matrices: str) -> list[str]:
    """Return the kinds of output to write. Raises UsageError if they contradict other flags."""
    words = {"-emit-llvm": invocation.llvm, "-S": invocation.assembly}
    word = next((word for word, is_there in words.items() if is_there), None)
    if word is not None and invocation.emit:
        raise UsageError(f"{word} and --emit exclude each other")
    usual = "c" if word is None and matrices in OPENCL_C_ONLY and not _is_for_spirv(invocation) else _KIND_OF_WORD[word]
    kinds = invocation.emit.split(",") if invocation.emit else [usual]
    if matrices in OPENCL_C_ONLY and (others := sorted({"spv", "spvasm", "ll", "header"}.intersection(kinds))):
        raise UsageError(
            f"--matrices {matrices} is OpenCL C only, not {', '.join(others)}: --emit c, or {matrices}:emulated"
        )
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(f"--emit takes {', '.join(KINDS)}, not '{kind}'")
    if len(kinds) > 1 and invocation.output is not None:
        raise UsageError("-o cannot name the files of several kinds")
    for stage in invocation.print_after:
        if stage not in STAGES:
            raise UsageError(f"--print-after takes {', '.join(STAGES)}, not '{stage}'")
    wants_rule = invocation.dependency_file or invocation.dependency_targets or invocation.phony_targets
    if wants_rule and not invocation.dependencies:
        raise UsageError("-MF, -MT, -MQ and -MP need -M or -MD")
    if invocation.device is not None and invocation.device_info is not None:
        raise UsageError("--device and --device-info exclude each other")
    return list(dict.fromkeys(kinds))


def _compile(
    invocation: Invocation, options: CompileOptions, kinds: list[str], reporter: Reporter, write: Write = write_outputs
) -> int:
    if invocation.mode == "binary":
        what = "--mode binary (a device's own binary) is not supported yet"
        raise CompileError([Diagnostic(Severity.ERROR, "not-supported", what)])
    name = invocation.inputs[0]
    outputs = _outputs(invocation, kinds, options.matrices)
    if any(kind in outputs for kind in ("spv", "spvasm", "header")):
        from coopmat.spirv import emit

        # The emitter process loads LLVM while this process reads the source.
        emit.start()
    device = _device(invocation, options)
    if device is not None:
        from coopmat.runtime.launch import compile_resolved, resolve_options

        options = resolve_options(options, device)
    with budgets.use(dict(options.budgets)):
        source = read_source(name)
    from coopmat import compiler

    shallow = invocation.preprocess or invocation.dependencies == "only"
    title = STANDARD_INPUT if name == "-" else name
    if shallow:
        module = compiler.preprocess_only(source, options, name=title)
    else:
        language = invocation.language or compiler.language_of(name)
        if device is None:
            module = compiler.compile(source, options, name=title, language=language)
        else:
            module = compile_resolved(source, options, device, name=title, language=language)
    if device is not None and options.variants is None and not (shallow or invocation.syntax_only):
        _warn_of_unchecked_shapes(module, device)
    # Make all contents before any file is written.
    contents = _contents(invocation, module, outputs)
    for stage in invocation.print_after:
        sys.stderr.write(f"// after {stage}\n{STAGES[stage](module)}\n")
    write(contents)
    reporter.show(module.diagnostics, module.sources)
    if invocation.time_passes:
        _print_times(module)
    return ExitStatus.DONE


def _device(invocation: Invocation, options: CompileOptions) -> DeviceInfo | None:
    """Return the device to compile for: by name, from a file, or the default one if the route is `auto`; else None."""
    if invocation.device_info is None and invocation.device is None and options.matrices != "auto":
        return None
    from coopmat.devices import from_key_values
    from coopmat.targets import find_device

    if invocation.device_info is not None:
        return from_key_values(read_source(invocation.device_info).decode(), invocation.device_info)
    return find_device(invocation.device)


def _warn_of_unchecked_shapes(module: Module, device: DeviceInfo) -> None:
    native = [kernel.name for kernel in module.kernels.values() if kernel.uses_matrices]
    if module.matrices == "native" and native:
        names = ", ".join(native)
        module.warn(
            "unchecked-shapes",
            f"{device.label} does not report which matrices it has: those of {names} are not checked",
        )


def _outputs(invocation: Invocation, kinds: list[str], matrices: str) -> dict[str, str]:
    """Return kind -> file name of the outputs, `-` for standard output; the kind "d" is the dependency file.

    Raises UsageError if outputs collide with each other, with the input, or with files that coopmat did not write.
    """
    name = invocation.inputs[0]
    if invocation.run_pass is not None:
        return {"pass": invocation.output or "-"}
    if invocation.syntax_only:
        if not invocation.dependencies:
            return {}
        return {"d": invocation.dependency_file or ("-" if name == "-" else Path(name).stem + ".d")}
    stem = None if name == "-" else Path(name).stem
    if invocation.preprocess:
        outputs = {"preprocessed": invocation.output or "-"}
    elif invocation.dependencies == "only":
        outputs = {"d": invocation.dependency_file or invocation.output or "-"}
    else:
        outputs = {kind: invocation.output or _default_output(name, KINDS[kind].suffix, matrices) for kind in kinds}
        if len(outputs) > 1 and stem is None:
            raise UsageError("several kinds of output need an input file, from whose name theirs are derived")
    if invocation.dependencies == "also":
        first = next(iter(outputs.values()))
        if first == "-" and invocation.dependency_file is None:
            raise UsageError("-MD with output to standard output needs -MF")
        outputs["d"] = invocation.dependency_file or str(Path(first).with_suffix(".d"))
    if len(set(outputs.values())) < len(outputs):
        raise UsageError("two outputs have the same name")
    for kind, output in outputs.items():
        if output == "-" and kind in KINDS and KINDS[kind].binary and sys.stdout.isatty():
            raise UsageError(f"'{kind}' is binary and standard output is a terminal; give -o FILE")
        keep_input(output, name)
        if kind in KINDS and invocation.output is None:
            _keep_others(Path(output), KINDS[kind].beginnings)
    if "d" in outputs and outputs["d"] not in (invocation.dependency_file, invocation.output):
        _keep_others(Path(outputs["d"]), (_targets(invocation, outputs).encode(),))
    return outputs


def _keep_others(path: Path, beginnings: tuple[bytes, ...]) -> None:
    """Raise UsageError if an output without a name from an option would overwrite a file that is not of its kind."""
    try:
        with path.open("rb") as file:
            beginning = file.read(max(map(len, beginnings)))
    except OSError:
        return
    if beginning and not beginning.startswith(beginnings):
        raise UsageError(f"'{path}' exists and was not written by coopmat; name the output with -o to overwrite it")


def _default_output(name: str, suffix: str, matrices: str) -> str:
    """Return the input's name with the kind's suffix.

    If the input has the same suffix, the route of the matrices is inserted before it.
    """
    path = Path(name)
    if name == "-":
        return name
    stem = path.name.removesuffix(suffix) if path.name.endswith(suffix) else path.stem
    return stem + (f".{matrices}{suffix}" if path.name.endswith(suffix) else suffix)


def _contents(invocation: Invocation, module: Module, outputs: dict[str, str]) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    for kind, output in outputs.items():
        if kind == "preprocessed":
            contents[output] = (module.macros if invocation.macros else module.preprocessed).encode()
        elif invocation.run_pass is not None:
            contents[output] = module.typed_ast_after(invocation.run_pass, alone=True).encode()
        elif kind == "d":
            contents[output] = _dependency_rule(invocation, module, outputs).encode()
        else:
            contents[output] = KINDS[kind].file(module)
    return contents


def _targets(invocation: Invocation, outputs: Mapping[str, str]) -> str:
    """Return the beginning of the make rule: its targets and the colon."""
    default = [output for kind, output in outputs.items() if kind != "d"] or [Path(invocation.inputs[0]).stem + ".spv"]
    targets = list(invocation.dependency_targets) or [escape(target) for target in default]
    return f"{' '.join(targets)}:"


def _dependency_rule(invocation: Invocation, module: Module, outputs: dict[str, str]) -> str:
    name = invocation.inputs[0]
    files = dict.fromkeys(file for file in [name, *module.dependencies] if file not in ("-", STANDARD_INPUT))
    rule = f"{_targets(invocation, outputs)} {' '.join(escape(file) for file in files)}\n"
    # With a rule for each header, make does not fail if a header is removed later.
    phony = [f"{escape(file)}:\n" for file in files if invocation.phony_targets and file != name]
    return "".join([rule, *phony])


def _print_times(module: Module) -> None:
    total = sum(module.timings.values())
    for stage, seconds in module.timings.items():
        sys.stderr.write(f"{seconds * 1e3:9.3f} ms  {stage}\n")
    sys.stderr.write(f"{total * 1e3:9.3f} ms  total\n")


USAGE = "[FLAGS] FILE...|- [@RESPONSE-FILE]"
SUMMARY = """\
Compile OpenCL C, LLVM IR or SPIR-V with cooperative matrices, to SPIR-V or a text form.

Example: coopmat compile -DN=512 -DK=512 --matrices one gemm.cl
"""


def help_sections() -> dict[str, list[tuple[str, str]]]:
    """Return title -> (flags, meaning) pairs, the sections of the help text."""
    own = [(f"{', '.join(flag.names)} {flag.metavar}".strip(), flag.help) for flag in FLAGS if flag.help]
    return {"Input and output": own, "Compiler": list(_COMPILER_HELP.items())}


def help_text(width: int | None = None) -> str:
    """Return the help of `coopmat compile`, `width` columns wide; by default, as wide as the terminal, up to 110."""
    formatter = click.HelpFormatter(width=width, max_width=110)
    formatter.write_usage("coopmat compile", USAGE)
    for paragraph in SUMMARY.split("\n\n"):
        formatter.write_paragraph()
        formatter.write_text(paragraph)
    for title, rows in help_sections().items():
        with formatter.section(title):
            formatter.write_dl(rows)
    return formatter.getvalue().rstrip()


def compile_one(arguments: Sequence[str], write: Write, color: bool) -> int:
    """Compile one entry of a batch, and return its exit status.

    Diagnostics are printed to standard error; outputs (file name -> contents) are passed to `write`. Raises UsageError
    for wrong arguments.
    """
    invocation = parse_arguments(arguments)
    options = _options(invocation)
    kinds = _kinds(invocation, options.matrices)
    reporter = Reporter(invocation.diagnostics, color if invocation.color is None else invocation.color)
    return run_guarded(partial(_compile, invocation, options, kinds, reporter, write), reporter.show_error)


def outputs_of(arguments: Sequence[str]) -> tuple[Invocation, CompileOptions, dict[str, str]]:
    """Return an entry's parsed arguments, the compiler's options, and kind -> file name of the outputs.

    Raises UsageError.
    """
    invocation = parse_arguments(arguments)
    options = _options(invocation)
    return invocation, options, _outputs(invocation, _kinds(invocation, options.matrices), options.matrices)


_COMPILER_HELP = {
    "--matrices HOW": f"Use this route: {', '.join(LISTED_ROUTES)}, or auto, the device's (default native; auto with "
    "--device).",
    "--sub-group-size N": "Compile for subgroups of N work-items.",
    "--code FORM": "Pass SPIR-V or OpenCL C to devices: auto (default), spirv or c.",
    "--matrix-variants LIST": "List the device's multiply-adds by name, separated by blanks (docs/routes.md).",
    "--matrix-pointer-alignment BYTES, --matrix-stride-multiple BYTES": "Require this "
    "alignment and stride of matrices in memory.",
    "--native-profile NAME": "Write native matrices for this consumer: khr (default), maint1, igc, vulkan, "
    "vulkan-nv2 or vulkan-mesa (docs/routes.md).",
    "--matrix-registers BITSxCOUNT": "Tile expressions of matrix types for these vector registers (default 256x16).",
    "-ffp-contract=HOW": "Contract products and sums: on (default), off, or matrix (in expressions of "
    "matrix types, despite pragmas).",
    "-fmatrix-memory-layout=LAYOUT": "Set the default layout of matrix types, and that in LLVM IR: column-major "
    "(default) or row-major.",
    "-fenable-matrix": "Do nothing: matrix types are always on.",
    "-fwrapv": "Wrap signed integers that overflow; otherwise, the overflow is undefined.",
    "--dialect NAME": "Write the matrix operations of `--emit ll` in this dialect: khr (default), rfc, clang, intel "
    "(flat vectors), intel-opaque, intel-spirv, llvm.",
    "-D -U -I -isystem -include -cl-std= -cl-ext= -cl-... -Werror -w -W<name> -Wno-<name> -O0..-O3 -g": "Work as in "
    "clang and OpenCL.",
    "--spirv-version V, --target-env E": "Set the module's version and the environment that spirv-val checks; "
    "vulkan1.3 and vulkan1.4 convert the module for Vulkan (docs/vulkan.md).",
    "-Rpass=matrix": "Report for each multiply-add of matrices the instruction that implements it, or why none does.",
    "--verify-passes": "Check the typed AST after each pass on it.",
    "--validate, --no-validate": "Require validation, or turn it off. By default native modules must be valid, and "
    "lowered ones are validated if a spirv-val is installed.",
    "-ferror-limit=N": "Stop after N errors (0: never).",
    f"{budgets.OPTION} NAME=N": "Set a limit (docs/language.md#limits): "
    + ", ".join(f"{row.name} ({row.default:,} {row.unit})" for row in budgets.BUDGETS.values())
    + ".",
}

command = _RawCommand("compile", callback=_run, add_help_option=False)
