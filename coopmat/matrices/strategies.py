"""The library lowerings: the holding of a matrix in each, its subgroups, and its files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType

from . import fragments
from .holdings import Columns, Holding, Interleaved, Whole
from .instructions import FAMILIES
from .products import PIECE, X86, Product
from .variants import MatrixType, Operands

# The size of a work-group for which local memory is allocated if the kernel does not give one.
MAX_WORK_ITEMS = 256
# Work-items, where neither the kernel nor the user says anything.
DEFAULT_SUB_GROUP_SIZE = 16


@dataclass(frozen=True, slots=True)
class Tuning:
    """The properties of the device that a lowering depends on. `widest` is the greatest number of components of the
    vectors that may be used, `fma` tells whether the builtin exists, `guarded_loads` whether a load from an address
    that all work-items share is omitted if its condition is false. `sub_group_size` is in work-items, for kernels that
    name none. `instructions` are the names of the device's products, None for those of the newest devices. Sums of
    `sum_bytes` fit a work-item's registers."""

    widest: int = 16
    fma: bool = True
    guarded_loads: bool = True
    sub_group_size: int = DEFAULT_SUB_GROUP_SIZE
    instructions: tuple[str, ...] | None = None
    sum_bytes: int = 1536


DEFAULT_TUNING = Tuning()


class SubGroup(Enum):
    """The subgroup of a lowering: a single work-item, the device's own, or consecutive work-items of a work-group, by
    local linear id, that exchange values through local memory."""

    WORK_ITEM = "work-item"
    DEVICE = "device"
    WORK_ITEMS = "work-items"


