"""Compilations that go on from what an earlier one kept of their includes give what they give without."""

from __future__ import annotations

import pickle
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from timing import processor_seconds

import coopmat
from coopmat import file_table
from coopmat.compiler import Module
from coopmat.diagnostics import CompileError, render_text
from coopmat.options import CompileOptions
from coopmat.preambles import snapshot, store as preamble

Tree = Callable[..., Path]


@pytest.fixture(autouse=True)
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Whatever its length, a preamble is kept, in a cache of the test's own."""
    monkeypatch.setattr(snapshot, "FEWEST_TOKENS", 0)
    monkeypatch.setenv("COOPMAT_CACHE_DIR", str(tmp_path / "cache"))
    preamble.forget()
    yield
    preamble.forget()


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    def write(**texts: str) -> Path:
        for name, text in texts.items():
            (tmp_path / name.replace("_", ".", 1)).write_text(text)
        return tmp_path / "main.cl"

    return write


def results(path: Path, *options: str, knows: bool | None = None) -> tuple[str, str]:
    """Return the LLVM IR, or "" with errors, and the diagnostics."""
    settings = CompileOptions.from_arguments(["-Weverything", *options])
    module = Module(path.read_text(), str(path), settings)
    if knows is None:
        module.preamble = None
    try:
        ir, found = module.llvm_ir, render_text(module.diagnostics, module.sources)
    except CompileError as error:
        ir, found = "", str(error)
    assert knows is None or (module.preamble.known is not None) is knows
    return ir, found


def compared(path: Path, *options: str, keeps: bool = True) -> tuple[str, str]:
    """Compile without preambles, then twice with one, then as another process would."""
    expected = results(path, *options)
    assert results(path, *options, knows=False) == expected
    assert results(path, *options, knows=keeps) == expected
    preamble.forget()
    assert results(path, *options, knows=keeps) == expected
    return expected


HEADER = """
#ifndef HEADER
#define HEADER
#pragma OPENCL FP_CONTRACT OFF
typedef struct { uint a[4]; float4 v; } pair_t;
enum kinds { ONE, TWO = 7 };
constant uint table[] = { 1, 2, 3, WIDTH };
#define TWICE(x) ((x) + (x))
#define TWICE(x) (2 * (x))
#warning some
;
#define GLUE(a, b) a##b
int late(int x);
struct later;
static int unused(int x) { int y; return x; }
static inline uint used(uint x, pair_t p) { uint y = table[x & 3]; return TWICE(y) + p.a[1] + TWO; }
static uint deeper(uint x) { pair_t p; p.a[1] = x; return used(x, p) + GLUE(1, 2); }
static float __attribute__((overloadable)) many(float x) { return x; }
static float __attribute__((overloadable)) many(int x) { return x + 0.5f; }
#endif
"""
MAIN = """
// A comment, and what is not compiled.
#ifdef NOTHING
#include "nothing.h"
#endif
#define WIDTH 9
#include "some.h"

struct later { int x; };
int late(int x) { struct later l = { x }; return l.x; }
static float __attribute__((overloadable)) many(uint x) { return x; }
kernel void k(global uint *p, global float *f) {
    pair_t own = { .v = (float4)(1) };
    p[0] = deeper(p[1]) + __COUNTER__ + __LINE__ + late(p[2]) + (uint)own.v.x;
    f[0] = many(f[1]) + many(p[3]) + many((int)p[4]);
}
"""


def test_the_same_comes_out(tree: Tree) -> None:
    ir, found = compared(tree(main_cl=MAIN, some_h=HEADER))
    assert 'define spir_kernel void @"k"' in ir
    for name in ("unused-function", "unused-variable", "extra-semi", "#warnings", "sign-conversion", "macro-redefined"):
        assert f"[{name}]" in found


