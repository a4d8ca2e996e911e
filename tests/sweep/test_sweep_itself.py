"""That the sweep would see what it looks for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from accuracy import BOUNDS
from cases import BOTH, DIFFER, OURS, OWN, Same
from checks import Within
from listed import Listed, become_equal, unexplained
from overload_list import covering, identified, identify, overloads_of, rows
from references import exact, ulps
from scheduling import Finding, WorkerError, sweep

from coopmat.frontend import builtins as table
from coopmat.frontend.builtins import Builtin
from coopmat.frontend.types import PointerType


def row(name: str) -> Builtin:
    found = table.find(name)
    assert found is not None
    return found


def plain(*values: float) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    near = np.array(values, float).reshape(-1, 1)
    return near, np.zeros_like(near)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_distances_are_in_units_of_the_last_place(kind: type[Any]) -> None:
    limits = np.finfo(kind)
    one, most, least = kind(1), limits.max, limits.smallest_subnormal
    got = np.array([one, np.nextafter(one, kind(2)), one, most, kind(np.inf), least, kind(0)], kind).reshape(-1, 1)
    near = plain(1, 1, 1 - float(limits.epsneg), float(most), float(most), 0, float(least))
    assert ulps(got, near).ravel().tolist()[:4] == [0, 1, 1, 0]
    assert ulps(got, near).ravel().tolist()[5:] == [1, 1]
    assert (ulps(got, near)[4, 0] == 1) == (kind != np.float64)
    # What an exact result has beyond its nearest double counts.
    assert ulps(np.array([[one]]), (np.array([[1.0]]), np.array([[float(limits.eps) / 4]])))[0, 0] == 0.25


def test_special_values_have_no_distance() -> None:
    got = np.array([[np.nan], [np.nan], [np.inf], [-np.inf], [0.0]], np.float32)
    assert ulps(got, plain(np.nan, 1, np.inf, np.inf, -0.0)).ravel().tolist() == [0, np.inf, 0, np.inf, np.inf]
    assert ulps(got[4:], plain(-0.0), signed_zeros=False)[0, 0] == 0


def test_references_are_exact() -> None:
    x = np.array([0.1, 3.0, 1e22], np.float64)
    near, tail = exact("sin", [x]) or plain()
    # sin(1e22) to 25 digits; sin of the double 0.1.
    assert near[2] == pytest.approx(-0.8522008497671888017727059, abs=1e-16)
    assert abs(tail[0]) < np.spacing(near[0]) and tail[0] != 0
    (rounded, rest) = exact("fma", [np.float64([1 + 2.0**-52])] * 2 + [np.float64([-1.0])]) or plain()
    assert rounded[0] == 2.0**-51 and rest[0] == 2.0**-104


def test_bounds_are_kept() -> None:
    bound = BOUNDS["exp"].of("float")
    good = np.float32(1) + np.arange(4, dtype=np.float32) * np.finfo(np.float32).eps
    check = Within([plain(1, 1, 1, 1)], bound)
    assert check(good, good) is None
    bad = good + np.float32(2.0**-23)
    assert (check(bad, good) or ("",))[0] == OURS
    assert (check(bad, bad) or ("",))[0] == BOTH
    assert (check(good, bad) or ("",))[0] == OWN


def test_bits_are_compared_with_each_other_and_with_the_reference() -> None:
    a, b = np.array([1, 2], np.int32), np.array([1, 3], np.int32)
    assert Same()(a, a) is None and Same()(a, None) is None
    assert (Same()(a, b) or ("",))[0] == DIFFER
    kinds = [Same(reference=a)(*pair) for pair in ((a, a), (b, a), (b, b), (a, b), (b, None))]
    assert [found and found[0] for found in kinds] == [None, OURS, BOTH, OWN, OURS]
    assert Same(where=np.array([[True], [False]]))(a, b) is None


class Fragile:
    """A worker that dies of one overload."""

    def __init__(self, fatal: str) -> None:
        self.fatal = fatal

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if self.fatal in request["overloads"] and request["theirs"]:
            raise WorkerError(OWN, "exit status -11")
        return {"found": [[name, "native", OURS, "wrong"] for name in request["overloads"] if name == "clz#9"]}

    def errors(self) -> str:
        return "Stack dump"


def test_a_crash_is_narrowed_down_to_one_overload() -> None:
    names = [identify(o) for o in overloads_of(row("clz"))]
    found = sweep(Fragile("clz#17"), names, ("native",))  # type: ignore[arg-type]
    assert [(f.overload, f.kind) for f in found] == [("clz#9", OURS), ("clz#17", OWN)]
    assert "Stack dump" in found[1].text


def test_only_what_is_listed_may_be_unequal() -> None:
    line = Listed(("mad_*",), ("int",), OWN, "always", "saturates late")
    number = next(identify(o) for o in overloads_of(row("mad_sat")) if str(o.result) == "int4")
    other = next(identify(o) for o in overloads_of(row("mad_sat")) if str(o.result) == "char4")
    known, unknown, ours = (Finding(n, "native", k, "") for n, k in ((number, OWN), (other, OWN), (number, OURS)))
    assert unexplained([known, unknown, ours], [line]) == [unknown, ours]
    assert become_equal([row("mad_sat")], [known], [line]) == []
    assert len(become_equal([row("mad_sat")], [unknown], [line])) == 1


@pytest.mark.parametrize("name", ["fract", "vload3", "atomic_fetch_add", "clamp", "sub_group_reduce_add"])
def test_the_selection_has_every_element_and_space(name: str) -> None:
    def traits(overloads: tuple[table.Overload, ...]) -> set[str]:
        found = set()
        for o in overloads:
            found.add(str(o.result).rstrip("0123456789"))
            found |= {str(t.qualifiers.space) for t in o.parameters if isinstance(t, PointerType)}
        return found

    assert traits(covering(row(name))) == traits(overloads_of(row(name)))


def test_names_lead_back_to_their_overloads() -> None:
    for some in rows()[::97]:
        assert [identified(identify(o)) for o in overloads_of(some)] == list(overloads_of(some))
