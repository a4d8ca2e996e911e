"""A unit as one text: extensions, the matrix library, records, variables, functions."""

from __future__ import annotations

from ..features import LANGUAGE_VERSIONS
from ..frontend import typed
from ..frontend.kernel_info import KernelInfo, describe
from ..frontend.sub_groups import SubGroups
from ..frontend.types import PointerType, RecordType, Type, contains_matrix
from . import LIBRARY_NAME, WriteOptions, Written, literals
from .context import SCRATCH, Context, Function, Program
from .declarations import declared, parameter, record, records_in, type_name
from .matrices import prologue
from .names import Names
from .needs import Needs
from .output import Output
from .statements import body, declaration
from .statics import sort_out


def write(unit: typed.Unit, options: WriteOptions) -> Written:
    """The unit as OpenCL C. Raises CompileError for what the language version, or this writer, has no way to say."""
    names = Names()
    for decl in unit.kernels:
        names.keep(decl)
    sub_groups = SubGroups(unit, options.matrices, options.sub_group_size, options.tuning)
    needs = Needs(LANGUAGE_VERSIONS[options.cl_std])
    own = (options.has_half, options.machine, options.contract_matrices)
    program = Program(unit, names, needs, sub_groups, *own)
    variables = sort_out(program)
    functions = _reached(program)
    # Only now it is known what every function uses.
    program.scratch = _users_of_scratch(program)
    infos = tuple(_describe(program, decl) for decl in unit.kernels)
    user = Output()
    for item in _in_order(unit):
        user.place(item.span)
        user.add(record(program, item))
    context = Context(program, None, None, user)
    for variable_ in variables:
        program.needs.span = variable_.span
        user.place(variable_.span)
        user.add(declaration(context, variable_) + ";")
    _write_functions(program, functions, user)
    head = [f"#pragma OPENCL EXTENSION {name} : enable" for name in sorted(program.needs.extensions)]
    if program.matrices.used or program.matrix_types.used:
        library = "\n".join(part.text() for part in (program.matrices, program.matrix_types) if part.used)
        head += [f"#line 1 {literals.string(LIBRARY_NAME.encode())}", prologue(library), library]
    text = "\n".join([*head, str(user)])
    trees = tuple(program.matrix_types.told)
    return Written(text, infos, program.needs.standard, tuple(sub_groups.warnings), trees)


def _reached(program: Program) -> list[Function]:
    """The kernels, or else all functions, and what they call, in the source's order; written once to find that out."""
    unit = program.unit
    waiting: list[Function] = [(f, program.sub_groups.target(f)) for f in unit.kernels or unit.functions]
    found: dict[Function, None] = {}
    while waiting:
        function = waiting.pop()
        if function not in found and function[0].body is not None:
            found[function] = None
            _write_function(program, function, Output())
            waiting.extend(program.uses[function].calls)
    order = {decl: number for number, decl in enumerate(unit.functions)}
    return sorted(found, key=lambda function: order[function[0]])


def _write_functions(program: Program, functions: list[Function], output: Output) -> None:
    known: set[Function] = set()
    for function in functions:
        known.add(function)
        for called in program.uses[function].calls:
            if called not in known:
                # It is defined further down.
                known.add(called)
                output.place(called[0].span)
                output.add(_head(program, called) + ";")
        _write_function(program, function, output)


def _write_function(program: Program, function: Function, output: Output) -> None:
    decl, target = function
    assert decl.body is not None
    program.needs.span = decl.span
    contract = decl.attributes.get("fp_contract", True)
    if not contract:
        output.foreign("#pragma OPENCL FP_CONTRACT OFF")
    output.place(decl.span)
    output.add(_head(program, function))
    output.add("{")
    context = Context(program, decl, target, output)
    size = _local_memory(program, function)
    if decl.is_kernel and size:
        output.foreign(f"    __local ulong {SCRATCH}[{-(-size // 8)}];")
    output.depth += 1
    opening = len(output.lines) - 1
    body(context, decl.body)
    if context.temporaries:
        # On the line that is there, so that the others stay where they are.
        output.lines[opening] += " " + " ".join(f"{text};" for text in context.temporaries)
    output.depth -= 1
    output.add("}")
    if not contract:
        output.foreign("#pragma OPENCL FP_CONTRACT ON")


