"""The layer's library: its path, its build, and the environment in which a program finds it."""

from __future__ import annotations

import ctypes
import importlib.util
import mmap
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from coopmat.diagnostics import CompileError, Diagnostic, Severity

LAYERS = "OPENCL_LAYERS"
"""The variable by which OpenCL's loaders are told of layers: paths, separated by colons."""
NAME = "libcoopmat_layer.so"
_PATHS = ".paths"
# The symbol by which an OpenCL loader enumerates a driver's platforms: programs that contain it contain a loader.
_OF_LOADERS = b"clIcdGetPlatformIDsKHR"
_HERE = Path(__file__).resolve().parent
INCLUDE = _HERE / "include"
"""The directory of OpenCL's headers."""
SHIPPED = _HERE / "bin" / NAME
"""The library that wheels for a platform contain."""
_FLAGS = (
    *("-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-fPIC", "-shared", "-fvisibility=hidden"),
    *("-Wl,-z,relro,-z,now", "-Wl,--no-undefined"),
)


@dataclass(frozen=True)
class LayerLibrary:
    """A layer library that was built.

    path: the library.
    interpreter, helper: the Python interpreter and the script that it starts, as recorded in a file beside the library.
    """

    path: Path
    interpreter: Path
    helper: Path

    @property
    def faults(self) -> Iterator[str]:
        """Yield the reasons why the library cannot compile, or is out of date."""
        for what, path in (("interpreter", self.interpreter), ("helper", self.helper)):
            if not path.is_file():
                yield f"its {what} is missing: {path}"
        status = self.path.with_name(self.path.name + _PATHS).stat()
        if status.st_mode & 0o022 or status.st_uid not in (0, os.geteuid()):
            yield f"others can write the file that names its helper: {self.path.name}{_PATHS}"
        if any(source.stat().st_mtime > self.path.stat().st_mtime for source in sources()):
            yield "its source is newer"


def default_path() -> Path:
    """Return the path at which `build` puts the library by default: in the directory that this environment shares."""
    return Path(sys.prefix) / "share" / "coopmat" / "layer" / NAME


def sources() -> list[Path]:
    """Return the C files and headers of the library, sorted."""
    return sorted((_HERE / "source").glob("*.[ch]"))


def compiler() -> list[str]:
    """Return the C compiler's command: CC, cc, gcc, clang, or zig of the extra `layer`. Raises CompileError."""
    own = os.environ.get("CC", "").split()
    if own:
        return own
    for name in ("cc", "gcc", "clang"):
        path = shutil.which(name)
        if path:
            return [path]
    if importlib.util.find_spec("ziglang") is None:
        text = "there is no C compiler: install one, or `pip install coopmat[layer]`, or name one in CC"
        raise CompileError([Diagnostic(Severity.ERROR, "layer-compiler", text)])
    return [sys.executable, "-m", "ziglang", "cc"]


def command(path: Path, compiler: Sequence[str]) -> list[str]:
    """Return the command that compiles the library to `path`."""
    files = [str(source) for source in sources() if source.suffix == ".c"]
    return [*compiler, *_FLAGS, "-isystem", str(INCLUDE), "-o", str(path), *files, "-lpthread", "-ldl"]


def build(path: Path | None = None, from_source: bool = False) -> LayerLibrary:
    """Build the library at `path`; it will start this interpreter and this package as its helper.

    A wheel's own library is copied if it fits this machine, unless `from_source` is set. Raises CompileError if there
    is no compiler, or the compiler refuses the source.
    """
    path = (path or default_path()).absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    if not from_source and _is_loadable(SHIPPED):
        shutil.copyfile(SHIPPED, new)
    else:
        _compile(new)
    result = LayerLibrary(path, Path(sys.executable).absolute(), _HERE / "helper.py")
    paths = path.with_name(path.name + _PATHS)
    paths.unlink(missing_ok=True)
    paths.write_text(f"{result.interpreter}\n{result.helper}\n", encoding="utf-8")
    paths.chmod(0o644)
    new.chmod(0o755)
    # A rename, not a copy: processes that have loaded the old library keep it.
    new.replace(path)
    return result


def _is_loadable(path: Path) -> bool:
    try:
        ctypes.CDLL(str(path))
    except OSError:
        return False  # the file is missing, or for another machine
    return True


def _compile(path: Path) -> None:
    words = command(path, compiler())
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace")
        fault = (done.stderr or f"status {done.returncode}") if done.returncode else ""
    except OSError as error:
        fault = str(error)
    if fault:
        path.unlink(missing_ok=True)
        raise CompileError([Diagnostic(Severity.ERROR, "layer-compiler", f"{words[0]} failed:\n{fault}")])


def find(path: Path | None = None) -> LayerLibrary | None:
    """Return the library at `path` (by default, where `build` puts it), or None if there is none."""
    path = (path or default_path()).absolute()
    try:
        lines = path.with_name(path.name + _PATHS).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return LayerLibrary(path, Path(lines[0]), Path(lines[1])) if path.is_file() and len(lines) >= 2 else None


def loader_fault(program: Path) -> str | None:
    """Return why a program cannot load the layer, or None if it can.

    The reason is an OpenCL loader inside the program that does not know layers. For a file that is no Linux program or
    cannot be read, return None.
    """
    try:
        with program.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            has_own = content[:4] == b"\x7fELF" and content.find(_OF_LOADERS) >= 0
            if not has_own or any(content.find(text) >= 0 for text in (LAYERS.encode(), b"libOpenCL.so")):
                return None
    except (OSError, ValueError):  # the file cannot be read, or is empty
        return None
    return f"{program} contains an OpenCL loader of its own, which loads no layers: link it with libOpenCL.so"


def environment(library: LayerLibrary) -> dict[str, str]:
    """Return the environment variables with which a program must be started.

    They put the layer before the caller's other layers. They name this Python environment's drivers, if the loader
    would not find these otherwise.
    """
    from coopmat.devices import prepare

    before = os.environ.get("OCL_ICD_VENDORS")
    prepare()
    others = [name for name in os.environ.get(LAYERS, "").split(":") if name and name != str(library.path)]
    result = {LAYERS: ":".join([str(library.path), *others])}
    vendors = os.environ.get("OCL_ICD_VENDORS")
    if vendors and vendors != before:
        result["OCL_ICD_VENDORS"] = vendors
    return result
