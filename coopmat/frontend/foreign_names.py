"""Names from other languages, and the OpenCL C equivalent of each, for notes and fix-its of diagnostics.

The APIs for cooperative matrices are the WMMA of CUDA and ROCm, SYCL's joint_matrix, GLSL's GL_KHR_cooperative_matrix
with NVIDIA's variants, and Slang's. The other names are those of kernels and work-items in CUDA, GLSL and HLSL.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..diagnostics import Note

_LAYOUT, _USE = "CLK_COOPERATIVE_MATRIX_LAYOUT_", "CLK_COOPERATIVE_MATRIX_"


@dataclass(frozen=True, slots=True)
class Equivalent:
    """The OpenCL C equivalent of a foreign name.

    name: the equivalent name. If it is empty, the foreign name is to be omitted, and `form` explains why.
    form: an example of the use of `name`.
    interchangeable: whether `name` can replace the foreign name without other changes, because both are constants or
      take the same arguments.
    """

    name: str
    form: str = ""
    interchangeable: bool = False

    def note(self) -> Note:
        if not self.name:
            return Note(self.form)
        return Note(f"did you mean '{self.name}'?" + (f" it is written: {self.form}" if self.form else ""))


_LOAD = Equivalent("coop_mat_load", "m = coop_mat_load(p, layout, stride)")
_STORE = Equivalent("coop_mat_store", "coop_mat_store(p, m, layout, stride)")
_LOAD_CHECKED = Equivalent(
    "coop_mat_load_checked", "m = coop_mat_load_checked(p, layout, stride, row, column, rows, columns)"
)
_STORE_CHECKED = Equivalent(
    "coop_mat_store_checked", "coop_mat_store_checked(p, m, layout, stride, row, column, rows, columns)"
)
_MULTIPLY_ADD = Equivalent("coop_mat_mulAdd", "d = coop_mat_mulAdd(a, b, c)")
_INIT = Equivalent("coop_mat_init", "m = coop_mat_init(x)")
_LENGTH = Equivalent("coop_mat_length", "for (uint i = 0; i < coop_mat_length(m); ++i) m[i] = ...")
_CONVERT = Equivalent("coop_mat_convert", "m2 = coop_mat_convert(m), or a cast")
_SATURATED = Equivalent("coop_mat_convert_sat", "m2 = coop_mat_convert_sat(m)")
_TRANSPOSE = Equivalent("coop_mat_transpose", "m2 = coop_mat_transpose(m)")
_MAP = Equivalent("coop_mat_map", "m = coop_mat_map(m, f), which calls f((uint)row, (uint)column, component)")
_BUILD = Equivalent("coop_mat_build", "m = coop_mat_build(f, x...), which calls f((uint)row, (uint)column, x...)")
_REDUCE = Equivalent("coop_mat_reduce", "m2 = coop_mat_reduce(m, how, f), which calls f(component, component)")
_PREFETCH = Equivalent("coop_mat_prefetch", "coop_mat_prefetch(m, p, layout, stride), m a matrix or its type")


def _same(equivalent: Equivalent) -> Equivalent:
    return Equivalent(equivalent.name, interchangeable=True)


def _constants(prefix: str, **ours: str) -> dict[str, Equivalent]:
    return {name: Equivalent(prefix + word, interchangeable=True) for name, word in ours.items()}


FUNCTIONS: Mapping[str, Equivalent] = {
    # Spellings that resemble our functions.
    **dict.fromkeys(("coop_mat_fill", "coop_mat_splat", "coop_mat_set", "coop_mat_broadcast"), _same(_INIT)),
    **dict.fromkeys(("coop_mat_mad", "coop_mat_mma", "coop_mat_fma", "coop_mat_mul_accumulate"), _same(_MULTIPLY_ADD)),
    **dict.fromkeys(
        ("coop_mat_size", "coop_mat_num_elements", "coop_mat_get_length"), Equivalent("coop_mat_length", "", True)
    ),
    # WMMA.
    "load_matrix_sync": _LOAD,
    "store_matrix_sync": _STORE,
    "mma_sync": _MULTIPLY_ADD,
    "fill_fragment": _INIT,
    # joint_matrix.
    "joint_matrix_load": _LOAD,
    "joint_matrix_store": _STORE,
    "joint_matrix_mad": _MULTIPLY_ADD,
    "joint_matrix_fill": _INIT,
    "joint_matrix_apply": _MAP,
    "joint_matrix_prefetch": _PREFETCH,
    "joint_matrix_copy": _CONVERT,
    "joint_matrix_load_checked": _LOAD_CHECKED,
    "joint_matrix_store_checked": _STORE_CHECKED,
    "joint_matrix_fill_checked": _BUILD,
    "get_wi_data": _LENGTH,
    # GLSL and Slang: their multiply-add and coordinates take the same arguments as ours.
    **dict.fromkeys(("coopMatLoad", "coopMatLoadNV"), _LOAD),
    **dict.fromkeys(("coopMatStore", "coopMatStoreNV"), _STORE),
    "coopMatLoadTensorNV": _LOAD_CHECKED,
    "coopMatStoreTensorNV": _STORE_CHECKED,
    **dict.fromkeys(("coopMatMulAdd", "coopMatMulAddNV"), _same(_MULTIPLY_ADD)),
    **dict.fromkeys(("coopMatPerElementNV", "coopMatPerElementEXT"), _MAP),
    **dict.fromkeys(("coopMatReduceNV", "coopMatReduceEXT"), _REDUCE),
    **dict.fromkeys(("coopMatTransposeNV", "coopMatTransposeEXT"), _TRANSPOSE),
    "coopMatGetCoordinateEXT": Equivalent("coop_mat_coord", interchangeable=True),
    "saturatedConvertEXT": _SATURATED,
}
"""Functions by their foreign names."""

CONSTANTS: Mapping[str, Equivalent] = {
    **_constants(_LAYOUT, mem_row_major="ROW_MAJOR", mem_col_major="COLUMN_MAJOR"),
    **_constants(_LAYOUT, row_major="ROW_MAJOR", col_major="COLUMN_MAJOR"),
    **_constants(
        _LAYOUT,
        gl_CooperativeMatrixLayoutRowMajor="ROW_MAJOR",
        gl_CooperativeMatrixLayoutColumnMajor="COLUMN_MAJOR",
    ),
    **_constants(_LAYOUT, RowMajor="ROW_MAJOR", ColumnMajor="COLUMN_MAJOR"),
    **_constants(_USE, matrix_a="A", matrix_b="B", accumulator="ACCUMULATOR"),
    **_constants(_USE, gl_MatrixUseA="A", gl_MatrixUseB="B", gl_MatrixUseAccumulator="ACCUMULATOR"),
    **_constants(_USE, MatrixA="A", MatrixB="B", MatrixAccumulator="ACCUMULATOR"),
    **_constants(_USE, gl_ScopeSubgroup="SCOPE_SUBGROUP", gl_ScopeWorkgroup="SCOPE_WORKGROUP"),
    **_constants(_USE, gl_MatrixOperandsSaturatingAccumulation="OPERAND_SATURATING_ACCUMULATION"),
    **{
        f"gl_CooperativeMatrixReduce{word}{vendor}": Equivalent(f"{_USE}REDUCE_{word.upper()}", interchangeable=True)
        for vendor in ("NV", "EXT")
        for word in ("Row", "Column", "2x2")
    },
}

ABBREVIATIONS: Mapping[str, Equivalent] = {
    f"{_USE}{prefix}{word}": Equivalent(f"{_USE}ACCUMULATOR", interchangeable=True)
    for prefix in ("", "USE_")
    for word in ("ACC", "ACCUM", "C", "D")
}
"""Other spellings of our constants that another constant resembles more."""

_BARRIER = Equivalent("barrier", "barrier(CLK_LOCAL_MEM_FENCE)")


def _of_dimension(name: str) -> Equivalent:
    return Equivalent(name, f"{name}(0), with 1 and 2 for the dimensions y and z")


WORK_ITEMS: Mapping[str, Equivalent] = {
    "threadIdx": _of_dimension("get_local_id"),
    "blockIdx": _of_dimension("get_group_id"),
    "blockDim": _of_dimension("get_local_size"),
    "gridDim": _of_dimension("get_num_groups"),
    "warpSize": Equivalent("get_sub_group_size", "get_sub_group_size()"),
    "__syncthreads": _BARRIER,
    "__syncwarp": Equivalent("sub_group_barrier", "sub_group_barrier(CLK_LOCAL_MEM_FENCE)"),
    "__threadfence_block": Equivalent("mem_fence", "mem_fence(CLK_LOCAL_MEM_FENCE)"),
    "__threadfence": Equivalent("mem_fence", "mem_fence(CLK_GLOBAL_MEM_FENCE)"),
    "gl_LocalInvocationID": _of_dimension("get_local_id"),
    "gl_GlobalInvocationID": _of_dimension("get_global_id"),
    "gl_WorkGroupID": _of_dimension("get_group_id"),
    "gl_WorkGroupSize": _of_dimension("get_local_size"),
    "gl_NumWorkGroups": _of_dimension("get_num_groups"),
    "gl_SubgroupSize": Equivalent("get_sub_group_size", "get_sub_group_size()"),
    "gl_SubgroupID": Equivalent("get_sub_group_id", "get_sub_group_id()"),
    "gl_SubgroupInvocationID": Equivalent("get_sub_group_local_id", "get_sub_group_local_id()"),
    "GroupMemoryBarrierWithGroupSync": _BARRIER,
}
"""Functions and variables about work-items, by their foreign names."""

NAMES: Mapping[str, Equivalent] = {**FUNCTIONS, **CONSTANTS, **ABBREVIATIONS, **WORK_ITEMS}
"""Whatever an expression may have."""

METHODS: Mapping[str, Equivalent] = {"length": _LENGTH}
"""Member functions of matrices that have no other argument than the matrix, by their foreign names."""

_NO_QUALIFIER = Equivalent("", "OpenCL C has no such qualifier: kernels may call every function")
QUALIFIERS: Mapping[str, Equivalent] = {
    "__global__": Equivalent("kernel", interchangeable=True),
    "__device__": _NO_QUALIFIER,
    "__host__": _NO_QUALIFIER,
    "__forceinline__": Equivalent("inline", interchangeable=True),
    "__shared__": Equivalent("local", interchangeable=True),
    "__constant__": Equivalent("constant", interchangeable=True),
    "shared": Equivalent("local", interchangeable=True),
    "groupshared": Equivalent("local", interchangeable=True),
}
"""Qualifiers of declarations by their foreign names."""

_ATTRIBUTE = Equivalent("coop_mat", "typedef half A __attribute__((coop_mat(scope, rows, columns, use)))")
TYPES: Mapping[str, Equivalent] = dict.fromkeys(
    ("fragment", "joint_matrix", "coopmat", "fcoopmatNV", "icoopmatNV", "ucoopmatNV", "CoopMat"), _ATTRIBUTE
)
"""Types of matrices by their foreign names, most of them templates."""
