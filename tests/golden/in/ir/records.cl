// Records are copied whole, packed ones accessed byte-aligned; a union is storage of its size and alignment.
struct __attribute__((packed)) entry { char tag; int value; };
union word { uint u; float f; };
struct entry make(int n) { struct entry e = { 1, n }; return e; }
kernel void k(global struct entry *p)
{
    struct entry e = make(2);
    union word w = { .f = 1 };
    e.value += w.u;
    p[1] = e;
}
