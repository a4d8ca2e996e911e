from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import spirv_samples as samples

from coopmat.budgets import Exceeded
from coopmat.diagnostics import InternalError
from coopmat.spirv import emit as emit_module, tools
from coopmat.spirv.emit import SPIRV_VERSIONS, EmitOptions, emit
from coopmat.spirv.legalize import legalize
from coopmat.spirv.module import Module

NATIVE = EmitOptions(extensions=samples.EXTENSIONS)


@pytest.mark.parametrize("version", SPIRV_VERSIONS)
@pytest.mark.parametrize("passes", ["none", "sroa"])
def test_native_gemm_is_valid(version: str, passes: str) -> None:
    options = EmitOptions(version, samples.EXTENSIONS, passes)  # type: ignore[arg-type]
    spirv = emit(samples.GEMM, options).spirv
    assert spirv is not None
    assert tools.validate(legalize(spirv), tools.target_env_for(version)) is None
    assert Module.parse(spirv).version == int(version[0]) << 16 | int(version[2]) << 8


def test_gives_what_is_wanted() -> None:
    both = emit(samples.SMALL, EmitOptions(want=frozenset({"spirv", "llvm_ir"})))
    assert both.spirv and both.llvm_ir
    assert {"parse", "verify", "emit", "total"} <= set(both.seconds)
    assert all(0 <= seconds <= both.seconds["total"] for seconds in both.seconds.values())
    text = emit(samples.SMALL, EmitOptions(want=frozenset({"llvm_ir"})))
    assert text.spirv is None and text.llvm_ir == both.llvm_ir
    assert emit(samples.SMALL).llvm_ir is None
    assert "define spir_kernel void @add_one" in both.llvm_ir


def test_the_data_layout_is_the_targets_even_if_the_text_has_another() -> None:
    wrong = 'target datalayout = "e-p:32:32"\ntarget triple = "x86_64-linux-gnu"\n' + samples.SMALL.replace(
        "float", "i64"
    )
    wrong = wrong.replace("fadd i64 %x, 1.0", "add i64 %x, 1")
    spirv = emit(wrong).spirv
    assert spirv is not None
    assert "Aligned 8" in tools.disassemble(spirv)


def test_same_input_gives_the_same_bytes() -> None:
    first = emit(samples.GEMM, NATIVE).spirv
    for number in range(20):
        if number % 5 == 4:
            emit_module._emitter.stop()  # a fresh emitter, and with it other addresses
        else:
            emit(samples.SMALL, EmitOptions(passes="O1"))
        assert emit(samples.GEMM, NATIVE).spirv == first


@pytest.mark.parametrize(
    ("text", "message", "shown"),
    [
        ("define void @f(\n", "refused", "define void @f("),
        ("define i32 @f() {\n  ret i64 1\n}\n", "refused", "2    ret i64 1"),
        (samples.EXITS, "exited with status 1", "define spir_kernel void @variadic"),
        (samples.ABORTS, "died with SIGABRT", "define spir_kernel void @k"),
        ("define i24 @f(i24 %x) {\n  ret i24 %x\n}\n", "refused", "types that SPIR-V lacks: i24"),
        ("define <5 x i32> @f(<5 x i32> %x) {\n  ret <5 x i32> %x\n}\n", "refused", "lacks: <5 x"),
    ],
)
def test_bad_ir_is_an_internal_error(text: str, message: str, shown: str) -> None:
    with pytest.raises(InternalError) as caught:
        emit(text)
    assert message in caught.value.message
    assert shown in caught.value.details
    assert emit(samples.SMALL).spirv  # and the emitter lives on


def test_the_details_show_the_function_that_is_named() -> None:
    with pytest.raises(InternalError) as caught:
        emit(samples.EXITS)
    assert "@fine" not in caught.value.details


def test_a_crash_leaves_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    emit_module._emitter.stop()
    with pytest.raises(InternalError):
        emit(samples.ABORTS)
    assert list(tmp_path.iterdir()) == []


def test_a_request_that_takes_too_long_is_ended() -> None:
    many = "\n".join(f"  %v{n + 1} = fadd float %v{n}, 1.0" for n in range(60000))
    text = f"define spir_func float @slow(float %v0) {{\n{many}\n  ret float %v60000\n}}\n"
    start = time.monotonic()
    with pytest.raises(Exceeded, match="emitter-seconds"):
        emit(text, EmitOptions(timeout=0.05, passes="O1"))
    assert time.monotonic() - start < 20
    assert emit(samples.SMALL).spirv


def test_a_killed_emitter_is_restarted() -> None:
    expected = emit(samples.SMALL).spirv
    for _ in range(3):
        pid = emit_module._emitter.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        assert emit(samples.SMALL).spirv == expected
        assert emit_module._emitter.pid != pid


def test_an_emitter_that_cannot_start_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    emit_module._emitter.stop()
    monkeypatch.setattr(emit_module.sys, "path", ["/nonexistent"])
    with pytest.raises(InternalError, match="emitter process is gone") as caught:
        emit(samples.SMALL)
    assert "llvmlite" in caught.value.details or "Error" in caught.value.details


