// Precedence, associativity, and the parentheses that stay because vector literals need them.
void f(int a, int b, int *p, float4 v)
{
    a = b = a + b * 2 - 1 << 3 & ~a;
    a ? b : a ? 1 : 2;
    *p++ = -p[1] + sizeof(int) * sizeof a;
    v = (float4)(1, 2, 3, 4) * (float4)(a) + v.wzyx;
    (a, b) && !a || b;
}
