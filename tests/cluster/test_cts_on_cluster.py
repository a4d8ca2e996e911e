"""`coopmat cts --cluster` with workers that come and go: the report is that of a run on one machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed", reason="dask.distributed is not installed: the extra `cluster`")

from coopmat.devices import DeviceInfo, list_devices
from coopmat.devices.select import resource_names

Start = Callable[..., "subprocess.Popen[str]"]
TESTS = ["c_add", "c_sub", "c_mul", "spirv_add", "spirv_sub"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    processes: list[subprocess.Popen[str]] = []

    def run(*words: str) -> subprocess.Popen[str]:
        output = (tmp_path / f"output{len(processes)}").open("w")
        command = [sys.executable, "-m", *words]
        processes.append(
            subprocess.Popen(command, stdout=output, stderr=output, text=True, cwd=tmp_path, start_new_session=True)
        )
        return processes[-1]

    yield run
    for process in reversed(processes):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
    for process in processes:
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture
def address(start: Start, tmp_path: Path) -> str:
    file = tmp_path / "scheduler.json"
    start("distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
    end = time.monotonic() + 60
    while not file.exists() and time.monotonic() < end:
        time.sleep(0.1)
    time.sleep(0.2)
    return str(json.loads(file.read_text())["address"])


def coopmat(*words: str, directory: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "coopmat", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=directory, timeout=300)


def lab(address: str, directory: Path, count: int) -> list[dict[str, Any]]:
    """The cluster's devices, when there are so many."""
    for _ in range(60):
        done = coopmat("cluster", "devices", address, "--json", directory=directory)
        rows: list[dict[str, Any]] = json.loads(done.stdout)["devices"] if done.returncode == 0 else []
        if len(rows) >= count:
            return rows
    raise AssertionError(f"{done.stdout}{done.stderr}")


def rows(path: Path) -> list[tuple[str, ...]]:
    keys = ("test", "variant", "route", "status", "log")
    return [tuple(row[key] for key in keys) for row in json.loads(path.read_text())["outcomes"]]


def children(process: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


@pytest.mark.skipif(sys.platform != "linux", reason="it looks for processes in /proc")
def test_workers_that_come_and_go(device: DeviceInfo, start: Start, address: str, tmp_path: Path) -> None:
    """One is killed in the middle, and another one comes."""
    alone, report = tmp_path / "alone.json", tmp_path / "cluster.json"
    words = ["cts", *TESTS, "--wimpy", "--route", "one"]
    done = coopmat(*words, "--device", device.index, "--json", str(alone), directory=tmp_path)
    assert done.returncode == 0, done.stdout
    first = start("coopmat", "cluster", "worker", address, "--device", device.index)
    (row,) = lab(address, tmp_path, 1)
    run = start("coopmat", *words, "--cluster", address, "--device", row["resource"], "--json", str(report))
    time.sleep(5)
    start("coopmat", "cluster", "worker", address, "--device", device.index)
    for worker in children(first.pid):
        os.kill(worker, signal.SIGKILL)
    assert run.wait(200) == 0, (tmp_path / "output2").read_text()
    assert rows(report) == rows(alone)
    assert all(row["machine"] for row in json.loads(report.read_text())["outcomes"])


def test_workers_with_other_devices(device: DeviceInfo, start: Start, address: str, tmp_path: Path) -> None:
    """Each unit runs where its device is; the two devices are compared afterwards."""
    every = list_devices()
    names = dict(zip(resource_names(every), every, strict=True))
    if "device:oclgrind" not in names:
        pytest.skip("Oclgrind is not in this Python environment")
    start("coopmat", "cluster", "worker", address, "--device", device.index)
    start("coopmat", "cluster", "worker", address, "--device", "device:oclgrind")
    found = {row["resource"]: row["name"] for row in lab(address, tmp_path, 2)}
    assert found.pop("device:oclgrind") == names["device:oclgrind"].name and list(found.values()) == [device.name]
    reports = []
    for resource in ("device:oclgrind", *found):
        reports.append(tmp_path / f"{resource[7:]}.json")
        words = ["c_add", "--wimpy", "--route", "one", "--json", str(reports[-1])]
        done = coopmat("cts", *words, "--cluster", address, "--device", resource, directory=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert json.loads(reports[-1].read_text())["device"]["name"] == names[resource].name
    done = coopmat("cts", "--compare", *map(str, reports), directory=tmp_path)
    assert done.returncode == 0 and "Oclgrind" in done.stdout and "the same" in done.stdout
    done = coopmat("cts", "c_add", "--cluster", address, "--device", "abacus", directory=tmp_path)
    assert done.returncode != 0 and "no OpenCL device fits 'abacus'" in done.stderr


def test_no_scheduler(tmp_path: Path) -> None:
    for words, text in (
        (["cts", "c_add", "--cluster", "tcp://127.0.0.1:9"], "cannot connect to the cluster at tcp://127.0.0.1:9"),
        (["cluster", "devices", "nonsense:address:5"], "invalid cluster address 'nonsense:address:5'"),
    ):
        done = coopmat(*words, directory=tmp_path)
        assert done.returncode == 2 and text in done.stderr and "Traceback" not in done.stderr
