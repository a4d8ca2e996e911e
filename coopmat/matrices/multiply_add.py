"""The multiply-add, as a function of the library."""

from __future__ import annotations

from dataclasses import dataclass, replace

from . import library_functions, spelling
from .hardware_multiplies import COPY_BYTES, FragmentProduct, Product
from .lane_layouts import Number, Term
from .library_function import FromTemplate, LibraryFunction, Parameter, Signature, Written
from .routes import Target, storage_alignment
from .variants import COMPONENT_TYPES, ComponentType, MatrixType, Operands, Use
from .vendor_instructions import Instruction

# Most vector products that a multiply-add unrolls: if C has several blocks of registers, and if it has one. With one
# block, unrolling also keeps A and B in registers.
UNROLLED_PRODUCTS = 128
UNROLLED_PRODUCTS_OF_ONE = 512


@dataclass(frozen=True, slots=True)
class EmulatedInstruction(Written):
    """The function that emulates a vendor's instruction by a subgroup's broadcasts.

    Routes whose devices have the instruction define the same function by the instruction.
    """

    row: Instruction

    @property
    def function_name(self) -> str:
        return self.row.name

    @property
    def signature(self) -> Signature:
        parameters = (Parameter(name, r.opencl_c) for name, r in zip("abc", self.row.registers, strict=True))
        return Signature(self.row.c_registers.opencl_c, tuple(parameters))

    def text(self, target: Target) -> str:
        return self.row.emulated + "\n"