@dataclass(frozen=True, slots=True)
class Strategy:
    """A lowering. Sections are looked up in `files` of library/, the last first; `builtins` is the file of those of the
    subgroup, if it is not the device's. `usual` is the holding of a matrix for which no instruction requires another
    one; `barrier` is the function by which lanes wait for each other, empty if there is only one. `products` are those
    that its newest devices have instructions for, `others` those of older ones only; `family` is that of the vendor's
    instructions, if any (`INSTRUCTIONS`), `generation` that of the devices (`FAMILIES`), if the lowering is for one
    alone. `prelude` is the file of C that uses them, in place of the functions of those
    names. `has_pieces` says that its devices copy memory best in PIECE bytes, whatever the components. `tuning` is
    the device's."""

    name: str
    files: tuple[str, ...]
    sub_group: SubGroup
    usual: type[Holding] = Columns
    products: tuple[Product, ...] = ()
    others: tuple[Product, ...] = ()
    family: str = ""
    generation: str = ""
    prelude: str = ""
    builtins: str | None = None
    barrier: str = ""
    has_pieces: bool = False
    tuning: Tuning = DEFAULT_TUNING

    def tuned(self, tuning: Tuning) -> Strategy:
        """Return the same lowering, for another device."""
        products = self.products
        if tuning.instructions is not None:
            products = tuple(row for row in self.every_product if row.name in tuning.instructions)
        return replace(self, tuning=tuning, products=products if tuning.widest == 16 else (), others=())

    @property
    def every_product(self) -> tuple[Product, ...]:
        """The products of devices of any age."""
        return self.products + self.others

    def holding(self, matrix: MatrixType, lanes: int) -> Holding:
        """Return the holding of a matrix by so many lanes."""
        holdings = (row.holding(matrix) for row in self.products if row.lanes == lanes)
        return next(filter(None, holdings), None) or self.usual(matrix.rows, matrix.columns, lanes)

    def lies_as_usual(self, matrix: MatrixType, lanes: int) -> bool:
        """Return whether no instruction requires another holding than the usual one, or than the usual functions can
        process."""
        return isinstance(self.holding(matrix, lanes), self.usual)

    @property
    def is_emulated(self) -> bool:
        """Tell whether functions replace a vendor's instructions."""
        return bool(self.family) and not self.prelude

    @property
    def is_for_gpus(self) -> bool:
        """Tell whether a vendor's GPU executes it: what a loop counts through there is in memory, not in registers."""
        return bool(self.family) and not self.is_emulated

    @property
    def has_one_work_item(self) -> bool:
        """Tell whether the subgroup is a single work-item, whatever the device's subgroups are."""
        return self.sub_group is SubGroup.WORK_ITEM

    @property
    def has_sub_groups_of_device(self) -> bool:
        """Tell whether the subgroups are the device's."""
        return self.sub_group is SubGroup.DEVICE

    @property
    def exchanges_in_local_memory(self) -> bool:
        """Tell whether lanes exchange values through local memory, which requires whole work-groups to participate."""
        return self.sub_group is SubGroup.WORK_ITEMS

    def replaces_builtins(self, has_matrices: bool) -> bool:
        """Return whether the subgroup builtins of such a unit refer to the lowering's subgroups, not to the device's.
        Without matrices there is no reason to have subgroups of one."""
        return self.exchanges_in_local_memory or (self.has_one_work_item and has_matrices)

    def size(self, required_size: int | None) -> int:
        """Return the size of the subgroups of a kernel that requires this size, or none in particular."""
        if self.has_one_work_item:
            return 1
        sizes = {row.lanes for row in self.products}
        usual = self.tuning.sub_group_size
        return required_size or (usual if usual in sizes or not sizes else max(sizes))

    def target(self, required_size: int | None, work_items: int | None) -> Target:
        """Return the target of a kernel that requires such subgroups, and has so many work-items in a work-group."""
        items = work_items if self.exchanges_in_local_memory else None
        return Target(self, self.size(required_size), items or MAX_WORK_ITEMS)

    def product(self, a: MatrixType, b: MatrixType, c: MatrixType, operands: Operands, lanes: int) -> Product | None:
        """Return the product that the devices have an instruction for and that the operands' holdings fit; None if
        there is none."""
        return next(
            (
                row
                for row in self.products
                if row.lanes == lanes
                and row.takes(a, b, c, operands)
                and all(
                    holding is None or holding.lies_as(self.holding(matrix, lanes))
                    for matrix, holding in ((matrix, row.holding(matrix)) for matrix in (a, b, c))
                )
            ),
            None,
        )

    def in_pieces(self, matrix: MatrixType) -> bool:
        """Whether a matrix of small components is copied from memory in the processor's widest registers."""
        holding = self.holding(matrix, 1)
        row = matrix.columns * matrix.component.size * (holding.pack if isinstance(holding, Interleaved) else 1)
        return self.has_pieces and matrix.component.size < 4 and row % PIECE == 0

    def width(self, matrix: MatrixType) -> int:
        """Return the width of a matrix's vectors: the widest one that divides a row, or 1."""
        widths = (w for w in (16, 8, 4, 2, 1) if w <= self.tuning.widest and matrix.columns % w == 0)
        return next(widths) if self.holding(matrix, 1).has_vectors else 1


def _vendors(family: str, generation: str = "") -> tuple[Strategy, Strategy]:
    """Return the strategy that uses the matrix instructions of a vendor's devices, and the one that emulates them: of
    one generation, or of the newest, with `others` for older devices."""
    products = fragments.products(family)
    newest = FAMILIES[family][-1]
    # Intel's generations differ in their subgroups, whose size says which is meant.
    usual = tuple(row for row in products if family == "dpas" or row.is_of(newest))
    if generation:
        products = usual = tuple(row for row in products if row.is_of(generation))
    suffix = f"@{generation}" if generation else ""
    emulated = Strategy(
        f"{family}:emulated{suffix}",
        ("general.cl", "lanes.cl", "fragments.cl"),
        SubGroup.DEVICE,
        products=usual,
        others=tuple(row for row in products if row not in usual),
        family=family,
        generation=generation,
        barrier="sub_group_barrier",
    )
    return replace(emulated, name=f"{family}{suffix}", prelude=f"vendors/{family}.cl"), emulated


