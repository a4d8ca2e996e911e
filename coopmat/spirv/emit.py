"""LLVM IR text to a SPIR-V binary, each emission in a clean process of its own.

The user's process never loads LLVM: it talks to the emitter (`emitter.py`), a small process that is started on
first use and ends when its pipe closes. A crash of the backend there is an InternalError here.
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

Passes = Literal["none", "sroa", "unroll", "O1", "O2", "O3"]
SPIRV_VERSIONS = ("1.2", "1.3", "1.4", "1.5", "1.6")
_SCRIPT = Path(emitter.__file__)
_CAN_FORK = hasattr(os, "fork")
_SHOWN_LINES = 40
# Without it the backend drops nsw and nuw; from SPIR-V 1.4 on the module does not need to name it (`legalize`).
WRAP_EXTENSION = "SPV_KHR_no_integer_wrap_decoration"
# What the emitter may take beyond a request's own timeout before it counts as hung.
_GRACE = 10.0


@dataclass(frozen=True, slots=True)
class EmitOptions:
    """The options of an emission.

    `spirv_version` is the header's, and the triple's suffix. `extensions` are SPIR-V extension names; the backend
    refuses what it would need and does not find there. `passes` runs on the module first: "none"; "sroa" or "unroll"
    (short loops, too), which are right for modules with cooperative-matrix values; or a level of LLVM's own pipeline
    without its vectorisers. `want` is a subset of {"spirv", "llvm_ir"}.
    `timeout` is in seconds, by default the budget's.
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
        return f"spirv64v{self.spirv_version}-unknown-unknown"


@dataclass(frozen=True, slots=True)
class EmitResult:
    """The outputs that the request named (None otherwise); `llvm_ir` is the text after the passes. `seconds` per step.

    `passes` is the chain that ran in the end: less than requested where that would have left types which SPIR-V lacks.
    """

    spirv: bytes | None
    llvm_ir: str | None
    passes: str
    seconds: dict[str, float] = field(default_factory=dict)


def emit(ir_text: str, options: EmitOptions | None = None) -> EmitResult:
    """Compile LLVM IR text. Raises InternalError where LLVM refuses the text or dies, budgets.Exceeded where it takes
    too long or too much memory. What would grow beyond a budget is neither inlined nor unrolled (`growth`).

    Thread-safe and fork-safe; the same text and options give the same bytes.
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
        ir_text = growth.bounded(ir_text, *map(budgets.limit, growth.BUDGETS))
    start = time.perf_counter()
    text = ir_text.encode()
    fields, blobs = _answer(request, text)
    if "died" in fields and options.passes.startswith("O"):
        # Of its optimiser, as of rows of blocks that do not converge: what is not optimised is right, too.
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
    """Return the fields and blobs of the emitter's response. Raise budgets.Exceeded."""
    fields, blobs = _emitter.request(request, text) if _CAN_FORK else _request_once(request, text)
    _check_budgets(fields)
    return fields, blobs


class _Limits(TypedDict):
    timeout: float
    megabytes: int


def _limits(options: EmitOptions) -> _Limits:
    seconds = budgets.limit("emitter-seconds") if options.timeout is None else options.timeout
    return {"timeout": seconds, "megabytes": budgets.limit("emitter-megabytes")}


def _check_budgets(fields: dict[str, Any]) -> None:
    """Raise Exceeded where the emitter ran out of its time or memory."""
    if fields.get("late"):
        raise budgets.Exceeded("emitter-seconds", "LLVM")
    if "died" in fields and OUT_OF_MEMORY.search(fields["stderr"].encode()):
        raise budgets.Exceeded("emitter-megabytes", "LLVM")


class RefusedIR(Exception):
    """LLVM does not read a text. `line` and `column` count from 1, 0: unknown; `context` is the line it shows."""

    def __init__(self, message: str, line: int = 0, column: int = 0, context: str = "") -> None:
        super().__init__(message)
        self.message, self.line, self.column, self.context = message, line, column, context


def reprint(ir_text: str, options: EmitOptions | None = None) -> str:
    """The text as LLVM reads and prints it, checked by its verifier. Raises RefusedIR, budgets.Exceeded."""
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
    match = _REFUSAL.search(message)
    if match is None:
        # The verifier says what is wrong, then shows instructions.
        lines = message.strip().splitlines() or ["LLVM does not say why"]
        return RefusedIR(lines[0], context=lines[1] if len(lines) > 1 else "")
    return RefusedIR(match[3], int(match[1]), int(match[2]), match[4])


def start() -> None:
    """Start the emitter now, so that it warms up while the caller does something else. Costs about 2 ms."""
    if _CAN_FORK:
        _emitter.start()


def stop() -> None:
    """End the emitter, which gives its memory back; the next emission starts another."""
    with _emitter._lock:
        _emitter.stop()


# --- errors --------------------------------------------------------------------------------------


def _raise_failure(fields: dict[str, Any], ir_text: str) -> None:
    if "died" in fields or "error" in fields:
        raise _error(fields, ir_text)


def _error(fields: dict[str, Any], ir_text: str) -> InternalError:
    if "error" in fields:
        message, output = "LLVM refused the IR", fields["error"]
    else:
        message, output = f"LLVM {fields['died']}", fields["stderr"]
    lines = [line for line in output.splitlines() if line.strip()]
    output = "\n".join(lines[:8]) or "(it said nothing)"
    return InternalError(message, f"{output}\nwhile compiling:\n{_excerpt(output + fields.get('stderr', ''), ir_text)}")


def _excerpt(message: str, ir_text: str) -> str:
    """The lines of the IR that the message is about: around the line or in the function it names, else the first."""
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
    """The emitter is gone or does not answer."""


def _command(mode: str) -> list[str]:
    if not sys.executable:
        raise InternalError("cannot emit SPIR-V: sys.executable does not name the Python interpreter")
    # -I -S: the emitter gets this process's import path as it is, and saves the time of building one.
    return [sys.executable, "-I", "-S", str(_SCRIPT), mode, *(str(Path(entry or ".").absolute()) for entry in sys.path)]


def _request_once(request: emitter.Request, text: bytes) -> tuple[Any, list[bytes]]:
    """Start a process for one request, where the system cannot fork."""
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
    """The client's end of one emitter process; requests of several threads queue."""

    def _command(self) -> list[str]:
        return _command("serve")

    def request(self, request: emitter.Request, text: bytes) -> tuple[Any, list[bytes]]:
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
