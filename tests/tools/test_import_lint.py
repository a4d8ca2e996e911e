"""The lint of import directions finds what goes the wrong way, and nothing else."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("import_lint", ROOT / "tools" / "import_lint.py")
import_lint = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(import_lint)


@pytest.fixture
def package(tmp_path):
    def make(**files: str) -> Path:
        root = tmp_path / "coopmat"
        standard = {"diagnostics.py": "", "frontend/__init__.py": "", "ir/__init__.py": "", "cli/__init__.py": ""}
        given = {name.replace("__", "/") + ".py": text for name, text in files.items()}
        for name, text in {**standard, **given}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return root

    return make


def test_this_package_keeps_its_directions():
    assert list(import_lint.violations(ROOT / "coopmat")) == []


@pytest.mark.parametrize(
    "text",
    [
        "import coopmat.ir",
        "import coopmat.ir.lower as x",
        "from coopmat import ir",
        "from coopmat.ir import lower",
        "from ..ir import lower",
        "from .. import ir",
        "def f():\n    from coopmat.ir import lower",
    ],
)
def test_an_import_against_the_direction_is_found(package, text):
    (message,) = import_lint.violations(package(frontend__parse=text))
    assert message.endswith("'frontend' may not import 'ir'")
    assert "parse.py:" in message


@pytest.mark.parametrize(
    "text",
    ["from . import x", "from .x import y", "from ..diagnostics import z", "import os, coopmat.diagnostics", "x = 1"],
)
def test_an_import_along_the_direction_is_fine(package, text):
    assert list(import_lint.violations(package(frontend__parse=text))) == []


def test_a_rooms_own_file_and_the_public_interface_are_told_apart(package):
    root = package(ir__lower="from coopmat import compile", ir__mangle="from coopmat.ir import lower")
    (message,) = import_lint.violations(root)
    assert "lower.py" in message and "'__init__'" in message


def test_a_new_room_must_be_in_the_table(package):
    (message,) = import_lint.violations(package(attic__x=""))
    assert "room 'attic' is not in the table" in message


def test_the_exit_status_tells(package, capsys):
    assert import_lint.main([str(package())]) == 0
    assert import_lint.main([str(package(frontend__bad="import coopmat.cli"))]) == 1
    assert "may not import 'cli'" in capsys.readouterr().out


def test_a_circle_of_more_than_three_files_is_found(package, monkeypatch):
    monkeypatch.setattr(import_lint, "CIRCLE", 3)
    chain = {f"frontend__{name}": f"from .{then} import x" for name, then in ("ab", "bc", "cd", "da")}
    (message,) = import_lint.circles(package(**chain))
    assert "a circle of 4 files: coopmat.frontend.a, coopmat.frontend.b" in message
    chain["frontend__d"] = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import x"
    assert list(import_lint.circles(package(**chain))) == []


def test_a_circle_of_three_files_is_allowed(package):
    chain = {f"frontend__{name}": f"def f():\n    from .{then} import x" for name, then in ("ab", "bc", "ca")}
    assert list(import_lint.circles(package(**chain))) == []
