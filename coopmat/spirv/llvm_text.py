"""Rewriting of LLVM IR text, so that optimisation and LLVM's SPIR-V backend (22.1) compile it correctly.

This file uses only the standard library: the emitter (`emitter.py`) loads it without the package.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterator

# A fast filter for illegal types; each pattern begins with a fixed letter. It also matches names.
_SUSPECTS = (re.compile(r"i(?!(?:1|8|16|32|64)\b)\d+"), re.compile(r"<(?!(?:2|3|4|8|16) x )\d+ x "))
# The exact, slow pattern: matches types, and skips names (%i24, @i24, i24:), metadata lines, comments and strings.
_TYPE = re.compile(
    r"^(?:!|attributes|target|source_filename).*|;.*|\"[^\"]*\"|(?<![\w.%@$-])(i\d+)\b(?!:)|(<\d+ x )", re.MULTILINE
)


def illegal_types(ir: str) -> list[str]:
    """Return the integer widths and vector lengths in a module's text that SPIR-V lacks, as ["<64 x ", "i33"]."""
    if not any(suspect.search(ir) for suspect in _SUSPECTS):
        return []
    kinds = {match[1] or match[2] for match in _TYPE.finditer(ir)} - {None}
    return sorted(kind for kind in kinds if any(suspect.fullmatch(kind) for suspect in _SUSPECTS))


# --- what the backend (LLVM 22.1) cannot do ------------------------------------------------------

_NARROWED = re.compile(r"^ *(%\S+) = (?:trunc|sext) ", re.MULTILINE)
_ZERO_EXTENSION = re.compile(r"^( *%\S+ = zext (?:nneg )?)(.+?) (%\S+)( to .+)$", re.MULTILINE)
_TRUTH_TO_FLOAT = re.compile(r"^( *%\S+ = )([us])itofp (?:nneg )?(<\d+ x i1>) (\S+) to (<\d+ x (\w+)>)", re.MULTILINE)
_TRUNCATION_TO_TRUTH = re.compile(r"^( *)(%\S+) = trunc (?:n[us]w )*(<\d+ x (i\d+)>) (\S+) to <\d+ x i1>", re.MULTILINE)


def fix_backend_bugs(ir: str) -> str:
    """Return the text without constructs that the backend compiles wrongly; without such constructs, the same object.

    The backend merges a zero extension with the truncation or sign extension before it, with wrong types, or crashes; a
    `freeze` between them, which it drops, prevents that. The backend cannot truncate integers to vectors of i1, nor
    convert such vectors to floats. It keeps eight bits of an alignment, which are 0 for 256. For variables that are
    chosen at run time see `_with_whole_locals`, for those that hold pointers `_with_whole_privates`, for those that
    calls access `_with_addresses_of_variables`.
    """
    narrowed = set(_NARROWED.findall(ir)) if "zext" in ir else set()
    names = (f'%"mended {number}"' for number in itertools.count())

    def freeze(match: re.Match[str]) -> str:
        head, kind, operand, tail = match.groups()
        if operand not in narrowed:
            return match[0]
        name = next(names)
        return f"  {name} = freeze {kind} {operand}\n{head}{kind} {name}{tail}"

    def choose(match: re.Match[str]) -> str:
        head, sign, kind, truth, result, element = match.groups()
        one = f"splat ({element} {'-' if sign == 's' else ''}1.0)"
        return f"{head}select {kind} {truth}, {result} {one}, {result} zeroinitializer"

    def test(match: re.Match[str]) -> str:
        indent, result, kind, element, value = match.groups()
        bit = next(names)
        masked = f"{indent}{bit} = and {kind} {value}, splat ({element} 1)"
        return f"{masked}\n{indent}{result} = icmp ne {kind} {bit}, zeroinitializer"

    text = _ZERO_EXTENSION.sub(freeze, ir) if narrowed else ir
    if " x i1>" in text:
        text = _TRUNCATION_TO_TRUTH.sub(test, _TRUTH_TO_FLOAT.sub(choose, text))
    if " addrspace(3) global " in text:
        text = _with_whole_locals(text, names)
    if _POINTER_ACCESS.search(text):
        text = _with_whole_privates(text, names)
    if re.search(_COUNTING, text):
        text = _with_addresses_of_variables(text, names)
    if _WIDELY_ALIGNED.search(text):
        text = _WIDELY_ALIGNED.sub(r"\1 128", text)
    return ir if text == ir else text


