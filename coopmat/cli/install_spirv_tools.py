"""The private installation of spirv-tools without root rights, from a newer suite of the machine's apt mirrors.

apt-get runs with its state, cache and sources in a temporary directory, so that the machine's are not changed. The
sources are the machine's with another suite and the same keys, so that apt checks every signature. The programs come
with the libc of their suite and run through its dynamic loader (`tools.SpirvTools.command`).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from coopmat.spirv.tools import PROGRAMS, SpirvTools, private_directories

# distribution -> its suites, newest first, because each release of spirv-val knows more extensions
SUITES = {
    "debian": ("testing", "unstable", "forky", "trixie"),
    "ubuntu": ("devel", "resolute", "questing"),
}
PACKAGES = ("spirv-tools", "libc6", "libstdc++6", "libgcc-s1")
LIBRARIES = ("ld-linux*.so*", "ld64.so*", "libc.so.*", "libm.so.*", "libstdc++.so.6", "libgcc_s.so.*")
_TIMEOUT = 300.0
_APT_CONF = """
Dir::State "{work}/state";
Dir::State::lists "{work}/lists";
Dir::State::status "/dev/null";
Dir::Cache "{work}/cache";
Dir::Etc::sourcelist "{work}/coopmat.sources";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::Log "{work}";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Pre-Invoke;
#clear DPkg::Post-Invoke;
#clear Acquire::IndexTargets::deb;
Acquire::IndexTargets::deb::Packages {{
  MetaKey "$(COMPONENT)/binary-$(ARCHITECTURE)/Packages";
  flatMetaKey "Packages";
  ShortDescription "Packages";
  Description "$(RELEASE)/$(COMPONENT) $(ARCHITECTURE) Packages";
}};
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
APT::Update::Error-Mode "any";
Acquire::AllowInsecureRepositories "false";
Acquire::AllowDowngradeToInsecureRepositories "false";
APT::Get::AllowUnauthenticated "false";
"""


class InstallError(Exception):
    """An error: spirv-tools could not be installed; str() is the reason and what to install instead."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"{reason}; install spirv-tools 2024.1 or newer (the package spirv-tools, or the Vulkan SDK) "
            "and put it on PATH, or name its directory in COOPMAT_SPIRV_TOOLS"
        )


@dataclass(frozen=True, slots=True)
class Source:
    """One package source of apt; `signed_by` is the field Signed-By in deb822 format."""

    uris: str
    suite: str
    components: tuple[str, ...]
    signed_by: str = ""

    def deb822(self) -> str:
        """Return the source as a deb822 stanza."""
        fields = {"Types": "deb", "URIs": self.uris, "Suites": self.suite, "Components": " ".join(self.components)}
        if self.signed_by:
            fields["Signed-By"] = self.signed_by
        return "".join(f"{key}: {value}\n" for key, value in fields.items())


def read_sources(etc_apt: Path = Path("/etc/apt")) -> list[Source]:
    """Return the distribution's binary sources from sources.list, *.list and *.sources, in apt's order."""
    parts = etc_apt / "sources.list.d"
    files = [etc_apt / "sources.list", *sorted(parts.glob("*.list")), *sorted(parts.glob("*.sources"))]
    sources: dict[Source, None] = {}
    for path in files:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        for source in _deb822(text) if path.suffix == ".sources" else _one_line(text):
            # Skip -updates, -security and flat repositories: they have no newer suite with spirv-tools.
            if "main" in source.components and not re.search(r"[-/]", source.suite):
                sources[source] = None
    return list(sources)


_ONE_LINE = re.compile(r"^deb\s+(?:\[(?P<options>[^\]]*)\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)\s+(?P<components>[^#]+)")


def _one_line(text: str) -> Iterator[Source]:
    """Yield the package sources in the text of apt's `.list` file: lines `deb [options] URI suite components`."""
    for line in text.splitlines():
        if match := _ONE_LINE.match(line.strip()):
            options = dict(option.partition("=")[::2] for option in (match["options"] or "").split())
            key = options.get("signed-by", "").replace(",", " ")
            yield Source(match["uri"], match["suite"], tuple(match["components"].split()), key)


def _deb822(text: str) -> Iterator[Source]:
    """Yield the enabled binary package sources in the text of a `.sources` file of apt, in deb822 format."""
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for stanza in re.split(r"\n\s*\n", lines):
        # A continuation line starts with a blank. Signed-By may contain a whole key in such lines.
        pairs = re.findall(r"^([\w-]+):[ \t]*(.*(?:\n[ \t].*)*)", stanza, re.MULTILINE)
        fields = {key.lower(): value.strip() for key, value in pairs}
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").lower() in ("no", "false", "0"):
            continue
        components = tuple(fields.get("components", "").split())
        for suite in fields.get("suites", "").split():
            yield Source(" ".join(fields.get("uris", "").split()), suite, components, fields.get("signed-by", ""))


def newer_suites(os_release: Path = Path("/etc/os-release")) -> tuple[str, ...]:
    """Return the suites to try on this distribution; empty unless it is Debian, Ubuntu or a derivative."""
    try:
        text = os_release.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ()
    fields = dict(re.findall(r"^(ID|ID_LIKE)=\"?([^\"\n]*)", text, re.MULTILINE))
    names = f"{fields.get('ID', '')} {fields.get('ID_LIKE', '')}".split()
    return next((SUITES[name] for name in names if name in SUITES), ())


