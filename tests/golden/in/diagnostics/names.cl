// Unknown names once in each function, with the near ones.
struct point { float width; };
kernel void f(global float *out, flaot scale)
{
    out[get_globl_id(0)] = sqr(2.0f) + missing;
    missing = missing + 1;
    struct point p;
    p.widht = nothing_like_it;
}
void g(void) { missing(); undefined_later(); }
void undefined_later(void);
