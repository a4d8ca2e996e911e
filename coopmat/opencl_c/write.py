"""Output of a unit as one text: extensions, records, variables, functions."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from ..features import LANGUAGE_VERSIONS
from ..frontend import typed
from ..frontend.calls import CallGraph
from ..frontend.kernel_info import describe, shared, sub_group_size
from ..frontend.reserved import is_library
from ..frontend.types import RecordType, Type
from ..graphs import reachable
from . import WriteOptions, Written, expressions
from .context import Context, Program, Writers
from .declarations import declared, parameter, record, records_in, type_name
from .names import Names
from .needs import Needs
from .output import Output
from .statements import body, declaration
from .statics import sort_out

_INLINE = """\
#ifndef CM_INLINE
#define CM_INLINE inline __attribute__((always_inline))
#endif"""


def write(unit: typed.Unit, options: WriteOptions) -> Written:
    """Write the unit as OpenCL C.

    Raise CompileError for constructs that the language version, or this writer, cannot express.
    """
    names = Names([f for f in unit.functions if f.is_kernel or f.symbol is not None], unit.variables, options.prelude)
    own = {decl for decl in unit.functions if decl.name in options.instructions and is_library(decl.span.file)}
    functions = _reached(unit, own)
    for decl in own:
        names.keep(decl)
    for decl, calls in functions.items():
        for callee in calls:
            if is_library(decl.span.file) and not is_library(callee.span.file):
                names.operand(callee)
    writers = Writers(expressions.value, expressions.assigned, expressions.place, declared)
    program = Program(unit, names, Needs(LANGUAGE_VERSIONS[options.cl_std]), writers, options.half_bits)
    variables = sort_out(program)
    output = Output()
    for item in _in_order(unit):
        output.place(item.span)
        output.add(record(program, item))
    context = Context(program, None, output)
    for variable_ in variables:
        program.needs.span = variable_.span
        output.place(variable_.span)
        output.add(declaration(context, variable_) + ";")
    _write_functions(program, {decl: calls for decl, calls in functions.items() if decl not in own}, output, own)
    text = str(output)
    head = [f"#pragma OPENCL EXTENSION {name} : enable" for name in sorted(program.needs.extensions)]
    if (inline := names.text(_INLINE)) and names.text("CM_INLINE") in text:
        head.append(inline)
    # The prelude may also define subgroup functions, for devices without them.
    if not own.isdisjoint(functions) or "cl_khr_subgroups" in program.needs.extensions:
        head.append(names.text(options.prelude.rstrip()))
    infos = tuple(decl.info or describe(decl, sub_group_size(decl), False) for decl in unit.kernels)
    return Written("\n".join([*head, text]), infos, program.needs.standard, shared(unit))


def _reached(
    unit: typed.Unit, elsewhere: Container[typed.FunctionDecl]
) -> dict[typed.FunctionDecl, list[typed.FunctionDecl]]:
    """Return the unit's roots and their direct and indirect callees, in source order, each with its direct callees.

    The callees of functions in `elsewhere`, which are defined elsewhere, are omitted.
    """
    graph = CallGraph(unit)
    calls = {f: [] if f in elsewhere else [*graph.callees(f)] for f in unit.functions if f.body is not None}
    found = reachable(unit.roots, lambda f: calls.get(f, ()))
    return {f: callees for f, callees in calls.items() if f in found}


def _write_functions(
    program: Program,
    functions: dict[typed.FunctionDecl, list[typed.FunctionDecl]],
    output: Output,
    elsewhere: Iterable[typed.FunctionDecl],
) -> None:
    visible = set(elsewhere)
    for decl, calls in functions.items():
        visible.add(decl)
        for callee in calls:
            if callee not in visible:
                # Declare a callee that is defined later.
                visible.add(callee)
                output.place(callee.span)
                output.add(_head(program, callee) + ";")
        _write_function(program, decl, output)


def _write_function(program: Program, decl: typed.FunctionDecl, output: Output) -> None:
    assert decl.body is not None
    program.needs.span = decl.span
    contract = decl.attributes.get("fp_contract", True)
    if not contract:
        output.foreign("#pragma OPENCL FP_CONTRACT OFF")
    output.place(decl.span)
    output.add(_head(program, decl))
    output.add("{")
    context = Context(program, decl, output)
    output.depth += 1
    opening = len(output.lines) - 1
    body(context, decl.body)
    if context.temporaries:
        # Declare temporaries on the line of the opening brace, so that the other lines keep their numbers.
        output.lines[opening] += " " + " ".join(f"{text};" for text in context.temporaries)
    output.depth -= 1
    output.add("}")
    if not contract:
        output.foreign("#pragma OPENCL FP_CONTRACT ON")


# --- heads -----------------------------------------------------------------------------------------


def _head(program: Program, decl: typed.FunctionDecl) -> str:
    """Return a function's declaration without a semicolon or body."""
    parameters = [parameter(program, p, number) for number, p in enumerate(decl.parameters)]
    name = f"{program.names.function(decl)}({', '.join(parameters) or 'void'})"
    words = ["__kernel", *_kernel_attributes(program, decl)] if decl.is_kernel else _function_words(program, decl)
    return " ".join([*words, declared(program, decl.type.result, name)])


def _function_words(program: Program, decl: typed.FunctionDecl) -> Sequence[str]:
    """Return the specifiers of a function; a function that is not shared with other programs is static."""
    words = ["static"] if decl.symbol is None else []
    if decl.symbol is not None and decl.attributes.get("overloadable"):
        words.append("__attribute__((overloadable))")
    if decl.attributes.get("always_inline"):
        # CM_INLINE can be overridden: a simulator (Oclgrind) lacks an intrinsic that its LLVM emits after much
        # inlining.
        words.append(program.names.text("CM_INLINE"))
    if decl.attributes.get("noinline"):
        words.append("__attribute__((noinline))")
    return words


def _kernel_attributes(program: Program, decl: typed.FunctionDecl) -> list[str]:
    attributes = []
    for name in ("reqd_work_group_size", "work_group_size_hint"):
        sizes = decl.attributes.get(name)
        if isinstance(sizes, tuple):
            attributes.append(f"{name}({', '.join(map(str, sizes))})")
    hint = decl.attributes.get("vec_type_hint")
    if isinstance(hint, Type):
        attributes.append(f"vec_type_hint({type_name(program, hint)})")
    size = sub_group_size(decl)
    if size is not None:
        attributes.append(f"intel_reqd_sub_group_size({size})")
    return [f"__attribute__(({text}))" for text in attributes]


def _in_order(unit: typed.Unit) -> list[RecordType]:
    """Return the complete records, each after the records that it contains."""
    records: dict[RecordType, None] = {}

    def add(item: RecordType) -> None:
        if item in records or item.fields is None:
            return
        for part in item.fields:
            for inner in records_in(part.type):
                add(inner)
        records[item] = None

    for item in unit.records:
        add(item)
    return list(records)
