"""Budgets: what would take a machine ends with the name of the budget, and what people write does not meet one."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest
from repeats import slow_where

import coopmat
from coopmat import budgets
from coopmat.spirv import emit as emit_module, growth, tools
from coopmat.spirv.emit import EmitOptions, emit
from coopmat.spirv.tools import ToolError, find_tools

ROOT = Path(__file__).parents[2]
HEAD = """#define SCOPE CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define M(R, C, U) __attribute__((coop_mat(SCOPE, R, C, CLK_COOPERATIVE_MATRIX_##U)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
"""


def refused(source: str | bytes, *options: str, **others: str) -> list[coopmat.Diagnostic]:
    with pytest.raises(coopmat.CompileError) as caught:
        coopmat.compile(source, ["-w", *options], **others).spirv  # noqa: B018
    return caught.value.diagnostics


def budget_of(found: list[coopmat.Diagnostic], code: str = "budget") -> str:
    """The one that the error names, with the option."""
    (item,) = [item for item in found if item.code == code]
    name = item.message.split("the budget ")[1].split(";")[0]
    assert f"--budget {name}=N raises it" in item.message
    return name


def test_table_and_documentation_are_one():
    text = (ROOT / "docs" / "language.md").read_text()
    for row in budgets.BUDGETS.values():
        assert f"| `{row.name}` | {row.default:,} {row.unit} | {row.bounds} |" in text
    assert len(budgets.BUDGETS) == text.split("| Budget |")[1].split("\n\n")[0].count("\n| `")


def test_option_sets_one_budget():
    source = "kernel void k(global int *a) { a[0] = 1; }"
    assert budget_of(refused(source, "--budget", "source-bytes=20")) == "source-bytes"
    assert budget_of(refused(source, "--budget=source-bytes=20", "--budget=macro-work=9")) == "source-bytes"
    assert coopmat.compile(source, ["--budget", "source-bytes=20", "--budget", "source-bytes=2000"]).spirv
    assert budgets.limit("source-bytes") == budgets.BUDGETS["source-bytes"].default


@pytest.mark.parametrize("text", ["", "nothing=1", "macro-work", "macro-work=", "macro-work=0", "macro-work=-1", "=1"])
def test_budgets_that_are_none(text):
    with pytest.raises(coopmat.UsageError, match="--budget"):
        coopmat.compile("", ["--budget", text])


def test_exceeded_can_be_pickled():
    error = pickle.loads(pickle.dumps(budgets.Exceeded("macro-work", "it")))
    assert str(error) == str(budgets.Exceeded("macro-work", "it"))


# --- text ---


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("#define A(x) A2(x) A2(x)\n#define A2(x) x x x\nA(1)", "macro-tokens=5"),
        ("#define A(x) A2(x) A2(x)\n#define A2(x) x x x\nA(1)", "macro-work=12"),
        ("#define A aaaaaaaaaaaaaaa\nA", "macro-characters=10"),
        ("#define A a\n" + "A A A A A A A A A A\n" * 9, "expansion-work=40"),
    ],
)
def test_macros(source, name):
    assert budget_of(refused(source, "--budget", name), "expansion-too-large") == name.split("=")[0]


def test_string_of_a_string_of_a_string():
    # Each level writes a backslash before those of the level below: 2 to the power of 24 characters.
    source = "#define S(a) #a\n#define T(a) S(a)\nconstant char s[] = " + "T(" * 24 + r'"\\"' + ")" * 24 + ";\n"
    assert budget_of(refused(source), "expansion-too-large") == "macro-characters"


def test_names_pasted_to_themselves():
    # Each level doubles the name before the level below is asked for; memory ends before recursion does.
    lines = [f"#define P{i}(x) P{i - 1}(x##x)\n" for i in range(1, 1000)]
    source = "#define P0(x) x##x\n" + "".join(lines) + "int P999(a);\n"
    start = time.process_time()
    assert budget_of(refused(source), "expansion-too-large") == "macro-characters"
    assert time.process_time() - start < 10


def test_include_of_many_gigabytes(tmp_path):
    with (tmp_path / "big.h").open("wb") as file:
        file.truncate(20 << 30)
    start = time.monotonic()
    found = refused('#include "big.h"\n', f"-I{tmp_path}")
    assert budget_of(found) == "source-bytes" and found[0].span is not None and time.monotonic() - start < 5


@pytest.mark.parametrize("name", ["/dev/zero", "big.cl"])
def test_source_of_many_gigabytes(tmp_path, name):
    with (tmp_path / "big.cl").open("wb") as file:
        file.truncate(20 << 30)
    command = [sys.executable, "-m", "coopmat", "compile", name, "-o", "x.spv"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 1 and "the budget source-bytes" in done.stderr and "Traceback" not in done.stderr


# --- the matrix library ---


def _doubling(levels: int) -> str:
    lines = [HEAD, "typedef float T M(16, 16, ACCUMULATOR);", "T f0(T a) { return a + a; }"]
    lines += [f"T f{i}(T a) {{ return f{i - 1}(f{i - 1}(a)); }}" for i in range(1, levels + 1)]
    lines.append(f"kernel void k(global float *p) {{ T a = coop_mat_load(p, ROW, 16); a = f{levels}(a);")
    return "\n".join([*lines, "coop_mat_store(p, a, ROW, 16); }"])


def _products(size: int, count: int) -> str:
    names = {"A": "A", "B": "B", "T": "ACCUMULATOR"}
    types = "".join(f"typedef float {name} M({size}, {size}, {use});\n" for name, use in names.items())
    loads = "".join(f"{name} {name.lower()} = coop_mat_load(p, ROW, {size});\n" for name in names)
    work = "t = coop_mat_mulAdd(a, b, t);\n" * count
    return f"{HEAD}{types}kernel void k(global float *p) {{\n{loads}{work}coop_mat_store(p, t, ROW, {size}); }}\n"


def _shapes(count: int) -> str:
    lines = (
        f"{{ float M({n // 25 + 1}, {n % 25 + 1}, ACCUMULATOR) a = coop_mat_load(p, ROW, 25);"
        " coop_mat_store(p, a, ROW, 25); }\n"
        for n in range(count)
    )
    return f"{HEAD}kernel void k(global float *p) {{\n{''.join(lines)}}}\n"


@pytest.mark.parametrize("matrices", ["one", "lanes", "scratch"])
@pytest.mark.parametrize("source", [_doubling(14), _products(64, 40)], ids=["calls that double", "large products"])
def test_what_would_grow_is_not_inlined(source, matrices):
    start = time.process_time()
    module = coopmat.compile(source, ["-w", "--matrices", matrices])
    assert len(module.spirv) < 200_000
    assert module.timings["emit"] < 30 and time.process_time() - start < 20


@pytest.mark.parametrize("matrices", ["one", "lanes"])
def test_what_fits_is_inlined_as_before(matrices):
    text = coopmat.compile(_products(16, 4), ["-w", "--matrices", matrices]).llvm_ir
    assert growth.limit_inlining(text, *map(budgets.limit, growth.BUDGETS)) is text
    assert growth.instructions(text) > 10_000


@pytest.mark.parametrize(
    "route", [["--matrices", "one"], ["--matrices", "lanes"], ["--code", "c", "--matrices", "one"]]
)
def test_shapes_without_number(route):
    source = _shapes(60)
    with pytest.raises(coopmat.CompileError) as caught:
        module = coopmat.compile(source, ["-w", "--budget", "library-functions=100", *route])
        module.opencl_c if "c" in route else module.spirv  # noqa: B018
    assert budget_of(caught.value.diagnostics) == "library-functions"


def test_growth_is_estimated():
    text = """
