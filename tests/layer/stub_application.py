"""An application of the stub driver's (stub_driver.c): a process with ctypes and a loader that does what tests ask.

Run as a program, with the loader's path and the driver's, it answers calls of `OpenCL`'s methods on its standard input.
`application` starts it, and passes the calls on.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import ctypes.util
import functools
import itertools
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from enum import IntEnum
from pathlib import Path
from typing import Any, BinaryIO

from processes import children

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
_NOTICE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_HANDLES = re.compile(r"^cl(Create|Link|Clone|GetExtension)")
_RELEASES = {
    "p": "clReleaseProgram",
    "k": "clReleaseKernel",
    "q": "clReleaseCommandQueue",
    "c": "clReleaseContext",
    "d": "clReleaseDevice",
}


def fnv(data: bytes) -> str:
    """How the driver records code: its size and the FNV-1a hash."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{len(data)}:{value:016x}"


class CL(IntEnum):
    """The names of OpenCL's that the tests need; the draft's and those of young extensions, too."""

    INVALID_VALUE = -30
    INVALID_DEVICE = -33
    INVALID_CONTEXT = -34
    INVALID_COMMAND_QUEUE = -36
    INVALID_BINARY = -42
    INVALID_BUILD_OPTIONS = -43
    INVALID_PROGRAM = -44
    INVALID_PROGRAM_EXECUTABLE = -45
    INVALID_KERNEL_NAME = -46
    INVALID_KERNEL = -48
    INVALID_WORK_DIMENSION = -53
    INVALID_WORK_GROUP_SIZE = -54
    INVALID_OPERATION = -59
    INVALID_SPEC_ID = -71
    BUILD_PROGRAM_FAILURE = -11
    COMPILE_PROGRAM_FAILURE = -15
    LINK_PROGRAM_FAILURE = -17

    DEVICE_NAME = 0x102B
    DEVICE_EXTENSIONS = 0x1030
    DEVICE_EXTENSIONS_WITH_VERSION = 0x1060
    DEVICE_DEFAULT_SUB_GROUP_VARIANTS = 0x1078
    DEVICE_SUB_GROUP_VARIANTS = 0x1079
    DEVICE_POINTER_ALIGNMENT = 0x107A
    DEVICE_STRIDE_MULTIPLE = 0x107B
    DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS = 0x12B9
    DEVICE_SPIRV_EXTENSIONS = 0x12BA
    DEVICE_SPIRV_CAPABILITIES = 0x12BB
    DEVICE_OPENCL_C_FEATURES = 0x106F
    PROGRAM_REFERENCE_COUNT = 0x1160
    PROGRAM_CONTEXT = 0x1161
    PROGRAM_NUM_DEVICES = 0x1162
    PROGRAM_DEVICES = 0x1163
    PROGRAM_SOURCE = 0x1164
    PROGRAM_BINARY_SIZES = 0x1165
    PROGRAM_BINARIES = 0x1166
    PROGRAM_NUM_KERNELS = 0x1167
    PROGRAM_KERNEL_NAMES = 0x1168
    PROGRAM_IL = 0x1169
    PROGRAM_BUILD_STATUS = 0x1181
    PROGRAM_BUILD_OPTIONS = 0x1182
    PROGRAM_BUILD_LOG = 0x1183
    PROGRAM_BINARY_TYPE = 0x1184
    PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE = 0x1185
    KERNEL_FUNCTION_NAME = 0x1190
    KERNEL_REFERENCE_COUNT = 0x1192
    KERNEL_CONTEXT = 0x1193
    KERNEL_PROGRAM = 0x1194
    KERNEL_WORK_GROUP_SIZE = 0x11B0
    KERNEL_LOCAL_MEM_SIZE = 0x11B2
    KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE = 0x11B3
    KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT = 0x11B8
    KERNEL_MAX_NUM_SUB_GROUPS = 0x11B9
    KERNEL_COMPILE_NUM_SUB_GROUPS = 0x11BA
    KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE = 0x2033
    KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE = 0x2034
    KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL = 0x410A


BUILD_NONE = -1
BUILD_ERROR = -2


