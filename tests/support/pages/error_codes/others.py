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


_IR = "Compare the module with [the dialects](dialects.md) that are read, and with what your compiler wrote."
_SPIRV = (
    "See [what is refused](spirv-input.md#what-is-refused). If `spirv-val` accepts the module and the page does not"
    " list its operation, report a bug."
)

OTHERS: tuple[OtherCode, ...] = (
    # LLVM IR.
    OtherCode("ir-syntax", "the text is no LLVM IR that this compiler reads", _IR),
    OtherCode("ir-call", "a call of a matrix function has wrong arguments", _IR),
    OtherCode("ir-matrix-type", "a matrix type in LLVM IR has an unknown form", _IR),
    OtherCode("ir-metadata", "metadata that describe a matrix are wrong or missing", _IR),
    OtherCode("ir-operation", "a matrix operation in LLVM IR is unknown, or used in a wrong way", _IR),
    OtherCode("ir-not-supported", "valid LLVM IR uses matrices in a way that is not supported", _IR),
    # SPIR-V.
    OtherCode("spirv-invalid", "the module is not valid SPIR-V", "Check it with `spirv-val`, and repair its producer."),
    OtherCode("spirv-not-supported", "valid SPIR-V needs something that is not supported", _SPIRV),
    OtherCode("spirv-operation", "an operation on matrices in SPIR-V cannot be lowered", _SPIRV),
    OtherCode(
        "spirv-tools",
        "no spirv-val was found that knows cooperative matrices",
        "Run `coopmat doctor --install spirv-tools`, or set COOPMAT_SPIRV_TOOLS to the directory of one.",
    ),
    # Devices.
    OtherCode(
        "no-device", "there is no device", "`coopmat doctor` lists what is missing, and the commands that install it."
    ),
    OtherCode("unknown-device", "no device has this name", "`coopmat devices` lists the names."),
    OtherCode(
        "dead-device",
        "the device does not build an empty kernel",
        "`coopmat devices` shows the reason. Choose another device with `--device`.",
    ),
    OtherCode(
        "device-build",
        "the device's own compiler refuses the program",
        "The message has the compiler's log and the path of the kept source. Try another route (`--matrices`).",
    ),
    OtherCode("device-info", "a file of device facts has a wrong line", "Write a line as KEY=VALUE."),
    OtherCode("closed", "the Vulkan device or the launch was closed before", "Open it anew."),
    OtherCode(
        "forked",
        "a process uses a Vulkan device that was opened before the process was forked",
        "Start processes by multiprocessing's method `spawn`.",
    ),
    OtherCode("spirv", "the bytes for a Vulkan device are no SPIR-V module", "Pass what `--emit spv` writes."),
    OtherCode("vulkan-device", "a Vulkan device lacks what the module requires", "Choose another route or device."),
    OtherCode(
        "no-route", "the route cannot be used on this device", "`coopmat devices` lists the route of each device."
    ),
    # Launches.
    OtherCode("run-header", "a run header is wrong", "Compare the line with [the run header](run.md)."),
    OtherCode("check-failed", "a result differs from the expected one", "Read the first wrong element and the map."),
    OtherCode("npy-file", "a file is no array of numpy, or has another shape or type", "Write it with `numpy.save`."),
    OtherCode("unknown-kernel", "the program has no kernel of this name", "The message lists the kernels."),
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
    OtherCode("argument", "an argument of a launch does not fit the kernel's parameter", "The message names both."),
    OtherCode(
        "alignment",
        "an array starts at an address that the kernel cannot use",
        "Pass an array whose first element is aligned as the message says.",
    ),
    OtherCode(
        "crash",
        "the process that ran the kernel ended by a signal",
        "The notes have the sizes, the arguments and the likely cause. Check the kernel's accesses with Oclgrind.",
    ),
    OtherCode(
        "timeout", "the kernel ran longer than `--timeout`", "Look for a loop without an end, or raise the limit."
    ),
    # Commands.
    OtherCode("usage", "the command line is wrong", "`--help` after a command lists its options."),
    OtherCode("file", "a file cannot be read or written", "Check the path and its permissions."),
    OtherCode("no-such-stage", "the input has no such stage", "`coopmat compile --help` lists the stages."),
    OtherCode(
        "layer-compiler", "the layer's library cannot be compiled", "Install a C compiler, or the extra `layer`."
    ),
    OtherCode(
        "internal-error",
        "the compiler has a fault",
        "Report it with the source, the command line and the text of the message.",
    ),
)