define void @k() {
  call void @"f"()
  call void @g()
  ret void
}
define internal void @"f"() alwaysinline {
entry:
  br label %head
head:
  %i = phi i32 [0, %entry], [%n, %head]
  call void @g()
  %n = add i32 %i, 1
  %c = icmp eq i32 %n, 100
  br i1 %c, label %done, label %head, !llvm.loop !0
done:
  ret void
}
define internal void @g() #0 {
  %x = add i32 1, 2
  ret void
}
define internal void @r() alwaysinline {
  call void @r()
  ret void
}
attributes #0 = { alwaysinline nounwind }
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.enable"}
"""
    found = growth.instructions(text)
    assert 100 * (1000 + 5) < found < 110 * (1000 + 5)
    assert growth.limit_inlining(text, found, 100, 100) is text
    rolled = growth.limit_inlining(text, found - 1, 100, 100)
    assert "alwaysinline" in rolled and "unroll.disable" in rolled
    assert 3 * 1000 < growth.instructions(rolled) < 3 * (1000 + 15)
    less = growth.limit_inlining(text, 2000, 100, 100)
    assert "alwaysinline" not in less and "unroll.disable" in less
    assert growth.instructions(less) < 30


@pytest.mark.parametrize("bound", ["4000001", "n"])
@pytest.mark.parametrize("pragma", ["4000001", ""])
def test_unrolling_without_end(pragma, bound):
    """`#pragma unroll 4000001` was found by the campaign of mutated inputs."""
    source = f"""kernel void k(global int *p, int n) {{
#pragma unroll {pragma}
for (int i = 0; i < {bound}; i++) p[i] += i; }}"""
    module = coopmat.compile(source, ["-w"])
    assert module.spirv and module.timings["emit"] < 12


def test_what_its_group_of_attributes_forces_is_held_back():
    """LLVM refuses a function that must be inlined and must not be."""
    loop = "define void @f() #0 {\na:\n  br label %b\nb:\n  br i1 undef, label %b, label %c\nc:\n  ret void\n}\n"
    calls = "  call void @f()\n" * 20
    text = f"{loop}define void @k() {{\n{calls}  ret void\n}}\nattributes #0 = {{ alwaysinline nounwind }}\n"
    assert growth.limit_inlining(text, 10**9, 20, 100) is text
    less = growth.limit_inlining(text, 10**9, 19, 100)
    assert "noinline" in less and "alwaysinline" not in less


_LOOP = "for (int i = 0; i < n; i++) p[i] += i;\n"
_MANY = {
    "loops": f"kernel void k(global int *p, int n) {{\n{_LOOP * 3000}}}",
    "loops in functions": f"void f(global int *p, int n) {{ {_LOOP} }}\n"
    f"kernel void k(global int *p, int n) {{\n{'f(p, n);' * 3000}}}",
    "loops of the library": _products(8, 3000),
    "conditions in a loop": "kernel void k(global int *p, int n) {\nfor (int i = 0; i < n; i++) {\nint j = i * 64;\n"
    + "p[i] = j < n ? p[j] : 0;\n" * 3000
    + "}}",
}


@pytest.mark.parametrize("source", _MANY.values(), ids=_MANY)
@pytest.mark.parametrize("matrices", slow_where(lambda route: route != "one", ["one", "lanes", "scratch"]))
def test_loops_one_after_another(source, matrices):
    """Found by the campaign of mutated inputs: LLVM's work on them grows with the square of their number."""
    module = coopmat.compile(source, ["-w", "--matrices", matrices])
    assert module.spirv and module.timings["emit"] < 12
    # A device's compiler may inline.
    assert "DontInline" not in module.spirv_text


