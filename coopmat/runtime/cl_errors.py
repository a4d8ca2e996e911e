"""Exceptions for programs on a device that are instances of this package's and of pyopencl's classes."""

from __future__ import annotations

import copyreg
from typing import Any

import pyopencl as cl

from coopmat.diagnostics import CompileError, render_text

from .program import BuildError

_cl = cl._cl


class _Told:
    """A mixin for exceptions whose str() is `_text`, while pyopencl's methods use the record in `args`."""

    _text: str

    def __str__(self) -> str:
        return self._text


class ProgramCompileError(_Told, CompileError, cl.RuntimeError):  # type: ignore[misc]
    """A CompileError that is also pyopencl's error of a failed build: `code` is BUILD_PROGRAM_FAILURE."""

    def __init__(self, error: CompileError) -> None:
        CompileError.__init__(self, error.diagnostics, error.sources)
        self._text = str(error)
        self.args = (record(self._text),)

    def __reduce__(self) -> Any:
        return CompileError, (self.diagnostics, self.sources)


class ProgramBuildError(_Told, BuildError, cl.RuntimeError):  # type: ignore[misc]
    """A BuildError that is also pyopencl's error of a failed build; str() includes the log's diagnostics."""

    def __init__(self, *fields: Any) -> None:
        BuildError.__init__(self, *fields)
        text = render_text(self.diagnostics, self.sources) if self.diagnostics else ""
        self._text = BaseException.__str__(self) + (f"\n{text}" if text else "")
        self.args = (record(self._text),)


class ArgumentError(_Told, cl.LogicError, TypeError):  # type: ignore[misc]
    """An exception that reports arguments that do not match the kernel's parameters.

    str() names the kernel, the argument, what the parameter needs, and the value.
    """

    def __init__(self, message: str) -> None:
        super().__init__(record(message, cl.status_code.INVALID_ARG_VALUE, "clSetKernelArg"))
        self._text = message

    def __reduce__(self) -> Any:
        return type(self), (self._text,)


class LaunchError(_Told, CompileError, cl.LogicError):  # type: ignore[misc]
    """An exception that reports sizes with which a kernel cannot be launched.

    An example are sizes that make partial subgroups. str() names the sizes.
    """

    def __init__(self, error: CompileError) -> None:
        CompileError.__init__(self, error.diagnostics, error.sources)
        self._text = str(error)
        self.args = (record(self._text, cl.status_code.INVALID_WORK_GROUP_SIZE, "clEnqueueNDRangeKernel"),)

    def __reduce__(self) -> Any:
        return type(self), (CompileError(self.diagnostics, self.sources),)


def record(text: str, code: int | None = None, routine: str = "clBuildProgram") -> Any:
    """Return the record from which pyopencl's exceptions are constructed.

    `code` is an OpenCL status, by default BUILD_PROGRAM_FAILURE. `routine` is the name of the OpenCL function.
    """
    code = cl.status_code.BUILD_PROGRAM_FAILURE if code is None else code
    return _cl._ErrorRecord(msg=text, code=code, routine=routine)


def _reduce(error_record: Any) -> Any:
    return record, (error_record.what(), error_record.code(), error_record.routine())


# Libraries that send exceptions to other processes, such as dask, also send their causes, which are pyopencl's errors.
copyreg.pickle(_cl._ErrorRecord, _reduce)
