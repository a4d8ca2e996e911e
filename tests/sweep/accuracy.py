"""How far a result may lie from the exact one, in ulp (OpenCL C 3.0, section 7.4, full profile).

Half results are right where flushing subnormal numbers, which a device may do for halves, gives them.
"""

from __future__ import annotations

from dataclasses import dataclass

EXACT, ROUNDED = 0.0, 0.5


@dataclass(frozen=True)
class Bounds:
    """In ulp. `per_component` comes on top for each component of a vector argument (geometric functions)."""

    half: float
    single: float
    double: float
    per_component: float = 0.0

    def of(self, element: str, count: int = 1) -> float:
        return {"half": self.half, "float": self.single, "double": self.double}[element] + self.per_component * count


def _each(names: str, *bounds: float) -> dict[str, Bounds]:
    return {name: Bounds(*bounds) for name in names.split()}


BOUNDS: dict[str, Bounds] = {
    **_each("acos acosh asin asinh cos cosh cospi hypot sin sincos sinh sinpi", 2, 4, 4),
    **_each("acospi asinpi atan atanh atanpi tan tanh", 2, 5, 5),
    **_each("atan2 atan2pi tanpi", 2, 6, 6),
    **_each("exp exp2 exp10 expm1 log log2 log10", 2, 3, 3),
    **_each("cbrt degrees log1p radians", 2, 2, 2),
    **_each("erf erfc pow pown powr rootn tgamma", 4, 16, 16),
    **_each("rsqrt", 1, 2, 2),
    **_each("sqrt", ROUNDED, 3, ROUNDED),
    **_each("fdim fma ldexp", ROUNDED, ROUNDED, ROUNDED),
    **_each(
        "ceil copysign fabs floor fmax fmin fmod fract frexp logb max maxmag min minmag modf nextafter remainder"
        " remquo rint round sign step trunc",
        EXACT,
        EXACT,
        EXACT,
    ),
    **_each(
        "half_cos half_exp half_exp2 half_exp10 half_log half_log2 half_log10 half_recip half_rsqrt half_sin half_sqrt"
        " half_tan half_divide half_powr",
        *[8192.0] * 3,
    ),
    # As the device likes; so far off would be another function.
    **_each(
        "native_cos native_exp native_exp2 native_exp10 native_log native_log2 native_log10 native_recip native_rsqrt"
        " native_sin native_sqrt native_tan native_divide native_powr",
        *[8192.0] * 3,
    ),
    "length": Bounds(0.25, 2.75, 5.5, 0.5),
    "distance": Bounds(0.0, 2.5, 5.5, 2.0),
    "normalize": Bounds(1.0, 2.0, 4.5, 1.0),
    "fast_length": Bounds(0, 8191.5, 0, 1.0),
    "fast_distance": Bounds(0, 8191.5, 0, 2.0),
    "fast_normalize": Bounds(0, 8192.0, 0, 1.0),
}
