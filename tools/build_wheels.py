"""Build the pure wheel, and for each processor a wheel with the layer's library, and check these libraries.

Usage: tools/build-wheels [--output dist] [--emulator qemu-aarch64-static] [--sysroot DIRECTORY]
A library must need no glibc newer than 2.17, export only the functions for the loader, and contain no path of this
machine. The library for aarch64 is loaded under qemu-user, if qemu and a sysroot with the C library (such as Debian's)
are found. The same tree gives the same wheels, byte for byte; their times are SOURCE_DATE_EPOCH or the time of the last
commit. If a check fails, the fault is printed, that library's wheel is left out, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection
from elftools.elf.sections import SymbolTableSection

from coopmat.layer import library

ROOT = Path(__file__).resolve().parent.parent
NEWEST = (2, 17)
"""The version of glibc that libraries may need, that of manylinux2014."""
EXPORTS = {"clGetLayerInfo", "clInitLayer", "clInitLayerWithProperties", "clDeinitLayer"}
LIBRARIES = {"libc.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
# A program that loads a library, and queries it as a loader does.
PROBE = r"""
#include <CL/cl_layer.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int main(int count, char **paths)
{
    static cl_icd_dispatch none;
    const cl_icd_dispatch *table = NULL;
    char name[64] = "";
    cl_uint size = sizeof none / sizeof(void *), own = 0;
    void *handle = count > 1 ? dlopen(paths[1], RTLD_NOW) : NULL;
    pfn_clGetLayerInfo info = handle ? (pfn_clGetLayerInfo)dlsym(handle, "clGetLayerInfo") : NULL;
    pfn_clInitLayer init = handle ? (pfn_clInitLayer)dlsym(handle, "clInitLayer") : NULL;
    if (!info || !init)
        return puts(handle ? "a function is missing" : dlerror()), 1;
    int error = info(CL_LAYER_NAME, sizeof name, name, NULL) || init(size, &none, &own, &table);
    return printf("%s, %u functions\n", name, own), error || !table || own != size || strcmp(name, "coopmat");
}
"""


@dataclass(frozen=True)
class Target:
    """A processor: its name in wheel tags, zig's target, and ELF's machine number."""

    processor: str
    machine: str

    @property
    def compiler(self) -> list[str]:
        triple = f"{self.processor}-linux-gnu.{'.'.join(map(str, NEWEST))}"
        return [sys.executable, "-m", "ziglang", "cc", "-target", triple]

    @property
    def tag(self) -> str:
        return f"py3-none-manylinux_2_17_{self.processor}.manylinux2014_{self.processor}"


TARGETS = (Target("x86_64", "EM_X86_64"), Target("aarch64", "EM_AARCH64"))


def faults(path: Path, machine: str, private: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the reasons why a library must not be shipped; `private` are texts that it must not contain."""
    data = path.read_bytes()
    # In a container, the home directory may be `/`, with which every path begins.
    yield from (f"it names {text}" for text in private if len(text) > 1 and text.encode() in data)
    with path.open("rb") as file:
        elf = ELFFile(file)
        if elf["e_machine"] != machine:
            yield f"it is for {elf['e_machine']}"
        for section in elf.iter_sections():
            if isinstance(section, GNUVerNeedSection):
                names = {v.name for _, versions in section.iter_versions() for v in versions}
                yield from (f"it needs {name}" for name in sorted(names) if _is_newer(name))
            elif isinstance(section, DynamicSection):
                needed = {tag.needed for tag in section.iter_tags("DT_NEEDED")}
                yield from (f"it needs {name}" for name in sorted(needed - LIBRARIES))
            elif isinstance(section, SymbolTableSection) and section.name == ".dynsym":
                yield from _export_faults(section)


def _export_faults(section: SymbolTableSection) -> Iterator[str]:
    exports = {s.name for s in section.iter_symbols() if s["st_shndx"] != "SHN_UNDEF" and s.name}
    exports -= {"_init", "_fini", "_edata", "_end", "__bss_start"}
    yield from (f"it does not export {name}" for name in sorted(EXPORTS - exports))
    yield from (f"it exports {name}" for name in sorted(exports - EXPORTS))


def _is_newer(version: str) -> bool:
    match = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?", version)
    return match is None or (int(match[1]), int(match[2])) > NEWEST


def run(command: list[str]) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def compiled(target: Target, work: Path) -> Path:
    """Compile the layer's library for the target, without the paths of this machine, and return its path."""
    path = work / target.processor / library.NAME
    path.parent.mkdir()
    run([*library.command(path, target.compiler), "-g0", "-s"])
    return path


