"""Errors about cooperative matrices."""

from __future__ import annotations

from .rows import ErrorCode

PRELUDE = """\
#define MATRIX(rows, columns, use) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, use)))
#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef half A MATRIX(16, 8, CLK_COOPERATIVE_MATRIX_A);
typedef half B MATRIX(8, 32, CLK_COOPERATIVE_MATRIX_B);
typedef float C MATRIX(16, 32, CLK_COOPERATIVE_MATRIX_ACCUMULATOR);
typedef float D MATRIX(16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR);
typedef int I MATRIX(16, 32, CLK_COOPERATIVE_MATRIX_ACCUMULATOR);
"""

MATRICES: tuple[ErrorCode, ...] = (
    # The type.
    ErrorCode(
        "coop-mat-extension-off",
        "cooperative matrices are used while their extension is off",
        "typedef float M __attribute__((coop_mat(memory_scope_sub_group, 16, 16, CLK_COOPERATIVE_MATRIX_A)));",
        ("-cl-ext=-cl_khr_cooperative_matrix",),
        bare=True,
    ),
    ErrorCode(
        "coop-mat-attribute",
        "the type attribute does not have its four arguments, or stands where no component type is",
        "typedef float M __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 16, 16)));\n"
        "struct MATRIX(16, 16, CLK_COOPERATIVE_MATRIX_A) S { int n; };",
    ),
    ErrorCode("coop-mat-component", "no component can be of this type", "typedef bool M MATRIX(16, 16, 0);"),
    ErrorCode(
        "coop-mat-scope",
        "the scope is neither the subgroup nor the work-group",
        "typedef float M __attribute__((coop_mat(memory_scope_device, 16, 16, CLK_COOPERATIVE_MATRIX_A)));",
    ),
    ErrorCode(
        "coop-mat-shape",
        "the number of rows or columns is no constant, or out of range",
        "typedef float M __attribute__((coop_mat(memory_scope_sub_group, 16, 0, CLK_COOPERATIVE_MATRIX_A)));",
    ),
    ErrorCode(
        "coop-mat-use",
        "the use is none of the three",
        "typedef float M __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 16, 16, 3)));",
    ),
    # Where matrices may be.
    ErrorCode("coop-mat-kernel-parameter", "a kernel takes no matrix", "kernel void k(C c) { }"),
    ErrorCode("coop-mat-file-scope", "a matrix outside of functions", "C c;"),
    ErrorCode("coop-mat-address-space", "a matrix outside of private memory", "kernel void k() { local C c; }"),
    ErrorCode("coop-mat-union", "a matrix as a member of a union", "union U { C c; int n; };"),
    ErrorCode("coop-mat-opaque", "what only a type with a size has", "int f(C c) { return sizeof(c); }"),
    ErrorCode(
        "coop-mat-pointer",
        "another view of a matrix's memory, or of other memory as a matrix",
        "float f(C *c) { return *(float *)c; }",
    ),
    # What makes one.
    ErrorCode(
        "coop-mat-no-target",
        "the matrix type of the call does not follow from where it stands",
        "void f(global float *p) { coop_mat_load(p, ROW_MAJOR, 32); }",
    ),
    ErrorCode(
        "coop-mat-mismatch",
        "a matrix where something else is wanted, or the other way round, or another matrix type",
        "void f(C c, D d, I i, float x)\n{\n    x = coop_mat_init(0);\n    c = d;\n    c = i;\n    c = x;\n}",
    ),
    ErrorCode(
        "coop-mat-init", "the value for all components is no scalar", "void f(float4 v) { C c = coop_mat_init(v); }"
    ),
    ErrorCode(
        "coop-mat-conversion",
        "a conversion that would change more than the components and the use",
        "void f(C c, D d) { c = (C)d; float x = (float)c; }",
    ),
    ErrorCode(
        "coop-mat-saturation",
        "saturation to floating-point components",
        "void f(C c, I i) { c = coop_mat_convert_sat(i); }",
    ),
    # Memory.
    ErrorCode(
        "coop-mat-pointee",
        "a load or store does not go through a pointer to the component type",
        "void f(global int *p) { C c = coop_mat_load(p, ROW_MAJOR, 32); }",
    ),
    ErrorCode(
        "coop-mat-const-store",
        "a store to what is read-only",
        "void f(const global float *p, C c) { coop_mat_store(p, c, ROW_MAJOR, 32); }",
    ),
    ErrorCode(
        "coop-mat-layout",
        "the layout is no constant, or none of the layouts",
        "void f(global float *p, int n) { C c = coop_mat_load(p, n, 32); }",
    ),
    ErrorCode(
        "coop-mat-invalid-stride",
        "the stride is no integer, or a negative constant",
        "void f(global float *p) { C c = coop_mat_load(p, ROW_MAJOR, 32.0f); }",
    ),
    ErrorCode(
        "coop-mat-bounds",
        "a place or an extent of a checked access is no uint",
        "void f(global float *p) { C c = coop_mat_load_checked(p, ROW_MAJOR, 32, 0, -1, 100, 1.5f); }",
    ),
    # The multiply-add.
    ErrorCode(
        "coop-mat-not-a-matrix",
        "the argument is no matrix",
        "void f(A a, C c, float b) { c = coop_mat_mulAdd(a, b, c); }",
    ),
    ErrorCode(
        "coop-mat-wrong-use",
        "a matrix of another use than its place among the operands says",
        "void f(A a, B b, C c) { c = coop_mat_mulAdd(b, a, c); }",
    ),
    ErrorCode(
        "coop-mat-shapes",
        "rows and columns of the operands do not fit",
        "void f(A a, B b, D d) { d = coop_mat_mulAdd(a, b, d); }",
    ),
    ErrorCode(
        "coop-mat-component-class",
        "integers together with floating point",
        "void f(A a, B b, I i) { i = coop_mat_mulAdd(a, b, i); }",
    ),
    ErrorCode(
        "coop-mat-narrow",
        "an operation that matrices of types of fewer than 8 bits do not have",
        "typedef floate2m1_t E MATRIX(16, 8, CLK_COOPERATIVE_MATRIX_A);\nvoid f(E e) { e = e + e; }",
    ),
    ErrorCode(
        "coop-mat-operands",
        "the operand mask is no constant, or has bits that mean nothing",
        "void f(A a, B b, C c, int n) { c = coop_mat_mulAdd(a, b, c, n); }",
    ),
    # Operators and components.
    ErrorCode(
        "coop-mat-operator", "an operator that matrices do not have", "void f(C c, float4 v) { c = c / v; c = c & c; }"
    ),
    ErrorCode(
        "coop-mat-operand-types", "the operands are of different matrix types", "void f(C c, D d) { c = c + d; }"
    ),
    ErrorCode("coop-mat-condition", "a matrix is neither true nor false", "void f(C c) { if (c) return; }"),
    ErrorCode(
        "coop-mat-index",
        "what chooses a component is no integer, or a constant out of range",
        "float f(C c) { return c[-1] + c[512] + c[1.0f]; }",
    ),
    ErrorCode("array-bounds", "an array of matrices has no such element", "void f(C c) { C k[2]; k[2] = c; }"),
    ErrorCode("coop-mat-element-address", "the address of a component", "void f(C c) { float *p = &c[0]; }"),
    # Functions of components.
    ErrorCode(
        "coop-mat-builtin",
        "a builtin that is not calculated component by component, or an operand that is neither matrix nor scalar",
        "void f(C c, float4 v) { c = isnan(c); c = fmax(c, v); }",
    ),
    ErrorCode(
        "coop-mat-function",
        "an operand is not the name of a function, or of a kernel",
        "float f(uint row, uint column);\nkernel void k(float x) { C c = coop_mat_build(&f); c = coop_mat_map(c, x); }",
    ),
    ErrorCode(
        "coop-mat-function-type",
        "a function as an operand has other parameters or another result than the operation wants",
        "float f(int row, uint column) { return row; }\nvoid g() { C c = coop_mat_build(f); }",
    ),
    ErrorCode(
        "coop-mat-function-effect",
        "a function as an operand does more than calculate a value of its arguments and of memory",
        "float f(uint row, uint column, global float *p) { return p[row] = column; }\n"
        "void g(global float *p) { C c = coop_mat_build(f, p); }",
    ),
    ErrorCode(
        "coop-mat-reduce",
        "the directions of a reduction are no constant or none of the four, or the sizes do not follow from them",
        "float sum(float x, float y) { return x + y; }\n"
        "void f(C c, int n)\n{\n    c = coop_mat_reduce(c, n, sum);\n"
        "    D d = coop_mat_reduce(c, CLK_COOPERATIVE_MATRIX_REDUCE_COLUMN, sum);\n}",
    ),
    ErrorCode(
        "coop-mat-scaled",
        "the components of a scaled multiply-add have other types, or a pointer is to no scales",
        "void f(A a, B b, C c, const global uchar *s) { c = coop_mat_mulAdd_scaled(a, s, 1, b, s, 1, c); }",
    ),
    ErrorCode(
        "coop-mat-print",
        "the name of a printed matrix is no string literal, or the language version has no printf",
        "void f(C c, constant char *name) { coop_mat_print(c, name); }",
    ),
    ErrorCode(
        "coop-mat-work-group-size",
        "a kernel has matrices of its work-group, and does not say how large that is",
        "kernel void k(global float *p)\n{\n"
        "    float m __attribute__((coop_mat(memory_scope_work_group, 16, 16, CLK_COOPERATIVE_MATRIX_A)));\n"
        "    m = coop_mat_load(p, ROW_MAJOR, 16);\n"
        "    coop_mat_store(p, m, ROW_MAJOR, 16);\n}",
    ),
    # Devices and lowerings.
    ErrorCode(
        "coop-mat-target-type",
        "a matrix type that the device does not have",
        "kernel void k(global float *p) { D d = coop_mat_load(p, ROW_MAJOR, 16); }",
        ("--matrix-variants", "16x32x8.f16xf16_f32_f32.nosat"),
    ),
    ErrorCode(
        "coop-mat-target-mul-add",
        "a multiply-add that the device does not have, though it has the types",
        "void f(A a, B b, C c) { c = coop_mat_mulAdd(a, b, c); }",
        ("--matrix-variants", "16x32x8.f16xf16_f16_f16.nosat 16x32x16.f16xf16_f32_f32.nosat"),
    ),
    ErrorCode(
        "coop-mat-target-stride",
        "a stride that is no multiple of what the device wants",
        "void f(global float *p) { C c = coop_mat_load(p, ROW_MAJOR, 33); }",
        ("--matrix-stride-multiple", "16"),
    ),
    ErrorCode(
        "coop-mat-target-pointer",
        "a matrix starts at an address that is no multiple of what the device wants",
        "kernel void k(uint i)\n{\n    local float tile[1024];\n"
        "    C c = coop_mat_load(tile + 1 + i * 4, ROW_MAJOR, 32);\n}",
        ("--matrix-pointer-alignment", "16"),
    ),
    ErrorCode(
        "matrix-between-programs",
        "a function of another program has matrices in its signature",
        "C square(C);\nkernel void k(global float *p)\n{\n"
        "    coop_mat_store(p, square(coop_mat_init(1.0f)), ROW_MAJOR, 32);\n}",
        ("-c",),
    ),
    ErrorCode(
        "native-matrix",
        "the instructions for matrices cannot do it; the other lowerings can",
        "kernel void k(global uint2 *out, uint i)\n{\n    out[0] = coop_mat_coord(C, i);\n}",
        ("--matrices", "native"),
    ),
)
