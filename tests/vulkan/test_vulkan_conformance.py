"""What the conformance runner does differently for Vulkan devices; no test needs one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_vulkan_devices import described

from coopmat import CompileError
from coopmat.cts import values
from coopmat.cts.comparison import with_flushed_subnormals
from coopmat.cts.execution import _refusal
from coopmat.cts.experiment import Argument
from coopmat.cts.outcome import Status
from coopmat.cts.profile import profile_for
from coopmat.cts.schedule import Catalogue, Settings, schedule
from coopmat.diagnostics import Diagnostic, Severity
from coopmat.matrices.variants import COMPONENT_TYPES

F16, F32 = COMPONENT_TYPES["f16"], COMPONENT_TYPES["f32"]
SETTINGS = Settings("vulkan:0", "native", selection="wimpy")


def test_subnormal_results_may_be_zero() -> None:
    expected = np.array([1e-40, -1e-45, 1.0], np.float32)
    argument = with_flushed_subnormals(Argument("c", F32, np.zeros(3, np.float32), expected))
    assert not argument.wrong(np.array([0.0, -0.0, 1.0], np.float32)).any()
    assert argument.wrong(np.array([1e-37, 0.0, 1.0 + 1e-6], np.float32)).tolist() == [True, False, True]
    halves = Argument("c", F16, np.zeros(1, np.float16), np.array([1e-7], np.float16))
    assert with_flushed_subnormals(halves) is halves


def test_inputs_have_no_subnormals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "_without_subnormals", set())
    smallest = np.finfo(np.float32).smallest_normal
    assert any(0 < abs(x) < smallest for x in values.specials(F32))
    halves = values.specials(F16)
    values.leave_out_subnormals()
    assert not any(0 < abs(x) < smallest for x in values.specials(F32))
    assert [str(x) for x in values.specials(F16)] == [str(x) for x in halves]


@pytest.mark.parametrize(
    ("code", "reason"), [("vulkan", "no"), ("vulkan-device", "no"), ("coop-mat-target-type", "no"), ("syntax", "")]
)
def test_what_the_device_lacks_is_no_failure(code: str, reason: str) -> None:
    assert _refusal(CompileError([Diagnostic(Severity.ERROR, code, "no")])) == reason
    assert _refusal(ValueError("no")) == ""


def test_assembly_for_opencl_is_not_supported() -> None:
    catalogue = Catalogue(SETTINGS, described())
    plan = schedule(catalogue, {("spirv_add", "native"): list(catalogue.items("spirv_add", "native"))})
    assert [outcome.status for outcome in plan.outcomes] == [Status.NOT_SUPPORTED]
    assert "only OpenCL C is converted for Vulkan" in plan.outcomes[0].log


def test_every_variant_of_a_wimpy_run_is_tested_in_c() -> None:
    catalogue = Catalogue(SETTINGS, described())
    shapes = {item.variant for item in catalogue.items("c_add", "native")}
    assert shapes == {"8x8.A.f16", "8x8.B.f16", "8x8.C.f32"}


def test_matrices_are_aligned_as_vulkan_requires() -> None:
    profile = profile_for(replace(described(), pointer_alignment=16, stride_multiple=16), "native")
    assert (profile.pointer_alignment, profile.stride_multiple) == (16, 16)


def test_routes_in_opencl_c_do_not_exist() -> None:
    with pytest.raises(ValueError, match="the route 'mma' exists in OpenCL C only"):
        profile_for(described(), "mma")
