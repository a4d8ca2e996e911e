"""Which library lowerings there are, and how each holds a matrix in private memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

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


@dataclass(frozen=True, slots=True)
class Strategy:
    """A lowering. `file` and `builtins` are in library/; `vectors`: rows are held as vectors, otherwise as scalars.

    `one_work_item`: the subgroup is a single work-item, whatever the device's subgroups are. `scratch`: it is made of
    consecutive work-items that exchange values through local memory. `barrier` is the function that a subgroup's
    work-items wait for each other by, none where there is one only. `tuning` is the device's.
    """

    name: str
    file: str
    builtins: str | None
    vectors: bool
    one_work_item: bool
    scratch: bool = False
    barrier: str = ""
    tuning: Tuning = DEFAULT_TUNING

    def tuned(self, tuning: Tuning) -> Strategy:
        """The same lowering, for another device."""
        return replace(self, tuning=tuning)

    def width(self, columns: int) -> int:
        """Components of the vectors that a row is held in: the widest vector that divides it, or scalars."""
        widths = (w for w in (16, 8, 4, 2, 1) if w <= self.tuning.widest and columns % w == 0)
        return next(widths) if self.vectors else 1

    def slots(self, columns: int, sub_group_size: int) -> int:
        """Columns that a work-item has room for."""
        return columns if self.one_work_item else -(-columns // sub_group_size)


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "one": Strategy("one", "subgroup_of_one.cl", "subgroup_of_one_builtins.cl", True, True),
        "lanes": Strategy("lanes", "lanes.cl", None, False, False, barrier="sub_group_barrier"),
        "scratch": Strategy("scratch", "scratch.cl", "scratch_builtins.cl", False, False, True, barrier="barrier"),
    }
)

# What may become of matrices: native ones, or a lowering.
ROUTES = ("native", *STRATEGIES)
# Lowerings whose subgroups are the device's own.
IN_SUB_GROUPS = tuple(name for name, row in STRATEGIES.items() if not (row.one_work_item or row.scratch))


def storage_components(strategy: Strategy, matrix: MatrixType, sub_group_size: int) -> int:
    """Components of private storage that each work-item needs for a matrix."""
    return matrix.rows * strategy.slots(matrix.columns, sub_group_size)


def storage_alignment(strategy: Strategy, matrix: MatrixType) -> int:
    """In bytes."""
    return matrix.component.size * strategy.width(matrix.columns)


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

    def width(self, columns: int) -> int:
        return self.strategy.width(columns)

    def of_work_group(self) -> Target:
        """For matrices of the whole work-group, which must have `work_items`: they are a subgroup of `scratch`."""
        whole = STRATEGIES["scratch"].tuned(self.strategy.tuning)
        return Target(whole, self.work_items, self.work_items, whole_work_group=True)

    def barrier(self, space: str) -> str:
        """The statement before and after a store to `space`, or nothing: what the subgroup's work-items have read by
        then is theirs, and what is stored can be read by any of them."""
        fences = (_WORK_GROUP_FENCES if self.whole_work_group else _FENCES).get(space)
        return f"{self.strategy.barrier}({fences});" if fences and self.strategy.barrier else ""

    def slots(self, columns: int) -> int:
        return self.strategy.slots(columns, self.sub_group_size)
