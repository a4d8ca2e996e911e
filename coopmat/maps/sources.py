"""The matrices on a line of a program: the types of its variables and expressions, and its multiply-adds."""

from __future__ import annotations

from ..frontend import typed
from ..frontend.kernel_info import sub_group_size
from ..frontend.matrix_terms import matrix_type
from ..frontend.nodes import walk
from ..frontend.types import CoopMatrixType
from ..matrices.variants import MatrixType, Operands
from . import LaneMap, MapError, MultiplyAddMap, lane_map, multiply_add_map


def maps_at(
    unit: typed.Unit, file: str, line: int, route: str, size: int | None
) -> list[LaneMap] | list[MultiplyAddMap]:
    """Return the maps of the multiply-adds on a line, or of the matrices if there are none. Raises MapError.

    size: the subgroup size for functions that are no kernel with a required size.
    """
    products: dict[tuple[MatrixType, MatrixType, MatrixType, int], int | None] = {}
    matrices: dict[MatrixType, int | None] = {}
    for function in unit.functions:
        required = sub_group_size(function) or size
        for node in walk(*function.parameters, function.body):
            if node.span.file != file or not node.span.line <= line <= node.span.end_line:
                continue
            if isinstance(node, typed.MatrixMulAdd):
                a, b, c = (_type(operand.type) for operand in (node.a, node.b, node.c))
                assert a and b and c
                products[a, b, c, node.operands] = required
            elif isinstance(node, (typed.Expr, typed.VarDecl)) and node.span.line == line and (t := _type(node.type)):
                matrices.setdefault(t, required)
    if products:
        return [multiply_add_map(*key[:3], route, lanes, Operands(key[3])) for key, lanes in products.items()]
    if not matrices:
        raise MapError(f"{file}:{line}: the line declares and uses no matrix; name one that does")
    return [lane_map(matrix, route, lanes) for matrix, lanes in matrices.items()]


def _type(t: object) -> MatrixType | None:
    return matrix_type(t) if isinstance(t, CoopMatrixType) else None