class OpenCL:
    """The loader's functions. What is made here is released by `end`, unless it was before."""

    def __init__(self, loader: str, driver: str) -> None:
        self.library = ctypes.CDLL(loader)
        self.driver = ctypes.CDLL(driver)
        self.made: list[tuple[str, int]] = []
        self.notices: list[tuple[int, int | None]] = []
        self.within: list[int] = []
        self.lasting: list[Any] = []

    def call(self, function: str | int, *arguments: Any, gives: str = "") -> Any:
        """Call a function by its name, or its address with `gives`: "handle" or "error".

        Numbers are passed as they are, bytes and lists of numbers or of bytes by their address.
        """
        if isinstance(function, int):
            kind: Any = ctypes.c_void_p if gives == "handle" else ctypes.c_int
            own: Any = ctypes.CFUNCTYPE(kind)(function)
        else:
            own = self.library[function]
            own.restype = ctypes.c_void_p if _HANDLES.match(function) and gives != "error" else ctypes.c_int
        return own(*map(_argument, arguments))

    def create(self, letter: str, function: str | int, *arguments: Any) -> tuple[int, int]:
        """Call what has the error as its last argument, and return the object, 0 for none, and the error."""
        error = ctypes.c_int(12345)
        made = self.call(function, *arguments, ctypes.byref(error), gives="handle") or 0
        if made and letter in _RELEASES:
            self.made.append((letter, made))
        return made, error.value

    def release(self, letter: str, handle: int) -> int:
        if (letter, handle) in self.made:
            self.made.remove((letter, handle))
        return int(self.call(_RELEASES[letter], handle))

    def retain(self, letter: str, handle: int) -> int:
        error = int(self.call(_RELEASES[letter].replace("Release", "Retain"), handle))
        if not error:
            self.made.append((letter, handle))
        return error

    def end(self) -> list[int]:
        """Release all, kernels first, and return how many programs and kernels the driver has left."""
        for letter in "kpqcd":
            for kind, handle in [pair for pair in self.made if pair[0] == letter]:
                self.release(kind, handle)
        self.notices, self.within = [], []
        return self.live()

    def live(self) -> list[int]:
        counts = (ctypes.c_uint32(), ctypes.c_uint32())
        self.driver.stub_live_objects(*map(ctypes.byref, counts))
        return [count.value for count in counts]

    def info(self, function: str | int, *arguments: Any, room: int | None = None) -> tuple[int, bytes]:
        """The error and the bytes of a query, which has room for all of them or for `room`."""
        size = ctypes.c_size_t()
        error = self.call(function, *arguments, 0, None, ctypes.byref(size), gives="error")
        if error:
            return error, b""
        room = size.value if room is None else room
        to = ctypes.create_string_buffer(max(room, 1))
        error = self.call(function, *arguments, room, to, ctypes.byref(size), gives="error")
        return error, b"" if error else to.raw[: min(room, size.value)]

    def platform(self) -> int:
        to = (ctypes.c_void_p * 4)()
        count = ctypes.c_uint()
        error = self.call("clGetPlatformIDs", 4, to, ctypes.byref(count))
        if error or count.value != 1:
            raise RuntimeError(f"clGetPlatformIDs: {error}, {count.value} platforms")
        return to[0] or 0

    def devices(self) -> list[int]:
        to = (ctypes.c_void_p * 16)()
        count = ctypes.c_uint()
        error = self.call("clGetDeviceIDs", self.platform(), 0xFFFFFFFF, 16, to, ctypes.byref(count))
        if error:
            raise RuntimeError(f"clGetDeviceIDs: {error}")
        return [device or 0 for device in to[: count.value]]

    def sub_devices(self, device: int, units: int) -> list[int]:
        to = (ctypes.c_void_p * 16)()
        count = ctypes.c_uint()
        error = self.call("clCreateSubDevices", device, [0x1086, units, 0], 16, to, ctypes.byref(count), gives="error")
        if error:
            raise RuntimeError(f"clCreateSubDevices: {error}")
        parts = [part or 0 for part in to[: count.value]]
        self.made += [("d", part) for part in parts]
        return parts

    def context(self, devices: list[int] | None = None) -> int:
        devices = devices or self.devices()[:1]
        context, error = self.create("c", "clCreateContext", None, len(devices), devices, None, None)
        if error:
            raise RuntimeError(f"clCreateContext: {error}")
        return context

    def queue(self, context: int, device: int | None = None) -> int:
        queue, error = self.create(
            "q", "clCreateCommandQueueWithProperties", context, device or self.devices()[0], None
        )
        if error:
            raise RuntimeError(f"clCreateCommandQueueWithProperties: {error}")
        return queue

    def source(self, context: int, *texts: bytes, lengths: list[int] | None = None) -> int:
        program, error = self.create("p", "clCreateProgramWithSource", context, len(texts), list(texts), lengths)
        if error:
            raise RuntimeError(f"clCreateProgramWithSource: {error}")
        return program

    def il(self, context: int, code: bytes) -> int:
        program, error = self.create("p", "clCreateProgramWithIL", context, code, len(code))
        if error:
            raise RuntimeError(f"clCreateProgramWithIL: {error}")
        return program

    def binary(self, context: int, devices: list[int], binaries: list[bytes]) -> tuple[int, int, list[int]]:
        """The program, the error, and the status of each device's binary."""
        status = (ctypes.c_int * len(devices))()
        program, error = self.create(
            "p",
            "clCreateProgramWithBinary",
            *(context, len(devices), devices, [len(binary) for binary in binaries], binaries, status),
        )
        return program, error, list(status)

    def binaries(self, program: int) -> list[bytes]:
        """CL_PROGRAM_BINARIES, one for each device of the context."""
        error, data = self.info("clGetProgramInfo", program, 0x1165)
        sizes = [int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data), 8)]
        buffers = [ctypes.create_string_buffer(max(size, 1)) for size in sizes]
        places = (ctypes.c_void_p * len(sizes))(*(ctypes.addressof(b) for b in buffers))
        size = ctypes.sizeof(places)
        error = error or self.call("clGetProgramInfo", program, 0x1166, size, places, None, gives="error")
        if error:
            raise RuntimeError(f"CL_PROGRAM_BINARIES: {error}")
        return [buffer.raw[:size] for buffer, size in zip(buffers, sizes, strict=True)]

    def notice(self, use: str = "") -> Any:
        """A callback that keeps what it was called with; with a kernel's name in `use`, it makes that kernel, too."""

        def called(program: int | None, data: int | None) -> None:
            if use:
                kernel, _ = self.create("k", "clCreateKernel", program, use.encode())
                device = self.devices()[0]
                self.within.append(self.number("clGetKernelSubGroupInfo", kernel, device, 0x2033, 8, [64]))
            self.notices.append((program or 0, data))

        function = _NOTICE(called)
        self.lasting.append(function)
        return function

    def build(
        self,
        program: int,
        options: bytes | None = b"",
        devices: list[int] | None = None,
        data: int | None = None,
        notify: bool = False,
    ) -> int:
        function = self.notice() if notify else None
        count = len(devices or [])
        return int(self.call("clBuildProgram", program, count, devices, options, function, data))

    def compile(
        self,
        program: int,
        options: bytes | None = b"",
        headers: dict[bytes, int] | None = None,
        devices: list[int] | None = None,
        data: int | None = None,
        notify: bool = False,
    ) -> int:
        function = self.notice() if notify else None
        handles, names = (list(headers.values()), list(headers)) if headers else (None, None)
        arguments = (program, len(devices or []), devices, options, len(headers or {}), handles, names)
        return int(self.call("clCompileProgram", *arguments, function, data))

    def link(
        self,
        context: int,
        inputs: list[int],
        options: bytes | None = b"",
        devices: list[int] | None = None,
        notify: bool = False,
        use: str = "",
    ) -> tuple[int, int]:
        function = self.notice(use) if notify else None
        arguments = (context, len(devices or []), devices, options, len(inputs), inputs)
        return self.create("p", "clLinkProgram", *arguments, function, None)

    def callback_sub_group_sizes(self) -> list[int]:
        """The subgroups' sizes of kernels that callbacks have made, as they were asked for there."""
        return self.within

    def noticed(self, count: int, seconds: float = 20) -> list[tuple[int, int | None]]:
        """What callbacks were called with, once there were so many."""
        end = time.monotonic() + seconds
        while len(self.notices) < count and time.monotonic() < end:
            time.sleep(0.01)
        return self.notices

    def kernel(self, program: int, name: bytes) -> tuple[int, int]:
        return self.create("k", "clCreateKernel", program, name)

    def kernels(self, program: int, room: int = 8) -> tuple[int, list[int]]:
        to = (ctypes.c_void_p * max(room, 1))()
        count = ctypes.c_uint()
        error = self.call("clCreateKernelsInProgram", program, room, to, ctypes.byref(count), gives="error")
        found = [kernel or 0 for kernel in to[: count.value]] if not error else []
        self.made += [("k", kernel) for kernel in found]
        return error, found

    def kernel_count(self, program: int) -> tuple[int, int]:
        count = ctypes.c_uint()
        error = self.call("clCreateKernelsInProgram", program, 0, None, ctypes.byref(count), gives="error")
        return error, count.value

    def enqueue(
        self,
        queue: int,
        kernel: int,
        size: list[int] | None,
        local: list[int] | None = None,
        dimensions: int | None = None,
    ) -> int:
        dimensions = len(size or []) if dimensions is None else dimensions
        return int(self.call("clEnqueueNDRangeKernel", queue, kernel, dimensions, None, size, local, 0, None, None))

    def record(self, queue: int, kernel: int, size: list[int], local: list[int] | None = None) -> list[int]:
        """The errors of a command buffer's life with one kernel in it."""
        buffer, error = self.create("b", self.address("clCreateCommandBufferKHR"), 1, [queue], None)
        arguments = (buffer, queue, None, kernel, len(size), None, size, local, 0, None, None, None)
        errors = [error, self.call(self.address("clCommandNDRangeKernelKHR"), *arguments)]
        errors.append(self.call(self.address("clFinalizeCommandBufferKHR"), buffer))
        errors.append(self.call(self.address("clEnqueueCommandBufferKHR"), 0, None, buffer, 0, None, None))
        errors.append(self.call(self.address("clReleaseCommandBufferKHR"), buffer))
        return errors

    def suggested(self, queue: int, kernel: int, size: list[int]) -> tuple[int, list[int]]:
        """The local size that clGetKernelSuggestedLocalWorkSizeKHR gives."""
        to = (ctypes.c_size_t * 3)()
        own = self.address("clGetKernelSuggestedLocalWorkSizeKHR")
        return self.call(own, queue, kernel, len(size), None, size, to), list(to[: len(size)])

    def address(self, name: str, platform: int | None = None) -> int:
        platform = self.platform() if platform is None else platform
        return self.call("clGetExtensionFunctionAddressForPlatform", platform, name.encode()) or 0

    def fields(self, pointers: bytes) -> list[bytes]:
        """The texts that an array of pointers in a query's answer leads to."""
        places = [int.from_bytes(pointers[at : at + 8], "little") for at in range(0, len(pointers), 8)]
        return [ctypes.string_at(place) for place in places]

    def matrix_info(self, device: int, what: int, given: bytes = b"", room: int | None = None) -> tuple[int, bytes]:
        own = self.address("clGetDeviceCooperativeMatrixInfoKHR")
        return self.info(own, device, what, len(given), given or None, room=room)

    def threads(self, count: int, seconds: float, source: bytes) -> dict[str, Any]:
        """Threads that build, use and release programs of their own, with and without matrices, and one of them all."""
        context = self.context()
        queue = self.queue(context)
        device = self.devices()[0]
        end = time.monotonic() + seconds
        wrong: list[str] = []
        turns: list[int] = []

        def body(number: int) -> None:
            for turn in itertools.count():
                if turn > 1 and time.monotonic() > end:
                    break
                with_matrices = turn % 4 == 0
                text = source if with_matrices else b"kernel void product(global int *c) { c[0] = 1; }"
                # Some are new, and so are not in a cache.
                options = b"-DFIRST=%d" % (number % 2 if turn % 16 else 1000 * number + turn)
                found = self._turn(context, queue, device, text, options, 16 if with_matrices else 4)
                if found:
                    wrong.append(found)
                turns.append(number)

        bodies = [threading.Thread(target=body, args=(number,)) for number in range(count)]
        for thread in bodies:
            thread.start()
        for thread in bodies:
            thread.join()
        return {"wrong": sorted(set(wrong))[:10], "turns": len(turns), "threads": len(set(turns))}

    def _turn(self, context: int, queue: int, device: int, text: bytes, options: bytes, size: int) -> str:
        """One program's life; what was wrong in it."""
        error = ctypes.c_int()
        program = self.call("clCreateProgramWithSource", context, 1, [text], None, ctypes.byref(error))
        built = self.build(program, options)
        kernel = self.call("clCreateKernel", program, b"product", ctypes.byref(error))
        second = self.call("clCloneKernel", kernel, ctypes.byref(error))
        seen = [
            built,
            self.number("clGetKernelInfo", kernel, 0x1194) == program,
            self.info("clGetProgramBuildInfo", program, device, 0x1182)[1].rstrip(b"\0") == options,
            self.number("clGetKernelSubGroupInfo", kernel, device, 0x2033, 8, [64]),
            self.number("clGetKernelSubGroupInfo", second, device, 0x2033, 8, [64]),
            self.info("clGetProgramInfo", program, 0x1164)[1] == text + b"\0",
            self.enqueue(queue, kernel, [64]),
            self.call("clReleaseProgram", program),
            self.number("clGetKernelInfo", second, 0x1194) == program,
            self.call("clReleaseKernel", kernel),
            self.call("clReleaseKernel", second),
        ]
        right = [0, True, True, size, size, True, 0, 0, True, 0, 0]
        return "" if seen == right else f"{seen} where {right} is right"

    def same_program(self, count: int, turns: int, source: bytes) -> list[int]:
        """The errors of threads that all build one program."""
        program = self.source(self.context(), source)
        errors: list[int] = []

        def body(number: int) -> None:
            errors.extend(self.build(program, b"-DFIRST=%d" % (number % 2)) for _ in range(turns))

        bodies = [threading.Thread(target=body, args=(number,)) for number in range(count)]
        for thread in bodies:
            thread.start()
        for thread in bodies:
            thread.join()
        return errors

    def number(self, function: str | int, *arguments: Any) -> int:
        """A query's answer that is a number; -1 where there was an error."""
        error, data = self.info(function, *arguments)
        return -1 if error else int.from_bytes(data, "little")

    def helpers(self) -> int:
        """How many processes this one has started, whichever of its threads did."""
        return len(children())


