"""The stages of OpenCL C: the source is preprocessed, parsed, analysed, lowered for its route, and emitted.

Also the matrix library, which the stages of all languages share, and whose text is parsed once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, cast

from ..diagnostics import CompileError, Diagnostic, Diagnostics, InternalError, Span, TooManyErrors
from ..frontend.portions import Portions, at_once
from ..matrices.routes import LOWERED_ROUTES, Tuning
from .paused_collector import collector as collector
from .stages import INFOS, KERNELS, LOWERED, PASSED, TOKENS, TREE, UNIT, VULKAN, WRITTEN

if TYPE_CHECKING:
    from ..foreign.spirv import Library
    from ..frontend import syntax, typed
    from ..frontend.preprocess import TokenStream
    from ..ir import LoweredModule, LowerOptions
    from ..ir.kernel_info import KernelInfo
    from ..matrix_types.expressions import Machine
    from ..opencl_c import Written
    from ..options import CompileOptions
    from ..passes import Pass, Report
    from ..preambles import Snapshot
    from ..spirv.emit import EmitOptions
    from ..vulkan.modules import Converted
    from .compilation import Compilation


def preprocess(c: Compilation) -> TokenStream:
    from ..frontend.preprocess import PreprocessOptions, preprocess

    c.findings.check_options()
    options = c.options
    settings = PreprocessOptions(
        defines=options.defines,
        undefines=options.undefines,
        include_dirs=(*options.include_dirs, *options.system_dirs),
        includes=options.includes,
        cl_std=options.cl_std,
        extensions=options.extensions,
        fast_relaxed_math=options.fast_relaxed_math,
    )
    stream = c.timed("preprocess", lambda: preprocess(c.source, c.name, settings, c.findings, portions(c)))
    return replace(stream, is_whole=c.preamble is None or c.preamble.known is None)


def portions(c: Compilation) -> Portions:
    """Return the portions in which a stage processes its input: its preamble first, if the compilation has one."""
    return at_once if c.preamble is None else c.preamble.portions


def preamble_of(options: CompileOptions, *, retain: bool = False) -> Snapshot | None:
    """Return an empty snapshot for a compilation with these options; None with -include, which reads files first.

    retain: whether all functions of the preamble are kept.
    """
    from ..preambles import Snapshot

    if options.includes:
        return None
    settings = (
        *(options.cl_std, sorted(options.extensions.items()), options.fast_relaxed_math, options.wrap),
        *(options.fp_contract != "off", sorted(options.budgets), options.half_bits, options.matrix_layout),
        *(options.single_precision_constant, options.error_limit, options.no_warnings, options.warnings),
        options.system_dirs,
    )
    return Snapshot(repr(settings), retain=retain)


def parse(c: Compilation) -> syntax.TranslationUnit:
    from ..frontend.parse import parse

    tokens = c.result(TOKENS)
    return c.timed("parse", lambda: parse(tokens, c.findings, portions(c)))


def analyse(c: Compilation) -> typed.Unit:
    """Return the typed AST. Raises CompileError for errors in the source, and for features that the device lacks."""
    from ..frontend.sema.functions import analyse
    from ..preambles import Unreached

    options = c.options
    contract, row_major = options.fp_contract != "off", options.matrix_layout == "row-major"
    flags = options.features, options.single_precision_constant, contract, options.wrap, options.half_bits, row_major

    def run() -> typed.Unit:
        tree, reached = c.result(TREE), c.release_early and not options.separate
        return c.timed("analyse", lambda: analyse(tree, c.findings, *flags, portions(c), reached, options.separate))

    with collector:
        try:
            try:
                unit = run()
            except Unreached:
                c.start_again(preamble_of(options, retain=True))
                unit = run()
            if not c.findings.has_errors:
                c.timed("analyse", lambda: _check_uniformity(c, unit))
        except TooManyErrors:
            c.findings.raise_if_errors()
            raise
        c.findings.raise_if_errors()
        if c.preamble is not None:
            c.preamble.finish(unit)
        if c.release_early:
            c.drop(TOKENS, TREE)
        if options.is_vulkan:
            from ..analysis import check_vulkan

            check_vulkan(unit, c.findings, options.target_env or "")
            c.findings.raise_if_errors()
        if unit.has_matrices:
            from ..analysis import find_requirements

            c.check_device(find_requirements(unit, c.memory_rules()))
        from .. import passes

        if options.verify_passes or passes.ALWAYS_VERIFY:
            from ..passes.verify import check

            check(unit, "analyse")
        return unit


def _check_uniformity(c: Compilation, unit: typed.Unit) -> None:
    route = LOWERED_ROUTES.get(c.matrices)
    has_barriers = route is not None and route.exchanges_in_local_memory
    if unit.has_matrices or has_barriers:
        from ..analysis import check_uniformity

        check_uniformity(unit, c.findings, has_barriers=has_barriers)


# --- the typed AST -----------------------------------------------------------------------------------


def passes_for(c: Compilation, form: str, every: bool = False) -> list[Pass]:
    """Return the passes over the typed AST on this route before the AST is lowered to `form`.

    form: "spirv"; "c"; or "flat", LLVM IR with values of Clang's matrix types as vectors. In C, native matrices are
        lowered by the route `one`.
    every: whether passes are included that have nothing to do in this unit; otherwise they are not even imported.
    """
    options, in_c = c.options, form == "c"
    functions = partial(library, wrap=not in_c)
    route = "one" if in_c and c.matrices == "native" else c.matrices
    sequence: list[Pass] = []
    from .. import passes

    unit = c.result(UNIT)
    every = every or unit.has_matrices or options.verify_passes or passes.ALWAYS_VERIFY
    lowered = None
    if route != "native":
        lowered = LOWERED_ROUTES[route].tuned(tuning(options))
    if every or unit.has_storage_vectors:
        from ..passes.storage_vectors import StorageVectors

        sequence.append(StorageVectors(functions))
    if every or unit.has_expansions:
        from ..expansions import Expansions

        fp64 = "cl_khr_fp64" in options.features
        profile = options.consumer if lowered is None else None
        sequence.append(Expansions(partial(functions, fp64=fp64), profile, lowered, options.sub_group_size))
    if lowered is None and every:
        from ..passes.native_calls import NO_RULES, NativeMatrices

        rules = c.memory_rules() or NO_RULES
        sequence.append(NativeMatrices(functions, rules, options.sub_group_size, options.consumer))
    elif lowered is not None:
        from ..passes.matrices import Matrices

        half_bits = in_c and "cl_khr_fp16" not in options.features
        sequence.append(Matrices(lowered, functions, options.sub_group_size, half_bits))
    if form != "flat" and (every or unit.has_matrix_types):
        from ..matrix_types.lowering import MatrixTypes

        sequence.append(MatrixTypes(functions, machine(options), options.fp_contract == "matrix"))
    if sequence or unit.has_small_floats:
        from ..passes.small_floats import SmallFloats

        sequence.append(SmallFloats(functions, in_c and options.half_bits))
    return sequence


def has_products(unit: typed.Unit, options: CompileOptions) -> bool:
    """Return whether the unit has a multiply-add for which the route's devices have an instruction."""
    from ..frontend import typed
    from ..frontend.matrix_terms import matrix_type
    from ..frontend.nodes import walk
    from ..matrices.variants import Operands

    route = LOWERED_ROUTES[options.matrices].tuned(tuning(options))
    lanes = route.size(options.sub_group_size)
    bodies = (decl.body for decl in unit.functions if unit.has_matrices and decl.body is not None)

    def is_product(node: typed.MatrixMulAdd) -> bool:
        a, b, c = (matrix_type(operand.type) for operand in (node.a, node.b, node.c))
        mask = Operands(node.operands)
        own = route.with_tf32() if Operands.TF32 in mask else route
        return own.product(a, b, c, mask, lanes) is not None

    return any(is_product(node) for body in bodies for node in walk(body) if isinstance(node, typed.MatrixMulAdd))


