"""The macros that OpenCL C predefines (OpenCL C 3.0, sections 6.10, 6.15.2 and 6.15.3), as clang spells them."""

from __future__ import annotations

from collections.abc import Mapping

from ..features import IMAGES, Features

_INTEGER_LIMITS = """
CHAR_BIT 8
SCHAR_MAX 127
SCHAR_MIN (-128)
UCHAR_MAX 255
CHAR_MAX SCHAR_MAX
CHAR_MIN SCHAR_MIN
USHRT_MAX 65535
SHRT_MAX 32767
SHRT_MIN (-32768)
UINT_MAX 0xffffffffu
INT_MAX 2147483647
INT_MIN (-2147483647-1)
ULONG_MAX 0xffffffffffffffffUL
LONG_MAX 0x7fffffffffffffffL
LONG_MIN (-0x7fffffffffffffffL-1)
"""

# Prefix of the macro names -> the values of `_LIMITS`, in the same order.
_LIMITS = "DIG MANT_DIG MAX_10_EXP MAX_EXP MIN_10_EXP MIN_EXP RADIX MAX MIN EPSILON"
_LIMITS_OF = {
    "FLT": "6 24 +38 +128 -37 -125 2 0x1.fffffep127f 0x1.0p-126f 0x1.0p-23f",
    "DBL": "15 53 +308 +1024 -307 -1021 2 0x1.fffffffffffffp1023 0x1.0p-1022 0x1.0p-52",
    "HALF": "3 11 +4 +16 -4 -13 2 0x1.ffcp15h 0x1.0p-14h 0x1.0p-10h",
}


def _limits(prefix: str) -> str:
    pairs = zip(_LIMITS.split(), _LIMITS_OF[prefix].split(), strict=True)
    return "".join(f"{prefix}_{name} {value}\n" for name, value in pairs)


_FLOATS = """
MAXFLOAT 0x1.fffffep127f
FP_ILOGB0 INT_MIN
FP_ILOGBNAN INT_MAX
HUGE_VALF (as_float(0x7f800000))
INFINITY (as_float(0x7f800000))
NAN (as_float(0x7fc00000))
"""
_DOUBLES = "HUGE_VAL (as_double(0x7ff0000000000000L))\n"
_OTHERS = """
__OPENCL_VERSION__ 300
CL_VERSION_1_0 100
CL_VERSION_1_1 110
CL_VERSION_1_2 120
CL_VERSION_2_0 200
CL_VERSION_3_0 300
CL_VERSION_3_1 310
__ENDIAN_LITTLE__ 1
__LITTLE_ENDIAN__ 1
__SPIR__ 1
__SPIRV__ 1
__COOPMAT__ 1
__STDC__ 1
__STDC_VERSION__ 199901L
__kernel_exec(X,typen) __kernel __attribute__((work_group_size_hint(X,1,1))) __attribute__((vec_type_hint(typen)))
kernel_exec(X,typen) __kernel_exec(X,typen)
NULL ((void*)0)
CLK_LOCAL_MEM_FENCE 1u
CLK_GLOBAL_MEM_FENCE 2u
CLK_IMAGE_MEM_FENCE 4u
ATOMIC_VAR_INIT(x) (x)
ATOMIC_FLAG_INIT 0
true 1
false 0
"""

# The values are those of the OpenCL headers for SPIR; those of channel orders and types equal the host's.
_IMAGES = """
__IMAGE_SUPPORT__ 1
CLK_NORMALIZED_COORDS_FALSE 0
CLK_NORMALIZED_COORDS_TRUE 1
CLK_ADDRESS_NONE 0
CLK_ADDRESS_CLAMP_TO_EDGE 2
CLK_ADDRESS_CLAMP 4
CLK_ADDRESS_REPEAT 6
CLK_ADDRESS_MIRRORED_REPEAT 8
CLK_FILTER_NEAREST 0x10
CLK_FILTER_LINEAR 0x20
"""
_CHANNEL_ORDERS = (
    "R A RG RA RGB RGBA BGRA ARGB INTENSITY LUMINANCE Rx RGx RGBx DEPTH DEPTH_STENCIL sRGB sRGBx sRGBA sBGRA ABGR"
)
_CHANNEL_TYPES = (
    "SNORM_INT8 SNORM_INT16 UNORM_INT8 UNORM_INT16 UNORM_SHORT_565 UNORM_SHORT_555 UNORM_INT_101010 SIGNED_INT8"
    " SIGNED_INT16 SIGNED_INT32 UNSIGNED_INT8 UNSIGNED_INT16 UNSIGNED_INT32 HALF_FLOAT FLOAT UNORM_INT24"
    " UNORM_INT_101010_2"
)


def _numbered(names: str, first: int) -> str:
    return "".join(f"CLK_{name} 0x{number:X}\n" for number, name in enumerate(names.split(), first))


#: Name -> decimal digits, beyond double precision (OpenCL C 3.0, section 6.15.2.2).
_CONSTANTS = {
    "M_E": "2.71828182845904523536028747135266250",
    "M_LOG2E": "1.44269504088896340735992468100189214",
    "M_LOG10E": "0.434294481903251827651128918916605082",
    "M_LN2": "0.693147180559945309417232121458176568",
    "M_LN10": "2.30258509299404568401799145468436421",
    "M_PI": "3.14159265358979323846264338327950288",
    "M_PI_2": "1.57079632679489661923132169163975144",
    "M_PI_4": "0.785398163397448309615660845819875721",
    "M_1_PI": "0.318309886183790671537767526745028724",
    "M_2_PI": "0.636619772367581343075535053490057448",
    "M_2_SQRTPI": "1.12837916709551257389615890312154517",
    "M_SQRT2": "1.41421356237309504880168872420969808",
    "M_SQRT1_2": "0.707106781186547524400844362104849039",
}


def _constants(infix: str, literal: str) -> str:
    return "".join(f"{name}{infix} {digits}{literal}\n" for name, digits in _CONSTANTS.items())


def _rows(text: str) -> list[tuple[str, str]]:
    return [(name, value) for name, _, value in (line.partition(" ") for line in text.split("\n")) if name]


#: Macros that do not depend on options: ("NAME" or "NAME(parameters)", replacement).
FIXED = _rows(_OTHERS + _INTEGER_LIMITS + _limits("FLT") + _FLOATS + _constants("_F", "f"))
#: Extension or feature -> the macros that are defined only if it is enabled.
CONDITIONAL = {
    IMAGES: _rows(_IMAGES + _numbered(_CHANNEL_ORDERS, 0x10B0) + _numbered(_CHANNEL_TYPES, 0x10D0)),
    "cl_khr_fp64": _rows(_limits("DBL") + _DOUBLES + _constants("", "")),
    "cl_khr_fp16": _rows(_limits("HALF") + _constants("_H", "h")),
}


def option_macros(cl_std: str, extensions: Mapping[str, bool], fast_relaxed_math: bool) -> list[tuple[str, str]]:
    """Return the macros that depend on the options; `extensions` holds the values of `-cl-ext`, "all" included."""
    features = Features.of(cl_std, extensions)
    rows = [("__OPENCL_C_VERSION__", str(features.version))]
    rows += [(name, "1") for name in features.macros()]
    for name, conditional in CONDITIONAL.items():
        if name in features:
            rows += conditional
    if fast_relaxed_math:
        rows += [("__FAST_RELAXED_MATH__", "1"), ("__FAST_MATH__", "1")]
    return rows
