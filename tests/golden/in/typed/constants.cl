// options: -Wno-constant-conversion -Wno-division-by-zero
// What the language lets one know is known: no operators are left but the divisions by zero.
enum { FIRST = -1, SECOND, THIRD = 1 << 4 | 2 };
constant long a = 0x80000000 + 1;
constant uchar b = 300 * -1;
constant float c = 1 / 3.0f - (half)0.1;
constant int d[THIRD > 3 && sizeof(float3) == 16 ? 2 : 1] = { 'a', SECOND };
constant ulong e = ~0u + (-1 < 0u) + ~0UL / 10;
constant int f = (int)2.9 * as_int(1.0f) % 1000;
int g(void) { return 1 / 0; }
