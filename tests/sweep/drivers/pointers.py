"""What generic pointers tell of themselves, and `vec_step`."""

from __future__ import annotations

import numpy as np
from cases import KERNEL, Case, Driver, Same

from coopmat.frontend.builtins import Overload
from coopmat.frontend.types import AddressSpace, PointerType

_BEGIN = (
    f"kernel void {KERNEL}(global int *a, global int *r) {{ local int s; int t = 5; s = 6; a[0] = 7;"
    " __generic int *p[3] = {a, &s, &t};"
)
_SPACES = ("global", "local", "private")


def _conversion(overload: Overload) -> Case:
    """to_global, to_local, to_private: the same pointer, or null where it leads elsewhere."""
    space = overload.name.removeprefix("to_")
    text = (
        f"{_BEGIN} for (int k = 0; k < 3; k++) {{ {space} int *q = {overload.name}(p[k]); r[2 * k] = q != 0;"
        f" r[2 * k + 1] = q ? *q : 0; }} }}"
    )
    expected = np.zeros((3, 2), np.int32)
    number = _SPACES.index(space)
    expected[number] = 1, (7, 6, 5)[number]
    result = np.full(6, 77, np.int32)
    return Case(text, [np.zeros(1, np.int32), result], {1: Same(reference=expected.ravel())})


def _fence(overload: Overload) -> Case:
    """Private memory needs no fence, and the specification says nothing of it."""
    pointer = overload.parameters[0]
    assert isinstance(pointer, PointerType) and pointer.qualifiers.space is AddressSpace.GENERIC
    const = "const " if pointer.qualifiers.const else ""
    text = f"{_BEGIN} for (int k = 0; k < 2; k++) {{ {const}__generic void *q = p[k]; r[k] = get_fence(q); }} }}"
    expected = np.array([2, 1], np.int32)
    return Case(text, [np.zeros(1, np.int32), np.full(2, 77, np.int32)], {1: Same(reference=expected)})


def _vec_step(overload: Overload) -> Case:
    steps = {"char": 1, "double": 1, "int2": 2, "half3": 4, "uchar4": 4, "float8": 8, "long16": 16}
    written = [f"r[{n}] = vec_step({t});" for n, t in enumerate(steps)]
    written += [f"{t} v{n}; r[{len(steps) + n}] = vec_step(v{n});" for n, t in enumerate(steps)]
    text = f"kernel void {KERNEL}(global int *r) {{ {' '.join(written)} }}"
    expected = np.array([*steps.values()] * 2, np.int32)
    return Case(text, [np.full(expected.size, 77, np.int32)], {0: Same(reference=expected)})


DRIVERS = (
    Driver("conversions of generic pointers", lambda o: o.name in ("to_global", "to_local", "to_private"), _conversion),
    Driver("fences of generic pointers", lambda o: o.name == "get_fence", _fence),
    Driver("vec_step", lambda o: o.name == "vec_step", _vec_step),
)
