// Elided braces, designators and strings end in aggregates of positions; what is missing is zero.
struct part { int a[2]; float v; };
struct whole { struct part p[2]; char name[4]; union { int i; float f; } u; };
constant struct whole table[] = { { { 1, 2, 3, { { 4 } } }, "ab", { .f = 1 } }, { .name = { [2] = 'x' } } };
float f(struct whole w, global struct whole *g, int i)
{
    struct part copy = w.p[i];
    w.u.i++;
    *g = w;
    return g->p[1].v + copy.v + table[i].u.f;
}
