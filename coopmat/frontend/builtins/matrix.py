"""Functions of cooperative matrices.

The table has a row for each name. The signatures depend on matrix types and on constants, so semantic analysis checks
and types the calls (`typed.MatrixLoad` and the other nodes). In the signatures, `T` is a component type, `M` and `M2`
are matrix types. If `M` or `M2` is the result type, the context of the call can determine it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...matrices.variants import CAST, Conversion
from .conversions import ROUNDINGS
from .rows import Builtin

SECTION = "cl_khr_cooperative_matrix"


@dataclass(frozen=True, slots=True)
class MatrixBuiltin:
    """A row of the table of matrix builtins.

    operation: selects the function that analyses the call.
    signature: the spelling for diagnostics; parameters in brackets are optional, and dots mean any number of them.
    how: for conversions, their kind (rounding, saturation, transposition).
    """

    operation: str
    signature: str
    how: Conversion = CAST

    @property
    def name(self) -> str:
        return self.signature.partition("(")[0].split()[-1]

    @property
    def arguments(self) -> tuple[int, int | None]:
        """The least and the greatest number of arguments; the latter is None if there is no limit."""
        most = self.signature.count(",") + 1
        least = most - self.signature.count("[")
        return (least, None if "..." in self.signature else most)

    @property
    def has_type_of_context(self) -> bool:
        return self.signature.split()[0] in ("M", "M2")

    @property
    def operand_of_type(self) -> int | None:
        """The index of the argument that has the result's matrix type, or None."""
        result = self.signature.split()[0]
        parameters = [part.split()[0].strip("[)") for part in self.signature.partition("(")[2].split(", ")]
        return parameters.index(result) if result in parameters else None


def _conversion(saturate: bool, rounding: str) -> MatrixBuiltin:
    how = Conversion(rounding, saturate)
    return MatrixBuiltin("convert", f"M2 {'_'.join(('coop_mat_convert', *how.words))}(M m)", how)


_ACCESS = "coop_matrix_layout_t layout, size_t stride"
_BOUNDS = "uint row, uint column, uint rows, uint columns"
_SCALED = "A a, const S *sa, size_t stride_a, B b, const S *sb, size_t stride_b"
_ROWS = (
    MatrixBuiltin("load", f"M coop_mat_load(const T *p, {_ACCESS})"),
    MatrixBuiltin("store", f"void coop_mat_store(T *p, M m, {_ACCESS})"),
    MatrixBuiltin("multiply_add", "C coop_mat_mulAdd(A a, B b, C c[, coop_matrix_operands_t operands])"),
    MatrixBuiltin("multiply_add", "C coop_matmul_add(A a, B b, C c[, coop_matrix_operands_t operands])"),
    MatrixBuiltin("multiply_add_scaled", f"C coop_mat_mulAdd_scaled({_SCALED}, C c)"),
    MatrixBuiltin("init", "M coop_mat_init(T x)"),
    MatrixBuiltin("length", "uint coop_mat_length(M)"),
    *(_conversion(saturate, rounding) for saturate in (False, True) for rounding in ("", *ROUNDINGS)),
    MatrixBuiltin("convert", "M2 coop_mat_transpose(M m)", Conversion(transposed=True)),
    MatrixBuiltin("coordinates", "uint2 coop_mat_coord(M, uint i)"),
    MatrixBuiltin("load", f"M coop_mat_load_checked(const T *p, {_ACCESS}, {_BOUNDS})"),
    MatrixBuiltin("store", f"void coop_mat_store_checked(T *p, M m, {_ACCESS}, {_BOUNDS})"),
    MatrixBuiltin("prefetch", f"void coop_mat_prefetch(M, const T *p, {_ACCESS})"),
    MatrixBuiltin("reduce", "M2 coop_mat_reduce(M m, coop_matrix_reduce_t how, f)"),
    MatrixBuiltin("map", "M coop_mat_map(M m, [M m...], f, [x...])"),
    MatrixBuiltin("build", "M coop_mat_build(f, [x...])"),
    MatrixBuiltin("build_columns", "M coop_mat_build_columns(f, [x...])"),
    MatrixBuiltin("print", "void coop_mat_print(M m[, constant char *name])"),
    MatrixBuiltin("print", "void coop_mat_print_lanes(M m)"),
)
BUILTINS: dict[str, MatrixBuiltin] = {row.name: row for row in _ROWS}

TABLE = tuple(Builtin(name, (), SECTION, lowering="analysis", convergent=True) for name in BUILTINS)