def probed(target: Target, path: Path, work: Path, emulator: list[str]) -> str:
    """Run a program on the target's (emulated) processor that loads the library, and return its output."""
    source, program = work / "probe.c", path.with_name("probe")
    source.write_text(PROBE, encoding="utf-8")
    include = ["-isystem", str(library.INCLUDE)]
    run([*target.compiler, "-DCL_TARGET_OPENCL_VERSION=300", *include, "-o", str(program), str(source), "-ldl"])
    return run([*emulator, str(program), str(path)]).strip()


def platform_wheel(pure: Path, target: Target, path: Path, work: Path) -> Path:
    """Return the path of a copy of the pure wheel with the library and the target's tags, made in `work`."""
    place = work / target.processor / "wheel"
    run([sys.executable, "-m", "wheel", "unpack", "--dest", str(place), str(pure)])
    (content,) = place.iterdir()
    binary = content / "coopmat" / "layer" / "bin"
    binary.mkdir()
    shutil.copyfile(path, binary / library.NAME)
    (binary / library.NAME).chmod(0o755)
    (facts,) = content.glob("*.dist-info/WHEEL")
    lines = [line for line in facts.read_text().splitlines() if not line.startswith(("Tag:", "Root-Is-Purelib:"))]
    python, abi, platforms = target.tag.split("-")
    tags = [f"Tag: {python}-{abi}-{platform}" for platform in platforms.split(".")]
    facts.write_text("\n".join([*(line for line in lines if line), "Root-Is-Purelib: false", *tags]) + "\n")
    packed = work / target.processor / "packed"
    packed.mkdir()
    run([sys.executable, "-m", "wheel", "pack", "--dest-dir", str(packed), str(content)])
    (wheel,) = packed.iterdir()
    return wheel


def emulator_for(target: Target, arguments: argparse.Namespace) -> list[str] | None:
    """Return the command that runs the target's programs here: [] if none is needed, None if no emulator is found."""
    if os.uname().machine == target.processor:
        return []
    names = (
        [arguments.emulator] if arguments.emulator else [f"qemu-{target.processor}-static", f"qemu-{target.processor}"]
    )
    path = next((found for name in names if (found := shutil.which(name))), None)
    if path is None or not arguments.sysroot:
        return None
    return [path, "-L", str(arguments.sysroot)]


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/build-wheels", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    parser.add_argument("--emulator", help="runs programs for aarch64, by default qemu-aarch64-static")
    sysroot = os.environ.get("QEMU_LD_PREFIX")
    text = "a directory with the C library for aarch64, by default that of QEMU_LD_PREFIX"
    parser.add_argument("--sysroot", type=Path, default=Path(sysroot) if sysroot else None, help=text)
    arguments = parser.parse_args()
    output = arguments.output.absolute()
    output.mkdir(parents=True, exist_ok=True)
    # Read by hatchling and by `wheel pack`.
    os.environ["SOURCE_DATE_EPOCH"] = epoch()
    status = 0
    with tempfile.TemporaryDirectory(prefix="coopmat-wheels-") as place:
        work = Path(place)
        run([sys.executable, "-m", "build", "--wheel", "--outdir", str(work / "pure")])
        (pure,) = (work / "pure").glob("*.whl")
        shutil.copy(pure, output)
        print(f"{pure.name}: {pure.stat().st_size} bytes")
        for target in TARGETS:
            path = compiled(target, work)
            found = list(faults(path, target.machine, (str(ROOT), str(Path.home()), str(work), sys.prefix)))
            for fault in found:
                print(f"the library for {target.processor}: {fault}")
                status = 1
            if found:
                continue
            emulator = emulator_for(target, arguments)
            told = "not run: no emulator, or no sysroot" if emulator is None else probed(target, path, work, emulator)
            wheel = platform_wheel(pure, target, path, work)
            shutil.copy(wheel, output)
            print(f"{wheel.name}: {wheel.stat().st_size} bytes, the library {path.stat().st_size}; loaded: {told}")
    return status


def epoch() -> str:
    """Return the time of files in wheels, in seconds since 1970: SOURCE_DATE_EPOCH, or the time of the last commit."""
    return os.environ.get("SOURCE_DATE_EPOCH") or run(["git", "log", "-1", "--format=%ct"]).strip()


if __name__ == "__main__":
    sys.exit(main())
