"""The emitter: a small warm process that forks once per emission. Runs as a script; nothing imports it for use.

LLVM's SPIR-V backend is right only the first time in a process and may end the process on bad input, so every
request is compiled in a fork of this one, which never emits. It knows only llvmlite and the standard library.

    emitter.py serve|once PATH...        PATH... becomes sys.path

One message each way, request and response alike: a 4-byte length, a JSON object of that length, then the blobs
whose lengths stand in its "blobs". Requests hold one blob, the LLVM IR; see `Request` for the other fields.
`serve` answers requests on stdin until it closes; `once` answers one in this process, for systems without fork.
"""

from __future__ import annotations

import gc
import itertools
import json
import os
import re
import select
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from typing import Any, BinaryIO, NoReturn, TypedDict

# Room enough for LLVM's message and the head of its stack dump.
_MAX_STDERR = 16384
_CHILD_FAILED = 70


class Request(TypedDict):
    """`timeout` is in seconds; `want` holds "spirv", "llvm_ir" or both."""

    triple: str
    extensions: list[str]
    passes: str
    want: list[str]
    timeout: float


def write_message(write: Callable[[bytes], object], fields: Any, *blobs: bytes) -> None:
    head = json.dumps({**fields, "blobs": [len(blob) for blob in blobs]}).encode()
    write(b"".join([struct.pack("<I", len(head)), head, *blobs]))


def read_message(read: Callable[[int], bytes]) -> tuple[Any, list[bytes]]:
    """`read(n)` returns exactly n bytes or raises EOFError."""
    fields = json.loads(read(struct.unpack("<I", read(4))[0]))
    return fields, [read(length) for length in fields["blobs"]]


