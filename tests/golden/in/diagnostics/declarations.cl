// Clashes show the earlier place; one mistake in a declaration is told once, whatever uses it.
local int x;
void f(int n) { float n; unknown u, v; u = v; }
typedef int T;
float T;
struct S { nosuch a; int b : 3; int c; };
void g(struct S s) { s.a = 1; s.c = 2; g(s); }
int h(int a);
float h(int a) { return a; }
