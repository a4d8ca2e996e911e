"""`coopmat.Program`: pyopencl's Program, for sources with matrices too.

Importing this module imports pyopencl, with the devices of this Python environment in view (`coopmat.devices`).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pyopencl as cl

from coopmat.devices import prepare
from coopmat.diagnostics import CompileError, Diagnostic, Severity
from coopmat.options import UsageError

from .argument_checks import NUMPY, fault
from .device_build import Built, DeviceBuild, DriverError, build, has_matrices
from .launch_rules import LaunchRules
from .program import BuildError

prepare()
_cl = cl._cl


class ProgramCompileError(CompileError, cl.RuntimeError):  # type: ignore[misc]
    """A CompileError that is a failed build of pyopencl's too: `code` is BUILD_PROGRAM_FAILURE."""

    def __init__(self, error: CompileError) -> None:
        CompileError.__init__(self, error.diagnostics, error.sources)
        self._text = str(error)
        self.args = (_record(self._text),)

    def __str__(self) -> str:
        return self._text

    def __reduce__(self) -> Any:
        return CompileError, (self.diagnostics, self.sources)


class ProgramBuildError(BuildError, cl.RuntimeError):  # type: ignore[misc]
    """A BuildError that is a failed build of pyopencl's too."""

    def __init__(self, device: str, options: str, log: str, source_path: str) -> None:
        BuildError.__init__(self, device, options, log, source_path)
        self._text = BuildError.__str__(self)
        self.args = (_record(self._text),)

    def __str__(self) -> str:
        return self._text


class ArgumentError(cl.LogicError, TypeError):  # type: ignore[misc]
    """A call whose arguments do not fit the kernel; str() names the kernel, the argument, what it needs and got."""

    def __init__(self, message: str) -> None:
        super().__init__(_record(message, cl.status_code.INVALID_ARG_VALUE, "clSetKernelArg"))
        self._text = message

    def __str__(self) -> str:
        return self._text


class LaunchError(CompileError, cl.LogicError):  # type: ignore[misc]
    """Sizes that a kernel cannot be launched with, such as ones that make partial subgroups; str() names them."""

    def __init__(self, error: CompileError) -> None:
        CompileError.__init__(self, error.diagnostics, error.sources)
        self._text = str(error)
        self.args = (_record(self._text, cl.status_code.INVALID_WORK_GROUP_SIZE, "clEnqueueNDRangeKernel"),)

    def __str__(self) -> str:
        return self._text


def _record(text: str, code: int | None = None, routine: str = "clBuildProgram") -> Any:
    code = cl.status_code.BUILD_PROGRAM_FAILURE if code is None else code
    return _cl._ErrorRecord(msg=text, code=code, routine=routine)


class Kernel(cl.Kernel):  # type: ignore[misc]
    """A kernel of a source with matrices. Sizes are in work-items.

    Integers and floats are taken as they are for scalar arguments. A launch with no local size gets one of whole
    subgroups. Raises ArgumentError, and LaunchError where the sizes would make partial subgroups.
    """

    def __init__(self, program: Program, name: str) -> None:
        super().__init__(program._get_prg(), name)
        self._builds: dict[int, DeviceBuild] = {b.device.handle.int_ptr: b for b in program._built.devices}
        self._first = program._built.devices[0]
        self._rules: dict[int, LaunchRules] = {}
        self._sizes: dict[Any, tuple[int, ...] | None] = {}
        info = self._first.kernels[name]
        self._info = info
        if not any(p.is_handle for p in info.parameters):
            scalars = [
                NUMPY.get(p.scalar or "") if not p.is_pointer and p.scalar == p.type_name else None
                for p in info.parameters
            ]
            self.set_arg_types(scalars)

    # --- what matrices add

    @property
    def matrix_route(self) -> str:
        """ "native", or the lowering that its matrices have on the (first) device: "one", "lanes", "scratch"."""
        return str(self._first.route)

    def sub_group_size(self, device: Any = None) -> int:
        """The size of its subgroups on a device of the program's, in work-items; of the first, where none is given."""
        return self._rules_of(device).sub_group_size

    def local_size_for_sub_groups(self, count: int, device: Any = None) -> tuple[int]:
        """A local size that makes `count` subgroups in each work-group."""
        if count < 1:
            raise ValueError(f"a work-group has at least one subgroup, not {count}")
        return (count * self.sub_group_size(device),)

    # --- what pyopencl has, checked

    def __call__(
        self,
        queue: Any,
        global_size: Sequence[int],
        local_size: Sequence[int] | None,
        *arguments: Any,
        g_times_l: bool = False,
        **others: Any,
    ) -> Any:
        self._check(arguments)
        sizes = tuple(global_size)
        if local_size is not None and g_times_l:
            padded = (*local_size, *(1 for _ in sizes[len(tuple(local_size)) :]))
            sizes = tuple(g * w for g, w in zip(sizes, padded, strict=False))
        local = self._local_size(queue.device, sizes, local_size)
        return super().__call__(queue, sizes, local, *arguments, **others)

    def set_args(self, *arguments: Any) -> None:
        self._check(arguments)
        super().set_args(*arguments)

    def clone(self) -> Any:
        made = super().clone()
        return made

    def get_arg_info(self, index: int, param_name: Any) -> Any:
        """From the source: drivers know nothing of arguments of SPIR-V or binary programs."""
        names = cl.kernel_arg_info
        if not 0 <= index < len(self._info.parameters):
            return super().get_arg_info(index, param_name)
        p = self._info.parameters[index]
        spaces = cl.kernel_arg_address_qualifier
        if param_name == names.NAME:
            return p.name
        if param_name == names.TYPE_NAME:
            return p.type_name
        if param_name == names.ADDRESS_QUALIFIER:
            return getattr(spaces, p.address_space.upper(), spaces.PRIVATE)
        if param_name == names.ACCESS_QUALIFIER:
            access = cl.kernel_arg_access_qualifier
            return getattr(access, p.access.upper(), access.NONE)
        return super().get_arg_info(index, param_name)

    def _check(self, arguments: Sequence[Any]) -> None:
        message = fault(self._info, arguments)
        if message:
            raise ArgumentError(message)

    def _local_size(
        self, device: Any, global_size: tuple[int, ...], local_size: Sequence[int] | None
    ) -> tuple[int, ...] | None:
        local = None if local_size is None else tuple(local_size)
        key = (device.int_ptr, global_size, local)
        if key not in self._sizes:
            try:
                self._sizes[key] = self._rules_of(device).local_size_for(global_size, local)
            except CompileError as error:
                raise LaunchError(error) from None
        return self._sizes[key]

    def _rules_of(self, device: Any) -> LaunchRules:
        chosen = self._first if device is None else self._builds.get(device.int_ptr, self._first)
        pointer = chosen.device.handle.int_ptr
        if pointer not in self._rules:
            self._rules[pointer] = LaunchRules(chosen.kernels[self._info.name], chosen.device, self)
        return self._rules[pointer]