def test_what_is_shown_is_whole(tree: Tree) -> None:
    path = tree(main_cl=MAIN, some_h=HEADER)
    modules = [coopmat.compile(path.read_text(), name=str(path)) for _ in range(2)]
    assert [module.preamble.known is not None for module in modules] == [False, True]
    for view in ("preprocessed", "ast", "typed_ast", "macros", "dependencies", "absent"):
        assert getattr(modules[0], view) == getattr(modules[1], view)
    again = pickle.loads(pickle.dumps(modules[1]))
    assert again.preprocessed == modules[0].preprocessed
    path.with_name("some.h").unlink()
    assert again.llvm_ir == modules[0].llvm_ir


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ("deeper(p[1])", "deeper(p[1], 2)"),
        ("struct later { int x; };", "struct later { int x; }; pair_t table;"),
        ("own = {", "own = { .b = 1,"),
        ("late(p[2])", "latte(p[2])"),
        ("int late(int x)", "float late(int x)"),
        ("kernel void k", "kernel void k(int x) { ; } typedef int deeper; kernel void k"),
    ],
)
def test_errors_of_what_follows(tree: Tree, changed: str, message: str) -> None:
    path = tree(main_cl=MAIN, some_h=HEADER)
    results(path, knows=False)
    tree(main_cl=MAIN.replace(changed, message))
    expected = results(path)
    assert not expected[0] and expected[1]
    assert results(path, knows=True) == expected


def test_other_functions_are_reached(tree: Tree) -> None:
    path = tree(main_cl=MAIN, some_h=HEADER)
    results(path, knows=False)
    tree(main_cl=MAIN.replace("late(p[2])", "unused(p[2])"))
    expected = results(path)
    assert results(path, knows=False) == expected
    # From then on all functions are kept.
    assert results(path, knows=True) == expected
    tree(main_cl=MAIN)
    assert results(path, knows=True) == results(path)


def test_without_a_kernel_everything_is_reached(tree: Tree) -> None:
    compared(tree(main_cl='#include "some.h"\nint f(int x) { return x; }\n', some_h=HEADER.replace("WIDTH", "1")))


def test_macros_count_if_the_text_names_them(tree: Tree) -> None:
    path = tree(main_cl=MAIN.replace("#define WIDTH 9\n", ""), some_h=HEADER)
    compared(path, "-DWIDTH=3")
    assert results(path, "-DWIDTH=3", "-DOTHER=1", knows=True) == results(path, "-DWIDTH=3")
    assert results(path, "-DWIDTH=4", knows=False) == results(path, "-DWIDTH=4")
    # Both are known now.
    assert results(path, "-DWIDTH=3", "-DOTHER", knows=True) == results(path, "-DWIDTH=3")
    assert results(path, "-DWIDTH=4", knows=True) == results(path, "-DWIDTH=4")
    # A name that is put together, and one in text that is not compiled.
    assert results(path, "-DWIDTH=3", "-DNOTHING", knows=False) != results(path, "-DWIDTH=3")
    joined = tree(main_cl='#include "some.h"\nkernel void k(global int *p) { *p = N; }\n', some_h=JOINED)
    assert results(joined, knows=False) != results(joined, "-DNAMED=3", knows=False)
    assert results(joined, "-DNAMED=4", knows=False) == results(joined, "-DNAMED=4")


JOINED = """
#define JOIN(a, b) a##b
#define NAMED_HERE 5
enum { NAMED_NOT = 1 };
#define PICK(x) x
constant int joined = JOIN(NAM, ED_HERE);
#if JOIN(NAM, ED) + 0
#define N 2
#else
#define N 1
#endif
"""


def test_options_count(tree: Tree) -> None:
    path = tree(main_cl=MAIN, some_h=HEADER.replace("return x + 0.5f", "return x + 0.5"))
    for options in ((), ("-cl-single-precision-constant",), ("-cl-std=CL2.0",), ("-fwrapv",), ("-w",)):
        assert results(path, *options, knows=False) == results(path, *options)
        assert results(path, *options, knows=True) == results(path, *options)


