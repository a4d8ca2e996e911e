"""Program scope: functions, variables and kernels (OpenCL C 3.0, sections 6.7.1, 6.9 and 6.11)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ...analysis import (
    UNINITIALIZED_CODES,
    UNUSED_CODES,
    check_uninitialized,
    check_unused_functions,
    check_unused_in_function,
    has_unused_attribute,
)
from ...diagnostics import Diagnostics, Note
from ...features import PROGRAM_SCOPE, Features
from ...matrix_types import sema as matrix_types
from ...matrix_types.sema import holds
from .. import syntax, typed
from ..portions import Portions, at_once
from ..types import (
    BOOL,
    EVENT,
    PLAIN,
    AddressSpace,
    ArrayType,
    Field,
    FunctionType,
    PointerType,
    Qualifiers,
    RecordType,
    Type,
    VoidType,
    contained,
    contains_matrix,
    element_type,
    is_bits,
    is_complete,
    is_opaque,
)
from . import attributes, expressions, linkage, matrices, restricted_types
from .context import MOST_PARAMETERS, UNKNOWN, Abandon, Context, FunctionState, Overloads, Poisoned, Rules
from .declarations import (
    Base,
    base_type,
    declarator_type,
    each_declarator,
    one_parameter,
    own_alignment,
    parameters,
    static_assert,
    type_name,
)
from .initializers import folded, initialize, is_constant
from .statements import block, pragma


def analyse(
    tree: syntax.TranslationUnit,
    diagnostics: Diagnostics,
    features: Features | None = None,
    single: bool = False,
    contract: bool = True,
    wrap: bool = False,
    half_bits: bool = False,
    row_major: bool = False,
    portions: Portions = at_once,
    only_reached: bool = False,
    separate: bool = False,
) -> typed.Unit:
    """Return the typed AST of a translation unit.

    If `diagnostics` has errors afterwards, the unit is incomplete and must not be lowered.

    features: the enabled features; None: all of OpenCL C 3.0.
    single: constants without a suffix are floats (-cl-single-precision-constant).
    contract: whether expressions may be contracted if no pragma decides.
    wrap: signed integers wrap modulo 2^N (-fwrapv); their sums and products are computed unsigned.
    half_bits: half needs no cl_khr_fp16; its bits are stored, and computations use float.
    row_major: matrix types without a layout are row-major.
    portions: divides the tree's declarations into those that are analysed one after the other.
    only_reached: drop functions that no kernel reaches, if there are kernels and no matrices.
    separate: other programs may define functions that this program declares, and call functions that it defines.
    """
    rules = Rules(expressions.analyse, type_name, block, prototype)
    flags = single, contract, wrap, half_bits, row_major, separate
    c = Context(rules, diagnostics, features or Features.of(), *flags)
    result = unit(c, tree, portions)
    if only_reached and result.kernels and not (result.has_matrices or result.has_matrix_types):
        found = c.reached(result.kernels)
        result.functions = [function for function in result.functions if function in found]
    return result


def unit(c: Context, node: syntax.TranslationUnit, portions: Portions) -> typed.Unit:
    """Analyse a translation unit; a faulty declaration does not affect the analysis of later ones."""
    c.scope.names.update({item.name: item for item in restricted_types.memory_enumerators(c)})
    if c.matrices:
        c.scope.names.update({item.name: item for item in matrices.predeclared()})
    with c.nested_scope():
        for portion in portions(c, node.declarations):
            for item in node.declarations[portion.start : portion.stop]:
                with c.recover():
                    _external(c, item)
    _check_recursion(c)
    matrices.check_effects(c)
    matrices.check_work_groups(c)
    if c.diagnostics.wants("unused-function"):
        check_unused_functions(c)
    linkage.resolve(c)
    return c.unit


def _external(c: Context, item: syntax.ExternalDeclaration) -> None:
    if isinstance(item, syntax.FunctionDefinition):
        _definition(c, item)
    elif isinstance(item, syntax.Declaration):
        each_declarator(c, item, partial(_variable, c))
    elif isinstance(item, syntax.StaticAssert):
        static_assert(c, item)
    elif pragma(c, item) is not None:
        c.warn("ignored-pragmas", "an unroll hint must precede a loop", item.span)


def _check_recursion(c: Context) -> None:
    """Report recursion (OpenCL C 3.0, section 6.11 i): one error for each cycle, with its path."""
    complete_functions: set[typed.FunctionDecl] = set()
    for start in c.unit.functions:
        path: list[typed.FunctionDecl] = []
        # A depth-first search with an explicit stack: the callees to visit for each function on the path.
        work = [iter([start])]
        while work:
            function = next(work[-1], None)
            if function is None:
                work.pop()
                if path:
                    complete_functions.add(path.pop())
            elif function in path:
                _report_recursion(c, path[path.index(function) :])
            elif function not in complete_functions:
                path.append(function)
                work.append(iter(c.calls.get(function, {})))


def _report_recursion(c: Context, cycle: list[typed.FunctionDecl]) -> None:
    calls = [(a, b, c.calls[a][b]) for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True)]
    notes = [Note(f"'{a.name}' calls '{b.name}' here", span) for a, b, span in calls[1:]]
    c.error("recursion", f"'{cycle[0].name}' calls itself, which OpenCL C does not allow", calls[0][2], notes=notes)


# --- declarations ----------------------------------------------------------------------------------


def _variable(c: Context, base: Base, item: syntax.InitDeclarator, t: Type, qualifiers: Qualifiers) -> None:
    d = item.declarator
    name = d.name or ""
    if contains_matrix(t):
        c.fail("coop-mat-file-scope", f"a cooperative matrix cannot be declared at file scope ('{name}')", d.span)
    if is_opaque(t):
        c.unit.variables.append(restricted_types.declare_variable(c, d, t, qualifiers, item.initializer))
        return
    restricted_types.check_half(c, t, d.span)
    qualifiers = _program_scope(c, base, d, qualifiers)
    decl = typed.VarDecl(d.span, name, t, qualifiers, "static")
    restricted_types.check_atomic_variable(c, decl, item.initializer.span if item.initializer is not None else None)
    decl.alignment = own_alignment(c, base, d)
    earlier = c.scope.names.get(name)
    external = any(word.text == "extern" for word in base.specifiers.storage)
    if isinstance(earlier, typed.VarDecl) and (name in c.tentative or item.initializer is None):
        decl = _declared_again(c, earlier, decl)
    if item.initializer is not None:
        decl.type, value = initialize(c, t, item.initializer)
        decl.initializer = folded(value)
        if not is_constant(decl.initializer):
            c.fail("not-constant", f"the initial value of '{name}' must be constant", item.initializer.span)
    if qualifiers.space is AddressSpace.CONSTANT and decl.initializer is None and not external:
        c.fail("address-space", f"'{name}': a variable in constant memory must be initialised", d.span)
    if not is_complete(decl.type) and not external:
        c.fail("incomplete-type", f"variable '{name}' has incomplete type '{decl.type}'", d.span)
    if decl is not earlier:
        c.declare(decl)
        c.unit.variables.append(decl)
    linkage.note_variable(c, decl, base.specifiers)
    if decl.initializer is not None:
        c.tentative.pop(name, None)
    elif decl is not earlier or not external:
        c.tentative[name] = (decl, external)


def _program_scope(c: Context, base: Base, d: syntax.Declarator, qualifiers: Qualifiers) -> Qualifiers:
    """Return the qualifiers of a variable at program scope: constant or global memory (section 6.7.5)."""
    if qualifiers.space is AddressSpace.CONSTANT:
        return qualifiers
    if PROGRAM_SCOPE not in c.features:
        message = f"'{d.name}': a variable at program scope must be in the constant address space"
        c.fail("address-space", message, d.span, notes=[Note("other address spaces need -cl-std=CL2.0 or newer")])
    is_private = qualifiers.space is AddressSpace.PRIVATE and base.explicit_space and not d.modifiers
    if is_private or qualifiers.space in (AddressSpace.LOCAL, AddressSpace.GENERIC):
        message = f"'{d.name}': a variable at program scope cannot be in {qualifiers.space} memory"
        c.fail("address-space", message, d.span)
    return replace(qualifiers, space=AddressSpace.GLOBAL)


def _declared_again(c: Context, earlier: typed.VarDecl, decl: typed.VarDecl) -> typed.VarDecl:
    """Merge a declaration into an earlier `extern` or tentative one and return that (C11 6.9.2)."""
    a, b = earlier.type, decl.type
    same = a == b
    if isinstance(a, ArrayType) and isinstance(b, ArrayType):
        same = a.element == b.element and (a.size == b.size or None in (a.size, b.size))
    if not same or earlier.qualifiers != decl.qualifiers:
        c.tentative.pop(decl.name, None)
        notes = [Note(f"the previous declaration, '{a}', is here", earlier.span)]
        c.fail("redefinition", f"'{decl.name}' is declared again as '{b}'", decl.span, notes=notes)
    if is_complete(b):
        earlier.type = b
    earlier.alignment = max(earlier.alignment or 1, decl.alignment or 1)
    return earlier


def _function_modifier(d: syntax.Declarator) -> syntax.FunctionModifier | None:
    first = d.modifiers[0] if d.modifiers else None
    return first if isinstance(first, syntax.FunctionModifier) else None


def prototype(c: Context, base: Base, item: syntax.InitDeclarator) -> typed.FunctionDecl:
    """Analyse a function's declaration without a body."""
    if item.initializer is not None:
        c.fail("invalid-initializer", "a function has no initial value", item.initializer.span)
    return _declare_function(c, base, item.declarator)