def _argument(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return ctypes.c_void_p(value or None)
    if isinstance(value, int):
        return ctypes.c_size_t(value)
    if isinstance(value, bytes):
        # Not c_char_p: code has zeros in it.
        return ctypes.create_string_buffer(value, len(value) + 1)
    if isinstance(value, list):
        if value and isinstance(value[0], bytes):
            buffers = [ctypes.create_string_buffer(v, len(v) + 1) for v in value]
            result = (ctypes.c_void_p * len(value))(*(ctypes.addressof(b) for b in buffers))
            result.lasting = buffers  # type: ignore[attr-defined]
            return result
        return (ctypes.c_size_t * len(value))(*(v or 0 for v in value))
    return value


# ---- the tests' side


@functools.cache
def directory() -> Path:
    path = Path(tempfile.mkdtemp(prefix="coopmat-stub-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


@functools.cache
def driver() -> Path:
    """The driver's library, made by the first compiler that there is."""
    from coopmat.layer import library

    path = directory() / "libstub_driver.so"
    include = ROOT / "coopmat" / "layer" / "include"
    words = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-fvisibility=hidden"]
    command = [*library.compiler(), *words, "-isystem", str(include), "-o", str(path), str(HERE / "stub_driver.c")]
    done = subprocess.run([*command, "-lpthread"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    vendors = directory() / "vendors"
    vendors.mkdir()
    (vendors / "stub.icd").write_text(f"{path}\n")
    return path


@functools.cache
def layer() -> Path:
    """The layer's library: that of COOPMAT_TEST_LAYER, say one with a sanitizer, whose own library is then named in
    COOPMAT_TEST_PRELOAD; or a new one."""
    from coopmat.layer import library

    own = os.environ.get("COOPMAT_TEST_LAYER")
    return Path(own) if own else library.build(directory() / "libcoopmat_layer.so").path


def preload() -> dict[str, str]:
    """Return the variables that applications of the layer need, if that has a sanitizer."""
    own = os.environ.get("COOPMAT_TEST_PRELOAD")
    return {"LD_PRELOAD": own} if own else {}


def _kind(path: str) -> str:
    content = Path(path).read_bytes()
    if b"OCL_ICD_ASSUME_ICD_EXTENSION" in content:
        return "ocl-icd"
    return "khronos" if b"Khronos OpenCL ICD Loader" in content else ""


@functools.cache
def loaders() -> dict[str, str]:
    """The loaders that this machine has, by their kind: "khronos", "pyopencl" (ocl-icd in its wheel) and "ocl-icd"."""
    import importlib.util

    found: dict[str, str] = {}
    spec = importlib.util.find_spec("pyopencl")
    if spec and spec.origin:
        for path in sorted(Path(spec.origin).parent.glob(".libs/libOpenCL-*.so*")):
            found.setdefault("pyopencl", str(path))
    system = ctypes.util.find_library("OpenCL")
    named = [path for path in os.environ.get("COOPMAT_TEST_LOADERS", "").split(":") if path]
    usual = [Path("/usr/lib"), Path("/usr/lib64"), *Path("/usr/lib").glob("*-linux-gnu")]
    of_system = [str(folder / system) for folder in usual if system and (folder / system).is_file()]
    for candidate in [*named, str(Path(sys.prefix) / "lib" / "libOpenCL.so.1"), *of_system]:
        if Path(candidate).is_file() and _kind(candidate):
            found.setdefault(_kind(candidate), candidate)
    return found


class Application:
    """A process with a loader, the driver and perhaps the layer; every method of `OpenCL`'s is one of it, too."""

    def __init__(self, loader: str, with_layer: bool, variables: dict[str, str]) -> None:
        self.log = directory() / f"log-{len(_applications)}-{time.monotonic_ns()}"
        self.at = 0
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("STUB_", "OCL_ICD_"))}
        settings = {"OCL_ICD_VENDORS": str(driver().parent / "vendors"), "STUB_LOG": str(self.log)}
        # pyopencl's loader, a changed ocl-icd, copies this variable without a look at whether there is one, and ends
        # with a fault at address 0; `import pyopencl` sets it. Drivers below it would be more platforms.
        settings["PYOPENCL_HOME"] = str(directory() / "nothing")
        # Of the wheel's loader the libraries lie beside it.
        settings["LD_LIBRARY_PATH"] = f"{Path(loader).parent}:{os.environ.get('LD_LIBRARY_PATH', '')}".rstrip(":")
        layers = str(layer()) if with_layer else ""
        environment = {**kept, **settings, "OPENCL_LAYERS": layers, "COOPMAT_ROUTE": "lanes", **variables}
        environment |= preload()
        command = [sys.executable, str(Path(__file__)), loader, str(driver())]
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def __getattr__(self, method: str) -> Callable[..., Any]:
        if method.startswith("_") or not hasattr(OpenCL, method):
            raise AttributeError(method)

        def run(*arguments: Any, **named: Any) -> Any:
            assert self.process.stdin and self.process.stdout and self.process.stderr
            try:
                pickle.dump((method, arguments, named), self.process.stdin)
                self.process.stdin.flush()
                is_right, result = pickle.load(self.process.stdout)
            except (EOFError, OSError):
                self.process.wait(60)
                text = self.process.stderr.read().decode(errors="replace")
                raise AssertionError(
                    f"the application ended with {self.process.returncode} in {method}:\n{text}"
                ) from None
            assert is_right, result
            return result

        return run

    def lines(self) -> list[str]:
        """All that the driver was called with since `begin`."""
        content = self.log.read_bytes() if self.log.exists() else b""
        return content[self.at :].decode(errors="replace").splitlines()

    def calls(self, *starts: str) -> list[str]:
        """The driver's calls since `begin` other than queries, or those that start with one of these words; the
        objects but devices are numbered as they occur."""
        lines = [line for line in self.lines() if (line.startswith(starts) if starts else not line.startswith("clGet"))]
        seen: dict[str, str] = {}
        counts: dict[str, Iterator[int]] = {}

        def number(match: re.Match[str]) -> str:
            letter, name = match.group(1), match.group(0)
            if name not in seen:
                seen[name] = f"{letter}{next(counts.setdefault(letter, itertools.count(1)))}"
            return seen[name]

        return [re.sub(r"\b([cpkqbe])\d{1,8}\b", number, line) for line in lines]

    def begin(self) -> None:
        self.at = self.log.stat().st_size if self.log.exists() else 0

    def close(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                # What was written to a process that has ended stays in the buffer.
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stderr:
            self.process.stderr.close()


_applications: dict[Any, Application] = {}


def application(loader: str = "", with_layer: bool = True, **variables: str) -> Application:
    """The process with these settings; it is started once, and again where it has ended."""
    own = loader or next(kind for kind in ("khronos", "ocl-icd", "pyopencl") if kind in loaders())
    key = (own, with_layer, tuple(sorted(variables.items())))
    found = _applications.get(key)
    if found is None or found.process.poll() is not None:
        if found is not None:
            found.close()
        found = _applications[key] = Application(loaders()[own], with_layer, variables)
    return found


def close_applications() -> None:
    for found in _applications.values():
        found.close()
    _applications.clear()


def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    import traceback

    own = OpenCL(sys.argv[1], sys.argv[2])
    while True:
        try:
            method, arguments, named = pickle.load(requests)
        except EOFError:
            return
        try:
            result = (True, getattr(own, method)(*arguments, **named))
        except Exception:
            result = (False, traceback.format_exc())
        pickle.dump(result, answers)
        answers.flush()


if __name__ == "__main__":
    _answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _serve(sys.stdin.buffer, _answers)
