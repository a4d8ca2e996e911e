"""Lowering of modules, and their execution on the device; faults of each are reported."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

import coopmat
from coopmat.devices import DeviceInfo, opencl
from coopmat.spirv.module import Module, numbers

from .memory import Buffer

ROUTES = (
    ("one",),
    ("lanes", "--sub-group-size", "8"),
    ("lanes", "--sub-group-size", "16"),
    ("scratch", "--sub-group-size", "4"),
)
_CAPABILITIES = set(
    numbers(
        "Capability.*",
        "CooperativeMatrixKHR CooperativeMatrixGetCoordinateEXT BFloat16TypeKHR BFloat16CooperativeMatrixKHR",
    )
)


@dataclass
class Case:
    """A module with the kernel `kernel`, its arguments, and the features that it was made with."""

    name: str
    spirv: bytes
    buffers: Sequence[Buffer]
    kernel: str = "k"
    features: set[str] = field(default_factory=set)


class Runner:
    def __init__(self, device: DeviceInfo) -> None:
        self.cl = opencl()
        self.context = self.cl.Context([device.handle])
        self.queue = self.cl.CommandQueue(self.context)
        warnings.simplefilter("ignore", self.cl.CompilerWarning)

    def faults(self, case: Case, route: Sequence[str]) -> Iterator[str]:
        """Yield the faults of a module on a route.

        A module must be lowered and valid, have no matrix types left, and compute the expected results.
        """
        module = coopmat.compile(case.spirv, ["-w", "--matrices", *route], language="spv", name=case.name)
        spirv = module.spirv
        yield from leftovers(spirv)
        info = module.kernels[case.kernel]
        size = info.sub_group_size
        if not info.uses_matrices or size is None:
            yield f"the kernel is described as {info}"
            return
        # Intel's optimizer miscompiles negated floats that are read after a barrier: see docs/backend.md.
        options = ["-cl-opt-disable"] if route[0] == "scratch" else []
        program = self.cl.Program(self.context, spirv).build(options, cache_dir=False)
        flags = self.cl.mem_flags.READ_WRITE | self.cl.mem_flags.COPY_HOST_PTR
        buffers = [self.cl.Buffer(self.context, flags, hostbuf=b.before) for b in case.buffers]
        getattr(program, case.kernel)(self.queue, (size,), (size,), *buffers)
        for number, (buffer, array) in enumerate(zip(buffers, case.buffers, strict=True)):
            result = np.empty_like(array.before)
            self.cl.enqueue_copy(self.queue, result, buffer)
            fault = array.fault(result)
            if fault:
                yield f"buffer {number}: {fault}"


def leftovers(spirv: bytes) -> Iterator[str]:
    """Yield the traces of matrices in a module that should have none."""
    for item in Module.parse(spirv).instructions:
        if "CooperativeMatrix" in item.name:
            yield f"{item.name} is left"
        elif item.name == "OpCapability" and item.operands[0] in _CAPABILITIES:
            yield f"capability {item.operands[0]} is left"
        elif item.name == "OpExtension" and b"cooperative_matrix" in b"".join(
            word.to_bytes(4, "little") for word in item.operands
        ):
            yield "the extension is left"
