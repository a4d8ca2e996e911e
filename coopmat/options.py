"""The compiler's options, spelled as in clang and OpenCL."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from . import budgets
from .features import LANGUAGE_VERSIONS, Features
from .matrices.routes import OPENCL_C_ONLY, ROUTES
from .native_profiles import KHR, NATIVE_PROFILES, VULKAN, NativeProfile
from .reporting import ShortTraceback

SPIRV_VERSIONS = ("1.2", "1.3", "1.4", "1.5", "1.6")
VULKAN_ENVIRONMENTS = ("vulkan1.3", "vulkan1.4")
CL_STANDARDS = tuple(LANGUAGE_VERSIONS)
FP_CONTRACT = ("on", "off", "matrix")
MATRIX_LAYOUTS = ("column-major", "row-major")
MATRICES = (*ROUTES, "auto")
DIALECTS = ("khr", "rfc", "clang", "intel", "intel-opaque", "intel-spirv", "llvm")
CODES = ("auto", "spirv", "c")
# Values of -Rpass: `matrix` reports how each multiply-add of cooperative matrices is compiled.
REMARKS = ("matrix",)
# The value of `CompileOptions.code` for a route whose functions only OpenCL C can express, on a device that also takes
# SPIR-V. The module imports the functions of the route's prelude, and the device links both.
LINKED = "linked"


class UsageError(ShortTraceback):
    """An exception that reports an unknown option, or an invalid value of an option."""


class UnknownOption(UsageError):
    """An exception that reports an unknown option.

    argument: the unknown option.
    others: further valid options, besides those of this compiler.

    str() suggests the valid option that is spelled most similarly.
    """

    def __init__(self, argument: str, others: Sequence[str] = ()) -> None:
        self.argument, self.others = argument, tuple(others)
        spellings = [*(flag.spelling.rstrip("=") for flag in FLAGS), *others]
        near = difflib.get_close_matches(argument.partition("=")[0], spellings, n=1, cutoff=0.75)
        super().__init__(f"unknown option '{argument}'" + "".join(f"; did you mean '{name}'?" for name in near))

    def __reduce__(self) -> tuple[type[UnknownOption], tuple[str, tuple[str, ...]]]:
        return type(self), (self.argument, self.others)


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """The options of a compilation.

    defines: (name, replacement) pairs of -D.
    undefines: names of -U.
    include_dirs, system_dirs, includes: values of -I, -isystem and -include.
    cl_std: the language version, as in -cl-std=.
    extensions: names in -cl-ext -> whether they are enabled.
    fast_relaxed_math: whether -cl-fast-relaxed-math is given.
    float_flags: fast-math flags of LLVM.
    single_precision_constant: whether -cl-single-precision-constant is given.
    level: the optimisation level of lowered modules, 0 to 3.
    matrices: the route, "native" or "auto".
    sub_group_size: the subgroup size for `lanes` and `scratch`. None: the kernel's, or else `usual_sub_group_size`.
    variants: the names of the multiply-adds that the device has. None: unknown.
    pointer_alignment, stride_multiple: the device's requirements on native matrices in memory, in bytes. None: no
        requirement.
    device: the name of the device, for messages.
    dialect: the dialect of the LLVM IR output, one of `DIALECTS`.
    spirv_version: the version of the emitted SPIR-V.
    target_env: the environment for which spirv-val checks the module; for Vulkan, also the form of the module. None:
        that of `spirv_version`.
    validate: whether spirv-val checks the module. None: a module with native matrices must be valid, and any other is
        validated if spirv-val is available. Input in SPIR-V is validated unless the value is False.
    no_warnings: whether all warnings are off (-w).
    warnings: the values of the -W options in order, such as `all`, `no-shadow`, `error=shadow`, `error`.
    error_limit: the number of errors after which a compilation stops; 0 for no limit.
    debug: whether debug information is requested (-g); it is not supported yet, and a warning says so.
    code: the form of the program for the device. "auto": SPIR-V, unless the device's route requires OpenCL C.
    hints: options for the device's own compiler.
    remarks: one of `REMARKS`, or empty.
    widest: the largest number of components of a vector in the library, in OpenCL C for the device's own compiler.
    packed_members: whether vectors are accessed as members of packed records, in such OpenCL C.
    fma: whether the device has the builtin fma (`Tuning`).
    guarded_loads: whether the device omits loads whose condition is false (`Tuning`).
    usual_sub_group_size: the subgroup size, in work-items, of kernels that do not name a size.
    instructions: the products for which the device has instructions. None: all products of the route.
    unit: the route for sources with such a product, if `matrices` is the faster route for all other sources.
    fp_contract: "on" or "off" where no pragma decides. "matrix": as "on", and in matrix expressions regardless of
        pragmas.
    matrix_layout: the layout of matrix types without a clause, and of flat vectors in LLVM IR.
    wrap: whether overflow of signed integers wraps.
    matrix_registers: the size in bits and the number of the vector registers, for the cost model of matrix types. None:
        the defaults of that model.
    native_profile: the consumer of native modules. None: the device's, or khr if no device is known.
    verify_passes: whether the typed AST is checked after each pass.
    budgets: names of `coopmat.budgets` with their limits.
    separate: whether the program will be linked with others, which may define the functions that it declares.
    """

    defines: tuple[tuple[str, str], ...] = ()
    undefines: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    system_dirs: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    cl_std: str = "CL3.0"
    extensions: Mapping[str, bool] = field(default_factory=dict)
    fast_relaxed_math: bool = False
    float_flags: tuple[str, ...] = ()
    single_precision_constant: bool = False
    level: int = 1
    matrices: str = "native"
    sub_group_size: int | None = None
    variants: tuple[str, ...] | None = None
    pointer_alignment: int | None = None
    stride_multiple: int | None = None
    device: str = ""
    dialect: str = "khr"
    spirv_version: str = "1.4"
    target_env: str | None = None
    validate: bool | None = None
    no_warnings: bool = False
    warnings: tuple[str, ...] = ()
    error_limit: int = 20
    debug: bool = False
    code: str = "auto"
    hints: tuple[str, ...] = ()
    remarks: str = ""
    widest: int = 16
    packed_members: bool = True
    fma: bool = True
    guarded_loads: bool = True
    usual_sub_group_size: int = 16
    instructions: tuple[str, ...] | None = None
    unit: str = ""
    fp_contract: str = "on"
    matrix_layout: str = "column-major"
    wrap: bool = False
    matrix_registers: tuple[int, int] | None = None
    native_profile: str | None = None
    verify_passes: bool = False
    budgets: tuple[tuple[str, int], ...] = ()
    separate: bool = False

    @classmethod
    def from_arguments(cls, arguments: Sequence[str], unknown: list[str] | None = None) -> CompileOptions:
        """Parse the arguments of a command line or an OpenCL build string.

        If `unknown` is given, unknown arguments are appended to the list, because the device's compiler may know them.
        An argument that begins with `--` or `-f` is never such an option. Raises UsageError.
        """
        result = cls()
        rest = list(arguments)
        while rest:
            argument = rest.pop(0)
            try:
                flag, value = _match(argument, rest)
            except UnknownOption:
                # No device's compiler has clang's options that begin with -f.
                if unknown is None or argument.startswith(("--", "-f")):
                    raise
                unknown.append(argument)
                continue
            result = replace(result, **flag.apply(result, value))
        return result

    @property
    def form(self) -> str:
        """The form of the program for a device: "spirv" or "c"."""
        return "c" if self.code == "c" or (self.code == "auto" and self.matrices in OPENCL_C_ONLY) else "spirv"

    @property
    def build_options(self) -> tuple[str, ...]:
        """The options for a device's own compiler, besides the language version."""
        flags = set(self.float_flags)
        words = [option for option, needed in _RELAXATIONS.items() if needed <= flags]
        if "fast" in flags:
            words = ["-cl-fast-relaxed-math"]
        return (*words, *(["-cl-opt-disable"] if self.level == 0 else []), *self.hints)

    @property
    def half_bits(self) -> bool:
        """Whether values of half are bit patterns.

        This is the case if the program is OpenCL C for a compiler without cl_khr_fp16.
        """
        return self.form == "c" and "cl_khr_fp16" not in self.features

    @property
    def consumer(self) -> NativeProfile:
        """The profile of the consumer of a native module; the target environment's if no profile is named."""
        profile = NATIVE_PROFILES[self.native_profile or (VULKAN if self.is_vulkan else KHR).name]
        return replace(profile, roundings=False) if self.is_vulkan else profile

    @property
    def is_vulkan(self) -> bool:
        """Whether modules are for Vulkan."""
        return self.target_env in VULKAN_ENVIRONMENTS

    @property
    def features(self) -> Features:
        """The extensions and features that -cl-std and -cl-ext leave enabled."""
        return Features.of(self.cl_std, self.extensions)


