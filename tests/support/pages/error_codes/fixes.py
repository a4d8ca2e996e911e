"""For each error code, a source like the example that does not cause the error, or advice if a source cannot show it.

A source is compiled with the options of the example, after the same text.
"""

from __future__ import annotations

# code -> source without the error
FIXES = {
    # Cooperative matrices.
    "coop-mat-attribute": "typedef float M __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 16, 16,\n"
    "                                        CLK_COOPERATIVE_MATRIX_A)));\nstruct S { int n; };",
    "coop-mat-component": "typedef char M MATRIX(16, 16, CLK_COOPERATIVE_MATRIX_A);",
    "coop-mat-scope": "typedef float M MATRIX(16, 16, CLK_COOPERATIVE_MATRIX_A);",
    "coop-mat-shape": "typedef float M MATRIX(16, 8, CLK_COOPERATIVE_MATRIX_A);",
    "coop-mat-use": "typedef float M __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 16, 16,\n"
    "                                        CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));",
    "coop-mat-kernel-parameter": "kernel void k(global float *p) { C c = coop_mat_load(p, ROW_MAJOR, 32); }",
    "coop-mat-file-scope": "void f() { C c = coop_mat_init(0.0f); }",
    "coop-mat-address-space": "kernel void k() { C c = coop_mat_init(0.0f); }",
    "coop-mat-union": "struct S { C c; int n; };",
    "coop-mat-opaque": "int f(C c) { return coop_mat_length(c) * sizeof(float); }",
    "coop-mat-pointer": "float f(C *c) { return (*c)[0]; }",
    "coop-mat-no-target": "void f(global float *p) { C c = coop_mat_load(p, ROW_MAJOR, 32); }",
    "coop-mat-mismatch": "void f(C c, I i, float x)\n{\n    c = coop_mat_init(0.0f);\n    c = (C)i;\n"
    "    c = coop_mat_init(x);\n}",
    "coop-mat-init": "void f(float4 v) { C c = coop_mat_init(v.x); }",
    "coop-mat-conversion": "void f(C c, I i) { c = (C)i; float x = c[0]; }",
    "coop-mat-saturation": "void f(C c, I i) { i = coop_mat_convert_sat(c); c = (C)i; }",
    "coop-mat-pointee": "void f(global float *p) { C c = coop_mat_load(p, ROW_MAJOR, 32); }",
    "coop-mat-const-store": "void f(global float *p, C c) { coop_mat_store(p, c, ROW_MAJOR, 32); }",
    "coop-mat-layout": "void f(global float *p) { C c = coop_mat_load(p, ROW_MAJOR, 32); }",
    "coop-mat-invalid-stride": "void f(global float *p) { C c = coop_mat_load(p, ROW_MAJOR, 32); }",
    "coop-mat-bounds": "void f(global float *p) { C c = coop_mat_load_checked(p, ROW_MAJOR, 32, 0, 0, 100, 1); }",
    "coop-mat-not-a-matrix": "void f(A a, B b, C c) { c = coop_mat_mulAdd(a, b, c); }",
    "coop-mat-wrong-use": "void f(A a, B b, C c) { c = coop_mat_mulAdd(a, b, c); }",
    "coop-mat-shapes": "void f(A a, B b, C c) { c = coop_mat_mulAdd(a, b, c); }",
    "coop-mat-component-class": "void f(A a, B b, C c) { c = coop_mat_mulAdd(a, b, c); }",
    "coop-mat-operands": "void f(A a, B b, C c) { c = coop_mat_mulAdd(a, b, c); }",
    "coop-mat-operator": "void f(C c, float x) { c = c / coop_mat_init(x); c = c * c; }",
    "coop-mat-operand-types": "void f(C c, C d) { c = c + d; }",
    "coop-mat-condition": "void f(C c) { if (c[0] != 0.0f) return; }",
    "coop-mat-index": "float f(C c, uint n) { return c[0] + c[n]; }",
    "array-bounds": "void f(C c) { C k[2]; k[1] = c; }",
    "coop-mat-element-address": "void f(C c) { float x = c[0]; c[0] = x + 1; }",
    "coop-mat-builtin": "void f(C c) { c = fmax(c, c); c = fmax(c, 1.0f); }",
    "coop-mat-function": "float f(uint row, uint column);\nfloat g(uint row, uint column, float x) { return x; }\n"
    "kernel void k(float x) { C c = coop_mat_build(f); c = coop_mat_map(c, g); }\n"
    "float f(uint row, uint column) { return row + column; }",
    "coop-mat-function-type": "float f(uint row, uint column) { return row; }\nvoid g() { C c = coop_mat_build(f); }",
    "coop-mat-function-effect": "float f(uint row, uint column, global float *p) { return p[row] + column; }\n"
    "void g(global float *p) { C c = coop_mat_build(f, p); }",
    "coop-mat-reduce": "float sum(float x, float y) { return x + y; }\n"
    "void f(C c)\n{\n    c = coop_mat_reduce(c, CLK_COOPERATIVE_MATRIX_REDUCE_COLUMN, sum);\n}",
    "coop-mat-scaled": "typedef floate4m3_t X MATRIX(16, 8, CLK_COOPERATIVE_MATRIX_A);\n"
    "typedef floate4m3_t Y MATRIX(8, 32, CLK_COOPERATIVE_MATRIX_B);\n"
    "void f(X x, Y y, C c, const global uchar *s) { c = coop_mat_mulAdd_scaled(x, s, 1, y, s, 1, c); }",
    "coop-mat-print": 'void f(C c) { coop_mat_print(c, "sum"); }',
    "coop-mat-work-group-size": "kernel __attribute__((reqd_work_group_size(64, 1, 1))) void k(global float *p)\n{\n"
    "    float m __attribute__((coop_mat(memory_scope_work_group, 16, 16, CLK_COOPERATIVE_MATRIX_A)));\n"
    "    m = coop_mat_load(p, ROW_MAJOR, 16);\n"
    "    coop_mat_store(p, m, ROW_MAJOR, 16);\n}",
    "coop-mat-target-type": "kernel void k(global float *p) { C c = coop_mat_load(p, ROW_MAJOR, 32); }",
    "coop-mat-target-stride": "void f(global float *p) { C c = coop_mat_load(p, ROW_MAJOR, 32); }",
    "coop-mat-target-pointer": "kernel void k(uint i)\n{\n    local float tile[1024];\n"
    "    C c = coop_mat_load(tile + i * 4, ROW_MAJOR, 32);\n}",
    "matrix-between-programs": "C square(C c) { return c * c; }\nkernel void k(global float *p)\n{\n"
    "    coop_mat_store(p, square(coop_mat_init(1.0f)), ROW_MAJOR, 32);\n}",
    # Matrix types.
    "matrix-type-attribute": "typedef float V __attribute__((matrix_type(4, 4)));\nvoid f() { V m; }",
    "matrix-type-element": "typedef char B __attribute__((matrix_type(4, 4)));",
    "matrix-type-shape": "typedef float Z __attribute__((matrix_type(4, 1)));",
    "matrix-type-clause": "typedef float D __attribute__((matrix_type(4, 4, layout(row_major))));",
    "matrix-type-redeclaration": "typedef float M __attribute__((matrix_type(4, 4)));",
    "matrix-type-kernel-parameter": "kernel void k(global M *m) { }",
    "matrix-type-mismatch": "void f(I i, M m) { m = (M)i; }",
    "matrix-type-cast": "void f(M m, I i) { m = (M)i; }",
    "matrix-type-initializer": "void f(global float *p) { M m = __builtin_matrix_column_major_load(p, 4, 4, 4); }",
    "matrix-type-operator": "void f(M m) { m = m * 0.5f; m = m * -1.0f; }",
    "matrix-type-operand-types": "void f(M m, I i) { m = m + (M)i; }",
    "matrix-type-shapes": "void f(M m, W w) { w = m * w; }",
    "matrix-type-condition": "void f(M m) { if (m[0][0] != 0.0f) return; }",
    "matrix-type-subscript": "float f(M m) { return m[1][2] + m[1][0]; }",
    "matrix-type-index": "float f(M m, int i) { return m[3][0] + m[i][0]; }",
    "matrix-type-element-address": "void f(M m) { float x = m[0][0]; m[0][0] = x + 1; }",
    "matrix-type-not-a-matrix": "void f(M m) { m = __builtin_matrix_transpose(m); }",
    "matrix-type-pointee": "void f(global float *p, M m) { __builtin_matrix_column_major_store(m, p, 4); }",
    "matrix-type-const-store": "void f(global float *p, M m) { __builtin_matrix_column_major_store(m, p, 4); }",
    "matrix-type-stride": "void f(global float *p) { M m = __builtin_matrix_column_major_load(p, 4, 4, 4); }",
    # The language.
    "not-supported": "void f(void) { }",
    "spirv-version": "kernel void k(global int *p) { p[0] = get_sub_group_local_id() == 0; }",
    "undeclared-identifier": "size_t f(size_t length) { return get_global_id(0) + length; }",
    "unknown-type": "float f() { return 1; }",
    "redefinition": "int f(int n) { float x = 1; return n + (int)x; }",
    "undefined-function": "int g(int n) { return n; }\nint f() { return g(1); }",
    "undefined-variable": "constant int n = 1;\nint f() { return n; }",
    "undeclared-label": "void f() { goto end; end: return; }",
    "unexpected-type": "float f(float x) { return sqrt(x); }",
    "wrong-tag": "struct S { int n; };\nvoid f(struct S u) { }",
    "invalid-type": "unsigned f();",
    "incomplete-type": "struct S { int n; };\nvoid f() { struct S s; }",
    "access-qualifier": "void f(read_only image2d_t image) { }",
    "attribute": "kernel __attribute__((reqd_work_group_size(8, 1, 1))) void k() { }",
    "restrict": "void f(global int *restrict n) { }",
    "array-size": "void f() { int a[1]; }",
    "bit-field": "struct S { uchar n; };\nint f(struct S s) { return s.n & 7; }",
    "enumerator-range": "enum { BIG = 0x7ffffffe, BIGGER };",
    "function-pointer": "void f() { }\nvoid g() { f(); }",
    "function-declarator": "int f(int);",
    "variadic": "void f(int n, int m) { }",
    "address-space": "void f(global int *g, local int *l) { *g = *l; }",
    "atomic-initializer": "void f(global atomic_int *p) { atomic_init(p, 1); }",
    "sampler-address-space": "constant sampler_t s = CLK_FILTER_NEAREST;",
    "sampler-initializer": "constant sampler_t s = CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;",
    "invalid-initializer": "void f() { int a[2] = { 1 }; }",
    "static-assert": '_Static_assert(sizeof(int) == 4, "32 bits");',
    "not-constant": "int f() { int a[4] = { 0 }; return a[0]; }",
    "pragma": "#pragma OPENCL FP_CONTRACT OFF\nvoid f() { }",
    "kernel-parameter": "kernel void k(int b, global int *p) { }",
    "kernel-result": "kernel void k(global int *result) { *result = 1; }",
    "kernel-static": "kernel void k() { }",
    "recursion": "int f(int n)\n{\n    int sum = 0;\n    for (; n > 0; n--) sum += n;\n    return sum;\n}",
    "return-type": "void f() { return; }\nint g() { return 1; }",
    "not-a-function": "void g(int n) { }\nvoid f(int n) { g(n); }",
    "argument-count": "int g(int a) { return a; }\nint f() { return g(1); }",
    "no-matching-function": "float f(global float *p) { return sqrt(*p); }",
    "ambiguous-call": "float f(int n) { return pow((float)n, 2.0f); }",
    "void-value": "float g() { return 2; }\nfloat f() { return sqrt(g()); }",
    "incompatible-types": "struct S { int n; };\nint f(struct S s) { int n = s.n; return n; }",
    "invalid-cast": "int4 f(float4 v) { return convert_int4(v); }",
    "invalid-condition": "void f(float4 v) { if (any(v != 0.0f)) return; }",
    "invalid-index": "int f(int *p) { return p[1]; }",
    "invalid-operands": "float3 f(float4 a, float3 b) { return a.xyz + b; }",
    "vector-literal": "float4 f(float2 v) { return (float4)(v, 1, 1); }",
    "vector-subscript": "float f(float4 v) { return v[3]; }",
    "swizzle": "float f(float2 v) { return v.y; }",
    "duplicate-swizzle": "void f(float4 v) { v.xy = 1; }",
    "no-member": "struct S { int width; };\nint f(struct S s) { return s.width; }",
    "member-of-pointer": "struct S { int n; };\nint f(struct S *s) { return s->n; }",
    "not-subscriptable": "int f(int *n) { return n[0]; }",
    "not-an-lvalue": "void f(int n) { n++; }",
    "not-assignable": "void f() { int a[2], b[2] = { 1, 2 }; for (int i = 0; i < 2; i++) a[i] = b[i]; }",
    "read-only": "void f(int n) { n = 1; }",
    "generic-selection": "int f(float x) { return _Generic(x, int: 1, float: 2); }",
    "duplicate-case": "void f(int n) { switch (n) { case 1: case 2: ; } }",
    "outside-loop": "void f() { for (int i = 0; i < 4; i++) continue; }",
    "outside-switch": "void f(int n) { switch (n) { default: ; } }",
    "vulkan": "kernel void k(global int *out, global int *count)\n{\n    out[0] = *count;\n}",
    # Text.
    "unexpected-character": "int f(int x) { return x; }",
    "unterminated-comment": "int f(int x) { return x; } /* the end */",
    "unterminated-literal": 'int f() { return sizeof("the end"); }',
    "integer-too-large": "ulong f() { return 18446744073709551615; }",
    "invalid-literal": "int f() { return 89; }",
    "invalid-suffix": "int f() { return 1ul; }",
    "invalid-escape": r"char f() { return '\x41'; }",
    "invalid-directive": "#define N 1",
    "invalid-line": "#line 10",
    "invalid-macro": "#define M(a, b) a",
    "invalid-macro-name": "#define FIVE 5",
    "invalid-macro-use": "#define ADD(a, b) a + b\nconstant int x = ADD(1, 2);",
    "unterminated-invocation": "#define F(x) x\nconstant int x = F(1);",
    "unmatched-conditional": "#if 1\n#endif",
    "unterminated-conditional": "#if 1\nconstant int x = 1;\n#endif",
    "invalid-pragma": '_Pragma("OPENCL FP_CONTRACT OFF")\nconstant int x = 1;',
    "expected-declaration": "int f() { return 1; }",
    "expected-expression": "int f() { return 1 + 2; }",
    "expected-identifier": "void f() { goto end; end: return; }",
    "expected-semicolon": "void f(int x) { x = 1; }",
    "expected-statement": "void f(int x) { if (x) return; }",
    "unmatched-bracket": "int f(int x) { return (x + 1); }",
    "missing-type": "void f() { const int x = 1; }",
    "syntax-error": "void f(int x) { if (x) x = 0; else x = 1; }",
    "unsupported-cpp": "struct S { int n; };",
    "error-limit": "int f(int a, int b) { return a + b; }",
}

