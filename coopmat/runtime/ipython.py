"""The extension that `%load_ext coopmat` loads: pyopencl's cells, extended by sources with matrices.

    %%cl_kernel -o "-DN=16"
    kernel void f(...) { ... }

The context is `cl_ctx` or `ctx` of the notebook. Each kernel becomes a variable of the same name. Matrix types are
shown as maps of their lanes.
"""

from __future__ import annotations

from typing import Any

from pyopencl.ipython_ext import PyOpenCLMagics

from ..maps import register
from .hook import hook


class CoopmatMagics(PyOpenCLMagics):  # type: ignore[misc]
    """The IPython magics of pyopencl, with programs that are built inside the hook."""

    def _run_kernel(self, kernel: str, options: str | None) -> None:
        with hook():
            super()._run_kernel(kernel, options or "")


def load(shell: Any) -> None:
    shell.register_magics(CoopmatMagics)
    register(shell)