Apply = Callable[[CompileOptions, str], "dict[str, Any]"]


@dataclass(frozen=True, slots=True)
class Flag:
    """A row of the table of flags.

    spelling: the flag, with "=" if a joined value follows an equals sign.
    form: "plain": no value. "joined": the value follows the spelling (-DX, -cl-std=X). "separate": the value may also
        be the next argument (-D X, --matrices X).
    apply: a function of the options and the value that returns the changed fields.
    """

    spelling: str
    form: str
    apply: Apply


def _match(argument: str, rest: list[str]) -> tuple[Flag, str]:
    """Return the flag of `argument` and its value, which may be removed from `rest`. Raises UsageError."""
    for flag in FLAGS:
        if argument == flag.spelling.rstrip("=") and flag.form == "separate":
            if not rest:
                raise UsageError(f"{argument} needs a value")
            return flag, rest.pop(0)
        if flag.form == "plain":
            if argument == flag.spelling:
                return flag, ""
        elif argument.startswith(flag.spelling) and len(argument) > len(flag.spelling):
            return flag, argument[len(flag.spelling) :]
        elif flag.form == "joined" and argument.rstrip("=") == flag.spelling.rstrip("="):
            raise UsageError(
                f"{flag.spelling.rstrip('=')} needs a value, as in {flag.spelling}{_EXAMPLES[flag.spelling]}"
            )
    raise UnknownOption(argument)