def _declare_function(c: Context, base: Base, d: syntax.Declarator) -> typed.FunctionDecl:
    """Declare a function; report a disagreement with an earlier declaration, and return the first one."""
    t, _ = declarator_type(c, base, d)
    specifiers = base.specifiers
    modifier = _function_modifier(d)
    if modifier is None or not isinstance(t, FunctionType) or d.name is None:
        c.fail("function-declarator", "the declarator of a function must list its parameters", d.span)
    c.check_count(len(t.parameters), MOST_PARAMETERS, "parameters of a function", d.span)
    kernel = _is_kernel(specifiers)
    internal = any(word.text == "static" for word in specifiers.storage)
    marks = attributes.for_function(c, base.marks(d), kernel=kernel)
    decl = typed.FunctionDecl(d.span, d.name, t, parameters(c, modifier), kernel, internal, marks)
    is_overloaded = marks.pop("overloadable", False)
    if is_overloaded or isinstance(c.scope.find(d.name), Overloads):
        family = _overloads(c, decl)
        earlier = next((f for f in family if f.type.parameters == t.parameters), None)
    else:
        family = None
        earlier = c.functions.get(d.name)
    if earlier is not None:
        if earlier.type != t or earlier.is_kernel != kernel:
            notes = [Note(f"the previous declaration, '{earlier.type}', is here", earlier.span)]
            c.fail("redefinition", f"'{d.name}' is declared again as '{t}'", d.span, notes=notes)
        earlier.attributes.update(marks)
        earlier.internal = earlier.internal or internal
        linkage.note_function(c, earlier, specifiers, bool(is_overloaded))
        if family is None and c.scope.find(d.name) is not earlier:
            c.declare(earlier)
        return earlier
    if d.name in matrices.BUILTINS or d.name in matrix_types.BUILTINS:
        c.fail("redefinition", f"'{d.name}' is a builtin function", d.span)
    if family is not None:
        family.append(decl)
    else:
        c.declare(decl)
        if c.scope.names.get(d.name) is not decl:
            c.abandon()
        c.functions[d.name] = decl
    if kernel:
        _check_kernel(c, decl)
        if internal:
            c.error("kernel-static", f"kernel '{d.name}' cannot be static", d.span)
    linkage.note_function(c, decl, specifiers, bool(is_overloaded))
    header = bool(c.diagnostics.sources.files) and d.span.file != next(iter(c.diagnostics.sources.files))
    if has_unused_attribute(base.marks(d)) or (header and linkage.is_inline(specifiers)):
        c.excused.add(decl)
    c.unit.functions.append(decl)
    return decl


