"""Executors, which run programs in a child process: gcc, an OpenCL device, a Vulkan device."""

from __future__ import annotations

import ctypes
import os
import pickle
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from .programs import GROUP, ITEMS, Array, Program, c_source, opencl_source

Outputs = list[list[Array]]  # of each program, the arrays that it writes


class Failure(Exception):
    """A crash, a hang, or an error of the compiler or the device."""


def gcc(programs: list[Program], options: str) -> Callable[[Program, list[Array]], None]:
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "programs.c"), Path(folder, "programs.so")
        source.write_text(c_source(programs))
        flags = [*shlex.split(options or "-O1 -fwrapv"), "-std=gnu11", "-w", "-shared", "-fPIC"]
        subprocess.run(["gcc", *flags, "-o", library, source], check=True)
        loaded = ctypes.CDLL(str(library))
    return lambda program, arguments: loaded[f"run_{program.name}"](
        *(ctypes.c_void_p(a.ctypes.data) for a in arguments)
    )


def opencl(programs: list[Program], options: str) -> Callable[[Program, list[Array]], None]:
    """Return a function that runs programs on Intel's CPU device."""
    os.environ["COOPMAT_NO_CACHE"] = "1"
    import pyopencl as cl

    import coopmat

    context = coopmat.context("intel")
    queue = cl.CommandQueue(context)
    flags = f"-w --sub-group-size {GROUP} {options or '--matrices lanes'}"
    built = coopmat.Program(context, opencl_source(programs)).build(flags)

    def run(program: Program, arguments: list[Array]) -> None:
        access = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        passed = [cl.Buffer(context, access, hostbuf=argument) for argument in arguments]
        getattr(built, program.name)(queue, (ITEMS,), (GROUP,), *passed[:2], arguments[2][0], *passed[3:])
        cl.enqueue_copy(queue, arguments[0], passed[0])
        cl.enqueue_copy(queue, arguments[-1], passed[-1])

    return run


def vulkan(programs: list[Program], options: str) -> Callable[[Program, list[Array]], None]:
    """Return a function that runs programs on Mesa's CPU device for Vulkan."""
    from coopmat import vulkan

    flags = ["-w", *shlex.split(options or "--matrices native")]
    built = vulkan.Device("llvmpipe").program(opencl_source(programs), flags)
    return lambda program, arguments: getattr(built, program.name)(
        (ITEMS,), (GROUP,), *arguments[:2], arguments[2][0], *arguments[3:]
    )


EXECUTORS = {"gcc": gcc, "opencl": opencl, "vulkan": vulkan}


def execute(executor: str, programs: list[Program], options: str = "", seconds: float = 120) -> Outputs:
    """Run the programs in a child process, and return their outputs; raise Failure."""
    call, sent = [sys.executable, "-m", __name__, executor, options], pickle.dumps(programs)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    try:
        child = subprocess.run(call, input=sent, capture_output=True, timeout=seconds, check=False, env=environment)
    except subprocess.TimeoutExpired:
        raise Failure(f"no result in {seconds} s") from None
    messages = child.stderr.decode(errors="replace")
    if child.returncode or "VUID" in messages:  # the prefix of messages of Vulkan's validation layers
        raise Failure(f"exit status {child.returncode}: {messages[-2000:]}")
    return pickle.loads(child.stdout)


def _serve(executor: str, options: str) -> None:
    """Run the programs of standard input. The sign of a zero depends on the order of sums, so results have 0 for -0."""
    programs, results = pickle.load(sys.stdin.buffer), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # drivers and layers print messages
    run, found = EXECUTORS[executor](programs, options), list[list[Array]]()
    for program in programs:
        arguments = program.arguments()
        run(program, arguments)
        written = [arguments[0], arguments[-1]] if program.family else [arguments[0]]
        found.append([np.where(array == 0, array.dtype.type(0), array) for array in written])
    with results:
        results.write(pickle.dumps(found))


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2])
