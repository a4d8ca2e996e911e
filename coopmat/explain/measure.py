"""The times of a kernel file's runs, as `coopmat run` measures them, and the plan for the product that it computes."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..runtime.runheader import Run
from .printed import Printed, read

_RESULT = re.compile(r"(\w+): (\S+), (global .*), ([\d.]+ ms)((?:, [^,:]+/s)?): (.*)")
HEADS = ("kernel", "route", "sizes", "time", "speed", "result")
_REPEAT = 5
_TYPES = {"f16": "f16", "f32": "f32", "f64": "f64", "i8": "s8", "s8": "s8", "u8": "u8", "i32": "s32", "s32": "s32"}


@dataclass(frozen=True, slots=True)
class Measured:
    """The result of the runs of a file on a route.

    rows: the cells of HEADS for each run.
    printed: what the kernels print.
    messages: what the compiler and the check of the results print.
    """

    route: str
    rows: tuple[tuple[str, ...], ...] = ()
    printed: tuple[Printed, ...] = field(default=())
    messages: str = ""


def run(file: str, options: Sequence[str], route: str, device: str | None, seconds: float) -> Measured:
    """Run a file by `coopmat run` in a process that a crash of the kernel may end."""
    command = ["run", file, "--matrices", route, "--repeat", str(_REPEAT), *options]
    status, out, error = _coopmat([*command, *(["--device", device] if device else [])], seconds)
    lines = out.splitlines()
    results = [match for line in lines if (match := _RESULT.fullmatch(line))]
    rows = [(m[1], m[2], m[3], m[4], m[5].removeprefix(", "), m[6]) for m in results]
    printed = read([line for line in lines if not _RESULT.fullmatch(line)])
    if status and not error.strip():
        error = f"coopmat run ended with status {status}"
    return Measured(route, tuple(rows), tuple(printed), error.strip())


def plan(runs: Sequence[Run], device: str | None, seconds: float) -> str:
    """Return `coopmat plan` for the product of the first run, "" if the header describes no product of matrices.

    A product has the symbols M, N and K, and the arguments a, b and c.
    """
    if not runs:
        return ""
    symbols = {name: piece.text for name, piece in runs[0].symbols}
    types = {argument.name.text: _TYPES.get(argument.type, "") for argument in runs[0].arguments}
    sizes = [symbols.get(name, "") for name in ("M", "N", "K")]
    components = [types.get(name, "") for name in ("a", "b", "c")]
    if not all(size.isdecimal() for size in sizes) or not all(components):
        return ""
    words = [word for flag, size in zip(("-M", "-N", "-K"), sizes, strict=True) for word in (flag, size)]
    command = ["plan", "gemm", *words, "--types", ",".join(components)]
    status, out, error = _coopmat([*command, *(["--device", device] if device else [])], seconds)
    return f"$ coopmat {' '.join(command)}\n{out if status == 0 else error}".rstrip()


def _coopmat(arguments: Sequence[str], seconds: float) -> tuple[int, str, str]:
    """Return the status, the output and the messages of a command; 124 if it takes too long."""
    command = [sys.executable, "-m", "coopmat", *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=seconds, stdin=subprocess.DEVNULL,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return 124, "", f"coopmat {arguments[0]} took longer than {seconds:g} s"
    return done.returncode, done.stdout, done.stderr
