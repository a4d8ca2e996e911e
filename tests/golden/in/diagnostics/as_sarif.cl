// diagnostics: sarif
// The same as one SARIF run.
void g(int count) { }
void f(void) { g(1, 2); }
