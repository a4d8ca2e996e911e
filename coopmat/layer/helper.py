"""The helper, a process in which the layer compiles: it answers requests on a socket, file descriptor 0, until EOF.

The layer starts this file by its path, with `-I -B`. A message to the helper has a `request` and a `directory`, against
which relative paths are resolved.

Fields of a request:
operation: "source", "spirv", "trial" or "variants".
device: a message of OpenCL's queries and their answers.
code, options, route, header (repeated): of "source" and "spirv".
separate: if set, the program is linked with others later.
sub_group_size, chosen: of "variants".

Fields of an answer:
log: the build log.
code, form: the program, as "spirv" or "c"; missing after an error.
device_options: the options for the driver's build.
kernel (repeated): for each kernel, and for each function that kernels of other programs may call.
variants: the matrix variants, as records of the extension's draft.

Answers are kept on disk, where the layer finds them without a helper.

If an answer has `may_crash`, the layer requests a trial: a build by the driver in a process that may crash. The request
has `code`, `form`, `options`, specialisation `constant`s, the driver's `library`, and `variable`s of the environment.
The answer has a `binary` or a `fault`.
"""

from __future__ import annotations

import hashlib
import os
import socket
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from coopmat.cache import Cache, Entry, key_of, package_files
from coopmat.layer.messages import SIZE, Fields, packed, unpacked

if TYPE_CHECKING:
    from coopmat.compiler import Module
    from coopmat.devices.query import DeviceInfo
    from coopmat.options import CompileOptions

NAME = "<program source>"
"""The name of a program's source in its build log."""
_TYPES = {2: "CPU", 4: "GPU", 8: "ACCELERATOR"}
_LARGEST_REQUEST = 1 << 30
_REPORT_SECONDS = 1.0
"""How often the helper reports that it is alive; the layer waits 19 seconds for a report."""


def answer(message: bytes) -> bytes:
    """Return the answer to any message of the layer; if an error occurs, the answer has a log."""
    from coopmat.diagnostics import CompileError
    from coopmat.options import UsageError

    try:
        fields = unpacked(message)
        if directory := _text(fields, "directory"):
            os.chdir(directory)
        request = _first(fields, "request")
        if _text(unpacked(request), "operation") == "trial":
            return _trial(request)
        entry = Cache.of_environment().get_or_build(cache_key(request), lambda: _entry(unpacked(request)))
        return entry.payload
    except UsageError as error:
        return packed([("log", f"{error}\n"), ("fault", "options")])
    except CompileError as error:
        return packed([("log", f"{error}\n")])
    except Exception as error:  # the application must not crash because of a bug here: its build log reports the error
        return packed([("log", f"error: coopmat: internal error: {type(error).__name__}: {error}\n")])


def cache_key(request: bytes) -> str:
    """Return the key of a request's answer in the cache; `source/cache.c` calculates the same key."""
    return key_of({"kind": b"layer answer", "request": request, "version": _version()})


@cache
def _version() -> bytes:
    """Return the digest of a list of the files that define the compiler, and keep the list in the cache.

    The layer compares the list on disk with the files.
    """
    import llvmlite

    files = [*package_files(), *sorted(Path(llvmlite.__file__).parent.glob("binding/*llvmlite.*"))]
    rows = ((path.stat(), path) for path in files)
    text = "".join(f"{status.st_size} {status.st_mtime_ns} {path}\n" for status, path in rows)
    key = key_of({"kind": b"layer files", "path": os.fsencode(__file__)})
    kept = Cache.of_environment()
    entry = kept.get(key)
    if entry is None or entry.payload != os.fsencode(text):
        kept.put(key, Entry(os.fsencode(text)))
    return hashlib.blake2b(os.fsencode(text), digest_size=32).digest()


def _entry(fields: Fields) -> Entry:
    """Carry out the operation that a request names, and return the answer with the files that it depends on.

    Raises CompileError, UsageError.
    """
    return _OPERATIONS[_text(fields, "operation")](fields)


def _first(fields: Fields, name: str) -> bytes:
    return next((value for key, value in fields if key == name), b"")


def _text(fields: Fields, name: str) -> str:
    return _first(fields, name).decode(errors="replace")


