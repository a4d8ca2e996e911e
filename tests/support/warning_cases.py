"""For each warning, a minimal source that causes it, and a similar source that does not.

`tools/warning_oracle.py` compares this table with clang's warnings.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """Two sources for a warning: `positive` causes exactly this warning at every `§`, `negative` does not cause it.

    If `whole`, the sources are translation units; otherwise they are bodies of the function `HEAD`.
    """

    name: str
    positive: str
    negative: str
    whole: bool = False

    def source(self, positive: bool) -> str:
        text = self.positive if positive else self.negative
        return text if self.whole else f"{HEAD} {{ {text} }}"


HEAD = (
    "void f(int i, uint u, long l, float x, double d, char c, uchar b, global int *g, global float *o, int4 v, half h)"
)


def _whole(name: str, positive: str, negative: str) -> Case:
    return Case(name, positive, negative, whole=True)


CASES = [
    # printf.
    Case("trigraphs", "g§??(0??) = 1;".replace("0??", "0§??"), "g[0] = '?' + '?'; /* ??( */ // ??)\n"),
    Case("dollar-in-identifier-extension", "int §$n = 1; g[0] = §$n;", "int n = 1; g[0] = n; // $\n"),
    Case("format", 'printf("%d %f", §l, §i); printf("%v4hlf", §v);', 'printf("%d %f %v4d %s", c, h, v, "a");'),
    Case("format", 'printf(§"%.3c", c); printf(§"%#d", i);', 'printf("%.3d %#x", i, i);'),
    Case("format-insufficient-args", 'printf(§"%d %d", i);', 'printf("%d %%", i);'),
    Case("format-extra-args", 'printf("%d", i, §u);', 'printf("%*d", 3, i);'),
    Case("format-invalid-specifier", 'printf(§"%n", g);', 'printf("%p", g);'),
    Case("format-security", 'constant char *p = "a"; printf(§p);', 'constant char *p = "a"; printf("%s", p);'),
    Case("format-nonliteral", 'constant char *p = "%d"; printf(§p, i);', 'printf(i ? "%d" : "%x", i);'),
    # Used and unused.
    Case("unused-variable", "int §n;", "int n = i; g[0] = n;"),
    _whole(
        "unused-variable", "kernel void k(void) { local int §n[4]; }", "void f(void) { int n __attribute__((unused)); }"
    ),
    Case("unused-variable", "const int §n = 4;", "const int n = 4; g[n] = 0;"),
    Case("unused-variable", "for (int §k = 0; i < 3; i++) g[i] = 0;", "int n; (void)n;"),
    Case("unused-but-set-variable", "int §n; n = i;", "int n; n = i; g[0] = n;"),
    Case("unused-but-set-variable", "int §n = 0; n += i; n++;", "int n = 0; g[0] = n++;"),
    Case("unused-but-set-variable", "int §n; n = 1; n = 2;", "int n; g[0] = n = 1;"),
    _whole(
        "unused-parameter",
        "int h(int a, int §b) { return a; }",
        "int h(int a, int); int h(int a, int b) { return a + b; }",
    ),
    _whole("unused-parameter", "void h(int §a) {}", "void h(int a) { (void)a; }"),
    _whole("unused-parameter", "void h(int §a, int b) { b++; }", "void h(int a __attribute__((unused))) {}"),
    _whole("unused-but-set-parameter", "void h(int §a) { a = 1; }", "int h(int a) { a = 1; return a; }"),
    _whole(
        "unused-function",
        "static int §h(int a) { return a; }",
        "static int h(int a) { return a; } kernel void k(global int *p) { *p = h(1); } int j(int a) { return a; }",
    ),
    _whole("unused-function", "static int §h(int a);", "int h(int a);"),
    Case("unused-label", "§done: g[0] = 1;", "if (i) goto done; g[1] = 1; done: g[0] = 1;"),
    Case("unused-local-typedef", "typedef int §number;", "typedef int number; number n = i; g[0] = n;"),
    Case("unused-value", "§i;", "(void)i;"),
    Case("unused-value", "§i + 1;", "i += 1;"),
    Case("unused-value", "§-i;", "i ? g[0]++ : g[1]++;"),
    Case("unused-value", "§g[i];", "i && g[0]++;"),
    Case("unused-value", "§i, i++;", "i++, u++;"),
    Case("unused-value", "for (§i; i < 3; i++) g[i] = 0;", "for (i = 0; i < 3; i++) g[i] = 0;"),
    Case("unused-value", "§fmax(x, x); §convert_int(x); §get_global_id(0);", "(void)fmax(x, x); atomic_inc(g);"),
    Case("unused-value", "§vload4(0, o); §convert_int_sat(x);", "\n#define LOADED(p) vload4(0, p)\nLOADED(o);"),
    Case("unused-value", "§x;", "\n#define NOTHING 0\nNOTHING;\n"),
    Case("unused-comparison", "§i == 1;", "i = 1;"),
    # Without a value.
    Case("uninitialized", "int n; g[0] = §n;", "int n; n = 1; g[0] = n;"),
    Case("uninitialized", "int n; §n++; g[0] = n;", "int n; if (i) n = 1; else n = 2; g[0] = n;"),
    Case("uninitialized", "float4 w; w.x = §w.y; o[0] = w.x;", "float4 w; w.x = x; w.yzw = x; o[0] = w.w;"),
    Case("uninitialized", "global int *p; *§p = 1;", "global int *p = g; *p = 1;"),
    Case(
        "uninitialized", "int n; for (int k = 0; k < 3; k++) g[k] = §n;", "int n; while (1) { n = i; break; } g[0] = n;"
    ),
    Case("uninitialized", "int n = §n; g[0] = n;", "int n; int *p = &n; *p = 1; g[0] = n;"),
    Case("uninitialized", "int a[2]; g[0] = §a[i] + a[0];", "int a[2]; a[0] = 1; g[0] = a[i];"),
    Case("uninitialized", "struct { int m; } a; g[0] = §a.m;", "struct { int m; } a, *p = &a; g[0] = a.m + p->m;"),
    Case("uninitialized", "int n; for (;;) §n++;", "int n = 0; for (;;) n++;"),
    Case("uninitialized", "int n; if (i && §n) g[0] = 1;", "int n; if (i && (n = u)) g[0] = n;"),
    Case(
        "uninitialized",
        "int n; switch (i) { case 1: g[0] = §n; }",
        "int n; switch (i) { case 1: n = 1; break; default: n = 2; } g[0] = n;",
    ),
    Case(
        "sometimes-uninitialized",
        "int §n; do { g[0] = n; n = 1; } while (i--);",
        "int n; do { n = 1; } while (i--); g[0] = n;",
    ),
    Case(
        "uninitialized",
        "int n; goto end; n = 1; end: g[0] = §n;",
        "int n; goto set; back: g[0] = n; return; set: n = 1; goto back;",
    ),
    Case("sometimes-uninitialized", "int n; if (§i) n = 1; g[0] = n;", "int n; if (i) n = 1; if (i) g[0] = n;"),
    Case(
        "conditional-uninitialized", "int n; while (i--) n = 1; g[0] = §n;", "int n = 0; while (i--) n = 1; g[0] = n;"
    ),
    Case(
        "conditional-uninitialized",
        "int n; for (int k = 0; k < i; k++) n = k; g[0] = §n;",
        "int n; for (int k = 0; ; k++) { n = k; break; } g[0] = n;",
    ),
    Case(
        "sometimes-uninitialized",
        "int n; switch (i) { case 1: n = 1; break; §case 2: break; } g[0] = n;",
        "int n; switch (i) { case 1: n = 1; break; default: return; } g[0] = n;",
    ),
    Case(
        "sometimes-uninitialized",
        "int n; int m = §i ? (n = 1) : 0; g[m] = n;",
        "int n; int m = i ? (n = 1) : (n = 2); g[m] = n;",
    ),
    Case(
        "sometimes-uninitialized",
        "int n; if (§i && (n = u)) g[0] = 1; g[1] = n;",
        "int n; if ((n = u) && i) g[0] = 1; g[1] = n;",
    ),
    Case("conditional-uninitialized", "int n; if (i) n = 1; if (i) g[0] = §n;", "int n; if (i) { n = 1; g[0] = n; }"),
    Case(
        "conditional-uninitialized",
        "int n; for (int k = 0; k < i; k++) { if (k) g[k] = §n; n = k; }",
        "int n; for (int k = 0; k < i; k++) { n = k; g[k] = n; }",
    ),
    _whole("return-type", "int h(int a) { if (a) return 1; §}", "int h(int a) { if (a) return 1; else return 2; }"),
    _whole(
        "return-type",
        "enum E { A, B }; int h(enum E e) { switch (e) { case A: return 1; } §}",
        "enum E { A, B }; int h(enum E e) { switch (e) { case A: return 1; case B: return 2; } }",
    ),
    _whole(
        "return-type",
        "enum E { A, B }; int h(int e) { switch (e) { case 0: case 1: return 1; } §}",
        "enum E { A, B }; int h(enum E e) { switch (e) { case A: case B: return 1; case 7: return 2; } }",
    ),
    _whole("return-type", "int h(void) { §}", "int h(int a) { while (1) { if (a) return 1; } }"),
    _whole(
        "return-type",
        "int h(int a) { switch (a) { case 1: return 1; } §}",
        "int h(int a) { switch (a) { case 1: return 1; default: return 2; } }",
    ),
    _whole("return-type", "int h(int a) { for (int k = 0; k < a; k++) return k; §}", "int h(int a) { for (;;) { } }"),
    _whole(
        "return-type",
        "int h(int a) { while (1) { if (a) break; } §}",
        "int h(int a) { again: if (a) return 1; goto again; }",
    ),
    _whole(
        "return-type",
        "int h(int a) { do { if (a) continue; return 1; } while (0); §}",
        "int h(int a) { do { if (a) return 2; } while (1); }",
    ),
    Case(
        "implicit-fallthrough",
        "switch (i) { case 1: g[0] = 1; §case 2: g[1] = 1; }",
        "switch (i) { case 1: case 2: g[1] = 1; break; case 3: g[2] = 1; }",
    ),
    Case(
        "implicit-fallthrough",
        "switch (i) { case 1: if (u) break; §default: g[1] = 1; }",
        "switch (i) { case 1: g[0] = 1; __attribute__((fallthrough)); case 2: g[1] = 1; }",
    ),
    Case("unreachable-code", "return; §g[0] = 1;", "if (i) return; g[0] = 1;"),
    Case("unreachable-code", "while (1) g[i] = 1; §g[0] = 1;", "while (1) { if (i) break; } g[0] = 1;"),
    # Mistakes in writing.
    Case("parentheses", "if (i §= 1) g[0] = 1;", "if ((i = 1)) g[0] = 1;"),
    Case("parentheses", "while (i §= g[0]) g[0]--;", "while (i == g[0]) g[0]--;"),
    Case("parentheses", "g[0] = i §& 1 == 0;", "g[0] = (i & 1) == 0;"),
    Case("bitwise-op-parentheses", "g[0] = i §& 1 | 2;", "g[0] = (i & 1) | 2;"),
    Case("logical-op-parentheses", "if (i || u §&& l) g[0] = 1;", "if (i || (u && l)) g[0] = 1;"),
    Case("shift-op-parentheses", "g[0] = i << 2 §+ 1;", "g[0] = i << (2 + 1);"),
    Case("parentheses-equality", "if ((i §== 1)) g[0] = 1;", "if (i == 1) g[0] = 1;"),
    Case("logical-not-parentheses", "g[0] = §!i == 1;", "g[0] = (!i) == 1;"),
    Case("logical-not-parentheses", "g[0] = §!i & 4;", "g[0] = !(i & 4);"),
    Case("dangling-else", "if (i) if (u) g[0] = 1; else §g[1] = 1;", "if (i) { if (u) g[0] = 1; else g[1] = 1; }"),
    Case("empty-body", "if (i)§; g[0] = 1;", "if (i) {} g[0] = 1;"),
    Case("empty-body", "for (int k = 0; k < i; k++)§; { g[0] = 1; }", "for (int k = 0; k < i; k++);\ng[0] = 1;"),
    Case("empty-body", "while (i--)§;\n { g[0] = 1; }", "while (i--)\n ;\n g[0] = 1;"),
    _whole("extra-semi", "int h(int a) { return a; }§;", "int h(int a) { return a; }"),
    _whole("comment", "/* one §/* two */ constant int k = 1;", "/* one // two */ constant int k = 1;"),
    _whole("multi-line-comment", "// one §\\\n two\nconstant int k = 1;", "// one \\ two\nconstant int k = 1;"),
    Case("shadow", "{ int §i = 1; g[0] = i; }", "{ int n = 1; g[0] = n; } { int n = 2; g[0] = n; }"),
    _whole(
        "shadow",
        "constant int k = 1; int h(int §k) { return k; }",
        "int h(int a) { return a; } int j(int a) { return a; }",
    ),
    _whole(
        "missing-prototypes",
        "int §h(int a) { return a; }",
        "int h(int a); int h(int a) { return a; } static int s(int a) { return a; } kernel void k(void) {}",
    ),
    _whole("missing-declarations", "struct S { §int; int a; };", "struct S { struct { int b; }; int a; };"),
    # Implicit conversions.
    Case("implicit-int-conversion", "c = §i;", "c = (char)i;"),
    Case("implicit-int-conversion", "short s = §i * 2; g[0] = s;", "c = i & 0x7f; c = c + c; b = u >> 24;"),
    Case("shorten-64-to-32", "i = §l;", "i = (int)l;"),
    Case("shorten-64-to-32", "int n = §get_global_id(0); g[n] = 0;", "size_t n = get_global_id(0); g[n] = 0;"),
    Case("shorten-64-to-32", "int2 w = (int2)(§l, i); g[0] = w.x;", "int2 w = (int2)((int)l, i); g[0] = w.x;"),
    Case("sign-conversion", "u = §i;", "u = (uint)i; u = b; u = 1;"),
    Case("sign-conversion", "i = §u;", "i = u >> 1;"),
    Case("sign-conversion", "u = u + §i;", "u = u + 1;"),
    Case("sign-conversion", "u = i ? §i : b;", "u = i ? 3 : b;"),
    Case("constant-conversion", "c = §300;", "c = -128; c = 'a'; b = -1;"),
    Case("constant-conversion", "c = §200;", "b = 200;"),
    Case("constant-conversion", "c = i ? c : §300;", "c = i ? c : 100;"),
    Case("literal-conversion", "i = §1.5;", "i = 2.0f; i = (int)1.5;"),
    Case("float-conversion", "i = §x;", "i = (int)x; i = convert_int(x);"),
    Case("implicit-float-conversion", "x = §d;", "x = (float)d; x = 0.5;"),
    Case("double-promotion", "d = §x;", "d = (double)x; d = d * 2.0;"),
    Case("double-promotion", "d = d * §x;", "x = x * x;"),
    Case("implicit-int-float-conversion", "x = §i;", "x = (float)i; x = c; d = i; x = i & 0xffff;"),
    Case("implicit-const-int-float-conversion", "x = §16777217;", "x = 16777216;"),
    Case("pointer-bool-conversion", "if (§&i) g[0] = 1;", "if (g) g[0] = 1;"),
    # Comparisons.
    Case(
        "sign-compare", "if (i §< u) g[0] = 1;", "if (i < (int)u) g[0] = 1; if (u < 3) g[0] = 1; if (b < i) g[0] = 1;"
    ),
    Case(
        "sign-compare",
        "for (int k = 0; k §< get_local_size(0); k++) g[k] = 0;",
        "for (uint k = 0; k < get_local_size(0); k++) g[k] = 0;",
    ),
    Case("sign-compare", "g[0] = i §== u;", "g[0] = i == 3u;"),
    Case("float-equal", "g[0] = x §== o[0];", "g[0] = x < o[0];"),
    Case("tautological-compare", "g[0] = i §== i;", "g[0] = i == g[0];"),
    Case("tautological-unsigned-zero-compare", "g[0] = u §>= 0;", "g[0] = u > 0; g[0] = i >= 0;"),
    Case("tautological-constant-out-of-range-compare", "g[0] = b §== 300;", "g[0] = b == 200;"),
    Case("tautological-constant-out-of-range-compare", "g[0] = (i < 3) §> 17;", "g[0] = (i < 3) > 0;"),
    # Constant operands.
    Case("division-by-zero", "g[0] = i §/ 0;", "x = x / 0;"),
    Case("division-by-zero", "g[0] = i §% 0;", "g[0] = i % 2;"),
    Case("shift-count-overflow", "g[0] = i << §32;", "g[0] = i << 31; l = l << 32;"),
    Case("shift-count-negative", "g[0] = i >> §-1;", "g[0] = i >> 1;"),
    Case("array-bounds", "int a[2] = {i, i}; g[0] = a[§2];", "int a[2] = {i, i}; g[0] = a[1];"),
    _whole(
        "spir-compat",
        "constant sampler_t s = §CLK_ADDRESS_CLAMP;",
        "constant sampler_t s = CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;",
    ),
    # Pointers.
    Case("int-to-pointer-cast", "g = §(global int *)i;", "g = (global int *)l;"),
    Case("pointer-to-int-cast", "i = §(int)g;", "l = (long)g;"),
    Case("incompatible-pointer-types", "g §= o;", "g = (global int *)o;"),
    Case(
        "incompatible-pointer-types-discards-qualifiers",
        "const global int *p = g; g §= p;",
        "const global int *p = g; g[0] = *p;",
    ),
    Case("pointer-sign", "global uint *p = §g; p[0] = 1;", "global uint *p = (global uint *)g; p[0] = 1;"),
    _whole(
        "address-space-conversion",
        "void h(global int *a) { int *p = a; global int *q = §(global int *)p; *q = 1; }",
        "void h(global int *a) { int *p = a; global int *q = a; *q = *p; *(int *)q = 1; }",
    ),
    # Directives and attributes.
    Case("unknown-pragmas", "\n#§pragma nosuch thing\n;", "\n#pragma unroll 2\nfor (i = 0; i < 2; i++) g[i] = 0;"),
    Case(
        "unknown-attributes",
        "int n __attribute__((§nosuch)) = i; g[0] = n;",
        "int n __attribute__((aligned(8))) = i; g[0] = n;",
    ),
    _whole(
        "macro-redefined",
        "#define A 1\n#define §A 2\nconstant int k = A;",
        "#define A 1\n#define A 1\nconstant int k = A;",
    ),
    _whole("extra-tokens", "#ifdef A\n#endif §A\nconstant int k = 1;", "#ifdef A\n#endif // A\nconstant int k = 1;"),
    _whole("#warnings", "#§warning careful\nconstant int k = 1;", "#define warning 1\nconstant int k = 1;"),
]
