"""The emitter: a small process that loads LLVM once and forks for each emission. It runs as a script.

A second emission in one process can be wrong, and LLVM's SPIR-V backend may end the process on bad input. Each request
is therefore compiled in a fork of this process, which never emits. While it is idle, the emitter prepares the next
fork, with the target machine of the last request. It imports only llvmlite, the standard library, `intrinsics.py`,
`llvm_text.py` and `long_arrays.py`.

    emitter.py serve|once PATH...        PATH... becomes sys.path

Requests and responses have the same format: a 4-byte length, a JSON object of that length, then the blobs, whose
lengths are listed in the object's "blobs". A request has one blob, the LLVM IR; see `Request` for its other fields.
`serve` answers requests on stdin until it closes. `once` answers one request in this process, for systems without fork.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import re
import select
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, TypedDict

if TYPE_CHECKING or __name__ != "__main__":
    from coopmat.spirv import intrinsics, llvm_text, long_arrays
else:
    # Import the files from this directory: to import them as part of the package takes ten times as long.
    sys.path.insert(0, os.path.dirname(__file__))  # noqa: PTH120 (pathlib is slow to import)
    import intrinsics
    import llvm_text
    import long_arrays

# In bytes: enough for LLVM's message and the beginning of its stack dump.
_MAX_STDERR = 16384
_CHILD_FAILED = 70


class Request(TypedDict):
    """The fields of a request.

    triple: the target triple, with the SPIR-V version.
    extensions: the SPIR-V extensions that the backend may use.
    passes: a key of `llvm_text.FALLBACK_PIPELINES`, or "print", which only verifies and prints the text.
    want: "spirv", "llvm_ir" or both.
    cuts_arrays: whether the elements of long arrays are left out of the module and returned in "arrays"
        (`constant_arrays`).
    timeout: in seconds.
    megabytes: the limit of the address space.
    """

    triple: str
    extensions: list[str]
    passes: str
    want: list[str]
    cuts_arrays: bool
    timeout: float
    megabytes: int


def write_message(write: Callable[[bytes], object], fields: Any, *blobs: bytes) -> None:
    """Write a request or a response: the fields as JSON, then the blobs."""
    head = json.dumps({**fields, "blobs": [len(blob) for blob in blobs]}).encode()
    write(b"".join([struct.pack("<I", len(head)), head, *blobs]))


def read_message(read: Callable[[int], bytes]) -> tuple[Any, list[bytes]]:
    """Read a request or a response: return its fields and its blobs.

    `read(n)` must return exactly n bytes or raise EOFError.
    """
    fields = json.loads(read(struct.unpack("<I", read(4))[0]))
    return fields, [read(length) for length in fields["blobs"]]


def _read(count: int, file: int = 0) -> bytes:
    """Read exactly `count` bytes from a file descriptor; raise EOFError if the file ends before."""
    parts = []
    while count:
        part = os.read(file, min(count, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def write_all(fd: int, data: bytes) -> None:
    """Write all bytes of `data` to a file descriptor."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


# LLVM's pipelines assume that odd widths and vectors are legal or get legalized. The SPIR-V backend has integers of 8,
# 16, 32 and 64 bits and vectors of 2, 3, 4, 8 and 16 components. It silently compiles an i33 as an i64. These options
# disable the transformations that make such types. The last option permits long names: LLVM cuts names at 1,024 bytes
# and then confuses those with an equal beginning.
LLVM_OPTIONS = (
    "--replexitval=never",  # closed forms of loops multiply in i33 and wider
    "--enable-gvn-memdep=false",  # a load forwarded from a wider store becomes a shift of an i512
    "--disable-vector-combine",  # makes <1 x T>
    "--switch-to-lookup=false",  # tables in global memory, or bits of an i24
    "--non-global-value-max-name-size=1073741824",
)

# --- compiling -----------------------------------------------------------------------------------


