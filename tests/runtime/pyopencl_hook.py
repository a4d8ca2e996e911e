"""A plugin for pytest: inside `coopmat.hook(everything=True)` from its import on; tells how many programs it built."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import coopmat
from coopmat.devices import prepare
from coopmat.runtime import hook

prepare()
_built: list[Any] = []
_stack = ExitStack()
_original = hook.build_matrices


def _counted(program: Any, *arguments: Any) -> None:
    _original(program, *arguments)
    _built.append(None)


hook.build_matrices = _counted
_stack.enter_context(coopmat.hook(everything=True))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line(f"programs built by coopmat: {len(_built)}")