_WIDELY_ALIGNED = re.compile(r"(^ .*\b(?:load|store|alloca) .*, align) (?:256|512|\d{4,})\b", re.MULTILINE)
_LOCAL_VARIABLE = re.compile(
    r"^(@\S+) = .*?\baddrspace\(3\) global (.+) (?:undef|poison|zeroinitializer)", re.MULTILINE
)
_FUNCTION = re.compile(r"^define .*?^}", re.MULTILINE | re.DOTALL)
_CHOICE = re.compile(r"^.* = (?:phi|select|icmp) .*@.*$", re.MULTILINE)
_NESTED = r"\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)"
# Constant expressions over a variable are skipped: the backend takes the variable's type from them.
_VARIABLE = re.compile(r"\b(?:getelementptr|addrspacecast|ptrtoint)[\w ]* " + _NESTED + r"|(@(?:\"[^\"]*\"|[\w.$-]+))")
# The definition of a function up to the end of its parameters, its name, and its attributes.
HEAD = re.compile(
    r"^(define .*?@(\"[^\"]*\"|[\w.$-]+)" + _NESTED + r"(?: (?:local_)?unnamed_addr)?)(.*)$", re.MULTILINE
)
# The label and the allocas of the entry block, which must stay first.
_ENTRY = re.compile(r"\A(?s:.*?)\{\n(?:\S+:.*\n)?(?:(?:[ \t].*\n)*[ \t].* = alloca .*\n)?")


def _with_whole_locals(ir: str, names: Iterator[str]) -> str:
    """Compute the address of each local variable that phis, selects or comparisons use in the function's entry block.

    The backend deduces such a variable's type from the uses of the chosen pointer: the element instead of the array.
    Then it allocates too little memory. A getelementptr states the type first.
    """
    types = dict(_LOCAL_VARIABLE.findall(ir))

    def rewrite(function: re.Match[str]) -> str:
        names_of: dict[str, str] = {}

        def whole(match: re.Match[str]) -> str:
            if match[1] not in types:
                return match[0]
            if match[1] not in names_of:
                names_of[match[1]] = next(names)
            return names_of[match[1]]

        body = _CHOICE.sub(lambda line: _VARIABLE.sub(whole, line[0]), function[0])
        if not names_of:
            return body
        addresses = "".join(_address(name, variable, types[variable]) for variable, name in names_of.items())
        head = _ENTRY.match(body)
        assert head is not None
        return head[0] + addresses + body[head.end() :]

    return _FUNCTION.sub(rewrite, ir)


def _address(name: str, variable: str, kind: str) -> str:
    """Return the getelementptr that defines `name` as the address of a variable of the type `kind`."""
    zeros = ", i64 0, i64 0" if kind.startswith("[") else ", i64 0"
    return f"  {name} = getelementptr inbounds {kind}, ptr addrspace(3) {variable}{zeros}\n"


_PRIVATE_VARIABLE = re.compile(r"^ *(%\S+) = alloca (?!ptr\b|target\b)(.+?)(?:, align \d+)?$", re.MULTILINE)
_POINTER_ACCESS = re.compile(r"(?:(?:load|store) (?:volatile )?|getelementptr (?:\w+ )*)ptr\b.*")


