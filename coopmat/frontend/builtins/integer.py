"""Integer functions (OpenCL C 3.0, section 6.15.3); min, max and clamp of floats (6.15.4) share their rows."""

from __future__ import annotations

from .rows import NOT_YET, rows

SECTION = "6.15.3"

TABLE = (
    *rows("abs", "Un @(Tn) for T in integers, n in any", section=SECTION, pure=True),
    *rows("abs_diff", "Un @(Tn, Tn) for T in integers, n in any", section=SECTION, pure=True),
    *rows(
        "add_sat hadd mul_hi rhadd rotate sub_sat",
        "Tn @(Tn, Tn) for T in integers, n in any",
        section=SECTION,
        pure=True,
    ),
    *rows("mad_hi", "Tn @(Tn, Tn, Tn) for T in integers, n in any", section=SECTION, pure=True),
    *rows(
        "mad_sat",
        "Tn @(Tn, Tn, Tn) for T in integers, n in any",
        section=SECTION,
        lowering="mad_sat",
        pure=True,
    ),
    *rows("clz ctz popcount", "Tn @(Tn) for T in integers, n in any", section=SECTION, pure=True),
    *rows("mul24", "Tn @(Tn, Tn) for T in int uint, n in any", section=SECTION, pure=True),
    *rows("mad24", "Tn @(Tn, Tn, Tn) for T in int uint, n in any", section=SECTION, pure=True),
    *rows(
        "upsample",
        "Wn @(Tn, Un) for T in char uchar short ushort int uint, n in any",
        section=SECTION,
        pure=True,
    ),
    *rows(
        "max min",
        "Tn @(Tn, Tn) for T in numbers, n in any",
        "Tn @(Tn, T) for T in numbers, n in vectors",
        section="6.15.3, 6.15.4",
        pure=True,
    ),
    *rows(
        "clamp",
        "Tn @(Tn, Tn, Tn) for T in numbers, n in any",
        "Tn @(Tn, T, T) for T in numbers, n in vectors",
        section="6.15.3, 6.15.4",
        pure=True,
    ),
    *rows(
        "bit_reverse bitfield_extract_signed bitfield_extract_unsigned bitfield_insert",
        section="cl_khr_extended_bit_ops",
        status=NOT_YET,
    ),
    *rows(
        "dot_4x8packed_ss_int dot_4x8packed_su_int dot_4x8packed_us_int dot_4x8packed_uu_uint dot_acc_sat"
        " dot_acc_sat_4x8packed_ss_int dot_acc_sat_4x8packed_su_int dot_acc_sat_4x8packed_us_int"
        " dot_acc_sat_4x8packed_uu_uint",
        section="cl_khr_integer_dot_product",
        status=NOT_YET,
    ),
)