def test_files_count(tree: Tree) -> None:
    path = tree(main_cl=MAIN, some_h=HEADER)
    (path.parent / "first").mkdir()
    include = ("-I", str(path.parent / "first"), "-I", str(path.parent))
    angled = MAIN.replace('"some.h"', "<some.h>")
    tree(main_cl=angled)
    compared(path, *include)
    tree(some_h=HEADER.replace("TWO = 7", "TWO = 8"))
    expected = compared(path, *include)
    # One that is found before it.
    (path.parent / "first" / "some.h").write_text(HEADER.replace("TWO = 7", "TWO = 9"))
    assert compared(path, *include) != expected
    (path.parent / "first" / "some.h").unlink()
    path.with_name("some.h").unlink()
    assert "file not found" in results(path, *include, knows=False)[1]


def test_files_in_memory_are_others_than_those_on_disk(tree: Tree) -> None:
    path = tree(main_cl=MAIN, some_h=HEADER)
    expected = results(path, knows=False)
    sent = {str(path.with_name("some.h")): HEADER.replace("TWO = 7", "TWO = 8").encode()}
    with file_table.use(sent):
        other = results(path)
        assert other != expected
        assert results(path, knows=False) == other == results(path, knows=True)
    assert results(path, knows=True) == expected
    with file_table.use({}):
        assert "file not found" in results(path, knows=False)[1]


def test_a_file_that_changes_meanwhile_is_kept_as_it_was_read(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tree(main_cl=MAIN, some_h=HEADER)
    keep = snapshot.keep

    def late(*arguments: Any) -> None:
        tree(some_h=HEADER.replace("TWO = 7", "TWO = 8"))
        keep(*arguments)

    monkeypatch.setattr(snapshot, "keep", late)
    first = results(path, knows=False)
    assert results(path, knows=False) == results(path) != first


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("static int f(int x) { return y; }\n", id="finding"),
        pytest.param("#error some\n", id="directive"),
        pytest.param("int x y;\n", id="syntax"),
        pytest.param("static int x\n", id="half a declaration"),
        pytest.param("static int f(int x) { return x;\n", id="half a function"),
        pytest.param('#line 7 "other.h"\ntypedef int number;\n', id="line"),
        pytest.param('#pragma clang diagnostic ignored "-Wunused-variable"\n', id="pragma"),
        pytest.param(
            "typedef float tile __attribute__((coop_mat(memory_scope_sub_group, 16, 16,"
            " CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));\n",
            id="matrices",
        ),
        pytest.param("typedef float m __attribute__((matrix_type(4, 4)));\n", id="matrix types"),
        pytest.param("#define MANY(\n", id="error"),
    ],
)
def test_what_is_not_kept(tree: Tree, header: str) -> None:
    main = '#include "some.h"\n;kernel void k(global int *p) { *p = 1; }\n'
    if header.startswith("static int f(int x) { return x;\n"):
        main = main.replace("\n;", "\n} ")
    compared(tree(main_cl=main, some_h=header), keeps=False)


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("int early(int x);\n;\n", id="stray semicolon"),
        pytest.param("#define UNUSED 1\n#pragma unknown\nint early(int x);\n", id="ignored pragma"),
        pytest.param("static int f([[maybe_unused]] int x) { return 1; }\n", id="attribute that recovery rewrites"),
        pytest.param("static int f(int x) {\n#pragma unknown\nreturn x; }\n", id="pragma in a function"),
    ],
)
@pytest.mark.parametrize("rest", ["", "kernel void k(global int *p) { [[maybe_unused]] int y; *p = 1; }\n"])
def test_what_is_kept(tree: Tree, header: str, rest: str) -> None:
    compared(tree(main_cl=f'#include "some.h"\n{rest}', some_h=header))


