// Conditions are scalars, case values are of the promoted type, unroll hints belong to the loop.
int f(char c, float x)
{
    for (int i = 0; x && i < 3; i++) {
        if (c == 'a') continue;
        x -= 1;
    }
#pragma unroll
    do c--; while (c > 0);
    switch (c) {
    case 255:
    case -1: goto out;
    default: return x;
    }
out:
    return c ? c : -c;
}
