"""The answers of clGetKernelSubGroupInfo where the subgroups are the route's, which a driver does not know."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from coopmat.devices import opencl
from coopmat.matrices.strategies import IN_SUB_GROUPS, STRATEGIES


@dataclass(frozen=True)
class SubGroups:
    """A kernel's subgroups of `size` work-items each, in work-groups of up to `most`; `required` are the work-groups
    that the kernel asks for. Sizes are in work-items."""

    size: int
    most: int
    required: tuple[int, int, int] | None = None

    def count(self, local_size: Sequence[int]) -> int:
        """Return the number of subgroups in a work-group; the last one may be smaller."""
        return -(-math.prod(local_size) // self.size)

    def local_size(self, count: int) -> list[int]:
        """Return the local size of a work-group with so many subgroups, in one dimension; zeros where there is none."""
        items = count * self.size
        possible = (items, 1, 1) == self.required if self.required else 0 < items <= self.most
        return [items, 1, 1] if possible else [0, 0, 0]

    @property
    def most_count(self) -> int:
        """The most that a work-group may have."""
        return (math.prod(self.required) if self.required else self.most) // self.size


def emulated(route: str, sub_group_size: int | None) -> bool:
    """Return whether a kernel that was compiled by this route, for that size, has other subgroups than the device's."""
    return sub_group_size is not None and route in STRATEGIES and route not in IN_SUB_GROUPS


_ANSWERS: dict[str, Callable[[SubGroups, Any], Any]] = {
    "MAX_SUB_GROUP_SIZE_FOR_NDRANGE": lambda groups, local_size: groups.size,
    "SUB_GROUP_COUNT_FOR_NDRANGE": SubGroups.count,
    "LOCAL_SIZE_FOR_SUB_GROUP_COUNT": SubGroups.local_size,
    "MAX_NUM_SUB_GROUPS": lambda groups, _: groups.most_count,
    # There is no attribute for it in OpenCL C.
    "COMPILE_NUM_SUB_GROUPS": lambda groups, _: 0,
}
# pyopencl hands this one's answer on with no sizes in it.
_ALWAYS_OURS = "LOCAL_SIZE_FOR_SUB_GROUP_COUNT"


def answer(query: int, of_route: bool) -> Callable[[SubGroups, Any], Any] | None:
    """Return the function that answers a query, by its number; None where the driver's answer is right. `of_route`:
    `emulated`."""
    names = opencl().kernel_sub_group_info
    query_name = next((name for name in _ANSWERS if getattr(names, name, None) == query), None)
    return _ANSWERS[query_name] if query_name is not None and (of_route or query_name == _ALWAYS_OURS) else None
