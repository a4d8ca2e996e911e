"""Fetching without a network: apt-get is a script here that hands out packages made from the tools we have."""

from __future__ import annotations

import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from coopmat.cli import install_spirv_tools
from coopmat.cli.install_spirv_tools import InstallError, Source, newer_suites, read_sources
from coopmat.spirv import tools

_ONE_LINE = """
# a comment
deb http://one.example/debian bookworm main contrib # trailing
deb [arch=amd64 signed-by=/k/a.gpg,/k/b.gpg] https://two.example/debian bookworm main
deb-src http://one.example/debian bookworm main
deb http://one.example/security bookworm-security main
deb http://three.example/flat ./
deb http://four.example/other bookworm stable
"""
_DEB822 = """
Types: deb deb-src
# a comment within
URIs: http://five.example/debian
  http://six.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 xyz
 -----END PGP PUBLIC KEY BLOCK-----

Types: deb
URIs: http://off.example/debian
Suites: bookworm
Components: main
Enabled: no

Types: deb-src
URIs: http://source.example/debian
Suites: bookworm
Components: main
"""


def test_sources_are_the_distributions_own(tmp_path: Path) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text(_ONE_LINE, encoding="utf-8")
    (tmp_path / "sources.list.d" / "x.sources").write_text(_DEB822, encoding="utf-8")
    (tmp_path / "sources.list.d" / "x.sources.disabled").write_text(_DEB822.replace("five", "nine"), encoding="utf-8")
    key = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n xyz\n -----END PGP PUBLIC KEY BLOCK-----"
    assert read_sources(tmp_path) == [
        Source("http://one.example/debian", "bookworm", ("main", "contrib")),
        Source("https://two.example/debian", "bookworm", ("main",), "/k/a.gpg /k/b.gpg"),
        Source("http://five.example/debian http://six.example/debian", "bookworm", ("main",), key),
    ]


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    (tmp_path / "sources.list.d").mkdir()
    source = Source("http://one.example/d", "testing", ("main",), "-----BEGIN-----\n .\n xyz\n -----END-----")
    (tmp_path / "sources.list.d" / "a.sources").write_text(source.deb822(), encoding="utf-8")
    assert read_sources(tmp_path) == [source]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ('ID=debian\nVERSION_ID="12"\n', "testing"),
        ("ID=ubuntu\nID_LIKE=debian\n", "devel"),
        ('ID=linuxmint\nID_LIKE="ubuntu debian"\n', "devel"),
        ("ID=fedora\n", None),
    ],
)
def test_suites(tmp_path: Path, text: str, first: str | None) -> None:
    (tmp_path / "os-release").write_text(text, encoding="utf-8")
    suites = newer_suites(tmp_path / "os-release")
    assert (suites[0] if suites else None) == first
    assert newer_suites(tmp_path / "missing") == ()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Debian whose apt-get gives out our own tools as packages, from any suite but testing."""
    real = tools.need_tools()
    debs = tmp_path / "debs"
    debs.mkdir()
    tree = tmp_path / "package"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN" / "control").write_text(
        "Package: spirv-tools\nVersion: 1\nArchitecture: all\nMaintainer: x <x@example.org>\nDescription: x\n",
        encoding="utf-8",
    )
    shutil.copytree(real.directory, tree / "usr" / "bin", ignore=lambda _, names: set(names) - set(tools.PROGRAMS))
    if real.library:
        shutil.copytree(real.library, tree / "usr" / "lib" / "x86_64-linux-gnu")
    subprocess.run(["dpkg-deb", "--build", "-Znone", str(tree), str(debs)], check=True, capture_output=True)
    (tmp_path / "apt").mkdir()
    (tmp_path / "apt" / "sources.list").write_text("deb http://m.example/debian stable main\n", encoding="utf-8")
    (tmp_path / "os-release").write_text("ID=debian\n", encoding="utf-8")
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "apt-get"
    script.write_text(
        f"""#!/bin/sh