def test_stages_process_any_portions(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text is divided at ends of lines, tokens and declarations anywhere."""
    rng = random.Random(35)
    bodies = (
        "void g(int x) { typedef int T; T : x += 1; { T y = x; } }\nstatic int f([[maybe_unused]] int x) { return 1; }"
    )
    path = tree(main_cl=MAIN + bodies, some_h=HEADER)

    def divided(_: object, stage: object, whole: Sequence[object]) -> Iterator[range]:
        places = [i + 1 for i, item in enumerate(whole) if not isinstance(item, str) or item == "\n"]
        ends = sorted(rng.sample(places, min(4, len(places))))
        for start, end in zip([0, *ends], [*ends, None], strict=True):
            yield range(start, len(whole) if end is None else end)

    expected = results(path)
    monkeypatch.setattr(snapshot.Snapshot, "portions", divided)
    for _ in range(20):
        assert results(path, knows=False) == expected


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ('#include "a"\nint x;\n', '#include "a"\n'),
        ("\n// c\n/* d\n */ \n#define X \\\n 1\n#include <a>\n\n#define Y\nint x;\n", "#include <a>\n"),
        ('#ifdef A\n#include "a"\n#endif\n#if B\n#include "b"\nint x;\n#endif\n', "#endif\n"),
        ('#ifndef A\n#include "a"\nint x;\n#endif\n', None),
        ('int x;\n#include "a"\n', None),
        ('#include "a" /* and\n more */\nint x;\n', None),
        ('#endif\n#include "a"\n', None),
        ("#define A 1\nint x;\n", None),
        ('#include "a"', None),
        ('#include "a"\n#define A \\\nint', '#include "a"\n'),
    ],
)
def test_where_it_ends(text: str, end: str | None) -> None:
    length = snapshot.preamble_length(text)
    assert length == (0 if end is None else text.index(end) + len(end))


@pytest.mark.parametrize("part", ["#a", "# ", " ", "\\ ", "/**", "// ", "#a \\\n", "/*/"])
def test_its_end_is_found_in_linear_time(part: str) -> None:
    texts = [part * count for count in (1_000, 10_000)]
    times = [min(processor_seconds(lambda t=text: snapshot.preamble_length(t)) for _ in range(2)) for text in texts]
    assert times[1] < 50 * times[0] + 0.05


def test_only_classes_of_the_frontend_are_made(tree: Tree) -> None:
    class Foreign:
        def __reduce__(self) -> object:
            return print, ("a pickle was obeyed",)

    for value in (Foreign(), coopmat.compile, pickle.Unpickler, Path()):
        with pytest.raises(preamble.Unreached):
            preamble.read(pickle.dumps(value) if not isinstance(value, Foreign) else b"cbuiltins\nprint\n(S'x'\ntR.")
    path = tree(main_cl=MAIN, some_h=HEADER)
    expected = results(path, knows=False)
    for key, entry in list(preamble._STORE._entries.items()):
        if entry.payload:
            known = pickle.loads(entry.payload)
            for stage in known.states:
                damaged = preamble.Known({**known.states, stage: b"cbuiltins\nprint\n(S'x'\ntR."}, known.bodies)
                preamble._STORE._entries[key] = type(entry)(pickle.dumps(damaged), entry.facts)
                assert results(path, knows=False) == expected


def _called(module: str, name: str, *arguments: str) -> bytes:
    """Return a pickle that calls what has this name, which may have dots, with texts."""

    def text(value: str) -> bytes:
        return b"\x8c" + bytes([len(value.encode())]) + value.encode()

    return b"\x80\x04" + text(module) + text(name) + b"\x93(" + b"".join(map(text, arguments)) + b"tR."


def test_no_pickle_runs_a_program_or_opens_a_file(tmp_path: Path) -> None:
    path = tmp_path / "found"
    path.write_text("whole")
    for module, name, *arguments in (
        ("coopmat.matrices.numpy_reference", "np.f2py.subprocess.Popen", "touch", str(tmp_path / "made")),
        ("coopmat.preambles.store", "io.FileIO", str(path), "w"),
        ("coopmat.preambles.store", "Known.__init__.__globals__", ""),
        ("coopmat.diagnostics", "CompileError", ""),
        ("coopmat.frontend.preprocess", "Preprocessor", ""),
    ):
        with pytest.raises(preamble.Unreached):
            preamble.read(_called(module, name, *arguments))
    assert path.read_text() == "whole" and not (tmp_path / "made").exists()


def _names(value: object, depth: int) -> Iterator[str]:
    """Yield the names of what can be called within a module or a class, with dots from the second on."""
    for name in dir(value):
        found = getattr(value, name, None)
        if callable(found):
            yield name
        if depth and (isinstance(found, ModuleType) or (isinstance(found, type) and not name.startswith("__"))):
            yield from (f"{name}.{rest}" for rest in _names(found, depth - 1))


def test_every_name_but_those_of_plain_classes_is_refused() -> None:
    """Pickles may name whatever the package's modules have, and what these import."""
    reader = preamble._Reader(b"")
    found = set()
    modules = {name: module for name, module in list(sys.modules.items()) if name.startswith("coopmat.")}
    for module, value in modules.items():
        for name in _names(value, 1):
            try:
                found.add((module, name, reader.find_class(module, name)))
            except pickle.UnpicklingError:
                continue
    functions = {"scalar_named", "function_without_body", "shared_object"}
    for module, name, value in found:
        is_plain = isinstance(value, type) and (value.__module__, value.__qualname__) == (module, name)
        assert is_plain or name in functions, (module, name, value)
        assert not {"__reduce__", "__reduce_ex__", "__del__"} & vars(value).keys() if is_plain else True, value
    assert len(found) > 60


def test_damaged_pickles_are_not_there(tree: Tree) -> None:
    """Bits, names and opcodes that are changed: a preamble is read, or there is none; nothing else happens."""
    path = tree(main_cl=MAIN, some_h=HEADER)
    results(path, knows=False)
    rng = random.Random(33)
    payloads = [entry.payload for entry in preamble._STORE._entries.values() if entry.payload]
    known = preamble.read(payloads[0])
    for whole in [payloads[0], *known.states.values(), *known.bodies.values()]:
        for _ in range(200):
            data = bytearray(whole)
            for _ in range(rng.choice((1, 1, 2, 8))):
                at = rng.randrange(len(data))
                data[at : at + rng.randrange(3)] = rng.choice((bytes([rng.randrange(256)]), b"b", b"R", b"\x93", b""))
            with suppress(preamble.Unreached):
                preamble.read(bytes(data))


def test_other_objects_than_preambles_are_not_used(tree: Tree) -> None:
    path = tree(main_cl=MAIN, some_h=HEADER)
    expected = results(path, knows=False)
    for key, entry in list(preamble._STORE._entries.items()):
        preamble._STORE._entries[key] = type(entry)(pickle.dumps([7]), entry.facts)
    assert results(path, knows=False) == expected


def test_generated_sources(tree: Tree) -> None:
    from generated_source import generate

    for seed in range(6):
        text = generate(300, seed=seed)
        at = text.index("__kernel") if "__kernel" in text else text.index("kernel void")
        path = tree(main_cl=f'#include "some.h"\n\n{text[at:]}', some_h=text[:at])
        expected = results(path)
        assert results(path, knows=False) == expected
        assert results(path, knows=True) == expected
        preamble.forget()


class _ByGetattr:
    """An object that is pickled as Python 3.11.2 pickles the member `name` of an enumeration."""

    def __init__(self, of: Any, name: str) -> None:
        self.of, self.name = of, name

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self.of, self.name)


def test_members_of_enumerations_are_read_and_no_other_attributes() -> None:
    from coopmat.frontend.typed import ConvertKind, FunctionDecl

    member = next(iter(ConvertKind))
    assert preamble.read(pickle.dumps(_ByGetattr(ConvertKind, member.name))) is member
    for of, name in ((ConvertKind, "__class__"), (FunctionDecl, "__init__"), (str, "join")):
        with pytest.raises(preamble.Unreached):
            preamble.read(pickle.dumps(_ByGetattr(of, name)))
