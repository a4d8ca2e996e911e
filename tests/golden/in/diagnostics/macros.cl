// A mistake in a macro is told at the use.
#define ADD(a, b) ((a) + missing_##b)
#define TWICE(x) ADD(x, x)
int f(int one)
{
    return TWICE(one)
         + ADD(one);
}
#undef
#if 1 +
#endif
#error stop here
