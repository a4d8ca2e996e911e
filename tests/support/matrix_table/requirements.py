"""The cases that the language requires on every route, from the compiler's own tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from coopmat.frontend import typed
from coopmat.frontend.sema.matrices import BUILTINS, ENUMERATORS, operators, types
from coopmat.matrices.variants import COMPONENT_TYPES, EVERY_COMPONENT_TYPE, OPENCL_C_LAYOUTS, Kind, Layout, Use

from .axes import LOAD_SPACES, PARTS, STORE_SPACES
from .conversions import ROUNDINGS
from .functions import BUILDS, COMBINED, HOW, KINDS, MAPS, builtins_of
from .multiply_add import usual
from .operators import BINARY, WITH_SCALARS
from .programs import FORMS
from .rows import Row

Feature = tuple[str, ...]
# An operation, axes, and the features (operation and values on these axes) that need a case.
Requirement = tuple[str, tuple[str, ...], set[Feature]]

# builtin -> operations that need it; the compiler's table of builtins must have no other names.
CONVERSIONS = tuple(f"coop_mat_convert{suffix}" for suffix in ("", "_sat", "_rte", "_rtz", "_rtp", "_rtn"))
CONVERSIONS += tuple(f"coop_mat_convert_sat_{rounding}" for rounding in ROUNDINGS[1:])
OF_BUILTIN: dict[str, tuple[str, ...]] = {
    "coop_mat_load": ("load", "load with stride 0", "load by vectors", "load volatile", "load by generic pointer"),
    "coop_mat_store": ("store", "store by vectors", "store volatile", "store by generic pointer"),
    "coop_mat_load_checked": ("load checked",),
    "coop_mat_store_checked": ("store checked",),
    "coop_mat_mulAdd": ("multiply-add",),
    "coop_matmul_add": ("multiply-add",),
    "coop_mat_init": ("fill", "fill with a constant"),
    "coop_mat_length": ("coop_mat_length",),
    "coop_mat_coord": ("coop_mat_coord",),
    "coop_mat_transpose": ("coop_mat_transpose",),
    "coop_mat_prefetch": ("coop_mat_prefetch",),
    "coop_mat_reduce": ("coop_mat_reduce", "coop_mat_reduce by a builtin"),
    "coop_mat_map": ("coop_mat_map",),
    "coop_mat_build": ("coop_mat_build",),
    "coop_mat_build_columns": ("coop_mat_build_columns",),
    # These have tests of their own, tests/expansions: the table's kernels return arrays, and have no scales.
    **dict.fromkeys(("coop_mat_print", "coop_mat_print_lanes", "coop_mat_mulAdd_scaled"), ()),
    **dict.fromkeys(CONVERSIONS, ("coop_mat_convert",)),
}
# node of the typed AST -> operations that make it
OF_NODE: dict[str, tuple[str, ...]] = {
    "MatrixElement": ("m[i]", "m[i] ="),
    "MatrixBounds": ("load checked", "store checked"),
    "MatrixLoad": ("load",),
    "MatrixStore": ("store",),
    "MatrixMulAdd": ("multiply-add",),
    "MatrixFill": ("fill",),
    "MatrixLength": ("coop_mat_length",),
    "MatrixCoordinates": ("coop_mat_coord",),
    "MatrixConvert": (
        *("cast", "coop_mat_convert", "coop_mat_transpose"),
        *("change of use", "conversion and change of use"),
    ),
    "MatrixBinary": ("+", "-", "*", "/"),
    "MatrixScale": ("m * s", "s * m"),
    "MatrixNegate": ("unary -",),
    "MatrixComponentWise": ("builtin", "every builtin"),
    "MatrixMap": ("coop_mat_map", "coop_mat_build", "coop_mat_build_columns"),
    "MatrixReduce": ("coop_mat_reduce",),
    "MatrixPrefetch": ("coop_mat_prefetch",),
    "MatrixPrint": (),
    "MatrixMulAddScaled": (),
}


def unknown() -> set[str]:
    """Return the builtins, nodes, operators and component types of the compiler that the table lacks."""
    nodes = {
        name for name, item in vars(typed.cooperative).items() if name.startswith("Matrix") and isinstance(item, type)
    }
    # tests/narrow covers the component types of fewer than 8 bits.
    components = {t.name for t in types._COMPONENTS} - {t.opencl_c for t in EVERY_COMPONENT_TYPE.values()}
    layouts = {name for name in ENUMERATORS if "_LAYOUT_" in name} - {
        f"CLK_COOPERATIVE_MATRIX_LAYOUT_{x.name}" for x in OPENCL_C_LAYOUTS
    }
    directions = {name for name in ENUMERATORS if "_REDUCE_" in name} - set(" | ".join(HOW).split(" | "))
    named = layouts | directions | (set(operators._BINARY) - set(BINARY.values()))
    return (set(BUILTINS) - set(OF_BUILTIN)) | (nodes - set(OF_NODE)) | components | named


def without_cases(rows: Sequence[Row]) -> set[str]:
    """Return the operations of builtins and nodes that have no case."""
    have = {case.operation for row in rows for case in row.keys}
    return {name for names in (*OF_BUILTIN.values(), *OF_NODE.values()) for name in names} - have


def _product(operation: str, **axes: Sequence[object]) -> Requirement:
    values = itertools.product(*axes.values())
    return operation, tuple(axes), {(operation, *map(str, items)) for items in values}


def required(route: str) -> Iterator[Requirement]:
    """Yield operations, axes, and the features (operation and values on these axes) that need cases on the route."""

    def there(part: str) -> bool:
        return PARTS[part].there(route)

    kinds = [t for t, row in COMPONENT_TYPES.items() if not row.is_bits or there("bf16")]
    numbers = [t for t, row in COMPONENT_TYPES.items() if not row.is_bits]
    uses = [use.name for use in Use]
    layouts = [layout.name for layout in OPENCL_C_LAYOUTS if layout != Layout.PACKED or there("packed")]
    for operation, spaces in (("load", LOAD_SPACES), ("store", STORE_SPACES)):
        reached = [space for space in spaces if space != "private" or there("private")]
        yield _product(operation, type=kinds, layout=layouts, space=reached)
        yield _product(operation, type=kinds, use=uses, layout=layouts)
        yield _product(f"{operation} by vectors", type=kinds, layout=layouts)
        yield _product(f"{operation} volatile", type=kinds)
        if there("generic"):
            yield _product(f"{operation} by generic pointer", type=kinds)
        if there("checked"):
            yield _product(f"{operation} checked", type=kinds, layout=layouts)
    yield _product("coop_mat_prefetch", type=kinds, layout=layouts, space=("global", "local"))
    yield _product("load with stride 0", type=kinds, layout=layouts)
    for operator in ("+", "-", "*", "/", "+=", "-=", "*=", "/=", "unary -"):
        yield _product(operator, type=kinds, use=uses)
    for form in WITH_SCALARS:
        yield _product(form, type=kinds)
        yield _product(form, scalar=numbers)
    yield _product("fill", type=kinds, scalar=numbers)
    yield _product("fill with a constant", type=kinds)
    for form in ("coop_mat_length", "m[i]", "m[i] ="):
        yield _product(form, type=kinds, use=uses)
    for form in ("m[i] op=", "m[i]++"):
        yield _product(form, type=numbers, use=uses)
    yield from _functions(kinds, numbers)
    if there("coord"):
        yield _product("coop_mat_coord", type=kinds, use=uses)
    yield _product("cast", type=kinds, to=kinds)
    yield _product("change of use", type=kinds, use=uses, to=uses, form=("cast", "builtin"))
    yield _product("conversion and change of use", type=kinds, to=kinds)
    name = "conversion and change of use"
    yield name, ("use", "to use"), {(name, *pair) for pair in itertools.permutations(uses, 2)}
    if there("transpose"):
        yield _product("coop_mat_transpose", type=kinds, use=uses)
    if there("convert"):
        yield _product("coop_mat_convert", type=kinds, to=kinds)
        yield _product("coop_mat_convert", type=kinds, rounding=ROUNDINGS, saturate=(True, False))
        yield _product("coop_mat_convert", to=kinds, rounding=ROUNDINGS)
    yield from _multiply_adds(kinds)
    for form in FORMS:
        yield _product(form, type=kinds)


def _functions(kinds: Sequence[str], numbers: Sequence[str]) -> Iterator[Requirement]:
    """Yield the requirements of functions of components: every builtin in the compiler's table."""

    uses = [use.name for use in Use]
    yield _product("coop_mat_reduce", type=kinds, how=tuple(HOW), function=COMBINED)
    yield _product("coop_mat_reduce by a builtin", type=numbers)
    yield _product("coop_mat_map", type=kinds, use=uses, form=MAPS)
    yield _product("coop_mat_build", type=kinds, use=uses, form=BUILDS)
    yield _product("coop_mat_build_columns", type=kinds, use=uses)
    yield _product("builtin", type=kinds, operands=tuple(KINDS))
    every = {("every builtin", t, name) for t in kinds for name in builtins_of(COMPONENT_TYPES[t])}
    yield "every builtin", ("type", "name"), every


