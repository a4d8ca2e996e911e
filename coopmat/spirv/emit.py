"""The compilation of LLVM IR text to a SPIR-V binary, in a clean process for each emission.

The user's process never loads LLVM. It sends requests to the emitter (`emitter.py`), a small process that starts at the
first emission and ends when its pipe closes. A crash of the backend there raises InternalError here.
"""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypedDict

from coopmat import budgets
from coopmat.child_process import ChildProcess
from coopmat.diagnostics import InternalError
from coopmat.spirv import constant_arrays, emitter, growth
from coopmat.spirv.tools import OUT_OF_MEMORY

Passes = Literal["none", "sroa", "unroll", "vulkan", "O1", "O2", "O3"]
SPIRV_VERSIONS = ("1.2", "1.3", "1.4", "1.5", "1.6")
_SCRIPT = Path(emitter.__file__)
_CAN_FORK = hasattr(os, "fork")
_SHOWN_LINES = 40
# Without this extension the backend drops nsw and nuw. From SPIR-V 1.4 on the module need not declare it: `legalize`
# removes the declaration.
WRAP_EXTENSION = "SPV_KHR_no_integer_wrap_decoration"
# Seconds that the emitter may take beyond the timeout of a request before it counts as hung.
_GRACE = 10.0


@dataclass(frozen=True, slots=True)
class EmitOptions:
    """The options of an emission.

    spirv_version: the version in the module's header, and the suffix of the target triple.
    extensions: names of SPIR-V extensions. The backend refuses IR that needs an extension that is not listed.
    passes: the optimisation before emission: "none"; "sroa" or "unroll" (which also unrolls short loops), both valid
        for modules with cooperative-matrix values; or a level of LLVM's pipeline ("O1" to "O3") without its
        vectorizers. "vulkan" inlines all calls before "sroa".
    want: the outputs to return, a subset of {"spirv", "llvm_ir"}.
    timeout: in seconds; None means the budget "emitter-seconds".
    """

    spirv_version: str = "1.4"
    extensions: tuple[str, ...] = ()
    passes: Passes = "none"
    want: frozenset[str] = frozenset({"spirv"})
    timeout: float | None = None

    def __post_init__(self) -> None:
        if self.spirv_version not in SPIRV_VERSIONS:
            raise ValueError(f"SPIR-V version {self.spirv_version!r} is not one of {', '.join(SPIRV_VERSIONS)}")
        if unknown := set(self.want) - {"spirv", "llvm_ir"}:
            raise ValueError(f"cannot emit {', '.join(sorted(unknown))}")

    @property
    def triple(self) -> str:
        """The target triple, whose suffix is the SPIR-V version."""
        return f"spirv64v{self.spirv_version}-unknown-unknown"


@dataclass(frozen=True, slots=True)
class EmitResult:
    """The result of an emission: the requested outputs, and None for each output that was not requested.

    llvm_ir: the text after the passes.
    passes: the pipeline that produced the result. If the requested pipeline left types that SPIR-V lacks, a weaker
        pipeline.
    seconds: name of the step -> its duration.
    """

    spirv: bytes | None
    llvm_ir: str | None
    passes: str
    seconds: dict[str, float] = field(default_factory=dict)


def emit(ir_text: str, options: EmitOptions | None = None) -> EmitResult:
    """Compile LLVM IR text to the outputs that `options.want` names.

    If inlining or unrolling would exceed a budget of growth, it is not done (see `growth`). The
    function is thread-safe and fork-safe. The same text and options give the same bytes. Raise InternalError if LLVM
    refuses the text or crashes, and budgets.Exceeded if LLVM takes too much time or memory.
    """
    options = options or EmitOptions()
    request: emitter.Request = {
        "triple": options.triple,
        "extensions": sorted({*options.extensions, WRAP_EXTENSION}),
        "passes": options.passes,
        "want": sorted(options.want),
        "cuts_arrays": "spirv" in options.want,
        **_limits(options),
    }
    if options.passes.startswith("O"):
        ir_text = growth.limit_inlining(ir_text, *map(budgets.limit, growth.BUDGETS))
    start = time.perf_counter()
    text = ir_text.encode()
    fields, blobs = _answer(request, text)
    if "died" in fields and options.passes.startswith("O"):
        # LLVM's optimiser crashed, as it does on rows of blocks whose analysis does not converge. Unoptimised code is
        # correct too.
        unoptimised, blobs = _answer({**request, "passes": "none"}, text)
        fields = unoptimised if "died" not in unoptimised and "error" not in unoptimised else fields
    _raise_failure(fields, ir_text)
    spirv, ir = blobs
    if fields["arrays"] and (whole := constant_arrays.written(spirv, fields["arrays"])) is not None:
        spirv = whole
    elif fields["arrays"]:
        fields, blobs = _answer({**request, "passes": fields["passes"], "cuts_arrays": False}, text)
        _raise_failure(fields, ir_text)
        spirv, ir = blobs
    seconds = {**fields["seconds"], "total": time.perf_counter() - start}
    return EmitResult(
        spirv if "spirv" in options.want else None,
        ir.decode() if "llvm_ir" in options.want else None,
        fields["passes"],
        seconds,
    )


