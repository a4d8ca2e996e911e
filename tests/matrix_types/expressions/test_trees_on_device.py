"""Random trees on the OpenCL device, through its own compiler and through ours, bit for bit against numpy.

`tools/matrix-trees` runs as many as are asked for.
"""

from __future__ import annotations

from random import Random

import pytest
from tree_cases import MACHINES, Case, Drawer, Slot, draw
from tree_programs import run

from coopmat.devices import DeviceInfo
from coopmat.matrices.variants import COMPONENT_TYPES
from coopmat.matrix_types.expressions import Elementwise, InMemory, Object, Product, Term, Tree
from coopmat.matrix_types.expressions.plan import plan

F32 = COMPONENT_TYPES["f32"]


@pytest.mark.parametrize("ours", [False, True], ids=["device", "ours"])
def test_random_trees(device: DeviceInfo, ours: bool) -> None:
    cases = [draw(Random(seed), large=0) for seed in range(100, 120)]
    # Contraction is a matter of a whole module.
    for contract in (False, True):
        some = [case for case in cases if case.tree.contract == contract]
        for number, case in enumerate(some):
            case.label = f"contract {contract}, case {number}"
        run(device, some[: 5 if ours else None], ours=ours)


def _object(number: int, rows: int, columns: int) -> Object:
    return Object(F32, rows, columns, number)


def _case(random: Random, root: Term, inputs: list[Slot], out: Slot, lengths: list[int]) -> Case:
    drawer = Drawer(random, F32)
    buffers = [drawer.values(F32, length) for length in lengths]
    tree = Tree(root, tuple(slot.where for slot in inputs), out.where, MACHINES[0], False, False)
    return Case(tree, buffers, dict(enumerate(inputs)), out, {})


def test_results_over_inputs(device: DeviceInfo) -> None:
    """Shapes that take loops: the result in the place of each operand, one element off, and apart."""
    n, cases = 20, []
    where = InMemory(F32, "global", n)
    root = Elementwise(F32, n, n, Product(F32, n, n, _object(0, n, n), _object(1, n, n)), _object(2, n, n), "add")
    for start, buffer in ((3, 0), (3, 2), (4, 2), (25, 1)):
        inputs = [Slot(where, n, n, n, number, 3) for number in range(3)]
        out = Slot(where, n, n, n, buffer, start)
        case = _case(Random(start), root, inputs, out, [n * n + 40] * 4)
        chosen = plan(case.tree)
        assert not chosen.straight and (chosen.disjoint, chosen.exact) == ((0, 1), (2,))
        case.label = f"result at {start} of buffer {buffer}"
        cases.append(case)
    run(device, cases, ours=False)
