"""What the layer is given: constants, counts, includes, closed descriptors, failing helpers, programs with loaders."""

from __future__ import annotations

import os
import random
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stub_application import CL, Application, preload
from stub_suite import PLAIN, SOURCE, Stub, built, matrix_module

from coopmat.devices import DeviceInfo
from coopmat.layer import library
from coopmat.layer.messages import packed

APPLICATION = Path(__file__).with_name("application.py")
MAGIC = b"coopmat binary 1"


def module_with_constant(bits: int, is_float: bool = False) -> bytes:
    """A module with a matrix and a specialisation constant of the number 1."""
    kind = (3 << 16 | 22, 4, bits) if is_float else (4 << 16 | 21, 4, bits, 0)
    literal = (7,) * max(1, min(bits + 31 >> 5, 0xFFFB))
    words = [
        *(0x07230203, 0x10400, 0, 100, 0),
        *(2 << 16 | 17, 6022, 4 << 16 | 71, 5, 1, 1, *kind),
        *(3 + len(literal) << 16 | 50, 4, 5, *literal),
    ]
    return struct.pack(f"<{len(words)}I", *words)


def test_specialisation_constants_of_every_width(app: Application) -> None:
    """The sizes that OpenCL has are taken, and no others, however many bytes the application gives."""
    rng = random.Random(33)
    context = app.context()
    widths = [0, 1, 8, 16, 32, 64, 65, 72, 128, 2048, 1 << 20, 0xFFFFFFFF, *(rng.randrange(1 << 17) for _ in range(20))]
    for bits in widths:
        program = app.il(context, module_with_constant(bits, rng.random() < 0.3))
        size = bits // 8 if bits <= 64 else 0
        for given in {size, bits // 8, 8, 16, 1 << 20}:
            error = app.call("clSetProgramSpecializationConstant", program, 1, given, bytes(1 << 20))
            assert error == (CL.INVALID_SPEC_ID if not size else 0 if given == size else CL.INVALID_VALUE)


@pytest.mark.parametrize("count", [0, 65, 0x7FFFFFFF, 0xFFFFFFFF])
def test_counts_of_binaries(app: Application, count: int) -> None:
    """The driver refuses a count that no context has; nothing is read for it."""
    context, program = built(app)
    (binary,) = app.binaries(program)
    arguments = (context, count, app.devices()[:1], [len(binary)], [binary], None)
    assert app.create("p", "clCreateProgramWithBinary", *arguments)[1] in (CL.INVALID_VALUE, CL.INVALID_DEVICE)


def test_sizes_inside_binaries(app: Application) -> None:
    """Sizes and counts of a container and of its messages that are larger than they can be."""
    rng = random.Random(33)
    context, program = built(app)
    (binary,) = app.binaries(program)
    start = len(MAGIC)
    sizes = [0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFE8]
    changed = [binary[:start] + struct.pack("<Q", size) + binary[start + 8 :] for size in sizes]
    for _ in range(100):
        at = start + 8 + rng.randrange(0, 200)
        changed.append(binary[:at] + struct.pack("<I", rng.choice(sizes) & 0xFFFFFFFF) + binary[at + 4 :])
    (size,) = struct.unpack_from("<Q", binary, start)
    for group, most in ((2**64 - 1, 2**63), (32, 25)):
        facts = {"name": "product", "sub_group_size": group, "most_items": most, "uses_matrices": 1, "is_fixed": 0}
        message = packed([("kernel", packed(facts.items()))])
        changed.append(MAGIC + struct.pack("<Q", len(message)) + message + binary[start + 8 + size :])
    for data in changed:
        made, error, _ = app.binary(context, app.devices()[:1], [data])
        assert bool(made) == (error == 0) and error in (0, CL.INVALID_BINARY)
        if not made or app.build(made):
            continue
        for kernel in app.kernels(made)[1]:
            assert app.enqueue(app.queue(context), kernel, [64], [16]) in (0, CL.INVALID_WORK_GROUP_SIZE)
            app.enqueue(app.queue(context), kernel, [64])
    assert "local=1" in app.calls("clEnqueue")[-2]  # not the subgroup that is larger than the work-group


def test_includes_that_there_are_not(stub: Stub, tmp_path: Path) -> None:
    """A text may name any number of files, in any number of directories: looking for them ends."""
    app = stub()
    text = b"".join(b'#include "missing%d.h"\n' % n for n in range(60_000)) + PLAIN
    options = " ".join(f"-I{tmp_path}/{n}" for n in range(63)).encode() + b" -I" + b" x" * 100_000
    start = time.monotonic()
    assert app.build(app.source(app.context(), text), options) == 0
    assert time.monotonic() - start < 2
    # What can be found is found, in the last of many directories.
    (tmp_path / "own.h").write_bytes(SOURCE)
    options = " ".join(f"-I{tmp_path}/{n}" for n in range(60)).encode() + f" -I{tmp_path}".encode()
    program = app.source(app.context(), b'#include "missing.h"\n#if 0\n#endif\n'.replace(b"missing", b"own"))
    assert app.build(program, options) == 0 and app.kernel(program, b"product")[1] == 0


def test_includes_of_one_another(stub: Stub, tmp_path: Path) -> None:
    """A chain of files is followed on a small stack, and one that goes round ends."""
    for n in range(250):
        (tmp_path / f"{n}.h").write_text(f'#include "{(n + 1) % 250}.h"\n#include "./{n}.h"\n')
    app = stub()
    program = app.source(app.context(), b'#include "0.h"\n' + PLAIN)
    assert app.build(program, f"-I{tmp_path}".encode()) == 0


def test_a_file_that_is_read_in_parts(tmp_path: Path) -> None:
    """A call of read may return fewer bytes than the file has: the rest of the file is searched, too."""
    program, source = tmp_path / "program", tmp_path / "program.c"
    searched = next(path for path in library.sources() if path.name == "includes.c")
    source.write_text(
        "#define _GNU_SOURCE\n#include <unistd.h>\n"
        "static ssize_t few(int fd, void *to, size_t size) { return read(fd, to, size < 5 ? size : 5); }\n"
        "#define read few\n"
        f'#include "{searched}"\n'
        "int main(int count, char **words) { return !includes_have_matrices(words[count - 1], NULL); }\n"
    )
    include = [f"-I{searched.parent}", f"-I{library.INCLUDE}"]
    subprocess.run([*library.compiler(), "-std=gnu11", *include, "-o", str(program), str(source)], check=True)
    for name, text, status in (("plain.h", "int x; int y; int z;", 1), ("own.h", "int x; int y; coop_mat z;", 0)):
        (tmp_path / name).write_text(text)
        assert subprocess.run([program, f'#include "{tmp_path / name}"']).returncode == status


def wrapped(layer: library.LayerLibrary, directory: Path, text: str) -> Path:
    """A copy of the layer whose helper is a file of its own with this text."""
    own, helper = directory / "layer.so", directory / f"helper-{os.getpid()}-{directory.name}.py"
    own.write_bytes(layer.path.read_bytes())
    helper.write_text(text.replace("HELPER", str(layer.helper)))
    paths = directory / "layer.so.paths"
    paths.write_text(f"{sys.executable}\n{helper}\n")
    paths.chmod(0o644)
    return own


def living(name: str) -> list[int]:
    """Return the processes whose command line has this name."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if name.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("closed", [(2,), (0, 2), (0,), (0, 1, 2)])
def test_a_helper_ends_with_its_application(
    layer: library.LayerLibrary, device: DeviceInfo, tmp_path: Path, closed: tuple[int, ...]
) -> None:
    """Descriptors that are closed in the application are not the helper's socket's."""
    own = wrapped(layer, tmp_path, "import runpy\nrunpy.run_path('HELPER', run_name='__main__')\n")
    code = "import os, runpy, sys; sys.argv = ['', 'source']; out = open(os.environ['TEST_OUTPUT'], 'w')\n"
    code += f"sys.path.insert(0, {str(APPLICATION.parent)!r})\n"
    code += f"for n in {closed}: os.close(n)\nsys.stdout = sys.stderr = out\n"
    code += f"runpy.run_path({str(APPLICATION)!r}, run_name='__main__')\n"
    output = tmp_path / "output"
    variables = {"OPENCL_LAYERS": str(own), "COOPMAT_NO_CACHE": "1", "PYOPENCL_NO_CACHE": "1", "COOPMAT_ROUTE": "one"}
    environment = {**os.environ, **variables, "TEST_OUTPUT": str(output), "TEST_PLATFORM": device.platform, **preload()}
    done = subprocess.run([sys.executable, "-c", code], env=environment, timeout=120)
    assert done.returncode == 0 and '"right": [true, true]' in output.read_text(), output.read_text()
    end = time.monotonic() + 10
    while (left := living(f"helper-{os.getpid()}-{tmp_path.name}")) and time.monotonic() < end:
        time.sleep(0.05)
    for process in left:
        os.kill(process, 9)
    assert not left, "the helper outlives the application"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "import nothing",
            "the compiler ended without an answer: ModuleNotFoundError: No module named 'nothing'",
        ),
        ("syntax error", "the compiler ended without an answer: SyntaxError"),
        ("import sys; sys.exit('out of order')", "the compiler ended without an answer: out of order"),
        ("import os; os.abort()", "the compiler ended without an answer"),
        ("print('x' * 100000); raise RuntimeError('a' * 1000)", "the compiler ended without an answer: "),
    ],
)
def test_what_a_helper_prints_is_the_log(
    application: Callable[..., dict[str, Any]], layer: library.LayerLibrary, tmp_path: Path, text: str, words: str
) -> None:
    """The application's own output has none of it."""
    result = application("failed", layers=str(wrapped(layer, tmp_path, text)), COOPMAT_NO_CACHE="1")
    assert words in result["log"] and "Traceback" not in result["log"] and result["plain"]


def test_programs_with_a_loader_inside(tmp_path: Path) -> None:
    """A loader that was linked statically is found, unless it knows of layers; other files are not programs."""
    head = b"\x7fELF" + bytes(100)
    for content, is_fault in (
        (head + b"clIcdGetPlatformIDsKHR\0", True),
        (head + b"clIcdGetPlatformIDsKHR\0OPENCL_LAYERS\0", False),
        (head + b"clIcdGetPlatformIDsKHR\0libOpenCL.so.1\0", False),
        (head + b"clGetPlatformIDs\0", False),
        (b"#!/bin/sh\necho clIcdGetPlatformIDsKHR\n", False),
        (b"", False),
    ):
        path = tmp_path / "program"
        path.write_bytes(content)
        fault = library.loader_fault(path)
        assert bool(fault) == is_fault and (not fault or f"{path} contains an OpenCL loader of its own" in fault)
    assert library.loader_fault(tmp_path / "missing") is None and library.loader_fault(tmp_path) is None


def test_layer_run_tells_of_a_loader_inside(layer: library.LayerLibrary, tmp_path: Path) -> None:
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text('const char *name = "clIcdGetPlatformIDsKHR";\nint main(void) { return 7; }\n')
    subprocess.run([*library.compiler(), "-o", str(program), str(source)], check=True)
    done = subprocess.run(
        [sys.executable, "-m", "coopmat", "layer", "run", "--", str(program)], capture_output=True, text=True
    )
    assert done.returncode == 7 and done.stderr.startswith(f"warning: {program} contains an OpenCL loader")


def test_modules_of_hostile_constants_are_built(app: Application) -> None:
    """A constant that was refused keeps its default."""
    program = app.il(app.context(), matrix_module())
    assert app.call("clSetProgramSpecializationConstant", program, 5, 1 << 20, bytes(1 << 20)) == CL.INVALID_VALUE
    assert app.build(program) == 0