# code -> what to do, if the example has no fix in the source
ADVICE = {
    "coop-mat-narrow": "Convert the matrix to a wider component type, such as `half`, and apply the operation "
    "to the result.",
    "coop-mat-extension-off": "Remove the option `-cl-ext=-cl_khr_cooperative_matrix`, or the pragma that disables the "
    "extension.",
    "coop-mat-target-mul-add": "Use a multiply-add that `coopmat devices` lists for the device. Or choose the route "
    "`lanes` (`--matrices lanes`), which supports all multiply-adds.",
    "native-matrix": "Choose a route that does not use SPIR-V's matrix instructions, such as `--matrices lanes`, "
    "or avoid the operation.",
    "matrix-type-part": "Pass a row or column with the element type of the matrix. A row has as many elements as the "
    "matrix has columns, and a column has as many elements as the matrix has rows.",
    "extension-off": "Enable the extension or the language version, or avoid the type or function that needs it. "
    "In the example, remove the option.",
    "binary-input": "Remove the NUL character. If the file is a SPIR-V module, use the option `-x spv` "
    "or the suffix `.spv`.",
    "invalid-utf8": "Save the file as UTF-8.",
    "line-too-long": "Divide the line into several lines. For example, write each row of a table on a separate line.",
    "error-directive": "Follow the instructions in the text of the directive.",
    "include-not-found": "Correct the name, or name the directory of the file with the option `-I`.",
    "include-unreadable": "Write the path of a file that the compiler may read, not of a directory.",
    "include-too-deep": "Protect the included file against a second inclusion: write `#ifndef NAME` and `#define NAME` "
    "at its beginning, and `#endif` at its end.",
    "invalid-include": 'Write the file\'s name in quotes or angle brackets: `#include "name.h"`.',
    "expansion-too-large": "Use a loop or a function instead of the macros, or raise the limit with `--budget NAME=N`. "
    "The message states NAME.",
    "expansion-too-deep": "Use a loop or a function instead of the macros.",
    "nesting-too-deep": "Store the values of inner expressions in variables.",
    "budget": "Simplify the source, or raise the limit with `--budget NAME=N`. The message states NAME.",
}
