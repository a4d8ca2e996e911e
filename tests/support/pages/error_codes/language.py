"""Errors about names, types, declarations, expressions and statements."""

from __future__ import annotations

from .rows import ErrorCode

LANGUAGE: tuple[ErrorCode, ...] = (
    ErrorCode(
        "not-supported",
        "the source uses a feature of OpenCL C, or of another compiler, that this compiler does not support yet",
        'void f(void) { asm("nop"); }',
    ),
    ErrorCode(
        "extension-off",
        "the source needs an extension or a language version that is not enabled",
        "double f(double x) { return x; }",
        ("-cl-ext=-cl_khr_fp64",),
    ),
    ErrorCode(
        "spirv-version",
        "a builtin needs a newer version of SPIR-V",
        "kernel void k(global int *p) { p[0] = sub_group_elect(); }",
        ("--spirv-version", "1.2"),
    ),
    # Names.
    ErrorCode("undeclared-identifier", "the name is not declared", "size_t f() { return get_globl_id(0) + lenght; }"),
    ErrorCode("unknown-type", "no type has this name", "flaot f() { return 1; }"),
    ErrorCode(
        "redefinition", "a name is declared again with another meaning", "int f(int n) { float n = 1; return n; }"
    ),
    ErrorCode("undefined-function", "a function that is called has no body", "int g(int);\nint f() { return g(1); }"),
    ErrorCode(
        "undefined-variable",
        "a variable is declared, but never defined",
        "extern constant int n;\nint f() { return n; }",
    ),
    ErrorCode("undeclared-label", "a goto names a label that the function does not have", "void f() { goto end; }"),
    ErrorCode("unexpected-type", "a type occurs where a value is needed", "float f() { return sqrt(float); }"),
    ErrorCode(
        "wrong-tag",
        "a struct, union or enum is named with another of these three keywords than in its declaration",
        "struct S { int n; };\nunion S u;",
    ),
    # Types.
    ErrorCode(
        "invalid-type",
        "a sequence of keywords does not form a type, or a type is not allowed as an array element or function result",
        "unsigned float f();",
    ),
    ErrorCode(
        "incomplete-type",
        "a declaration or expression needs the size of a type, but this size is not known",
        "void f() { struct S s; }",
    ),
    ErrorCode(
        "access-qualifier",
        "an access qualifier such as `read_only` is applied to a type that is not an image",
        "void f(read_only int n) { }",
    ),
    ErrorCode(
        "attribute",
        "an attribute has invalid arguments",
        "kernel __attribute__((reqd_work_group_size(8))) void k() { }",
    ),
    ErrorCode("restrict", "`restrict` is applied to a type that is not a pointer", "void f(int restrict n) { }"),
    ErrorCode("array-size", "an array cannot have this number of elements", "void f() { int a[-1]; }"),
    ErrorCode("bit-field", "OpenCL C has no bit-fields", "struct S { int n : 3; };"),
    ErrorCode(
        "enumerator-range",
        "an enumerator has a value that no enumeration can have",
        "enum { BIG = 0xffffffffffffffff, BIGGER };",
    ),
    ErrorCode(
        "function-pointer",
        "the name of a function is used without a call, but OpenCL C has no pointers to functions",
        "void f() { }\nvoid g() { void *p = f; }",
    ),
    ErrorCode(
        "function-declarator",
        "a function is declared by a typedef of a function type, without a list of parameters",
        "typedef int F(int);\nF f;",
    ),
    ErrorCode("variadic", "OpenCL C has no variadic functions", "void f(int n, ...) { }"),
    # Declarations.
    ErrorCode(
        "address-space",
        "a declaration has an address space that is not allowed, or the address spaces of two pointers do not match",
        "void f(global int *g, local int *l) { g = l; }",
    ),
    ErrorCode(
        "atomic-initializer",
        "an atomic object has an initial value, but is not in global memory",
        "void f(global int *p) { atomic_int a = 1; }",
    ),
    ErrorCode(
        "sampler-address-space",
        "a sampler is declared in an address space that cannot hold samplers",
        "global sampler_t s = 0;",
    ),
    ErrorCode(
        "sampler-initializer",
        "the initial value of a sampler is not a constant made of the `CLK_` macros",
        "constant sampler_t s = 1.5f;",
    ),
    ErrorCode(
        "invalid-initializer",
        "an initial value does not have the form that the type of the variable requires",
        "void f() { int a[2] = 1; }",
    ),
    ErrorCode(
        "static-assert", "the condition of a static assertion is false", '_Static_assert(sizeof(int) == 8, "64 bits");'
    ),
    ErrorCode(
        "not-constant",
        "the language requires a constant expression, but the expression is not constant",
        "int f(int n) { int a[n]; return a[0]; }",
    ),
    ErrorCode("pragma", "the arguments of a pragma are invalid", "#pragma OPENCL FP_CONTRACT MAYBE\nvoid f() { }"),
    # Kernels and functions.
    ErrorCode(
        "kernel-parameter",
        "a parameter of a kernel has a type that the host program cannot pass",
        "kernel void k(bool b, int *p) { }",
    ),
    ErrorCode("kernel-result", "the result type of a kernel is not void", "kernel int k() { return 1; }"),
    ErrorCode(
        "kernel-static",
        "a kernel is declared `static`, but a kernel must be visible to the host program",
        "static kernel void k() { }",
    ),
    ErrorCode(
        "recursion",
        "a function calls itself, directly or through other functions",
        "int f(int n);\nint g(int n) { return f(n); }\nint f(int n) { return g(n); }",
    ),
    ErrorCode(
        "return-type",
        "a function with the result type void returns a value, or a function with another result type returns no value",
        "void f() { return 1; }\nint g() { return; }",
    ),
    # Calls.
    ErrorCode("not-a-function", "the called name is not a function", "void f(int n) { n(1); }"),
    ErrorCode(
        "argument-count",
        "a call has too many or too few arguments",
        "int g(int a) { return a; }\nint f() { return g(1, 2); }",
    ),
    ErrorCode(
        "no-matching-function",
        "no overload of the function accepts the types of the arguments",
        "float f(global int *p) { return sqrt(p); }",
    ),
    ErrorCode(
        "ambiguous-call", "several overloads match the arguments equally well", "float f(int n) { return pow(n, 2); }"
    ),
    ErrorCode("void-value", "an argument has the type void", "void g() { }\nfloat f() { return sqrt(g()); }"),
    # Conversions.
    ErrorCode(
        "incompatible-types",
        "no implicit conversion exists between the two types",
        "struct S { int n; };\nint f(struct S s) { int n = s; return n; }",
    ),
    ErrorCode("invalid-cast", "a cast cannot convert between the two types", "int4 f(float4 v) { return (int4)v; }"),
    ErrorCode(
        "invalid-condition",
        "a condition has a type that is neither true nor false",
        "void f(float4 v) { if (v) return; }",
    ),
    ErrorCode("invalid-index", "an index is not an integer", "int f(int *p) { return p[1.5f]; }"),
    # Operators.
    ErrorCode(
        "invalid-operands",
        "the operator does not accept operands of these types",
        "float4 f(float4 a, float3 b) { return a + b; }",
    ),
    ErrorCode(
        "vector-literal",
        "a vector literal has too many or too few components, or a part that cannot be in the vector",
        "float4 f(float2 v) { return (float4)(v, 1); }",
    ),
    ErrorCode("vector-subscript", "the vector has no component with this index", "float f(float4 v) { return v[4]; }"),
    ErrorCode("swizzle", "the vector has no components with these names", "float f(float2 v) { return v.z; }"),
    ErrorCode(
        "duplicate-swizzle", "an assignment names a component of a vector twice", "void f(float4 v) { v.xx = 1; }"
    ),
    ErrorCode(
        "no-member",
        "the struct or union has no member with this name",
        "struct S { int width; };\nint f(struct S s) { return s.widht; }",
    ),
    ErrorCode(
        "member-of-pointer",
        "`.` follows a pointer, which needs `->`",
        "struct S { int n; };\nint f(struct S *s) { return s.n; }",
    ),
    ErrorCode(
        "not-subscriptable",
        "a subscript follows a value that is neither an array nor a pointer",
        "int f(int n) { return n[0][0]; }",
    ),
    ErrorCode(
        "not-an-lvalue",
        "an operator requires an object (an lvalue) as operand, but the operand is only a value",
        "void f(int n) { (n + 1)++; }",
    ),
    ErrorCode("not-assignable", "an array is assigned to as a whole", "void f() { int a[2], b[2]; a = b; }"),
    ErrorCode("read-only", "the source changes an object that is read-only", "void f(const int n) { n = 1; }"),
    ErrorCode(
        "generic-selection",
        "no association of `_Generic` matches, or two associations match",
        "int f(float x) { return _Generic(x, int: 1, long: 2); }",
    ),
    # Statements.
    ErrorCode(
        "duplicate-case",
        "two case labels of a switch have the same value",
        "void f(int n) { switch (n) { case 1: case 1: ; } }",
    ),
    ErrorCode("outside-loop", "`break` or `continue` occurs outside of loops", "void f() { continue; }"),
    ErrorCode("outside-switch", "`case` or `default` occurs outside of a switch", "void f() { default: ; }"),
    ErrorCode(
        "vulkan",
        "the source uses a feature that a module for Vulkan cannot contain",
        "global int count;\nkernel void k(global int *out)\n{\n    out[0] = count;\n}",
        ("--target-env", "vulkan1.3"),
    ),
)
