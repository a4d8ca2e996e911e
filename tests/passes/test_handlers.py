"""Each pass alone: a source under golden/ for each class of node that it handles, and the unit after the pass.

A file is named after its class. `coopmat compile --run-pass=PASS golden/PASS/CLASS.cl` prints what CLASS.typed holds;
`pytest tests/passes --update-golden` writes the outputs anew: read them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coopmat.compiler import compile
from coopmat.expansions import _HANDLERS as EXPANSIONS
from coopmat.frontend.nodes import walk
from coopmat.matrix_types import lowering
from coopmat.passes import NAMES, matrices, native_calls, small_floats, storage_vectors

GOLDEN = Path(__file__).parent / "golden"
HANDLERS = {
    "storage-vectors": storage_vectors._HANDLERS,
    "expansions": EXPANSIONS,
    "native-matrices": native_calls._HANDLERS,
    "cooperative-matrices": matrices._WITH_SUBGROUPS,
    "matrix-types": lowering._HANDLERS,
    "small-floats": small_floats._HANDLERS,
}
CASES = [(name, kind) for name, handlers in HANDLERS.items() for kind in sorted(kind.__name__ for kind in handlers)]


def test_every_pass_and_no_other_has_a_folder() -> None:
    assert list(HANDLERS) == list(NAMES)
    files = {(path.parent.name, path.stem) for path in GOLDEN.glob("*/*")}
    assert files == set(CASES)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_handler(name: str, kind: str, request: pytest.FixtureRequest) -> None:
    path = GOLDEN / name / f"{kind}.cl"
    options = re.search(r"^// options: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    module = compile(path, [*(options[1].split() if options else []), "-w"])
    roots = [node for decl in module.unit.functions for node in (*decl.parameters, decl.body)]
    roots += module.unit.variables
    assert kind in {type(node).__name__ for node in walk(*roots)}
    output, expected = module.typed_ast_after(name, alone=True), path.with_suffix(".typed")
    if request.config.getoption("--update-golden"):
        expected.write_text(output, encoding="utf-8")
    assert output == expected.read_text(encoding="utf-8")
