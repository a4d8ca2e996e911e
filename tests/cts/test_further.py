"""The further operations: what their variants cover, and that their buffers catch what a device may do wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from test_profile import CPU

from coopmat.cts.comparison import fault
from coopmat.cts.experiment import Argument, Experiment
from coopmat.cts.operations import OPERATIONS, Case, Setting, builtins, maps, reductions
from coopmat.cts.operations.conversion import Conversion
from coopmat.cts.profile import profile_for
from coopmat.cts.writers.assembly import AssemblyWriter
from coopmat.cts.writers.c import CWriter
from coopmat.matrices.numpy_reference import Array, widen
from coopmat.matrices.variants import COMPONENT_TYPES, Use

PROFILE = profile_for(CPU, "one")
EXHAUSTIVE = profile_for(CPU, "one", exhaustive=True)
REDUCTIONS = ("reduce_row", "reduce_column", "reduce_all", "reduce_2x2")
MAPS = ("map", "map_multiple", "build")


def cases(name: str) -> list[Case]:
    return list(OPERATIONS[name].cases(PROFILE))


def experiment_of(name: str, case: Case) -> Experiment:
    return OPERATIONS[name].experiment(Setting(case, PROFILE))


def values_of(argument: Argument) -> Array:
    assert argument.place is not None
    return np.asarray(argument.result[argument.place.indices()])


def is_caught(argument: Argument, values: Array) -> bool:
    assert argument.place is not None
    return bool(fault(argument, argument.place.with_values(values)))


def components(name: str) -> set[str]:
    return {word for case in cases(name) for word in case.name.split(".") if word in COMPONENT_TYPES}


# --- what there is


@pytest.mark.parametrize("name", [*REDUCTIONS, *MAPS, "convert_use", "transpose", "component_wise", "workgroup_scope"])
def test_every_component_type_is_there(name: str) -> None:
    assert components(name) == set(COMPONENT_TYPES)


@pytest.mark.parametrize(("name", "count"), [("convert_use", 6), ("transpose", 9)])
def test_uses_are_converted_to_each_other(name: str, count: int) -> None:
    """With the component type and without it."""
    pairs: Counter[tuple[Use, Use, bool]] = Counter()
    for case in cases(name):
        change: Conversion = case.parameters
        pairs[change.source.use, change.target.use, change.source.component == change.target.component] += 1
    assert len(pairs) == 2 * count


@pytest.mark.parametrize("name", REDUCTIONS)
def test_results_of_reductions_have_other_shapes(name: str) -> None:
    """Sides that are free are as they were, one, or something else."""
    kinds = set()
    for case in cases(name):
        source, target = case.parameters.source, case.parameters.target
        assert source.use is target.use is Use.ACCUMULATOR and source.component == target.component
        for old, new in ((source.rows, target.rows), (source.columns, target.columns)):
            kinds.add("same" if new == old else "one" if new == 1 else "other")
    assert kinds >= ({"other"} if name == "reduce_2x2" else {"same", "one", "other"})


def test_reductions_have_every_function() -> None:
    for name in REDUCTIONS:
        found = {case.parameters.function for case in cases(name)}
        assert found == set(reductions.FUNCTIONS)


def test_maps_have_every_function_and_space() -> None:
    found = {case.parameters.function for name in MAPS for case in cases(name)}
    assert found == set(maps.KINDS)
    spaces = {f.space for kind in maps.KINDS.values() for f in kind.further}
    assert spaces == {"", "global", "constant", "local", "private"}


def test_builtins_are_all_applied_to_integers_and_floats() -> None:
    applied = {
        (case.parameters.name, case.parameters.pattern, case.parameters.matrix.component.is_integer)
        for case in OPERATIONS["component_wise"].cases(EXHAUSTIVE)
        if case.parameters.matrix.rows == 1 and case.parameters.matrix.columns == 1
    }
    wanted = {
        (builtin.name, pattern, component.is_integer)
        for builtin in builtins.BUILTINS
        for pattern in builtin.patterns.split()
        for component in COMPONENT_TYPES.values()
        if builtin.has(component)
    }
    assert applied == wanted
    usual = {case.parameters.name for case in cases("component_wise")}
    assert usual >= {builtin.name for builtin in builtins.BUILTINS if builtin.name not in ("mul24", "mad24")}


# --- reductions: what is left out, taken twice, or combined across


def wrong_lines(case: Case, how: int, values: Array, change: Callable[[Array, int], Array]) -> Iterator[Array]:
    """The results of a reduction with a change at each place of its lines."""
    function = reductions.FUNCTIONS[case.parameters.function](case.parameters.source.component)
    lines, target = reductions.groups_of(values, how), case.parameters.target
    for number in range(lines.shape[-1]):
        result = reductions.combined(function, change(lines, number))
        yield np.broadcast_to(result, (target.rows, target.columns))


def left_out(lines: Array, number: int) -> Array:
    return np.delete(lines, number, axis=-1)


def taken_twice(lines: Array, number: int) -> Array:
    return np.concatenate((lines, lines[..., number, None]), axis=-1)


@pytest.mark.parametrize(("name", "how"), zip(REDUCTIONS, (1, 2, 3, 4), strict=True))
def test_components_that_are_left_out_or_taken_twice_are_caught(name: str, how: int) -> None:
    """Of all but a few lines, in which every term is 0, or every factor 1."""
    tried = caught = 0
    for case in cases(name):
        out = experiment_of(name, case).argument("out")
        values = values_of(experiment_of(name, case).argument("x"))
        changes = [left_out] if case.parameters.function in ("max", "min") else [left_out, taken_twice]
        if reductions.groups_of(values, how).shape[-1] > 1:
            tried += 1
            caught += all(any(is_caught(out, wrong) for wrong in wrong_lines(case, how, values, c)) for c in changes)
    assert tried > 30 and caught > 0.9 * tried, (caught, tried)


@pytest.mark.parametrize(("name", "how"), [("reduce_row", 2), ("reduce_column", 1)])
def test_lines_across_are_caught(name: str, how: int) -> None:
    tried = 0
    for case in cases(name):
        source, target = case.parameters.source, case.parameters.target
        if source.rows == source.columns == target.rows == target.columns > 2:
            experiment = experiment_of(name, case)
            function = reductions.FUNCTIONS[case.parameters.function](source.component)
            across = reductions.combined(function, reductions.groups_of(values_of(experiment.argument("x")), how))
            tried += 1
            assert is_caught(experiment.argument("out"), np.broadcast_to(across, (target.rows, target.columns))), case
    assert tried


def test_sums_of_floats_are_inexact_where_that_is_allowed() -> None:
    """In another order they differ a little; a term that is lost is caught, but for a half's, of many."""
    tried = 0
    for case in cases("reduce_row"):
        experiment = experiment_of("reduce_row", case)
        if experiment.arguments[-1].name != "rounded":
            continue
        out, y = experiment.argument("rounded"), values_of(experiment.argument("y")).astype(np.float64)
        target, source = case.parameters.target, case.parameters.source
        if source.columns > 1:
            tried += 1
            with np.errstate(all="ignore"):
                backwards = np.cumsum(y[:, ::-1].astype(source.component.numpy), axis=1)[:, -1:]
                short = y[:, 1:].sum(axis=1, keepdims=True).astype(source.component.numpy)
            assert not is_caught(out, np.broadcast_to(backwards, (target.rows, target.columns))), case
            if source.component.bits > 16:
                assert is_caught(out, np.broadcast_to(short, (target.rows, target.columns))), case
    assert tried


