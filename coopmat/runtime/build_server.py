"""The script of a process that builds programs for `guarded`: a crash of the device's compiler ends only that process.

    build_server.py DRIVER       # the path of the driver's library

The process reads requests (`Request`) from its standard input. For each request it writes `BEGUN` and an `Answer`. The
format is that of marshal; the size of a message to the parent comes first, in SIZE_BYTES bytes. The process ends with
its parent, and after IDLE seconds without a request.

The script imports only modules of the standard library, so that it starts in 30 ms. It loads the driver itself, because
OpenCL's loader would load all drivers.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import re
import select
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Any

# The fields of a request:
# - the device's identity (`DeviceInfo.identity`);
# - the parts of the program, as (form, code, options);
# - the options for the link of several parts;
# - the specialization constants, as (id, bytes of the value);
# - the subgroup sizes that kernels require, as (kernel, work-items).
Request = tuple[
    tuple[str, ...],
    tuple[tuple[str, bytes, bytes], ...],
    bytes,
    tuple[tuple[int, bytes], ...],
    tuple[tuple[str, int], ...],
]
# The fields of an answer:
# - the device's binary, empty if an OpenCL function failed;
# - why nothing could be built, otherwise empty;
# - the kernels that do not run in subgroups if the program is built with optimizations;
# - the kernels among these that do not run in subgroups without optimizations either.
Answer = tuple[bytes, str, tuple[str, ...], tuple[str, ...]]
BEGUN = "begun"
_PLAIN = b"-cl-opt-disable"
_VECTORIZED = re.compile(r'Kernel "(.*)" was (?:not vectorized|successfully vectorized \((\d+)\))')
IDLE = 60.0
SIZE_BYTES = 8

_PLATFORM_NAME, _DEVICE_NAME, _DEVICE_VERSION, _DRIVER_VERSION = 0x0902, 0x102B, 0x102F, 0x102D
_ALL_DEVICES = 0xFFFFFFFF
_BINARY_SIZES, _BINARIES, _LOG = 0x1165, 0x1166, 0x1183
_POINTER, _INT, _UINT, _SIZE, _TEXT = (
    ctypes.c_void_p,
    ctypes.c_int,
    ctypes.c_uint,
    ctypes.c_size_t,
    ctypes.c_char_p,
)
_BUILD = _POINTER, _UINT, _POINTER, _TEXT
# Function -> its index in the function table of OpenCL objects (cl_khr_icd), and its types: result, then parameters.
_FUNCTIONS: dict[str, tuple[int, tuple[Any, ...]]] = {
    "clGetPlatformInfo": (1, (_INT, _POINTER, _UINT, _SIZE, _POINTER, _POINTER)),
    "clGetDeviceIDs": (2, (_INT, _POINTER, ctypes.c_uint64, _UINT, _POINTER, _POINTER)),
    "clGetDeviceInfo": (3, (_INT, _POINTER, _UINT, _SIZE, _POINTER, _POINTER)),
    "clCreateContext": (4, (_POINTER, _POINTER, _UINT, _POINTER, _POINTER, _POINTER, _POINTER)),
    "clCreateProgramWithSource": (26, (_POINTER, _POINTER, _UINT, _POINTER, _POINTER, _POINTER)),
    "clReleaseProgram": (29, (_INT, _POINTER)),
    "clBuildProgram": (30, (_INT, *_BUILD, _POINTER, _POINTER)),
    "clGetProgramInfo": (32, (_INT, _POINTER, _UINT, _SIZE, _POINTER, _POINTER)),
    "clGetProgramBuildInfo": (33, (_INT, _POINTER, _POINTER, _UINT, _SIZE, _POINTER, _POINTER)),
    "clCompileProgram": (98, (_INT, *_BUILD, _UINT, *(_POINTER,) * 4)),
    "clLinkProgram": (99, (_POINTER, *_BUILD, _UINT, *(_POINTER,) * 4)),
    "clCreateProgramWithIL": (138, (_POINTER, _POINTER, _TEXT, _SIZE, _POINTER)),
    "clSetProgramSpecializationConstant": (145, (_INT, _POINTER, _UINT, _SIZE, _TEXT)),
}


def scalar_kernels(log: str, sizes: Sequence[tuple[str, int]]) -> tuple[str, ...]:
    """Return the kernels that do not run in subgroups of their required size, according to the log of a build.

    `sizes` are pairs of a kernel and its required size, in work-items. A kernel that the log does not mention is
    assumed to run in its required size.
    """
    found = {name: int(size or 1) for name, size in _VECTORIZED.findall(log)}
    return tuple(name for name, size in sizes if found.get(name, size) != size)


class ClError(Exception):
    """An exception that reports the error status of an OpenCL function."""


class Driver:
    """A driver's library, with a context for each device that was requested."""

    def __init__(self, path: str) -> None:
        look_up = ctypes.CDLL(path).clGetExtensionFunctionAddress
        look_up.restype = _POINTER
        address = look_up(_TEXT(b"clIcdGetPlatformIDsKHR"))
        self._functions: dict[str, Any] = {
            "clIcdGetPlatformIDsKHR": ctypes.CFUNCTYPE(_INT, _UINT, _POINTER, _POINTER)(address)
        }
        self._platforms = self._listed("clIcdGetPlatformIDsKHR")
        for platform in self._platforms[:1]:
            table = _POINTER.from_address(platform).value or 0
            for name, (place, types) in _FUNCTIONS.items():
                function = _POINTER.from_address(table + place * ctypes.sizeof(_POINTER)).value
                if function:
                    self._functions[name] = ctypes.CFUNCTYPE(*types)(function)
        self._contexts: dict[tuple[str, ...], tuple[Any, Any]] = {}

    def build(self, request: Request) -> Answer:
        """Build a program, and return the device's binary with the kernels that do not run in subgroups.

        If there are such kernels, OpenCL C is built again without optimizations. Raises ClError if an OpenCL function
        fails, and LookupError if the driver does not have the device.
        """
        binary, scalar = self._build(request)
        remaining = scalar
        identity, parts, options, constants, sizes = request
        # Build OpenCL C again without optimizations. For SPIR-V this does not help: without optimizations, the compiler
        # vectorizes none of its kernels.
        if scalar and all(form == "c" for form, _, _ in parts):
            plain = tuple((form, code, b"%b %b" % (words, _PLAIN)) for form, code, words in parts)
            binary, remaining = self._build((identity, plain, options, constants, sizes))
        return binary, "", scalar, remaining

    def _build(self, request: Request) -> tuple[bytes, tuple[str, ...]]:
        """Build a program once. Return the binary and the kernels that do not run in subgroups. Raises ClError."""
        identity, parts, options, constants, sizes = request
        context, devices = self.context(identity)
        programs = []
        try:
            for form, code, words in parts:
                program = self._created(context, form, code)
                programs.append(program)
                for number, value in constants:
                    self._call("clSetProgramSpecializationConstant", program, number, len(value), value)
                if len(parts) == 1:
                    self._call("clBuildProgram", program, 1, devices, words, None, None)
                else:
                    self._call("clCompileProgram", program, 1, devices, words, 0, None, None, None, None)
            if len(parts) > 1:
                objects = (_POINTER * len(programs))(*programs)
                arguments = context, 1, devices, options, len(programs), objects, None, None
                programs.append(self._made("clLinkProgram", *arguments))
            log = self._text("clGetProgramBuildInfo", programs[-1], devices[0], _LOG) if sizes else ""
            return self._binary(programs[-1]), scalar_kernels(log, sizes)
        finally:
            for program in programs:
                self._call("clReleaseProgram", program)

    def context(self, identity: tuple[str, ...]) -> tuple[Any, Any]:
        """Return the context of a device, which is created on the first call, and the device in an array.

        Raises LookupError if the driver does not have the device, and ClError if an OpenCL function fails.
        """
        if identity not in self._contexts:
            devices = (_POINTER * 1)(self._device(identity))
            self._contexts[identity] = self._made("clCreateContext", None, 1, devices, None, None), devices
        return self._contexts[identity]

    def _device(self, identity: tuple[str, ...]) -> int:
        """Return the first device with these names and versions.

        All such devices have the same compiler. Raises LookupError if the driver has no such device.
        """
        for platform in self._platforms:
            name = self._text("clGetPlatformInfo", platform, _PLATFORM_NAME)
            for device in self._listed("clGetDeviceIDs", platform, _ALL_DEVICES) if name == identity[0] else ():
                queries = (_DEVICE_NAME, _DEVICE_VERSION, _DRIVER_VERSION)
                if (name, *(self._text("clGetDeviceInfo", device, query) for query in queries)) == identity:
                    return device
        raise LookupError(f"the driver has no device {' '.join(identity)}")

    def _listed(self, function: str, *arguments: Any) -> list[int]:
        """Return the ids that a function lists, which takes a capacity, an array and the address of a count."""
        count = _UINT()
        self._call(function, *arguments, 0, None, ctypes.byref(count))
        ids = (_POINTER * count.value)()
        self._call(function, *arguments, count.value, ids, None)
        return [one for one in ids if one]

    def _text(self, function: str, *arguments: int) -> str:
        """Return the text that a query function returns, without surrounding blanks."""
        size = _SIZE()
        self._call(function, *arguments, 0, None, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value + 1)
        self._call(function, *arguments, size.value, text, None)
        return text.value.decode(errors="replace").strip()

    def _created(self, context: Any, form: str, code: bytes) -> int:
        """Return a new program, created from SPIR-V or OpenCL C."""
        if form == "spirv":
            return self._made("clCreateProgramWithIL", context, code, len(code))
        text, size = _TEXT(code), _SIZE(len(code))
        return self._made("clCreateProgramWithSource", context, 1, ctypes.byref(text), ctypes.byref(size))

    def _binary(self, program: int) -> bytes:
        """Return the device's binary of a built program."""
        size = _SIZE()
        self._call("clGetProgramInfo", program, _BINARY_SIZES, ctypes.sizeof(size), ctypes.byref(size), None)
        binary = ctypes.create_string_buffer(size.value)
        place = _POINTER(ctypes.addressof(binary))
        self._call("clGetProgramInfo", program, _BINARIES, ctypes.sizeof(place), ctypes.byref(place), None)
        return binary.raw

    def _call(self, function: str, *arguments: Any) -> None:
        """Call an OpenCL function that returns a status. Raises ClError if the status is an error."""
        status = self._functions[function](*arguments)
        if status != 0:
            raise ClError(f"{function}: {status}")

    def _made(self, function: str, *arguments: Any) -> int:
        """Call a function that creates an object, with the address for the status as its last argument.

        Return the object. Raises ClError if the status is an error.
        """
        status = _INT()
        made = self._functions[function](*arguments, ctypes.byref(status))
        if not made or status.value != 0:
            raise ClError(f"{function}: {status.value}")
        return int(made)