def _device(fields: Fields) -> DeviceInfo:
    from coopmat.devices.query import from_mapping

    facts = unpacked(_first(fields, "device"))
    # OpenCL's strings end with a null character.
    values = {name: value.decode(errors="replace").strip("\0 ") for name, value in facts}
    kind = int(values.get("CL_DEVICE_TYPE") or 0)
    values["CL_DEVICE_TYPE"] = next((name for bit, name in _TYPES.items() if kind & bit), "CUSTOM")
    sizes = [value.decode() for name, value in facts if name == "sub_group_size"]
    return from_mapping({**values, "CL_DEVICE_SUB_GROUP_SIZES_INTEL": " ".join(sizes)}, "layer")


def _variants(fields: Fields) -> Entry:
    from coopmat.matrices import emulated
    from coopmat.matrices.supported import parse_variants
    from coopmat.runtime.variants import variants

    size = int(_text(fields, "sub_group_size") or 0)
    # COOPMAT_LAYER_VARIANTS: "full", "few" (few multiply-adds), or the variants themselves.
    chosen = _text(fields, "chosen") or "few"
    device = _device(fields)
    every = variants(device, size or None) if chosen in ("full", "few") else parse_variants(chosen)
    found = emulated.few_multiply_adds(every) if chosen == "few" else every
    # Some component types have no number in the draft; variants with such a type are left out.
    numbered = [v for v in found if all(c.value is not None for c in (v.a, v.b, v.c, v.result))]
    records = b"".join(struct.pack("=8I", *(int(x) for x in v.to_record())) for v in numbered)
    return Entry(packed([("variants", records)]))


def _resolved(fields: Fields) -> tuple[CompileOptions, list[str]]:
    from dataclasses import replace

    from coopmat.runtime.device_build import split_options
    from coopmat.runtime.launch import resolve_options

    # The application may have changed the variable since this process started.
    os.environ["COOPMAT_ROUTE"] = _text(fields, "route")
    parsed, for_device = split_options(_text(fields, "options"))
    # The route's instructions that only an OpenCL C library reaches (`unit`) are unavailable: a program is one module.
    separate = bool(_text(fields, "separate"))
    return replace(resolve_options(parsed, _device(fields)), unit="", separate=separate), for_device


def _source(fields: Fields) -> Entry:
    headers = [unpacked(value) for name, value in fields if name == "header"]
    if not headers:
        return _compiled(fields, "")
    from coopmat.runtime.linking import header_directory

    with header_directory((_text(header, "name"), _first(header, "text")) for header in headers) as directory:
        return _compiled(fields, directory)


def _compiled(fields: Fields, directory: str) -> Entry:
    """Return the answer for a source.

    `directory` contains the request's headers, and "" means that there are none. The headers are removed from the
    answer's dependencies, since the request itself contains their text.
    """
    from dataclasses import replace

    from coopmat import compiler

    options, for_device = _resolved(fields)
    if directory:
        options = replace(options, include_dirs=(directory, *options.include_dirs))
    module = compiler.compile(_first(fields, "code"), options, name=NAME, language="cl")
    answer = _result(module, _device(fields), for_device)
    own = (directory + os.sep, NAME) if directory else (NAME,)
    included, absent = (
        tuple(name for name in names if not name.startswith(own)) for names in (module.dependencies, module.absent)
    )
    return Entry(answer, None, included, absent)


def _spirv(fields: Fields) -> Entry:
    from coopmat import compiler

    options, for_device = _resolved(fields)
    module = compiler.compile(_first(fields, "code"), options, name="<SPIR-V>", language="spv")
    return Entry(_result(module, _device(fields), for_device))


