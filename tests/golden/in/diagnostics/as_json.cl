// diagnostics: json
// The same as data, with notes and fix-its.
void g(int count) { }
void f(void)
{
    g(1, 2)
    gg();
}