def _overloads(c: Context, decl: typed.FunctionDecl) -> list[typed.FunctionDecl]:
    """Return the overloads of the name so far; the first one may lack the attribute, as in clang."""
    entity = c.scope.find(decl.name)
    if isinstance(entity, Overloads):
        return entity.functions
    family = Overloads(decl.span, decl.name, [])
    if isinstance(entity, typed.FunctionDecl) and c.functions.get(decl.name) is entity:
        family.functions.append(entity)
        c.scope.names[decl.name] = family
    else:
        c.declare(family)
        if c.scope.names.get(decl.name) is not family:
            c.abandon()
    return family.functions


# --- definitions -----------------------------------------------------------------------------------


def _definition(c: Context, node: syntax.FunctionDefinition) -> None:
    errors = c.diagnostics.error_count
    try:
        decl = _define(c, node)
    except Abandon:
        c.poison(node.declarator.name, node.declarator.span)
        # Errors in the body are reported nevertheless.
        decl = _stand_in(c, node)
    c.function = FunctionState(decl, excused=_unused_parameters(node.declarator))
    if not c.contract:
        decl.attributes["fp_contract"] = False
    with c.nested_scope():
        c.function.outermost = c.scope
        for p in decl.parameters:
            if p.name:
                c.declare(Poisoned(p.span, p.name) if p.type is UNKNOWN else p)
        decl.body = block(c, node.body)
    for label, span in c.function.gotos:
        if label not in c.function.labels:
            c.error("undeclared-label", f"no label '{label}' in this function", span)
    if c.diagnostics.error_count == errors:
        if "cl_khr_fp16" not in c.features:
            restricted_types.check_halves(c, decl)
        _warn(c, c.function)
    c.function = None
    c.references.clear()
    c.only_set.clear()