@dataclass(frozen=True, slots=True)
class MultiplyAdd(FromTemplate):
    """A multiply-add: `void f(private C *out, const private A *a, const private B *b, const private C *c)`.

    `out` may be equal to a, b or c. The constructor raises ValueError if uses, shapes, scopes or classes of component
    types do not match.
    """

    a: MatrixType
    b: MatrixType
    c: MatrixType
    operands: Operands

    def __post_init__(self) -> None:
        a, b, c = self.a, self.b, self.c
        if (a.use, b.use, c.use) != (Use.A, Use.B, Use.ACCUMULATOR):
            raise ValueError(f"a multiply-add takes A, B and an accumulator, not {a}, {b} and {c}")
        if (a.columns, a.rows, b.columns) != (b.rows, c.rows, c.columns):
            raise ValueError(f"the shapes of {a}, {b} and {c} do not fit")
        if len({m.component.kind for m in (a, b, c)}) != 1:
            raise ValueError(f"{a}, {b} and {c} mix integers and floating point")
        if len({m.scope for m in (a, b, c)}) != 1:
            raise ValueError(f"{a}, {b} and {c} are of different scopes")

    @property
    def of_work_group(self) -> bool:
        return self.c.of_work_group

    @property
    def function_name(self) -> str:
        shape = f"{self.c.rows}x{self.c.columns}x{self.a.columns}"
        types = f"{self.a.component}x{self.b.component}_{self.c.component}"
        return f"cm_mul_add_{shape}_{types}_{int(self.operands)}"

    @property
    def signature(self) -> Signature:
        inputs = zip("abc", (self.a, self.b, self.c), strict=True)
        parameters = [library_functions.private(name, matrix.component, True) for name, matrix in inputs]
        return Signature("void", (library_functions.private("out", self.c.component), *parameters))

    def definitions(self, target: Target) -> dict[str, str]:
        m, n, k = self.c.rows, self.c.columns, self.a.columns
        w, own = self._width(target), target.lane_layout(self.c).slots // m
        steps = m * own // w
        product = self._product(target)
        if widened := self._widened(target):
            convert, multiply_add = (function.function_name for function in widened)
            out = {"OP": "MUL_ADD_WIDENED", "COUNT": str(m * k), "CONVERT": convert, "MUL_ADD": multiply_add}
            alignment = storage_alignment(target.route, widened[1].a, target.sub_group_size)
            out |= {"SUM": self._sum.opencl_c, "ALIGNMENT": str(alignment)}
            return out | {name: t.component.library_c for name, t in (("A", self.a), ("B", self.b), ("C", self.c))}
        out = {"OP": self._section(target), "M": str(m), "N": str(n), "K": str(k), "SG": str(target.sub_group_size)}
        for name, matrix in (("A", self.a), ("B", self.b), ("C", self.c)):
            out[name] = matrix.component.library_c
        out |= {"OWN": str(own), "SUM": self._sum.opencl_c, "WIDTH": str(w), "SUM_V": spelling.vector(self._sum, w)}
        out |= {"B_V": spelling.vector(self.b.component, w), "C_V": spelling.vector(self.c.component, w)}
        out |= {
            "EACH": library_functions.each(steps),
            "EACH_K": "CM_UNROLL" if steps * k <= library_functions.UNROLL_LIMIT else "CM_ROLL",
        }
        if out["OP"] == "MUL_ADD_COLUMN":
            return out | self._along_k(target)
        if out["OP"] == "MUL_ADD_MIXED":
            out |= self._places(target)
        elif target.lane_layout(self.b).has_vectors:
            out["B_ROW(k, j)"] = self._row_of_b(target, w)
        if target.route.has_one_work_item:
            out |= self._register_blocks(target, product.k if product else 1)
            out |= self._words_of_a(target)
        if target.route.is_emulated:
            # The emulated instruction has loops inside.
            out |= {"EACH": "CM_ROLL", "EACH_K": "CM_ROLL"}
        elif isinstance(product, FragmentProduct):
            # Registers have no addresses: with a loop over K, A and B would be in memory.
            count = m * n * k // (product.m * product.n * product.k)
            out |= dict.fromkeys(("EACH", "EACH_K"), library_functions.each(count))
        out |= {"BLOCK": str(self._block(target)), "EACH_BLOCK": out["EACH"]}
        if product is None or self.c.component.is_integer:
            out |= self._arithmetic(w, target.route.tuning.fma)
        return out if product is None else out | product.definitions(self.a, self.b, self.c, self.operands)

    def _widened(self, target: Target) -> tuple[library_functions.Convert, MultiplyAdd] | None:
        """Return a conversion of A and a multiply-add of its result, if converting A beforehand is faster.

        Otherwise return None. The conversion then uses vectors, instead of one component at a time.
        """
        wide = self._sum
        if not (target.route.has_one_work_item and self._section(target) == "MUL_ADD"):
            return None
        if wide.is_integer or self.a.component == wide or target.width(self.a) == 1:
            return None
        return library_functions.Convert(self.a, wide), replace(self, a=replace(self.a, component=wide))

    def keeps_state(self, target: Target) -> bool:
        """Return whether the device's compiler must not vectorize the work-items that call the function."""
        product = self._product(target)
        return bool(target.route.prelude) and product is not None and product.keeps_state

    def needs(self, target: Target) -> tuple[LibraryFunction, ...]:
        if widened := self._widened(target):
            return widened
        product = self._product(target)
        if not isinstance(product, FragmentProduct):
            return ()
        row = product.instruction(self.a.component, self.b.component, self.operands)
        return () if row is None else (EmulatedInstruction(row),)

    def remark(self, target: Target) -> str:
        """Return the remark for the report: how many instructions replace the multiply-add, or the reason for none."""
        m, n, k = self.c.rows, self.c.columns, self.a.columns
        types = f"{self.a.component} x {self.b.component} + {self.c.component}"
        text, route = f"{m} x {n} x {k} multiply-add of {types}", target.route
        product = self._product(target)
        if product is not None:
            count = m // product.m * (n // product.n) * (k // product.k)
            return f"{text}: {count} of {product.name} ({product.m} x {product.n} x {product.k})"
        if not route.every_product:
            return f"{text}: no matrix instruction on the route '{route.name}'"
        rows = [row for row in route.products if row.lanes == target.sub_group_size]
        rows = [row for row in rows if all(m.component.name in names for m, names in self._types(row))]
        if not rows:
            return f"{text}: no instruction of the device has these types"
        shapes = sorted({(row.m, row.n, row.k) for row in rows if not all(map(row.fits, (self.a, self.b, self.c)))})
        if len(shapes) < len({(row.m, row.n, row.k) for row in rows}):
            return f"{text}: no instruction has these signs, or operands in these lane layouts"
        sizes = " or ".join("{} x {} x {}".format(*shape) for shape in shapes)
        return f"{text}: the shape is no multiple of an instruction's {sizes}"

    def _types(self, row: Product) -> tuple[tuple[MatrixType, tuple[str, ...]], ...]:
        """Return each matrix with the names of the component types that an instruction accepts for it."""
        return (self.a, row.a), (self.b, row.b), (self.c, row.c)

    def _product(self, target: Target) -> Product | None:
        """Return the device's instruction for the multiply-add, or None."""
        return target.route.product(self.a, self.b, self.c, self.operands, target.sub_group_size)

    def _section(self, target: Target) -> str:
        """Return the name of the part of the library's OpenCL C that multiplies these matrices on the target."""
        product = self._product(target)
        if product is not None:
            return product.section
        if target.route.has_one_work_item and self.c.columns == 1 and target.width(self.a) > 1:
            return "MUL_ADD_COLUMN"
        usual = (target.route.lies_as_usual(m, target.sub_group_size) for m in (self.a, self.b, self.c))
        return "MUL_ADD" if all(usual) else "MUL_ADD_MIXED"

    def _register_blocks(self, target: Target, depth: int) -> dict[str, str]:
        """Return the macros for blocks of C (in rows and vectors) whose sums stay in registers during the loop over K.

        `depth` is the step of that loop. Of the blocks that divide C, the block with the fewest loads for an
        instruction is chosen.
        """
        w = self._width(target)
        rows, vectors = self.c.rows, self.c.columns // w
        most = max(1, target.route.tuning.sum_bytes // (w * self._sum.size))
        fitting = (
            (i, j)
            for j in range(1, min(vectors, most) + 1)
            for i in range(1, min(rows, most // j) + 1)
            if rows % i == 0 and vectors % j == 0
        )
        i, j = min(fitting, key=lambda block: (1 / block[0] + 1 / block[1], block[1]))
        alone = (i, j) == (rows, vectors)
        limit = UNROLLED_PRODUCTS_OF_ONE if alone else UNROLLED_PRODUCTS
        return {
            "BLOCK_M": str(i),
            "BLOCK_N": str(j),
            "ALONE": str(int(alone)),
            "EACH_REGISTER_BLOCK": "CM_UNROLL" if alone else "CM_ROLL",
            "EACH_COLUMN": "CM_UNROLL" if vectors <= most else "CM_ROLL",
            "EACH_K": "CM_UNROLL" if i * j * self.a.columns // depth <= limit else "CM_ROLL",
        }

    def _along_k(self, target: Target) -> dict[str, str]:
        """Return the macros for a result of one column: vectors extend along K, in as many rows as registers allow."""
        a, b, total, depth = self.a.component, self.b.component, self._sum, target.width(self.a)
        mask, m = self.operands, self.c.rows
        most = max(1, target.route.tuning.sum_bytes // (2 * depth * total.size))
        rows = max(n for n in range(1, min(m, most) + 1) if m % n == 0)
        halves, x, width = [], "x", depth
        while width > 1:
            width //= 2
            low, high = (f"{x}.lo", f"{x}.hi") if width > 1 else (f"{x}.x", f"{x}.y")
            halves.append(f"const {spelling.vector(total, width)} x{width} = {low} + {high};")
            x = f"x{width}"
        each_k = "CM_UNROLL" if rows * self.a.columns // depth <= UNROLLED_PRODUCTS else "CM_ROLL"
        return self._arithmetic(1, target.route.tuning.fma) | {
            "WIDEN_A(x)": spelling.widen("x", a, Operands.A_SIGNED in mask, total, depth),
            "WIDEN_B(x)": spelling.widen("x", b, Operands.B_SIGNED in mask, total, depth),
            "DEPTH": str(depth),
            "SUM_V": spelling.vector(total, depth),
            "A_V": spelling.vector(a, depth),
            "B_V": spelling.vector(b, depth),
            "BLOCK_M": str(rows),
            "EACH": "CM_UNROLL" if rows == m else "CM_ROLL",
            "EACH_K": each_k,
            "HALVES(x)": " ".join(halves),
            "HALVED": x,
        }

    def _words_of_a(self, target: Target) -> dict[str, str]:
        """Return the macros for reading A as words, in the vectors in which it was loaded.

        A load of memory that several smaller stores wrote would wait for them.
        """
        width, size = target.width(self.a), self.a.component.size
        if target.route.uses_wide_copies(self.a):
            width = COPY_BYTES // size
        words = spelling.vector(COMPONENT_TYPES["u32"], max(1, width * size // 4))
        each = library_functions.each(self.a.rows * self.a.columns // width)
        return {"A_WIDTH": str(width), "A_WORDS": words, "EACH_A": each}

    def _places(self, target: Target) -> dict[str, str]:
        """Return the macros for the lane layout of each matrix, and for the exchange of A's and B's components."""
        out = target.lane_layout(self.c).macros() | {"ROWS": str(self.c.rows), "COLUMNS": str(self.c.columns)}
        for name, matrix in (("A", self.a), ("B", self.b)):
            macros = target.lane_layout(matrix).macros() | library_functions.shuffle_macros(target, matrix.component)
            words = ("HOLDER(r, c)", "SLOT(r, c)", "W_OF(x)", "T_OF(x)")
            out |= {f"{name}_{word}": macros[word] for word in words}
        return out

    def _width(self, target: Target) -> int:
        """Return the width of the vectors in which C's components are added."""
        return target.width(self.c)

    def _row_of_b(self, target: Target, w: int) -> str:
        """Return an expression for `w` components of row k of B, from column j * w on."""
        lane_layout = target.lane_layout(self.b)
        if lane_layout.name != "INTERLEAVED":
            return "CM_VECTOR(const CM_B_V, b, (k) * CM_N + (j) * CM_WIDTH)"
        j: Number = Term("(j)")
        slots = (lane_layout.holder(Term("(k)"), j * w + i)[1] for i in range(w))
        return f"(CM_B_V)({', '.join(f'b[{slot}]' for slot in slots)})"

    def scratch_bytes(self, target: Target) -> int:
        if not target.route.exchanges_in_local_memory:
            return 0
        return self._block(target) * target.sub_groups * target.sub_group_size * self._sum.size

    def _block(self, target: Target) -> int:
        """Return the number of A's rows for which all subgroups of a work-group together have room in local memory."""
        row = target.sub_groups * target.sub_group_size * self._sum.size
        return min(self.a.rows, max(1, library_functions.SCRATCH_LIMIT // row))

    @property
    def _sum(self) -> ComponentType:
        """The type in which the sum is accumulated."""
        return spelling.sum_type(self.a.component, self.b.component, self.c.component)

    def _arithmetic(self, w: int, fused: bool) -> dict[str, str]:
        """Return the macros for the arithmetic on scalars of A and vectors of `w` components of B and C."""
        a, b, c, total, mask = self.a.component, self.b.component, self.c.component, self._sum, self.operands
        out = {
            "WIDEN_A(x)": spelling.widen("x", a, Operands.A_SIGNED in mask, total, 1),
            "WIDEN_B(x)": spelling.widen("x", b, Operands.B_SIGNED in mask, total, w),
            "FMA(x, y, z)": spelling.fma(total, fused),
        }
        if c.is_integer and Operands.SATURATING in mask:
            out["BEGIN(c)"] = f"({spelling.vector(total, w)})(0)"
            out["END(sum, c)"] = spelling.saturating_end(c, mask, total, w)
        else:
            out["BEGIN(c)"] = spelling.convert("c", c, total, w)
            out["END(sum, c)"] = spelling.convert("sum", total, c, w)
        return out
