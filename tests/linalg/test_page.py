"""The examples of docs/linalg.md print what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coopmat.devices import DeviceInfo

PAGE = Path(__file__).parents[2] / "docs" / "linalg.md"
pytestmark = pytest.mark.device


def test_the_examples_print_their_comments(
    device: DeviceInfo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYOPENCL_CTX", device.index)
    code = "".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
    exec(code, {})
    assert capsys.readouterr().out.splitlines() == re.findall(r"# (\[.*\])", code)
