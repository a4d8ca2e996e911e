// Branches, loops, short circuits, switch with fall-through, goto.
int f(int n, int m)
{
    int s = 0;
    for (int i = 0; i < n && m; i++) {
        if (i == 3) continue;
        switch (i) { case 0: s = 1; case 5: s += 2; break; default: goto out; }
    }
out:
    return n ? s : -s;
}
kernel void k(global int *p) { p[0] = f(p[1], p[2]); }
