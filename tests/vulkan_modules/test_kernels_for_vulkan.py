"""Every kernel of the repository is valid for Vulkan 1.3 on every route."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from vulkan_modules import TARGET

import coopmat
from coopmat.spirv.tools import find_tools

ROOT = Path(__file__).resolve().parents[2]
FILES = [*sorted((ROOT / "kernels").glob("*.cl")), *sorted((ROOT / "tests" / "kernels").rglob("*.cl"))]
ROUTES = ("native", "vulkan-nv2", "lanes", "one", "scratch")


def options(text: str) -> list[str]:
    """The macros of the first run header."""
    header = re.search(r"// run:(.*?)(?=// (?:check|run):|\n[^/]|\n//\s*\n)", text, re.DOTALL)
    return re.findall(r"(?<=\s)-[DI]\S+", header[1]) if header else []


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_kernel(path: Path, route: str) -> None:
    if find_tools() is None:
        pytest.skip("no spirv-val is installed")
    text, name = path.read_text(), str(path.relative_to(ROOT))
    of_route = ["--native-profile", route] if route == "vulkan-nv2" else ["--matrices", route]
    words = [*TARGET, *of_route, f"-I{path.parent}", *options(text)]
    module = coopmat.compile(text, words, name=name)
    assert module.spirv
    assert module.validated
    assert module.launch is not None