def run_passes(c: Compilation, form: str) -> tuple[typed.Unit, Report]:
    """Return the typed AST after the passes for `form`, and their report; add their warnings and remarks."""
    from .. import passes

    sequence, report, verify = passes_for(c, form), passes.Report(), c.options.verify_passes
    unit = c.result(UNIT)
    with collector:
        unit = c.timed("passes", lambda: c.with_sources(lambda: passes.run(unit, sequence, report, verify=verify)))
    c.warn_of([*report.warnings, *advice(c)])
    if c.options.remarks:
        lowered = ((span, text()) for span, text in report.remarks)
        c.remark(c.options.remarks, [*lowered, *_native_remarks(unit)])
    return unit, report


def advice(c: Compilation, kernel: str = "", arguments: Mapping[str, int] | None = None) -> Iterator[Diagnostic]:
    """Yield the warnings about slow matrices, if the -W options turn any of them on; none for the native route.

    arguments: name -> value of integer arguments of `kernel`, if a launch is known.
    """
    from ..warning_options import MEMBERS

    options, unit = c.options, c.result(UNIT)
    if unit.has_matrices and c.matrices != "native" and c.findings.wants(*MEMBERS["matrix-performance"]):
        from ..advice import Device, advise

        route = LOWERED_ROUTES[c.matrices].tuned(tuning(options))
        other = LOWERED_ROUTES[options.unit].tuned(tuning(options)) if options.unit else None
        device = Device.of(route, other, options.sub_group_size, options.matrix_registers)
        yield from advise(unit, device, kernel, arguments)


