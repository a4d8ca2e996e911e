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


_IR = "Compare the module with [the dialects](dialects.md) of LLVM IR that coopmat reads."
_SPIRV = (
    "See [what is refused](spirv-input.md#what-is-refused). If `spirv-val` accepts the module, and that page does not"
    " list the operation, report a bug."
)

OTHERS: tuple[OtherCode, ...] = (
    # LLVM IR.
    OtherCode("ir-syntax", "the text is not LLVM IR that this compiler can read", _IR),
    OtherCode(
        "ir-call", "a call in LLVM IR has other argument types, or another result type, than the called function", _IR
    ),
    OtherCode("ir-matrix-type", "a matrix type in LLVM IR has an unknown form", _IR),
    OtherCode("ir-metadata", "metadata in LLVM IR have a form that would crash LLVM's SPIR-V backend", _IR),
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
    OtherCode("spirv-operation", "this compiler cannot lower an operation on matrices in a SPIR-V module", _SPIRV),
    OtherCode(
        "spirv-tools",
        "no `spirv-val` that supports cooperative matrices was found",
        "Run `coopmat doctor --install spirv-tools`, or set COOPMAT_SPIRV_TOOLS to a directory with such a program.",
    ),
    # Devices.
    OtherCode(
        "no-device",
        "no device was found",
        "`coopmat doctor` lists the missing components, and the commands that install them.",
    ),
    OtherCode("unknown-device", "no device has this name", "`coopmat devices` lists the names."),
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
        "a file with device properties (`--device-info`) has an invalid line",
        "Write each line as KEY=VALUE.",
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
        "the selected route cannot be used on the selected device",
        "`coopmat devices` lists the route of each device.",
    ),
    # Launches.
    OtherCode(
        "run-header",
        "a run header, which states how `coopmat run` launches a kernel, is invalid",
        "Compare the line with [the run header](run.md).",
    ),
    OtherCode(
        "check-failed",
        "a result of a kernel differs from the expected result",
        "The notes show the first wrong element, and a map of the wrong elements.",
    ),
    OtherCode(
        "npy-file",
        "a file from which `coopmat run` reads an array does not have numpy's format `.npy`",
        "Write the file with `numpy.save`.",
    ),
    OtherCode("unknown-kernel", "the program has no kernel with the given name", "The message lists the kernels."),
    OtherCode(
        "partial-subgroup",
        "the work-group size leaves a subgroup incomplete",
        "Make the local size a multiple of the subgroup size.",
    ),
    OtherCode(
        "partial-work-group",
        "the global size leaves a work-group incomplete",
        "Make the global size a multiple of the local size.",
    ),
    OtherCode(
        "argument",
        "an argument of a launch does not fit the kernel's parameter",
        "The message names the argument and the parameter.",
    ),
    OtherCode(
        "alignment",
        "an array's address, or a stride of matrices, is not the multiple that the kernel requires",
        "The message states the required multiple. Pass an array at such an address, or such a stride.",
    ),
    OtherCode(
        "crash",
        "a signal ended the process that ran the kernel",
        "The notes have the sizes, the arguments and the likely cause. Check the kernel's accesses with Oclgrind.",
    ),
    OtherCode("timeout", "the kernel ran longer than `--timeout`", "Look for an endless loop, or raise the limit."),
    # Commands.
    OtherCode(
        "usage",
        "the command line is wrong",
        "If you add `--help` after a command, coopmat lists the options of the command.",
    ),
    OtherCode("file", "a file cannot be read or written", "Check the path and its permissions."),
    OtherCode(
        "no-such-stage",
        "the requested stage of the compilation does not exist for this input",
        "`coopmat compile --help` lists the stages.",
    ),
    OtherCode(
        "layer-compiler",
        "the library of the OpenCL layer cannot be compiled on this machine",
        "Install a C compiler, or install coopmat with the extra `layer`.",
    ),
    OtherCode(
        "internal-error",
        "the compiler has a bug",
        "Report it with the source, the command line and the text of the message.",
    ),
)
