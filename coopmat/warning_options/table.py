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
    Warning("sub-group-size", True, (), "a kernel requires a subgroup size that the selected route (--matrices) lacks"),
    Warning("spirv-matrices", True, (), "a valid SPIR-V module uses matrices in a way that devices refuse"),
    Warning(
        "spirv-specialisation", True, (), "a matrix's shape or layout is a specialisation constant: its default is used"
    ),
    # Used and unused.
    Warning("unused-variable", False, ("unused",), "a variable is declared, but never used"),
    Warning("unused-but-set-variable", False, ("unused",), "a variable is assigned to, but never read"),
    Warning("unused-parameter", False, ("extra",), "a parameter is never used"),
    Warning("unused-but-set-parameter", False, ("extra",), "a parameter is assigned to, but never read"),
    Warning("unused-function", False, ("unused",), "a static function is never called"),
    Warning("unused-label", False, ("unused",), "a label is not the target of any goto"),
    Warning("unused-local-typedef", False, ("unused",), "a typedef inside a function is never used"),
    Warning("unused-value", True, ("unused",), "a statement computes a value that nothing uses"),
    Warning("unused-comparison", True, ("unused",), "a statement compares values, but nothing uses the result"),
    # Control flow.
    Warning("uninitialized", False, ("most",), "a variable is read before anything was stored to it"),
    Warning("sometimes-uninitialized", False, ("uninitialized",), "a variable is read without a value on some branch"),
    Warning("conditional-uninitialized", False, (), "a variable may be read before anything was stored to it"),
    Warning("return-type", True, ("most",), "control can reach the end of a function that must return a value"),
    Warning("implicit-fallthrough", False, (), "a case of a switch continues into the next case"),
    Warning("unreachable-code", False, (), "a statement can never be reached"),
    # Mistakes in writing.
    Warning(
        "parentheses", True, ("most",), "a condition is an assignment, or an operand of `&`, `^` or `|` is a comparison"
    ),
    Warning("parentheses-equality", True, ("parentheses",), "a condition `((a == b))` has two pairs of parentheses"),
    Warning("bitwise-op-parentheses", False, ("parentheses",), "an expression mixes `&`, `^`, `|` without parentheses"),
    Warning("logical-op-parentheses", False, ("parentheses",), "an expression mixes `&&` and `||` without parentheses"),
    Warning("shift-op-parentheses", True, ("parentheses",), "in a shift, a sum or difference has no parentheses"),
    Warning("logical-not-parentheses", True, ("parentheses",), "in `!a == b`, the operator `!` applies only to `a`"),
    Warning("dangling-else", True, ("parentheses",), "without braces, readers may match `else` with the wrong `if`"),
    Warning("empty-body", True, (), "the body of an if or a loop is only `;`"),
    Warning("format", True, ("most",), "an argument of printf does not fit its conversion, or a conversion is invalid"),
    Warning("format-insufficient-args", True, ("format",), "a conversion in printf's format string has no argument"),
    Warning("format-extra-args", True, ("format",), "printf has more arguments than its format string uses"),
    Warning("format-invalid-specifier", True, ("format",), "a printf format has a conversion that OpenCL C lacks"),
    Warning("format-security", True, ("format",), "printf's only argument is a string that is not a literal"),
    Warning("format-nonliteral", False, (), "the format string of a printf with arguments is not a literal"),
    Warning("comment", True, ("most",), "a comment contains `/*`"),
    Warning("multi-line-comment", False, ("comment", "pedantic"), "a `//` comment continues on the next line"),
    Warning("trigraphs", True, (), "a trigraph such as `??(` is replaced by one character"),
    Warning("dollar-in-identifier-extension", False, ("pedantic",), "an identifier contains `$`"),
    Warning("extra-semi", False, ("pedantic",), "a `;` stands alone outside of functions"),
    Warning("shadow", False, ("shadow-all",), "a variable hides another one"),
    Warning("missing-declarations", True, (), "a declaration declares nothing"),
    Warning("missing-prototypes", False, (), "a function, neither static nor a kernel, is defined without a prototype"),
    # Implicit conversions.
    Warning("implicit-int-conversion", False, ("conversion",), "an implicit conversion may lose bits of an integer"),
    Warning("shorten-64-to-32", False, ("conversion",), "an implicit conversion may drop half of a 64-bit integer"),
    Warning("sign-conversion", False, ("conversion",), "an implicit conversion may change the sign of an integer"),
    Warning("constant-conversion", True, ("conversion",), "an implicit conversion changes an integer constant's value"),
    Warning("literal-conversion", True, ("conversion",), "an implicit conversion to integer changes a literal's value"),
    Warning("float-conversion", False, ("conversion",), "a floating value is implicitly converted to an integer"),
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
    Warning("shift-count-overflow", False, ("extra",), "a shift count is too large, and is taken modulo the bit width"),
    Warning("shift-count-negative", False, ("extra",), "a shift count is negative, and is taken modulo the bit width"),
    Warning("array-bounds", True, (), "a constant index is outside of the array"),
    Warning("spir-compat", True, (), "the initial value of a sampler does not state a filter mode"),
    # Pointers.
    Warning("int-to-pointer-cast", True, (), "an integer that is narrower than a pointer is cast to a pointer"),
    Warning("pointer-to-int-cast", True, (), "a pointer is cast to an integer type that is narrower than pointers"),
    Warning("incompatible-pointer-types", True, (), "a pointer is implicitly converted to a pointer to another type"),
    Warning(
        "incompatible-pointer-types-discards-qualifiers",
        True,
        ("incompatible-pointer-types",),
        "an implicit conversion of a pointer drops const or volatile",
    ),
    Warning("pointer-sign", True, ("pedantic",), "a pointer's conversion changes the signedness of its pointee's type"),
    Warning(
        "address-space-conversion", False, ("extra",), "a cast from the generic to another address space is not checked"
    ),
    Warning("atomic-memory-ordering", True, (), "an atomic operation has a memory order that is invalid for it"),
    Warning("excess-initializers", True, (), "braces contain more initial values than the object has elements"),
    # Directives, attributes, options.
    Warning("unknown-pragmas", False, ("most",), "the compiler ignores a pragma that it does not know"),
    Warning("ignored-pragmas", True, (), "a pragma has no effect at its position in the source"),
    Warning("unknown-attributes", True, (), "the compiler ignores an attribute that it does not know"),
    Warning("ignored-attributes", True, (), "an attribute has no effect at its position in the source"),
    Warning("macro-redefined", True, (), "a macro is defined again, with a different replacement"),
    Warning("extra-tokens", True, (), "tokens without a meaning follow a preprocessor directive"),
    Warning("#warnings", True, ("cpp",), "the source contains a #warning directive"),
    Warning("unknown-warning-option", True, (), "an option -W or a pragma names no existing warning or group"),
    Warning("unused-command-line-argument", True, (), "an option has no effect"),
    # Cooperative matrices.
    Warning("coop-mat-string-enumerator", True, (), "an attribute has an enumerator's name in quotes"),
    Warning("coop-mat-uninitialized", True, ("uninitialized",), "a matrix is used before it has a value"),
    Warning(
        "coop-mat-nonuniform",
        True,
        (),
        "not all work-items of a subgroup or work-group reach an operation on matrices together (with `--matrices "
        "scratch`, also a subgroup function), or a pointer, stride, bound or scalar of the operation differs between "
        "the work-items",
    ),
    Warning("coop-mat-alignment", True, (), "the address of a matrix lacks the alignment that the device requires"),
    Warning("coop-mat-zero-stride", True, (), "a store with a stride of 0 writes all rows to the same address"),
    Warning("coop-mat-stride", True, (), "the stride of a store is so small that rows or columns overlap in memory"),
    Warning(
        "coop-mat-operands-sign",
        True,
        (),
        "bits of a multiply-add's operand mask have no effect, or contradict the component types",
    ),
    Warning("coop-mat-pragma", False, ("pedantic",), "cooperative matrices are used without the extension's pragma"),
    Warning("coop-mat-address", False, ("pedantic",), "the source takes the address of a whole cooperative matrix"),
    Warning("coop-mat-operands-type", False, ("pedantic",), "a multiply-add's operand mask contains integer literals"),
    Warning("stride-type", False, ("pedantic",), "the type of a stride is not size_t"),
    # Speed of cooperative matrices; `coopmat run` and `coopmat.Program` turn the group on.
    *(
        Warning(f"matrix-performance-{name}", False, ("matrix-performance",), meaning)
        for name, meaning in (
            ("instruction", "no matrix instruction of the device has the types and shape of a multiply-add in a loop"),
            ("registers", "the sums that a multiply-add in a loop accumulates do not fit in registers"),
            ("tile", "the matrices of a multiply-add are far too small, or too large, for a high speed"),
            (
                "stride",
                "rows in memory are a multiple of 4096 bytes apart, so the rows share a few sets of the cache",
            ),
            ("layout", "a factor (A or B) is loaded in the layout that is slow on the selected route"),
            ("checked", "loads are checked (coop_mat_load_checked), but no tile crosses the edge of its matrix"),
        )
    ),
    Warning("unchecked-shapes", True, (), "as the device reports no matrix shapes, the compiler cannot check any"),
)