conf=${{2#--config-file=}}
echo "$3 $(grep Suites "$(dirname "$conf")/coopmat.sources")" >> {tmp_path}/log
cat "$conf" >> {tmp_path}/conf
grep -q 'Suites: testing' "$(dirname "$conf")/coopmat.sources" && {{ echo 'E: not signed' >&2; exit 100; }}
[ "$3" = download ] && cp {debs}/*.deb .
exit 0
""",
        encoding="utf-8",
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr(install_spirv_tools, "read_sources", lambda: read_sources(tmp_path / "apt"))
    monkeypatch.setattr(install_spirv_tools, "newer_suites", lambda: newer_suites(tmp_path / "os-release"))
    return tmp_path


def test_install_takes_the_first_suite_that_works_and_leaves_nothing_else(machine: Path) -> None:
    target = machine / "home" / "spirv-tools"
    assert install_spirv_tools.install(target) == target
    log = (machine / "log").read_text(encoding="utf-8").splitlines()
    assert log == ["update Suites: testing", "update Suites: unstable", "download Suites: unstable"]
    assert [path.name for path in target.parent.iterdir()] == ["spirv-tools"]
    assert sorted(path.name for path in (target / "bin").iterdir()) == sorted(tools.PROGRAMS)
    installed = tools.SpirvTools.at(target)
    assert installed is not None and installed.is_able()
    assert install_spirv_tools.install(target) == target
    assert (machine / "log").read_text(encoding="utf-8").splitlines() == log  # the second time does nothing


def test_apt_keeps_to_the_private_directory_and_checks_signatures(machine: Path) -> None:
    install_spirv_tools.install(machine / "home" / "spirv-tools")
    conf = (machine / "conf").read_text(encoding="utf-8")
    for key in ("Dir::State", "Dir::State::lists", "Dir::Cache", "Dir::Etc::sourcelist", "Dir::Log"):
        assert re.search(rf'^{key} "{machine}/home/\.spirv-tools-', conf, re.MULTILINE)
    assert 'AllowUnauthenticated "false"' in conf and 'AllowInsecureRepositories "false"' in conf


def test_a_damaged_installation_is_replaced(machine: Path) -> None:
    target = machine / "home" / "spirv-tools"
    install_spirv_tools.install(target)
    (target / "bin" / "spirv-val").write_bytes(b"damaged")
    install_spirv_tools.install(target)
    installed = tools.SpirvTools.at(target)
    assert installed is not None and installed.is_able()
    assert [path.name for path in target.parent.iterdir()] == ["spirv-tools"]


def test_installing_at_the_same_time(machine: Path) -> None:
    target = machine / "home" / "spirv-tools"
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: install_spirv_tools.install(target), range(4))) == [target] * 4
    installed = tools.SpirvTools.at(target)
    assert installed is not None and installed.is_able()
    assert [path.name for path in target.parent.iterdir()] == ["spirv-tools"]


def test_where_it_is_impossible_the_error_says_what_to_do(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = machine / "home" / "spirv-tools"
    (machine / "debs" / "spirv-tools_1_all.deb").unlink()
    with pytest.raises(InstallError, match=r"testing: E: not signed.*install spirv-tools"):
        install_spirv_tools.install(target)
    assert list(target.parent.iterdir()) == []
    (machine / "file").write_text("", encoding="utf-8")
    with pytest.raises(InstallError, match="cannot write to"):
        install_spirv_tools.install(machine / "file" / "spirv-tools")
    (machine / "os-release").write_text("ID=fedora\n", encoding="utf-8")
    with pytest.raises(InstallError, match="no Debian or Ubuntu package source"):
        install_spirv_tools.install(target)
    monkeypatch.setenv("PATH", str(machine / "home"))
    with pytest.raises(InstallError, match="apt-get and dpkg-deb is not on this machine"):
        install_spirv_tools.install(target)


def test_the_default_directory_is_the_environments_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(install_spirv_tools.sys, "prefix", str(tmp_path))
    assert install_spirv_tools.default_directory() == tmp_path / "share" / "coopmat" / "spirv-tools"
    monkeypatch.setattr(install_spirv_tools.sys, "base_prefix", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert install_spirv_tools.default_directory() == tmp_path / "data" / "coopmat" / "spirv-tools"
