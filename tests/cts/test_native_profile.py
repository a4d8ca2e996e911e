"""Native modules in the form of each profile compute what they should: no device here takes them as they are, so that
their matrices are lowered, SPIR-V to SPIR-V, and every operation of the runner checks the results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from repeats import slow_where

from coopmat import compiler
from coopmat.cts.execution import Prepared, Runner
from coopmat.cts.operations import OPERATIONS
from coopmat.cts.outcome import Outcome, Status
from coopmat.cts.schedule import MODES, Batch, Settings
from coopmat.cts.writers.base import KERNEL
from coopmat.options import CompileOptions
from coopmat.spirv.tools import assemble

# SPV_EXT_cooperative_matrix_maintenance1 needs a later version than what is the default.
PROFILES = {
    name: CompileOptions(native_profile=name, no_warnings=True, spirv_version="1.4")
    for name in ("igc", "maint1", "khr")
}
# Those of each operation's few that are run, one with matrices of bfloat16 among them where there is one.
MOST = 2
# What is not in words that a profile has, by mode and operation, and what the error says. In SPIR-V modules it stays
# what it is, and only igc's are changed; in C local memory serves, but for the work-group's matrices.
_OF_FURTHER = ("convert_use", "transpose", "reduce_row", "reduce_column", "reduce_all", "reduce_2x2")
_OF_FURTHER += ("map", "map_multiple", "build", "workgroup_scope")
_STAGED = "local memory on this profile, which matrices of a work-group do not support"
LACKING = {
    **{("igc", "spirv", name): "of SPV_EXT_cooperative_matrix_maintenance1" for name in _OF_FURTHER},
    ("igc", "c", "workgroup_scope"): _STAGED,
    ("khr", "c", "workgroup_scope"): _STAGED,
    ("khr", "c", "coord"): "has no instruction for the coordinates",
}


class AdaptedRunner(Runner):
    """Compiles natively for a profile first."""

    native: CompileOptions

    def _compile(self, batch: Batch, variants: Sequence[Prepared]) -> compiler.Module:
        (variant,) = variants
        text = variant.source(KERNEL)
        if batch.mode == "c":
            native = compiler.compile(text, self.native, name="test.cl")
        else:
            assert "OpConstantNull" not in text
            native = compiler.compile(assemble(text, "spv1.4"), self.native, name="test.spv", language="spv")
        return compiler.compile(native.spirv, self._options(batch), name="test.spv", language="spv")


@pytest.fixture(scope="module")
def runner(device, tmp_path_factory):
    if not device.takes_spirv:
        pytest.skip(f"{device.label} takes no SPIR-V")
    settings = Settings(device.index, "one", selection="wimpy", keep=str(tmp_path_factory.mktemp("kept")))
    return AdaptedRunner(settings, device)


def has_words(variant: str, profile: str = "igc") -> bool:
    """Whether A and B are both of bfloat16, or neither: one alone cannot be said to Intel's consumer, nor can floats of
    8 bits."""
    if profile != "igc":
        return True
    if "e4m3" in variant or "e5m2" in variant:
        return False
    operands = variant.split("_")[0].split(".")[-1].split("x")
    return len(operands) != 2 or ("bf16" in operands) == (operands == ["bf16", "bf16"])


# All pairs of a profile and an operation, by mode; other profiles than igc leave SPIR-V as it is.
_PAIRS = [
    (profile, mode, operation.name, number)
    for number, operation in enumerate(OPERATIONS.values())
    for mode in MODES
    for profile in PROFILES
    if mode in operation.modes and (mode == "c" or profile == "igc")
]


def _repeats(profile: str, mode: str, name: str, number: int) -> bool:
    """Whether only --all runs a pair: by default, an operation of C has one profile, and those that must fail."""
    return (
        mode == "c" and (profile, mode, name) not in LACKING and number % len(PROFILES) != list(PROFILES).index(profile)
    )


@pytest.mark.parametrize(("profile", "mode", "name", "number"), slow_where(_repeats, _PAIRS))
def test_operation(runner: AdaptedRunner, profile: str, mode: str, name: str, number: int) -> None:
    runner.native = PROFILES[profile]
    items = [item for item in runner.catalogue.items(f"{mode}_{name}", "one") if has_words(item.variant, profile)]
    if not items:
        pytest.skip("the route one has no variant of this operation")
    first = sorted(items, key=lambda item: "bf16" not in item.variant)[:1]
    batch = Batch(mode, "one", 1, (*first, *[item for item in items if item not in first][: MOST - 1]))
    found: list[Outcome] = []
    runner._run_each(batch, found.append)
    failed = [outcome for outcome in found if outcome.status is not Status.PASSED]
    lacks = LACKING.get((profile, mode, name))
    if lacks is None:
        assert found and failed == []
    else:
        assert failed and [outcome for outcome in failed if lacks not in outcome.log] == []


@pytest.mark.parametrize("route", ["lanes", "scratch"])
def test_the_other_routes_take_the_form_too(runner: AdaptedRunner, route: str) -> None:
    catalogue, runner.native = runner.catalogue, PROFILES["igc"]
    if route == "lanes" and not runner.device.sub_groups:
        pytest.skip(f"{runner.device.label} has no subgroups")
    items = [item for item in catalogue.items("c_control_flow", route) if has_words(item.variant)]
    found: list[Outcome] = []
    batch = Batch("c", route, items[0].case.sub_group_size, ())
    for item in [i for i in items if i.case.sub_group_size == batch.sub_group_size][:MOST]:
        runner._run_each(replace(batch, items=(item,)), found.append)
    assert found and [o for o in found if o.status is not Status.PASSED] == []