def _target_machine(triple: str, extensions: list[str]) -> Any:
    """Return LLVM's target machine for a triple, with these SPIR-V extensions enabled."""
    import llvmlite.binding as llvm

    if extensions:
        # `--spirv-ext` replaces the list of extensions, hence one option for all of them.
        llvm.set_option("emitter", "--spirv-ext=" + ",".join("+" + name for name in extensions))
    return llvm.Target.from_triple(triple).create_target_machine(opt=0)


def compile_ir(request: Request, text: str, machine: Any = None) -> tuple[dict[str, Any], list[bytes]]:
    """Compile the text of a request: return the fields of the response and the blobs [SPIR-V, LLVM IR].

    An output that was not requested is an empty blob. `machine` is a target machine made in advance, or None.
    """
    import llvmlite.binding as llvm

    laps = _Laps()
    if machine is None:
        machine = _target_machine(request["triple"], request["extensions"])
    laps.end("setup")
    if request["passes"] == "print":
        module = _parsed(text)
        return {"seconds": laps.seconds, "passes": "print"}, [b"", str(module).encode()]
    module, ir, passes = _without_illegal_types(request, text, machine, laps)
    right = llvm_text.fix_backend_bugs(intrinsics.without_intrinsics(llvm_text.strip_guards(ir)))
    emitted, arrays = long_arrays.without_arrays(right) if request["cuts_arrays"] else (right, {})
    if right is not ir or arrays:
        ir = right
        module = llvm.parse_assembly(emitted, llvm.create_context())
    laps.end("mend")
    spirv = b""
    if "spirv" in request["want"]:
        spirv = machine.emit_object(module)
        laps.end("emit")
    fields = {"seconds": laps.seconds, "passes": passes, "arrays": arrays}
    return fields, [spirv, ir.encode() if "llvm_ir" in request["want"] else b""]


def _without_illegal_types(request: Request, text: str, machine: Any, laps: _Laps) -> tuple[Any, str, str]:
    """Run the pipelines of the request's chain until the result has only types that SPIR-V has.

    Return the module, its text, and the pipeline that was run. Raise ValueError if no pipeline of the chain suffices.
    """
    chain = llvm_text.FALLBACK_PIPELINES[request["passes"]]
    odd: set[str] = set()
    for passes, prepare in chain:
        prepared = _with_target(prepare(text, odd), request["triple"], str(machine.target_data))
        module, ir = _optimized(prepared, passes, machine, laps)
        if passes != "none" and llvm_text.has_functions_of_local_variables(ir):
            module, ir = _optimized(llvm_text.with_kept_local_pointers(prepared), passes, machine, laps)
        if passes == "vulkan" and (whole := llvm_text.with_loaded_matrices(ir)) is not ir:
            module, ir = _parsed(whole), whole
        illegal = llvm_text.illegal_types(ir)
        laps.end("check")
        # The last attempt of the chain is accepted even if its text matches NOT_FOR_THE_BACKEND.
        if (
            not illegal
            and prepare is not llvm_text.with_noinline
            and ((passes, prepare) == chain[-1] or not llvm_text.NOT_FOR_THE_BACKEND.search(ir))
        ):
            return module, ir, passes
        names = llvm_text.functions_of_illegal_types(ir) if illegal else set()
        odd = odd | names if prepare is llvm_text.with_optnone else names
    raise ValueError(f"the IR has types that SPIR-V lacks: {', '.join(illegal)}")


def _optimized(text: str, passes: str, machine: Any, laps: _Laps) -> tuple[Any, str]:
    """Parse and verify a text, run a pipeline, and return the module and its text."""
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(text, llvm.create_context())
    laps.end("parse")
    module.verify()
    laps.end("verify")
    if passes != "none":
        _run_passes(module, machine, passes)
        laps.end("passes")
    return module, str(module)


def _parsed(text: str) -> Any:
    """Parse and verify a text, and return the module."""
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(text, llvm.create_context())
    module.verify()
    return module


