"""Each refusal names the place in the source, or else the kernel, the reason, and what to do.

refused/NAME.cl is a source, perhaps with `// options:`, and NAME.txt the messages. `--update-golden` writes these anew.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from vulkan_modules import TARGET

import coopmat
from coopmat import CompileError

SOURCES = sorted((Path(__file__).parent / "refused").glob("*.cl"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_refusal(path: Path, request: pytest.FixtureRequest) -> None:
    text, expected = path.read_text(), path.with_suffix(".txt")
    options = re.match(r"// options: (.*)", text)
    with pytest.raises(CompileError) as caught:
        _ = coopmat.compile(text, [*TARGET, *(options[1].split() if options else ())], name=path.name).spirv
    found = f"{caught.value}\n"
    assert "not supported with --target-env vulkan1.3: " in found
    if request.config.getoption("--update-golden"):
        expected.write_text(found)
    assert found == expected.read_text()
