// Every kind of statement once.
void f(int n)
{
    if (n) ; else if (n > 1) n = 1; else { n = 2; }
    for (int i = 0, j = 1; i < j; i++) continue;
    for (;;) break;
    while (n) --n;
    do n++; while (n < 0);
    switch (n) { case 1: case 2: n = 0; break; default: ; }
again:
    if (n < 3) goto again;
    return;
}
