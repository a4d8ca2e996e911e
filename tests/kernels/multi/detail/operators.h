#pragma once
#include "../config.h"

#define BINARY(NAME, T, EXPRESSION) \
    STATIC_INLINE T PASTE(op, NAME, T, )(T a, T b) \
    { \
        return EXPRESSION; \
    }

#define FOR_TYPES(M, NAME, EXPRESSION) M(NAME, float, EXPRESSION) M(NAME, int, EXPRESSION) M(NAME, uint, EXPRESSION) \
    M(NAME, ulong, EXPRESSION)

FOR_TYPES(BINARY, SUM, a + b)
FOR_TYPES(BINARY, MAX, a > b ? a : b)
FOR_TYPES(BINARY, MIN, b < a ? b : a)
BINARY(XOR, uint, a ^ b)
BINARY(XOR, ulong, a ^ b)
