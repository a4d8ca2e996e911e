"""The keywords of OpenCL C with their terminals, and the type names that every program starts with."""

from __future__ import annotations

from ..matrices.variants import BIT_PATTERNS


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_CLASSES = {
    "TYPE_WORD": "void char short int long float double half signed unsigned bool _Bool __signed __signed__",
    "QUALIFIER": (
        "const volatile restrict __const __const__ __volatile __volatile__ __restrict __restrict__"
        " global local constant private generic __global __local __constant __private __generic"
        " read_only write_only read_write __read_only __write_only __read_write"
    ),
    "STORAGE": "typedef extern static auto register",
    "FUNCTION_WORD": "inline __inline __inline__ kernel __kernel _Noreturn",
    "TAG": "struct union",
    "SIZEOF": "sizeof _Alignof __alignof __alignof__ alignof vec_step",
    "ATTRIBUTE": "__attribute__ __attribute",
    "STATIC_ASSERT": "_Static_assert",
    "BINARY": "/ % << >> < > <= >= == != ^ | && ||",
    "UNARY": "! ~",
    "INCREMENT": "++ --",
    "COMPOUND_ASSIGN": "*= /= %= += -= <<= >>= &= ^= |=",
    "GENERIC": "_Generic",
    "UNSUPPORTED": (
        "asm __asm __asm__ _Atomic _Complex _Imaginary _Thread_local _Alignas typeof __typeof __typeof__ __auto_type"
    ),
}
#: Keyword or operator -> terminal, for those that the grammar does not spell out.
TERMINALS = {word: terminal for terminal, words in _CLASSES.items() for word in words.split()}

_VECTORS = [
    f"{name}{size}"
    for name in ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double")
    for size in (2, 3, 4, 8, 16)
]
#: The types for storage that have vectors.
STORAGE_NAMES = tuple(row.opencl_c for row in BIT_PATTERNS if row.bits == 8)
_VECTORS += [f"{name}{size}" for name in STORAGE_NAMES for size in (2, 4, 8, 16)]
_IMAGES = [
    f"image{kind}_t"
    for kind in _words(
        "1d 1d_array 1d_buffer 2d 2d_array 2d_depth 2d_array_depth 2d_msaa 2d_array_msaa 2d_msaa_depth"
        " 2d_array_msaa_depth 3d"
    )
]
#: Binary operators from the lowest to the highest precedence (C99, 6.5.5 to 6.5.14); all associate to the left.
_LEVELS = ("||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %")
PRECEDENCE = {op: level for level, ops in enumerate(_LEVELS) for op in ops.split()}

#: Names of types that are not keywords: a declaration may hide them.
TYPE_NAMES = frozenset(
    _words(
        "uchar ushort uint ulong size_t ptrdiff_t intptr_t uintptr_t __bf16"
        " event_t sampler_t queue_t ndrange_t clk_event_t reserve_id_t clk_profiling_info kernel_enqueue_flags_t"
        " cl_mem_fence_flags memory_order memory_scope atomic_flag"
        " atomic_int atomic_uint atomic_long atomic_ulong atomic_float atomic_double atomic_half"
        " atomic_intptr_t atomic_uintptr_t atomic_size_t atomic_ptrdiff_t"
        " coop_matrix_scope_t coop_matrix_use_t coop_matrix_layout_t coop_matrix_operands_t coop_matrix_reduce_t"
        " coop_mat_operands"
    )
    + tuple(row.opencl_c for row in BIT_PATTERNS)
    + tuple(_VECTORS)
    + tuple(_IMAGES)
)

#: C++ keywords that users may try; they are plain identifiers in OpenCL C.
CPP_WORDS = frozenset(
    _words(
        "class template namespace using typename public protected new delete try catch throw operator virtual friend"
        " constexpr nullptr decltype static_cast reinterpret_cast const_cast dynamic_cast concept"
    )
)


def plain(word: str) -> str:
    """Return a keyword without the underscores around it; `_Bool` becomes `bool`."""
    if word == "_Bool":
        return "bool"
    return word if word == "_Noreturn" else word.strip("_")