def _with_whole_privates(ir: str, names: Iterator[str]) -> str:
    """Access each private variable that holds pointers through a getelementptr of the variable's type.

    The backend deduces another type of a variable from pointers that are loaded from it, stored to it or indexed in it.
    Then it allocates too little memory. It leaves a variable its type that only this getelementptr uses.
    """

    def rewrite(function: re.Match[str]) -> str:
        head = _ENTRY.match(function[0])
        assert head is not None
        body = function[0][head.end() :]
        accesses = " ".join([*_POINTER_ACCESS.findall(body), ""]).replace(",", " ")
        for variable, kind in _PRIVATE_VARIABLE.findall(head[0]):
            if "ptr" not in kind and f" {variable} " not in accesses:
                continue
            name, word = next(names), re.escape(variable) + r'(?![\w.$"-])'
            # A lifetime must be that of the variable itself.
            body = re.sub(word, name, re.sub(rf".*@llvm\.lifetime\..*{word}.*\n", "", body))
            body = f"  {name} = getelementptr inbounds {kind}, ptr {variable}, i64 0\n{body}"
        return head[0] + body

    return _FUNCTION.sub(rewrite, ir)


# Names of functions that count in units of their first parameter's pointee.
_COUNTING = "__spirv_(?:CooperativeMatrix|SubgroupBlock|ocl_prefetch)|intel_sub_group_block_|prefetch"
_ACCESS_TO_VARIABLE = re.compile(
    rf"(?m)^(.*\bcall .*@\"?_Z\d+(?:{_COUNTING})[^(]*\()(ptr(?: addrspace\(\d\))?)((?: \w+(?:\([^()]*\))?)*) "
    r"(@(?:\"[^\"]*\"|[\w.$-]+))(?=[,)])"
)


def _with_addresses_of_variables(ir: str, names: Iterator[str]) -> str:
    """Compute by an instruction the address of each variable that a matrix, a block or a prefetch accesses.

    The backend converts the result of an instruction to the type in the function's name, but leaves a variable its own
    type. Then the stride of a matrix counts vectors instead of components; arrays and structs are invalid, or crash
    Intel's compiler.
    """

    def rewrite(call: re.Match[str]) -> str:
        start, kind, attributes, variable = call.groups()
        name = next(names)
        return f"  {name} = getelementptr inbounds i8, {kind} {variable}, i64 0\n{start}{kind}{attributes} {name}"

    return _ACCESS_TO_VARIABLE.sub(rewrite, ir)


# Constructs that the backend compiles wrongly: a null matrix, an undefined matrix as a phi's operand, a select of
# events.
NOT_FOR_THE_BACKEND = re.compile(
    r"target\(\"spirv\.Cooperative[^)]*\) (?:zeroinitializer|poison)"
    r"|= phi target\(\"spirv\.Cooperative[^)]*\) .*\b(?:undef|poison|zeroinitializer)\b"
    r"|= select i1 [^,]+, target\(\"spirv\.Event\"\)"
)

_MATRIX = r"target\(\"spirv\.Cooperative[^)]*\)"
_MATRIX_OR_PHI = re.compile(rf"({_MATRIX}) (?:poison|undef)\b|= phi ({_MATRIX}) .*")


def with_loaded_matrices(ir: str) -> str:
    """Return the text with loads of variables that nothing is stored to in the place of undefined matrices."""
    return _FUNCTION.sub(_with_loaded_matrices, ir) if NOT_FOR_THE_BACKEND.search(ir) else ir


def _with_loaded_matrices(function: re.Match[str]) -> str:
    names: dict[str, str] = {}

    def loaded(use: re.Match[str]) -> str:
        name = names.setdefault(use[1] or use[2], f'%"coopmat.undefined.{len(names)}"')
        return f"{use[1]} {name}" if use[1] else re.sub(r"\[ (?:poison|undef),", f"[ {name},", use[0])

    text = _MATRIX_OR_PHI.sub(loaded, function[0])
    lines = (f'  {n[:-1]}.at" = alloca {kind}\n  {n} = load {kind}, ptr {n[:-1]}.at"\n' for kind, n in names.items())
    return _ENTRY.sub(lambda head: head[0] + "".join(lines), text, count=1)


# --- fallbacks, if optimisation makes types that SPIR-V lacks ------------------------------------


