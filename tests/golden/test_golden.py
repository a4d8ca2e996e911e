"""Sources under in/ and what becomes of them under out/: trees, IR, SPIR-V, messages.

The comment at the head of a source says what it is for; `// options: ...` are the compiler's, `// diagnostics: json`
(or sarif) chooses the form of the messages. `pytest tests/golden --update-golden` writes the outputs anew: read them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from coopmat.compiler import Module, compile
from coopmat.diagnostics import CompileError, Diagnostic, SourceMap, render_text, to_json
from coopmat.sarif import to_sarif

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Group:
    suffix: str
    output: Callable[[str, list[str], str], str]


def _module(source: str, options: list[str], name: str) -> Module:
    # Goldens of the stages show what becomes of fragments; that some compute for nothing is no matter there.
    module = compile(source, [*options, "-Wno-unused", "-Wno-parentheses"], name=name)
    assert module.diagnostics == [], render_text(module.diagnostics, module.sources)
    return module


def _spirv(source: str, options: list[str], name: str) -> str:
    module = _module(source, options, name)
    text = module.spirv_text
    assert module.validated
    # The head names the tools that wrote it, and its columns are a matter of taste.
    return "".join(re.sub(" +", " ", line).strip() + "\n" for line in text.splitlines() if not line.startswith(";"))


def _diagnostics(source: str, options: list[str], name: str) -> str:
    try:
        module = compile(source, options, name=name)
        items, sources = module.diagnostics, module.sources
    except CompileError as error:
        assert error.sources is not None
        items, sources = error.diagnostics, error.sources
    form = re.search(r"^// diagnostics: (\w+)$", source, re.MULTILINE)
    return FORMS[form[1] if form else "text"](items, sources)


FORMS: dict[str, Callable[[list[Diagnostic], SourceMap], str]] = {
    "text": render_text,
    "json": lambda items, sources: to_json(items) + "\n",
    "sarif": lambda items, sources: to_sarif(items, "0") + "\n",
}

GROUPS = {
    "ast": Group("ast", lambda *source: _module(*source).ast),
    "typed": Group("typed", lambda *source: _module(*source).typed_ast),
    "ir": Group("ll", lambda *source: _module(*source).llvm_ir),
    "spirv": Group("spvasm", _spirv),
    "opencl_c": Group("c", lambda *source: _module(*source).opencl_c),
    "diagnostics": Group("diag", _diagnostics),
}
CASES = sorted(path.relative_to(HERE / "in").as_posix() for path in (HERE / "in").glob("*/*.cl"))


# The first profile with every instruction.
NATIVE = ["--matrices", "native", "--native-profile", "maint1"]


def _options(source: str) -> list[str]:
    found = re.search(r"^// options: (.*)$", source, re.MULTILINE)
    return found[1].split() if found else []


@pytest.mark.parametrize("case", CASES)
def test_output(case: str, request: pytest.FixtureRequest) -> None:
    path = HERE / "in" / case
    group = GROUPS[path.parent.name]
    source = path.read_text(encoding="utf-8")
    output = group.output(source, _options(source), path.name)
    expected = HERE / "out" / path.parent.name / f"{path.stem}.{group.suffix}"
    if request.config.getoption("--update-golden"):
        expected.parent.mkdir(parents=True, exist_ok=True)
        expected.write_text(output, encoding="utf-8")
    assert output == expected.read_text(encoding="utf-8")


def test_every_output_has_its_source() -> None:
    outputs = {path.relative_to(HERE / "out").as_posix() for path in (HERE / "out").glob("*/*")}
    assert outputs == {f"{case.removesuffix('.cl')}.{GROUPS[case.split('/')[0]].suffix}" for case in CASES}


KERNELS = [
    case
    for case in CASES
    if case.startswith(("typed/", "ir/", "spirv/"))
    and re.search(r"^kernel", (HERE / "in" / case).read_text(encoding="utf-8"), re.MULTILINE)
]


@pytest.mark.parametrize("case", KERNELS)
def test_sources_without_faults_are_valid_on_every_route(case: str) -> None:
    source = (HERE / "in" / case).read_text(encoding="utf-8")
    for options in (NATIVE, ["--matrices", "one"], ["--matrices", "lanes"]):
        module = _module(source, options, case)
        assert len(module.spirv) > 20 and module.validated
