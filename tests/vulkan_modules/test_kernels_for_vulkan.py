"""Every kernel of the repository is valid for Vulkan 1.3 on every route, or refused for a reason listed here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from vulkan_modules import TARGET

import coopmat
from coopmat import CompileError
from coopmat.spirv.tools import find_tools

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    *sorted((ROOT / "kernels").glob("*.cl")),
    *sorted((ROOT / "tests" / "kernels").rglob("*.cl")),
    *sorted((ROOT / "tests" / "vulkan" / "builtins").glob("*.cl")),
]
ROUTES = ("native", "vulkan-nv2", "lanes", "one", "scratch")
# File -> a part of the reason.
REFUSED = {"tests/kernels/convolve.cl": "image2d_t as the type of the parameter"}


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
    try:
        module = coopmat.compile(text, words, name=name)
        assert module.spirv
    except CompileError as error:
        assert REFUSED.get(name, "nothing") in error.diagnostics[-1].message
    else:
        assert name not in REFUSED
        assert module.validated
        assert module.launch is not None
