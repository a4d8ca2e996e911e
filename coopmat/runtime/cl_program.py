"""`coopmat.Program`: pyopencl's Program, extended by sources with matrices.

Importing this module imports pyopencl, and makes the devices of this Python environment visible (`coopmat.devices`).
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyopencl as cl

from coopmat.compiler.module import NAMES_FILE, is_file_name
from coopmat.devices import prepare
from coopmat.devices.query import COOPERATIVE_MATRIX
from coopmat.diagnostics import CompileError, Diagnostic, Severity
from coopmat.options import UsageError
from coopmat.reporting import CompilerWarning, warn

from . import linking
from .cl_errors import ArgumentError, LaunchError, ProgramBuildError, ProgramCompileError
from .cl_kernel import BUILT, Kernel
from .device_build import UNNAMED, Built, build, has_matrices, includes
from .driver import DriverError

__all__ = [
    "ArgumentError",
    "Kernel",
    "LaunchError",
    "Program",
    "ProgramBuildError",
    "ProgramCompileError",
    "build_matrices",
    "compile_matrices",
    "kept",
    "link_program",
    "matrix_source",
    "object_source",
    "source_of",
]

prepare()


class ProgramWarning(CompilerWarning, cl.CompilerWarning):  # type: ignore[misc]
    """A Python warning that carries the warnings and remarks of a build; str() is their text."""


class Program(cl.Program):  # type: ignore[misc]
    """A drop-in for pyopencl.Program, with the same arguments, attributes and errors.

    A source with cooperative matrices is compiled for each device by its route (`coopmat devices`), and cached. Its
    kernels are `Kernel`s. Any other program is passed to pyopencl without changes.

    The source may be the path (pathlib.Path) of a file. Includes are searched beside the file first. A file that ends
    in `.spv` is SPIR-V, for pyopencl.
    """

    def __init__(self, context: Any, source: Any = None, binaries: Any = None) -> None:
        path = Path(source) if isinstance(source, os.PathLike) else None
        if path is not None:
            source = path.read_bytes() if path.suffix == ".spv" else path.read_text(encoding="utf-8", errors="replace")
        super().__init__(context, source, binaries)
        self._built: Any = None
        self._path = path

    def __repr__(self) -> str:
        fields = self.__dict__
        built, kind = fields.get("_built"), f"coopmat.{Program.__name__}"
        name = _name(self)
        if built is None:
            return f"<{kind} of {name}, {'without matrices' if fields.get('_prg') else 'not built'}>"
        devices = ", ".join(f"{b.device.label} ({b.route})" for b in built.devices)
        return f"<{kind} of {name}, kernels {', '.join(built.devices[0].kernels)}, built for {devices}>"

    @classmethod
    def from_int_ptr(cls, int_ptr_value: int, retain: bool = True) -> Program:
        """Return a program with the handle `int_ptr_value`, a cl_program as an integer.

        If a `Program` that exists built the cl_program, the result gets its kernels and source.
        """
        program = cls.__new__(cls)
        Program.__init__(program, cl._cl._Program.from_int_ptr(int_ptr_value, retain))
        original = BUILT.get(int_ptr_value)
        if original is not None:
            program._built, program._built_options = original._built, original._built_options
            program._source = original._source
        return program

    def build(
        self,
        options: str | Sequence[str] | None = None,
        devices: Sequence[Any] | None = None,
        cache_dir: str | None = None,
    ) -> Program:
        """Build the program for `devices`, and return the program; it may be built again.

        The options are those of OpenCL and of `coopmat compile`. Raises ProgramCompileError if the source or an option
        is wrong, and ProgramBuildError if a device rejects the compiled code.
        """
        options = kept(options)
        source = matrix_source(self, options)
        if source is not None:
            build_matrices(self, source, options, devices)
            return self
        if is_file_name(name := source_of(self)):
            with _errors(()):
                raise UsageError(NAMES_FILE.format(name))
        if self.__dict__.get("_built") is not None:
            self._prg, self._built = None, None
        forget_object(self)
        text = self.__dict__.get("_source")  # None for SPIR-V
        if self._path is not None and text is not None and includes(_text(text)):
            options = _with_directory(options, self._path.parent)
        super().build(options, devices, cache_dir)
        return self

    def compile(
        self, options: Any = None, devices: Sequence[Any] | None = None, headers: Sequence[Any] | None = None
    ) -> Program:
        """Compile the program to an object for `link_program`, and return the program.

        The options are those of build(). `headers` are pairs of a name and a program. Raises the errors of build().
        """
        options = kept(options)
        source = object_source(self, options, headers)
        if source is not None:
            compile_matrices(self, source, options, devices, headers)
        else:
            forget_object(self)
            super().compile(options, devices, headers)
        return self

    # --- after the build

    @property
    def source(self) -> Any:
        is_ours = self._built is not None or "_objects" in self.__dict__
        return _text(self._source) if is_ours else super().source

    def get_build_info(self, device: Any, param_name: Any) -> Any:
        """Answer as pyopencl does, with the options of build() and the warnings of this compiler.

        The warnings precede the driver's log.
        """
        result = super().get_build_info(device, param_name)
        if self.__dict__.get("_built") is None:
            return result
        if param_name == cl.program_build_info.OPTIONS:
            return self._built_options
        if param_name == cl.program_build_info.LOG:
            own = [b.warnings for b in self._built.devices if b.device.handle == device and b.warnings]
            return "\n".join([*own, result])
        return result

    def all_kernels(self) -> Sequence[Any]:
        if self._built is None:
            return list(super().all_kernels())
        if self._built.is_linked:
            own, names = self._built.devices[0].kernels, self.kernel_names.split(";")
            return [self._kernel(name) if name in own else cl.Kernel(self, name) for name in names if name]
        return [self._kernel(name) for name in self._built.devices[0].kernels]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        built = self.__dict__.get("_built")
        if built is None or (built.is_linked and name not in built.devices[0].kernels):
            return super().__getattr__(name)
        if name in built.devices[0].kernels:
            return self._kernel(name)
        raise AttributeError(f"'{name}' is no kernel of this program, which has: {', '.join(built.devices[0].kernels)}")

    def _kernel(self, name: str) -> Kernel:
        """Return a new kernel on each call, as pyopencl does: each object has its own arguments."""
        return Kernel(self, self._built, name)


def source_of(program: Any) -> str | None:
    """Return the text from which a pyopencl program was created; None if it was created from something else."""
    fields = program.__dict__  # pyopencl would search for a missing attribute among the kernels
    source = fields.get("_source")
    return None if source is None or fields.get("_context") is None else _text(source)


def matrix_source(program: Any, options: str | Sequence[str] | None) -> str | None:
    """Return the text of a pyopencl program that uses matrices, also in its includes; None for any other."""
    text = source_of(program)
    if text is None:
        return None
    return text if has_matrices(text, lambda: _all_options(program._context, options), _name(program)) else None


def object_source(
    program: Any, options: str | Sequence[str] | None, headers: Sequence[tuple[str, Any]] | None
) -> str | None:
    """Return the text of a program that this package compiles to an object; None for any other program.

    The text or a header uses matrices or names the extension: a kernel without matrices may call functions that use
    them.
    """
    text = source_of(program)
    texts = (text or "", *(source_of(header) or "" for _, header in headers or ()))
    is_ours = any(COOPERATIVE_MATRIX in item or has_matrices(item, list) for item in texts)
    return text if is_ours else matrix_source(program, options)


@contextmanager
def _errors(words: Sequence[str]) -> Iterator[None]:
    """Raise the compiler's and the driver's errors as errors that are pyopencl's too.

    `words` are the build options, for the text.
    """
    try:
        yield
    except CompileError as error:
        raise ProgramCompileError(error) from None
    except DriverError as error:
        raise ProgramBuildError.of(error, shlex.join(words)) from error.error
    except UsageError as error:
        diagnostic = Diagnostic(Severity.ERROR, "usage", str(error))
        raise ProgramCompileError(CompileError([diagnostic])) from None


def compile_matrices(
    program: Any,
    source: str,
    options: str | Sequence[str] | None,
    devices: Sequence[Any] | None,
    headers: Sequence[tuple[str, Any]] | None,
) -> None:
    """Compile `source` for `devices`, and make the object the result of `program`.

    `program` is a pyopencl.Program with this source. Warnings are issued. Raises ProgramCompileError,
    ProgramBuildError.
    """
    context = program._context
    words = _all_options(context, options)
    texts = [(name, (source_of(header) or "").encode()) for name, header in headers or ()]
    with _errors(words):
        built = linking.compile_objects(context, list(devices or context.devices), source, words, texts, _name(program))
    _tell(built)
    program._prg, program._objects = built.program, built.devices


def forget_object(program: Any) -> None:
    """Remove the object that `compile_matrices` stored in the program, if any."""
    if program.__dict__.pop("_objects", None) is not None:
        program._prg = None


def link_program(
    context: Any,
    programs: Sequence[Any],
    options: str | Sequence[str] | None = None,
    devices: Sequence[Any] | None = None,
) -> Any:
    """Link objects, as pyopencl.link_program does.

    If an object has matrices, the result is a `Program`, whose kernels from such objects are `Kernel`s. Raises
    ProgramCompileError if a kernel does not run in the subgroups of a function that it may call.
    """
    options = kept(options)
    result = _link(context, programs, options, devices)
    known = [program.__dict__.get("_objects") for program in programs]
    if not any(known):
        return result
    others: list[str | None] = []
    for program, objects in zip(programs, known, strict=True):
        others += program.__dict__.get("_others", ()) if objects is not None else [source_of(program)]
    try:
        kernels = [name for name in result.kernel_names.split(";") if name]
    except cl.Error:  # a linked library has no kernels
        kernels = []
    with _errors(()):
        builds = linking.linked((objects for objects in known if objects is not None), others, kernels)
    result.__class__ = Program
    words = shlex.split(options) if isinstance(options, str) else list(options or ())
    result._built, result._built_options, result._path = Built(result._prg, builds, True), shlex.join(words), None
    result._objects, result._others, result._source = builds, others, ""
    BUILT[result._prg.int_ptr] = result
    return result


_link = cl.link_program


def build_matrices(
    program: Any, source: str, options: str | Sequence[str] | None, devices: Sequence[Any] | None
) -> None:
    """Build `source` for `devices`, and turn `program` into a built `Program`.

    `program` is a pyopencl.Program with this source. Warnings are issued. Raises ProgramCompileError,
    ProgramBuildError.
    """
    context = program._context
    words = _all_options(context, options)
    with _errors(words):
        built: Built = build(context, list(devices or context.devices), source, words, name=_name(program))
    _tell(built)
    forget_object(program)
    program.__class__ = _class_with_matrices(type(program))
    program._prg = built.program
    program._built = built
    program._built_options = shlex.join(words)
    program._build_duration_info = None
    BUILT[program._prg.int_ptr] = program


def _tell(built: Built) -> None:
    """Issue the warnings of a build as a ProgramWarning."""
    texts = dict.fromkeys(b.warnings for b in built.devices if b.warnings)
    if texts:
        warn("\n".join(text.rstrip() for text in texts), ProgramWarning)


_classes: dict[type, type] = {cl.Program: Program}


def _class_with_matrices(kind: type) -> type:
    """Return the class for a built program whose class was `kind`.

    A subclass of `Program` is returned unchanged. For a user's subclass of pyopencl.Program, the result also inherits
    from `Program`.
    """
    if issubclass(kind, Program):
        return kind
    if kind not in _classes:
        _classes[kind] = type(kind.__name__, (kind, Program), {"__module__": kind.__module__})
    return _classes[kind]


def kept(options: Any) -> Any:
    """Return build options as a value that can be read more than once."""
    return options if options is None or isinstance(options, (str, Sequence)) else list(options)


def _name(program: Any) -> str:
    """Return the name of the source's file, or `UNNAMED`."""
    path = program.__dict__.get("_path")
    return UNNAMED if path is None else str(path)


def _with_directory(options: str | Sequence[str] | None, directory: Path) -> list[str]:
    """Return the build options with `directory` as a further include directory.

    The path is quoted as pyopencl does.
    """
    words = shlex.split(options) if isinstance(options, str) else list(options or ())
    return [*words, "-I", f'"{directory}"' if " " in str(directory) else str(directory)]


def _text(source: str | bytes) -> str:
    return source.decode(errors="replace") if isinstance(source, bytes) else source


def _all_options(context: Any, options: str | Sequence[str] | None) -> list[str]:
    """Return the build options, with those that pyopencl adds and those of PYOPENCL_BUILD_OPTIONS.

    Raises ProgramCompileError if quotes are not balanced.
    """
    text = options if isinstance(options, str) else " ".join(options or ())
    try:
        data, _ = cl.Program._process_build_options(context, options)
        return shlex.split(data.decode())
    except ValueError as error:
        diagnostic = Diagnostic(Severity.ERROR, "usage", f"build options {text}: {error}")
        raise ProgramCompileError(CompileError([diagnostic])) from None
