from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
import spirv_samples as samples

from coopmat.spirv import tools
from coopmat.spirv.emit import EmitOptions, emit
from coopmat.spirv.legalize import legalize
from coopmat.spirv.module import Module
from coopmat.spirv.tools import SpirvTools, ToolError, ToolsMissing


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any spirv-tools."""
    monkeypatch.delenv(tools.ENVIRONMENT_VARIABLE, raising=False)
    monkeypatch.setattr(tools.sys, "prefix", str(tmp_path / "prefix"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path


def _gemm() -> bytes:
    return legalize(emit(samples.GEMM, EmitOptions(extensions=samples.EXTENSIONS)).spirv or b"")


def _write_program(directory: Path, name: str, body: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)


def test_validation_tells_good_from_bad() -> None:
    good = _gemm()
    assert tools.validate(good, "spv1.4") is None
    bad = tools.assemble(tools.disassemble(good).replace("OpFMul", "OpIMul"), "spv1.4")
    messages = tools.validate(bad, "spv1.4")
    assert messages is not None and "IMul" in "".join(messages)
    assert tools.validate(good, "opencl2.2") is not None  # SPIR-V 1.4 is newer than that


_HEAD = "OpCapability Kernel\nOpCapability Addresses\nOpCapability Linkage\nOpMemoryModel Physical64 OpenCL\n"


@pytest.mark.parametrize(
    "text", ['OpName %odd "odd"\n%odd = OpTypeVector %none 4\n%none = OpTypeVoid', 'OpName %odd "odd"\n%x = OpTypeVoid']
)
def test_messages_have_the_names_of_the_module(text: str) -> None:
    messages = tools.validate(tools.assemble(_HEAD + text, "spv1.4"), "spv1.4")
    assert messages is not None and "%odd" in "".join(messages)


def test_disassembly_assembles_to_the_same_module() -> None:
    again = Module.parse(tools.assemble(tools.disassemble(_gemm()), "spv1.4"))  # with other ids
    assert [i.opcode for i in again.instructions] == [i.opcode for i in Module.parse(_gemm()).instructions]
    assert tools.validate(tools.optimize(_gemm(), "--strip-debug"), "spv1.4") is None


def test_what_a_program_says_is_the_error() -> None:
    with pytest.raises(ToolError, match="Invalid Opcode name"):
        tools.assemble("OpNonsense", "spv1.4")
    with pytest.raises(ToolError, match="magic"):
        tools.disassemble(b"\0" * 40)


def test_target_environments() -> None:
    assert [tools.target_env_for(v) for v in ("1.2", "1.3", "1.6")] == ["opencl2.2", "spv1.3", "spv1.6"]


def test_without_tools_nothing_is_called_valid(nowhere: Path) -> None:
    assert tools.find_tools() is None
    with pytest.raises(ToolsMissing, match="coopmat doctor --install spirv-tools"):
        tools.validate(_gemm(), "spv1.4")


def test_an_old_validator_is_passed_over(nowhere: Path) -> None:
    _write_program(nowhere / "bin", "spirv-val", "echo 'error: 5: Invalid extension' >&2; exit 1")
    assert tools.find_tools() is None
    with pytest.raises(ToolsMissing):
        tools.validate(_gemm(), "spv1.4")


def test_a_validator_that_does_not_run_is_passed_over(nowhere: Path) -> None:
    _write_program(nowhere / "bin", "spirv-val", "")
    (nowhere / "bin" / "spirv-val").write_bytes(b"\x7fELF rubbish")
    assert tools.find_tools() is None


def test_the_directory_that_the_doctor_prints_can_be_named(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = nowhere / "tools"
    _write_program(place / "bin", "spirv-val", "exit 1")  # as programs do that lack their libc
    _write_program(place / "lib", "ld-linux.so", "exit 0")
    for named in (place, place / "bin"):
        monkeypatch.setenv(tools.ENVIRONMENT_VARIABLE, str(named))
        found = tools.find_tools()
        assert found is not None and found.directory == place / "bin" and found.loader is not None


def test_order_of_the_search(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = nowhere / "data" / "coopmat" / "spirv-tools"
    prefix = nowhere / "prefix" / "share" / "coopmat" / "spirv-tools"
    places = [nowhere / "bin", user, prefix, nowhere / "named"]
    for place in places:  # from the last resort to the first choice
        if place.name == "named":
            monkeypatch.setenv(tools.ENVIRONMENT_VARIABLE, str(place))
        _write_program(place if place.name in ("bin", "named") else place / "bin", "spirv-val", "exit 0")
        found = tools.find_tools()
        assert found is not None and place in (found.directory, found.directory.parent)


def test_the_probe_is_asked_again_when_the_program_changes(nowhere: Path) -> None:
    log = nowhere / "log"
    program = nowhere / "bin" / "spirv-val"
    _write_program(nowhere / "bin", "spirv-val", f"echo >> {log}; exit 1")
    assert tools.find_tools() is None and tools.find_tools() is None
    assert log.read_text(encoding="utf-8").count("\n") == 1
    _write_program(nowhere / "bin", "spirv-val", "exit 0")
    os.utime(program, ns=(1, 1))
    assert tools.find_tools() is not None


def test_private_programs_run_through_their_own_loader(tmp_path: Path) -> None:
    loader = tmp_path / "lib" / "ld-linux-x86-64.so.2"
    _write_program(tmp_path / "lib", loader.name, 'echo "$@"')
    _write_program(tmp_path / "bin", "spirv-val", "exit 9")
    found = SpirvTools.at(tmp_path)
    assert found is not None
    said = found.run("spirv-val", "--version").stdout.decode().split()
    assert said == ["--library-path", str(tmp_path / "lib"), str(tmp_path / "bin" / "spirv-val"), "--version"]


def test_a_missing_companion_is_named(tmp_path: Path) -> None:
    _write_program(tmp_path, "spirv-val", "exit 0")
    with pytest.raises(ToolsMissing, match="spirv-dis is missing"):
        tools.disassemble(_gemm(), SpirvTools.at(tmp_path))


def test_paths_with_blanks(tmp_path: Path) -> None:
    real = tools.need_tools()
    place = tmp_path / "a b"
    source = real.directory.parent if real.loader else real.directory
    shutil.copytree(source, place, ignore=lambda _, names: [n for n in names if n in ("spirv-opt", "spirv-as")])
    copy = SpirvTools.at(place)
    assert copy is not None and copy.is_able()
    assert "SPIRV-Tools" in copy.version()
