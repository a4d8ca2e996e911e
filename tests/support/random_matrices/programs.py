"""Programs of several random kernels, their execution and comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from differential import Launch, Value, difference, execute

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.options import CompileOptions
from coopmat.runtime import resolve_options

from .kernels import Argument, Features, Kernel
from .meaning import Array

SMALL = Features()
OFF = "#pragma OPENCL FP_CONTRACT OFF\n"


@dataclass(frozen=True)
class Program:
    kernels: Sequence[Kernel]
    text: str

    def launches(self) -> list[Launch]:
        return [Launch(kernel.name, [_host(a) for a in kernel.arguments]) for kernel in self.kernels]

    def differences(self, found: Sequence[dict[int, Array]]) -> list[str]:
        """Describe the differences between the kernels' buffers and numpy's results."""
        wrong = []
        for kernel, buffers in zip(self.kernels, found, strict=True):
            for number, argument in enumerate(kernel.arguments):
                if argument.memory is not None:
                    known = argument.memory.known
                    text = difference(buffers[number][known], argument.memory.data[known])
                    wrong += [f"{kernel.name}, {argument.declaration}: {text}"] if text else []
        return wrong


def _host(argument: Argument) -> Array | Value:
    if argument.memory is None:
        return Value(np.array(argument.number, np.int32))
    return argument.memory.start.copy()


def program(randoms: Sequence[Random], features: Features = SMALL) -> Program:
    functions: dict[str, str] = {}
    kernels = [Kernel(random, f"k{number}", features, functions) for number, random in enumerate(randoms)]
    kinds = dict.fromkeys(kind for kernel in kernels for kind in kernel.kinds)
    parts = [OFF, *(kind.typedef for kind in kinds), *functions.values(), *(kernel.text for kernel in kernels)]
    return Program(kernels, "\n".join(parts) + "\n")


def by_spirv(device: DeviceInfo, made: Program, *options: str) -> list[str]:
    module = coopmat.compile(made.text, ["--no-validate", *options], name="matrices.cl")
    return made.differences(execute(device, module.spirv, made.launches()))


def by_opencl_c(device: DeviceInfo, made: Program, *options: str) -> list[str]:
    wanted = CompileOptions.from_arguments(["--code", "c", "--matrices", "auto", "-cl-std=CL1.2", *options])
    module = coopmat.compile(made.text, resolve_options(wanted, device), name="matrices.cl")
    return made.differences(execute(device, module.opencl_c, made.launches(), module.opencl_c_options))


def by_llvm_ir(device: DeviceInfo, made: Program, *options: str) -> list[str]:
    """Run the program by way of LLVM IR with vectors and llvm.matrix.* intrinsics."""
    text = coopmat.compile(made.text, ["--dialect", "llvm", *options], name="matrices.cl").llvm_ir
    module = coopmat.compile(text, ["--no-validate", *options], name="matrices.ll", language="ir")
    return made.differences(execute(device, module.spirv, made.launches()))


ROUTES = {"SPIR-V": by_spirv, "OpenCL C": by_opencl_c, "LLVM IR": by_llvm_ir}
