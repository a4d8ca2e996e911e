"""The routes that lower matrices to the library: their lane layouts, their subgroups, and their files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType

from . import fragments
from .hardware_multiplies import COPY_BYTES, X86, Product
from .lane_layouts import Columns, Interleaved, LaneLayout, Whole
from .variants import MatrixType, Operands
from .vendor_instructions import FAMILIES

# The number of work-items for which local memory is allocated if the kernel does not state its work-group size.
MAX_WORK_ITEMS = 256
# Work-items of a subgroup, if neither the kernel nor the user states a size.
DEFAULT_SUB_GROUP_SIZE = 16


@dataclass(frozen=True, slots=True)
class Tuning:
    """The properties of the device on which a route depends.

    widest: the largest number of components of usable vectors.
    fma: whether the builtin fma exists.
    guarded_loads: whether a load whose condition is false is really skipped if all work-items use the same address.
    sub_group_size: work-items of the subgroups of kernels that do not state a size.
    instructions: the names of the device's `Product`s; None for those of the newest devices.
    sum_bytes: the bytes of sums that fit a work-item's registers.
    """

    widest: int = 16
    fma: bool = True
    guarded_loads: bool = True
    sub_group_size: int = DEFAULT_SUB_GROUP_SIZE
    instructions: tuple[str, ...] | None = None
    sum_bytes: int = 1536


DEFAULT_TUNING = Tuning()


class SubGroup(Enum):
    """The subgroups of a route.

    WORK_ITEM: a subgroup is a single work-item.
    DEVICE: subgroups are the device's.
    WORK_ITEMS: a subgroup is consecutive work-items of a work-group, by local linear id, which exchange values through
        local memory.
    """

    WORK_ITEM = "work-item"
    DEVICE = "device"
    WORK_ITEMS = "work-items"


@dataclass(frozen=True, slots=True)
class LoweredRoute:
    """A route that lowers matrix operations to functions of the library.

    files: the files of library/ with the sections; the last file takes precedence.
    usual: the class of the lane layout of matrices for which no instruction requires another.
    products: the instructions of the route's newest devices.
    others: instructions that only older devices have.
    tf32: instructions that read 19 bits of floats, which `with_tf32` adds. Only programs that request them use their
        lane layouts.
    family: the family of the vendor's instructions (`INSTRUCTIONS`); empty if there is none.
    generation: the generation of the devices (`FAMILIES`), if the route is for one generation only.
    prelude: the file of C that defines functions by the instructions, in place of the library's functions of those
        names.
    builtins: the file with the subgroup builtins, if the subgroups are not the device's.
    barrier: the function by which lanes wait for each other; empty if there is only one lane.
    has_pieces: whether the devices copy memory best in units of COPY_BYTES, for all component types.
    tuning: the properties of the device.
    """

    name: str
    files: tuple[str, ...]
    sub_group: SubGroup
    usual: type[LaneLayout] = Columns
    products: tuple[Product, ...] = ()
    others: tuple[Product, ...] = ()
    tf32: tuple[Product, ...] = ()
    family: str = ""
    generation: str = ""
    prelude: str = ""
    builtins: str | None = None
    barrier: str = ""
    has_pieces: bool = False
    tuning: Tuning = DEFAULT_TUNING

    def tuned(self, tuning: Tuning) -> LoweredRoute:
        """Return the same route with the properties of another device."""
        products, tf32 = self.products, self.tf32
        if tuning.instructions is not None:
            products = tuple(row for row in self.every_product if row.name in tuning.instructions)
            tf32 = tuple(row for row in tf32 if row.name in tuning.instructions)
        if tuning.widest != 16:
            products, tf32 = (), ()
        return replace(self, tuning=tuning, products=products, others=(), tf32=tf32)

    def with_tf32(self) -> LoweredRoute:
        """Return the route for a program with multiply-adds that request tf32."""
        return replace(self, products=(*self.tf32, *self.products), tf32=())

    @property
    def every_product(self) -> tuple[Product, ...]:
        """The instructions of devices of any age."""
        return self.products + self.others

    def lane_layout(self, matrix: MatrixType, lanes: int) -> LaneLayout:
        """Return the lane layout of a matrix for a subgroup of `lanes` lanes."""
        lane_layouts = (row.lane_layout(matrix) for row in self.products if row.lanes == lanes)
        return next(filter(None, lane_layouts), None) or self.usual(matrix.rows, matrix.columns, lanes)

    def lies_as_usual(self, matrix: MatrixType, lanes: int) -> bool:
        """Return whether the functions for the usual lane layout can process the matrix's layout."""
        return isinstance(self.lane_layout(matrix, lanes), self.usual)

    @property
    def is_emulated(self) -> bool:
        """Whether functions of the library replace a vendor's instructions."""
        return bool(self.family) and not self.prelude

    @property
    def is_for_gpus(self) -> bool:
        """Whether a vendor's GPU executes the code; there, an array that a loop indexes is not in registers."""
        return bool(self.family) and not self.is_emulated

    @property
    def has_one_work_item(self) -> bool:
        """Whether the subgroup is a single work-item, whatever the device's subgroups are."""
        return self.sub_group is SubGroup.WORK_ITEM

    @property
    def has_sub_groups_of_device(self) -> bool:
        """Whether the subgroups are the device's."""
        return self.sub_group is SubGroup.DEVICE

    @property
    def exchanges_in_local_memory(self) -> bool:
        """Whether lanes exchange values through local memory; then all work-items of a work-group must participate."""
        return self.sub_group is SubGroup.WORK_ITEMS

    def replaces_builtins(self, has_matrices: bool) -> bool:
        """Return whether the subgroup builtins of a unit refer to the route's subgroups instead of the device's.

        If lanes exchange values through local memory, return True. If the route's subgroups are single work-items,
        return `has_matrices`: such subgroups are useless in a unit without matrices.
        """
        return self.exchanges_in_local_memory or (self.has_one_work_item and has_matrices)

    def about_other_size(self, kernel: str, required_size: int | None, size: int | None) -> str:
        """Return the message about a kernel that requires subgroups of another size than `size`, the route's."""
        reason = f"--sub-group-size asks for {size}: different sizes are not supported yet"
        if self.has_one_work_item:
            reason = f"--matrices {self.name} makes them of one work-item"
        return f"kernel '{kernel}' asks for subgroups of {required_size}, and {reason}"

    def size(self, required_size: int | None) -> int:
        """Return the subgroup size of a kernel that requires this size, or None if it requires none."""
        if self.has_one_work_item:
            return 1
        sizes = {row.lanes for row in self.products}
        usual = self.tuning.sub_group_size
        return required_size or (usual if usual in sizes or not sizes else max(sizes))

    def target(self, required_size: int | None, work_items: int | None) -> Target:
        """Return the target of a kernel with this required subgroup size and this work-group size."""
        items = work_items if self.exchanges_in_local_memory else None
        return Target(self, self.size(required_size), items or MAX_WORK_ITEMS)

    def product(self, a: MatrixType, b: MatrixType, c: MatrixType, operands: Operands, lanes: int) -> Product | None:
        """Return the devices' instruction for a multiply-add that fits the operands' lane layouts, or None."""
        return next(
            (
                row
                for row in self.products
                if row.lanes == lanes
                and row.takes(a, b, c, operands)
                and all(
                    lane_layout is None or lane_layout.lies_as(self.lane_layout(matrix, lanes))
                    for matrix, lane_layout in ((matrix, row.lane_layout(matrix)) for matrix in (a, b, c))
                )
            ),
            None,
        )

    def uses_wide_copies(self, matrix: MatrixType) -> bool:
        """Return whether a matrix of small components is copied from memory in the processor's widest registers."""
        lane_layout = self.lane_layout(matrix, 1)
        row = matrix.columns * matrix.component.size * (lane_layout.pack if isinstance(lane_layout, Interleaved) else 1)
        return self.has_pieces and matrix.component.size < 4 and row % COPY_BYTES == 0

    def width(self, matrix: MatrixType) -> int:
        """Return the width of a matrix's vectors: the widest that divides a row, or 1."""
        widths = (w for w in (16, 8, 4, 2, 1) if w <= self.tuning.widest and matrix.columns % w == 0)
        return next(widths) if self.lane_layout(matrix, 1).has_vectors else 1


