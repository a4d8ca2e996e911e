"""Which library lowerings there are: how each holds a matrix, what its subgroups are, which files are its own."""

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

# What local memory is made for where the kernel does not say how large its work-groups are.
MAX_WORK_ITEMS = 256
# Work-items, where neither the kernel nor the user says anything.
DEFAULT_SUB_GROUP_SIZE = 16


@dataclass(frozen=True, slots=True)
class Tuning:
    """What a lowering has to know of the device: `widest` is the greatest number of components of the vectors that may
    be used, `fma` says whether the builtin is there, `guarded_loads` whether a load from an address that all work-items
    share is left out where its condition is false. `sub_group_size` is in work-items, for kernels that name none.
    `instructions` are the names of the products that it has, None where it has what the newest devices have."""

    widest: int = 16
    fma: bool = True
    guarded_loads: bool = True
    sub_group_size: int = DEFAULT_SUB_GROUP_SIZE
    instructions: tuple[str, ...] | None = None


DEFAULT_TUNING = Tuning()


class SubGroup(Enum):
    """What the subgroup of a lowering is: a single work-item, the device's own, or consecutive work-items of a
    work-group, by local linear id, that exchange values through local memory."""

    WORK_ITEM = "work-item"
    DEVICE = "device"
    WORK_ITEMS = "work-items"


@dataclass(frozen=True, slots=True)
class Strategy:
    """A lowering. Sections are looked for in `files` of library/, the last first; `builtins` is the file of those of
    the subgroup, where it is not the device's. `usual` is how a matrix lies over the lanes where no instruction wants
    it otherwise; `barrier` is the function that these wait for each other by, none where there is one only. `products`
    are what its newest devices have instructions for, `others` what only older ones have; `family` is that of the
    vendor's instructions, if they are one's (`INSTRUCTIONS`). `prelude` is the file of C that reaches them, in place of
    the functions of those names. `has_pieces`: its devices copy memory best in PIECE bytes, whatever the components.
    `tuning` is the device's.
    """

    name: str
    files: tuple[str, ...]
    sub_group: SubGroup
    usual: type[Holding] = Columns
    products: tuple[Product, ...] = ()
    others: tuple[Product, ...] = ()
    family: str = ""
    prelude: str = ""
    builtins: str | None = None
    barrier: str = ""
    has_pieces: bool = False
    tuning: Tuning = DEFAULT_TUNING

    def tuned(self, tuning: Tuning) -> Strategy:
        """The same lowering, for another device."""
        there = self.products
        if tuning.instructions is not None:
            there = tuple(row for row in self.every_product if row.name in tuning.instructions)
        return replace(self, tuning=tuning, products=there if tuning.widest == 16 else (), others=())

    @property
    def every_product(self) -> tuple[Product, ...]:
        """Of devices of any age."""
        return self.products + self.others

    def holding(self, matrix: MatrixType, lanes: int) -> Holding:
        """How a matrix lies over so many lanes."""
        wanted = (row.holding(matrix) for row in self.products if row.lanes == lanes)
        return next(filter(None, wanted), None) or self.usual(matrix.rows, matrix.columns, lanes)

    def lies_as_usual(self, matrix: MatrixType, lanes: int) -> bool:
        """Whether no instruction wants it otherwise, or as the usual way's own functions can take it."""
        return isinstance(self.holding(matrix, lanes), self.usual)

    @property
    def is_emulated(self) -> bool:
        """Whether functions stand for a vendor's instructions."""
        return bool(self.family) and not self.prelude

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
        if self.has_one_work_item:
            return 1
        sizes = {row.lanes for row in self.products}
        usual = self.tuning.sub_group_size
        return wanted or (usual if usual in sizes or not sizes else max(sizes))

    def target(self, wanted: int | None, work_items: int | None) -> Target:
        """For a kernel that wants such subgroups, and has so many work-items in a work-group."""
        items = work_items if self.exchanges_in_local_memory else None
        return Target(self, self.size(wanted), items or MAX_WORK_ITEMS)

    def product(self, a: MatrixType, b: MatrixType, c: MatrixType, operands: Operands, lanes: int) -> Product | None:
        """What its devices have an instruction for, and the operands lie for; None where there is none."""
        return next(
            (
                row
                for row in self.products
                if row.lanes == lanes
                and row.takes(a, b, c, operands)
                and all(
                    wanted is None or wanted.lies_as(self.holding(matrix, lanes))
                    for matrix, wanted in ((matrix, row.holding(matrix)) for matrix in (a, b, c))
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
        """Components of the vectors that a matrix is held in: the widest vector that divides a row, or scalars."""
        widths = (w for w in (16, 8, 4, 2, 1) if w <= self.tuning.widest and matrix.columns % w == 0)
        return next(widths) if self.holding(matrix, 1).has_vectors else 1


def _vendors(family: str, newest: str) -> tuple[Strategy, Strategy]:
    """By the matrix instructions of a vendor's devices, and the same emulated."""
    products = fragments.products(family)
    usual = tuple(row for row in products if not newest or newest in row.devices)
    emulated = Strategy(
        f"{family}:emulated",
        ("general.cl", "lanes.cl", "fragments.cl"),
        SubGroup.DEVICE,
        products=usual,
        others=tuple(row for row in products if row not in usual),
        family=family,
        barrier="sub_group_barrier",
    )
    return replace(emulated, name=family, prelude=f"vendors/{family}.cl"), emulated


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
            *(row for family in FAMILIES.items() for row in _vendors(*family)),
        )
    }
)

# Those whose instructions only OpenCL C, and what its compilers take besides, can reach.
OPENCL_C_ONLY = tuple(name for name, row in STRATEGIES.items() if row.prelude)
# What may become of matrices: native ones, or a lowering.
ROUTES = ("native", *STRATEGIES)
# Lowerings whose subgroups are the device's own.
IN_SUB_GROUPS = tuple(name for name, row in STRATEGIES.items() if row.has_sub_groups_of_device)


def storage_components(strategy: Strategy, matrix: MatrixType, sub_group_size: int) -> int:
    """Components of private storage that each work-item needs for a matrix."""
    return strategy.holding(matrix, sub_group_size).slots


def storage_alignment(strategy: Strategy, matrix: MatrixType, sub_group_size: int) -> int:
    """In bytes: of the vectors in which it is accessed, in subgroups of this size and in larger ones."""
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
