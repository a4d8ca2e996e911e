"""Names of the matrix library's texts as names of the user's: nothing changes, in OpenCL C and in SPIR-V."""

from __future__ import annotations

import random
import re
from itertools import product

import numpy as np
import pytest
from differential import Launch, Value, execute
from library_names import KERNEL, NAMES, NEUTRAL, made, meaning, options, program, vocabulary
from opencl_devices import device_of
from repeats import slow_where

import coopmat
from coopmat.diagnostics import CompileError
from coopmat.frontend import builtins
from coopmat.matrices.lowering import prelude
from coopmat.matrices.routes import LOWERED_ROUTES, OPENCL_C_ONLY

#: Routes with their forms.
FORMS = [
    *((route, "c") for route in LOWERED_ROUTES),
    *((route, "spirv") for route in (*LOWERED_ROUTES, "native") if route not in OPENCL_C_ONLY),
]
FEW = {("one", "c"), ("lanes", "c"), ("mma", "c"), ("one", "spirv"), ("native", "spirv")}
#: Those in which every name gets every role.
WHOLE = {("one", "c"), ("lanes", "c")}


def _shuffled(route: str, code: str) -> list[str]:
    words = [*vocabulary(route, code)]
    random.Random(7).shuffle(words)
    return words


@pytest.mark.parametrize(("route", "code"), slow_where(lambda *form: form not in FEW, FORMS))
def test_names_of_the_library_change_nothing(route: str, code: str) -> None:
    names = _shuffled(route, code)[:NAMES]
    assert meaning(route, code, program(names)) == meaning(route, code, program()), names


@pytest.mark.slow
@pytest.mark.parametrize(("route", "code"), FORMS)
def test_no_name_of_the_library_changes_anything(route: str, code: str) -> None:
    words = _shuffled(route, code)
    neutral = meaning(route, code, program())
    for shift, start in product(range(NAMES if (route, code) in WHOLE else 1), range(0, len(words), NAMES)):
        names = [words[(start + shift + n) % len(words)] for n in range(NAMES)]
        assert meaning(route, code, program(names)) == neutral, names


@pytest.mark.parametrize(("route", "code"), slow_where(lambda *form: form not in FEW, FORMS))
def test_macros_of_the_users_do_not_reach_the_library(route: str, code: str) -> None:
    words = _shuffled(route, code)
    options = [f"-D{word}=5" for word in words[::2]]
    defined = "".join(
        f"#define {word}(x) broken\n" if n % 3 else f"#define {word} 5\n" for n, word in enumerate(words[1::2])
    )
    blank = "\n" * defined.count("\n")
    assert made(route, code, defined + program(), *options) == made(route, code, blank + program())


# Names that library functions give their own variables and parameters: of those in scope where they call the user's.
CLOSE = ("s", "r", "c", "lane", "out", "x0", "i", "m", "p", "x", "y", "value", "cm_t0", "cm_w0", "cm_further0")


@pytest.mark.parametrize(
    ("route", "size", "code"),
    slow_where(lambda *case: case != ("one", 8, "c"), product(("one", "scratch"), (8,), ("c", "spirv"))),
)
def test_results_do_not_depend_on_names(route: str, size: int, code: str) -> None:
    results = []
    words = [*CLOSE, *(word for word in _shuffled(route, code) if word not in CLOSE)][:NAMES]
    for names in (NEUTRAL, random.Random(1).sample(words, NAMES), random.Random(2).sample(words, NAMES)):
        source, kernel = program(names), names[KERNEL]
        module = coopmat.compile(source, [*options(route), "--code", code])
        arguments = [np.arange(64, dtype=np.int32) * 7 - 90, np.zeros(160, np.int32)]
        values = [Value(np.array(3, np.int32)), Value(np.array((5, 6), "i4,i4"))]
        items = size if route == "scratch" else 1
        launch = Launch(kernel, [*arguments, *values], (items,), (items,))
        made = module.opencl_c if code == "c" else module.spirv
        results.append(execute(device_of("cpu"), made, [launch], module.opencl_c_options)[0][1])
    assert results[0].any()
    assert all(np.array_equal(result, results[0]) for result in results[1:])


