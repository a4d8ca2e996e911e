"""The OpenCL C of a source, analysed again, is the typed AST that was written, in canonical form."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from canonical_units import canonical_dump

from coopmat.compiler import compile
from coopmat.compiler.stages import PASSED
from coopmat.matrices.routes import OPENCL_C_ONLY
from coopmat.options import CompileOptions
from coopmat.runtime import parse_header

TESTS = Path(__file__).parents[1]
SOURCES = [
    *sorted((TESTS.parent / "kernels").glob("*.cl")),
    *(path for path in sorted((TESTS / "golden" / "in").glob("*/*.cl")) if path.parent.name != "diagnostics"),
]
# source -> why its text is analysed to another unit.
UNEQUAL = {
    "typed/calls.cl": "in a kernel with a barrier, the text reads the constant -1 from a volatile object, because a "
    "device's compiler makes a wrong negation of a product with it (`coopmat.opencl_c.context.Context.opaque`)",
}


def _options(path: Path, text: str) -> list[str]:
    first = next(iter(parse_header(text, path.name)), None)
    words = re.search(r"^// options: (.*)$", text, re.MULTILINE)
    return [*(words[1].split() if words else []), *(first.options if first else []), "-w"]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_opencl_c_is_analysed_to_the_same_unit(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    options = _options(path, source)
    if CompileOptions.from_arguments(options).matrices in OPENCL_C_ONLY:
        pytest.skip("the text of this route calls functions that only one vendor's compiler has")
    module = compile(source, options, name=path.name)
    extensions = [word for word in options if word.startswith("-cl-ext")]
    text = compile(module.opencl_c, [*module.opencl_c_options, *extensions], name=path.name)
    unit, _ = module.result(PASSED["c"])
    is_equal = canonical_dump(unit) == canonical_dump(text.unit)
    assert is_equal is (f"{path.parent.name}/{path.name}" not in UNEQUAL)
