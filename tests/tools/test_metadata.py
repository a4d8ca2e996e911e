"""The package's metadata: links that work on a package index."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_description_has_absolute_links_to_files_that_exist():
    pytest.importorskip("hatchling")
    tomllib = pytest.importorskip("tomllib" if sys.version_info >= (3, 11) else "tomli")
    from metadata import Readme

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    facts = {"urls": project["urls"]}
    Readme(str(ROOT), {}).update(facts)
    links = re.findall(r"\]\(([^)]+)\)", facts["readme"]["text"])
    assert links and all(link.startswith(("https://", "#")) for link in links)
    for link in links:
        _, separator, path = link.partition("/blob/main/")
        assert not separator or (ROOT / path.partition("#")[0]).exists()
    assert any(item.startswith("Programming Language :: Python :: 3.1") for item in project["classifiers"])
