/* Reductions of several types and operators out of one template, in several files. */
#include "config.h"
#include <detail/operators.h>
#include "config.h"            // a second time: the guard holds

// A template, instantiated by including it.
#define TYPE float
#define OP SUM
#define IDENTITY 0.0f
#include "reduce.inc"

#define TYPE float
#define OP MAX
#define IDENTITY (-INFINITY)
#include "reduce.inc"

#define TYPE int
#define OP SUM
#define IDENTITY 0
#include "reduce.inc"

#define TYPE uint
#define OP MIN
#define IDENTITY UINT_MAX
#include "reduce.inc"

#define TYPE ulong
#define OP XOR
#define IDENTITY 0ul
#define EPILOGUE(x) rotate((x), (ulong)7)
#include "reduce.inc"

#define CHOSEN "detail/dot.inc"
#include CHOSEN
#undef CHOSEN

// X-macros: one list, an enum, a table and a switch.
#define OPERATIONS(X) \
    X(HALVE,  v / 2) \
    X(SQUARE, v * v) \
    X(NEGATE, -v   ) \
    X(CLIP,   clamp(v, -100, 100))

enum operation {
#define X(name, expr) OPERATION_##name,
    OPERATIONS(X)
#undef X
    OPERATION_COUNT,
};

static int apply(enum operation op, int v)
{
    switch (op) {
#define X(name, expr) case OPERATION_##name: return expr;
    OPERATIONS(X)
#undef X
    case OPERATION_COUNT:
    default:
        break;
    }
    return 0;
}

kernel void map_operations(global const int* in, global int (*out)[OPERATION_COUNT])
{
    size_t i = get_global_id(0);
    for (enum operation op = OPERATION_HALVE; op < OPERATION_COUNT; op = (enum operation)(op + 1))
        out[i][op] = apply(op, in[i]);
}
