// Small floats as bit patterns: conversions from and to float. The sections of every file may call these functions.
//
//   CM_F, CM_U, CM_H            float, uint and ushort, or vectors of them
//   CM_CARRY(u, sign)           the number that rounds the float's bits u by its addition; sign is all ones if negative
//   CM_FROM, CM_STICKY(x, y)    another type; 1 if the numbers x and y differ, otherwise 0, as a CM_U
//
// For types with fewer exponent bits than float:
//
//   CM_BITS, CM_MANTISSA        the widths of the type and of its mantissa in bits
//   CM_LEAST, CM_UNIT           a float's exponent field for the least normal number; the least positive number
//   CM_LARGEST, CM_NAN          bit patterns; CM_LARGEST + 1 represents numbers beyond the range: infinity, or the NaN
//   CM_CARRY(q, unit, sign)     the number that rounds the digits by its addition; the digits are q * unit and a rest
//   CM_KEPT(finite, sign)       1 if a number beyond the range becomes the largest number, otherwise 0

#ifdef CM_OP_TO_FLOAT
CM_FUNCTION CM_F CM_NAME(CM_H x)
{
    return CM_AS_F(CM_TO_U(x) << 16);
}
#endif // CM_OP_TO_FLOAT

#ifdef CM_OP_FROM_FLOAT // NaNs remain NaNs, regardless of which bits are cut off
CM_FUNCTION CM_H CM_NAME(CM_F x)
{
    const CM_U u = CM_AS_U(x), sign = CM_AS_U(CM_AS_S(x) >> 31);
    return CM_TO_H(select((u + CM_CARRY(u, sign)) >> 16, (u >> 16) | 0x40u, (u & 0x7fffffffu) > 0x7f800000u));
}
#endif // CM_OP_FROM_FLOAT

// round to odd: truncate to float, and set the last bit if inexact, so that a second rounding to less than half the
// digits is right
#ifdef CM_OP_TO_ODD
CM_FUNCTION CM_F CM_NAME(CM_FROM x)
{
    const CM_F y = CM_TRUNCATE(x);
    return CM_AS_F(CM_AS_U(y) | CM_STICKY(CM_BACK(y), x));
}
#endif // CM_OP_TO_ODD

#ifdef CM_OP_NARROW_TO_FLOAT
CM_FUNCTION CM_F CM_NAME(CM_H x)
{
    const CM_U u = CM_TO_U(x), a = u & ((1u << (CM_BITS - 1)) - 1u), digits = a << (23 - CM_MANTISSA);
    const CM_U normal = digits + ((CM_LEAST - 1u) << 23), tiny = CM_AS_U(CM_TO_F(a) * CM_UNIT);
    const CM_U number = select(normal, tiny, a < (1u << CM_MANTISSA));
    return CM_AS_F(select(number, digits | 0x7f800000u, a > CM_LARGEST) | (u >> (CM_BITS - 1)) << 31);
}
#endif // CM_OP_NARROW_TO_FLOAT

// below the least normal number, the unit stays the same and the number of digits decreases
#ifdef CM_OP_NARROW_FROM_FLOAT
CM_FUNCTION CM_H CM_NAME(CM_F x)
{
    const CM_U u = CM_AS_U(x), a = u & 0x7fffffffu, sign = CM_AS_U(CM_AS_S(x) >> 31), own = a >> 23;
    const CM_U exponent = max(own, (CM_U)CM_LEAST);
    const CM_U shift = min(exponent - own, (CM_U)(CM_MANTISSA + 2u)) + (23 - CM_MANTISSA), unit = (CM_U)1u << shift;
    const CM_U digits = (a & 0x7fffffu) | min(own, (CM_U)1u) << 23;
    const CM_U rounded = (digits + CM_CARRY(digits >> shift, unit, sign)) >> shift;
    const CM_U number = ((exponent - CM_LEAST) << CM_MANTISSA) + rounded;
    const CM_U beyond = (CM_U)(CM_LARGEST + 1u) - CM_KEPT(min(0x7f800000u - a, (CM_U)1u), sign);
    const CM_U finite = select(number, beyond, number > CM_LARGEST);
    return CM_TO_H(select(finite, (CM_U)CM_NAN, a > 0x7f800000u) | (sign & (1u << (CM_BITS - 1))));
}
#endif // CM_OP_NARROW_FROM_FLOAT

// powers of two: code c is 2 to the power of c - 127, and 255 is a NaN
#ifdef CM_OP_POWER_TO_FLOAT
CM_FUNCTION CM_F CM_NAME(CM_H x)
{
    const CM_U u = CM_TO_U(x);
    return CM_AS_F(select(select(u << 23, (CM_U)0x400000u, u == 0u), (CM_U)0x7fc00000u, u == 255u));
}
#endif // CM_OP_POWER_TO_FLOAT

// CM_CARRY: the number that rounds a normal number by its addition; CM_LAST: the code of numbers beyond the range.
// Positive numbers below the range become the least one; zero and negative numbers become NaNs
#ifdef CM_OP_POWER_FROM_FLOAT
CM_FUNCTION CM_H CM_NAME(CM_F x)
{
    const CM_U u = CM_AS_U(x), code = (u + select((CM_U)CM_CARRY, (CM_U)(CM_CARRY >> 1), u < 0x800000u)) >> 23;
    return CM_TO_H(select(min(code, (CM_U)CM_LAST), (CM_U)255u, u - 1u >= 0x7f800000u));
}
#endif // CM_OP_POWER_FROM_FLOAT

// integers of 4 bits: a byte has the integer, extended by its sign. Reading ignores the upper bits. CM_LOW and CM_HIGH:
// the least and the largest integer, which numbers beyond them become. NaNs become 0
#ifdef CM_OP_NIBBLE_TO_FLOAT
CM_FUNCTION CM_F CM_NAME(CM_H x)
{
    return CM_NUMBER(x);
}
#endif // CM_OP_NIBBLE_TO_FLOAT

#ifdef CM_OP_NIBBLE_FROM_FLOAT
CM_FUNCTION CM_H CM_NAME(CM_F x)
{
    const CM_F number = fmin(fmax(CM_ROUND(x), (CM_F)(CM_LOW)), (CM_F)(CM_HIGH));
    return CM_TO_H(select((CM_F)(0.0f), number, x == x));
}
#endif // CM_OP_NIBBLE_FROM_FLOAT