class _Laps:
    """A stopwatch that adds up the seconds of each named step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def end(self, step: str) -> None:
        """Add the time since the last call to the step `step`."""
        now = time.perf_counter()
        self.seconds[step] = self.seconds.get(step, 0.0) + now - self._last
        self._last = now


_TARGET_LINE = re.compile(r"^target (?:datalayout|triple) = .*$", re.MULTILINE)


def _with_target(text: str, triple: str, layout: str) -> str:
    """Set the triple and the data layout in the text, because the parser takes default alignments from them.

    They are put on the first line, so that line numbers in LLVM's messages refer to the caller's text.
    """
    return f'target datalayout = "{layout}" target triple = "{triple}" ' + _TARGET_LINE.sub("", text)


def _run_passes(module: Any, machine: Any, passes: str) -> None:
    """Run a pipeline ("sroa", "unroll", "inline", "vulkan", "O1", "O2" or "O3") on the module."""
    import llvmlite.binding as llvm

    options = llvm.create_pipeline_tuning_options(int(passes[1]) if passes.startswith("O") else 0)
    options.loop_vectorization = False
    options.loop_interleaving = False
    options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    if passes.startswith("O"):
        manager = builder.getModulePassManager()
    else:
        manager = llvm.create_new_module_pass_manager()
        if passes == "unroll":
            # Limit the unrolling of loops over tiles: LLVM counts a matrix operation as a call, but its code is much
            # longer.
            llvm.set_option("emitter", "--unroll-full-max-count=4")
            manager.add_sroa_pass()
            manager.add_loop_rotate_pass()
            manager.add_loop_unroll_pass()
        if passes in ("inline", "vulkan"):
            manager.add_always_inliner_pass()
            manager.add_global_dead_code_eliminate_pass()
        if passes != "inline":
            manager.add_sroa_pass()
    manager.run(module, builder)


# --- the two ways to run -------------------------------------------------------------------------


def _answer(request: Request, text: bytes, write: Callable[[bytes], object], machine: Any = None) -> None:
    """Compile a request in this process and write the response, also if LLVM reports an error or memory runs out."""
    try:
        fields, blobs = compile_ir(request, text.decode(), machine)
    except MemoryError:
        fields, blobs = {"died": "ran out of memory", "stderr": "MemoryError"}, []
    except Exception as error:  # llvmlite reports parse and verify errors as RuntimeError
        fields, blobs = {"error": str(error)}, []
    write_message(write, fields, *blobs)


class _Fork:
    """A fork of the emitter that compiles one request and ends.

    Its target machine is made in advance for the expected triple and extensions.
    """

    def __init__(self, triple: str, extensions: list[str], answers: int) -> None:
        self.target = triple, extensions
        self._response, self._errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 (see `end`)
        take, self._give = os.pipe()
        self._done, tell = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            for file in (answers, self._give, self._done):
                os.close(file)
            self._run(take, tell)
        os.close(take)
        os.close(tell)

    def _run(self, take: int, tell: int) -> NoReturn:
        """Run in the fork: compile the request, write the response to a file, signal that, exit without clean-up."""
        import resource

        status = _CHILD_FAILED
        try:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, 0)
            os.dup2(nowhere, 1)
            os.dup2(self._errors.fileno(), 2)
            try:
                machine = _target_machine(*self.target)
            except Exception:
                machine = None  # the request makes the machine again and reports the error
            try:
                request, (text,) = read_message(lambda count: _read(count, take))
            except EOFError:
                os._exit(0)  # the fork is not needed
            # Disable core files. Limit the CPU time, in case the emitter ends before it can stop this fork.
            limits = (
                (resource.RLIMIT_CORE, 0),
                (resource.RLIMIT_CPU, int(request["timeout"]) + 1),
                (resource.RLIMIT_AS, request["megabytes"] << 20),
            )
            for kind, limit in limits:
                hard = resource.getrlimit(kind)[1]
                resource.setrlimit(kind, (limit if hard < 0 else min(limit, hard), hard))
            if self.target != (request["triple"], request["extensions"]):
                machine = None
            _answer(request, text, lambda data: write_all(self._response.fileno(), data), machine)
            os.write(tell, b"1")
            status = 0
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}".encode()[:_MAX_STDERR])
        finally:
            os._exit(status)

    def is_over(self) -> bool:
        """Return whether the fork ended while it waited; the system may kill it when memory runs out."""
        return bool(select.select([self._done], [], [], 0)[0])

    def answer(self, request: Request, text: bytes, write: Callable[[bytes], object]) -> bool:
        """Write the response to a request and return True; return False if the client is gone."""
        with contextlib.suppress(BrokenPipeError):  # the cause of the fork's death is reported below
            write_message(lambda data: write_all(self._give, data), request, text)
        # `_done` becomes readable when the fork has answered or died; stdin becomes readable when the client is gone.
        ready, _, _ = select.select([self._done, 0], [], [], request["timeout"])
        is_over = self._done in ready
        if is_over and os.read(self._done, 1):
            # Answer before the fork has freed its memory, which takes as long as a small emission.
            write(os.pread(self._response.fileno(), os.fstat(self._response.fileno()).st_size, 0))
            self.end()
            return True
        late = not ready
        status = self.end(kill=not is_over)
        if not late and not is_over:
            return False
        stderr = os.pread(self._errors.fileno(), _MAX_STDERR, 0).decode(errors="replace")
        died = "is late" if late else _death(status)
        write_message(write, {"died": died, "late": late, "stderr": stderr})
        return True

    def end(self, kill: bool = False) -> int:
        """Kill the fork if `kill` is set, wait for its end, and return its status."""
        if kill:
            os.kill(self._pid, signal.SIGKILL)
        os.close(self._give)
        os.close(self._done)
        return os.waitpid(self._pid, 0)[1]


def _serve(answers: int) -> None:
    """Answer requests from stdin until it ends, each with a fork that was prepared after the last request."""

    def write(data: bytes) -> None:
        write_all(answers, data)

    fork: _Fork | None = None
    while True:
        try:
            request, (text,) = read_message(_read)
        except EOFError:
            return
        target = request["triple"], request["extensions"]
        # A fork for other extensions can still set them; but it cannot unset them for a request without extensions.
        if fork is None or fork.is_over() or not (fork.target == target or target[1]):
            if fork is not None:
                fork.end()
            fork = _Fork(*target, answers)
        if not fork.answer(request, text, write):
            return
        fork = _Fork(*target, answers)


def _death(status: int) -> str:
    """Return the sentence about a process that ended with this wait status."""
    if os.WIFSIGNALED(status):
        return f"died with {signal.Signals(os.WTERMSIG(status)).name}"
    return f"exited with status {os.WEXITSTATUS(status)}"


def _warm_up() -> None:
    """Initialize LLVM once, so that the forks inherit the result; emit nothing."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    for option in LLVM_OPTIONS:
        llvm.set_option("emitter", option)


_WARM_UP = """
define spir_func float @f(ptr addrspace(1) %p, i64 %i) {
  %q = getelementptr float, ptr addrspace(1) %p, i64 %i
  %x = load float, ptr addrspace(1) %q
  %y = fadd float %x, 1.0
  ret float %y
}
"""


def main(mode: str, path: list[str]) -> None:
    """Run the emitter in the mode "serve" or "once", with `path` as the import path."""
    sys.path[:] = path
    # Ctrl-C ends the client's process, and then this process ends with its pipe
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _warm_up()
    answers = os.dup(1)
    os.dup2(2, 1)
    if mode == "once":
        request, (text,) = read_message(_read)
        _answer(request, text, lambda data: write_all(answers, data))
        return
    warm: Request = {
        "triple": "spirv64v1.4-unknown-unknown",
        "extensions": [],
        "passes": "O1",
        "want": [],
        "cuts_arrays": False,
        "timeout": 0,
        "megabytes": 0,
    }
    compile_ir(warm, _WARM_UP)
    gc.collect()
    gc.freeze()
    _serve(answers)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
