"""Which library lowerings there are: how each holds a matrix, what its subgroups are, which files are its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType

from .holdings import Columns, Holding, Whole
from .variants import MatrixType

# What local memory is made for where the kernel does not say how large its work-groups are.
MAX_WORK_ITEMS = 256
# Work-items, where neither the kernel nor the user says anything.
DEFAULT_SUB_GROUP_SIZE = 16


@dataclass(frozen=True, slots=True)
class Tuning:
    """What a lowering has to know of the device: `widest` is the greatest number of components of the vectors that may
    be used, `fma` says whether the builtin is there, `guarded_loads` whether a load from an address that all work-items
    share is left out where its condition is false. `sub_group_size` is in work-items, for kernels that name none."""

    widest: int = 16
    fma: bool = True
    guarded_loads: bool = True
    sub_group_size: int = DEFAULT_SUB_GROUP_SIZE


DEFAULT_TUNING = Tuning()


def as_whole(matrix: MatrixType, lanes: int) -> Holding:
    return Whole(matrix.rows, matrix.columns, lanes)


def in_columns(matrix: MatrixType, lanes: int) -> Holding:
    return Columns(matrix.rows, matrix.columns, lanes)


class SubGroup(Enum):
    """What the subgroup of a lowering is: a single work-item, the device's own, or consecutive work-items of a
    work-group, by local linear id, that exchange values through local memory."""

    WORK_ITEM = "work-item"
    DEVICE = "device"
    WORK_ITEMS = "work-items"


@dataclass(frozen=True, slots=True)
class Strategy:
    """A lowering. Sections are looked for in `files` of library/, the last first; `builtins` is the file of those of
    the subgroup, where it is not the device's. `holding` tells how a matrix lies over so many lanes, `barrier` is the
    function that these wait for each other by, none where there is one only. `tuning` is the device's.
    """

    name: str
    files: tuple[str, ...]
    sub_group: SubGroup
    holding: Callable[[MatrixType, int], Holding] = in_columns
    builtins: str | None = None
    barrier: str = ""
    tuning: Tuning = DEFAULT_TUNING

    def tuned(self, tuning: Tuning) -> Strategy:
        """The same lowering, for another device."""
        return replace(self, tuning=tuning)

    @property
    def has_one_work_item(self) -> bool:
        """Whether the subgroup is a single one, whatever the device's subgroups are."""
        return self.sub_group is SubGroup.WORK_ITEM

    @property
    def has_sub_groups_of_device(self) -> bool:
        """Whether they are the device's."""
        return self.sub_group is SubGroup.DEVICE

    @property
    def exchanges_in_local_memory(self) -> bool:
        """Whether lanes tell each other values that way, for which whole work-groups come together."""
        return self.sub_group is SubGroup.WORK_ITEMS

    def replaces_builtins(self, has_matrices: bool) -> bool:
        """Whether the subgroup builtins of such a unit speak of the lowering's subgroups, not of the device's. Without
        matrices there is no reason to have subgroups of one."""
        return self.exchanges_in_local_memory or (self.has_one_work_item and has_matrices)

    def size(self, wanted: int | None) -> int:
        """Of the subgroups of a kernel that wants this size, or none in particular."""
        return 1 if self.has_one_work_item else wanted or self.tuning.sub_group_size

    def target(self, wanted: int | None, work_items: int | None) -> Target:
        """For a kernel that wants such subgroups, and has so many work-items in a work-group."""
        items = work_items if self.exchanges_in_local_memory else None
        return Target(self, self.size(wanted), items or MAX_WORK_ITEMS)

    def width(self, matrix: MatrixType) -> int:
        """Components of the vectors that a matrix is held in: the widest vector that divides a row, or scalars."""
        widths = (w for w in (16, 8, 4, 2, 1) if w <= self.tuning.widest and matrix.columns % w == 0)
        return next(widths) if self.holding(matrix, 1).has_vectors else 1


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        row.name: row
        for row in (
            Strategy(
                "one",
                ("general.cl", "subgroup_of_one.cl"),
                SubGroup.WORK_ITEM,
                as_whole,
                builtins="subgroup_of_one_builtins.cl",
            ),
            Strategy("lanes", ("general.cl", "lanes.cl"), SubGroup.DEVICE, barrier="sub_group_barrier"),
            Strategy(
                "scratch",
                ("general.cl", "scratch.cl"),
                SubGroup.WORK_ITEMS,
                builtins="scratch_builtins.cl",
                barrier="barrier",
            ),
        )
    }
)

# What may become of matrices: native ones, or a lowering.
ROUTES = ("native", *STRATEGIES)
# Lowerings whose subgroups are the device's own.
IN_SUB_GROUPS = tuple(name for name, row in STRATEGIES.items() if row.has_sub_groups_of_device)


def storage_components(strategy: Strategy, matrix: MatrixType, sub_group_size: int) -> int:
    """Components of private storage that each work-item needs for a matrix."""
    return strategy.holding(matrix, sub_group_size).slots


def storage_alignment(strategy: Strategy, matrix: MatrixType) -> int:
    """In bytes."""
    return matrix.component.size * strategy.width(matrix)


# The fences of a barrier before and after a store; to private memory no other work-item looks. What is stored to global
# memory waits for the program's own barriers: those of `scratch` are for the whole work-group, and few read it back.
_LOCAL, _LOCAL_AND_GLOBAL = "CLK_LOCAL_MEM_FENCE", "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE"
_FENCES = {"local": _LOCAL, "generic": _LOCAL_AND_GLOBAL}
_WORK_GROUP_FENCES = {"local": _LOCAL, "generic": _LOCAL_AND_GLOBAL, "global": _LOCAL_AND_GLOBAL}


@dataclass(frozen=True, slots=True)
class Target:
    """What an instantiation is for. `work_items` is the most that a work-group has.

    `whole_work_group`: the matrices are of the scope of a work-group, and its work-items are the subgroup.
    """

    strategy: Strategy
    sub_group_size: int
    work_items: int = MAX_WORK_ITEMS
    whole_work_group: bool = False

    @property
    def sub_groups(self) -> int:
        """In the largest work-group."""
        return -(-self.work_items // self.sub_group_size)

    @property
    def most_work_items(self) -> int | None:
        """What a host must keep to, None where it need not."""
        return self.work_items if self.strategy.exchanges_in_local_memory else None

    def width(self, matrix: MatrixType) -> int:
        return self.strategy.width(matrix)

    def holding(self, matrix: MatrixType) -> Holding:
        return self.strategy.holding(matrix, self.sub_group_size)

    def of_work_group(self) -> Target:
        """For matrices of the whole work-group, which must have `work_items`: they are a subgroup of `scratch`."""
        whole = STRATEGIES["scratch"].tuned(self.strategy.tuning)
        return Target(whole, self.work_items, self.work_items, whole_work_group=True)

    def barrier(self, space: str) -> str:
        """The statement before and after a store to `space`, or nothing: what the subgroup's work-items have read by
        then is theirs, and what is stored can be read by any of them."""
        fences = (_WORK_GROUP_FENCES if self.whole_work_group else _FENCES).get(space)
        return f"{self.strategy.barrier}({fences});" if fences and self.strategy.barrier else ""
