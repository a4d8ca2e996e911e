"""Errors about names, types, declarations, expressions and statements."""

from __future__ import annotations

from .rows import ErrorCode

LANGUAGE: tuple[ErrorCode, ...] = (
    ErrorCode(
        "not-supported",
        "OpenCL C has it, or another compiler; this one does not have it yet",
        'void f(void) { asm("nop"); }',
    ),
    ErrorCode(
        "extension-off",
        "an extension or a version of the language that is off",
        "double f(double x) { return x; }",
        ("-cl-ext=-cl_khr_fp64",),
    ),
    ErrorCode(
        "spirv-version",
        "a builtin that needs a newer SPIR-V",
        "kernel void k(global int *p) { p[0] = sub_group_elect(); }",
        ("--spirv-version", "1.2"),
    ),
    # Names.
    ErrorCode("undeclared-identifier", "no such name", "size_t f() { return get_globl_id(0) + lenght; }"),
    ErrorCode("unknown-type", "no such type", "flaot f() { return 1; }"),
    ErrorCode("redefinition", "a name has two meanings", "int f(int n) { float n = 1; return n; }"),
    ErrorCode("undefined-function", "a function that is called has no body", "int g(int);\nint f() { return g(1); }"),
    ErrorCode("undefined-variable", "a variable is declared only", "extern constant int n;\nint f() { return n; }"),
    ErrorCode("undeclared-label", "a goto without its label", "void f() { goto end; }"),
    ErrorCode("unexpected-type", "a type where a value is needed", "float f() { return sqrt(float); }"),
    ErrorCode("wrong-tag", "a struct that is a union, or an enumeration", "struct S { int n; };\nunion S u;"),
    # Types.
    ErrorCode("invalid-type", "words that make no type, or elements that no array has", "unsigned float f();"),
    ErrorCode("incomplete-type", "a type whose size is not known", "void f() { struct S s; }"),
    ErrorCode("access-qualifier", "read_only and the like for what is no image", "void f(read_only int n) { }"),
    ErrorCode(
        "attribute",
        "an attribute whose arguments make no sense",
        "kernel __attribute__((reqd_work_group_size(8))) void k() { }",
    ),
    ErrorCode("restrict", "restrict for what is no pointer", "void f(int restrict n) { }"),
    ErrorCode("array-size", "an array cannot have so many elements", "void f() { int a[-1]; }"),
    ErrorCode("bit-field", "OpenCL C has no bit-fields", "struct S { int n : 3; };"),
    ErrorCode("enumerator-range", "a value that no enumerator can have", "enum { BIG = 0xffffffffffffffff, BIGGER };"),
    ErrorCode("function-pointer", "functions can only be called", "void f() { }\nvoid g() { void *p = f; }"),
    ErrorCode("function-declarator", "a function by a typedef's name", "typedef int F(int);\nF f;"),
    ErrorCode("variadic", "OpenCL C has no variadic functions", "void f(int n, ...) { }"),
    # Declarations.
    ErrorCode(
        "address-space",
        "an address space that cannot be here, or does not fit",
        "void f(global int *g, local int *l) { g = l; }",
    ),
    ErrorCode(
        "atomic-initializer",
        "an atomic object starts with a value where it cannot",
        "void f(global int *p) { atomic_int a = 1; }",
    ),
    ErrorCode("sampler-address-space", "a sampler in memory that holds none", "global sampler_t s = 0;"),
    ErrorCode(
        "sampler-initializer", "a sampler needs a constant made of the CLK_ macros", "constant sampler_t s = 1.5f;"
    ),
    ErrorCode("invalid-initializer", "an initial value of the wrong form", "void f() { int a[2] = 1; }"),
    ErrorCode("static-assert", "a static assertion does not hold", '_Static_assert(sizeof(int) == 8, "64 bits");'),
    ErrorCode(
        "not-constant",
        "a value that must be known when the program is built",
        "int f(int n) { int a[n]; return a[0]; }",
    ),
    ErrorCode("pragma", "a pragma that makes no sense", "#pragma OPENCL FP_CONTRACT MAYBE\nvoid f() { }"),
    # Kernels and functions.
    ErrorCode("kernel-parameter", "a type that the host cannot pass", "kernel void k(bool b, int *p) { }"),
    ErrorCode("kernel-result", "a kernel returns nothing", "kernel int k() { return 1; }"),
    ErrorCode("kernel-static", "a kernel is there for the host", "static kernel void k() { }"),
    ErrorCode(
        "recursion",
        "a function that calls itself",
        "int f(int n);\nint g(int n) { return f(n); }\nint f(int n) { return g(n); }",
    ),
    ErrorCode(
        "return-type",
        "a value returned where there is none, or none where there is one",
        "void f() { return 1; }\nint g() { return; }",
    ),
    # Calls.
    ErrorCode("not-a-function", "what is called is no function", "void f(int n) { n(1); }"),
    ErrorCode(
        "argument-count", "too many arguments, or too few", "int g(int a) { return a; }\nint f() { return g(1, 2); }"
    ),
    ErrorCode(
        "no-matching-function", "no overload takes these arguments", "float f(global int *p) { return sqrt(p); }"
    ),
    ErrorCode("ambiguous-call", "several overloads fit as well", "float f(int n) { return pow(n, 2); }"),
    ErrorCode("void-value", "nothing as an argument", "void g() { }\nfloat f() { return sqrt(g()); }"),
    # Conversions.
    ErrorCode(
        "incompatible-types",
        "no implicit conversion",
        "struct S { int n; };\nint f(struct S s) { int n = s; return n; }",
    ),
    ErrorCode("invalid-cast", "no explicit conversion", "int4 f(float4 v) { return (int4)v; }"),
    ErrorCode("invalid-condition", "neither true nor false", "void f(float4 v) { if (v) return; }"),
    ErrorCode("invalid-index", "an index that is no integer", "int f(int *p) { return p[1.5f]; }"),
    # Operators.
    ErrorCode(
        "invalid-operands", "operands that the operator does not take", "float4 f(float4 a, float3 b) { return a + b; }"
    ),
    ErrorCode("vector-literal", "parts that do not make the vector", "float4 f(float2 v) { return (float4)(v, 1); }"),
    ErrorCode("vector-subscript", "a vector has no such component", "float f(float4 v) { return v[4]; }"),
    ErrorCode("swizzle", "no such components", "float f(float2 v) { return v.z; }"),
    ErrorCode("duplicate-swizzle", "one component is assigned to twice", "void f(float4 v) { v.xx = 1; }"),
    ErrorCode("no-member", "no such member", "struct S { int width; };\nint f(struct S s) { return s.widht; }"),
    ErrorCode("member-of-pointer", "`.` behind a pointer", "struct S { int n; };\nint f(struct S *s) { return s.n; }"),
    ErrorCode("not-subscriptable", "neither an array nor a pointer", "int f(int n) { return n[0][0]; }"),
    ErrorCode("not-an-lvalue", "a value where an object is needed", "void f(int n) { (n + 1)++; }"),
    ErrorCode("not-assignable", "arrays are not assigned", "void f() { int a[2], b[2]; a = b; }"),
    ErrorCode("read-only", "an object that cannot be changed", "void f(const int n) { n = 1; }"),
    ErrorCode(
        "generic-selection", "no association fits, or two do", "int f(float x) { return _Generic(x, int: 1, long: 2); }"
    ),
    # Statements.
    ErrorCode("duplicate-case", "two equal labels in a switch", "void f(int n) { switch (n) { case 1: case 1: ; } }"),
    ErrorCode("outside-loop", "break or continue outside of loops", "void f() { continue; }"),
    ErrorCode("outside-switch", "case or default outside of a switch", "void f() { default: ; }"),
    ErrorCode(
        "vulkan",
        "modules for Vulkan cannot have this",
        "global int count;\nkernel void k(global int *out)\n{\n    out[0] = count;\n}",
        ("--target-env", "vulkan1.3"),
    ),
)
