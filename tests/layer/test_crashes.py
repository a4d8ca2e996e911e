"""Builds by a compiler that ends its process: the application lives, and the build's log says what happened.

The compiler is that of the stub driver, whose platform calls itself Intel's, and which does what words in the code say.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from stub_application import CL, Application, driver
from stub_suite import SOURCE, Stub, built, matrix_module

from coopmat.cache import CACHE_DIRECTORY, NO_CACHE
from coopmat.devices import DeviceInfo, may_crash
from coopmat.devices.query import from_mapping
from coopmat.runtime import guarded

PLATFORM = "Intel(R) stub"
SEEDS = range(8)


def module(words: str) -> bytes:
    """Return a module that is one for the stub driver."""
    return b"\x03\x02\x23\x07" + bytes(16) + words.encode() + b"\0"


# --- the process that builds


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def set_all(**variables: str) -> None:
        for name, value in {"STUB_PLATFORM": PLATFORM, CACHE_DIRECTORY: str(tmp_path / "cache"), **variables}.items():
            monkeypatch.setenv(name, value)

    monkeypatch.delenv(NO_CACHE, raising=False)
    set_all()
    return set_all


@pytest.fixture
def fresh(processes: None, settings: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Begin as another process would: nothing is known, and nothing runs. Returns how to do so again."""

    def begin() -> None:
        for server in guarded._servers.values():
            server.stop()
        monkeypatch.setattr(guarded, "_servers", {})
        monkeypatch.setattr(guarded, "_known", {})

    begin()
    yield begin
    begin()


def device(version: str = "1.0") -> DeviceInfo:
    facts = {
        "CL_PLATFORM_NAME": PLATFORM,
        "CL_DEVICE_NAME": "Stub",
        "CL_DEVICE_VERSION": "OpenCL 3.0 stub",
        "CL_DRIVER_VERSION": version,
        "CL_DEVICE_TYPE": "CL_DEVICE_TYPE_CPU",
        "CL_DEVICE_IL_VERSION": "SPIR-V_1.4",
    }
    found = from_mapping(facts, "stub")
    assert may_crash(found)
    return found


def build(words: str, version: str = "1.0", constants: tuple[tuple[int, bytes], ...] = ()) -> bytes | None:
    built = guarded.first_build(device(version), str(driver()), [("spirv", module(words), "")], constants=constants)
    return None if built is None else built.data


def pid() -> int:
    (server,) = guarded._servers.values()
    assert server.pid is not None
    return server.pid


