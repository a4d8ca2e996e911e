"""Errors about the text of a source: characters, the preprocessor, constants, syntax."""

from __future__ import annotations

from .rows import ErrorCode

_LONG = "int x = " + "+" * 70_000 + "1;"
_DEEP = "int f(int x) { return " + "(" * 300 + "x" + ")" * 300 + "; }"
_LARGE = "".join(f"#define M{i + 1} M{i} M{i} M{i} M{i} M{i} M{i} M{i} M{i}\n" for i in range(9)) + "#define M0 1\nM9"
_NESTED = "#define F(x) x\nint x = " + "F(" * 5000 + "1" + ")" * 5000 + ";"

TEXT: tuple[ErrorCode, ...] = (
    # Characters.
    ErrorCode("binary-input", "the source is no text", b"kernel void k() { }\0\n", shown="kernel void k() { }<NUL>"),
    ErrorCode("invalid-utf8", "the source is no UTF-8", b"// caf\xe9\n", shown="// caf<E9>"),
    ErrorCode("line-too-long", "a line of more than 65,535 characters", _LONG, shown="int x = +++...+++1;"),
    ErrorCode("unexpected-character", "a character that means nothing here", "int f(int x) { return x; @ }"),
    ErrorCode("unterminated-comment", "a comment without an end", "int x; /* no end"),
    ErrorCode("unterminated-literal", "a string or a character without an end", 'int f() { return sizeof("no end); }'),
    # Constants.
    ErrorCode("integer-too-large", "no integer type holds it", "ulong f() { return 18446744073709551616; }"),
    ErrorCode("invalid-literal", "digits that make no number", "int f() { return 089; }"),
    ErrorCode("invalid-suffix", "letters behind a number that mean nothing", "int f() { return 1lul; }"),
    ErrorCode("invalid-escape", "an escape sequence that means nothing", r"char f() { return '\x'; }"),
    # The preprocessor.
    ErrorCode("error-directive", "the source asks for an error", "#error this device is too small"),
    ErrorCode("invalid-directive", "no such directive", "#inclde <x.h>"),
    ErrorCode("include-not-found", "no such file", '#include "nowhere.h"'),
    ErrorCode("include-unreadable", "what is included is no file", '#include "."'),
    ErrorCode(
        "include-too-deep",
        "files that include each other without an end",
        '#include "again.h"',
        files=(("again.h", '#include "again.h"\n'),),
    ),
    ErrorCode("invalid-include", "#include without a file's name", "#include 5"),
    ErrorCode("invalid-line", "#line without a line number", "#line here"),
    ErrorCode("invalid-macro", "a macro's parameters or replacement make no sense", "#define M(a, a) a"),
    ErrorCode("invalid-macro-name", "no name for a macro", "#define 5 six"),
    ErrorCode(
        "invalid-macro-use", "a macro is given other than what it takes", "#define ADD(a, b) a + b\nint x = ADD(1);"
    ),
    ErrorCode("unterminated-invocation", "the arguments of a macro have no end", "#define F(x) x\nint x = F(1;"),
    ErrorCode("expansion-too-large", "a macro becomes too many tokens", _LARGE, shown=_LARGE[:100] + "..."),
    ErrorCode(
        "expansion-too-deep",
        "macros one inside the other too often",
        _NESTED,
        shown="#define F(x) x\nint x = F(F(F(...1)));",
    ),
    ErrorCode("unmatched-conditional", "#else, #elif or #endif without #if", "#endif"),
    ErrorCode("unterminated-conditional", "#if without #endif", "#if 1\nint x;"),
    ErrorCode("invalid-pragma", "_Pragma without one string", "int x; _Pragma(unroll)"),
    # Syntax.
    ErrorCode("expected-declaration", "a statement or another thing where only declarations stand", "return 1;"),
    ErrorCode("expected-expression", "nothing where a value is needed", "int f() { return 1 + ; }"),
    ErrorCode("expected-identifier", "nothing where a name is needed", "void f() { goto 5; }"),
    ErrorCode("expected-semicolon", "a statement without its end", "void f(int x) { x = 1 }"),
    ErrorCode("expected-statement", "nothing where a statement is needed", "void f(int x) { if (x) }"),
    ErrorCode("unmatched-bracket", "a bracket without its other one", "int f(int x) { return (x + 1]; }"),
    ErrorCode("missing-type", "a declaration without a type", "void f() { const x = 1; }"),
    ErrorCode("syntax-error", "words in an order that has no meaning", "void f(int x) { else x = 1; }"),
    ErrorCode("unsupported-cpp", "C++, which OpenCL C is not", "class S;"),
    ErrorCode(
        "nesting-too-deep",
        "brackets, statements or operators one inside the other too often",
        _DEEP,
        shown="((((...))))",
    ),
    ErrorCode(
        "budget",
        "more work than a compilation may take; which, and the option that raises it, stands in the message",
        "kernel void k() { }",
        ("--budget", "source-bytes=10"),
    ),
    ErrorCode("error-limit", "the end of all errors", "int f() { return a + b; }", ("-ferror-limit=1",)),
)
