"""The axes of the table: component types, shapes, targets, and parts of the language that a route may lack."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from matrix_programs import PRELUDE, Target

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.diagnostics import InternalError
from coopmat.matrices.routes import IN_SUB_GROUPS, LOWERED_ROUTES
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType, MatrixType, Use
from coopmat.matrices.vendor_instructions import FAMILIES

if TYPE_CHECKING:
    from .rows import Writer

NATIVE = Target("native", 16)
# With the instructions of SPV_EXT_cooperative_matrix_maintenance1.
MAINTENANCE = Target("native:maint1", 16)
# Native modules that are lowered to smaller subgroups than those they were compiled for, and so to more of them.
LOWERED = (Target("one", 1, through="spv"), Target("scratch", 4, through="ir"), Target("lanes", 4, through="spv"))
# The number of work-items in a work-group of the lowered native modules.
LOWERED_WORK_ITEMS = 16
# route -> subgroup sizes
SIZES = {
    "one": (1,),
    "lanes": (1, 2, 4, 8, 16, 32, 64),
    "scratch": (4, 16),
    "x86:emulated": (1,),
    "mma:emulated": (32,),
    "wmma:emulated": (32,),
    "mfma:emulated": (64,),
    "dpas:emulated": (8, 16),
    # Older generations, whose lane layouts differ. Those of `dpas` differ only in the subgroup size, and are left out.
    **{
        f"{family}:emulated@{generation}": (LOWERED_ROUTES[family].products[0].lanes,)
        for family, generations in FAMILIES.items()
        for generation in generations[:-1]
        if family != "dpas"
    },
}
# Address spaces for a load and for a store.
LOAD_SPACES = ("global", "local", "constant", "private")
STORE_SPACES = ("global", "local", "private")
# Shapes: square, odd, one row or column, as wide as a subgroup or not a multiple of it. Most are small: compilers take
# long for straight-line code.
SMALL = ((4, 4), (3, 5), (1, 7), (2, 8), (5, 1), (3, 3), (4, 2), (1, 1), (7, 3), (2, 4))
LARGE = ((16, 16), (8, 32), (2, 33), (3, 16), (1, 67), (16, 8), (9, 20))


@dataclass(frozen=True)
class Part:
    """A part of the language; `probe` is a kernel that uses it. The routes in `left_out` permanently lack it."""

    name: str
    probe: str
    left_out: tuple[str, ...] = ()

    def missing(self, route: str) -> bool:
        return route not in self.left_out and not self.there(route)

    def there(self, route: str) -> bool:
        """Return whether the compiler supports the part on this route."""
        # The generations of a vendor's instructions share their code.
        return _compiles(self.probe, route.partition("@")[0])


_TINY = "typedef COOP(float, 2, 2, B) M; M m; m = coop_mat_init(1.0f);"
PARTS = {
    part.name: part
    for part in (
        Part("bf16", "M m; m = coop_mat_load(p, ROW, 2);".replace("M m", "typedef COOP(bfloat16, 2, 2, B) M; M m")),
        Part("packed", f"{_TINY} m = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED, 2);"),
        Part("private", f"{_TINY} float a[4]; coop_mat_store(a, m, ROW, 2);"),
        Part("generic", f"{_TINY} float *q = p; coop_mat_store(q, m, ROW, 2);", ("native", "native:maint1")),
        Part("checked", f"{_TINY} m = coop_mat_load_checked(p, ROW, 2, 0, 0, 1, 1);"),
        Part("transpose", f"{_TINY} m = coop_mat_transpose(m);"),
        Part("coord", f"{_TINY} uint2 at = coop_mat_coord(m, 0);", ("native",)),
        Part("convert", f"{_TINY} COOP(int, 2, 2, B) n; n = coop_mat_convert_sat(m);"),
    )
}


@cache
def _compiles(body: str, route: str) -> bool:
    pointee = "bfloat16" if "bfloat16" in body else "float"
    text = f"{PRELUDE}kernel void k(global {pointee} *p) {{ {body} }}"
    options = Target(route, 8).options
    try:
        module = coopmat.compile(text, options, name="probe.cl")
        # Only native matrices can be rejected after the lowering.
        return bool(module.spirv if route.startswith("native") else module.llvm_ir)
    except (coopmat.CompileError, InternalError):
        return False


def types() -> list[ComponentType]:
    return list(COMPONENT_TYPES.values())


def targets(device: DeviceInfo) -> list[Target]:
    """Return a target for every route and subgroup size that the device supports."""
    return _of_device(device, all_targets())


def lowered_targets(device: DeviceInfo) -> list[Target]:
    """Return the targets for native modules that are lowered, as far as the device supports them."""
    return _of_device(device, LOWERED)


def _of_device(device: DeviceInfo, wanted: Iterable[Target]) -> list[Target]:
    return [t for t in wanted if t.route not in IN_SUB_GROUPS or t.sub_group_size in device.sub_group_sizes]


def all_targets() -> list[Target]:
    return [Target(name, size) for name, sizes in SIZES.items() for size in sizes]


# The share of shapes of matrix instructions, on routes that have instructions for the component type.
OF_INSTRUCTIONS = 0.4


def draw_matrix(w: Writer, component: ComponentType, use: Use, large: float = 0.1) -> MatrixType:
    """Return a matrix type of a mostly small shape; `large` is the share of large shapes."""
    shapes: tuple[tuple[int, int], ...] = LARGE if w.rng.random() < large else SMALL
    own = instruction_shapes(w.target, component, use)
    if own and w.rng.random() < OF_INSTRUCTIONS:
        shapes = own
    rows, columns = shapes[int(w.rng.integers(len(shapes)))]
    return MatrixType(component, rows, columns, use)


@cache
def instruction_shapes(target: Target, component: ComponentType, use: Use) -> tuple[tuple[int, int], ...]:
    """Return the operand's shapes in the target's matrix instructions."""
    products = LOWERED_ROUTES[target.route].products if target.route in LOWERED_ROUTES else ()
    rows = (row for row in products if row.lanes == target.sub_group_size > 1)
    return tuple({row.shapes[use]: None for row in rows if component.name in (row.a, row.b, row.c)[use]})


def copies(target: Target, matrix: MatrixType) -> int:
    """Return the number of lanes that hold each component; 1 for native modules, which do not run here."""
    if target.is_native:
        return 1
    return LOWERED_ROUTES[target.route].lane_layout(matrix, target.sub_group_size).copies