def _as_it_is(ir: str, odd: Collection[str]) -> str:
    """Return the text unchanged."""
    return ir


_NARROWING = re.compile(
    r"^( *)(%\S+) = (trunc (?:n[us]w )*(i\d+|<(\d+) x i\d+>)) (\S+) (to (i\d+|<\d+ x (i\d+)>))$", re.MULTILINE
)


def _with_kept_truncations(ir: str, odd: Collection[str]) -> str:
    """Insert calls of opaque identity functions between vectors and truncations, so that LLVM does not combine them.

    LLVM rewrites the truncated element of a vector to an element of a longer vector: `(char)v.s1`, of an int8, becomes
    element 4 of a <32 x i8>.
    """
    kinds: set[str] = set()

    def keep(match: re.Match[str]) -> str:
        indent, result, head, kind, count, operand, tail, narrow, _ = match.groups()
        name = f'%"coopmat.kept.{match.start()}"'
        # A scalar may come from a vector's element, so call on its operand; of a vector, elements are taken from the
        # result.
        if count is None:
            kinds.add(kind)
            return f"{indent}{name} = {_call(kind, operand)}\n{indent}{result} = {head} {name} {tail}"
        kinds.add(narrow)
        return f"{indent}{name} = {head} {operand} {tail}\n{indent}{result} = {_call(narrow, name)}"

    text = _NARROWING.sub(keep, ir)
    return f"{text}\n{''.join(map(_declare, sorted(kinds)))}"


def _declare(kind: str) -> str:
    """Return the declaration of the opaque identity function of a type."""
    return (
        f'declare {kind} @"coopmat.kept {kind}"({kind}) nounwind willreturn nosync nofree speculatable memory(none)\n'
    )


def _call(kind: str, operand: str) -> str:
    """Return a call of the opaque identity function of a type."""
    return f'call {kind} @"coopmat.kept {kind}"({kind} {operand})'


_LOCAL = "ptr addrspace(3)"
_CALL_OF_FUNCTION = re.compile(r"^( *)(?:%\S+ = )?(?:\w+ )?call [^@\n]*@(\"[^\"]*\"|[\w.$-]+)\(.*$", re.MULTILINE)
_LOCAL_ARGUMENT = re.compile(r"ptr addrspace\(3\) (?:noundef )?(%\"[^\"]*\"|%[\w.$-]+|@\"[^\"]*\"|@[\w.$-]+)(?=[,)])")


def has_functions_of_local_variables(ir: str) -> bool:
    """Whether a function other than a kernel uses a variable in local memory by its name."""
    names = "|".join(re.escape(name) for name, _ in _LOCAL_VARIABLE.findall(ir))
    uses = re.compile(f"(?:{names})(?![\\w.$-])")
    functions = (function[0] for function in _FUNCTION.finditer(ir) if names)
    return any(uses.search(function) for function in functions if " spir_kernel " not in function.split("(", 1)[0])


def with_kept_local_pointers(ir: str) -> str:
    """Insert calls of an opaque identity function before arguments of functions that point to local memory.

    LLVM replaces a parameter that is the same variable in all calls by that variable. From a local variable that is
    used outside of kernels, PoCL 7.1 reads undefined values.
    """
    functions = {head[2] for head in HEAD.finditer(ir)}

    def keep(call: re.Match[str]) -> str:
        before: list[str] = []

        def guard(argument: re.Match[str]) -> str:
            name = f'%"coopmat.kept.{call.start() + argument.start()}"'
            before.append(f"{call[1]}{name} = {_call(_LOCAL, argument[1])}\n")
            return f"{_LOCAL} {name}"

        text = _LOCAL_ARGUMENT.sub(guard, call[0]) if call[2] in functions else call[0]
        return "".join(before) + text

    return f"{_CALL_OF_FUNCTION.sub(keep, ir)}\n{_declare(_LOCAL)}"


