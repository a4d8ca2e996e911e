"""The options of the preprocessor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class PreprocessOptions:
    """The command line's options for the preprocessor.

    defines: ("NAME" or "NAME(parameters)", replacement).
    includes: the files of -include.
    extensions: name in -cl-ext ("all" included) -> whether it is enabled.
    virtual_files: name -> text of an include held in memory; a name is looked up here before any directory is searched.
    """

    defines: tuple[tuple[str, str], ...] = ()
    undefines: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    cl_std: str = "CL3.0"
    extensions: Mapping[str, bool] = field(default_factory=dict)
    fast_relaxed_math: bool = False
    virtual_files: Mapping[str, str] = field(default_factory=dict)