def _multiply_adds(kinds: Sequence[str]) -> Iterator[Requirement]:
    """Yield the requirements of multiply-adds: every combination of types; for integers, also masks and saturation."""
    name = "multiply-add"
    wanted: set[Feature] = set()
    for kind in Kind:
        alike = [t for t in kinds if COMPONENT_TYPES[t].kind is kind]
        wanted |= {(name, *triple) for triple in itertools.product(alike, repeat=3) if usual(*triple)}
    yield name, ("a", "b", "c"), wanted
    masks = ["none", *map(str, range(16))]
    yield (
        name,
        ("mask", "saturating"),
        {(name, m, s) for m in masks for s in ("True", "False") if (m, s) != ("none", "True")},
    )
    integers = [t for t in kinds if COMPONENT_TYPES[t].is_integer]
    yield name, ("a", "b", "c", "saturating"), {(name, *t, "True") for t in itertools.product(integers, repeat=3)}


def missing(route: str, rows: Sequence[Row]) -> list[Feature]:
    """Return the required features without a case in these rows, which are all that run on the route."""
    keys = [case for row in rows for case in row.keys]
    lacking: list[Feature] = []
    for operation, axes, features in required(route):
        have = {case.on(*axes) for case in keys if case.operation == operation}
        lacking += sorted(features - have)
    return lacking