def _vendors(family: str, generation: str = "") -> tuple[LoweredRoute, LoweredRoute]:
    """Return the route that uses the matrix instructions of a vendor's devices, and the route that emulates them.

    With `generation`, the instructions are those of one generation. Otherwise they are those of the newest, with
    `others` for older devices.
    """
    every = fragments.products(family)
    products, tf32 = (tuple(row for row in every if row.is_of_tf32 is which) for which in (False, True))
    newest = FAMILIES[family][-1]
    # dpas: all generations, because they differ in the subgroup size, which selects the instructions.
    usual = tuple(row for row in products if family == "dpas" or row.is_of(newest))
    if generation:
        products = usual = tuple(row for row in products if row.is_of(generation))
        tf32 = tuple(row for row in tf32 if row.is_of(generation))
    suffix = f"@{generation}" if generation else ""
    emulated = LoweredRoute(
        f"{family}:emulated{suffix}",
        ("general.cl", "lanes.cl", "fragments.cl"),
        SubGroup.DEVICE,
        products=usual,
        others=tuple(row for row in products if row not in usual),
        tf32=tf32,
        family=family,
        generation=generation,
        barrier="sub_group_barrier",
    )
    return replace(emulated, name=f"{family}{suffix}", prelude=f"vendors/{family}.cl"), emulated


