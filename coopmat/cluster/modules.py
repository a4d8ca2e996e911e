"""Python modules and data for workers that do not have them: they are sent, and unpacked on each."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from distributed.diagnostics.plugin import WorkerPlugin

_SKIPPED = ("__pycache__", ".pyc")


class Modules(WorkerPlugin):  # type: ignore[misc]
    """A `Modules` is an archive of some folders of a root, and those of them that modules are imported from. Workers
    that come later get it, too."""

    def __init__(self, root: Path, folders: Sequence[str], imported: Sequence[str]) -> None:
        self.name = f"coopmat modules of {root.name}"
        self.imported = tuple(imported)
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            for path in sorted(path for folder in folders for path in (root / folder).rglob("*")):
                if path.is_file() and not any(word in str(path) for word in _SKIPPED):
                    file.write(path, path.relative_to(root))
        self.data = archive.getvalue()

    def setup(self, worker: Any) -> None:
        """Unpack it, and let this process and those that it starts import from it."""
        place = Path(tempfile.mkdtemp(prefix="coopmat-modules-"))
        with zipfile.ZipFile(io.BytesIO(self.data)) as file:
            file.extractall(place)
        paths = [str(place / folder) for folder in self.imported]
        sys.path[:0] = paths
        before = os.environ.get("PYTHONPATH", "")
        os.environ["PYTHONPATH"] = os.pathsep.join([*paths, *([before] if before else [])])
