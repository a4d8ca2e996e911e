"""Answers to clGetKernelSubGroupInfo for the subgroups of a route, which a driver does not know."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from coopmat.devices import opencl
from coopmat.matrices.routes import IN_SUB_GROUPS, LOWERED_ROUTES


@dataclass(frozen=True)
class SubGroups:
    """The subgroups of a kernel. Sizes are in work-items.

    size: the size of a subgroup.
    most: the maximum size of a work-group.
    required: the local size that the kernel requires (reqd_work_group_size), or None.
    """

    size: int
    most: int
    required: tuple[int, int, int] | None = None

    def count(self, local_size: Sequence[int]) -> int:
        """Return the number of subgroups in a work-group, of which the last may be smaller."""
        return -(-math.prod(local_size) // self.size)

    def local_size(self, count: int) -> list[int]:
        """Return the local size, in three dimensions, of a one-dimensional work-group with `count` subgroups.

        If no work-group has that number, return zeros.
        """
        items = count * self.size
        possible = (items, 1, 1) == self.required if self.required else 0 < items <= self.most
        return [items, 1, 1] if possible else [0, 0, 0]

    @property
    def most_count(self) -> int:
        """The maximum number of subgroups in a work-group."""
        return (math.prod(self.required) if self.required else self.most) // self.size


def emulated(route: str, sub_group_size: int | None) -> bool:
    """Return whether the route emulates the subgroups of a kernel, instead of using the device's.

    `sub_group_size` is the size for which the kernel was compiled, if any.
    """
    return sub_group_size is not None and route in LOWERED_ROUTES and route not in IN_SUB_GROUPS


# Name of the query -> function of the subgroups and the query's input that returns the answer.
_ANSWERS: dict[str, Callable[[SubGroups, Any], Any]] = {
    "MAX_SUB_GROUP_SIZE_FOR_NDRANGE": lambda groups, local_size: groups.size,
    "SUB_GROUP_COUNT_FOR_NDRANGE": SubGroups.count,
    "LOCAL_SIZE_FOR_SUB_GROUP_COUNT": SubGroups.local_size,
    "MAX_NUM_SUB_GROUPS": lambda groups, _: groups.most_count,
    # OpenCL C has no attribute to specify the number, so the answer is always 0.
    "COMPILE_NUM_SUB_GROUPS": lambda groups, _: 0,
}
# pyopencl's own answer to this query contains no sizes.
_ALWAYS_OURS = "LOCAL_SIZE_FOR_SUB_GROUP_COUNT"


def answer(query: int, of_route: bool) -> Callable[[SubGroups, Any], Any] | None:
    """Return the function that answers a query, given by its number; None if the driver's answer is right.

    `of_route` is whether the kernel's subgroups are `emulated`.
    """
    names = opencl().kernel_sub_group_info
    query_name = next((name for name in _ANSWERS if getattr(names, name, None) == query), None)
    return _ANSWERS[query_name] if query_name is not None and (of_route or query_name == _ALWAYS_OURS) else None