def _read_stdin(count: int) -> bytes:
    parts = []
    while count:
        part = os.read(0, min(count, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


# LLVM's pipelines assume that odd widths and vectors are legal or get legalised; the SPIR-V backend has 8, 16, 32 and
# 64 bits, vectors of 2, 3, 4, 8 and 16, and silently does an i33 as an i64. These options stop what makes such types:
LLVM_OPTIONS = (
    "--replexitval=never",  # closed forms of loops multiply in i33 and wider
    "--enable-gvn-memdep=false",  # a load forwarded from a wider store becomes a shift of an i512
    "--disable-vector-combine",  # makes <1 x T>
    "--switch-to-lookup=false",  # tables in global memory, or bits of an i24
)

# --- compiling -----------------------------------------------------------------------------------


def compile_ir(request: Request, text: str) -> tuple[dict[str, Any], list[bytes]]:
    """The response's fields and blobs: SPIR-V, LLVM IR (each empty where it is not wanted)."""
    import llvmlite.binding as llvm

    laps = _Laps()
    if request["extensions"]:
        # The last option replaces the list, so that it is one option for all of them.
        llvm.set_option("emitter", "--spirv-ext=" + ",".join("+" + name for name in request["extensions"]))
    machine = llvm.Target.from_triple(request["triple"]).create_target_machine(opt=0)
    layout = str(machine.target_data)
    laps.end("setup")
    if request["passes"] == "print":
        module = llvm.parse_assembly(text, llvm.create_context())
        module.verify()
        return {"seconds": laps.seconds, "passes": "print"}, [b"", str(module).encode()]
    chain = _CHAINS[request["passes"]]
    odd: set[str] = set()
    for passes, prepare in chain:
        prepared = _with_target(prepare(text, odd), request["triple"], layout)
        module = llvm.parse_assembly(prepared, llvm.create_context())
        laps.end("parse")
        module.verify()
        laps.end("verify")
        if passes != "none":
            _run_passes(module, machine, passes)
            laps.end("passes")
        changed = passes != "none" or "llvm_ir" in request["want"]
        ir = str(module) if changed else prepared
        illegal = illegal_types(ir)
        laps.end("check")
        # The last of the chain is taken as it is.
        if (
            not illegal
            and prepare is not _apart
            and ((passes, prepare) == chain[-1] or not _NOT_FOR_THE_BACKEND.search(ir))
        ):
            break
        found = _functions_of_illegal_types(ir) if illegal else set()
        odd = odd | found if prepare is _with_odd_ones_out else found
    else:
        raise ValueError(f"the IR has types that SPIR-V lacks: {', '.join(illegal)}")
    right = mended(_released(ir))
    if right is not ir:
        ir = right
        module = llvm.parse_assembly(ir, llvm.create_context())
    laps.end("mend")
    spirv = b""
    if "spirv" in request["want"]:
        spirv = machine.emit_object(module)
        laps.end("emit")
    return {"seconds": laps.seconds, "passes": passes}, [spirv, ir.encode() if "llvm_ir" in request["want"] else b""]


class _Laps:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def end(self, step: str) -> None:
        now = time.perf_counter()
        self.seconds[step] = self.seconds.get(step, 0.0) + now - self._last
        self._last = now


_TARGET_LINE = re.compile(r"^target (?:datalayout|triple) = .*$", re.MULTILINE)


def _with_target(text: str, triple: str, layout: str) -> str:
    """Set triple and data layout in the text: the parser takes default alignments from them.

    On the first line, so that the line numbers in LLVM's messages stay those of the caller's text.
    """
    return f'target datalayout = "{layout}" target triple = "{triple}" ' + _TARGET_LINE.sub("", text)


# Anything that looks like an illegal type: quick, because it starts with a fixed letter.
_SUSPECTS = (re.compile(r"i(?!(?:1|8|16|32|64)\b)\d+"), re.compile(r"<(?!(?:2|3|4|8|16) x )\d+ x "))
# The slow and sure look: a type, not a name (%i24, @i24, i24:), a metadata line, a comment or a string.
_TYPE = re.compile(
    r"^(?:!|attributes|target|source_filename).*|;.*|\"[^\"]*\"|(?<![\w.%@$-])(i\d+)\b(?!:)|(<\d+ x )", re.MULTILINE
)


def illegal_types(ir: str) -> list[str]:
    """Integer widths and vector lengths in the text of a module that SPIR-V lacks: ["<64 x ", "i33"]."""
    if not any(suspect.search(ir) for suspect in _SUSPECTS):
        return []
    found = {match[1] or match[2] for match in _TYPE.finditer(ir)} - {None}
    return sorted(kind for kind in found if any(suspect.fullmatch(kind) for suspect in _SUSPECTS))


# --- what the backend (LLVM 22.1) cannot do ------------------------------------------------------

_NARROWED = re.compile(r"^ *(%\S+) = (?:trunc|sext) ", re.MULTILINE)
_ZERO_EXTENSION = re.compile(r"^( *%\S+ = zext (?:nneg )?)(.+?) (%\S+)( to .+)$", re.MULTILINE)
_TRUTH_TO_FLOAT = re.compile(r"^( *%\S+ = )([us])itofp (?:nneg )?(<\d+ x i1>) (\S+) to (<\d+ x (\w+)>)", re.MULTILINE)
_TRUNCATION_TO_TRUTH = re.compile(r"^( *)(%\S+) = trunc (?:n[us]w )*(<\d+ x (i\d+)>) (\S+) to <\d+ x i1>", re.MULTILINE)


def mended(ir: str) -> str:
    """The text of a module in words that the backend gets right; the same object where there is nothing to do.

    Of a zero extension and the truncation or sign extension before it the backend makes one operation, with wrong
    types, or dies; it drops the `freeze` that goes between. Vectors of truth values it neither makes from integers
    nor turns into floats. For local memory see `_with_whole_locals`, for reversed bits `_with_reversals`.
    """
    narrowed = set(_NARROWED.findall(ir)) if "zext" in ir else set()
    names = (f'%"mended {number}"' for number in itertools.count())

    def freeze(match: re.Match[str]) -> str:
        head, kind, operand, tail = match.groups()
        if operand not in narrowed:
            return match[0]
        name = next(names)
        return f"  {name} = freeze {kind} {operand}\n{head}{kind} {name}{tail}"

    def choose(match: re.Match[str]) -> str:
        head, sign, kind, truth, result, element = match.groups()
        one = f"splat ({element} {'-' if sign == 's' else ''}1.0)"
        return f"{head}select {kind} {truth}, {result} {one}, {result} zeroinitializer"

    def test(match: re.Match[str]) -> str:
        indent, result, kind, element, value = match.groups()
        bit = next(names)
        masked = f"{indent}{bit} = and {kind} {value}, splat ({element} 1)"
        return f"{masked}\n{indent}{result} = icmp ne {kind} {bit}, zeroinitializer"

    text = _ZERO_EXTENSION.sub(freeze, ir) if narrowed else ir
    if " x i1>" in text:
        text = _TRUNCATION_TO_TRUTH.sub(test, _TRUTH_TO_FLOAT.sub(choose, text))
    if " addrspace(3) global " in text:
        text = _with_whole_locals(text, names)
    if "@llvm.bitreverse." in text:
        text = _with_reversals(text)
    return ir if text == ir else text


_LOCAL_VARIABLE = re.compile(
    r"^(@\S+) = .*?\baddrspace\(3\) global (.+) (?:undef|poison|zeroinitializer)", re.MULTILINE
)
_FUNCTION = re.compile(r"^define .*?^}", re.MULTILINE | re.DOTALL)
_CHOICE = re.compile(r"^.* = (?:phi|select|icmp) .*@.*$", re.MULTILINE)
_NESTED = r"\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)"
# A constant expression over a variable is left as it is: the backend takes the type from it.
_VARIABLE = re.compile(r"\b(?:getelementptr|addrspacecast|ptrtoint)[\w ]* " + _NESTED + r"|(@(?:\"[^\"]*\"|[\w.$-]+))")
# A function's definition up to its parameters' end, its name, and the attributes.
_HEAD = re.compile(
    r"^(define .*?@(\"[^\"]*\"|[\w.$-]+)" + _NESTED + r"(?: (?:local_)?unnamed_addr)?)(.*)$", re.MULTILINE
)
# The entry block's label and variables, which must stay first.
_ENTRY = re.compile(r"\A(?s:.*?)\{\n(?:\S+:.*\n)?(?:(?:[ \t].*\n)*[ \t].* = alloca .*\n)?")


def _with_whole_locals(ir: str, names: Iterator[str]) -> str:
    """The text with an address of its own for every variable in local memory that phis, selects or comparisons name.

    The backend types such a variable by what the chosen pointer is used for, an element in place of the array, and
    with it goes the room; a getelementptr says the type first.
    """
    types = dict(_LOCAL_VARIABLE.findall(ir))

    def rewrite(function: re.Match[str]) -> str:
        found: dict[str, str] = {}

        def whole(match: re.Match[str]) -> str:
            variable = match[1]
            if variable not in types:
                return match[0]
            if variable not in found:
                found[variable] = next(names)
            return found[variable]

        body = _CHOICE.sub(lambda line: _VARIABLE.sub(whole, line[0]), function[0])
        if not found:
            return body
        addresses = "".join(_address(name, variable, types[variable]) for variable, name in found.items())
        head = _ENTRY.match(body)
        assert head is not None
        return head[0] + addresses + body[head.end() :]

    return _FUNCTION.sub(rewrite, ir)


def _address(name: str, variable: str, kind: str) -> str:
    zeros = ", i64 0, i64 0" if kind.startswith("[") else ", i64 0"
    return f"  {name} = getelementptr inbounds {kind}, ptr addrspace(3) {variable}{zeros}\n"


_REVERSAL = re.compile(r"^declare (.*?(i\d+)>?) @llvm\.(bitreverse\.\w+)\(.*$", re.MULTILINE)


def _with_reversals(ir: str) -> str:
    """The text with functions in place of llvm.bitreverse, which optimisation makes of shifts and masks.

    Its instruction needs SPV_KHR_bit_instructions, which few drivers have; without it the backend dies.
    """

    def define(match: re.Match[str]) -> str:
        kind, element, name = match.groups()
        width, value, lines = int(element[1:]), "%0", []
        everything, step = (1 << width) - 1, width // 2
        while step:
            # The lower half of every 2 * step bits; halves change places, then the halves of those.
            low, by = (
                f"splat ({element} {n})" if kind != element else str(n) for n in (everything // ((1 << step) + 1), step)
            )
            lines += [
                f"%up{step} = and {kind} {value}, {low}",
                f"%left{step} = shl {kind} %up{step}, {by}",
                f"%down{step} = lshr {kind} {value}, {by}",
                f"%right{step} = and {kind} %down{step}, {low}",
                f"%both{step} = or {kind} %left{step}, %right{step}",
            ]
            value, step = f"%both{step}", step // 2
        body = "".join(f"  {line}\n" for line in [*lines, f"ret {kind} {value}"])
        return f"define internal {kind} @coopmat.{name}({kind} %0) {{\n{body}}}"

    return _REVERSAL.sub(define, ir).replace("@llvm.bitreverse.", "@coopmat.bitreverse.")


# What the backend gets wrong: a null matrix, an undefined one that comes into a phi, a choice between events.
_NOT_FOR_THE_BACKEND = re.compile(
    r"target\(\"spirv\.Cooperative[^)]*\) (?:zeroinitializer|poison)"
    r"|= phi target\(\"spirv\.Cooperative[^)]*\) .*\b(?:undef|poison|zeroinitializer)\b"
    r"|= select i1 [^,]+, target\(\"spirv\.Event\"\)"
)

# --- what is tried where optimisation makes types which SPIR-V lacks -----------------------------


def _as_it_is(ir: str, odd: Collection[str]) -> str:
    return ir


_NARROWING = re.compile(
    r"^( *)(%\S+) = (trunc (?:n[us]w )*(i\d+|<(\d+) x i\d+>)) (\S+) (to (i\d+|<\d+ x (i\d+)>))$", re.MULTILINE
)


def _with_kept_truncations(ir: str, odd: Collection[str]) -> str:
    """The text with calls of nothing between vectors and truncations, which LLVM cannot see through.

    Of the truncated element of a vector it makes an element of a vector of narrower ones: `(char)v.s1`, of an int8,
    is element 4 of a <32 x i8>.
    """
    kinds: set[str] = set()

    def keep(match: re.Match[str]) -> str:
        indent, result, head, kind, count, operand, tail, narrow, _ = match.groups()
        kept = f'%"coopmat.kept.{match.start()}"'
        # An element may be taken out before or after: what a scalar is made of, or the vector itself.
        if count is None:
            kinds.add(kind)
            return f"{indent}{kept} = {_call(kind, operand)}\n{indent}{result} = {head} {kept} {tail}"
        kinds.add(narrow)
        return f"{indent}{kept} = {head} {operand} {tail}\n{indent}{result} = {_call(narrow, kept)}"

    text = _NARROWING.sub(keep, ir)
    effects = "nounwind willreturn nosync nofree speculatable memory(none)"
    declared = (f'declare {kind} @"coopmat.kept {kind}"({kind}) {effects}\n' for kind in sorted(kinds))
    return f"{text}\n{''.join(declared)}"


def _call(kind: str, operand: str) -> str:
    return f'call {kind} @"coopmat.kept {kind}"({kind} {operand})'


def _apart(ir: str, odd: Collection[str]) -> str:
    """As `_with_kept_truncations`, and nothing is inlined: a probe for what is odd by itself."""
    return _HEAD.sub(lambda head: head[1] + _not_inlined(head[3]), _with_kept_truncations(ir, odd))


def _with_odd_ones_out(ir: str, odd: Collection[str]) -> str:
    """As `_with_kept_truncations`, and these functions are not optimised; the others are."""

    def mark(head: re.Match[str]) -> str:
        return f"{head[1]} optnone{_not_inlined(head[3])}" if head[2].strip('"') in odd else head[0]

    return _HEAD.sub(mark, _with_kept_truncations(ir, odd))


def _not_inlined(attributes: str) -> str:
    """With a mark where it is not the user's wish."""
    if re.search(r"\bnoinline\b", attributes):
        return attributes
    return ' noinline "coopmat.apart"' + attributes.replace(" alwaysinline", "")


_KNOWN = r"(?:(?:noundef|range\([^)]*\)) )*"
_CALL_OF_NOTHING = re.compile(
    rf'^( *%\S+ = )(?:tail )?call {_KNOWN}(i\d+|<\d+ x i\d+>) @"coopmat\.kept .*?"\(\2 {_KNOWN}(.*)\)(?: #\d+)?$',
    re.MULTILINE,
)
_DECLARED_NOTHING = re.compile(r'^declare .*@"coopmat\.kept .*\n', re.MULTILINE)
_SET_APART = re.compile(r'^attributes #.*(?:"coopmat\.apart"| optnone\b).*$', re.MULTILINE)


def _released(ir: str) -> str:
    """The text without what the attempts put in, or the same object. The backend drops a `freeze`."""
    if "coopmat.kept" in ir:
        ir = _DECLARED_NOTHING.sub("", _CALL_OF_NOTHING.sub(r"\1freeze \2 \3", ir))
    if "noinline" in ir:
        ir = _SET_APART.sub(_put_back, ir)
    return ir


def _put_back(match: re.Match[str]) -> str:
    line = match[0].replace(" optnone", "")
    return line.replace(" noinline", "") if '"coopmat.apart"' in line else line


def _functions_of_illegal_types(ir: str) -> set[str]:
    """The names of the functions in a module's text which have types that SPIR-V lacks."""
    found: set[str] = set()
    if illegal_types(ir):
        for function in _FUNCTION.finditer(ir):
            head = _HEAD.match(function[0])
            if head is not None and illegal_types(function[0]):
                found.add(head[2].strip('"'))
    return found


# What to run on which text, and what to try from the start where that leaves types which SPIR-V lacks. Functions that
# are odd only when others are inlined into them are seen late: hence twice. SROA's <64 x i8> for a union has no option.
_O1 = (
    ("O1", _as_it_is),
    ("O1", _with_kept_truncations),
    ("O1", _apart),
    ("O1", _with_odd_ones_out),
    ("O1", _with_odd_ones_out),
)
_INLINE = (("inline", _as_it_is),)
_CHAINS: dict[str, tuple[tuple[str, Callable[[str, Collection[str]], str]], ...]] = {
    "none": (("none", _as_it_is),),
    "sroa": (("sroa", _as_it_is), ("none", _as_it_is)),
    "O1": (*_O1, *_INLINE),
    "O2": (("O2", _as_it_is), ("O2", _with_kept_truncations), *_O1[1:], *_INLINE),
    "O3": (("O3", _as_it_is), ("O3", _with_kept_truncations), *_O1[1:], *_INLINE),
}


def _run_passes(module: Any, machine: Any, passes: str) -> None:
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
        if passes == "sroa":
            manager.add_sroa_pass()
        else:
            manager.add_always_inliner_pass()
            manager.add_global_dead_code_eliminate_pass()
    manager.run(module, builder)


# --- the two ways to run -------------------------------------------------------------------------


def _child(request: Request, text: bytes, response: BinaryIO, errors: BinaryIO) -> NoReturn:
    """In the fork: compile, write the response to a file, and leave without any clean-up."""
    import resource

    status = _CHILD_FAILED
    try:
        # No core file from a crash; and an end, should the emitter be gone before it can set one.
        for kind, limit in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_CPU, int(request["timeout"]) + 1)):
            hard = resource.getrlimit(kind)[1]
            resource.setrlimit(kind, (limit if hard < 0 else min(limit, hard), hard))
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 1)
        os.dup2(errors.fileno(), 2)
        _answer(request, text, lambda data: write_all(response.fileno(), data))
        status = 0
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}".encode()[:_MAX_STDERR])
    finally:
        os._exit(status)


