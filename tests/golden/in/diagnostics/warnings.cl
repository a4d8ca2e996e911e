// options: -Werror=shift-count-overflow -Wno-unknown-pragmas
// Warnings by name: on, off, and as errors.
#pragma nosuch
int f(int n, const global int *c)
{
    int a[2];
    global int *g = c;
    return a[2] + (n << 40);
}
