"""Products under kernels/ with a run of other sizes take every size, natively to SPIR-V that is valid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.options import CompileOptions
from coopmat.runtime import parse_header, run_source

KERNELS = [
    path
    for path in sorted((Path(__file__).parents[2] / "kernels").glob("gemm_*.cl"))
    if path.read_text(encoding="utf-8").count("// run:") > 1
]
SIZES = [(1, 1, 1), (17, 31, 33)]


def resized(path: Path, sizes: tuple[int, int, int]) -> bytes:
    """The kernel with its last run alone, which rounds up, for other M, N and K; rows of memory follow from these."""
    text = path.read_text(encoding="utf-8")
    first, last = (match.start() for match in re.finditer("^// run:", text, re.MULTILINE))
    run, rest = text[last:].split("\n\n", 1)
    for name, size in zip("MNK", sizes, strict=True):
        run, count = re.subn(rf"(?<!\w)(-D)?{name}=\d+", rf"\g<1>{name}={size}", run)
        assert count == 2
    _, n, k = sizes
    for name, length in (("LDA", k), ("LDB", n), ("LDC", n)):
        run = re.sub(rf"-D{name}=\d+", f"-D{name}={length + 2}", run)
    return f"{text[:first]}{run}\n\n{rest}".encode()


@pytest.mark.covering
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_ragged_sizes(path: Path, sizes: tuple[int, int, int], device: DeviceInfo) -> None:
    source = resized(path, sizes)
    (run,) = parse_header(source.decode(), path.name)
    result = run_source(source, path.name, run, device, ["--matrices", "auto"])
    assert result.checks and result.ok and result.work
    module = coopmat.compile(source, CompileOptions.from_arguments(list(run.options)), name=path.name)
    assert module.spirv and module.validated


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_whole_tiles_are_not_checked(path: Path) -> None:
    """The first run's sizes are multiples of the tiles': no operation there has bounds."""
    source = path.read_text(encoding="utf-8")
    whole, ragged = (
        coopmat.compile(source, CompileOptions.from_arguments(list(run.options)), name=path.name)
        for run in parse_header(source, path.name)
    )
    assert "checked" not in whole.preprocessed
    if whole.kernels[path.stem].uses_matrices:
        assert "coop_mat_load_checked" in ragged.preprocessed
    assert len(whole.llvm_ir) < len(ragged.llvm_ir)