def test_threads() -> None:
    expected = emit(samples.GEMM, NATIVE).spirv
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: emit(samples.GEMM, NATIVE).spirv, range(32)))
    assert results == [expected] * 32


def _emit_in_child(expected: bytes | None, parents_emitter: int | None, answer: object) -> None:
    result = emit(samples.SMALL).spirv
    own = emit_module._emitter.pid
    answer.put((result == expected, own != parents_emitter))  # type: ignore[attr-defined]


def test_fork_while_another_thread_emits() -> None:
    expected = emit(samples.SMALL).spirv
    parents = emit_module._emitter.pid
    stop = threading.Event()

    def keep_emitting() -> None:
        while not stop.is_set():
            assert emit(samples.SMALL).spirv == expected

    thread = threading.Thread(target=keep_emitting)
    thread.start()
    try:
        context = multiprocessing.get_context("fork")
        for _ in range(5):
            answer = context.Queue()
            child = context.Process(target=_emit_in_child, args=(expected, parents, answer))
            child.start()
            assert answer.get(timeout=30) == (True, True)
            child.join(timeout=30)
            assert child.exitcode == 0
    finally:
        stop.set()
        thread.join()
    assert emit(samples.SMALL).spirv == expected
    assert emit_module._emitter.pid == parents


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("ending", ["pass", "os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_the_emitter_ends_with_its_user(ending: str) -> None:
    code = (
        "import os, sys\nfrom coopmat.spirv import emit\n"
        f"emit.emit({samples.SMALL!r})\nprint(emit._emitter.pid, flush=True)\n"
        "assert 'llvmlite.binding' not in sys.modules\n" + ending
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    pid = int(done.stdout)
    deadline = time.monotonic() + 5
    while _alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _alive(pid)


def _open_files(process: object) -> int:
    return sum(1 for _ in Path(f"/proc/{process}/fd").iterdir())


def test_no_file_descriptors_leak() -> None:
    emit(samples.SMALL)
    pid = emit_module._emitter.pid
    count = _open_files("self")
    for _ in range(5):
        emit(samples.SMALL)
        with pytest.raises(InternalError):
            emit("nonsense")
    assert _open_files("self") == count
    # Its pipes, those and the files of the fork that waits, and the last one's, which it may be closing still.
    assert _open_files(pid) <= 4 + 4 + 4
    emit_module._emitter.stop()
    emit(samples.SMALL)
    assert _open_files("self") == count


def _waiting_fork() -> int:
    pid = emit_module._emitter.pid
    deadline = time.monotonic() + 5
    before: list[str] = []
    while time.monotonic() < deadline:
        # The last one may still be ending.
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if len(children) == 1 and children == before:
            return int(children[0])
        before = children
        time.sleep(0.05)
    raise AssertionError("the emitter made no fork for the next request")


def test_the_fork_that_waits_may_be_killed_and_ends_with_the_emitter() -> None:
    expected = emit(samples.SMALL).spirv
    first = _waiting_fork()
    os.kill(first, signal.SIGKILL)
    while Path(f"/proc/{first}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.01)
    assert emit(samples.SMALL).spirv == expected
    second = _waiting_fork()
    assert second != first
    emit_module._emitter.stop()
    deadline = time.monotonic() + 5
    while _alive(second) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _alive(second)


def test_extensions_of_the_request_before_are_not_left_over() -> None:
    emit_module._emitter.stop()
    fresh = emit(samples.GEMM, NATIVE).spirv
    emit(samples.SMALL)
    _waiting_fork()
    # In a fork that was made for none of them, then in one that was made for them.
    assert emit(samples.GEMM, NATIVE).spirv == fresh
    _waiting_fork()
    assert emit(samples.GEMM, NATIVE).spirv == fresh
    _waiting_fork()
    with pytest.raises(InternalError):
        emit(samples.GEMM)
    assert (
        emit(samples.SMALL, EmitOptions(spirv_version="1.6")).spirv
        == emit(samples.SMALL, EmitOptions(spirv_version="1.6")).spirv
    )


def test_without_fork_a_process_serves_each_request(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = emit(samples.GEMM, NATIVE).spirv
    monkeypatch.setattr(emit_module, "_CAN_FORK", False)
    assert emit(samples.GEMM, NATIVE).spirv == expected
    with pytest.raises(InternalError, match="exited with status"):
        emit(samples.EXITS)
    with pytest.raises(InternalError, match="refused"):
        emit("nonsense")
    with pytest.raises(Exceeded, match="emitter-seconds"):
        emit(samples.SMALL, EmitOptions(timeout=0.001))


def test_options_are_checked() -> None:
    with pytest.raises(ValueError, match=r"SPIR-V version '1\.7'"):
        EmitOptions("1.7")
    with pytest.raises(ValueError, match="cannot emit obj"):
        EmitOptions(want=frozenset({"obj"}))
