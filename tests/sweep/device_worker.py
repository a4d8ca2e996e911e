"""A process that runs batches of overloads on the device, since the device's compilers can crash or hang.

Standard input holds one request a line, as JSON: {"overloads": [names], "routes": [...], "theirs": true}. Answers are
lines of JSON as well: {"stage": ...} when a stage begins, and at the end {"found": [[name, route, kind, text],
...]} with all that is unequal, or {"failed": stage, "kind": ..., "log": ...} where a program did not build.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from cases import DEVICE, KERNEL, OURS, OWN, PRINTED, Case
from differential import PROLOGUE, Array, Launch, run_kernel
from drivers import driver_of
from opencl_devices import full_device
from overload_list import identified

import coopmat
from coopmat.devices import opencl

Results = dict[int, Array]
STANDARD = ("-cl-std=CL3.0",)
# Instead of which a case may name another route.
OPTIMISED = "one"


class Refused(Exception):
    """A compiler or the device does not take a program."""

    def __init__(self, kind: str, log: str) -> None:
        super().__init__(log)
        self.kind, self.log = kind, log
        # What was found until then.
        self.found: list[list[str]] = []


def _essence(log: str) -> str:
    """The lines of a build log that tell what is wrong."""
    telling = [line for line in log.splitlines() if "error:" in line or "not found" in line or "Unresolved" in line]
    return "; ".join(telling[:3]) or log[-400:]


class Device:
    def __init__(self) -> None:
        self.cl = opencl()
        self.context = self.cl.Context([full_device().handle])
        self.queue = self.cl.CommandQueue(self.context)
        warnings.simplefilter("ignore", self.cl.CompilerWarning)

    def build(self, program: bytes | str, kind: str, options: Sequence[str]) -> Any:
        try:
            if isinstance(program, bytes):
                return self.cl.Program(self.context, program).build()
            return self.cl.Program(self.context, program).build([*STANDARD, *options], cache_dir=False)
        except self.cl.RuntimeError as error:
            raise Refused(kind, str(error)) from error

    def run(self, program: Any, name: str, case: Case, output: CapturedOutput) -> Results:
        launch = Launch(name, case.arguments, case.global_size, case.local_size, case.offset)
        results: Results = run_kernel(self.cl, self.context, self.queue, program, launch, {})
        if PRINTED in case.checks:
            results[PRINTED] = np.frombuffer(output.take(), np.uint8)
        return results


class CapturedOutput:
    """Standard output as kernels print to it; the answers go elsewhere."""

    def __init__(self) -> None:
        sys.stdout.flush()
        self.answers = os.fdopen(os.dup(1), "w")
        self.file = tempfile.TemporaryFile()  # noqa: SIM115
        os.dup2(self.file.fileno(), 1)

    def answer(self, message: dict[str, Any]) -> None:
        print(json.dumps(message), file=self.answers, flush=True)

    def take(self) -> bytes:
        """What was printed since the last time."""
        self.file.seek(0)
        text = self.file.read()
        self.file.seek(0)
        self.file.truncate()
        return text


def compile_here(cases: dict[str, Case], route: str, options: Sequence[str]) -> bytes:
    try:
        module = coopmat.compile(program(cases), ["--matrices", route, *STANDARD, *options], name="sweep.cl")
        return module.spirv
    except Exception as error:
        raise Refused(OURS, f"{type(error).__name__}: {error}") from error


def program(cases: dict[str, Case]) -> str:
    return "".join(case.source.replace(KERNEL, f"k{number}") + "\n" for number, case in enumerate(cases.values()))


def execute(device: Device, output: CapturedOutput, program: Any, cases: dict[str, Case]) -> list[Results]:
    output.take()
    return [device.run(program, f"k{number}", case, output) for number, case in enumerate(cases.values())]


def sweep(device: Device, output: CapturedOutput, request: dict[str, Any]) -> list[list[str]]:
    groups: dict[tuple[str, tuple[str, ...]], dict[str, Case]] = {}
    for name in request["overloads"]:
        driver = driver_of(identified(name))
        assert driver is not None and driver.case is not None, name
        case = driver.case(identified(name))
        groups.setdefault((case.optimised, case.options), {})[name] = case
    found: list[list[str]] = []
    for (optimised, options), cases in groups.items():
        theirs: dict[str, Results] = {}
        if request["theirs"]:
            output.answer({"stage": OWN})
            theirs, refused = their_results(device, output, cases, options)
            found += [[name, route, OWN, f"not taken: {log}"] for name, log in refused for route in request["routes"]]
        for route in request["routes"]:
            try:
                found += compare(cases, route, our_results(device, output, cases, route, optimised, options), theirs)
            except Refused as refused:
                refused.found = found
                raise
    return found


def our_results(
    device: Device, output: CapturedOutput, cases: dict[str, Case], route: str, optimised: str, options: Sequence[str]
) -> list[Results]:
    output.answer({"stage": OURS})
    spirv = compile_here(cases, optimised if route == OPTIMISED else route, options)
    output.answer({"stage": DEVICE})
    return execute(device, output, device.build(spirv, DEVICE, ()), cases)


def their_results(
    device: Device, output: CapturedOutput, cases: dict[str, Case], options: Sequence[str]
) -> tuple[dict[str, Results], list[tuple[str, str]]]:
    """By the device's own compiler: the results of each case, and which cases it does not take, with its reason."""
    try:
        built = device.build(PROLOGUE + program(cases), OWN, options)
    except Refused as refused:
        if len(cases) == 1:
            return {}, [(next(iter(cases)), _essence(refused.log))]
        results: dict[str, Results] = {}
        reasons = []
        for half in _divided(list(cases), refused.log):
            some, more = their_results(device, output, {name: cases[name] for name in half}, options)
            results |= some
            reasons += more
        return results, reasons
    return dict(zip(cases, execute(device, output, built, cases), strict=True)), []


def _divided(names: list[str], log: str) -> tuple[list[str], list[str]]:
    """Two parts of the cases: those whose builtins the log names, as such or mangled, and the others; or halves."""
    named = set(re.findall(r"(?:undeclared identifier|no matching function for call to) '(\w+)'", log))
    symbols = " ".join(re.findall(r"Symbols not found: \[ (.*?) \]", log))
    guilty = []
    for name in names:
        builtin = name.split("#")[0]
        if builtin in named or f"_Z{len(builtin)}{builtin}" in symbols:
            guilty.append(name)
    if 0 < len(guilty) < len(names):
        return guilty, [name for name in names if name not in set(guilty)]
    return names[: len(names) // 2], names[len(names) // 2 :]


def compare(cases: dict[str, Case], route: str, ours: Sequence[Results], theirs: dict[str, Results]) -> list[list[str]]:
    found = []
    for number, (name, case) in enumerate(cases.items()):
        for argument, check in case.checks.items():
            fault = check(ours[number][argument], theirs[name][argument] if name in theirs else None)
            if fault:
                found.append([name, route, *fault])
    return found


def main() -> None:
    output = CapturedOutput()
    device = Device()
    for line in sys.stdin:
        try:
            output.answer({"found": sweep(device, output, json.loads(line))})
        except Refused as refused:
            log = _essence(refused.log)
            output.answer({"failed": True, "kind": refused.kind, "log": log, "until then": refused.found})
        except Exception:
            output.answer({"failed": True, "kind": OURS, "log": f"the sweep itself: {traceback.format_exc()}"})


if __name__ == "__main__":
    main()
