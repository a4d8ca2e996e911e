"""Time and memory grow no faster than the source; nothing heavy is loaded before it is needed.

The figures themselves are `tools/bench-compile`'s; here are bounds that a busy machine keeps too.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from timing import processor_seconds

import coopmat
from coopmat.compiler.from_source import collector as _collector
from coopmat.compiler.stages import TOKENS
from coopmat.spirv.tools import find_tools

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("generated_source", ROOT / "tools" / "generated_source.py")
assert _spec is not None and _spec.loader is not None
generated_source = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(generated_source)
generate = generated_source.generate

HEAVY = {"llvmlite", "numpy", "pyopencl", "click", "rich", "lark", "platformdirs"}


def _lower(source: str) -> float:
    """CPU seconds of this process, to LLVM IR."""
    return processor_seconds(lambda: coopmat.compile(source, ["-w"]).llvm_ir)


def _validate(source: str) -> float:
    """CPU seconds of the validator."""
    module = coopmat.compile(source, ["-w", "--no-validate"])
    module.spirv  # noqa: B018
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    module.validate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _ratio(measure, small: str, large: str, rounds: int = 3) -> float:
    measure(small)
    # In turns, since other work slows a machine down for a while.
    times = [(measure(large), measure(small)) for _ in range(rounds)]
    return min(time for time, _ in times) / min(time for _, time in times)


def test_generated_sources_are_exact_and_repeatable():
    for lines in (100, 133, 1000):
        assert generate(lines).count("\n") == lines
    assert generate(300) == generate(300) != generate(300, seed=2)


def test_time_is_linear_to_llvm_ir():
    # Eight times the lines, and as much again for caches, and for a machine that others use; quadratic were 64.
    assert _ratio(_lower, generate(500), generate(4000)) < 16


def _preprocess(source: str) -> float:
    return processor_seconds(lambda: coopmat.compiler.Module(source, "m.cl", coopmat.CompileOptions()).result(TOKENS))


def test_text_that_is_not_compiled_costs_little():
    text = generate(2000)
    nested = f"#if 0\n#ifdef A\n{text}\n#else\n{text}#endif\n#endif\nint x;\n"
    assert _ratio(_preprocess, text, nested) < 0.25


def test_spliced_lines_slow_no_others_down():
    lines = generate(2000).splitlines(keepends=True)
    at = [number for number, line in enumerate(lines) if " = " in line and "#" not in line]
    for number in at[:: len(at) // 40]:
        lines[number] = lines[number].replace(" = ", " = \\\n", 1)
    assert _ratio(_preprocess, generate(2000), "".join(lines)) < 1.5


def test_known_headers_cost_little(tmp_path, monkeypatch):
    monkeypatch.setenv("COOPMAT_CACHE_DIR", str(tmp_path / "cache"))
    text = generate(3000)
    at = text.rindex("__kernel void")
    (tmp_path / "head.h").write_text(text[:at].replace("__kernel void", "static void"))
    path = tmp_path / "main.cl"

    def seconds(number: int) -> float:
        path.write_text(f'#include "head.h"\nkernel void k{number}(global int *p) {{ *p = {number}; }}\n')
        return processor_seconds(lambda: coopmat.compile(path, ["-w"]).llvm_ir)

    seconds(0)  # and whatever is imported
    (tmp_path / "head.h").write_text((tmp_path / "head.h").read_text() + "// another text\n")
    unknown = seconds(1)
    assert min(seconds(number) for number in (2, 3, 4)) < unknown / 4


def _many_functions(count: int) -> str:
    functions = "".join(f"float f{i}(float x) {{ return x + {i}.0f; }}\n" for i in range(count))
    calls = "".join(f"    x = f{i}(x);\n" for i in range(count))
    return f"{functions}kernel void k(global float *a) {{\n    float x = a[0];\n{calls}    a[0] = x;\n}}\n"


def _wide_record(count: int) -> str:
    fields = "".join(f"    int m{i};\n" for i in range(count))
    uses = "".join(f"    s->m{i} += {i};\n" for i in range(count))
    return f"struct S {{\n{fields}}};\nkernel void k(global struct S *s) {{\n{uses}}}\n"


@pytest.mark.parametrize("make", [_many_functions, _wide_record])
def test_many_of_a_kind_are_linear_too(make):
    assert _ratio(_lower, make(200), make(1600)) < 16


def test_equal_names_do_not_slow_validation_down():
    # It was quadratic in the names that are alike: 16 times as long for four times the functions.
    find_tools()
    assert _ratio(_validate, _many_functions(750), _many_functions(3000), rounds=2) < 10


def test_compilations_leave_nothing_behind():
    sources = [generate(150, seed=seed) for seed in range(8)]
    counts = []
    for _ in range(3):
        for source in sources:
            coopmat.compile(source, ["-w"]).llvm_ir  # noqa: B018
        counts.append(len(gc.get_objects()))
    # The first round fills caches. Without gc.collect: the collector must get at the rest by itself.
    assert counts[2] < counts[1] + 4000


@pytest.mark.parametrize("source", ["kernel void f(global int *a) { a[0] = 1; }", "kernel void f( {"])
@pytest.mark.parametrize("was_on", [True, False])
def test_the_garbage_collector_is_left_as_it_was(source, was_on):
    before = gc.isenabled()
    try:
        (gc.enable if was_on else gc.disable)()
        try:
            coopmat.compile(source).llvm_ir  # noqa: B018
        except coopmat.CompileError:
            assert "{" in source
        assert gc.isenabled() == was_on
    finally:
        (gc.enable if before else gc.disable)()


def test_the_last_thread_out_turns_the_collector_on():
    entered, leave = threading.Event(), threading.Event()

    def other():
        with _collector:
            entered.set()
            leave.wait(30)

    assert gc.isenabled()
    thread = threading.Thread(target=other)
    with _collector:
        thread.start()
        assert entered.wait(30)
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()


def test_frozen_objects_stay_frozen_and_are_counted_once(monkeypatch):
    """Counting visits each of them: in this suite, it was most of the time of a short compilation."""
    counted, released = [], []
    monkeypatch.setattr(gc, "get_freeze_count", lambda: counted.append(1) or 1_000_000)
    monkeypatch.setattr(gc, "unfreeze", lambda: released.append(1))
    collector = type(_collector)()
    for _ in range(3):
        with collector:
            pass
    assert (len(counted), released) == (1, [])


_IMPORT = """
import json, sys, time
start = time.process_time()
import coopmat
print(json.dumps([time.process_time() - start, sorted(sys.modules)]))
"""


def _python(*arguments: str) -> list:
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def test_importing_loads_nothing_heavy():
    seconds, modules = _python("-c", _IMPORT)
    assert not HEAVY & set(modules)
    assert seconds < 0.25


_COMPILE = """
import json, sys
from coopmat.cli.app import run_command
status = run_command(["compile", *sys.argv[2:], "-o", sys.argv[1], "-"])
print(json.dumps([status, sorted(sys.modules)]))
"""


@pytest.mark.parametrize("options", [(), ("--matrices", "one")])
def test_the_command_loads_only_what_it_needs(tmp_path, options):
    command = [sys.executable, "-c", _COMPILE, str(tmp_path / "f.spv"), *options]
    source = "kernel void f(global float *a) { a[0] = sqrt(a[1]); }"
    if options:
        matrix = "float __attribute__((coop_mat(memory_scope_sub_group, 8, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)))"
        layout = "CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR"
        source = (
            f"kernel void f(global float *a) {{ {matrix} m = coop_mat_init(1); coop_mat_store(a, m, {layout}, 8); }}"
        )
    subprocess.run(command, input=source, cwd=ROOT, check=True, capture_output=True, text=True)  # makes the tables
    done = subprocess.run(command, input=source, cwd=ROOT, check=True, capture_output=True, text=True)
    status, modules = json.loads(done.stdout)
    assert status == 0 and (tmp_path / "f.spv").stat().st_size
    # LLVM itself is loaded by the emitter alone; a device is asked only where one is named.
    absent = {"numpy", "pyopencl", "rich", "lark", "llvmlite.binding", "coopmat.devices", "coopmat.runtime"}
    assert not absent & set(modules)