_X86 = LoweredRoute(
    "x86",
    ("general.cl", "subgroup_of_one.cl", "x86.cl"),
    SubGroup.WORK_ITEM,
    Whole,
    X86,
    prelude="x86_prelude.cl",
    has_pieces=True,
    builtins="subgroup_of_one_builtins.cl",
)
LOWERED_ROUTES: Mapping[str, LoweredRoute] = MappingProxyType(
    {
        row.name: row
        for row in (
            LoweredRoute(
                "one",
                ("general.cl", "subgroup_of_one.cl"),
                SubGroup.WORK_ITEM,
                Whole,
                builtins="subgroup_of_one_builtins.cl",
            ),
            LoweredRoute("lanes", ("general.cl", "lanes.cl"), SubGroup.DEVICE, barrier="sub_group_barrier"),
            LoweredRoute(
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

# The routes whose instructions are only available in OpenCL C, by extensions of its compilers.
OPENCL_C_ONLY = tuple(name for name, row in LOWERED_ROUTES.items() if row.prelude)
# The routes of matrices: native, and the lowered ones.
ROUTES = ("native", *LOWERED_ROUTES)
# The routes that are listed; the others are named FAMILY@GENERATION or FAMILY:emulated@GENERATION.
LISTED_ROUTES = tuple(name for name in ROUTES if "@" not in name)
# Routes whose subgroups are the device's.
IN_SUB_GROUPS = tuple(name for name, row in LOWERED_ROUTES.items() if row.has_sub_groups_of_device)


def storage_components(route: LoweredRoute, matrix: MatrixType, sub_group_size: int) -> int:
    """Return the number of components of private storage that each work-item needs for a matrix."""
    return route.lane_layout(matrix, sub_group_size).slots


def storage_alignment(route: LoweredRoute, matrix: MatrixType, sub_group_size: int) -> int:
    """Return the alignment in bytes of a work-item's storage for a matrix.

    The alignment is that of the vectors in which the matrix is accessed, in subgroups of this size and of any larger
    size.
    """
    lanes = {sub_group_size, *(row.lanes for row in route.products)}
    units = (route.lane_layout(matrix, size).unit for size in lanes)
    vectors = matrix.component.size * max(*units, route.width(matrix))
    return max(vectors, COPY_BYTES) if route.uses_wide_copies(matrix) else vectors


_LOCAL, _LOCAL_AND_GLOBAL = "CLK_LOCAL_MEM_FENCE", "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE"
# address space of a store -> fences of the barriers before and after it. No other work-item reads private memory. Other
# work-items read global memory only behind barriers of the program itself, which suffice.
_FENCES = {"local": _LOCAL, "generic": _LOCAL_AND_GLOBAL}
_WORK_GROUP_FENCES = {"local": _LOCAL, "generic": _LOCAL_AND_GLOBAL, "global": _LOCAL_AND_GLOBAL}


@dataclass(frozen=True, slots=True)
class Target:
    """The target of an instantiation: a route, a subgroup size, and a work-group size.

    work_items: the largest size of a work-group.
    whole_work_group: the matrices have the scope of a work-group, so that all its work-items form the subgroup.
    """

    route: LoweredRoute
    sub_group_size: int
    work_items: int = MAX_WORK_ITEMS
    whole_work_group: bool = False

    @property
    def sub_groups(self) -> int:
        """The number of subgroups in the largest work-group."""
        return -(-self.work_items // self.sub_group_size)

    @property
    def most_work_items(self) -> int | None:
        """The largest work-group size that a host may use; None if it is not limited."""
        return self.work_items if self.route.exchanges_in_local_memory else None

    def width(self, matrix: MatrixType) -> int:
        """Return the width of a matrix's vectors, or 1."""
        return self.route.width(matrix)

    def lane_layout(self, matrix: MatrixType) -> LaneLayout:
        """Return the lane layout of a matrix."""
        return self.route.lane_layout(matrix, self.sub_group_size)

    def of_work_group(self) -> Target:
        """Return the target for matrices with the scope of a work-group, which must have `work_items` work-items.

        The work-items of the whole work-group are one subgroup of the route `scratch`.
        """
        whole = LOWERED_ROUTES["scratch"].tuned(self.route.tuning)
        return Target(whole, self.work_items, self.work_items, whole_work_group=True)

    def barrier(self, space: str) -> str:
        """Return the statement before and after a store to `space`: a barrier, or nothing.

        The barrier ensures that earlier reads of the subgroup are complete, and that all its work-items see the stored
        values.
        """
        fences = (_WORK_GROUP_FENCES if self.whole_work_group else _FENCES).get(space)
        return f"{self.route.barrier}({fences});" if fences and self.route.barrier else ""
