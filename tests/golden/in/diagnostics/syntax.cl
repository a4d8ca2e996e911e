// Several mistakes in one file: each is told where it is, and the next one too.
kernel void f(global int *a)
{
    a[0] = 1
    a[1] = (2 + ;
    for (int i = 0; i < 2 i++) a[i] = 3;
    a[2) = 4;
    int = 5;
}
kernel void g(global int *a) { a[0] = 1; }}