def _end_with_parent() -> None:
    """End this process, even during a build, when the other end of its standard input is closed."""
    poll = select.poll()
    poll.register(0, 0)  # without requested events, only the end of the pipe is reported
    poll.poll()
    os._exit(0)


def main(path: str) -> None:
    """Answer requests on the standard input with the driver at `path`, until the input or IDLE seconds end."""
    import resource

    # Ctrl-C at the terminal concerns the parent, which decides whether this process ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # drivers may print, and must not write between the answers
    threading.Thread(target=_end_with_parent, daemon=True).start()

    def send(message: str | Answer) -> None:
        data = marshal.dumps(message)
        answers.write(len(data).to_bytes(SIZE_BYTES, sys.byteorder) + data)
        answers.flush()

    driver = Driver(path)
    while select.select([0], [], [], IDLE)[0]:
        try:
            request: Request = marshal.load(sys.stdin.buffer)
        except EOFError:
            return
        answer: Answer = b"", "", (), ()
        try:
            driver.context(request[0])
            send(BEGUN)
            answer = driver.build(request)
        except ClError:
            pass  # the parent builds the program again, to have the log
        except Exception as error:
            answer = b"", f"{type(error).__name__}: {error}", (), ()
        send(answer)


if __name__ == "__main__":
    main(sys.argv[1])