class Program(cl.Program):  # type: ignore[misc]
    """A drop-in for pyopencl.Program: the same arguments, attributes and errors.

    A source with cooperative matrices is compiled here, for each device by its route (`coopmat devices`), and kept in
    the cache; its kernels are `Kernel`s. Every other program goes to pyopencl as it is.
    """

    def __init__(self, context: Any, source: Any = None, binaries: Any = None) -> None:
        super().__init__(context, source, binaries)
        self._built: Any = None

    def build(
        self,
        options: str | Sequence[str] | None = None,
        devices: Sequence[Any] | None = None,
        cache_dir: str | None = None,
    ) -> Program:
        """Raises ProgramCompileError for the source, ProgramBuildError where a device refuses what it became, and
        UsageError for options. The options are those of OpenCL and of `coopmat compile`."""
        source = self._own_source()
        if source is None or not has_matrices(source, options):
            super().build(options, devices, cache_dir)
            return self
        build_matrices(self, source, options, devices)
        return self

    def compile(
        self, options: Any = None, devices: Sequence[Any] | None = None, headers: Sequence[Any] | None = None
    ) -> Program:
        source = self._own_source()
        if source is not None and has_matrices(source, options):
            text = "programs with matrices are not supported yet by compile() and link: use build()"
            raise ProgramCompileError(CompileError([Diagnostic(Severity.ERROR, "not-supported", text)]))
        super().compile(options, devices, headers)
        return self

    def _own_source(self) -> str | None:
        """The text that it was made from, as long as it is not built."""
        source = getattr(self, "_source", None) if self.__dict__.get("_built") is None else None
        return source.decode(errors="replace") if isinstance(source, bytes) else source

    # --- after the build

    @property
    def source(self) -> Any:
        return self._source if self._built is not None else super().source

    def all_kernels(self) -> Sequence[Any]:
        if self._built is None:
            return list(super().all_kernels())
        return [self._kernel(name) for name in self._built.devices[0].kernels]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        built = self.__dict__.get("_built")
        if built is None:
            return super().__getattr__(name)
        if name in built.devices[0].kernels:
            return self._kernel(name)
        raise AttributeError(f"'{name}' is no kernel of this program, which has: {', '.join(built.devices[0].kernels)}")

    def _kernel(self, name: str) -> Kernel:
        """One of each name for a thread, since arguments are a kernel's state."""
        kernels = self._threads.__dict__.setdefault("kernels", {})
        if name not in kernels:
            kernels[name] = Kernel(self, name)
        return kernels[name]  # type: ignore[no-any-return]


def build_matrices(
    program: Any, source: str, options: str | Sequence[str] | None, devices: Sequence[Any] | None
) -> None:
    """Makes `program`, a pyopencl.Program made from `source`, a built `Program`."""
    context = program._context
    words = _all_options(context, options)
    try:
        built: Built = build(context, list(devices or context.devices), source, words)
    except CompileError as error:
        raise ProgramCompileError(error) from None
    except DriverError as error:
        raise ProgramBuildError(error.device.label, " ".join(words), str(error.error), error.keep()) from error.error
    except UsageError as error:
        found = Diagnostic(Severity.ERROR, "usage", str(error))
        raise ProgramCompileError(CompileError([found])) from None
    texts = dict.fromkeys(b.warnings for b in built.devices if b.warnings)
    if texts:
        cl.compiler_output("\n".join(texts))
    program.__class__ = Program
    program._prg = built.program
    program._built = built
    program._threads = threading.local()
    program._build_duration_info = None


def _all_options(context: Any, options: str | Sequence[str] | None) -> list[str]:
    """With those that pyopencl adds by itself, and by PYOPENCL_BUILD_OPTIONS."""
    import shlex

    data, _ = cl.Program._process_build_options(context, options)
    return shlex.split(data.decode())