def _set(name: str, value: object) -> Apply:
    return lambda options, text: {name: value}


def _choice(name: str, flag: str, choices: Sequence[str]) -> Apply:
    """Return a function that sets a field to one of `choices`; it raises UsageError for any other value."""

    def apply(options: CompileOptions, text: str) -> dict[str, Any]:
        if text not in choices:
            # Routes for single generations of devices (NAME@GENERATION) are omitted: there are too many.
            listed = ", ".join(choice for choice in choices if "@" not in choice)
            raise UsageError(f"{flag} takes {listed}, not '{text}'")
        return {name: text}

    return apply


def _standard(options: CompileOptions, text: str) -> dict[str, Any]:
    if text.upper() not in CL_STANDARDS:
        raise UsageError(f"-cl-std takes {', '.join(CL_STANDARDS)}, not '{text}'")
    return {"cl_std": text.upper()}


def _number(name: str, flag: str, least: int) -> Apply:
    """Return a function that sets a field to a number from `least`; it raises UsageError for any other value."""

    def apply(options: CompileOptions, text: str) -> dict[str, Any]:
        if not text.isdigit() or int(text) < least:
            raise UsageError(f"{flag} takes a number from {least}, not '{text}'")
        return {name: int(text)}

    return apply


def _define(options: CompileOptions, text: str) -> dict[str, Any]:
    name, equals, value = text.partition("=")
    return {"defines": (*options.defines, (name, value if equals else "1"))}


