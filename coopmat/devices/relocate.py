"""A place without spaces for the CPU runtime.

The runtime finds its own directory in /proc/self/maps and stops reading at the first blank, so from
`/home/me/my project/.venv/lib` it lists its device and then refuses every context. Symbolic links do not help,
since the maps show the real path; hard links do, and take no room.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path


def without_blanks(runtime: Path, places: Iterable[Path]) -> Path:
    """The runtime's library at a real path that has no blank: its own, or in a mirror in one of `places`.

    Raises OSError where none of the places can hold the mirror.
    """
    real = Path(os.path.realpath(runtime))
    if not _has_blank(real):
        return runtime
    failure: OSError = FileNotFoundError(2, "no directory without blanks in its path", str(real))
    candidates = [Path(os.path.realpath(place)) for place in places]
    # A place on the same file system takes hard links; copying the runtime is the last resort.
    for link in (True, False):
        for place in candidates:
            if _has_blank(place):
                continue
            try:
                return _mirror(real, place, link) / real.name
            except OSError as error:
                failure = error
    raise failure


def _has_blank(path: Path) -> bool:
    return any(character.isspace() for character in str(path))


def _mirror(runtime: Path, place: Path, link: bool) -> Path:
    """`place`/runtime-...-KEY with every file beside `runtime`: complete once it has that name."""
    files = sorted(entry for entry in runtime.parent.iterdir() if entry.is_file())
    described = [f"{file}\0{file.stat().st_size}\0{file.stat().st_mtime_ns}" for file in files]
    target = place / (
        f"runtime-{'links' if link else 'copy'}-" + hashlib.sha256("\0".join(described).encode()).hexdigest()[:16]
    )
    if target.is_dir():
        return target
    place.mkdir(parents=True, exist_ok=True)
    _remove_orphans(place, runtime.name)
    partial = Path(tempfile.mkdtemp(dir=place, prefix=".runtime-"))
    try:
        for file in files:
            if file.is_symlink():
                (partial / file.name).symlink_to(os.path.basename(os.path.realpath(file)))  # noqa: PTH119
            elif link:
                os.link(file, partial / file.name)
            else:
                shutil.copy2(file, partial / file.name)
        partial.rename(target)
    except OSError:
        shutil.rmtree(partial, ignore_errors=True)
        # Another process may have been faster.
        if not target.is_dir():
            raise
    return target


def _remove_orphans(place: Path, name: str) -> None:
    """Links whose original is gone would hold its room for ever."""
    for library in place.glob(f"runtime-links-*/{name}"):
        if library.stat().st_nlink == 1:
            shutil.rmtree(library.parent, ignore_errors=True)
