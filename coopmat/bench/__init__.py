"""Comparisons of `coopmat.linalg` in speed with the libraries that are installed, for `coopmat bench`."""

from __future__ import annotations

from .cases import OPERATIONS as OPERATIONS, Case as Case, cases_of as cases_of
from .libraries import LIBRARIES as LIBRARIES, Setup as Setup, installed as installed, missing as missing
from .machine import Machine as Machine, machine_of as machine_of, tile_times as tile_times
from .plots import draw as draw, require_matplotlib as require_matplotlib
from .report import (
    Result as Result,
    print_results as print_results,
    print_summary as print_summary,
    record as record,
    tile_rows as tile_rows,
)
from .turns import compare as compare