def _undefine(options: CompileOptions, text: str) -> dict[str, Any]:
    defines = tuple(item for item in options.defines if item[0] != text)
    return {"defines": defines, "undefines": (*options.undefines, text)}


def _append(name: str) -> Apply:
    return lambda options, text: {name: (*getattr(options, name), text)}


def _extensions(options: CompileOptions, text: str) -> dict[str, Any]:
    extensions = dict(options.extensions)
    for word in text.split(","):
        if word[:1] not in "+-" or len(word) < 2:
            raise UsageError(f"-cl-ext takes +name and -name with commas between, not '{text}'")
        extensions.pop(word[1:], None)
        extensions[word[1:]] = word[0] == "+"
    return {"extensions": extensions}


def _warning(options: CompileOptions, text: str) -> dict[str, Any]:
    return {"warnings": (*options.warnings, text)}


def _target_env(options: CompileOptions, text: str) -> dict[str, Any]:
    for version in SPIRV_VERSIONS:
        if text in (f"spv{version}", f"spirv{version}"):
            return {"spirv_version": version, "target_env": f"spv{version}"}
    if text == "opencl2.2":  # earlier versions require older SPIR-V than LLVM's backend writes
        return {"spirv_version": "1.2", "target_env": text}
    if text in VULKAN_ENVIRONMENTS:
        return {"spirv_version": "1.6", "target_env": text}
    listed = ", ".join(VULKAN_ENVIRONMENTS)
    raise UsageError(f"--target-env takes spv1.2 to spv1.6, opencl2.2, {listed}, not '{text}'")


def _float_flags(*flags: str) -> Apply:
    """Return a function that adds these fast-math flags of LLVM to `float_flags`."""
    return lambda options, text: {"float_flags": tuple(dict.fromkeys((*options.float_flags, *flags)))}  # each once


def _registers(options: CompileOptions, text: str) -> dict[str, Any]:
    bits, _, count = text.partition("x")
    if not (bits.isdecimal() and count.isdecimal() and int(bits) >= 64 and int(count) >= 1):
        raise UsageError(f"--matrix-registers takes BITSxCOUNT, such as 256x16, not '{text}'")
    return {"matrix_registers": (int(bits), int(count))}


def _relaxed(options: CompileOptions, text: str) -> dict[str, Any]:
    return {"fast_relaxed_math": True, "float_flags": ("fast",)}


# OpenCL options that do not change the generated code; the device's compiler gets them.
_HINTS = (
    "-cl-strict-aliasing",
    "-cl-uniform-work-group-size",
    "-cl-no-subgroup-ifp",
    "-cl-kernel-arg-info",
    "-cl-denorms-are-zero",
    "-cl-fp32-correctly-rounded-divide-sqrt",
)

# OpenCL option -> equivalent fast-math flags of LLVM.
_UNSAFE = ("reassoc", "nsz", "arcp", "contract", "afn")
_RELAXATIONS: Mapping[str, frozenset[str]] = {
    "-cl-unsafe-math-optimizations": frozenset(_UNSAFE),
    "-cl-finite-math-only": frozenset({"nnan", "ninf"}),
    "-cl-no-signed-zeros": frozenset({"nsz"}),
    "-cl-mad-enable": frozenset({"contract"}),
}


def _budget(options: CompileOptions, text: str) -> dict[str, Any]:
    try:
        name, number = budgets.parse(text)
    except ValueError as error:
        raise UsageError(str(error)) from None
    return {"budgets": (*(item for item in options.budgets if item[0] != name), (name, number))}


def _hint(options: CompileOptions, text: str, hint: str) -> dict[str, Any]:
    return {"hints": tuple(dict.fromkeys((*options.hints, hint)))}