def is_alive(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_for_end(number: int) -> None:
    deadline = time.monotonic() + 10
    while is_alive(number) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_alive(number)


def test_a_program_is_built_apart_once(fresh: Callable[[], None]) -> None:
    binary = build("one")
    assert binary and b"one" in binary
    first = pid()
    assert build("one") == b""
    assert build("two") and pid() == first
    fresh()
    assert build("one") == b"" and not guarded._servers


@pytest.mark.parametrize(
    ("number", "how"),
    [(11, "crashed with signal 11 (SIGSEGV)"), (6, "(SIGABRT)"), (0, "ended its process with status 1")],
)
def test_a_crash_is_an_error_and_is_kept(fresh: Callable[[], None], number: int, how: str) -> None:
    for _ in range(2):
        with pytest.raises(guarded.Crash) as caught:
            build(f"stub_dies_{number}")
        assert how in str(caught.value) and not isinstance(caught.value, guarded.Ended)
    assert build("other")  # in a new process
    fresh()
    with pytest.raises(guarded.Crash):
        build(f"stub_dies_{number}")
    assert not guarded._servers


def test_a_crash_of_another_version_or_environment_is_tried_anew(
    fresh: Callable[[], None], settings: Callable[..., None]
) -> None:
    with pytest.raises(guarded.Crash):
        build("stub_dies_11")
    assert build("stub_dies_11", "2.0") is None  # there is no such device
    settings(CL_CONFIG_CPU_TARGET_ARCH="core-avx2")
    with pytest.raises(guarded.Crash):
        build("stub_dies_11")
    assert len(guarded._known) == 2
    assert build("one")
    first = pid()
    settings(CL_CONFIG_CPU_TARGET_ARCH="skx")
    assert build("one") and pid() != first


def test_a_program_that_crashes_is_built_without_an_optimization(
    fresh: Callable[[], None], settings: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    """The binary is kept, and other options stay; nothing is tried if the user leaves out an optimization."""
    program = "stub_dies_11 stub_survives"
    settings(CL_CONFIG_LLVM_OPTIONS="-x86-disable-avoid-SFB")
    binary = build(program)
    assert binary and "built with -opt-disable=jump-threading" in caplog.text
    fresh()
    assert build(program) == binary and not guarded._servers
    settings(CL_CONFIG_LLVM_OPTIONS="-opt-disable=gvn")
    with pytest.raises(guarded.Crash):
        build("stub_dies_11")
    assert caplog.text.count("built with") == 1


def test_who_is_killed_is_tried_again(fresh: Callable[[], None]) -> None:
    """Neither in a build that ends by itself, nor between builds, does somebody else's signal count as a crash."""
    with pytest.raises(guarded.Ended, match="ended by signal 9"):
        build("stub_dies_9")
    with pytest.raises(guarded.Ended):
        build("stub_dies_15")
    assert not guarded._known
    assert build("one")
    os.kill(pid(), signal.SIGSEGV)
    wait_for_end(pid())
    assert build("two")


def test_what_the_device_refuses_is_no_crash(fresh: Callable[[], None]) -> None:
    assert build("stub_fails") == b""
    assert build("", constants=((5, b"\1\0\0\0"),)) == b""  # there is no such constant


def test_no_process_no_guard(fresh: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be tried is left to the caller, and not kept."""
    with monkeypatch.context() as patch:
        patch.setattr(guarded.sys, "executable", "/nowhere/at/all")
        assert build("one") is None and build("one") is None
    assert guarded.first_build(device(), "/nowhere/driver.so", [("spirv", module(""), "")]) is None
    assert not guarded._known


def test_nothing_is_kept_on_disk(fresh: Callable[[], None], settings: Callable[..., None], tmp_path: Path) -> None:
    settings(**{NO_CACHE: "1"})
    assert build("one") and build("one") == b""
    assert not (tmp_path / "cache").exists()


def test_an_interrupt_ends_a_build(fresh: Callable[[], None], settings: Callable[..., None]) -> None:
    settings(STUB_BUILD_MS="60000")

    def interrupt() -> None:
        while not any(server.pid for server in guarded._servers.values()):
            time.sleep(0.01)
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)

    # The tests' own process may ignore interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=interrupt).start()
    start = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            build("one")
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - start < 20
    settings(STUB_BUILD_MS="0")
    assert build("one")


@pytest.mark.parametrize("ending", ["sys.exit()", "os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_the_process_ends_with_its_parent(processes: None, settings: Callable[..., None], ending: str) -> None:
    """Also in the middle of a build that takes longer."""
    settings(STUB_BUILD_MS="60000")
    code = (
        "import os, sys, threading, time, test_crashes as test\n"
        f"test.driver = lambda: {str(driver())!r}\n"
        "threading.Thread(target=test.build, args=('one',), daemon=True).start()\n"
        "while not any(server.pid for server in test.guarded._servers.values()): time.sleep(0.01)\n"
        f"time.sleep(0.3)\nprint(test.pid(), flush=True)\n{ending}"
    )
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE)
    wait_for_end(int(done.stdout))


def test_the_process_ends_when_nobody_asks(processes: None, settings: Callable[..., None]) -> None:
    code = "import sys, build_server; build_server.IDLE = 0.2; build_server.main(sys.argv[1])"
    folder = Path(guarded.__file__).parent
    process = subprocess.Popen([sys.executable, "-c", code, str(driver())], stdin=subprocess.PIPE, cwd=folder)
    assert process.wait(20) == 0 and process.stdin
    process.stdin.close()


def test_a_fork_has_a_process_of_its_own(fresh: Callable[[], None]) -> None:
    assert build("one")
    parents = pid()
    child = os.fork()
    if child == 0:
        os._exit(0 if build("two") and pid() != parents else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert build("three") and pid() == parents


# --- random builds, and somebody who kills


def outcome(words: str) -> str:
    try:
        binary = build(words)
    except guarded.Crash as crash:
        return str(crash).partition("\n")[0].rpartition(" with ")[2]
    return "not tried" if binary is None else "built" if binary else "refused"


EXPECTED = {
    "right": "built",
    "stub_fails": "refused",
    "stub_dies_11": "signal 11 (SIGSEGV)",
    "stub_dies_6": "signal 6 (SIGABRT)",
    "stub_dies_4": "signal 4 (SIGILL)",
    "stub_dies_0": "status 1",
}


@pytest.mark.parametrize("seed", [pytest.param(n, marks=[pytest.mark.slow] if n > 1 else []) for n in SEEDS])
def test_random_builds_while_processes_are_killed(
    fresh: Callable[[], None], settings: Callable[..., None], monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Threads build; at random moments, at most once in each build, the process is killed. Each program's outcome is
    its own. A signal that looks like a crash is sent where no program has a crash."""
    rng = random.Random(seed)
    # A second process for each crash would let several builds end during one build, and so be killed more often.
    monkeypatch.setattr(guarded, "_without_an_optimization", lambda *_: None)
    settings(STUB_BUILD_MS=str(rng.choice((0, 3, 30))), **{NO_CACHE: rng.choice("01")})
    number_of_signal, outcomes = ((signal.SIGSEGV, 2), (signal.SIGKILL, len(EXPECTED)))[seed % 2]
    programs = [rng.choice(list(EXPECTED)[:outcomes]) for _ in range(24)]
    driver()  # the first call compiles it, which several threads must not do
    one_at_a_time, guard, is_over = threading.Lock(), threading.Lock(), threading.Event()
    state = SimpleNamespace(build=None, killed=None)
    build_in_process = guarded._Server.build

    def build(self: Any, request: Any) -> Any:
        with one_at_a_time:
            with guard:
                state.build = object()
            try:
                return build_in_process(self, request)
            finally:
                with guard:
                    state.build = None

    monkeypatch.setattr(guarded._Server, "build", build)

    def kill() -> None:
        while not is_over.is_set():
            time.sleep(rng.expovariate(15))
            with guard:
                for server in list(guarded._servers.values()):
                    if state.build not in (None, state.killed) and (number := server.pid) is not None:
                        state.killed = state.build
                        os.kill(number, number_of_signal)

    def run(number: int, words: str) -> str:
        return outcome(f"{words} {number}")

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(run, range(len(programs)), programs))
    finally:
        is_over.set()
        killer.join()
    assert results == [EXPECTED[words] for words in programs]


# --- the layer


@pytest.fixture
def intel(stub: Stub, tmp_path: Path) -> Callable[..., Application]:
    return partial(stub, STUB_PLATFORM=PLATFORM, **{CACHE_DIRECTORY: str(tmp_path / "cache"), NO_CACHE: ""})


def log_of(app: Application, program: int) -> str:
    return bytes(app.info("clGetProgramBuildInfo", program, app.devices()[0], CL.PROGRAM_BUILD_LOG)[1]).decode()


@pytest.mark.parametrize("number", [11, 0])
def test_an_application_lives(intel: Callable[..., Application], number: int) -> None:
    """A crash is a failed build, in the next process, too, which needs no helper for it."""
    source = SOURCE.replace(b"plain", f"stub_dies_{number}".encode())
    for helpers in (1, 0):
        app = intel(STUB_PROCESS=str(helpers))
        program = app.source(app.context(), source)
        assert app.build(program) == CL.BUILD_PROGRAM_FAILURE
        how = f"crashed with signal {number} (" if number else "ended its process with status 1"
        assert how in log_of(app, program) and "(the code is saved as " in log_of(app, program)
        assert app.helpers() == helpers
        built(app)


def test_a_crash_in_what_is_compiled_is_an_error(intel: Callable[..., Application]) -> None:
    app = intel()
    program = app.source(app.context(), SOURCE.replace(b"plain", b"stub_dies_11"))
    assert app.compile(program) == CL.COMPILE_PROGRAM_FAILURE and "signal 11" in log_of(app, program)
    program = app.source(app.context(), SOURCE)
    assert app.compile(program) == 0
    assert not app.calls("clCreateProgramWithBinary")


@pytest.mark.parametrize("code", ["source", "il"])
def test_the_first_start_takes_the_binary(intel: Callable[..., Application], code: str) -> None:
    """The next one, which knows that the compiler survives, has the program built as any other."""
    for name in ("clCreateProgramWithBinary", "clCreateProgramWithIL"):
        app = intel(STUB_PROCESS=name)
        context = app.context()
        program = app.source(context, SOURCE) if code == "source" else app.il(context, matrix_module())
        if code == "il":
            assert app.call("clSetProgramSpecializationConstant", program, 5, 4, b"\3\0\0\0") == 0
        assert app.build(program, b"-cl-mad-enable") == 0
        assert len(app.calls("clCreateProgramWith")) == 2 and app.calls(name)
        kernel, error = app.kernel(program, b"product")
        assert error == 0 and app.enqueue(app.queue(context), kernel, [64]) == 0
        constants = app.calls("clSetProgramSpecializationConstant")
        assert len(constants) == (code == "il" and name == "clCreateProgramWithIL")


def test_devices_of_two_kinds(intel: Callable[..., Application]) -> None:
    app = intel(STUB_DEVICES="4", STUB_KINDS="2")
    context = app.context(app.devices())
    program = app.source(context, SOURCE)
    assert app.build(program) == 0
    assert all(app.binaries(program))
    failing = app.source(context, SOURCE.replace(b"plain", b"stub_dies_11"))
    assert app.build(failing) == CL.BUILD_PROGRAM_FAILURE
