"""The multiply-add, as a function of the library."""

from __future__ import annotations

from dataclasses import dataclass

from . import instances, spelling
from .holdings import Number, Term
from .instance import FromTemplate, Signature
from .strategies import Target
from .variants import ComponentType, MatrixType, Operands, Use


def _signs(operands: Operands) -> dict[str, str]:
    """How bytes come to an instruction that takes unsigned and signed ones, of either operand."""
    a_signed, b_signed = Operands.A_SIGNED in operands, Operands.B_SIGNED in operands
    return {
        "FLIP": "0x80808080u" if a_signed == b_signed else "0",
        "DOT(c, x, y)": "cm_vpdpbusd(c, x, y)" if b_signed else "cm_vpdpbusd(c, y, x)",
    }


@dataclass(frozen=True, slots=True)
class MultiplyAdd(FromTemplate):
    """`void f(private C *out, const private A *a, const private B *b, const private C *c)`

    `out` may be c (or a, or b). ValueError where uses, shapes or classes of component types do not fit.
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
        parameters = [instances.private(name, matrix.component, True) for name, matrix in inputs]
        return Signature("void", (instances.private("out", self.c.component), *parameters))

    def definitions(self, target: Target) -> dict[str, str]:
        m, n, k = self.c.rows, self.c.columns, self.a.columns
        w, own = target.width(self.c), target.holding(self.c).slots // m
        steps = m * own // w
        product = target.strategy.product(self.a, self.b, self.c)
        out = {
            "OP": product.section if product else "MUL_ADD",
            "M": str(m),
            "N": str(n),
            "K": str(k),
            "SG": str(target.sub_group_size),
        }
        for name, matrix in (("A", self.a), ("B", self.b), ("C", self.c)):
            out[name] = matrix.component.library_c
        out |= {"OWN": str(own), "SUM": self._sum.opencl_c, "WIDTH": str(w), "SUM_V": spelling.vector(self._sum, w)}
        out |= {"B_V": spelling.vector(self.b.component, w), "C_V": spelling.vector(self.c.component, w)}
        out |= {
            "EACH": instances.each(steps),
            "EACH_K": "CM_UNROLL" if steps * k <= instances.UNROLL_LIMIT else "CM_ROLL",
        }
        if target.holding(self.b).has_vectors:
            out["B_ROW(k, j)"] = self._row_of_b(target, w)
        if product is not None:
            out |= _signs(self.operands)
        out |= {"BLOCK": str(self._block(target)), "EACH_BLOCK": out["EACH"]}
        is_whole = product is not None and not self.c.component.is_integer
        return out if is_whole else out | self._arithmetic(w, target.strategy.tuning.fma)

    def _row_of_b(self, target: Target, w: int) -> str:
        """`w` components of row k from column j * w on."""
        holding = target.holding(self.b)
        if holding.name != "INTERLEAVED":
            return "CM_VECTOR(const CM_B_V, b, k * CM_N + j * CM_WIDTH)"
        j: Number = Term("(j)")
        slots = (holding.holder(Term("(k)"), j * w + i)[1] for i in range(w))
        return f"(CM_B_V)({', '.join(f'b[{slot}]' for slot in slots)})"

    def scratch_bytes(self, target: Target) -> int:
        if not target.strategy.exchanges_in_local_memory:
            return 0
        return self._block(target) * target.sub_groups * target.sub_group_size * self._sum.size

    def _block(self, target: Target) -> int:
        """Rows of A that all subgroups of a work-group have room for in local memory at the same time."""
        row = target.sub_groups * target.sub_group_size * self._sum.size
        return min(self.a.rows, max(1, instances.SCRATCH_LIMIT // row))

    @property
    def _sum(self) -> ComponentType:
        return spelling.sum_type(self.a.component, self.b.component, self.c.component)

    def _arithmetic(self, w: int, fused: bool) -> dict[str, str]:
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