_X86 = Strategy(
    "x86",
    ("general.cl", "subgroup_of_one.cl", "x86.cl"),
    SubGroup.WORK_ITEM,
    Whole,
    X86,
    prelude="x86_prelude.cl",
    has_pieces=True,
    builtins="subgroup_of_one_builtins.cl",
)
STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        row.name: row
        for row in (
            Strategy(
                "one",
                ("general.cl", "subgroup_of_one.cl"),
                SubGroup.WORK_ITEM,
                Whole,
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
            _X86,
            replace(_X86, name="x86:emulated", prelude=""),
            *(row for family in FAMILIES for row in _vendors(family)),
            *(row for family, names in FAMILIES.items() for name in names for row in _vendors(family, name)),
        )
    }
)

# The strategies whose instructions can only be used from OpenCL C, with its compilers' extensions.
OPENCL_C_ONLY = tuple(name for name, row in STRATEGIES.items() if row.prelude)
# The routes of matrices: native, or a lowering.
ROUTES = ("native", *STRATEGIES)
# Those that are listed: the others are named FAMILY@GENERATION, or FAMILY:emulated@GENERATION.
LISTED_ROUTES = tuple(name for name in ROUTES if "@" not in name)
# Lowerings whose subgroups are the device's own.
IN_SUB_GROUPS = tuple(name for name, row in STRATEGIES.items() if row.has_sub_groups_of_device)


def storage_components(strategy: Strategy, matrix: MatrixType, sub_group_size: int) -> int:
    """Return the components of private storage that each work-item needs for a matrix."""
    return strategy.holding(matrix, sub_group_size).slots


def storage_alignment(strategy: Strategy, matrix: MatrixType, sub_group_size: int) -> int:
    """Return the alignment in bytes: that of the vectors in which it is accessed, in subgroups of this size and in
    larger ones."""
    lanes = {sub_group_size, *(row.lanes for row in strategy.products)}
    units = (strategy.holding(matrix, size).unit for size in lanes)
    vectors = matrix.component.size * max(*units, strategy.width(matrix))
    return max(vectors, PIECE) if strategy.in_pieces(matrix) else vectors


# The fences of a barrier before and after a store; to private memory no other work-item looks. What is stored to global
# memory waits for the program's own barriers: those of `scratch` are for the whole work-group, and few read it back.
_LOCAL, _LOCAL_AND_GLOBAL = "CLK_LOCAL_MEM_FENCE", "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE"
_FENCES = {"local": _LOCAL, "generic": _LOCAL_AND_GLOBAL}
_WORK_GROUP_FENCES = {"local": _LOCAL, "generic": _LOCAL_AND_GLOBAL, "global": _LOCAL_AND_GLOBAL}


@dataclass(frozen=True, slots=True)
class Target:
    """The target of an instantiation. `work_items` is the largest size of a work-group.

    `whole_work_group`: the matrices have the scope of a work-group, and its work-items are the subgroup.
    """

    strategy: Strategy
    sub_group_size: int
    work_items: int = MAX_WORK_ITEMS
    whole_work_group: bool = False

    @property
    def sub_groups(self) -> int:
        """The number of subgroups in the largest work-group."""
        return -(-self.work_items // self.sub_group_size)

    @property
    def most_work_items(self) -> int | None:
        """The largest work-group size that a host may use, None if it is not limited."""
        return self.work_items if self.strategy.exchanges_in_local_memory else None

    def width(self, matrix: MatrixType) -> int:
        return self.strategy.width(matrix)

    def holding(self, matrix: MatrixType) -> Holding:
        return self.strategy.holding(matrix, self.sub_group_size)

    def of_work_group(self) -> Target:
        """Return the target for matrices of the whole work-group, which must have `work_items`: they are a subgroup of
        `scratch`."""
        whole = STRATEGIES["scratch"].tuned(self.strategy.tuning)
        return Target(whole, self.work_items, self.work_items, whole_work_group=True)

    def barrier(self, space: str) -> str:
        """Return the statement before and after a store to `space`, or nothing: the subgroup's work-items have finished
        their earlier reads, and what is stored can be read by any of them."""
        fences = (_WORK_GROUP_FENCES if self.whole_work_group else _FENCES).get(space)
        return f"{self.strategy.barrier}({fences});" if fences and self.strategy.barrier else ""
