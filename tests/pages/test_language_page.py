"""docs/language.md as the reference of cooperative matrices: its examples compile, and what there is stands on it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pages import markdown
from valid_modules import assert_valid

import coopmat
from coopmat.frontend import builtins
from coopmat.frontend.builtins.matrix import BUILTINS
from coopmat.frontend.sema.matrices import ENUMERATORS
from coopmat.frontend.sema.matrices.component_wise import _overload, is_component_wise
from coopmat.frontend.types import FLOATS, INTEGERS, SCALARS, SMALL_FLOATS
from coopmat.matrices.routes import LISTED_ROUTES
from coopmat.native_profiles import NATIVE_PROFILES
from coopmat.warning_options.table import WARNINGS

ROOT = Path(__file__).parents[2]
PATH = ROOT / "docs/language.md"
PAGE = PATH.read_text(encoding="utf-8")
PREAMBLE, *EXAMPLES = markdown.blocks(PAGE, "c")
LOWERINGS = ("one", "lanes")
OTHERS = [name for name in LISTED_ROUTES[1:] if name not in LOWERINGS and (":" in name or name == "scratch")]
# What a profile has no words for, as the page says; by heading.
REFUSED = {
    **{
        name: {"coop_mat_coord": "native-matrix", "coop_mat_print_lanes": "native-matrix"}
        for name in ("khr", "vulkan", "vulkan-nv2", "vulkan-mesa")
    },
    "igc": dict.fromkeys(("Small floating-point components", "coop_mat_mulAdd_scaled"), "native-matrix"),
}
# What no profile has.
REFUSED_BY_ALL = {"Matrices of fewer than 8 bits": "native-matrix"}


def module(example: markdown.Block, *options: str) -> coopmat.Module:
    compiled = coopmat.compile(PREAMBLE.text + example.text, options)
    assert not compiled.diagnostics, "\n".join(str(item) for item in compiled.diagnostics)
    return compiled


@pytest.mark.parametrize("route", [*LOWERINGS, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda block: block.heading)
def test_examples_are_lowered(example: markdown.Block, route: str) -> None:
    assert_valid(module(example, "--matrices", route))


@pytest.mark.parametrize("profile", NATIVE_PROFILES)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda block: block.heading)
def test_examples_are_native(example: markdown.Block, profile: str) -> None:
    """Native modules are validated."""
    compiled = module(example, "--native-profile", profile, "--spirv-version", "1.4")
    refused = (REFUSED_BY_ALL | REFUSED.get(profile, {})).get(example.heading)
    if refused is None:
        assert_valid(compiled)
        return
    with pytest.raises(coopmat.CompileError) as caught:
        _ = compiled.spirv
    assert [item.code for item in caught.value.diagnostics] == [refused]


def test_each_builtin_has_an_entry() -> None:
    signatures = "\n".join(re.findall(r"^    .*$", PAGE, re.MULTILINE))
    assert [name for name in BUILTINS if f"{name}(" not in signatures] == []
    examples = "\n".join(example.text for example in EXAMPLES)
    plain = {name for name, row in BUILTINS.items() if not row.how.words} - {"coop_matmul_add"}
    assert [name for name in plain if f"{name}(" not in examples] == []


def test_types_and_enumerators_are_on_the_page() -> None:
    names = set(markdown.codes(PAGE))
    components = {t.name for t in (*INTEGERS, *FLOATS, *SMALL_FLOATS)}
    enumerations = {name for name in SCALARS if name.startswith(("coop_matrix_", "coop_mat_"))}
    assert {*ENUMERATORS, *components, *enumerations} - names == set()
    values = dict(zip(ENUMERATORS, map(str, ENUMERATORS.values()), strict=True))
    for cells in markdown.rows(PAGE):
        if cells[0].startswith("`CLK_") and cells[1][0].isdigit():
            assert [values[name] for name in markdown.codes(cells[0])] == cells[1].split(", ")


def package_codes() -> set[str]:
    """The codes of findings that the package has as strings."""
    files = (ROOT / "coopmat").rglob("*.py")
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    return set(re.findall(r"\"(coop-mat-[a-z0-9-]+)\"", text))


def test_the_tables_have_all_codes() -> None:
    warnings = {row.name for row in WARNINGS if row.name.startswith("coop-mat-")}
    tables = [cells for cells in markdown.rows(PAGE) if re.fullmatch(r"`coop-mat-[a-z0-9-]+`", cells[0])]
    listed = [cells[0].strip("`") for cells in tables]
    assert len(set(listed)) == len(listed) and set(listed) == package_codes()
    assert {cells[0].strip("`") for cells in tables[-len(warnings) :]} == warnings


def test_every_code_stands_with_what_it_is_about() -> None:
    """Beside the tables at the end."""
    entries = PAGE[: PAGE.index("\n## Errors\n")]
    missing = [code for code in sorted(package_codes()) if f"`{code}`" not in entries]
    assert missing in ([], ["coop-mat-nonuniform"]), missing
    assert "`-Wcoop-mat-nonuniform`" in entries


def test_the_builtins_of_scalars_are_those_that_take_matrices() -> None:
    floats, integers = [SCALARS[n] for n in ("half", "float", "double")], list(INTEGERS)
    kinds = {
        "half, float, double": floats,
        "float": [SCALARS["float"]],
        "integers": integers,
        "int, uint": [SCALARS["int"], SCALARS["uint"]],
        "unsigned integers": [t for t in integers if not t.signed],
        "all of these": [*integers, *floats],
    }
    listed = {cells[0]: set(markdown.codes(cells[1])) for cells in markdown.rows(PAGE) if cells[0] in kinds}
    found: dict[frozenset[str], set[str]] = {}
    for name in builtins.names():
        if is_component_wise(name):
            takes = [t.name for t in (*integers, *floats) if any(_overload(name, t, n) for n in range(1, 5))]
            found.setdefault(frozenset(takes), set()).add(name)
    found.pop(frozenset())
    assert {frozenset(t.name for t in types): listed[kind] for kind, types in kinds.items()} == found
