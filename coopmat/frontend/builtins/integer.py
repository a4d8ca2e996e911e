"""Integer functions (OpenCL C 3.0, section 6.15.3), and min, max and clamp of integers and floats (6.15.3, 6.15.4)."""

from __future__ import annotations

from functools import partial

from .rows import Builtin, rows

DOT, PACKED = (f"__opencl_c_integer_dot_product_input_4x8bit{suffix}" for suffix in ("", "_packed"))
_rows = partial(rows, section="6.15.3", pure=True)
_of_numbers = partial(rows, section="6.15.3, 6.15.4", pure=True)
_dot = partial(rows, section="cl_khr_integer_dot_product", needs=DOT, lowering="dot", pure=True)
_packed_dot = partial(_dot, needs=PACKED)


def _bits(name: str, signature: str, lowering: str = "") -> tuple[Builtin, ...]:
    extension = "cl_khr_extended_bit_ops"
    signature += " for T in integers, n in any"
    return rows(name, signature, section=extension, needs=extension, lowering=lowering or name, pure=True)


TABLE = (
    *_rows("abs", "Un @(Tn) for T in integers, n in any"),
    *_rows("abs_diff", "Un @(Tn, Tn) for T in integers, n in any"),
    *_rows("add_sat hadd mul_hi rhadd rotate sub_sat", "Tn @(Tn, Tn) for T in integers, n in any"),
    *_rows("mad_hi", "Tn @(Tn, Tn, Tn) for T in integers, n in any"),
    *_rows("mad_sat", "Tn @(Tn, Tn, Tn) for T in integers, n in any", lowering="mad_sat"),
    *_rows("clz ctz popcount", "Tn @(Tn) for T in integers, n in any"),
    *_rows("mul24", "Tn @(Tn, Tn) for T in int uint, n in any"),
    *_rows("mad24", "Tn @(Tn, Tn, Tn) for T in int uint, n in any"),
    *_rows("upsample", "Wn @(Tn, Un) for T in char uchar short ushort int uint, n in any"),
    *_of_numbers("max min", "Tn @(Tn, Tn) for T in numbers, n in any", "Tn @(Tn, T) for T in numbers, n in vectors"),
    *_of_numbers(
        "clamp", "Tn @(Tn, Tn, Tn) for T in numbers, n in any", "Tn @(Tn, T, T) for T in numbers, n in vectors"
    ),
    *_bits("bit_reverse", "Tn @(Tn)"),
    *_bits("bitfield_insert", "Tn @(Tn, Tn, uint, uint)"),
    *_bits("bitfield_extract_signed", "Sn @(Tn, uint, uint)", "bitfield_extract"),
    *_bits("bitfield_extract_unsigned", "Un @(Tn, uint, uint)", "bitfield_extract"),
    *_dot(
        "dot_acc_sat",
        "uint @(uchar4, uchar4, uint)",
        "int @(char4, char4, int)",
        "int @(uchar4, char4, int)",
        "int @(char4, uchar4, int)",
    ),
    *_packed_dot("dot_4x8packed_uu_uint", "uint @(uint, uint)"),
    *_packed_dot("dot_4x8packed_ss_int dot_4x8packed_su_int dot_4x8packed_us_int", "int @(uint, uint)"),
    *_packed_dot("dot_acc_sat_4x8packed_uu_uint", "uint @(uint, uint, uint)"),
    *_packed_dot(
        "dot_acc_sat_4x8packed_ss_int dot_acc_sat_4x8packed_su_int dot_acc_sat_4x8packed_us_int",
        "int @(uint, uint, int)",
    ),
)