# Spelling of a joined flag -> an example value, for the message about a missing value.
_EXAMPLES = {
    "-cl-std=": "CL3.0",
    "-cl-ext=": "-cl_khr_fp64",
    "-ferror-limit=": "20",
    "-ffp-contract=": "on",
    "-fmatrix-memory-layout=": "row-major",
    "-W": "all",
    "-Rpass=": "matrix",
}

FLAGS: tuple[Flag, ...] = (
    Flag("-cl-std=", "joined", _standard),
    Flag("-cl-ext=", "joined", _extensions),
    Flag("-cl-fast-relaxed-math", "plain", _relaxed),
    Flag("-cl-unsafe-math-optimizations", "plain", _float_flags(*_UNSAFE)),
    Flag("-cl-finite-math-only", "plain", _float_flags("nnan", "ninf")),
    Flag("-cl-no-signed-zeros", "plain", _float_flags("nsz")),
    Flag("-cl-mad-enable", "plain", _float_flags("contract")),
    Flag("-cl-single-precision-constant", "plain", _set("single_precision_constant", True)),
    Flag("-cl-opt-disable", "plain", _set("level", 0)),
    *(Flag(hint, "plain", partial(_hint, hint=hint)) for hint in _HINTS),
    *(Flag(f"-O{level}", "plain", _set("level", level)) for level in range(4)),
    Flag("-g", "plain", _set("debug", True)),
    Flag("-w", "plain", _set("no_warnings", True)),
    Flag("-pedantic", "plain", lambda options, text: _warning(options, "pedantic")),
    Flag("-ferror-limit=", "joined", _number("error_limit", "-ferror-limit", 0)),
    Flag("-ffp-contract=", "joined", _choice("fp_contract", "-ffp-contract", FP_CONTRACT)),
    Flag("-fenable-matrix", "plain", lambda options, text: {}),
    Flag("-fmatrix-memory-layout=", "joined", _choice("matrix_layout", "-fmatrix-memory-layout", MATRIX_LAYOUTS)),
    Flag("-fwrapv", "plain", _set("wrap", True)),
    Flag("-fno-wrapv", "plain", _set("wrap", False)),
    Flag("--matrix-registers=", "separate", _registers),
    Flag("--matrices=", "separate", _choice("matrices", "--matrices", MATRICES)),
    Flag("--native-profile=", "separate", _choice("native_profile", "--native-profile", tuple(NATIVE_PROFILES))),
    Flag("--code=", "separate", _choice("code", "--code", CODES)),
    Flag("--sub-group-size=", "separate", _number("sub_group_size", "--sub-group-size", 1)),
    Flag("--matrix-variants=", "separate", lambda options, text: {"variants": tuple(text.split())}),
    Flag("--matrix-pointer-alignment=", "separate", _number("pointer_alignment", "--matrix-pointer-alignment", 1)),
    Flag("--matrix-stride-multiple=", "separate", _number("stride_multiple", "--matrix-stride-multiple", 1)),
    Flag("--dialect=", "separate", _choice("dialect", "--dialect", DIALECTS)),
    Flag("--spirv-version=", "separate", _choice("spirv_version", "--spirv-version", SPIRV_VERSIONS)),
    Flag("--target-env=", "separate", _target_env),
    Flag(f"{budgets.OPTION}=", "separate", _budget),
    Flag("--validate", "plain", _set("validate", True)),
    Flag("--verify-passes", "plain", _set("verify_passes", True)),
    Flag("--no-validate", "plain", _set("validate", False)),
    Flag("-D", "separate", _define),
    Flag("-U", "separate", _undefine),
    Flag("-I", "separate", _append("include_dirs")),
    Flag("-isystem", "separate", _append("system_dirs")),
    Flag("-include", "separate", _append("includes")),
    Flag("-Rpass=", "joined", _choice("remarks", "-Rpass", REMARKS)),
    Flag("-W", "joined", _warning),
)