def test_records_that_double_are_not_validated():
    """spirv-val walks through all members of every type."""
    lines = [f"struct S{i} {{ struct S{i - 1} a, b; }};" for i in range(1, 43)]
    source = "\n".join(["struct S0 { float x; };", *lines, "kernel void k(global struct S42 *p) { p[2] = p[3]; }"])
    assert budget_of(refused(source, "--validate")) == "type-members"
    assert coopmat.compile(source, ["--no-validate"]).spirv


def test_argument_that_is_made_a_string_many_times():
    """Found by the campaign of mutated inputs: each `#a` was made anew."""
    lines = ["#define S(a) " + "#a a " * 2000, "#define T0(a) S(a)", "#define T1(a) T0(S(a) a)", 'T1("a")']
    start = time.process_time()
    assert budget_of(refused("\n".join(lines)), "expansion-too-large")
    assert time.process_time() - start < 5


@pytest.mark.parametrize("matrices", ["native", "one", "lanes", "scratch"])
def test_chains_of_calls_are_longer_than_the_stack(matrices):
    functions = [f"void f{i}(global int *a) {{ f{i - 1}(a); }}" for i in range(1, 700)]
    source = "\n".join(["void f0(global int *a) { a[0]++; }", *functions, "kernel void k(global int *a) { f699(a); }"])
    assert coopmat.compile(source, ["-w", "--matrices", matrices, "--no-validate"]).spirv


# --- processes ---


def test_what_the_optimiser_dies_of_is_not_optimised(monkeypatch):
    """As of thousands of conditional expressions in a row, which SimplifyCFG gives up on with an assertion."""
    answer, asked = emit_module._answer, []

    def fail_to_optimise(request, text):
        asked.append(request["passes"])
        return ({"died": "died with SIGABRT", "stderr": ""}, []) if request["passes"] == "O1" else answer(request, text)

    monkeypatch.setattr(emit_module, "_answer", fail_to_optimise)
    assert coopmat.compile("kernel void k(global int *a) { a[0] = 1; }", ["--matrices", "one"]).spirv
    assert asked == ["O1", "none"]


def test_time_of_the_emitter():
    body = "".join(f"x = x * {i}.0f + a[{i}];\n" for i in range(4000))
    source = f"kernel void k(global float *a) {{ float x = 0;\n{body}a[0] = x; }}"
    with pytest.raises(budgets.Exceeded) as caught, budgets.use({"emitter-seconds": 1}):
        emit(coopmat.compile(source, ["-w"]).llvm_ir, EmitOptions(timeout=0.01, passes="O3"))
    assert caught.value.name == "emitter-seconds"
    assert coopmat.compile("kernel void k() { }").spirv


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the memory of a process is bounded on Linux")
def test_memory_of_the_emitter():
    body = "".join(f"x = x * {i}.0f + a[{i}];\n" for i in range(4000))
    source = f"kernel void k(global float *a) {{ float x = 0;\n{body}a[0] = x; }}"
    assert budget_of(refused(source, "--budget", "emitter-megabytes=20")) == "emitter-megabytes"