# --- code from the typed AST ---------------------------------------------------------------------------


def lower_options(c: Compilation) -> LowerOptions:
    from ..ir import LowerOptions

    options = c.options
    return LowerOptions(
        matrices=options.matrices,
        spirv_version=options.spirv_version,
        float_flags=options.float_flags,
        opt_disable=options.level == 0,
        contract_matrices=options.fp_contract == "matrix",
        row_major=options.matrix_layout == "row-major",
        machine=machine(options),
        align_frames=options.matrix_registers is not None,
        memory_rules=c.memory_rules(),
    )


def _native_remarks(unit: typed.Unit) -> list[tuple[Span, str]]:
    from ..frontend import nodes, typed

    bodies = (function.body for function in unit.functions)
    found = (node for node in nodes.walk(*bodies) if isinstance(node, typed.MatrixMulAdd))
    return [(node.span, "multiply-add: OpCooperativeMatrixMulAddKHR") for node in found]


def lower(c: Compilation, form: str) -> LoweredModule:
    from ..ir.lower import lower

    unit, _ = c.result(PASSED[form])
    with collector:
        return c.timed("lower", lambda: c.with_sources(lambda: lower(unit, lower_options(c))))


def write(c: Compilation) -> Written:
    from ..matrices.lowering import prelude
    from ..opencl_c import WriteOptions
    from ..opencl_c.write import write

    unit, _ = c.result(PASSED["c"])
    with collector:
        options = WriteOptions(c.options.cl_std, *prelude(c.matrices), half_bits=c.options.half_bits)
        return c.timed("write", lambda: c.with_sources(lambda: write(unit, options)))


def kernels(c: Compilation) -> tuple[KernelInfo, ...]:
    return tuple((c.result(WRITTEN) if c.code == "c" else c.result(LOWERED)).kernels)


def emit(c: Compilation) -> bytes:
    return emit_lowered(c, c.result(LOWERED))


