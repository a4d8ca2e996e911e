"""Integer functions (OpenCL C 3.0, section 6.15.3); min, max and clamp of floats (6.15.4) share their rows."""

from __future__ import annotations

from .rows import Builtin, rows

SECTION = "6.15.3"
DOT, PACKED = (f"__opencl_c_integer_dot_product_input_4x8bit{suffix}" for suffix in ("", "_packed"))


def _bits(name: str, signature: str, lowering: str = "") -> tuple[Builtin, ...]:
    return rows(
        name,
        f"{signature} for T in integers, n in any",
        section="cl_khr_extended_bit_ops",
        needs="cl_khr_extended_bit_ops",
        lowering=lowering or name,
        pure=True,
    )


def _dot(names: str, *signatures: str, packed: bool = False) -> tuple[Builtin, ...]:
    return rows(
        names,
        *signatures,
        section="cl_khr_integer_dot_product",
        needs=PACKED if packed else DOT,
        lowering="dot",
        pure=True,
    )


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
    *_dot("dot_4x8packed_uu_uint", "uint @(uint, uint)", packed=True),
    *_dot("dot_4x8packed_ss_int dot_4x8packed_su_int dot_4x8packed_us_int", "int @(uint, uint)", packed=True),
    *_dot("dot_acc_sat_4x8packed_uu_uint", "uint @(uint, uint, uint)", packed=True),
    *_dot(
        "dot_acc_sat_4x8packed_ss_int dot_acc_sat_4x8packed_su_int dot_acc_sat_4x8packed_us_int",
        "int @(uint, uint, int)",
        packed=True,
    ),
)