def _unused_parameters(d: syntax.Declarator) -> set[str]:
    """Return the names of the parameters that are marked unused."""
    modifier = _function_modifier(d)
    items = (modifier.parameters or []) if modifier is not None else []
    marked = [p for p in items if has_unused_attribute([*p.specifiers.attributes, *p.declarator.attributes])]
    return {p.declarator.name for p in marked if p.declarator.name is not None}


def _warn(c: Context, state: FunctionState) -> None:
    """Issue the warnings that need a complete, faultless function body."""
    if c.diagnostics.wants(*UNINITIALIZED_CODES):
        check_uninitialized(c, state)
    if c.diagnostics.wants(*UNUSED_CODES):
        check_unused_in_function(c, state)


def _define(c: Context, node: syntax.FunctionDefinition) -> typed.FunctionDecl:
    """Return the function to define, with the names of this definition; its body is still empty."""
    decl = _declare_function(c, base_type(c, node.specifiers), node.declarator)
    if decl.body is not None:
        notes = [Note("the previous definition is here", decl.span)]
        c.fail("redefinition", f"redefinition of '{decl.name}'", node.declarator.span, notes=notes)
    modifier = _function_modifier(node.declarator)
    assert modifier is not None
    if decl.span == node.declarator.span and not (
        decl.internal or decl.is_kernel or linkage.is_inline(node.specifiers)
    ):
        c.warn("missing-prototypes", f"'{decl.name}' has no prototype and is not static", decl.span)
    decl.span, decl.parameters = node.declarator.span, parameters(c, modifier)
    decl.body = typed.Block(node.body.span, [])
    # Functions are listed in order of definition, even after a prototype.
    if c.unit.functions[-1] is not decl:
        c.unit.functions.remove(decl)
        c.unit.functions.append(decl)
    return decl


def _stand_in(c: Context, node: syntax.FunctionDefinition) -> typed.FunctionDecl:
    """Return a function in place of a faulty definition, so that its body can be analysed."""
    span, name = node.declarator.span, node.declarator.name or ""
    modifier = _function_modifier(node.declarator)
    variables: list[typed.VarDecl] = []
    for item in (modifier.parameters or []) if modifier is not None else []:
        parameter = item.declarator
        variable = typed.VarDecl(parameter.span, parameter.name or "", UNKNOWN, PLAIN, "parameter")
        with c.recover():
            variable = one_parameter(c, item)
        variables.append(variable)
    kernel = _is_kernel(node.specifiers)
    decl = typed.FunctionDecl(span, name, FunctionType(UNKNOWN, ()), variables, kernel, False)
    if kernel:
        check_kernel_parameters(c, decl)
    return decl


