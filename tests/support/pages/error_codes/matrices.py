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
        "the source uses cooperative matrices while their extension is off",
        "typedef float M __attribute__((coop_mat(memory_scope_sub_group, 16, 16, CLK_COOPERATIVE_MATRIX_A)));",
        ("-cl-ext=-cl_khr_cooperative_matrix",),
        bare=True,
    ),
    ErrorCode(
        "coop-mat-attribute",
        "the attribute `coop_mat` does not have 4 arguments, or is not applied to a variable, function or typedef",
        "typedef float M __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 16, 16)));\n"
        "struct MATRIX(16, 16, CLK_COOPERATIVE_MATRIX_A) S { int n; };",
    ),
    ErrorCode(
        "coop-mat-component",
        "the attribute `coop_mat` is applied to a type that cannot be the component type of a cooperative matrix",
        "typedef bool M MATRIX(16, 16, 0);",
    ),
    ErrorCode(
        "coop-mat-scope",
        "the scope of a matrix type is neither the subgroup nor the work-group",
        "typedef float M __attribute__((coop_mat(memory_scope_device, 16, 16, CLK_COOPERATIVE_MATRIX_A)));",
    ),
    ErrorCode(
        "coop-mat-shape",
        "the number of rows or columns of a matrix type is not a constant, or is not in the range from 1 to 1,048,575",
        "typedef float M __attribute__((coop_mat(memory_scope_sub_group, 16, 0, CLK_COOPERATIVE_MATRIX_A)));",
    ),
    ErrorCode(
        "coop-mat-use",
        "the use of a matrix type (the last argument of `coop_mat`) is not A, B or accumulator",
        "typedef float M __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 16, 16, 3)));",
    ),
    # Where matrices may be.
    ErrorCode("coop-mat-kernel-parameter", "a cooperative matrix is a parameter of a kernel", "kernel void k(C c) { }"),
    ErrorCode("coop-mat-file-scope", "a cooperative matrix is declared outside of functions", "C c;"),
    ErrorCode(
        "coop-mat-address-space",
        "a cooperative matrix is declared in an address space other than private",
        "kernel void k() { local C c; }",
    ),
    ErrorCode("coop-mat-union", "a cooperative matrix is a member of a union", "union U { C c; int n; };"),
    ErrorCode(
        "coop-mat-opaque",
        "an operator such as `sizeof` is applied to a cooperative matrix, which has no size",
        "int f(C c) { return sizeof(c); }",
    ),
    ErrorCode(
        "coop-mat-pointer",
        "a pointer to a cooperative matrix is converted to a pointer to another type, or the reverse",
        "float f(C *c) { return *(float *)c; }",
    ),
    # What makes one.
    ErrorCode(
        "coop-mat-no-target",
        "nothing around a call, such as an assignment, determines the matrix type of the call's result",
        "void f(global float *p) { coop_mat_load(p, ROW_MAJOR, 32); }",
    ),
    ErrorCode(
        "coop-mat-mismatch",
        "a value does not have the type that its context needs, and one of the two types is a cooperative matrix",
        "void f(C c, D d, I i, float x)\n{\n    x = coop_mat_init(0);\n    c = d;\n    c = i;\n    c = x;\n}",
    ),
    ErrorCode(
        "coop-mat-init",
        "the argument of `coop_mat_init` is not an arithmetic scalar",
        "void f(float4 v) { C c = coop_mat_init(v); }",
    ),
    ErrorCode(
        "coop-mat-conversion",
        "a conversion would change the scope or shape of a matrix, or is between a matrix and a scalar",
        "void f(C c, D d) { c = (C)d; float x = (float)c; }",
    ),
    ErrorCode(
        "coop-mat-saturation",
        "a saturating conversion (`coop_mat_convert_sat`) has a result with floating-point components",
        "void f(C c, I i) { c = coop_mat_convert_sat(i); }",
    ),
    # Memory.
    ErrorCode(
        "coop-mat-pointee",
        "the pointer argument of a load or store does not point to the component type of the matrix",
        "void f(global int *p) { C c = coop_mat_load(p, ROW_MAJOR, 32); }",
    ),
    ErrorCode(
        "coop-mat-const-store",
        "a store goes through a pointer to read-only memory",
        "void f(const global float *p, C c) { coop_mat_store(p, c, ROW_MAJOR, 32); }",
    ),
    ErrorCode(
        "coop-mat-layout",
        "the layout argument of a load or store is not a constant, or is not one of the layout enumerators",
        "void f(global float *p, int n) { C c = coop_mat_load(p, n, 32); }",
    ),
    ErrorCode(
        "coop-mat-invalid-stride",
        "the stride argument of a load or store is not an integer, or is a negative constant",
        "void f(global float *p) { C c = coop_mat_load(p, ROW_MAJOR, 32.0f); }",
    ),
    ErrorCode(
        "coop-mat-bounds",
        "a row, column or size in a checked load or store is not an integer, or is a constant out of the range of uint",
        "void f(global float *p) { C c = coop_mat_load_checked(p, ROW_MAJOR, 32, 0, -1, 100, 1.5f); }",
    ),
    # The multiply-add.
    ErrorCode(
        "coop-mat-not-a-matrix",
        "an argument that must be a cooperative matrix has another type",
        "void f(A a, C c, float b) { c = coop_mat_mulAdd(a, b, c); }",
    ),
    ErrorCode(
        "coop-mat-wrong-use",
        "a matrix has another use (A, B or accumulator) than its position among the operands requires",
        "void f(A a, B b, C c) { c = coop_mat_mulAdd(b, a, c); }",
    ),
    ErrorCode(
        "coop-mat-shapes",
        "the shapes of the operands of a multiply-add do not match: A is M x K, B is K x N, the accumulator is M x N",
        "void f(A a, B b, D d) { d = coop_mat_mulAdd(a, b, d); }",
    ),
    ErrorCode(
        "coop-mat-component-class",
        "a multiply-add mixes matrices of integers with matrices of floating-point numbers",
        "void f(A a, B b, I i) { i = coop_mat_mulAdd(a, b, i); }",
    ),
    ErrorCode(
        "coop-mat-narrow",
        "an operator, builtin or reduction is applied to a matrix whose component type has fewer than 8 bits",
        "typedef floate2m1_t E MATRIX(16, 8, CLK_COOPERATIVE_MATRIX_A);\nvoid f(E e) { e = e + e; }",
    ),
    ErrorCode(
        "coop-mat-operands",
        "the operand mask of a multiply-add is not a constant, or has bits that are undefined or do not fit the types",
        "void f(A a, B b, C c, int n) { c = coop_mat_mulAdd(a, b, c, n); }",
    ),
    # Operators and components.
    ErrorCode(
        "coop-mat-operator",
        "an operator is applied to a cooperative matrix, but does not accept it or the other operand's type",
        "void f(C c, float4 v) { c = c / v; c = c & c; }",
    ),
    ErrorCode(
        "coop-mat-operand-types",
        "the operands of an operator have different matrix types",
        "void f(C c, D d) { c = c + d; }",
    ),
    ErrorCode("coop-mat-condition", "a cooperative matrix is used as a condition", "void f(C c) { if (c) return; }"),
    ErrorCode(
        "coop-mat-index",
        "the index of a component is not an integer, or is a constant out of range",
        "float f(C c) { return c[-1] + c[512] + c[1.0f]; }",
    ),
    ErrorCode(
        "array-bounds",
        "a constant index is outside of the bounds of an array of matrices",
        "void f(C c) { C k[2]; k[2] = c; }",
    ),
    ErrorCode(
        "coop-mat-element-address",
        "the source takes the address of a component of a cooperative matrix",
        "void f(C c) { float *p = &c[0]; }",
    ),
    # Functions of components.
    ErrorCode(
        "coop-mat-builtin",
        "a builtin is called with a matrix but does not accept matrices, "
        "or another argument of that call is neither a matrix nor a scalar",
        "void f(C c, float4 v) { c = isnan(c); c = fmax(c, v); }",
    ),
    ErrorCode(
        "coop-mat-function",
        "the function operand of an operation such as `coop_mat_map` is not the bare name of a function, "
        "or names a kernel",
        "float f(uint row, uint column);\nkernel void k(float x) { C c = coop_mat_build(&f); c = coop_mat_map(c, x); }",
    ),
    ErrorCode(
        "coop-mat-function-type",
        "the function that is passed to an operation such as `coop_mat_map` has an unsuitable parameter or result type",
        "float f(int row, uint column) { return row; }\nvoid g() { C c = coop_mat_build(f); }",
    ),
    ErrorCode(
        "coop-mat-function-effect",
        "the function that is passed to an operation such as `coop_mat_map` has a side effect, "
        "for example a store to memory",
        "float f(uint row, uint column, global float *p) { return p[row] = column; }\n"
        "void g(global float *p) { C c = coop_mat_build(f, p); }",
    ),
    ErrorCode(
        "coop-mat-reduce",
        "the second operand of `coop_mat_reduce` is no valid kind of reduction, or a matrix type does not fit the kind",
        "float sum(float x, float y) { return x + y; }\n"
        "void f(C c, int n)\n{\n    c = coop_mat_reduce(c, n, sum);\n"
        "    D d = coop_mat_reduce(c, CLK_COOPERATIVE_MATRIX_REDUCE_COLUMN, sum);\n}",
    ),
    ErrorCode(
        "coop-mat-scaled",
        "in a scaled multiply-add, a matrix has an unsuitable component type, or a pointer to scales has a wrong type",
        "void f(A a, B b, C c, const global uchar *s) { c = coop_mat_mulAdd_scaled(a, s, 1, b, s, 1, c); }",
    ),
    ErrorCode(
        "coop-mat-print",
        "the name that `coop_mat_print` prints is not a string literal, or the version of OpenCL C has no `printf`",
        "void f(C c, constant char *name) { coop_mat_print(c, name); }",
    ),
    ErrorCode(
        "coop-mat-work-group-size",
        "a kernel has matrices with the scope work-group, but no attribute `reqd_work_group_size`",
        "kernel void k(global float *p)\n{\n"
        "    float m __attribute__((coop_mat(memory_scope_work_group, 16, 16, CLK_COOPERATIVE_MATRIX_A)));\n"
        "    m = coop_mat_load(p, ROW_MAJOR, 16);\n"
        "    coop_mat_store(p, m, ROW_MAJOR, 16);\n}",
    ),
    # Devices and lowerings.
    ErrorCode(
        "coop-mat-target-type",
        "the device does not support a matrix type of the source",
        "kernel void k(global float *p) { D d = coop_mat_load(p, ROW_MAJOR, 16); }",
        ("--matrix-variants", "16x32x8.f16xf16_f32_f32.nosat"),
    ),
    ErrorCode(
        "coop-mat-target-mul-add",
        "the device supports each matrix type of a multiply-add, but has no multiply-add for this combination of types",
        "void f(A a, B b, C c) { c = coop_mat_mulAdd(a, b, c); }",
        ("--matrix-variants", "16x32x8.f16xf16_f16_f16.nosat 16x32x16.f16xf16_f32_f32.nosat"),
    ),
    ErrorCode(
        "coop-mat-target-stride",
        "a stride is not a multiple of the number of bytes that the device requires (`--matrix-stride-multiple`)",
        "void f(global float *p) { C c = coop_mat_load(p, ROW_MAJOR, 33); }",
        ("--matrix-stride-multiple", "16"),
    ),
    ErrorCode(
        "coop-mat-target-pointer",
        "the address of a matrix lacks the alignment that the device requires (`--matrix-pointer-alignment`)",
        "kernel void k(uint i)\n{\n    local float tile[1024];\n"
        "    C c = coop_mat_load(tile + 1 + i * 4, ROW_MAJOR, 32);\n}",
        ("--matrix-pointer-alignment", "16"),
    ),
    ErrorCode(
        "matrix-between-programs",
        "a called function, which another program must define, has a matrix as a parameter or result",
        "C square(C);\nkernel void k(global float *p)\n{\n"
        "    coop_mat_store(p, square(coop_mat_init(1.0f)), ROW_MAJOR, 32);\n}",
        ("-c",),
    ),
    ErrorCode(
        "native-matrix",
        "the route `native` has no SPIR-V matrix instruction for an operation; other routes support the operation",
        "kernel void k(global uint2 *out, uint i)\n{\n    out[0] = coop_mat_coord(C, i);\n}",
        ("--matrices", "native"),
    ),
)
