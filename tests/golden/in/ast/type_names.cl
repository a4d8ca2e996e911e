// Whether a name is a type follows its scope: `T * x` declares in f and multiplies in g.
typedef int T;
void f(void) { T * x; x = 0; }
void g(int T, int x) { T * x; }
void h(void) { float4 (y); float float4 = 1; float4 * float4; }
