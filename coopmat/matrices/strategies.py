"""Which library lowerings there are, and how each holds a matrix in private memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from .variants import MatrixType

# What local memory is made for where the kernel does not say how large its work-groups are.
MAX_WORK_ITEMS = 256
# Work-items, where neither the kernel nor the user says anything.
DEFAULT_SUB_GROUP_SIZE = 16


@dataclass(frozen=True, slots=True)
class Strategy:
    """A lowering. `file` and `builtins` are in library/; `vectors`: rows are held as vectors, otherwise as scalars.

    `one_work_item`: the subgroup is a single work-item, whatever the device's subgroups are. `scratch`: it is made of
    consecutive work-items that exchange values through local memory. `widest` is the greatest number of components
    of the vectors that may be used.
    """

    name: str
    file: str
    builtins: str | None
    vectors: bool
    one_work_item: bool
    scratch: bool = False
    widest: int = 16

    def width(self, columns: int) -> int:
        """Components of the vectors that a row is held in: the widest vector that divides it, or scalars."""
        widths = (w for w in (16, 8, 4, 2, 1) if w <= self.widest and columns % w == 0)
        return next(widths) if self.vectors else 1

    def slots(self, columns: int, sub_group_size: int) -> int:
        """Columns that a work-item has room for."""
        return columns if self.one_work_item else -(-columns // sub_group_size)


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "one": Strategy("one", "subgroup_of_one.cl", "subgroup_of_one_builtins.cl", True, True),
        "lanes": Strategy("lanes", "lanes.cl", None, False, False),
        "scratch": Strategy("scratch", "scratch.cl", "scratch_builtins.cl", False, False, True),
    }
)


def storage_components(strategy: Strategy, matrix: MatrixType, sub_group_size: int) -> int:
    """Components of private storage that each work-item needs for a matrix."""
    return matrix.rows * strategy.slots(matrix.columns, sub_group_size)


def storage_alignment(strategy: Strategy, matrix: MatrixType) -> int:
    """In bytes."""
    return matrix.component.size * strategy.width(matrix.columns)


@dataclass(frozen=True, slots=True)
class Target:
    """What an instantiation is for. `work_items` is the most that a work-group has."""

    strategy: Strategy
    sub_group_size: int
    work_items: int = MAX_WORK_ITEMS

    @property
    def sub_groups(self) -> int:
        """In the largest work-group."""
        return -(-self.work_items // self.sub_group_size)

    def width(self, columns: int) -> int:
        return self.strategy.width(columns)

    def of_work_group(self) -> Target:
        """For matrices of the whole work-group, which must have `work_items`: they are a subgroup of `scratch`."""
        return Target(STRATEGIES["scratch"], self.work_items, self.work_items)

    def slots(self, columns: int) -> int:
        return self.strategy.slots(columns, self.sub_group_size)
