"""The lint of the package's structure finds what tools/rooms.toml forbids, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import room_lint
from room_lint import Package

LIMITS = {"function": 5, "module": 20, "circle": 3, "circle_with_types": 3, "code": 100, "must_read": 100}
ROOMS: dict[str, dict[str, Any]] = {
    "diagnostics": {"read": "must", "imports": []},
    "frontend": {"read": "must", "imports": ["diagnostics"], "budget": 4},
    "frontend/tables": {"read": "door", "imports": []},
    "ir": {"read": "must", "imports": ["diagnostics", "frontend", "frontend/tables", "cache"]},
    "cache": {"read": "door", "imports": [], "behind": 1},
    "cli": {"read": "door", "imports": ["ir"]},
}
Make = Callable[..., Package]


@pytest.fixture
def package(tmp_path: Path) -> Iterator[Make]:
    def make(**files: str) -> Package:
        root = tmp_path / "coopmat"
        standard = {"diagnostics": "", "frontend/__init__": "", "frontend/tables/__init__": "", "ir/__init__": ""}
        standard |= {"cache/__init__": "", "cache/directories": "", "cli/__init__": ""}
        for name, text in {**standard, **{n.replace("__", "/"): t for n, t in files.items()}}.items():
            path = root / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Package(root, {"limits": LIMITS, "rooms": ROOMS})

    yield make


def test_this_package_keeps_its_structure(capsys: pytest.CaptureFixture[str]) -> None:
    assert room_lint.main() == 0, capsys.readouterr().out


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
        "if TYPE_CHECKING:\n    from coopmat.ir import lower",
    ],
)
def test_an_import_against_the_direction_is_found(package: Make, text: str) -> None:
    (message,) = package(frontend__parse=text).problems()
    assert message.endswith("'frontend' may not import 'ir'")
    assert "parse.py:" in message


@pytest.mark.parametrize(
    "text",
    ["from . import x", "from .x import y", "from ..diagnostics import z", "import os, coopmat.diagnostics", "x = 1"],
)
def test_an_import_along_the_direction_is_allowed(package: Make, text: str) -> None:
    assert list(package(frontend__parse=text).problems()) == []


def test_the_public_interface_is_a_room(package: Make) -> None:
    (message,) = package(ir__lower="from coopmat import compile", ir__mangle="from coopmat.ir import x").problems()
    assert "lower.py" in message and "'__init__'" in message


def test_a_new_room_must_be_in_the_table(package: Make) -> None:
    (message,) = package(attic__x="").problems()
    assert "room 'attic' is not in rooms.toml" in message


def test_imports_behind_a_door_are_counted(package: Make) -> None:
    behind = "from ..cache.directories import x"
    assert list(package(ir__a="from ..cache import x\nfrom .. import cache", ir__b=behind).problems()) == []
    (message,) = package(ir__b=behind, ir__c=behind).problems()
    assert "2 imports go behind the door of 'cache', 1 may" in message


def test_a_budget_counts_lines_with_code(package: Make) -> None:
    text = '"""Docstring."""\nimport os\n\n# comment\na = 1\nb = """x\ny"""\nc = 2\n'
    assert list(package(frontend__a=text).problems()) == []
    (message,) = package(frontend__a=text, frontend__b="d = 3").problems()
    assert message.endswith("5 lines of code, and the budget is 4")
    assert list(package(frontend__a=text, frontend__b="", frontend__tables__x="d = 3").problems()) == []


def test_a_circle_of_too_many_files_is_found(package: Make) -> None:
    chain = {f"ir__{name}": f"from .{then} import x" for name, then in ("ab", "bc", "cd", "da")}
    message, with_types = package(**chain).problems()
    assert "a circle of 4 files: ir.a, ir.b, ir.c, ir.d" in message and "TYPE_CHECKING" in with_types
    chain["ir__d"] = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import x"
    (message,) = package(**chain).problems()
    assert "a circle of 4 files (with imports under TYPE_CHECKING)" in message


def test_a_circle_of_three_files_is_allowed(package: Make) -> None:
    chain = {f"ir__{name}": f"def f():\n    from .{then} import x" for name, then in ("ab", "bc", "ca")}
    assert list(package(**chain).problems()) == []


def test_long_functions_and_modules_are_found(package: Make) -> None:
    text = "class C:\n    def f(self):\n" + "        pass\n" * 4
    assert list(package(ir__a=text, ir__b="\n" * 20).problems()) == []
    function, module = package(ir__a=text + "        pass\n", ir__b="\n" * 21).problems()
    assert "a.py:2: 'f' has 6 lines; functions have at most 5" in function
    assert "b.py:1: 21 lines; modules have at most 20" in module


def test_two_files_of_tests_with_one_name_are_found(tmp_path: Path) -> None:
    for name in ("runtime/test_a.py", "vulkan/test_a.py", "vulkan/test_b.py", "vulkan/conftest.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    (message,) = room_lint.ambiguous_tests(tmp_path)
    assert message == f"{tmp_path}/vulkan/test_a.py:1: {tmp_path}/runtime/test_a.py has the same name"


def test_a_constant_with_two_values_is_found(package: Make) -> None:
    text = "_A = 1\nB: int = 2\nif B:\n    B = 3\nc = 4\nc = 5\n_A: int = 6\n"
    (message,) = package(ir__a=text).problems()
    assert message.endswith("a.py:7: '_A' has another value above")
