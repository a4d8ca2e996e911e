"""A plugin that sends Python modules and data to workers, and unpacks them there."""

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
    """A worker plugin that carries an archive of folders.

    `folders` are inside `root`; modules are imported from those in `imported`. Workers that join later get the archive
    too.
    """

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
        """Unpack the archive on a worker, and add the folders in `imported` to its import path.

        The variable PYTHONPATH passes the path on to child processes of the worker.
        """
        place = Path(tempfile.mkdtemp(prefix="coopmat-modules-"))
        with zipfile.ZipFile(io.BytesIO(self.data)) as file:
            file.extractall(place)
        paths = [str(place / folder) for folder in self.imported]
        sys.path[:0] = paths
        before = os.environ.get("PYTHONPATH", "")
        os.environ["PYTHONPATH"] = os.pathsep.join([*paths, *([before] if before else [])])
