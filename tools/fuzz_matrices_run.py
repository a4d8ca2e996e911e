"""The worker of the matrix fuzzer: it builds programs by each route, runs them and compares with the interpreter.

The process reads one JSON object a line and writes one for each event, so that the parent knows which program and route
killed it.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import fuzz_matrices_text as text
import fuzz_matrices_tree as tree
import numpy as np
from fuzz_matrices_meaning import Machine, View
from fuzz_matrices_operations import InexactError
from fuzz_matrices_programs import generate
from fuzz_matrices_types import Array, decode, encode

_GUARD = 1024
_PATTERN = 0xA5
# route -> sizes of subgroups
_SIZES = {"one": (1,), "x86": (1,), "x86:emulated": (1,), "lanes": (8, 16, 32), "scratch": (1, 4, 8, 16, 32),
          "mma:emulated": (32,), "wmma:emulated": (32,), "mfma:emulated": (64,), "dpas:emulated": (8, 16)}  # fmt: skip
ROUTES = (
    *(f"{name}/{code}" for name in _SIZES if name != "x86" for code in ("c", "spirv")),
    *(f"{name}/{language}" for name in ("one", "lanes", "scratch") for language in ("ir", "spv")),
    # OpenCL C for devices without cl_khr_fp16, where values of half are bit patterns.
    *(f"{name}/bits" for name in _SIZES if name != "x86"),
)
# route -> size of its subgroups, for the vendors' generations
_GENERATIONS = {"mma:emulated@sm_75": 32, "mma:emulated@sm_80": 32, "mma:emulated@sm_89": 32,
                "wmma:emulated@gfx11": 32, "wmma:emulated@gfx12": 32, "mfma:emulated@gfx908": 64,
                "mfma:emulated@gfx90a": 64, "mfma:emulated@gfx942": 64,
                "dpas:emulated@dg2": 8, "dpas:emulated@pvc": 16}  # fmt: skip
_SIZES |= {name: (size,) for name, size in _GENERATIONS.items()}
MORE_ROUTES = ("x86/c", *(f"{name}/{code}" for name in _GENERATIONS for code in ("c", "spirv")))
# Errors about features that are not supported: native matrices by a profile; addresses and 8-bit floating point in
# foreign LLVM IR; vectors and builtins of half without cl_khr_fp16.
_REFUSALS = ("[native-matrix]", "[ir-not-supported]", "[extension-off]")
_LEVELS = ("", "", "", "-O0", "-O1", "-O2", "-O3", "-cl-opt-disable", "-cl-mad-enable", "-g")


class Runner:
    """An OpenCL device with a context and a queue, which runs programs."""

    def __init__(self, device: str) -> None:
        import coopmat
        from coopmat.devices import opencl
        from coopmat.devices.query import describe

        self.coopmat = coopmat
        self.cl = opencl()
        found = [d for p in self.cl.get_platforms() for d in p.get_devices() if device in p.name or device in d.name]
        if not found:
            raise SystemExit(f"no OpenCL device with {device!r} in its name")
        self.device = describe(found[0])
        self.context = self.cl.Context([found[0]])
        self.queue = self.cl.CommandQueue(self.context)

    def build(self, source: str, route: str, options: list[str], native: list[str], size: int) -> Any:
        """Return the kernel of a source, built by a route."""
        name, code = route.split("/")
        compiled = ["--matrices", name, *(["--sub-group-size", str(size)] if size > 1 or name == "scratch" else [])]
        if code in ("c", "bits", "spirv"):
            form = ["c", "-cl-ext=-cl_khr_fp16"] if code == "bits" else [code]
            words = [*options, *compiled, "--code", *form]
            return self.coopmat.Program(self.context, source).build(" ".join(words)).k
        from coopmat.runtime.driver import spirv_for

        module = self.coopmat.compile(
            source, [*options, *native, "--matrices", "native", "--sub-group-size", str(size)]
        )
        binary = module.llvm_ir if code == "ir" else module.spirv
        checked = [word for word in options if word == "--no-validate"]
        lowered = self.coopmat.compile(binary, ["-w", *checked, *compiled], language=code)
        return self.cl.Program(self.context, spirv_for(lowered, self.device)).build().k

    def buffers(self, program: tree.Program, outputs: dict[str, View]) -> tuple[list[Any], dict[str, Any]]:
        """Return the kernel's arguments, and the whole buffers of outputs with their guards."""
        flags = self.cl.mem_flags
        arguments: list[Any] = []
        whole: dict[str, Any] = {}
        for memory in program.memories:
            if memory.space not in ("global", "constant"):
                continue
            if memory.output:
                size = outputs[memory.name].data.size * memory.component.bits // 8
                filled = np.full(size + 2 * _GUARD, _PATTERN, np.uint8)
                whole[memory.name] = self.cl.Buffer(
                    self.context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=filled
                )
                arguments.append(whole[memory.name].get_sub_region(_GUARD, size))
            else:
                assert memory.data is not None
                data = encode(memory.component, memory.data)
                arguments.append(self.cl.Buffer(self.context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=data))
        for component, value in program.scalars.values():
            arguments.append(component.stored.type(value))
        return arguments, whole

    def run(self, program: tree.Program, kernel: Any, outputs: dict[str, View], size: int) -> str:
        """Run a kernel, compare its outputs, and describe the first difference; "" if there is none."""
        arguments, whole = self.buffers(program, outputs)
        flat = program.flat or program.scope == "WORKGROUP"
        local = (size * program.subgroups, 1, 1) if flat else (size, program.subgroups, 1)
        groups = program.groups
        sizes = tuple(local[axis] * groups[axis] for axis in range(3))
        kernel.set_args(*arguments)
        self.cl.enqueue_nd_range_kernel(self.queue, kernel, sizes, local)
        self.queue.finish()
        for name, buffer in whole.items():
            view = outputs[name]
            got = np.empty(view.data.size * view.component.bits // 8 + 2 * _GUARD, np.uint8)
            self.cl.enqueue_copy(self.queue, got, buffer)
            difference = compare(view, got)
            if difference:
                return f"{name}: {difference}"
        return ""


def compare(view: View, got: Array) -> str:
    """Describe how an output with its guard zones differs from the expected one; "" if it does not."""
    if (got[:_GUARD] != _PATTERN).any() or (got[-_GUARD:] != _PATTERN).any():
        return "a guard zone was written"
    stored = got[_GUARD:-_GUARD].view(view.component.stored)
    untouched = stored.view(np.uint8).reshape(len(stored), -1)[~view.valid]
    if (untouched != _PATTERN).any():
        return f"{int((untouched != _PATTERN).any(axis=1).sum())} elements outside of the matrix were written"
    values = decode(view.component, stored)
    wrong = view.valid & ~((values == view.data) | ((values != values) & (view.data != view.data)))
    if not wrong.any():
        return ""
    places = np.nonzero(wrong)[0]
    shown = ", ".join(f"[{i}] {values[i]} for {view.data[i]}" for i in places[:6])
    return f"{len(places)} of {int(view.valid.sum())} elements differ: {shown}"


def has_divergence(program: tree.Program) -> bool:
    """Return whether control flow differs between the subgroups of a work-group."""
    for statement in program.body:
        for node in tree.walk(statement):
            if isinstance(node, tree.If) and any(
                isinstance(x, tree.Name) and x.name == "lsg" for x in tree.walk(node.c)
            ):
                return True
    return False


def plan(program: tree.Program, route: str) -> tuple[int, list[str], list[str]]:
    """Return the subgroup size, the options, and the options of a native module, for a program and a route."""
    rng = random.Random(f"{program.seed} {route}")
    name = route.split("/")[0]
    size = rng.choice(_SIZES[name])
    flat = program.flat or program.scope == "WORKGROUP"
    x, y = (size * program.subgroups, 1) if flat else (size, program.subgroups)
    options = ["-w", f"-DWX={x}", f"-DWY={y}"]
    level = rng.choice(_LEVELS)
    options += [level] if level else []
    if rng.random() < 0.9:
        options.append("--no-validate")
    profile = rng.choice(["", "khr", "maint1", "maint1", "igc"])
    return size, options, ["--native-profile", profile] if profile else []


def renamed(source: str) -> str:
    """Return a source with unique names for all variables and functions."""
    from fuzz_matrices_names import identifiers

    names = "|".join(re.escape(name) for name in identifiers() if name != "k")
    return re.sub(rf"(?<![.\w])(?:{names})\b", lambda found: f"zq_{found.group()}", source)


def outcome(
    runner: Runner, program: tree.Program, source: str, outputs: dict[str, View], route: str
) -> tuple[str, str]:
    """Build and run a program by a route; return a word for the result, and the details."""
    if route.startswith("scratch") and has_divergence(program):
        return "skipped", "control flow differs between subgroups"
    size, options, native = plan(program, route)
    try:
        kernel = runner.build(source, route, options, native, size)
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        return ("refused" if any(word in message for word in _REFUSALS) else "build"), message
    try:
        difference = runner.run(program, kernel, outputs, size)
    except Exception as error:
        return "launch", f"{type(error).__name__}: {error}"
    return ("difference", difference) if difference else ("same", "")


def serve(device: str, report: Any) -> None:
    """Read jobs from the standard input until it ends."""
    runner = Runner(device)
    report({"ready": True})
    for line in sys.stdin:
        job = json.loads(line)
        seed = job["seed"]
        try:
            if "pickle" in job:
                program = pickle.loads(Path(job["pickle"]).read_bytes())
            else:
                program = generate(seed)
            machine = Machine(program)
            machine.strict = job.get("strict", True)
            outputs = machine.run()
            source = text.source(program)
        except (InexactError, KeyError, AssertionError, ValueError, IndexError, AttributeError, TypeError) as error:
            report({"seed": seed, "route": "", "result": "unsuitable", "detail": f"{type(error).__name__}: {error}"})
            report({"seed": seed, "done": True})
            continue
        if job.get("renamed"):
            source = renamed(source)
        for route in job["routes"]:
            report({"seed": seed, "route": route, "start": True})
            result, detail = outcome(runner, program, source, outputs, route)
            report({"seed": seed, "route": route, "result": result, "detail": detail})
        report({"seed": seed, "done": True})


def main() -> None:
    """Serve jobs, with events on the original standard output; output of drivers is redirected."""
    warnings.simplefilter("ignore")
    stream = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def report(event: dict[str, Any]) -> None:
        stream.write(json.dumps(event) + "\n")
        stream.flush()

    serve(sys.argv[1], report)


if __name__ == "__main__":
    main()
