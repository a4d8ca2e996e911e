"""The CPU runtime of the Python environment comes into the loader's view, and nothing else changes."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from coopmat.cache.directories import private_temporary_directory
from coopmat.devices import environment


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """No preparation done yet, a cache of its own, and the variable restored afterwards."""
    monkeypatch.setenv("COOPMAT_CACHE_DIR", str(tmp_path / "a cache"))
    monkeypatch.setenv("OCL_ICD_VENDORS", "to be restored")
    monkeypatch.delenv("OCL_ICD_VENDORS")
    environment.prepare.cache_clear()
    yield tmp_path
    environment.prepare.cache_clear()


def fake_runtime(directory: Path) -> Path:
    runtime = directory / "lib" / "libintelocl.so"
    runtime.parent.mkdir(parents=True)
    runtime.write_bytes(b"")
    return runtime


def test_the_runtime_and_the_systems_files_share_a_directory(fresh, monkeypatch):
    runtime = fake_runtime(fresh)
    monkeypatch.setattr(environment, "find_cpu_runtime", lambda: runtime)
    monkeypatch.setattr(environment, "system_icd_files", lambda: {"pocl.icd": "libpocl.so"})
    prepared = environment.prepare()
    assert prepared.vendors is not None and prepared.vendors.parent == fresh / "a cache"
    assert prepared.late == ("pyopencl" in sys.modules)
    assert os.environ["OCL_ICD_VENDORS"] == str(prepared.vendors) + os.sep
    files = {file.name: file.read_text() for file in prepared.vendors.iterdir()}
    assert files == {"pocl.icd": "libpocl.so\n", "coopmat-cpu.icd": f"{runtime}\n"}


AVX2, AVX512 = "flags\t\t: sse4_2 avx avx2 fma", "flags\t\t: avx avx2 avx512f avx512bw"


@pytest.mark.parametrize(
    ("flags", "told", "before", "after"),
    [
        (AVX2, None, None, "-x86-disable-avoid-SFB"),
        (AVX512, None, None, None),
        ("flags\t\t: avx", None, None, None),
        ("Features\t: asimd", None, None, None),
        (AVX512, "core-avx2", None, "-x86-disable-avoid-SFB"),
        (AVX2, "corei7", None, None),
        (AVX2, None, "-print-after-all", "-print-after-all"),
    ],
)
def test_a_pass_that_ends_the_process_is_left_out_where_vectors_are_of_avx2(
    fresh, monkeypatch, flags, told, before, after
):
    monkeypatch.setattr(environment, "processor", lambda: ("x86_64", "model\t\t: 1", flags))
    for name, value in (("CL_CONFIG_CPU_TARGET_ARCH", told), ("CL_CONFIG_LLVM_OPTIONS", before)):
        monkeypatch.setenv(name, value or "")
        if value is None:
            monkeypatch.delenv(name)
    environment.prepare()
    assert os.environ.get("CL_CONFIG_LLVM_OPTIONS") == after


def test_what_the_user_set_stays(fresh, monkeypatch):
    monkeypatch.setenv("OCL_ICD_VENDORS", "/elsewhere/")
    monkeypatch.setattr(environment, "find_cpu_runtime", lambda: fake_runtime(fresh))
    assert environment.prepare().vendors is None
    assert os.environ["OCL_ICD_VENDORS"] == "/elsewhere/"
    assert not (fresh / "a cache").exists()


def test_without_a_runtime_nothing_is_set(fresh, monkeypatch):
    monkeypatch.setattr(environment, "find_cpu_runtime", lambda: None)
    prepared = environment.prepare()
    assert "OCL_ICD_VENDORS" not in os.environ
    assert environment.INSTALL_COMMAND in prepared.note


def test_a_system_that_has_the_runtime_keeps_its_own(fresh, monkeypatch):
    monkeypatch.setattr(environment, "find_cpu_runtime", lambda: fake_runtime(fresh))
    monkeypatch.setattr(environment, "system_icd_files", lambda: {"intel.icd": "/opt/x/libintelocl.so"})
    assert environment.prepare().vendors is None
    assert "OCL_ICD_VENDORS" not in os.environ


def test_the_runtime_is_found_beside_python_or_through_the_wheels_record(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    runtime = fake_runtime(tmp_path)
    assert environment.find_cpu_runtime() == runtime
    runtime.unlink()

    class File:
        name = "libintelocl.so"

        def locate(self) -> Path:
            return tmp_path / "lib" / ".." / "elsewhere" / "libintelocl.so"

    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "libintelocl.so").write_bytes(b"")
    monkeypatch.setattr(importlib.metadata, "files", lambda name: [File()])
    assert environment.find_cpu_runtime() == tmp_path / "elsewhere" / "libintelocl.so"
    (tmp_path / "elsewhere" / "libintelocl.so").unlink()
    assert environment.find_cpu_runtime() is None


def test_icd_files_that_name_nothing_are_dropped(tmp_path):
    library = tmp_path / "libreal.so"
    library.write_bytes(b"")
    texts = {"a.icd": f"{library}\n", "b.icd": "/nowhere/libgone.so\n", "c.icd": "libsoname.so.1\n", "d.icd": "\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "e.icd").write_bytes(b"\xff\xfe")
    (tmp_path / "f.txt").write_text("libother.so")
    found = environment.system_icd_files([tmp_path, tmp_path / "missing"])
    assert found == {"a.icd": str(library), "c.icd": "libsoname.so.1"}


def test_many_writers_make_one_whole_directory(fresh):
    icds = {f"{i}.icd": f"lib{i}.so" for i in range(5)}
    with ThreadPoolExecutor(8) as pool:
        directories = set(pool.map(lambda _: environment.vendor_directory(icds), range(32)))
    assert len(directories) == 1
    assert {f.name: f.read_text().strip() for f in directories.pop().iterdir()} == icds


def test_a_damaged_file_is_written_again(fresh):
    directory = environment.vendor_directory({"a.icd": "liba.so"})
    (directory / "a.icd").write_text("garbage")
    assert environment.vendor_directory({"a.icd": "liba.so"}) == directory
    assert (directory / "a.icd").read_text() == "liba.so\n"


def test_an_unwritable_cache_falls_back_to_a_private_temporary_directory(fresh, monkeypatch):
    blocked = fresh / "a file"
    blocked.write_text("")
    monkeypatch.setenv("COOPMAT_CACHE_DIR", str(blocked / "below"))
    monkeypatch.setattr(tempfile, "tempdir", str(fresh))
    directory = environment.vendor_directory({"a.icd": "liba.so"})
    assert directory.is_relative_to(fresh) and not directory.is_relative_to(blocked)
    assert directory.parent.stat().st_mode & 0o077 == 0


def test_a_temporary_directory_that_others_can_write_is_not_used(fresh, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(fresh))
    planted = fresh / f"coopmat-{os.getuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    assert private_temporary_directory() != planted


def test_importing_the_room_changes_nothing_and_loads_no_opencl():
    code = "import os, sys; b = dict(os.environ); import coopmat.devices, coopmat.runtime\n"
    code += "assert dict(os.environ) == b and 'pyopencl' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_fresh_process_sees_a_device_without_any_setting(tmp_path):
    if environment.find_cpu_runtime() is None:
        pytest.skip("the CPU runtime is not installed")
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("OCL_", "HOME", "XDG_"))}
    code = "from coopmat.devices import list_devices; print([d.platform for d in list_devices()])"
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**variables, "HOME": str(tmp_path)},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Intel(R) OpenCL" in result.stdout
