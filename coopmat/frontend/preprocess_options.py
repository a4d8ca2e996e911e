"""The options of the preprocessor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class PreprocessOptions:
    """`PreprocessOptions` are the command line's options for the preprocessor.

    `defines` are ("NAME" or "NAME(parameters)", replacement); `includes` are the files of -include;
    `extensions` maps the names in -cl-ext to their values, "all" included; `virtual_files` are includes held in memory,
    looked up by exact name before any directory.
    """

    defines: tuple[tuple[str, str], ...] = ()
    undefines: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    cl_std: str = "CL3.0"
    extensions: Mapping[str, bool] = field(default_factory=dict)
    fast_relaxed_math: bool = False
    virtual_files: Mapping[str, str] = field(default_factory=dict)