def _answer(request: Request, text: bytes, write: Callable[[bytes], object]) -> None:
    try:
        fields, blobs = compile_ir(request, text.decode())
    except Exception as error:  # llvmlite reports parse and verify errors as RuntimeError
        fields, blobs = {"error": str(error)}, []
    write_message(write, fields, *blobs)


def _serve(answers: int) -> None:
    while True:
        try:
            request, (text,) = read_message(_read_stdin)
        except EOFError:
            return
        with tempfile.TemporaryFile() as response, tempfile.TemporaryFile() as errors:
            done, alive = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.close(answers)
                os.close(done)
                _child(request, text, response, errors)
            os.close(alive)
            # `done` reaches its end when the child is gone; stdin does when our user is.
            ready, _, _ = select.select([done, 0], [], [], request["timeout"])
            os.close(done)
            if done not in ready:
                os.kill(pid, signal.SIGKILL)
            status = os.waitpid(pid, 0)[1]
            if 0 in ready and done not in ready:
                return
            if ready and status == 0:
                write_all(answers, os.pread(response.fileno(), os.fstat(response.fileno()).st_size, 0))
            else:
                told = os.pread(errors.fileno(), _MAX_STDERR, 0).decode(errors="replace")
                died = _death(status) if ready else f"did not finish within {request['timeout']:g} s"
                write_message(lambda data: write_all(answers, data), {"died": died, "stderr": told})


def _death(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"died with {signal.Signals(os.WTERMSIG(status)).name}"
    return f"exited with status {os.WEXITSTATUS(status)}"


def _warm_up() -> None:
    """Touch what every request needs, so that the forks find it done. Never emits."""
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
    sys.path[:] = path
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for our user's process; we end with its pipe
    _warm_up()
    answers = os.dup(1)
    os.dup2(2, 1)
    if mode == "once":
        request, (text,) = read_message(_read_stdin)
        _answer(request, text, lambda data: write_all(answers, data))
        return
    warm: Request = {
        "triple": "spirv64v1.4-unknown-unknown",
        "extensions": [],
        "passes": "O1",
        "want": [],
        "timeout": 0,
    }
    compile_ir(warm, _WARM_UP)
    gc.collect()
    gc.freeze()
    _serve(answers)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
