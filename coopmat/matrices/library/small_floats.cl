// Small floats as their bit patterns: conversions from and to float. Every file's sections may call these.
//
//   CM_F, CM_U, CM_H            float, uint and ushort, or vectors of them
//   CM_CARRY(u, sign)           what rounds the float's bits u up where that is due; sign is all ones below zero
//   CM_FROM, CM_STICKY(x, y)    another type; 1 where the numbers x and y differ, as a CM_U

#ifdef CM_OP_TO_FLOAT
CM_FUNCTION CM_F CM_NAME(CM_H x)
{
    return CM_AS_F(CM_TO_U(x) << 16);
}
#endif // CM_OP_TO_FLOAT

#ifdef CM_OP_FROM_FLOAT // NaNs stay NaNs, whichever bits are cut off
CM_FUNCTION CM_H CM_NAME(CM_F x)
{
    const CM_U u = CM_AS_U(x), sign = CM_AS_U(CM_AS_S(x) >> 31);
    return CM_TO_H(select((u + CM_CARRY(u, sign)) >> 16, (u >> 16) | 0x40u, (u & 0x7fffffffu) > 0x7f800000u));
}
#endif // CM_OP_FROM_FLOAT

#ifdef CM_OP_TO_ODD // a float that rounds to less than half its digits as x does: toward zero, and odd where it is not x
CM_FUNCTION CM_F CM_NAME(CM_FROM x)
{
    const CM_F y = CM_TRUNCATE(x);
    return CM_AS_F(CM_AS_U(y) | CM_STICKY(CM_BACK(y), x));
}
#endif // CM_OP_TO_ODD
