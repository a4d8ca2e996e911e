"""The table of warnings: for each its default, the -W groups that contain it, and its meaning.

If clang has a warning, its name, groups and default are clang's.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Warning:
    """A warning.

    name: `-W<name>` turns the warning on.
    on: whether the warning is on by default.
    groups: the groups that contain the warning directly; PARENTS names the groups that contain these.
    meaning: what the warning reports, for the documentation.
    """

    name: str
    on: bool
    groups: tuple[str, ...]
    meaning: str


# group -> the groups that contain all its warnings
PARENTS: dict[str, tuple[str, ...]] = {
    "most": ("all",),
    "unused": ("most",),
    "unused-but-set-variable": ("unused",),
    "uninitialized": ("most",),
    "format": ("most",),
    "parentheses": ("most",),
    "comment": ("most",),
    "type-limits": (),
    "tautological-compare": ("most",),
    "tautological-constant-compare": ("tautological-compare",),
    "implicit-float-conversion": ("conversion",),
    "implicit-int-float-conversion": ("implicit-float-conversion",),
    "implicit-int-conversion": ("conversion",),
    "float-conversion": ("conversion",),
    "bool-conversion": ("conversion",),
    **dict.fromkeys(
        (
            "incompatible-pointer-types",
            "all",
            "extra",
            "conversion",
            "shadow-all",
            "pedantic",
            "cpp",
            "matrix-performance",
        ),
        (),
    ),
}

WARNINGS: tuple[Warning, ...] = (
    # Warnings about the result of a lowering.
    Warning("sub-group-size", True, (), "a kernel requires another subgroup size than the route (--matrices) has"),
    Warning("spirv-matrices", True, (), "valid SPIR-V uses matrices in a way that devices refuse"),
    Warning(
        "spirv-specialisation", True, (), "a specialisation constant of a matrix's shape or layout keeps its default"
    ),
    # Used and unused.
    Warning("unused-variable", False, ("unused",), "a variable is never named"),
    Warning("unused-but-set-variable", False, ("unused",), "a variable is only ever assigned to"),
    Warning("unused-parameter", False, ("extra",), "a parameter is never named"),
    Warning("unused-but-set-parameter", False, ("extra",), "a parameter is only ever assigned to"),
    Warning("unused-function", False, ("unused",), "a static function is never called"),
    Warning("unused-label", False, ("unused",), "no goto names a label"),
    Warning("unused-local-typedef", False, ("unused",), "a typedef inside a function is never named"),
    Warning("unused-value", True, ("unused",), "the value of a statement is unused"),
    Warning("unused-comparison", True, ("unused",), "the result of a comparison is unused"),
    # Control flow.
    Warning("uninitialized", False, ("most",), "a variable is read before anything was stored to it"),
    Warning("sometimes-uninitialized", False, ("uninitialized",), "a branch always reads a variable without a value"),
    Warning("conditional-uninitialized", False, (), "a variable without a value may be read"),
    Warning("return-type", True, ("most",), "control can reach the end of a function that must return a value"),
    Warning("implicit-fallthrough", False, (), "a case of a switch continues into the next case"),
    Warning("unreachable-code", False, (), "a statement can never be reached"),
    # Mistakes in writing.
    Warning(
        "parentheses", True, ("most",), "an assignment is a condition, or a comparison an operand of `&`, `^` or `|`"
    ),
    Warning("parentheses-equality", True, ("parentheses",), "a comparison is in two pairs of parentheses"),
    Warning("bitwise-op-parentheses", False, ("parentheses",), "`&` is an operand of `|` or `^` without parentheses"),
    Warning("logical-op-parentheses", False, ("parentheses",), "an operand of `||` contains `&&` without parentheses"),
    Warning("shift-op-parentheses", True, ("parentheses",), "`+` or `-` is an operand of a shift without parentheses"),
    Warning("logical-not-parentheses", True, ("parentheses",), "`!` applies only to the left operand of an operator"),
    Warning("dangling-else", True, ("parentheses",), "a reader may match an `else` with the wrong `if`"),
    Warning("empty-body", True, (), "the body of an if, a loop or a switch is only `;`"),
    Warning("format", True, ("most",), "an argument of printf does not fit, or its conversion is invalid"),
    Warning("format-insufficient-args", True, ("format",), "a conversion of printf has no argument"),
    Warning("format-extra-args", True, ("format",), "an argument of printf has no conversion"),
    Warning("format-invalid-specifier", True, ("format",), "printf has a conversion that OpenCL C does not have"),
    Warning("format-security", True, ("format",), "printf's format is not a literal, and has no arguments"),
    Warning("format-nonliteral", False, (), "the format string of printf is not a literal"),
    Warning("comment", True, ("most",), "a comment contains `/*`"),
    Warning("multi-line-comment", False, ("comment", "pedantic"), "a `//` comment that continues on the next line"),
    Warning("trigraphs", True, (), "the source contains a trigraph, which is replaced by one character"),
    Warning("dollar-in-identifier-extension", False, ("pedantic",), "an identifier contains `$`"),
    Warning("extra-semi", False, ("pedantic",), "a `;` stands alone outside of functions"),
    Warning("shadow", False, ("shadow-all",), "a variable hides another one"),
    Warning("missing-declarations", True, (), "a declaration declares nothing"),
    Warning("missing-prototypes", False, (), "a function that is neither static nor a kernel has no prototype"),
    # Implicit conversions.
    Warning("implicit-int-conversion", False, ("conversion",), "an implicit conversion may lose bits of an integer"),
    Warning("shorten-64-to-32", False, ("conversion",), "a conversion may lose the upper half of a 64-bit integer"),
    Warning("sign-conversion", False, ("conversion",), "an implicit conversion may change the sign of an integer"),
    Warning("constant-conversion", True, ("conversion",), "an implicit conversion changes an integer constant"),
    Warning("literal-conversion", True, ("conversion",), "a conversion loses a literal's fraction or range"),
    Warning("float-conversion", False, ("conversion",), "a floating value is converted to an integer"),
    Warning("implicit-float-conversion", False, ("conversion",), "a conversion may lose precision of a floating value"),
    Warning("double-promotion", False, (), "an implicit conversion widens a floating value"),
    Warning(
        "implicit-int-float-conversion",
        False,
        ("implicit-float-conversion",),
        "an integer is converted to a floating type that may not represent its value",
    ),
    Warning(
        "implicit-const-int-float-conversion",
        True,
        ("implicit-int-float-conversion",),
        "an integer constant is converted to a floating type that cannot represent its value",
    ),
    Warning("pointer-bool-conversion", True, ("bool-conversion",), "a condition tests an address that is never null"),
    # Comparisons and constant operands.
    Warning("sign-compare", False, ("extra",), "a comparison converts a signed value to an unsigned type"),
    Warning("float-equal", False, (), "floating values are compared for equality"),
    Warning("tautological-compare", True, ("most",), "a value is compared with itself"),
    Warning(
        "tautological-unsigned-zero-compare",
        False,
        ("type-limits",),
        "a comparison of an unsigned value with 0 always has the same result",
    ),
    Warning(
        "tautological-constant-out-of-range-compare",
        True,
        ("tautological-constant-compare",),
        "a value is compared with a constant that the type of the value cannot represent",
    ),
    Warning("division-by-zero", True, (), "an integer is divided by the constant 0"),
    Warning("shift-count-overflow", False, ("extra",), "a shift by the width or more is taken modulo the width"),
    Warning("shift-count-negative", False, ("extra",), "a shift's negative count is taken modulo the width"),
    Warning("array-bounds", True, (), "a constant index is outside of the array"),
    Warning("spir-compat", True, (), "the initial value of a sampler does not state a filter"),
    # Pointers.
    Warning("int-to-pointer-cast", True, (), "an integer that is narrower than a pointer is cast to a pointer"),
    Warning("pointer-to-int-cast", True, (), "a pointer is cast to an integer that is narrower"),
    Warning("incompatible-pointer-types", True, (), "a pointer is converted to a pointer to another type"),
    Warning(
        "incompatible-pointer-types-discards-qualifiers",
        True,
        ("incompatible-pointer-types",),
        "a conversion of pointers drops const or volatile",
    ),
    Warning("pointer-sign", True, ("pedantic",), "pointers to integers of different signedness are converted"),
    Warning(
        "address-space-conversion", False, ("extra",), "a generic pointer is cast to a named address space, unchecked"
    ),
    Warning("atomic-memory-ordering", True, (), "an atomic operation has a memory order that is invalid for it"),
    Warning("excess-initializers", True, (), "braces contain more initial values than the object has elements"),
    # Directives, attributes, options.
    Warning("unknown-pragmas", False, ("most",), "a pragma is unknown"),
    Warning("ignored-pragmas", True, (), "a pragma has no effect at its position in the source"),
    Warning("unknown-attributes", True, (), "an attribute is unknown"),
    Warning("ignored-attributes", True, (), "an attribute has no effect at its position in the source"),
    Warning("macro-redefined", True, (), "a macro gets another definition"),
    Warning("extra-tokens", True, (), "extra tokens follow a directive"),
    Warning("#warnings", True, ("cpp",), "the source contains a #warning directive"),
    Warning("unknown-warning-option", True, (), "an option -W has a name that is not in this table"),
    Warning("unused-command-line-argument", True, (), "an option has no effect"),
    # Cooperative matrices.
    Warning("coop-mat-string-enumerator", True, (), "an attribute names an enumerator in quotes"),
    Warning("coop-mat-uninitialized", True, ("uninitialized",), "a matrix is used before it has a value"),
    Warning(
        "coop-mat-nonuniform",
        True,
        (),
        "only some work-items of a group reach an operation on matrices, or an operand of the operation (a pointer, "
        "stride, bound or scalar) differs between work-items",
    ),
    Warning("coop-mat-alignment", True, (), "the address of a matrix lacks the alignment that the device requires"),
    Warning("coop-mat-zero-stride", True, (), "a store with a stride of 0 writes all rows to the same place"),
    Warning("coop-mat-stride", True, (), "the stride of a store is so small that the rows or columns overlap"),
    Warning(
        "coop-mat-operands-sign",
        True,
        (),
        "sign bits of an operand mask have no effect, or contradict the types",
    ),
    Warning("coop-mat-pragma", False, ("pedantic",), "cooperative matrices are used without the extension's pragma"),
    Warning("coop-mat-address", False, ("pedantic",), "the source takes the address of a whole cooperative matrix"),
    Warning("coop-mat-operands-type", False, ("pedantic",), "a multiply-add's operand mask is not made of enumerators"),
    Warning("stride-type", False, ("pedantic",), "the type of a stride is not size_t"),
    # Speed of cooperative matrices; `coopmat run` and `coopmat.Program` turn the group on.
    *(
        Warning(f"matrix-performance-{name}", False, ("matrix-performance",), meaning)
        for name, meaning in (
            ("instruction", "no instruction of the device executes a multiply-add in a loop"),
            ("registers", "the sums of a tile do not fit in registers"),
            ("tile", "a tile is far too small, or is too large"),
            (
                "stride",
                "the distance of rows is a multiple of 4096 bytes, so that the rows share a few sets of the cache",
            ),
            ("layout", "factors (A or B) are loaded in the layout that is slower on the selected route"),
            ("checked", "checked loads are used although no tile crosses the edge of the matrix"),
        )
    ),
    Warning("unchecked-shapes", True, (), "the compiler cannot check whether the device supports the matrix shapes"),
)