def emit_lowered(c: Compilation, lowered: LoweredModule) -> bytes:
    from ..faults import avoid_device_faults
    from ..matrices.lowering import prelude
    from ..matrices.routes import OPENCL_C_ONLY
    from ..options import LINKED
    from ..spirv import llvm_text
    from ..spirv.aligned_accesses import with_alignment
    from ..spirv.emit import emit
    from ..spirv.legalize import legalize

    imports = prelude(c.matrices)[1]
    if c.matrices in OPENCL_C_ONLY and c.options.code != LINKED:
        raise c.refused("no-such-stage", f"--matrices {c.matrices} is OpenCL C only: there is no SPIR-V of {c.name}")
    settings = emit_options(c, lowered)
    for name in imports & {kernel.name for kernel in lowered.kernels}:
        raise c.refused(
            "not-supported", f"{c.name}: a kernel that has the name of a library function, '{name}', is not supported"
        )
    text = llvm_text.imported(lowered.text, imports) if imports else lowered.text
    if c.options.is_vulkan:
        text = with_vulkan_library(c, text)
    rules = c.memory_rules()
    with collector:
        emitted = c.timed("emit", lambda: emit(text, settings)).spirv
        assert emitted is not None
        avoid_faults = None if c.options.is_vulkan else avoid_device_faults
        spirv = c.timed("legalize", lambda: legalize(emitted, imports | lowered.imports, avoid_faults))
        if rules is not None:
            spirv = with_alignment(spirv, rules)
        has_matrices = c.language != "cl" or c.result(UNIT).has_matrices
        return legalize_native(c, spirv) if c.matrices == "native" and has_matrices else spirv


def emit_options(c: Compilation, lowered: LoweredModule) -> EmitOptions:
    """Return the options with which a lowered module is emitted."""
    from ..spirv.emit import EmitOptions

    passes = lowered.passes
    if passes.startswith("O"):
        # Intel's CPU compiler does not vectorize a kernel whose loops it cannot prove to end. A loop counter in memory
        # hides the end, so that variables are promoted even without optimisation.
        passes = f"O{c.options.level}" if c.options.level else "sroa"
    if c.options.is_vulkan:
        passes = "vulkan"
    return EmitOptions(c.options.spirv_version, lowered.extensions, cast(Any, passes))


def legalize_native(c: Compilation, spirv: bytes) -> bytes:
    """Return a native module in the form that its consumer accepts. Raises CompileError if this is impossible."""
    from ..foreign.consumers import legalize_for_consumer
    from ..foreign.spirv import Refused

    try:
        return c.timed("adapt", lambda: legalize_for_consumer(spirv, c.options.consumer))
    except Refused as error:
        message = f"{c.name} cannot be native under the profile {c.options.consumer.name}: {error.message}"
        raise c.refused("native-matrix", message) from error


def with_vulkan_library(c: Compilation, text: str) -> str:
    """Return LLVM IR linked with the libraries of builtin functions for Vulkan that it needs."""
    from ..ir.lower import lower
    from ..vulkan.modules import library as builtin_functions

    fast = bool({"afn", "fast"} & set(c.options.float_flags))

    def build(kind: str) -> bytes:
        unit = library(builtin_functions.source(kind), standard="CL3.0")
        return lower(unit, replace(lower_options(c), float_flags=())).text.encode()

    libraries = {
        kind: _from_cache(builtin_functions.source(kind), partial(build, kind)).decode()
        for kind in builtin_functions.needed(text, fast)
    }
    return builtin_functions.link(text, libraries, fast) if libraries else text


def convert_to_vulkan(c: Compilation) -> Converted:
    """Return the Vulkan module. Raises CompileError if the target lacks a construct of the source."""
    from ..vulkan import modules

    spirv, kernels, target_env = c.result(KERNELS), c.result(INFOS), c.options.target_env or ""
    try:
        return c.timed("convert", lambda: modules.convert(spirv, kernels, target_env))
    except modules.Refused as error:
        span = _place_of_refusal(c) if kernels else None
        where = f"{c.name}: " if span is None else ""
        kernel = f", in kernel '{error.function}'" if span is None and error.function else ""
        raise c.refused(error.code, f"{where}{error.message}{kernel}", span) from error