def _trial(request: bytes) -> bytes:
    """Return the answer to a trial: build by the driver in a guarded process, and cache whether the driver survives."""
    from coopmat.runtime import driver, guarded

    fields = unpacked(request)
    for variable in (value.decode(errors="replace") for name, value in fields if name == "variable"):
        name, _, value = variable.partition("=")
        os.environ[name] = value
    constants = [unpacked(value) for name, value in fields if name == "constant"]
    values = [(int(_text(constant, "number")), _first(constant, "value")) for constant in constants]
    part = _text(fields, "form"), _first(fields, "code"), _text(fields, "options")
    result: list[tuple[str, bytes | str | int]] = []
    binary = b""
    try:
        built = guarded.first_build(_device(fields), _text(fields, "library"), [part], constants=values)
        binary = built.data if built else b""
        is_known = built is not None and not built.is_plain
    except guarded.Crash as crash:
        path = driver.keep(part[1])
        result = [("log", f"error: coopmat: {crash}\n(the code is saved as {path})\n"), ("fault", "crash")]
        is_known = not isinstance(crash, guarded.Ended)
    if is_known:
        Cache.of_environment().put(cache_key(request), Entry(packed(result)))
    return packed([*result, ("binary", binary)])


def _result(module: Module, device: DeviceInfo, for_device: list[str]) -> bytes:
    from coopmat.devices import may_crash
    from coopmat.diagnostics import render_text
    from coopmat.runtime.driver import spirv_for

    log = render_text(module.diagnostics, module.sources) if module.diagnostics else ""
    is_c = module.code == "c"
    code = module.opencl_c.encode() if is_c else spirv_for(module, device)
    words = [*module.device_options, *for_device]
    result: list[tuple[str, bytes | str | int]] = [("form", "c" if is_c else "spirv"), ("code", code), ("log", log)]
    if may_crash(device):
        result.append(("may_crash", 1))
    # Oclgrind keeps quotes as part of an option; so only options with blanks are quoted.
    quoted = (f'"{word}"' if any(c.isspace() for c in word) else word for word in words)
    result.append(("device_options", " ".join(quoted)))
    functions = module.functions.values()
    for kernel in (*module.kernels.values(), *functions):
        facts: dict[str, str | int] = {
            "name": kernel.name,
            "sub_group_size": kernel.sub_group_size or 0,
            "most_items": kernel.max_work_items or 0,
            "uses_matrices": int(kernel.uses_matrices),
            "is_fixed": int(kernel.reqd_work_group_size is not None),
            "imports": int(kernel.imports),
            "is_function": int(kernel in functions),
        }
        result.append(("kernel", packed(facts.items())))
    return packed(result)


_OPERATIONS = {"variants": _variants, "source": _source, "spirv": _spirv}


def _received(connection: socket.socket, size: int) -> bytes:
    """Return `size` bytes from the socket, or fewer if the other side closes it before."""
    parts = []
    while size:
        part = connection.recv(min(size, 1 << 20))
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


@contextmanager
def _reporting(connection: socket.socket) -> Iterator[None]:
    """Send an empty message, as a sign of life, every second while the context is active.

    If the layer has stopped waiting, this process may still finish its answer, which the cache keeps. For that it has
    the time limit of a build, and at least 60 seconds; then it exits.
    """
    finished = threading.Event()

    def report() -> None:
        while not finished.wait(_REPORT_SECONDS):
            try:
                connection.sendall(SIZE.pack(0))
            except OSError:
                if not finished.wait(max(_build_seconds(), 60)):
                    os._exit(1)

    reporter = threading.Thread(target=report, daemon=True)
    reporter.start()
    try:
        yield
    finally:
        finished.set()
        reporter.join()


def _build_seconds() -> int:
    """Return the time limit of a build in seconds; `source/helper.c` reads the same variable."""
    text = os.environ.get("COOPMAT_BUILD_TIMEOUT", "")
    return int(text) if text.isascii() and text.isdigit() and 0 < int(text) <= 1_000_000 else 600


def serve(connection: socket.socket) -> None:
    """Answer requests until the other side closes the socket."""
    while True:
        head = _received(connection, SIZE.size)
        if len(head) < SIZE.size:
            return
        (size,) = SIZE.unpack(head)
        if size > _LARGEST_REQUEST:
            return
        request = _received(connection, size)
        if len(request) < size:
            return
        with _reporting(connection):
            result = answer(request)
        try:
            connection.sendall(SIZE.pack(len(result)) + result)
        except OSError:  # the layer has stopped waiting
            return


if __name__ == "__main__":
    with socket.socket(fileno=os.dup(0)) as own:
        serve(own)
