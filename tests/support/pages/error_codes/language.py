"""Errors about names, types, declarations, expressions and statements."""

from __future__ import annotations

from .rows import ErrorCode

LANGUAGE: tuple[ErrorCode, ...] = (
    ErrorCode(
        "not-supported",
        "the source uses a feature of OpenCL C that is not supported yet, "
        "or an unsupported extension of another compiler",
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
        "a builtin needs a newer version of SPIR-V than the selected version (`--spirv-version`)",
        "kernel void k(global int *p) { p[0] = sub_group_elect(); }",
        ("--spirv-version", "1.2"),
    ),
    # Names.
    ErrorCode(
        "undeclared-identifier",
        "the source uses a name that is not declared",
        "size_t f() { return get_globl_id(0) + lenght; }",
    ),
    ErrorCode(
        "unknown-type", "a name occurs where a type is needed, but no type has this name", "flaot f() { return 1; }"
    ),
    ErrorCode(
        "redefinition",
        "a name is defined twice in a scope, or is declared again with another type",
        "int f(int n) { float n = 1; return n; }",
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
        "a name is declared by one of the keywords `struct`, `union` and `enum`, but used with another of them",
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
        "an attribute has invalid arguments, or is not allowed at its position",
        "kernel __attribute__((reqd_work_group_size(8))) void k() { }",
    ),
    ErrorCode("restrict", "`restrict` is applied to a type that is not a pointer", "void f(int restrict n) { }"),
    ErrorCode(
        "array-size", "the number of elements of an array is not positive, or is too large", "void f() { int a[-1]; }"
    ),
    ErrorCode("bit-field", "a struct has a bit-field, which OpenCL C does not allow", "struct S { int n : 3; };"),
    ErrorCode(
        "enumerator-range",
        "no integer type can hold the value of an enumerator, or all values of an enumeration",
        "enum { BIG = 0xffffffffffffffff, BIGGER };",
    ),
    ErrorCode(
        "function-pointer",
        "the name of a function is used without a call, but OpenCL C has no pointers to functions",
        "void f() { }\nvoid g() { void *p = f; }",
    ),
    ErrorCode(
        "function-declarator",
        "a function is declared by the name of a function type, instead of by a result type and a list of parameters",
        "typedef int F(int);\nF f;",
    ),
    ErrorCode(
        "variadic",
        "a function has a variable number of arguments (`...`), which OpenCL C does not allow",
        "void f(int n, ...) { }",
    ),
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
        "a sampler has no initial value, or its value is not a combination of the `CLK_` macros for samplers",
        "constant sampler_t s = 1.5f;",
    ),
    ErrorCode(
        "invalid-initializer",
        "an initial value has a form that its variable's type does not allow, such as a number for a whole array",
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
    ErrorCode(
        "not-a-function",
        "the expression before the parentheses of a call is not the name of a function",
        "void f(int n) { n(1); }",
    ),
    ErrorCode(
        "argument-count",
        "a call has too many or too few arguments",
        "int g(int a) { return a; }\nint f() { return g(1, 2); }",
    ),
    ErrorCode(
        "no-matching-function",
        "no overload of a called function accepts the types of the call's arguments",
        "float f(global int *p) { return sqrt(p); }",
    ),
    ErrorCode(
        "ambiguous-call",
        "several overloads of a function match the arguments of a call equally well",
        "float f(int n) { return pow(n, 2); }",
    ),
    ErrorCode(
        "void-value",
        "an argument of a call is an expression of the type void",
        "void g() { }\nfloat f() { return sqrt(g()); }",
    ),
    # Conversions.
    ErrorCode(
        "incompatible-types",
        "a value's type does not convert implicitly to the type that is needed at its position",
        "struct S { int n; };\nint f(struct S s) { int n = s; return n; }",
    ),
    ErrorCode(
        "invalid-cast",
        "a cast cannot convert its operand to the type in the parentheses",
        "int4 f(float4 v) { return (int4)v; }",
    ),
    ErrorCode(
        "invalid-condition",
        "a condition has a type that cannot be tested, or `#if` or `#elif` has an invalid condition",
        "void f(float4 v) { if (v) return; }",
    ),
    ErrorCode(
        "invalid-index", "the index of an array or pointer is not an integer", "int f(int *p) { return p[1.5f]; }"
    ),
    # Operators.
    ErrorCode(
        "invalid-operands",
        "an operator does not accept the types of its operands",
        "float4 f(float4 a, float3 b) { return a + b; }",
    ),
    ErrorCode(
        "vector-literal",
        "a vector literal has too many or too few components, or a value of a type that cannot be part of the vector",
        "float4 f(float2 v) { return (float4)(v, 1); }",
    ),
    ErrorCode(
        "vector-subscript", "the index of a vector's component is out of range", "float f(float4 v) { return v[4]; }"
    ),
    ErrorCode(
        "swizzle",
        "the names of components after `.`, such as `z`, do not exist in the vector",
        "float f(float2 v) { return v.z; }",
    ),
    ErrorCode(
        "duplicate-swizzle", "an assignment names a component of a vector twice", "void f(float4 v) { v.xx = 1; }"
    ),
    ErrorCode(
        "no-member",
        "the name after `.` or `->` is not a member of the struct or union",
        "struct S { int width; };\nint f(struct S s) { return s.widht; }",
    ),
    ErrorCode(
        "member-of-pointer",
        "`.` follows a pointer to a struct or union; a pointer needs `->`",
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
    ErrorCode(
        "not-assignable",
        "an assignment changes a whole array, but only elements of an array can be assigned to",
        "void f() { int a[2], b[2]; a = b; }",
    ),
    ErrorCode("read-only", "the source changes an object that is read-only", "void f(const int n) { n = 1; }"),
    ErrorCode(
        "generic-selection",
        "no association of `_Generic` has the type of the controlling expression, "
        "or two associations have the same type",
        "int f(float x) { return _Generic(x, int: 1, long: 2); }",
    ),
    # Statements.
    ErrorCode(
        "duplicate-case",
        "two case labels of a switch have the same value, or a switch has two `default` labels",
        "void f(int n) { switch (n) { case 1: case 1: ; } }",
    ),
    ErrorCode(
        "outside-loop",
        "`continue` occurs outside of loops, or `break` outside of loops and switches",
        "void f() { continue; }",
    ),
    ErrorCode("outside-switch", "`case` or `default` occurs outside of a switch", "void f() { default: ; }"),
    ErrorCode(
        "vulkan",
        "the source uses a feature that a module for Vulkan cannot contain",
        "global int count;\nkernel void k(global int *out)\n{\n    out[0] = count;\n}",
        ("--target-env", "vulkan1.3"),
    ),
)
