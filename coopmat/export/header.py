"""The C header with a library of products."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from string import Template

import coopmat
from coopmat.linalg.listing import CHUNK, SHAPE_CLASSES, Listing, measured
from coopmat.runtime.ahead import AheadProgram

from .library import Library, Row

_WORDS_IN_LINE = 12
_PART = 100  # the most characters of a string
_PARAMETERS = (
    "{name}_library *library, cl_command_queue queue, size_t m, size_t n, size_t k,\n    cl_mem a, size_t offset_a, "
    "size_t row_a, cl_mem b, size_t offset_b, size_t row_b, {real} alpha, {real} beta,\n    cl_mem c, size_t offset_c, "
    "size_t row_c, cl_uint waits, const cl_event *wait_for, cl_event *event"
)
_BODY = """{{
    const {name}_matrix matrices[3] = {{
        {{ a, offset_a, row_a }}, {{ b, offset_b, row_b }}, {{ c, offset_c, row_c }}
    }};
    const cl_ulong sizes[3] = {{ m, n, k }};
    return {name}_multiply(
        library, queue, &{name}_products[{number}], sizes, matrices, &alpha, &beta, waits, wait_for, event);
}}"""


def require_name(name: str) -> None:
    """Raise ValueError if names in a header cannot begin with `name`, because it is no identifier of C."""
    if not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
        raise ValueError(f"name: expected an identifier of C, not '{name}'")


def header_text(library: Library, name: str) -> str:
    """Return a C header in which all names begin with `name`. Raises ValueError if it is no identifier of C."""
    require_name(name)
    listings = [listing for listing, _rows in library.products]
    heads = [_head(name, listing) for listing in listings]
    bodies = (_BODY.format(name=name, number=number) for number in range(len(heads)))
    template = (files(__package__) / "template.h").read_text(encoding="utf-8")
    return Template(template).substitute(
        _facts(library, name),
        name=name,
        NAME=name.upper(),
        program_count=len(library.programs),
        transposes_b=int(listings[0].transposes_b),
        chunk=CHUNK,
        classes="".join(f", {name}_{shape_class}" for shape_class in SHAPE_CLASSES),
        declarations="\n".join(f"{head};" for head in heads),
        data="\n".join(_data(library, name)),
        definitions="\n\n".join(f"{head}\n{body}" for head, body in zip(heads, bodies, strict=True)),
    )


def function_name(name: str, listing: Listing) -> str:
    """Return the name of the function for products of these types, such as gemm_f16, or gemm_f16_f16_f16.

    The short form is for A and B of the same type, and C of the type of the sums.
    """
    a, b, total, _real, c = listing.types
    types = [a] if a == b and c == total else [a, b, c]
    return "_".join([name, *(item.name for item in types)])


def _head(name: str, listing: Listing) -> str:
    """Return the head of the function for products of these types."""
    real = f"cl_{listing.types[3].opencl_c}"
    return f"cl_int {function_name(name, listing)}(\n    {_PARAMETERS.format(name=name, real=real)})"


def _facts(library: Library, name: str) -> dict[str, str]:
    """Return what the header's comment says of the device and the kernels."""
    target, programs = library.target, library.programs.values()
    tried = "" if target.device.handle is not None else " (not tried: a file describes the device)"
    place = measured(target.table)
    facts = {
        "version": coopmat.__version__,
        "device": f"{target.device.platform}: {target.device.name}, driver {target.device.driver or 'unknown'}",
        "routes": ", ".join(dict.fromkeys(program.route for program in programs)),
        "instructions": ", ".join(target.instructions) + tried if target.instructions else "none",
        "forms": ", ".join(sorted({_form(program) for program in programs})),
        "tiles": f"of the route {target.table}, " + (f"measured on {place}" if place else "which were not measured"),
        "functions": ", ".join(function_name(name, listing) for listing, _rows in library.products),
        "first": function_name(name, library.products[0][0]),
        "example_row_b": "k" if library.products[0][0].transposes_b else "n",
        "shape_b": "n x k (the product's B, transposed)" if library.products[0][0].transposes_b else "k x n",
    }
    return {key: value.replace("*/", "* /") for key, value in facts.items()}


def _form(program: AheadProgram) -> str:
    forms = ["SPIR-V" if form == "spirv" else "OpenCL C" for form, _code, _options in program.parts]
    return " linked with ".join(forms)


def _data(library: Library, name: str) -> Iterator[str]:
    """Yield the definitions of the constants: programs, choices and products."""
    rows, codes = [], dict[tuple[str, bytes], str]()
    for source, program in library.programs.items():
        parts = []
        for form, code, options in program.parts:
            if (form, code) not in codes:
                codes[form, code] = f"{name}_code_{len(codes)}"
                yield _code(form, code, codes[form, code])
            array = codes[form, code]
            pointers = f"NULL, {array}" if form == "spirv" else f"{array}, NULL"
            parts.append(f"{{ {pointers}, sizeof {array} / sizeof *{array}, {json.dumps(options)} }}")
        parts += ["{ NULL, NULL, 0, NULL }"] * (2 - len(parts))
        size = 0 if source.work_items else program.kernels[source.kernel].sub_group_size or 0
        rows.append(f'{{ "{source.kernel}", {{ {", ".join(parts)} }}, {size}, {source.work_items} }}')
    yield _array(f"{name}_program {name}_programs", rows)
    products = []
    for number, (listing, choices) in enumerate(library.products):
        a, b, _total, real, c = (item.size for item in listing.types)
        yield _array(f"{name}_choice {name}_choices_{number}", [_choice(row, name) for row in choices])
        products.append(f"{{ {name}_choices_{number}, {len(choices)}, {{ {a}, {b}, {c} }}, {real} }}")
    yield _array(f"{name}_product {name}_products", products)


def _array(declaration: str, rows: list[str]) -> str:
    return f"static const {declaration}[] = {{\n" + "".join(f"    {row},\n" for row in rows) + "};\n"


def _code(form: str, code: bytes, name: str) -> str:
    """Return the definition of code: words of SPIR-V, or pieces of a text."""
    if form != "spirv":
        # A string of C has at most 4095 characters.
        lines = code.decode("ascii").splitlines(keepends=True)
        parts = [line[at : at + _PART] for line in lines for at in range(0, len(line), _PART)]
        return _array(f"char *const {name}", [json.dumps(part).replace("?", "\\?") for part in parts])
    words = [f"{word:#x}" for word in memoryview(code).cast("I")]
    rows = [words[at : at + _WORDS_IN_LINE] for at in range(0, len(words), _WORDS_IN_LINE)]
    return _array(f"cl_uint {name}", [", ".join(row) for row in rows])


def _choice(row: Row, name: str) -> str:
    """Return a row of the table of choices."""
    choice, (m, n, _k) = row.choice, row.choice.tiling.group
    copies = [
        f"{{ {number}, {panels.side}, {panels.step}, {panels.component.size}, {int(panels.has_sums)} }}"
        for number, panels in zip(row.copies, choice.panels, strict=True)
    ] or ["{ -1, 0, 0, 0, 0 }"] * 2
    conditions = f"{name}_{choice.shape_class or 'all'}, {choice.rows}, {int(choice.is_whole)}, {choice.piece}"
    tile = ", ".join(map(str, choice.tiling.tile))
    kernel = f"{int(choice.needs_k)}, {row.program}, {{ {tile} }}, {{ {m}, {n} }}, {choice.tiling.sub_groups}"
    return f"{{ {conditions}, {kernel}, {{ {', '.join(copies)} }} }}"
