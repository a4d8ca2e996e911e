// options: -Wall -Wextra -Wconversion -Werror=return-type
// What a whole function tells, and what conversions lose.
#define LESS(a, b) ((a) < (b))
static int helper(int n);
int signum(int n, uint limit)
{
    int kept, last;
    if (n > 0)
        kept = 1;
    for (int i = 0; LESS(i, limit); i++)
        last = i;
    char small = n * 300;
    if (n = limit)
        return kept + last + small;
}
kernel void half_written(global float *out, global const int *in, int unused)
{
    int lane;
    out[lane] = in[get_global_id(0)];
    out[0] == 1;
    { int never = 2.5; }
}