@pytest.fixture
def slow_tools(tmp_path, monkeypatch):
    """spirv-val is a program that we make."""

    def make(text: str) -> tools.SpirvTools:
        program = tmp_path / "spirv-val"
        program.write_text(f"#!{sys.executable}\n{text}\n")
        program.chmod(0o755)
        return tools.SpirvTools(tmp_path)

    return make


def test_time_of_a_tool(slow_tools):
    found = slow_tools("import time; time.sleep(60)")
    with pytest.raises(budgets.Exceeded, match="spirv-val takes more than 1 seconds"), budgets.use({"tool-seconds": 1}):
        found.run("spirv-val")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the memory of a process is bounded on Linux")
def test_memory_of_a_tool(slow_tools):
    found = slow_tools("import sys; sys.stdin.read(); x = bytearray(1 << 30)")
    with pytest.raises(budgets.Exceeded, match="tool-megabytes"), budgets.use({"tool-megabytes": 500}):
        found.run("spirv-val", data=b"x")


def test_tool_that_dies(slow_tools):
    with pytest.raises(ToolError, match="SIGSEGV"):
        slow_tools("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)").run("spirv-val")


# --- SPIR-V ---

_HEADER = """OpCapability Kernel
OpCapability Addresses
OpCapability Linkage
OpCapability CooperativeMatrixKHR
OpExtension "SPV_KHR_cooperative_matrix"
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k "k"
%void = OpTypeVoid
%u = OpTypeInt 32 0
%f = OpTypeFloat 32
%n = OpConstant %u 4000
%c16 = OpConstant %u 16
%c2 = OpConstant %u 2
%c3 = OpConstant %u 3
%m = OpTypeCooperativeMatrixKHR %f %c3 %c16 %c16 %c2
"""
_BODY = """%fn = OpTypeFunction %void
%k = OpFunction %void None %fn
%l = OpLabel
USE
OpReturn
OpFunctionEnd
"""


def _structs(first: str) -> str:
    return f"%s0 = OpTypeStruct {first} {first}\n" + "".join(
        f"%s{i} = OpTypeStruct %s{i - 1} %s{i - 1}\n" for i in range(1, 40)
    )


_VARIABLE = "%v = OpVariable %p Function"
_ENDLESS = {
    "null of arrays": (
        "%a0 = OpTypeArray %m %n\n" + "".join(f"%a{i} = OpTypeArray %a{i - 1} %n\n" for i in range(1, 4)),
        "%z = OpConstantNull %a3\n",
        "%v = OpCopyObject %a3 %z",
        "constant-members",
    ),
    "structs of structs": (_structs("%f"), "%p = OpTypePointer Function %s39\n", _VARIABLE, "type-members"),
    "structs of matrices": (_structs("%m"), "%p = OpTypePointer Function %s39\n", _VARIABLE, "type-members"),
}


@pytest.mark.skipif(find_tools() is None, reason="no spirv-as")
@pytest.mark.parametrize("validate", [[], ["--no-validate"]])
@pytest.mark.parametrize("case", _ENDLESS)
def test_types_of_modules(case, validate):
    types, more, use, name = _ENDLESS[case]
    source = _HEADER + types + more + _BODY.replace("USE", use)
    start = time.monotonic()
    assert budget_of(refused(source, "--matrices", "one", *validate, language="spv")) == name
    assert time.monotonic() - start < 10


@pytest.mark.skipif(find_tools() is None, reason="no spirv-as")
@pytest.mark.parametrize("matrices", ["native", "one"])
def test_struct_that_contains_itself(matrices):
    types = "%s = OpTypeStruct %f %t\n%t = OpTypeArray %s %n\n%p = OpTypePointer Function %s\n"
    source = _HEADER + types + _BODY.replace("USE", _VARIABLE)
    (item,) = refused(source, "--no-validate", "--matrices", matrices, language="spv")
    assert item.code == "spirv-invalid" and "contains itself" in item.message


@pytest.mark.skipif(find_tools() is None, reason="no spirv-as")
def test_bound_of_four_milliards():
    binary = bytearray(coopmat.compile(_HEADER + _BODY.replace("USE", ""), ["-w"], language="spv").spirv)
    binary[12:16] = b"\xff\xff\xff\xff"
    for matrices in ("one", "native"):
        (item,) = refused(bytes(binary), "--no-validate", "--matrices", matrices, language="spv")
        assert item.code == "spirv-not-supported" and "bound" in item.message
