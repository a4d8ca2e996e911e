"""Work-item functions, in a launch of three dimensions with offsets and a remainder in the first."""

from __future__ import annotations

import numpy as np
from cases import KERNEL, Array, Case, Driver, Same
from differential import Value

from coopmat.frontend.builtins import Overload

GLOBAL, LOCAL, OFFSET = (7, 4, 2), (3, 2, 1), (5, 70, 900)
# Queries of dimensions 0 to 4, two of which there are not.
DIMENSIONS = 5
_TOTAL = int(np.prod(GLOBAL))
# The position of each work-item in the launch, without the offset, in the order of the linear id.
_AT = np.stack([p.ravel() for p in np.meshgrid(*(np.arange(n) for n in reversed(GLOBAL)), indexing="ij")][::-1])
_GLOBAL, _LOCAL, _OFFSET = (np.array(sizes)[:, None] for sizes in (GLOBAL, LOCAL, OFFSET))
_GROUP = _AT // _LOCAL
_SIZE = np.minimum(_LOCAL, _GLOBAL - _GROUP * _LOCAL)


def _linear(at: Array, size: Array) -> Array:
    return at[0] + size[0] * (at[1] + size[1] * at[2])


# By name: what it gives in dimensions 0 to 2 (None where it has none), and beyond.
_EXPECTED: dict[str, tuple[Array, int | None]] = {
    "get_global_id": (_AT + _OFFSET, 0),
    "get_global_size": (_GLOBAL + 0 * _AT, 1),
    "get_local_id": (_AT % _LOCAL, 0),
    "get_local_size": (_SIZE, 1),
    "get_enqueued_local_size": (_LOCAL + 0 * _AT, 1),
    "get_group_id": (_GROUP, 0),
    "get_num_groups": (-(-_GLOBAL // _LOCAL) + 0 * _AT, 1),
    "get_global_offset": (_OFFSET + 0 * _AT, 0),
    "get_work_dim": (3 + 0 * _AT[0], None),
    "get_global_linear_id": (_linear(_AT, _GLOBAL), None),
    "get_local_linear_id": (_linear(_AT % _LOCAL, _SIZE), None),
}


def _case(overload: Overload) -> Case:
    values, beyond = _EXPECTED[overload.name]
    index = "size_t i = get_global_linear_id();"
    if beyond is None:
        text = f"{{ {index} r[i] = {overload.name}(); }}"
        expected = values[:, None]
    else:
        # Each dimension as a constant and as a variable.
        constant = " ".join(f"r[i * 10 + {d}] = {overload.name}({d});" for d in range(DIMENSIONS))
        variable = f"for (uint d = 0; d < 5; d++) r[i * 10 + 5 + d] = {overload.name}(d + zero);"
        text = f"{{ {index} {constant} {variable} }}"
        five = np.concatenate([values, np.full((DIMENSIONS - 3, _TOTAL), beyond)]).T
        expected = np.concatenate([five, five], 1)
    source = f"kernel void {KERNEL}(global ulong *r, uint zero) {text}"
    result = np.full(expected.size, 77, np.uint64)
    check = Same(reference=expected.astype(np.uint64).ravel())
    zero = Value(np.zeros(1, np.uint32))
    return Case(source, [result, zero], {0: check}, GLOBAL, LOCAL, OFFSET)


DRIVERS = (Driver("work-items", lambda o: o.name in _EXPECTED, _case),)