KEPT = {
    # A kernel's name stays, whatever the library has.
    "kernel void cm_t0(global int *o) { o[0] = 1; }": ["void cm_t0("],
    # A label, a field, a type and a function that a compiler may have words for.
    "struct CM_T { int CM_INLINE; }; kernel void k(global int *o) { struct CM_T s = { 1 }; o[0] = s.CM_INLINE; }": [
        "struct cm_u_CM_T {",
        "int cm_f_CM_INLINE;",
        "s.cm_f_CM_INLINE",
    ],
    "kernel void k(global int *o) { CM_X: if (o[0]++ < 9) goto CM_X; }": ["cm_l_CM_X:;", "goto cm_l_CM_X;"],
    "static int linux(int ulong) { return ulong; } kernel void k(global int *o) { o[0] = linux(3); }": [
        "cm_u_linux(int cm_v_ulong)"
    ],
    # A variable of static storage leaves the block in which it hides a function.
    "static int g(); kernel void k(global int *o) { { constant int g[] = { 1 }; *o = *g; } *o += g(); } int g() {}": [
        "*o = *cm_s0_g;",
        "*o += g();",
    ],
}


@pytest.mark.parametrize(("source", "texts"), KEPT.items())
def test_names_in_the_text(source: str, texts: list[str]) -> None:
    written = coopmat.compile(source).opencl_c
    assert all(text in written for text in texts), written


def test_a_file_of_the_librarys_name_is_the_users() -> None:
    source = (
        '#line 1 "<matrix library>"\nstatic int cm_f() { return 1; } kernel void k(global int *o) { o[0] = cm_f(); }'
    )
    assert "cm_u_cm_f(" in coopmat.compile(source).opencl_c


def test_functions_of_components_have_no_scopes_to_tell_variables_apart() -> None:
    source = """\
typedef int C __attribute__((coop_mat(3, 8, 8, 2)));
static int f(uint r, uint c, int x, int y)
{
    if (x > 4) { int y = x * 2; x += y; }
    { int y = x ^ (int)r; x -= y; }
    return x + y;
}
kernel void k(global int *o)
{
    C m = coop_mat_load(o, 0, 8);
    coop_mat_store(o, coop_mat_map(m, f, o[3]), 0, 8);
}
"""
    text = coopmat.compile(source, "--matrices one").opencl_c
    declared = re.findall(r"int8 (\w+) =", text)
    assert len(declared) > 2 and len(set(declared)) == len(declared)
    coopmat.compile(text).spirv  # noqa: B018 - here is where it fails


def test_a_kernel_cannot_have_a_builtin_functions_mangled_name() -> None:
    with pytest.raises(CompileError, match="'_Z13get_global_idj', is not supported"):
        coopmat.compile("kernel void _Z13get_global_idj(global int *o) { o[get_global_id(0)] = 1; }").spirv  # noqa: B018


@pytest.mark.parametrize("route", [route for route in LOWERED_ROUTES if prelude(route)[0]])
def test_preludes_define_names_with_the_librarys_prefix_only(route: str) -> None:
    """Or names of builtin functions, which a user's names never are in the text."""
    text = re.sub(r"//[^\n]*|\\\n", "", prelude(route)[0])
    defined = {*re.findall(r"#define (\w+)", text), *re.findall(r"^(?:static inline )?\w+ (\w+)\(", text, re.MULTILINE)}
    assert defined and not [name for name in defined if not name.lower().startswith("cm_") and not builtins.find(name)]


EXTENDED = """
struct Größe { int länge; int $x; };
int f_é(int é) { int a$b = é; int a_u24_b = 10; int cm_v_a_u24_b = 100; return a$b + a_u24_b + cm_v_a_u24_b; }
kernel void k_数(global int *δ) { local int λ[1]; struct Größe g = { 1000, 10000 }; λ[0] = f_\\u00e9(1);
    goto ende_ß; ende_ß: *δ = λ[0] + g.länge + g.$x; }
"""


@pytest.mark.parametrize("code", ["c", "spirv"])
def test_identifiers_beyond_ascii(code: str) -> None:
    """Kernels keep their names; other names are written in ASCII in OpenCL C, different ones differently."""
    module = coopmat.compile(EXTENDED.replace("\\\\", "\\"), ["--code", code])
    if code == "c":
        assert re.findall(r"[^\x00-\x7f]", module.opencl_c.partition("#line 1")[2].replace("k_数", "")) == []
    device = device_of("cpu")
    text = module.opencl_c if code == "c" else module.spirv
    (found,) = execute(
        device, text, [Launch("k_数", [np.zeros(1, np.int32)])], module.opencl_c_options if code == "c" else ()
    )
    assert found[0].tolist() == [11111]
