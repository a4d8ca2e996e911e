"""Codes of devices, launches, commands, SPIR-V and LLVM IR: what they mean, and what to do."""

from __future__ import annotations

from dataclasses import dataclass

TITLE = "Devices, launches, commands and other inputs"


@dataclass(frozen=True, slots=True)
class OtherCode:
    """A code that no OpenCL C source alone causes.

    code: the code, as printed in brackets.
    meaning: what the diagnostic reports.
    advice: what to do.
    """

    code: str
    meaning: str
    advice: str


_IR = "For the forms of matrices in LLVM IR that coopmat reads, see [the dialects](dialects.md)."
_SPIRV = (
    "See [what is refused](spirv-input.md#what-is-refused) in SPIR-V modules. If that list does not explain the error,"
    " and `spirv-val` accepts the module, report a bug."
)

OTHERS: tuple[OtherCode, ...] = (
    # LLVM IR.
    OtherCode("ir-syntax", "the text is not LLVM IR that this compiler can read", _IR),
    OtherCode(
        "ir-call", "a call in LLVM IR has other argument types, or another result type, than the called function", _IR
    ),
    OtherCode("ir-matrix-type", "a matrix type in LLVM IR has none of the forms that this compiler knows", _IR),
    OtherCode("ir-metadata", "metadata in LLVM IR has a form that would crash LLVM's SPIR-V backend", _IR),
    OtherCode("ir-operation", "a matrix operation in LLVM IR is unknown, or does not fit its operands", _IR),
    OtherCode("ir-not-supported", "valid LLVM IR uses a feature that this compiler does not support", _IR),
    # SPIR-V.
    OtherCode(
        "spirv-invalid",
        "the module is not valid SPIR-V",
        "Check the module with `spirv-val`, and fix the program that wrote the module.",
    ),
    OtherCode(
        "spirv-not-supported", "a valid SPIR-V module uses a feature that this compiler does not support", _SPIRV
    ),
    OtherCode(
        "spirv-operation",
        "a SPIR-V module uses a matrix in a way that is not allowed, such as a matrix as a kernel's parameter",
        _SPIRV,
    ),
    OtherCode(
        "spirv-tools",
        "no `spirv-val` that supports cooperative matrices was found",
        "Run `coopmat doctor --install spirv-tools`, or set COOPMAT_SPIRV_TOOLS to the directory of such a program.",
    ),
    # Devices.
    OtherCode(
        "no-device",
        "no OpenCL or Vulkan device was found",
        "`coopmat doctor` lists the components that are missing, and the commands that install them.",
    ),
    OtherCode(
        "unknown-device",
        "the given name fits no device, or fits several devices",
        "`coopmat devices` lists the names of all devices.",
    ),
    OtherCode(
        "dead-device",
        "the driver of the device cannot build even an empty kernel",
        "`coopmat devices` shows the reason. Choose another device with `--device`.",
    ),
    OtherCode(
        "device-build",
        "the compiler in the device's driver rejects the program",
        "The message has the driver's log and the path of the saved source. Try another route (`--matrices`).",
    ),
    OtherCode(
        "device-info",
        "a file with device properties (`--device-info`) has an invalid line or value",
        "Correct the line or the value that the message names. Each line must have the form KEY=VALUE.",
    ),
    OtherCode(
        "closed",
        "a Vulkan device or a launch is used after it was closed",
        "Open the device or create the launch again.",
    ),
    OtherCode(
        "forked",
        "a process uses a Vulkan device that was opened before the process was forked",
        "Start processes with the method `spawn` of Python's module multiprocessing.",
    ),
    OtherCode(
        "spirv",
        "the bytes that were passed to a Vulkan device as a module are not SPIR-V",
        "Pass the output of `--emit spv`.",
    ),
    OtherCode(
        "vulkan-device",
        "a Vulkan device lacks a feature, an extension or a matrix type that the module requires",
        "Choose another route or device.",
    ),
    OtherCode(
        "no-route",
        "the selected route (`--matrices`) cannot be used on the selected device",
        "`coopmat devices` lists the route that fits each device.",
    ),
    # Launches.
    OtherCode(
        "run-header",
        "a run header, which states how `coopmat run` launches a kernel, is invalid",
        "For the syntax of the header, see [the run header](run.md).",
    ),
    OtherCode(
        "check-failed",
        "a result of a kernel differs from the expected result",
        "The notes below the message show the first wrong element, and a map of all wrong elements.",
    ),
    OtherCode(
        "npy-file",
        "a file from which `coopmat run` reads an array does not have numpy's format `.npy`",
        "Write the file with `numpy.save`.",
    ),
    OtherCode(
        "unknown-kernel",
        "the program has no kernel with the given name",
        "The message lists the kernels of the program.",
    ),
    OtherCode(
        "partial-subgroup",
        "the launch would have a work-group whose last subgroup is incomplete",
        "Make the local size a multiple of the subgroup size, and the global size a multiple of the local size.",
    ),
    OtherCode(
        "partial-work-group",
        "the global size is not a multiple of the local size, so the last work-group would be incomplete",
        "Make the global size a multiple of the local size.",
    ),
    OtherCode(
        "argument",
        "an argument of a launch does not fit the corresponding parameter of the kernel",
        "The message names the argument and the parameter.",
    ),
    OtherCode(
        "alignment",
        "the address of an array, or the stride of a matrix, is not a multiple of the number that the kernel requires",
        "The message states the number. Pass an array whose address is a multiple of it, or a stride that is.",
    ),
    OtherCode(
        "crash",
        "the process that compiled or ran the kernel ended unexpectedly, for example by a signal",
        "If the kernel was running, the notes below the message state its sizes and arguments, and the likely cause. "
        "The tool Oclgrind can check the kernel's memory accesses.",
    ),
    OtherCode(
        "timeout", "`coopmat run` took longer than `--timeout` allows", "Look for an endless loop, or raise the limit."
    ),
    # Commands.
    OtherCode(
        "usage",
        "the command line is wrong",
        "To list the options of a command, add `--help`, for example `coopmat run --help`.",
    ),
    OtherCode("file", "a file cannot be read or written", "Check the path and its permissions."),
    OtherCode(
        "no-such-stage",
        "the requested output or stage of the compilation does not exist for this kind of input",
        "`coopmat compile --help` lists the outputs (`--emit`) and the stages.",
    ),
    OtherCode(
        "layer-compiler",
        "the C library of coopmat's OpenCL layer cannot be compiled on this machine",
        "Install a C compiler, or install coopmat with its extra `layer` (`pip install coopmat[layer]`).",
    ),
    OtherCode(
        "internal-error",
        "the compiler has a bug",
        "Report the bug with the source, the command line and the text of the message.",
    ),
)