def _is_kernel(specifiers: syntax.Specifiers) -> bool:
    return any(word.text.strip("_") == "kernel" for word in specifiers.functions)


# --- kernels ---------------------------------------------------------------------------------------


def _check_kernel(c: Context, decl: typed.FunctionDecl) -> None:
    """Check the result and the parameters of a kernel."""
    if not isinstance(decl.type.result, VoidType):
        c.error("kernel-result", f"kernel '{decl.name}' must return void, not '{decl.type.result}'", decl.span)
    check_kernel_parameters(c, decl)


def check_kernel_parameters(c: Context, decl: typed.FunctionDecl) -> None:
    for p in decl.parameters:
        if contains_matrix(p.type) or (isinstance(p.type, PointerType) and contains_matrix(p.type.pointee)):
            message = f"a cooperative matrix cannot be a parameter of a kernel ('{p.name}')"
            notes = [Note("pass a pointer to the components, and load the matrix with coop_mat_load")]
            c.error("coop-mat-kernel-parameter", message, p.span, notes=notes)
        elif c.unit.has_matrix_types and holds(p.type):
            notes = [Note("pass a pointer to the matrix")]
            message = f"a matrix cannot be passed by value to a kernel ('{p.name}')"
            c.error("matrix-type-kernel-parameter", message, p.span, notes=notes)
        elif is_bits(element_type(p.type)) or p.type in (BOOL, EVENT) or isinstance(p.type, VoidType):
            c.error("kernel-parameter", f"kernel parameter '{p.name}' cannot have type '{p.type}'", p.span)
        elif isinstance(p.type, PointerType):
            _check_pointer(c, p, p.type)
        elif _holds_host_pointer(p.type):
            message = f"kernel parameter '{p.name}': pointers in it must be to global memory"
            c.error("kernel-parameter", message, p.span)
        else:
            _check_size(c, p)


def _check_size(c: Context, p: typed.VarDecl) -> None:
    """Report size_t and similar types, whose size on the device is unknown to a host, and bool."""
    own = c.host_sized.get(p)
    if own is not None:
        notes = [Note("its size depends on the device; use uint or ulong")]
        c.error("kernel-parameter", f"kernel parameter '{p.name}' cannot have type '{own}'", p.span, notes=notes)
        return
    member = _member_without_size(p.type)
    if member is not None:
        name = member.host_sized or str(member.type)
        notes = [Note(f"'{member.name}' is declared here", member.span)]
        message = f"kernel parameter '{p.name}': '{p.type}' holds a '{name}', which a host cannot pass"
        c.error("kernel-parameter", message, p.span, notes=notes)


def _member_without_size(t: Type) -> Field | None:
    """Return the first member of a record, at any depth, whose size is unknown to a host, or None."""
    records = (part for part in contained(t) if isinstance(part, RecordType))
    members = (item for record in records for item in record.fields or ())
    return next((item for item in members if item.host_sized is not None or item.type is BOOL), None)


def _holds_host_pointer(t: Type) -> bool:
    """Return whether a type contains a pointer that a host cannot set: one not to global memory."""
    pointers = (part for part in contained(t) if isinstance(part, PointerType))
    return any(pointer.qualifiers.space is not AddressSpace.GLOBAL for pointer in pointers)


def _check_pointer(c: Context, p: typed.VarDecl, t: PointerType) -> None:
    if t.qualifiers.space in (AddressSpace.PRIVATE, AddressSpace.GENERIC):
        message = f"kernel parameter '{p.name}' must point to global, constant or local memory"
        c.error("kernel-parameter", message, p.span)
    elif isinstance(t.pointee, PointerType) and c.features.version < 200:
        notes = [Note("pointers to pointers need -cl-std=CL2.0 or newer")]
        c.error("kernel-parameter", f"kernel parameter '{p.name}' cannot be a pointer to pointers", p.span, notes=notes)
    elif isinstance(t.pointee, PointerType):
        _check_pointer(c, p, t.pointee)