def with_noinline(ir: str, odd: Collection[str]) -> str:
    """Forbid inlining, and keep LLVM from combining truncations with vectors (`_with_kept_truncations`).

    The result is only a probe that shows which functions get illegal types without inlining. `odd` is not used.
    """
    return HEAD.sub(lambda head: head[1] + not_inlined(head[3]), _with_kept_truncations(ir, odd))


def with_optnone(ir: str, odd: Collection[str]) -> str:
    """Keep truncations apart (`_with_kept_truncations`), and exempt the functions named in `odd` from optimisation.

    `odd` has the functions in which an earlier attempt at optimisation has produced types that SPIR-V lacks.
    """

    def mark(head: re.Match[str]) -> str:
        return f"{head[1]} optnone{not_inlined(head[3])}" if head[2].strip('"') in odd else head[0]

    return HEAD.sub(mark, _with_kept_truncations(ir, odd))


_GROUP = re.compile(r"^attributes #\d+ = \{.*$", re.MULTILINE)


# Placeholder calls of maps and reductions, whose names end with a function's (`coopmat.matrices.placeholders`).
_NAMING_PLACEHOLDER = re.compile(r"__cm_(?:map|reduce)_[\w.$-]+")


def _with_forced_inlining(ir: str, odd: Collection[str]) -> str:
    """Mark all functions alwaysinline, but those that placeholder calls name. `odd` is not used."""
    placeholders = set(_NAMING_PLACEHOLDER.findall(ir))

    def mark(head: re.Match[str]) -> str:
        if any(name.endswith(f"_{head[2].strip(chr(34))}") for name in placeholders):
            return head[0].replace("define internal ", "define ", 1)
        return f"{head[1]} alwaysinline" + re.sub(r" (?:alwaysinline|noinline|optnone)\b", "", head[3])

    return HEAD.sub(mark, _GROUP.sub(lambda group: group[0].replace(" noinline", "").replace(" optnone", ""), ir))


_ALLOCATION = re.compile(r'^( *%\S+ = alloca (?!.*\b(?:ptr|target)\b)(?:%"[^"]*"|[^,{"\n]+))(?=,|$)', re.MULTILINE)
_KEPT_ALLOCATION = re.compile(r"(?<= = alloca )(.*), i16 2(?=,|$)", re.MULTILINE)


def _with_forced_inlining_and_kept_variables(ir: str, odd: Collection[str]) -> str:
    """Mark the functions alwaysinline, and keep SROA from all variables but those that hold pointers or matrices.

    Vulkan has no pointers in memory. SROA ignores variables that have a count; `strip_guards` removes it.
    """
    return _ALLOCATION.sub(r"\1, i16 2", _with_forced_inlining(ir, odd))


def not_inlined(attributes: str) -> str:
    """Return a function's attributes with noinline in place of alwaysinline.

    If noinline was not in the source, a mark is added, by which `strip_guards` removes it again.
    """
    if re.search(r"\bnoinline\b", attributes):
        return attributes
    return ' noinline "coopmat.apart"' + attributes.replace(" alwaysinline", "")


_KNOWN = r"(?:(?:noundef|range\([^)]*\)) )*"
_CALL_OF_NOTHING = re.compile(
    rf'^( *%\S+ = )(?:tail )?call {_KNOWN}(i\d+|<\d+ x i\d+>) @"coopmat\.kept .*?"\(\2 {_KNOWN}(.*)\)(?: #\d+)?$',
    re.MULTILINE,
)
_KEPT_POINTER = re.compile(
    r'^ *(%\S+) = (?:tail )?call [\w ]*ptr addrspace\(3\) @"coopmat\.kept [^"]*"\(ptr addrspace\(3\) '
    r"(?:(?!getelementptr|addrspacecast|inttoptr)\w+(?:\(\d+\))? )*(.+)\)(?: #\d+)?\n",
    re.MULTILINE,
)
_DECLARED_NOTHING = re.compile(r'^declare .*@"coopmat\.kept .*\n', re.MULTILINE)
_DEFINITION = re.compile(
    r'^define (?:internal )?([^@\n]*)@"?([\w.]+)"?\(([^)\n]*)\)[^\n]*\n\{?.*?^\}\n', re.MULTILINE | re.DOTALL
)
_SET_APART = re.compile(r'^attributes #.*(?:"coopmat\.apart"| optnone\b).*$', re.MULTILINE)


