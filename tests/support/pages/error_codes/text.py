"""Errors about the text of a source: characters, the preprocessor, constants, syntax."""

from __future__ import annotations

from .rows import ErrorCode

_LONG = "int x = " + "+" * 70_000 + "1;"
_DEEP = "int f(int x) { return " + "(" * 300 + "x" + ")" * 300 + "; }"
_LARGE = "".join(f"#define M{i + 1} M{i} M{i} M{i} M{i} M{i} M{i} M{i} M{i}\n" for i in range(9)) + "#define M0 1\nM9"
_NESTED = "#define F(x) x\nint x = " + "F(" * 5000 + "1" + ")" * 5000 + ";"

TEXT: tuple[ErrorCode, ...] = (
    # Characters.
    ErrorCode(
        "binary-input",
        "the source contains a NUL character, so it is not a text file",
        b"kernel void k() { }\0\n",
        shown="kernel void k() { }<NUL>",
    ),
    ErrorCode("invalid-utf8", "the source is not encoded in UTF-8", b"// caf\xe9\n", shown="// caf<E9>"),
    ErrorCode("line-too-long", "a line has more than 65,535 characters", _LONG, shown="int x = +++...+++1;"),
    ErrorCode(
        "unexpected-character",
        "the source contains a character that no token can contain, such as `@`",
        "int f(int x) { return x; @ }",
    ),
    ErrorCode("unterminated-comment", "a comment that begins with `/*` has no `*/`", "int x; /* no end"),
    ErrorCode(
        "unterminated-literal",
        "a string or character literal has no closing quote",
        'int f() { return sizeof("no end); }',
    ),
    # Constants.
    ErrorCode(
        "integer-too-large",
        "an integer constant is too large for every integer type",
        "ulong f() { return 18446744073709551616; }",
    ),
    ErrorCode(
        "invalid-literal",
        "a number or character constant is invalid, such as an octal number with the digit 8",
        "int f() { return 089; }",
    ),
    ErrorCode("invalid-suffix", "the letters after a number are not a valid suffix", "int f() { return 1lul; }"),
    ErrorCode("invalid-escape", "an escape sequence is invalid", r"char f() { return '\x'; }"),
    # The preprocessor.
    ErrorCode("error-directive", "the source contains an #error directive", "#error this device is too small"),
    ErrorCode("invalid-directive", "the name after `#` is not the name of a preprocessor directive", "#inclde <x.h>"),
    ErrorCode("include-not-found", "the compiler did not find the file that #include names", '#include "nowhere.h"'),
    ErrorCode(
        "include-unreadable",
        "the path after #include exists, but is not a file that the compiler can read",
        '#include "."',
    ),
    ErrorCode(
        "include-too-deep",
        "#include directives are nested too deeply, for example because files include each other",
        '#include "again.h"',
        files=(("again.h", '#include "again.h"\n'),),
    ),
    ErrorCode("invalid-include", "#include is not followed by a file name", "#include 5"),
    ErrorCode("invalid-line", "#line is not followed by a line number", "#line here"),
    ErrorCode(
        "invalid-macro",
        "the definition of a macro has invalid parameters, or an invalid replacement",
        "#define M(a, a) a",
    ),
    ErrorCode("invalid-macro-name", "the name of a macro is missing or invalid", "#define 5 six"),
    ErrorCode(
        "invalid-macro-use",
        "a macro is used with more or fewer arguments than its definition has parameters",
        "#define ADD(a, b) a + b\nint x = ADD(1);",
    ),
    ErrorCode(
        "unterminated-invocation",
        "the arguments of a macro's use have no closing parenthesis",
        "#define F(x) x\nint x = F(1;",
    ),
    ErrorCode("expansion-too-large", "a macro expands to too many tokens", _LARGE, shown=_LARGE[:100] + "..."),
    ErrorCode(
        "expansion-too-deep",
        "uses of macros are nested too deeply",
        _NESTED,
        shown="#define F(x) x\nint x = F(F(F(...1)));",
    ),
    ErrorCode("unmatched-conditional", "#else, #elif or #endif has no matching #if", "#endif"),
    ErrorCode("unterminated-conditional", "#if has no matching #endif", "#if 1\nint x;"),
    ErrorCode("invalid-pragma", "the operand of `_Pragma` is not a single string literal", "int x; _Pragma(unroll)"),
    # Syntax.
    ErrorCode(
        "expected-declaration",
        "a statement or another construct occurs where only declarations are allowed",
        "return 1;",
    ),
    ErrorCode("expected-expression", "an expression is missing", "int f() { return 1 + ; }"),
    ErrorCode("expected-identifier", "a name is missing", "void f() { goto 5; }"),
    ErrorCode("expected-semicolon", "a semicolon is missing", "void f(int x) { x = 1 }"),
    ErrorCode("expected-statement", "a statement is missing", "void f(int x) { if (x) }"),
    ErrorCode("unmatched-bracket", "a bracket has no matching bracket", "int f(int x) { return (x + 1]; }"),
    ErrorCode("missing-type", "a declaration has no type", "void f() { const x = 1; }"),
    ErrorCode(
        "syntax-error",
        "a token occurs at a position where the grammar does not allow it",
        "void f(int x) { else x = 1; }",
    ),
    ErrorCode("unsupported-cpp", "the source uses a feature of C++ that OpenCL C does not have", "class S;"),
    ErrorCode(
        "nesting-too-deep",
        "brackets, statements or operators are nested too deeply",
        _DEEP,
        shown="((((...))))",
    ),
    ErrorCode(
        "budget",
        "the compilation exceeds a budget: a limit that the compiler sets on its work, such as the size of the source",
        "kernel void k() { }",
        ("--budget", "source-bytes=10"),
    ),
    ErrorCode(
        "error-limit",
        "the compiler stops because it has reported the maximum number of errors",
        "int f() { return a + b; }",
        ("-ferror-limit=1",),
    ),
)
