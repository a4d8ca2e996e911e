"""The journal of a run of tuning: a file with a line of JSON for each finished trial, from which a run can continue."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .trials import Outcome, Trial


class Journal:
    """The finished trials of a run. If the process is killed, what is in the file stays valid.

    path: the file; it is created with the first trial.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._entries: dict[str, tuple[Outcome, float]] = {}
        for line in _whole_lines(path):
            entry = json.loads(line)
            outcome = Outcome(tuple(map(tuple, entry["seconds"])), entry["failure"])
            self._entries[entry["trial"]] = outcome, entry["spent"]

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, trial: Trial) -> tuple[Outcome, float] | None:
        """Return the outcome of a trial and the seconds that it took, or None if it has not finished."""
        return self._entries.get(_key(trial))

    def add(self, trial: Trial, outcome: Outcome, spent: float) -> None:
        """Write the outcome of a trial, which took `spent` seconds, to the file."""
        key = _key(trial)
        entry: dict[str, Any] = {"trial": key, **asdict(outcome), "spent": spent}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._entries[key] = outcome, spent

    def remove(self) -> None:
        """Delete the file, if there is one."""
        self.path.unlink(missing_ok=True)
        self._entries.clear()


def _key(trial: Trial) -> str:
    return json.dumps([trial.kind, trial.shape, [tiling and asdict(tiling) for tiling in trial.tilings]])


def _whole_lines(path: Path) -> list[str]:
    """Return the lines of a file. A last line that was not written completely is removed from the file."""
    if not path.is_file():
        return []
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        os.truncate(path, len(whole.encode()))
    return whole.splitlines()
