"""Files for package managers, citations and manual pages agree with pyproject.toml, README and the commands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def project():
    tomllib = pytest.importorskip("tomllib" if sys.version_info >= (3, 11) else "tomli")
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_versions_are_those_of_the_package(project):
    for name in ("CITATION.cff", "packaging/conda/recipe.yaml"):
        assert re.findall(r"^\s*version: (\S+)$", (ROOT / name).read_text(), re.M) == [project["version"]], name


def test_the_recipe_has_the_package_s_requirements(project):
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text()
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    found = {line.strip().removeprefix("- ").replace(" ", "") for line in run.splitlines()}
    wanted = {re.sub(r";.*", "", requirement).replace(" ", "") for requirement in project["dependencies"]}
    assert found == wanted | {f"python{project['requires-python']}"}


def test_the_container_installs_as_readme_does():
    steps = re.findall(r"^RUN (.*)$", (ROOT / "packaging/Containerfile").read_text(), re.M)
    readme = (ROOT / "README.md").read_text()
    assert steps[0].replace("--no-cache-dir ", "").replace("/coopmat[", ".[") in readme
    assert steps[1] in readme


def test_issue_templates_ask_for_commands_that_exist():
    from coopmat.cli.app import COMMANDS

    pages = list((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
    assert len(pages) == 4
    for page in pages:
        for command in re.findall(r"coopmat ([a-z]+)", page.read_text()):
            assert command in COMMANDS


def test_every_command_has_a_current_manual_page():
    # In a process of its own: click keeps the help option of a command that another test has run without its group.
    write = "import json; from pages import man; print(json.dumps(man.pages()))"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests/support")])}
    pages = json.loads(subprocess.check_output([sys.executable, "-c", write], env=environment, text=True))
    folder = ROOT / "docs/man"
    assert {path.name for path in folder.iterdir()} == set(pages)
    for name, text in pages.items():  # another version of click may break lines elsewhere
        assert (folder / name).read_text().split() == text.split(), f"{name}: run tools/pages"


@pytest.mark.slow
def test_the_wheel_has_kernels_examples_and_manual_pages(tmp_path):
    pytest.importorskip("hatchling")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path], cwd=ROOT, check=True, timeout=300
    )
    names = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    for wanted in ("coopmat/share/kernels/gemm_f16.cl", "coopmat/share/examples/gemm.c"):
        assert wanted in names
    assert any(name.endswith("share/man/man1/coopmat-run.1") for name in names)
    assert "coopmat/cmake/coopmat-config.cmake" in names
    assert any(name.endswith("data/share/cmake/coopmat/coopmat-config.cmake") for name in names)
