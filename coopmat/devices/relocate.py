"""A mirror of the CPU runtime at a path without blanks.

The runtime finds its directory in /proc/self/maps and stops reading at the first blank. From `/home/me/my
project/.venv/lib` it lists its device and then rejects every context. Symbolic links do not help, since the maps show
the real path. Hard links do, and occupy no space.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path


def without_blanks(runtime: Path, places: Iterable[Path]) -> Path:
    """Return a path of the runtime's library whose real path has no blank: `runtime`, or a file in a mirror.

    The mirror is created in one of the directories `places`. Raises OSError if none of them can contain the mirror.
    """
    real = Path(os.path.realpath(runtime))
    if not _has_blank(real):
        return runtime
    failure: OSError = FileNotFoundError(2, "no directory without blanks in its path", str(real))
    candidates = [Path(os.path.realpath(place)) for place in places]
    # Hard links require the same file system. Copies of the runtime are the last resort.
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
    """Create `place`/runtime-...-KEY with every file beside `runtime`, and return the directory.

    The directory gets this name only when it is complete. An existing directory is returned unchanged.
    """
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
        # Another process may have created the directory in the meantime.
        if not target.is_dir():
            raise
    return target


def _remove_orphans(place: Path, name: str) -> None:
    """Remove mirrors whose original was deleted.

    Their hard links would otherwise occupy the space of the deleted files for ever.
    """
    for library in place.glob(f"runtime-links-*/{name}"):
        if library.stat().st_nlink == 1:
            shutil.rmtree(library.parent, ignore_errors=True)
