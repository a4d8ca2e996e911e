"""The pages of docs/start and docs/howto: their blocks run in order, and print what is shown."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from opencl_devices import PLATFORMS, full_device
from pages import guides

import coopmat.vulkan
from coopmat.devices import DeviceInfo, list_devices, route_for
from coopmat.layer import library as layer
from coopmat.spirv import tools

ROOT = Path(__file__).parents[2]
PAGES = sorted(path for folder in ("start", "howto") for path in (ROOT / "docs" / folder).glob("*.md"))
_PICTURE = re.compile(r"!\[[^\]]*\]\((\S+\.svg)\)")
# Pictures that no page makes: tests/pages/test_faster.py compares them.
MEASURED = {"faster.svg"}


def lacks(word: str) -> str:
    """Return what this machine lacks for a block, or nothing."""
    if word == "index":
        return "it installs packages; tests/pages/test_commands.py --all installs them"
    if word == "spirv-val":
        return "" if tools.find_tools() else "no spirv-val that knows SPV_KHR_cooperative_matrix"
    if word == "vulkan":
        try:
            return "" if coopmat.vulkan.list_devices() else "no Vulkan device"
        except coopmat.vulkan.NoVulkan as error:
            return str(error)
    if word == "oclgrind":
        return "" if any(info.platform == PLATFORMS[word] for info in list_devices()) else "no Oclgrind"
    if word in ("distributed", "yaml", "IPython"):
        return "" if importlib.util.find_spec(word) else f"no Python package {word}"
    return "" if shutil.which(word) else f"no program {word}"


@pytest.fixture
def run(device: DeviceInfo, tmp_path: Path) -> guides.Run:
    """A run in an empty folder, whose compiler finds OpenCL's headers and the loader of this process."""
    if route_for(device).matrices != "one" or device != full_device():
        pytest.skip("the pages show the outputs of a CPU")
    variables = guides.environment(tmp_path / "home", ROOT)
    # Khronos' loader, which comes with Intel's runtime: pyopencl's own is for its process only.
    loader = Path(sys.prefix) / "lib" / "libOpenCL.so"
    variables |= {"CPATH": str(layer.INCLUDE), "LIBRARY_PATH": str(loader.parent)}
    variables |= {"LD_LIBRARY_PATH": str(loader.parent), "CMAKE_PREFIX_PATH": f"{tmp_path}:{sys.prefix}"}
    variables["LDFLAGS"] = "-Wl,--allow-shlib-undefined"  # it needs libraries beside it
    (tmp_path / "include").symlink_to(layer.INCLUDE)
    place = tmp_path / "page"
    place.mkdir()
    (place / "coopmat").symlink_to(ROOT)
    return guides.Run(place, variables, lacks)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_page_runs_as_printed(path: Path, run: guides.Run, request: pytest.FixtureRequest) -> None:
    page = path.read_text(encoding="utf-8")
    if not any(block.is_run for block in guides.blocks(page)):
        return
    new = run.page(page)
    is_updated = request.config.getoption("--update-golden")
    for name in set(_PICTURE.findall(page)) - MEASURED:
        made = (run.place / name).read_text(encoding="utf-8")
        if is_updated:
            (path.parent / name).write_text(made, encoding="utf-8")
        assert (path.parent / name).read_text(encoding="utf-8") == made, name
    if is_updated:
        path.write_text(new, encoding="utf-8")
    else:
        assert new == page
    if run.stopped:
        pytest.skip(run.stopped)


RUN_CELLS = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for source in json.load(sys.stdin):
    shell.run_cell(source).raise_error()
"""


def test_the_cells_of_the_page_on_notebooks(run: guides.Run) -> None:
    pytest.importorskip("IPython", reason="the cells need IPython")
    page = (ROOT / "docs" / "howto" / "notebook.md").read_text(encoding="utf-8")
    cells = [block.text for block in guides.blocks(page)]
    assert len(cells) == 3
    cells += ["assert (p.get() == 2).all()", "import coopmat.maps", "coopmat.maps.lane_map('16x16.A.f16', 'mma')"]
    words = [sys.executable, "-W", "ignore", "-c", RUN_CELLS]
    done = subprocess.run(
        words, input=json.dumps(cells), cwd=run.place, env=run.variables, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_the_workflow_has_the_commands_of_its_page(run: guides.Run) -> None:
    yaml = pytest.importorskip("yaml", reason="the workflow is read by PyYAML")
    page = (ROOT / "docs" / "howto" / "ci.md").read_text(encoding="utf-8")
    parts = list(guides.blocks(page))
    (workflow,) = (yaml.safe_load(block.text) for block in parts if block.language == "yaml")
    commands = [step["run"] for step in workflow["jobs"]["kernels"]["steps"] if step.get("name") in ("Compile", "Run")]
    assert len(commands) == 2
    assert "\n".join(commands) + "\n" in [block.text for block in parts if block.is_run]


def test_every_page_is_listed_by_its_index() -> None:
    for folder in ("start", "howto"):
        names = {path.name for path in PAGES if path.parent.name == folder}
        index = (ROOT / "docs" / folder / "index.md").read_text(encoding="utf-8")
        linked = set(re.findall(r"\]\(([\w-]+\.md)\)", index))
        assert linked == names - {"index.md"}


def test_pictures_belong_to_pages() -> None:
    for folder in ("start", "howto"):
        shown = {n for path in PAGES if path.parent.name == folder for n in _PICTURE.findall(path.read_text("utf-8"))}
        assert shown == {path.name for path in (ROOT / "docs" / folder).glob("*.svg")}


PAGE = """
<!-- file: a.txt -->
```c
int x;
```

```sh
cat a.txt; echo took 3.25 ms
```
```text
int x;
took 9 ms
```
<!-- status: 3 -->
```sh
exit 3
```
"""


def test_blocks_run_in_order(tmp_path: Path) -> None:
    def run(page: str) -> str:
        return guides.Run(tmp_path, dict(os.environ), lacks).page(page)

    assert run(PAGE) == PAGE
    assert run(PAGE.replace("int x;\ntook", "int y;\ntook")) == PAGE.replace("took 9", "took 3.25")
    assert run(PAGE.replace("int x;\ntook", "...;\ntook")).count("...") == 1
    with pytest.raises(guides.PageError, match="exit status 3"):
        run(PAGE.replace("<!-- status: 3 -->\n", ""))
    with pytest.raises(guides.PageError, match="line 3: is this c a file"):
        run(PAGE.replace("<!-- file: a.txt -->", "<!-- needs: sh -->"))


def test_a_missing_program_stops_a_page(tmp_path: Path) -> None:
    run = guides.Run(tmp_path, dict(os.environ), lacks)
    run.page(PAGE.replace("status: 3", "needs: no-such-program"))
    assert run.stopped == "line 15: no program no-such-program"


def test_a_new_user_has_the_programs(tmp_path: Path) -> None:
    variables = guides.environment(tmp_path / "home", ROOT)
    done = subprocess.run(["bash", "-c", "coopmat --version; ls ~"], env=variables, capture_output=True, text=True)
    assert re.fullmatch(r"coopmat [\d.]+\n", done.stdout), done