def _answer(request: emitter.Request, text: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Return the fields and the blobs of the emitter's response; raise budgets.Exceeded if a budget ran out."""
    fields, blobs = _emitter.request(request, text) if _CAN_FORK else _request_once(request, text)
    _check_budgets(fields)
    return fields, blobs


class _Limits(TypedDict):
    """The limits of a request."""

    timeout: float
    megabytes: int


def _limits(options: EmitOptions) -> _Limits:
    """Return the limits of time (seconds) and memory (megabytes) for a request."""
    seconds = budgets.limit("emitter-seconds") if options.timeout is None else options.timeout
    return {"timeout": seconds, "megabytes": budgets.limit("emitter-megabytes")}


def _check_budgets(fields: dict[str, Any]) -> None:
    """Raise budgets.Exceeded if the emitter ran out of time or memory."""
    if fields.get("late"):
        raise budgets.Exceeded("emitter-seconds", "LLVM")
    if "died" in fields and OUT_OF_MEMORY.search(fields["stderr"].encode()):
        raise budgets.Exceeded("emitter-megabytes", "LLVM")


class RefusedIR(Exception):
    """An error that LLVM reports when it parses or verifies a text.

    line, column: the position, counted from 1; 0 if unknown.
    context: the line of IR that LLVM quotes.
    """

    def __init__(self, message: str, line: int = 0, column: int = 0, context: str = "") -> None:
        super().__init__(message)
        self.message, self.line, self.column, self.context = message, line, column, context


def reprint(ir_text: str, options: EmitOptions | None = None) -> str:
    """Return the text as LLVM parses and prints it, after its verifier has accepted it.

    Raise RefusedIR if LLVM refuses the text, and budgets.Exceeded if a budget ran out.
    """
    options = options or EmitOptions()
    request: emitter.Request = {
        "triple": options.triple,
        "extensions": [],
        "passes": "print",
        "want": ["llvm_ir"],
        "cuts_arrays": False,
        **_limits(options),
    }
    fields, blobs = _answer(request, ir_text.encode())
    if "died" in fields:
        lines = [line for line in fields["stderr"].splitlines() if line.strip()]
        raise RefusedIR(f"LLVM {fields['died']} on this text" + (f": {lines[0]}" if lines else ""))
    if "error" in fields:
        raise _refusal(fields["error"])
    return blobs[1].decode()


_REFUSAL = re.compile(r"<string>:(\d+):(\d+): (?:error: )?(.*)\n?(.*)")


def _refusal(message: str) -> RefusedIR:
    """Return the error for a message of LLVM's parser or verifier."""
    match = _REFUSAL.search(message)
    if match is None:
        # The verifier prints the fault first, then the instructions concerned.
        lines = message.strip().splitlines() or ["LLVM does not say why"]
        return RefusedIR(lines[0], context=lines[1] if len(lines) > 1 else "")
    return RefusedIR(match[3], int(match[1]), int(match[2]), match[4])


def start() -> None:
    """Start the emitter in advance, so that it loads LLVM while the caller does other work; this takes about 2 ms."""
    if _CAN_FORK:
        _emitter.start()


def stop() -> None:
    """Stop the emitter, which frees its memory; the next emission starts a new one."""
    with _emitter._lock:
        _emitter.stop()


# --- errors --------------------------------------------------------------------------------------


def _raise_failure(fields: dict[str, Any], ir_text: str) -> None:
    """Raise InternalError if the emitter's response reports a crash or an error."""
    if "died" in fields or "error" in fields:
        raise _error(fields, ir_text)


def _error(fields: dict[str, Any], ir_text: str) -> InternalError:
    """Return the InternalError for a response that reports a crash or an error."""
    if "error" in fields:
        message, output = "LLVM refused the IR", fields["error"]
    else:
        message, output = f"LLVM {fields['died']}", fields["stderr"]
    lines = [line for line in output.splitlines() if line.strip()]
    output = "\n".join(lines[:8]) or "(LLVM printed nothing)"
    return InternalError(message, f"{output}\nwhile compiling:\n{_excerpt(output + fields.get('stderr', ''), ir_text)}")


def _excerpt(message: str, ir_text: str) -> str:
    """Return up to 40 numbered lines of the IR around the line, or from the function, that LLVM's message names.

    If the message names neither, return the first lines.
    """
    lines = ir_text.splitlines()
    first = 0
    if match := re.search(r"<string>:(\d+):", message):
        first = max(0, int(match[1]) - _SHOWN_LINES // 2)
    else:
        function = re.search(r"(?:on|in) function:? ?'?\"?@?([\w.$]+)", message)
        pattern = rf"^define\b.*@{re.escape(function[1]) if function else ''}"
        first = next((n for n, line in enumerate(lines) if re.match(pattern, line)), 0)
    excerpt = lines[first : first + _SHOWN_LINES]
    return "\n".join(f"{first + n + 1:5}  {line[:200]}" for n, line in enumerate(excerpt))


# --- the processes -------------------------------------------------------------------------------


class _Lost(Exception):
    """An error that says that the emitter has ended or does not answer; the text continues "the process ..."."""


def _command(mode: str) -> list[str]:
    """Return the command line of the emitter in the mode "serve" or "once"."""
    if not sys.executable:
        raise InternalError("cannot emit SPIR-V: sys.executable does not name the Python interpreter")
    # With -I -S the emitter skips building an import path, which saves time; it receives the path of this process.
    return [sys.executable, "-I", "-S", str(_SCRIPT), mode, *(str(Path(entry or ".").absolute()) for entry in sys.path)]


def _request_once(request: emitter.Request, text: bytes) -> tuple[Any, list[bytes]]:
    """Answer a request with a new process, for systems that cannot fork."""
    parts: list[bytes] = []
    emitter.write_message(parts.append, request, text)
    try:
        run = subprocess.run(
            _command("once"), input=b"".join(parts), capture_output=True, timeout=request["timeout"], check=False
        )
    except subprocess.TimeoutExpired:
        return {"died": "is late", "late": True, "stderr": ""}, []
    if run.returncode != 0:
        return {"died": f"exited with status {run.returncode}", "stderr": run.stderr.decode(errors="replace")}, []
    stream = memoryview(run.stdout)
    at = 0

    def read(count: int) -> bytes:
        nonlocal at
        at += count
        return bytes(stream[at - count : at])

    return emitter.read_message(read)


class _Emitter(ChildProcess):
    """The client of one emitter process; requests of several threads are answered one after another."""

    def _command(self) -> list[str]:
        return _command("serve")

    def request(self, request: emitter.Request, text: bytes) -> tuple[Any, list[bytes]]:
        """Send a request and return the response; if the emitter has ended, start another and try once more."""
        with self._lock:
            for attempt in range(2):
                process = self._ensure()
                try:
                    with self._stop_on_failure():
                        return self._exchange(process, request, text)
                except _Lost as lost:
                    output = self._last_words()
                    if attempt:
                        raise InternalError(f"the SPIR-V emitter process {lost}", output) from lost
            raise AssertionError  # the loop returns or raises

    def _exchange(
        self, process: subprocess.Popen[bytes], request: emitter.Request, text: bytes
    ) -> tuple[Any, list[bytes]]:
        """Write a request and read its response; raise _Lost if the process has ended or does not answer in time."""
        assert process.stdin is not None and process.stdout is not None
        deadline = time.monotonic() + request["timeout"] + _GRACE
        output, answers = process.stdin.fileno(), process.stdout.fileno()

        def read(count: int) -> bytes:
            parts = []
            while count:
                if not select.select([answers], [], [], max(0.0, deadline - time.monotonic()))[0]:
                    raise _Lost("does not answer")
                part = os.read(answers, min(count, 1 << 20))
                if not part:
                    raise _Lost("is gone")
                parts.append(part)
                count -= len(part)
            return b"".join(parts)

        try:
            emitter.write_message(lambda data: emitter.write_all(output, data), request, text)
            return emitter.read_message(read)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise _Lost("is gone") from error


_emitter = _Emitter()
