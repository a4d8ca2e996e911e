"""The machine code of a program for one device of a vendor, by compilers that may be installed."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..compiler import recompile
from .listing import Line, of_assembly

if TYPE_CHECKING:
    from ..compiler import Module

SECONDS = 120
_CLANGS = ("clang", *(f"clang-{version}" for version in range(24, 16, -1)))


class Missing(LookupError):
    """Raised if there is no listing; the text says why."""


@dataclass(frozen=True, slots=True)
class _Vendor:
    """How the programs of a route are compiled.

    target: the usual device.
    make: the function that returns the lines and a note, for the module, the device and a directory.
    """

    target: str
    make: Callable[[Module, str, Path], tuple[list[Line], str]]


def code(module: Module, target: str = "") -> tuple[list[Line], str]:
    """Return the lines of the machine code and a note about it. Raises Missing."""
    route, _, generation = module.matrices.partition("@")
    row = _VENDORS.get(route)
    if module.options.is_vulkan:
        raise Missing("The Vulkan driver makes the machine code, and does not show it.")
    if row is None:
        routes = ", ".join(_VENDORS)
        raise Missing(
            f"The device's driver makes the machine code of the route {module.matrices}, and does not show it. "
            f"The routes {routes} have compilers that print it."
        )
    with tempfile.TemporaryDirectory() as place:
        return row.make(module, target or _USUAL.get(generation, generation) or row.target, Path(place))


def _find(names: Sequence[str], package: str) -> str:
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        raise Missing(f"{names[0]} is not installed, which prints this machine code: apt install {package}")
    return found


def _run(*words: str | Path) -> str:
    """Return the output of a command. Raises Missing with its messages if it fails."""
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise Missing(f"{Path(words[0]).name} took more than {SECONDS} seconds") from None
    if done.returncode:
        messages = (done.stderr + done.stdout).strip()[-2000:]
        raise Missing(f"{Path(words[0]).name} failed: {messages or f'status {done.returncode}'}")
    return done.stdout


def _by_clang(triple: str, processor: str, lacks: str = "") -> Callable[[Module, str, Path], tuple[list[Line], str]]:
    """Return a function that compiles the lowered OpenCL C.

    processor: the options that select a device.
    lacks: an extension that the vendor's devices lack.
    """

    def make(module: Module, target: str, place: Path) -> tuple[list[Line], str]:
        clang = _find(_CLANGS, "clang")
        if lacks:
            options = module.options
            module = recompile(module, replace(options, extensions={lacks: False, **options.extensions}))
        (place / "kernel.cl").write_text(module.opencl_c, encoding="utf-8")
        words = [*shlex.split(processor.format(target)), *module.opencl_c_options]
        usual = ["-nogpulib", "-w", "-Xclang", "-finclude-default-header", "-O3", "-g1", "-S", "-o"]
        _run(clang, "-x", "cl", "-target", triple, *words, *usual, place / "kernel.s", place / "kernel.cl")
        text = (place / "kernel.s").read_text(encoding="utf-8", errors="replace")
        kind = "PTX, which the driver translates further" if "nvptx" in triple else "Assembly"
        note = f"{kind}, for {target}, by {Path(clang).name}. Calls of the vendor's library remain."
        return of_assembly(text, module.name), note

    return make


def _by_ocloc(module: Module, target: str, place: Path) -> tuple[list[Line], str]:
    """Compile SPIR-V on the native route, otherwise OpenCL C."""
    ocloc = _find(("ocloc",), "intel-ocloc")
    native = module.matrices == "native"
    file = place / ("kernel.spv" if native else "kernel.cl")
    if native:
        file.write_bytes(module.spirv)
    else:
        file.write_text(module.opencl_c, encoding="utf-8")
    kind = ["-spirv_input"] if native else ["-options", "-cl-std=CL3.0"]
    _run(ocloc, "compile", "-q", "-file", file, "-device", target, *kind, "-out_dir", place, "-output", "kernel")
    binary = next((path for path in place.iterdir() if path.suffix == ".bin"), None)
    if binary is None:
        raise Missing(f"ocloc made no program for {target}")
    dump = place / "dump"
    _run(ocloc, "disasm", "-q", "-file", binary, "-device", target, "-dump", dump)
    texts = [path.read_text(errors="replace") for path in sorted(dump.glob(".text.*.asm"))]
    if not texts:
        raise Missing(f"ocloc cannot disassemble programs for {target}")
    lines = [Line(line) for text in texts for line in text.rstrip().split("\n")]
    return lines, f"For {target}, by ocloc."


def instructions(lines: Sequence[Line]) -> dict[str, int]:
    """Return name -> number of the matrix instructions in machine code."""
    found: dict[str, int] = {}
    for line in lines:
        if match := _MATRIX.search(line.text):
            found[match[0]] = found.get(match[0], 0) + 1
    return found


_MATRIX = re.compile(r"\b(?:dpasw?\.\w+|(?:mma|wmma)\.sync[.\w]*|v_(?:wmma|mfma)_\w+)")

_PTX = "-Xclang -target-cpu -Xclang {} -Xclang -target-feature -Xclang +ptx84"

_VENDORS: Mapping[str, _Vendor] = {
    "mma": _Vendor("sm_89", _by_clang("nvptx64-nvidia-nvcl", _PTX, "cl_khr_fp16")),
    "wmma": _Vendor("gfx1200", _by_clang("amdgcn-amd-amdhsa", "-mcpu={}")),
    "mfma": _Vendor("gfx942", _by_clang("amdgcn-amd-amdhsa", "-mcpu={}")),
    "dpas": _Vendor("pvc", _by_ocloc),
    "native": _Vendor("pvc", _by_ocloc),
}
# generation of devices -> the usual device of this generation, if it has another name
_USUAL = {"gfx11": "gfx1100", "gfx12": "gfx1200", "dg2": "dg2-g10"}
