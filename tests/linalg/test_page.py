"""The examples of docs/linalg.md print what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coopmat.devices import DeviceInfo

PAGE = Path(__file__).parents[2] / "docs" / "linalg.md"
pytestmark = pytest.mark.device


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
def test_an_example_prints_its_comment(
    code: str, device: DeviceInfo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYOPENCL_CTX", device.index)
    exec(code, {})
    assert capsys.readouterr().out == re.search(r"# (\[.*\])\n", code)[1] + "\n"
