"""Kernels of programs with matrices: pyopencl kernels whose launches are checked."""

from __future__ import annotations

import operator
import re
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pyopencl as cl

from coopmat.diagnostics import CompileError

from .argument_checks import Misfit, fitted, fitted_one, place
from .cl_errors import ArgumentError, LaunchError, record
from .device_build import Built, DeviceBuild
from .launch_rules import LaunchRules, launch_error
from .sub_group_info import SubGroups, answer, emulated

if TYPE_CHECKING:
    from coopmat.frontend.kernel_info import KernelInfo

# The number of checked launch sizes that a kernel caches.
_MOST_SIZES = 1000
# cl_program as an integer -> the existing `Program` that was built from a source with matrices.
BUILT: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
_NO_SLOTS: tuple[str, ...] = ()


class Kernel(cl.Kernel):  # type: ignore[misc]
    """A pyopencl kernel of a source with matrices.

    Sizes are in work-items. Scalar arguments may be Python's integers and floats. A launch without a local size gets
    one of whole subgroups.

    Raises ArgumentError, LaunchError if the sizes would make partial subgroups, and pyopencl's errors. All name the
    kernel and the sizes or the argument.
    """

    __slots__ = _NO_SLOTS  # so that this class can be assigned to a clone that pyopencl creates

    _program: Any
    _builds: dict[int, DeviceBuild]
    _first: DeviceBuild
    _info: KernelInfo
    _rules: dict[int, LaunchRules]
    _sizes: dict[Any, tuple[int, ...] | None]
    _types: tuple[Any, ...] | None

    def __init__(self, program: Any, built: Built, name: str) -> None:
        super().__init__(program, name)
        self._set_up(program._get_prg(), built.devices, name)

    def _set_up(self, program: Any, builds: Sequence[DeviceBuild], name: str) -> None:
        """Set the fields that this class adds to pyopencl's kernel."""
        self._program = program  # some drivers release a program that still has kernels
        self._builds = {b.device.handle.int_ptr: b for b in builds}
        self._first = builds[0]
        self._info = self._first.kernels[name]
        self._rules, self._sizes, self._types = {}, {}, None

    @classmethod
    def from_int_ptr(cls, int_ptr_value: int, retain: bool = True) -> Any:
        """Return the kernel with the handle `int_ptr_value`, a cl_kernel as an integer.

        If a `Program` that exists built its program, the result is a `Kernel`; otherwise, it is pyopencl's.
        """
        kernel = cl.Kernel.from_int_ptr(int_ptr_value, retain)
        program = BUILT.get(kernel.get_info(cl.kernel_info.PROGRAM).int_ptr)
        if program is not None:
            kernel.__class__ = Kernel
            kernel._set_up(program._get_prg(), program._built.devices, kernel.function_name)
        return kernel

    def __repr__(self) -> str:
        parameters = ", ".join(f"{p.type_name} {p.name}" for p in self._info.parameters)
        devices = ", ".join(f"{b.device.label} ({b.route})" for b in self._builds.values())
        return f"<coopmat Kernel {self._info.name}({parameters}) for {devices}>"

    # --- additions to pyopencl's class

    @property
    def matrix_route(self) -> str:
        """The route of the kernel's matrices on the first device: "native", or a route such as "one" or "lanes"."""
        return str(self._first.route)

    def sub_group_size(self, device: Any = None) -> int:
        """Return the size of the kernel's subgroups on a device of the program, in work-items.

        Without a device, return the size on the first device.
        """
        return self._rules_of(device).sub_group_size

    def local_size_for_sub_groups(self, count: int, device: Any = None) -> tuple[int]:
        """Return a local size that makes `count` subgroups in each work-group.

        Raises ValueError if no work-group of the kernel has this number, and TypeError if `count` is no integer.
        """
        groups = self._sub_groups(device or self._first.device.handle)
        size = groups.local_size(operator.index(count))[0]
        if size:
            return (size,)
        if groups.required:
            possible = f"the local size {groups.required}"
        else:
            possible = f"1 to {groups.most // groups.size} subgroups" if groups.size else "subgroups of an unknown size"
        raise ValueError(f"a work-group of kernel '{self._info.name}' has {possible}, not {count} subgroups")

    # --- pyopencl's methods, with checks

    def __call__(
        self,
        queue: Any,
        global_size: Sequence[int],
        local_size: Sequence[int] | None,
        *arguments: Any,
        g_times_l: bool = False,
        **others: Any,
    ) -> Any:
        try:
            values = self._fitted(arguments)
        except Misfit as misfit:
            raise ArgumentError(str(misfit)) from None
        sizes = self._whole("global", global_size, 0)
        local = None if local_size is None else self._whole("local", local_size, 1)
        if local is not None and g_times_l:
            most = max(len(sizes), len(local))
            sizes, local = ((*s, *(1 for _ in range(most - len(s)))) for s in (sizes, local))
            sizes = tuple(g * w for g, w in zip(sizes, local, strict=True))
        local = self._local_size(queue.device, sizes, local)
        try:
            return super().__call__(queue, sizes, local, *values, **others)
        except (cl.Error, RuntimeError) as error:
            at = f"global size {sizes}, local size {local}"
            raise self._named(error, at, queue.device) from error

    def set_args(self, *arguments: Any) -> None:
        with self._errors():
            super().set_args(*self._fitted(arguments))

    def set_arg(self, index: int, value: Any) -> None:
        with self._errors(f"argument {index + 1}"):
            super().set_arg(index, fitted_one(self._info, index, value))

    def set_arg_types(self, arg_types: Sequence[Any]) -> None:
        """Set the types of the arguments, as pyopencl does.

        An argument with such a type may be a number of any numpy type.
        """
        types = tuple(arg_types)
        super().set_arg_types(types)
        self._types = types

    set_scalar_arg_dtypes = set_arg_types

    def clone(self) -> Kernel:
        """Return a copy of the kernel with the same arguments set."""
        copy = super().clone()
        copy.__class__ = Kernel
        copy._set_up(self._program, tuple(self._builds.values()), self._info.name)
        if self._types is not None:
            copy.set_arg_types(self._types)
        return copy  # type: ignore[no-any-return]

    def get_arg_info(self, index: int, param_name: Any) -> Any:
        """Answer from the source, because drivers do not know the arguments of SPIR-V or binary programs."""
        names = cl.kernel_arg_info
        if not 0 <= index < len(self._info.parameters):
            return super().get_arg_info(index, param_name)
        p = self._info.parameters[index]
        spaces, access = cl.kernel_arg_address_qualifier, cl.kernel_arg_access_qualifier
        answers = {
            names.NAME: p.name,
            names.TYPE_NAME: p.type_name,
            names.ADDRESS_QUALIFIER: getattr(spaces, p.address_space.upper(), spaces.PRIVATE),
            names.ACCESS_QUALIFIER: getattr(access, p.access.upper(), access.NONE),
        }
        return answers[param_name] if param_name in answers else super().get_arg_info(index, param_name)

    def get_sub_group_info(self, device: Any, param: int, input_value: Any = None) -> Any:
        """Answer for the subgroups of the kernel's route.

        On `one`, a subgroup is one work-item; on `scratch`, it consists of several work-items. On other routes,
        subgroups are the device's. A local size for a number of subgroups has three dimensions, which are 0 if the
        number is not possible.
        """
        build = self._builds.get(device.int_ptr, self._first)
        of_route = emulated(build.route, build.kernels[self._info.name].sub_group_size)
        tell = answer(param, of_route)
        if tell is None:
            return super().get_sub_group_info(device, param, input_value)
        return tell(self._sub_groups(device), input_value)

    def _sub_groups(self, device: Any) -> SubGroups:
        rules = self._rules_of(device)
        most = self.get_work_group_info(cl.kernel_work_group_info.WORK_GROUP_SIZE, device)
        room = rules.info.max_work_items
        return SubGroups(
            rules.sub_group_size, most if room is None else min(most, room), rules.info.reqd_work_group_size
        )

    def _fitted(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Return the arguments, converted for pyopencl. Raises Misfit."""
        types = self._types or ()
        if any(t is not None and not _is_number(t) for t in types):
            return arguments  # pyopencl's own types, such as VectorArg, may expand to two arguments
        return fitted(self._info, arguments, [t is not None for t in types])

    @contextmanager
    def _errors(self, at: str = "", device: Any = None) -> Iterator[None]:
        """Raise a Misfit as an ArgumentError, and pyopencl's errors with the kernel and `at` in their text."""
        try:
            yield
        except Misfit as misfit:
            raise ArgumentError(str(misfit)) from None
        except (cl.Error, RuntimeError) as error:
            raise self._named(error, at, device) from error

    def _whole(self, which: str, sizes: Sequence[int], least: int) -> tuple[int, ...]:
        """Return sizes as one to three integers from `least`. Raises LaunchError for any other sizes."""
        try:
            result = tuple(map(operator.index, sizes))
        except TypeError:
            result = ()
        if not 1 <= len(result) <= 3 or min(result) < least:
            text = f"{which} size {sizes} for kernel '{self._info.name}': needs one to three integers from {least}"
            raise LaunchError(launch_error(text))
        return result

    def _local_size(
        self, device: Any, global_size: tuple[int, ...], local_size: tuple[int, ...] | None
    ) -> tuple[int, ...] | None:
        """Return the checked local size of a launch, from the cache if possible. Raises LaunchError."""
        key = (device.int_ptr, global_size, local_size)
        if key not in self._sizes:
            if len(self._sizes) >= _MOST_SIZES:
                self._sizes.clear()
            try:
                local = self._rules_of(device).local_size_for(global_size, local_size)
            except CompileError as error:
                raise LaunchError(error) from None
            self._sizes[key] = local
            return local
        return self._sizes[key]

    def _rules_of(self, device: Any) -> LaunchRules:
        """Return the launch rules on a device, or on the first device if `device` is None."""
        device_build = self._first if device is None else self._builds.get(device.int_ptr, self._first)
        pointer = device_build.device.handle.int_ptr
        if pointer not in self._rules:
            self._rules[pointer] = LaunchRules(device_build.kernels[self._info.name], device_build.device, self)
        return self._rules[pointer]

    def _named(self, error: Exception, at: str = "", device: Any = None) -> Exception:
        """Return pyopencl's error with the kernel and `at` in its text, and a hint if the device has a limit.

        An error that concerns an argument becomes an ArgumentError.
        """
        message = str(error)
        number = re.search(r"arg#(\d+)", message)
        if number and int(number[1]) <= len(self._info.parameters):
            return ArgumentError(f"{place(self._info, int(number[1]) - 1)}: {message}")
        text = f"kernel '{self._info.name}'" + (f", {at}" if at else "")
        if not isinstance(error, cl.Error):
            return type(error)(f"{text}: {message}")
        hint = _HINTS.get(error.code)
        parts = [text, error.what.what(), hint(self, device) if hint is not None and device is not None else ""]
        kind: type[Exception] = type(error)
        return kind(record(": ".join(filter(None, parts)), error.code, error.routine))


def _is_number(arg_type: Any) -> bool:
    """Return whether an argument type is that of a number.

    Types of pyopencl, such as VectorArg, have a dtype too.
    """
    return isinstance(arg_type, (type, str, np.dtype)) and np.dtype(arg_type).kind in "iufb"


def _group_hint(kernel: Kernel, device: Any) -> str:
    most = kernel.get_work_group_info(cl.kernel_work_group_info.WORK_GROUP_SIZE, device)
    return f"its work-groups have up to {most} work-items on this device, and must divide the global size"


def _item_hint(kernel: Kernel, device: Any) -> str:
    return f"the device takes work-groups of up to {tuple(device.max_work_item_sizes)} work-items"


def _memory_hint(kernel: Kernel, device: Any) -> str:
    local = kernel.get_work_group_info(cl.kernel_work_group_info.LOCAL_MEM_SIZE, device)
    return (
        f"the kernel needs {local} of {device.local_mem_size} bytes of local memory; the device has "
        f"{device.global_mem_size} bytes of memory, and buffers of up to {device.max_mem_alloc_size}"
    )


# Status of a launch -> function that describes the device's limit.
_HINTS: dict[int, Callable[[Kernel, Any], str]] = {
    cl.status_code.INVALID_WORK_GROUP_SIZE: _group_hint,
    cl.status_code.INVALID_WORK_ITEM_SIZE: _item_hint,
    cl.status_code.OUT_OF_RESOURCES: _memory_hint,
    cl.status_code.OUT_OF_HOST_MEMORY: _memory_hint,
    cl.status_code.MEM_OBJECT_ALLOCATION_FAILURE: _memory_hint,
}