def default_directory() -> Path:
    """Return the private directory of the active virtual environment if it is writable, otherwise the user's."""
    environment, user = private_directories()
    return environment if sys.prefix != sys.base_prefix and os.access(sys.prefix, os.W_OK) else user


def install(directory: Path | None = None) -> Path:
    """Install the programs into `directory` (default: `default_directory()`) and return it.

    If they work already, do nothing. This needs apt-get, dpkg-deb and the network, but no root rights. Raise
    InstallError if the installation fails.
    """
    target = directory or default_directory()
    if _works(target):
        return target
    missing = [program for program in ("apt-get", "dpkg-deb") if shutil.which(program) is None]
    if missing:
        raise InstallError(f"{' and '.join(missing)} is not on this machine")
    sources, suites = read_sources(), newer_suites()
    if not sources or not suites:
        raise InstallError("apt has no Debian or Ubuntu package source here")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".spirv-tools-", dir=target.parent) as work:
            return _install(Path(work), target, [replace(s, suite=suite) for suite in suites for s in sources])
    except OSError as error:
        raise InstallError(f"cannot write to {target}: {error.strerror or error}") from error


def _install(work: Path, target: Path, sources: list[Source]) -> Path:
    """Install the first source's programs that work into `target`; raise InstallError if none does."""
    # If run as root, apt downloads as the user _apt, who must be able to enter the directory.
    work.chmod(0o711)
    failures: list[str] = []
    for number, source in enumerate(sources):
        attempt = work / str(number)
        attempt.mkdir()
        try:
            _download(attempt, source)
            tree = _unpack(attempt)
        except subprocess.SubprocessError as error:
            failures.append(f"{source.suite}: {_reason(error)}")
            continue
        if not _works(tree):
            failures.append(f"{source.suite}: its spirv-val does not run here or does not know cooperative matrices")
            continue
        _move(tree, target, work / "old")
        return target
    raise InstallError("apt could install no newer spirv-tools (" + "; ".join(dict.fromkeys(failures)) + ")")


def _download(work: Path, source: Source) -> None:
    """Download the packages of a source into `work`/debs; raise SubprocessError if apt fails."""
    for name in ("state", "lists", "cache", "tmp", "debs"):
        (work / name).mkdir()
    (work / "tmp").chmod(0o1777)
    (work / "coopmat.sources").write_text(source.deb822(), encoding="utf-8")
    conf = work / "apt.conf"
    conf.write_text(_APT_CONF.format(work=work), encoding="utf-8")
    # apt reads --config-file after the machine's configuration: its settings win, and the machine's proxies are kept.
    apt = ["apt-get", "--quiet", f"--config-file={conf}"]
    environment = {**os.environ, "TMPDIR": str(work / "tmp"), "LC_ALL": "C", "HOME": str(work)}
    for arguments, place in ((["update"], work), (["download", *PACKAGES], work / "debs")):
        _run([*apt, *arguments], place, environment)


def _unpack(work: Path) -> Path:
    """Extract the programs and libraries from the packages; return the directory with bin/ and lib/."""
    tree, result = work / "tree", work / "made"
    for package in sorted((work / "debs").glob("*.deb")):
        _run(["dpkg-deb", "--extract", str(package), str(tree)], work, None)
    (result / "bin").mkdir(parents=True)
    (result / "lib").mkdir()
    result.chmod(0o755)
    for path in (tree / "usr" / "bin" / program for program in PROGRAMS):
        if path.is_file():  # _works() detects a missing program
            shutil.copy(path, result / "bin")
    for pattern in LIBRARIES:
        for path in sorted(tree.rglob(pattern)):
            # The loader of libc6 is a link to a file that the same pattern finds; in some suites it is absolute.
            if path.is_file() and not path.parent.name.startswith("gdb") and path.suffix != ".py":
                shutil.copy(path, result / "lib")
    return result


def _works(directory: Path) -> bool:
    """Return whether all programs are in the directory's bin/ and the set is usable."""
    tools = SpirvTools.at(directory)
    complete = all((directory / "bin" / program).is_file() for program in PROGRAMS)
    return complete and tools is not None and tools.is_able()


def _move(tree: Path, target: Path, old: Path) -> None:
    """Replace `target` by `tree`, by renaming: other processes find the old tree, none, or the complete new one."""
    if not _works(target):
        with suppress(FileNotFoundError):
            target.rename(old)
    try:
        tree.rename(target)
    except OSError:
        if not _works(target):  # another process installed the same tree first
            raise


def _run(command: list[str], place: Path, environment: dict[str, str] | None) -> None:
    """Run a command in the directory `place`; raise SubprocessError if it fails or takes too long."""
    subprocess.run(
        command, cwd=place, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT, check=True
    )


def _reason(error: subprocess.SubprocessError) -> str:
    """Return apt's error message, or the text of the exception."""
    if isinstance(error, subprocess.CalledProcessError):
        lines = (error.stderr or b"").decode(errors="replace").splitlines()
        return next((line for line in lines if line.startswith("E:")), f"{error.cmd[0]} failed")
    return str(error)