def _place_of_refusal(c: Compilation) -> Span | None:
    """Return the place in the source that the conversion for Vulkan refuses; None if it is unknown.

    The source is lowered again, with values that are named after their places (`LowerOptions.marks`).
    """
    from ..ir.lower import lower
    from ..vulkan import modules

    unit, _ = c.result(PASSED["spirv"])
    with collector:
        marked = lower(unit, replace(lower_options(c), marks=True))
        spirv = emit_lowered(c, marked)
    try:
        modules.convert(spirv, marked.kernels, c.options.target_env or "")
    except modules.Refused as error:
        return None if error.mark is None else marked.spans[error.mark]
    return None


def select_module(c: Compilation) -> bytes:
    """Return the module for the target environment of the options."""
    return c.result(VULKAN).spirv if c.options.is_vulkan else c.result(KERNELS)


def validate(c: Compilation, binary: bytes) -> None:
    from ..foreign.consumers import standard
    from ..spirv.tools import target_env_for, validate

    target_env = c.options.target_env or target_env_for(c.options.spirv_version, binary)
    messages = validate(standard(binary), target_env)
    if messages is not None:
        raise InternalError(f"the SPIR-V made from {c.name} is not valid", "\n".join(messages))


# --- shared by the stages of all languages -----------------------------------------------------------


# whether a library text uses the generic address space -> the oldest -cl-std that compiles the text. Under CL1.2 a
# pointer without an address space is private, so that no pointer becomes generic needlessly.
_LIBRARY_STANDARDS = {False: "CL1.2", True: "CL2.0"}


def machine(options: CompileOptions) -> Machine:
    """Return the device's properties for the cost model of Clang's matrix types."""
    from ..matrix_types.expressions import Machine

    default = Machine(widest=options.widest, members=options.packed_members, fma=options.fma)
    bits, count = options.matrix_registers or (default.register_bits, default.registers)
    return replace(default, register_bits=bits, registers=count)


def tuning(options: CompileOptions) -> Tuning:
    """Return the properties of the device on which the lowering of matrices depends, as the options state them."""
    size = options.usual_sub_group_size
    row = Tuning(options.widest, options.fma, options.guarded_loads, size, options.instructions)
    if options.matrix_registers is None:
        return row
    bits, count = options.matrix_registers
    # A quarter of the registers is left to the operands of multiply-adds; the rest is for sums.
    return replace(row, sum_bytes=bits // 8 * count * 3 // 4)


@lru_cache(maxsize=64)
def library(text: str, wrap: bool = True, standard: str | None = None, fp64: bool = True) -> typed.Unit:
    """Return the typed AST of a text of the matrix library; cached, since the same matrices recur.

    wrap: whether the analysis makes signed integers wrap (-fwrapv); otherwise the longer text itself ensures this.
    fp64: whether there are doubles, to which printf converts floats.
    standard: the value of -cl-std; None for the oldest standard that compiles the text.
    """
    from ..features import Features
    from ..frontend.parse import parse
    from ..frontend.preprocess import PreprocessOptions, preprocess
    from ..frontend.reserved import LIBRARY_NAME
    from ..frontend.sema.functions import analyse

    findings = Diagnostics(no_warnings=True)
    standard = standard or _LIBRARY_STANDARDS["__generic" in text]
    tokens = preprocess(text, LIBRARY_NAME, PreprocessOptions(cl_std=standard), findings)
    features = Features.of(standard, {"cl_khr_fp64": fp64})
    unit = analyse(parse(tokens, findings), findings, features, wrap=wrap)
    if findings.has_errors:
        raise InternalError("the matrix library does not compile", str(CompileError(findings.items, findings.sources)))
    return unit


@lru_cache(maxsize=1)
def spirv_library() -> Library:
    """Return the matrix library as SPIR-V, shared by this process; compiled functions are kept in the cache on disk."""
    from ..foreign.spirv import Library

    return Library(library, _from_cache)


def _from_cache(text: str, build: Callable[[], bytes]) -> bytes:
    from ..cache import Cache, Entry, key_of, package_version

    key = key_of({"kind": "matrix library", "version": package_version(), "text": text})
    return Cache.of_environment().get_or_build(key, lambda: Entry(build())).payload
