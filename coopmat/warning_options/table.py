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
    Warning("sub-group-size", True, (), "a kernel requires a subgroup size that --matrices does not form"),
    Warning("spirv-matrices", True, (), "valid SPIR-V uses matrices in a way that devices refuse"),
    Warning("spirv-specialisation", True, (), "a specialisation constant of a shape or layout keeps its default value"),
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
    Warning("return-type", True, ("most",), "the end of a function that returns a value can be reached"),
    Warning("implicit-fallthrough", False, (), "a case runs into the next one"),
    Warning("unreachable-code", False, (), "a statement can never be reached"),
    # Mistakes in writing.
    Warning("parentheses", True, ("most",), "`=` as a condition; a comparison as an operand of `&`, `^` or `|`"),
    Warning("parentheses-equality", True, ("parentheses",), "a comparison in two pairs of parentheses"),
    Warning("bitwise-op-parentheses", False, ("parentheses",), "`&` beside `|` or `^`"),
    Warning("logical-op-parentheses", False, ("parentheses",), "`&&` beside `||`"),
    Warning("shift-op-parentheses", True, ("parentheses",), "`+` or `-` as an operand of a shift"),
    Warning("logical-not-parentheses", True, ("parentheses",), "`!` applies to the left side of an operator only"),
    Warning("dangling-else", True, ("parentheses",), "an `else` that a reader may take for another `if`'s"),
    Warning("empty-body", True, (), "`;` alone controlled by an if, a loop or a switch"),
    Warning("format", True, ("most",), "an argument of printf does not fit its conversion"),
    Warning("format-insufficient-args", True, ("format",), "a conversion of printf has no argument"),
    Warning("format-extra-args", True, ("format",), "an argument of printf has no conversion"),
    Warning("format-invalid-specifier", True, ("format",), "a conversion of printf that OpenCL C does not have"),
    Warning("format-security", True, ("format",), "a format string that is no literal, and no arguments"),
    Warning("format-nonliteral", False, (), "a format string that is no literal"),
    Warning("comment", True, ("most",), "`/*` inside of a comment"),
    Warning("multi-line-comment", False, ("comment", "pedantic"), "a `//` comment that continues on the next line"),
    Warning("trigraphs", True, (), "a trigraph, which is replaced by one character"),
    Warning("dollar-in-identifier-extension", False, ("pedantic",), "`$` in an identifier"),
    Warning("extra-semi", False, ("pedantic",), "`;` alone outside of functions"),
    Warning("shadow", False, ("shadow-all",), "a variable hides another one"),
    Warning("missing-declarations", True, (), "a declaration declares nothing"),
    Warning("missing-prototypes", False, (), "a function that is neither static nor a kernel has no prototype"),
    # Implicit conversions.
    Warning("implicit-int-conversion", False, ("conversion",), "an integer may lose bits"),
    Warning("shorten-64-to-32", False, ("conversion",), "a 64-bit integer may lose its upper half"),
    Warning("sign-conversion", False, ("conversion",), "an integer may change its sign"),
    Warning("constant-conversion", True, ("conversion",), "an integer constant changes its value"),
    Warning("literal-conversion", True, ("conversion",), "a floating literal loses its fraction or range"),
    Warning("float-conversion", False, ("conversion",), "a floating value becomes an integer"),
    Warning("implicit-float-conversion", False, ("conversion",), "a floating value may lose precision"),
    Warning("double-promotion", False, (), "a floating value becomes one of a wider type"),
    Warning(
        "implicit-int-float-conversion",
        False,
        ("implicit-float-conversion",),
        "a floating type may not hold an integer",
    ),
    Warning(
        "implicit-const-int-float-conversion",
        True,
        ("implicit-int-float-conversion",),
        "a floating type does not hold an integer constant",
    ),
    Warning("pointer-bool-conversion", True, ("bool-conversion",), "the address of an object is never null"),
    # Comparisons and constant operands.
    Warning("sign-compare", False, ("extra",), "a signed value is compared as an unsigned one"),
    Warning("float-equal", False, (), "floating values are compared for equality"),
    Warning("tautological-compare", True, ("most",), "a value is compared with itself"),
    Warning("tautological-unsigned-zero-compare", False, ("type-limits",), "no unsigned value is negative"),
    Warning(
        "tautological-constant-out-of-range-compare",
        True,
        ("tautological-constant-compare",),
        "a type cannot hold the constant that its value is compared with",
    ),
    Warning("division-by-zero", True, (), "an integer is divided by the constant 0"),
    Warning("shift-count-overflow", False, ("extra",), "a shift by the width or more, taken modulo the width"),
    Warning("shift-count-negative", False, ("extra",), "a shift by less than 0, taken modulo the width"),
    Warning("array-bounds", True, (), "a constant index is outside of the array"),
    Warning("spir-compat", True, (), "a sampler's initial value names no filter"),
    # Pointers.
    Warning("int-to-pointer-cast", True, (), "an integer narrower than a pointer is cast to one"),
    Warning("pointer-to-int-cast", True, (), "a pointer is cast to an integer that is narrower"),
    Warning("incompatible-pointer-types", True, (), "pointers to different types are converted"),
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
    Warning("atomic-memory-ordering", True, (), "an atomic load, store or failure has an order that is invalid for it"),
    Warning("excess-initializers", True, (), "more initial values in braces than the object holds"),
    # Directives, attributes, options.
    Warning("unknown-pragmas", False, ("most",), "a pragma is unknown"),
    Warning("ignored-pragmas", True, (), "a pragma has no effect where it is written"),
    Warning("unknown-attributes", True, (), "an attribute is unknown"),
    Warning("ignored-attributes", True, (), "an attribute has no effect where it is written"),
    Warning("macro-redefined", True, (), "a macro gets another definition"),
    Warning("extra-tokens", True, (), "text after a directive"),
    Warning("#warnings", True, ("cpp",), "a #warning directive"),
    Warning("unknown-warning-option", True, (), "-W with a name that is not in this table"),
    Warning("unused-command-line-argument", True, (), "an option that changes nothing"),
    # Cooperative matrices.
    Warning("coop-mat-string-enumerator", True, (), "an attribute names an enumerator in quotes"),
    Warning("coop-mat-uninitialized", True, ("uninitialized",), "a matrix is used before it has a value"),
    Warning(
        "coop-mat-nonuniform",
        True,
        (),
        "only some work-items of the group reach an operation on matrices, or its pointer, stride, bounds or "
        "scalar are not the same for all of them",
    ),
    Warning("coop-mat-alignment", True, (), "a matrix in memory is not aligned as the device requires"),
    Warning("coop-mat-zero-stride", True, (), "a store with a stride of 0 writes all rows to the same place"),
    Warning("coop-mat-stride", True, (), "a store with a small stride writes rows, or columns, that overlap"),
    Warning("coop-mat-operands-sign", True, (), "operand bits for signs have no effect, or contradict the types"),
    Warning("coop-mat-pragma", False, ("pedantic",), "cooperative matrices without the pragma that enables them"),
    Warning("coop-mat-address", False, ("pedantic",), "the address of a whole cooperative matrix"),
    Warning(
        "coop-mat-operands-type", False, ("pedantic",), "operands of a multiply-add that are not made of enumerators"
    ),
    Warning("stride-type", False, ("pedantic",), "a stride that is no size_t"),
    # Speed of cooperative matrices; `coopmat run` and `coopmat.Program` turn the group on.
    *(
        Warning(f"matrix-performance-{name}", False, ("matrix-performance",), meaning)
        for name, meaning in (
            ("instruction", "no instruction of the device executes a multiply-add in a loop"),
            ("registers", "the sums of a tile do not fit in registers"),
            ("tile", "a tile is far too small, or too large"),
            ("stride", "rows whose distance is a multiple of 4096 bytes share sets of the cache"),
            ("layout", "factors are loaded in the layout that is slow on the route"),
            ("checked", "checked loads of tiles of which none is partly inside of the matrix"),
        )
    ),
    Warning("unchecked-shapes", True, (), "matrix shapes that the device may not have"),
)