# --- heads -----------------------------------------------------------------------------------------


def _head(program: Program, function: Function) -> str:
    """A function's declaration, without what ends it."""
    decl, _ = function
    parameters = [parameter(program, p, number) for number, p in enumerate(decl.parameters)]
    if not decl.is_kernel and function in program.scratch:
        parameters.append(f"__local ulong *{SCRATCH}")
    inside = ", ".join(parameters) or "void"
    name = f"{program.function_name(function)}({inside})"
    words = ["__kernel", *_kernel_attributes(program, decl)] if decl.is_kernel else _function_words(decl)
    return " ".join([*words, declared(program, decl.type.result, name)])


def _function_words(decl: typed.FunctionDecl) -> list[str]:
    """Nothing is linked to the program, so that all functions are its own."""
    words = ["static"]
    if any(map(_mentions_matrix, (decl.type.result, *decl.type.parameters))):
        # Matrices become values only where everything is in one function.
        return [*words, "CM_INLINE"]
    if decl.attributes.get("always_inline"):
        words += ["inline", "__attribute__((always_inline))"]
    if decl.attributes.get("noinline"):
        words.append("__attribute__((noinline))")
    return words


def _mentions_matrix(t: Type) -> bool:
    while isinstance(t, PointerType):
        t = t.pointee
    return contains_matrix(t)


def _kernel_attributes(program: Program, decl: typed.FunctionDecl) -> list[str]:
    found = []
    for name in ("reqd_work_group_size", "work_group_size_hint"):
        sizes = decl.attributes.get(name)
        if isinstance(sizes, tuple):
            found.append(f"{name}({', '.join(map(str, sizes))})")
    hint = decl.attributes.get("vec_type_hint")
    if isinstance(hint, Type):
        found.append(f"vec_type_hint({type_name(program, hint)})")
    size = program.kernel_sizes.get(decl)
    if size is not None:
        found.append(f"intel_reqd_sub_group_size({size})")
    return [f"__attribute__(({text}))" for text in found]


# --- what kernels are made of ----------------------------------------------------------------------


def _describe(program: Program, decl: typed.FunctionDecl) -> KernelInfo:
    uses = [program.uses[function] for function in _called(program, (decl, program.sub_groups.target(decl)))]
    matrices = any(u.matrices for u in uses)
    found = program.sub_groups.of_kernel(decl, matrices=matrices, subgroups=any(u.subgroups for u in uses))
    if found.attribute is not None:
        program.kernel_sizes[decl] = found.attribute
    return describe(decl, found.size, matrices, found.most)


def _called(program: Program, function: Function) -> list[Function]:
    """A function and all that it may call."""
    found: dict[Function, None] = {}
    waiting = [function]
    while waiting:
        here = waiting.pop()
        if here not in found:
            found[here] = None
            waiting.extend(program.uses[here].calls)
    return list(found)


def _local_memory(program: Program, function: Function) -> int:
    """Bytes that the library's functions need which a function and its callees call."""
    if not program.sub_groups.strategy.scratch:
        return 0
    return max(program.uses[called].scratch for called in _called(program, function))


def _users_of_scratch(program: Program) -> set[Function]:
    return {function for function in program.uses if _local_memory(program, function)}


def _in_order(unit: typed.Unit) -> list[RecordType]:
    """The records that are complete, after those that they hold."""
    found: dict[RecordType, None] = {}

    def add(item: RecordType) -> None:
        if item in found or item.fields is None:
            return
        for part in item.fields:
            for inner in records_in(part.type):
                add(inner)
        found[item] = None

    for item in unit.records:
        add(item)
    return list(found)
