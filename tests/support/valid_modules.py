"""Modules that have to be valid: `module.spirv` alone is validated only on machines with a spirv-val."""

from __future__ import annotations

import pytest

import coopmat
from coopmat.spirv.tools import find_tools


def assert_valid(module: coopmat.Module) -> None:
    """Fail unless spirv-val accepts the module; skip the test on machines without a spirv-val."""
    if find_tools() is None:
        pytest.skip("no spirv-val that knows SPV_KHR_cooperative_matrix")
    module.validate()
    assert module.validated and module.spirv