def strip_guards(ir: str) -> str:
    """Remove the identity functions and attributes that the fallbacks inserted.

    If there are none, return the same object. An identity call becomes a `freeze`, which the backend drops.
    """
    if f'@"coopmat.kept {_LOCAL}"' in ir:
        ir = _FUNCTION.sub(_without_kept_pointers, ir)
    if "coopmat.kept" in ir:
        ir = _DECLARED_NOTHING.sub("", _CALL_OF_NOTHING.sub(r"\1freeze \2 \3", ir))
    if "noinline" in ir:
        ir = _SET_APART.sub(_put_back, ir)
    return _KEPT_ALLOCATION.sub(r"\1", ir) if ", i16 2" in ir else ir


def _without_kept_pointers(function: re.Match[str]) -> str:
    """Return a function's text with the operands of the identity calls of local pointers in place of their results."""
    text = function[0]
    while call := _KEPT_POINTER.search(text):
        text = re.sub(
            re.escape(call[1]) + r'(?![\w.$"-])', lambda _: call[2], text[: call.start()] + text[call.end() :]
        )
    return text


def _put_back(match: re.Match[str]) -> str:
    """Return a line of attributes without optnone, and without noinline if a fallback inserted it."""
    line = match[0].replace(" optnone", "")
    return line.replace(" noinline", "") if '"coopmat.apart"' in line else line


def imported(ir: str, names: Collection[str]) -> str:
    """Return the text with declarations in place of the definitions of these functions.

    Those with a result are declared to read no memory. The others may access memory or registers, so that their order
    is kept.
    """

    def declare(match: re.Match[str]) -> str:
        if match[2] not in names:
            return match[0]
        types = re.sub(r" %[^,]+", "", match[3])
        effects = "" if re.search(r"\bvoid\b", match[1]) else " memory(none)"
        return f'declare {match[1]}@"{match[2]}"({types}) nounwind willreturn{effects}\n'

    return _DEFINITION.sub(declare, ir)


def functions_of_illegal_types(ir: str) -> set[str]:
    """Return the names of the functions in a module's text that have types that SPIR-V lacks."""
    heads = (HEAD.match(function[0]) for function in _FUNCTION.finditer(ir) if illegal_types(function[0]))
    return {head[2].strip('"') for head in heads if head is not None}


# passes -> attempts (pipeline, rewriting of the text), tried in order until no type is left that SPIR-V lacks.
# Functions that get illegal types only by inlining others are found late, hence two attempts with optnone. No option
# disables SROA's <64 x i8> for a union.
_O1 = (
    ("O1", _as_it_is),
    ("O1", _with_kept_truncations),
    ("O1", with_noinline),
    ("O1", with_optnone),
    ("O1", with_optnone),
)
_INLINE = (("inline", _as_it_is),)
FALLBACK_PIPELINES: dict[str, tuple[tuple[str, Callable[[str, Collection[str]], str]], ...]] = {
    "none": (("none", _as_it_is),),
    "sroa": (("sroa", _as_it_is), ("none", _as_it_is)),
    "unroll": (("unroll", _as_it_is), ("sroa", _as_it_is), ("none", _as_it_is)),
    "vulkan": (
        ("vulkan", _with_forced_inlining),
        ("vulkan", _with_forced_inlining_and_kept_variables),
        ("inline", _with_forced_inlining),
    ),
    "O1": (*_O1, *_INLINE),
    "O2": (("O2", _as_it_is), ("O2", _with_kept_truncations), *_O1[1:], *_INLINE),
    "O3": (("O3", _as_it_is), ("O3", _with_kept_truncations), *_O1[1:], *_INLINE),
}
