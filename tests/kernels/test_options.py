"""Every kernel file compiles under the standards and with the options that people give."""

from __future__ import annotations

import pytest
from kernel_check import HERE

import coopmat

FILES = [*sorted(path.name for path in HERE.glob("*.cl")), "multi/reduce.cl"]
OPTIONS = (
    "-cl-std=CL1.2",
    "-cl-std=CL3.0 -Werror",
    "-cl-fast-relaxed-math --matrices one",
    "-cl-mad-enable -cl-no-signed-zeros -DBITSELECT -DWIDE",
)
NEWER = {"histogram_c11.cl"}


@pytest.mark.parametrize("file", FILES)
def test_options(file: str) -> None:
    path = HERE / file
    for options in OPTIONS[file in NEWER :]:
        module = coopmat.compile(path.read_text(), f"{options} -I {path.parent}", name=str(path))
        assert module.spirv and module.validated