# --- maps: rows and columns that are exchanged, arguments that are others


@pytest.mark.parametrize("name", MAPS)
def test_rows_and_columns_that_are_exchanged_are_caught(name: str) -> None:
    tried = caught = 0
    for case in cases(name):
        matrix, kind = case.parameters.matrix, case.parameters.kind
        if min(matrix.rows, matrix.columns) < 3 or kind.name in ("chosen", "compared", "identity", "max"):
            continue
        experiment = experiment_of(name, case)
        *inputs, out = experiment.arguments
        operands = [values_of(a) for a in inputs if a.place is not None]
        # As many as there are for all rows or columns.
        further = [
            np.resize(a.before, a.before.size + 64 * 64) if a.before.size > 1 else a.before
            for a in inputs
            if a.place is None
        ]
        further = [
            values if f.space else values.astype((f.component or matrix.component).numpy)
            for values, f in zip(further, kind.further, strict=True)
        ]
        columns, rows = (index.astype(np.uint32) for index in np.indices((matrix.rows, matrix.columns)))
        result = kind.function(matrix.component).value(rows, columns, *operands, *further)
        if not np.array_equal(result, values_of(out)):
            tried += 1
            caught += is_caught(out, np.broadcast_to(result, (matrix.rows, matrix.columns)))
    assert caught == tried > 3


def test_matrices_in_another_order_are_caught() -> None:
    for case in cases("map_multiple"):
        matrix, kind = case.parameters.matrix, case.parameters.kind
        experiment = experiment_of("map_multiple", case)
        *inputs, out = experiment.arguments
        operands = [values_of(a) for a in inputs if a.place is not None]
        if matrix.rows * matrix.columns < 8:
            continue
        places = (index.astype(np.uint32) for index in np.indices((matrix.rows, matrix.columns)))
        further = [a.before for a in inputs if a.place is None]
        result = kind.function(matrix.component).value(*places, *operands[::-1], *further)
        assert is_caught(out, result), case


# --- builtins


def test_products_that_are_rounded_are_caught() -> None:
    tried = 0
    for case in OPERATIONS["component_wise"].cases(PROFILE):
        component = case.parameters.matrix.component
        if case.parameters.name != "fma" or component.is_bits:
            continue
        experiment = experiment_of("component_wise", case)
        operands = [values_of(a) if a.place is not None else a.before for a in experiment.arguments[:-1]]
        x, y, z = (values.astype(component.numpy) for values in operands)
        tried += 1
        assert is_caught(experiment.argument("out"), np.asarray(x * y + z)), case
    assert tried


def test_references_of_builtins() -> None:
    """By hand: of what numpy has no function for."""

    def result(name: str, *operands: Array) -> list[float]:
        builtin = next(b for b in builtins.BUILTINS if b.name == name)
        with np.errstate(all="ignore"):
            return list(builtin.meaning(*operands))

    def bytes_(*values: int) -> Array:
        return np.array(values, np.int8)

    def floats(*values: float) -> Array:
        return np.array(values, np.float32)

    assert result("add_sat", bytes_(100, -100, 3), bytes_(100, -100, 4)) == [127, -128, 7]
    assert result("mad_sat", bytes_(100, -100), bytes_(2, 2), bytes_(-73, 73)) == [127, -127]
    assert result("mul_hi", bytes_(100, -100), bytes_(100, 100)) == [39, -40]
    assert result("rotate", bytes_(-127, 1), bytes_(1, -1)) == [3, -128]
    assert result("clz", bytes_(1, 0, -1)) == [7, 8, 0]
    assert result("ctz", bytes_(2, 0, -128)) == [1, 8, 7]
    assert result("popcount", bytes_(-1, 5)) == [8, 2]
    assert result("hadd", bytes_(-3, 127), bytes_(0, 127)) == [-2, 127]
    assert result("rhadd", bytes_(-3, 127), bytes_(0, 126)) == [-1, 127]
    assert result("round", floats(0.5, -2.5, 0.49999997)) == [1, -3, 0]
    assert result("maxmag", floats(-3, 2), floats(2, -2)) == [-3, 2]
    assert result("minmag", floats(-3, 2), floats(2, -2)) == [2, -2]
    assert result("fdim", floats(3, 1, np.inf), floats(1, 3, np.inf)) == [2, 0, 0]
    assert result("step", floats(1, 3), floats(1, 2)) == [1, 0]


def test_bounds_are_in_order() -> None:
    for case in cases("component_wise"):
        if case.parameters.name == "clamp":
            component = case.parameters.matrix.component
            _, low, high = (
                float(widen(a.component, a.before if a.place is None else values_of(a)).ravel()[0])
                for a in experiment_of("component_wise", case).arguments[:-1]
            )
            assert low <= high, (case, component)


# --- work-groups


@pytest.mark.parametrize("writer", [CWriter, AssemblyWriter])
def test_kernels_with_matrices_of_work_groups_tell_their_size(writer: type[CWriter] | type[AssemblyWriter]) -> None:
    profile = profile_for(CPU, "lanes")
    counts = set()
    for case in OPERATIONS["workgroup_scope"].cases(profile):
        setting = Setting(case, profile)
        w = writer(OPERATIONS["workgroup_scope"].experiment(setting), case.sub_group_size)
        OPERATIONS["workgroup_scope"].write(setting, w)
        items = setting.parameters.sub_groups * setting.lanes
        words = f"reqd_work_group_size({items}, 1, 1)" if writer is CWriter else f"LocalSize {items} 1 1"
        assert words in w.text()
        counts.add(setting.parameters.sub_groups)
    assert counts == {1, 2, 3}
