"""What is validated, where there is a spirv-val and where there is none."""

from __future__ import annotations

import pytest

import coopmat
from coopmat.cli import app
from coopmat.spirv import tools
from coopmat.spirv.tools import ToolsMissing

NATIVE = """
typedef float C __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 4, 4,
                                        CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
kernel void zero(global float *p) {
    C m = coop_mat_init(0.0f);
    coop_mat_store(p, m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 4);
}
"""
PLAIN = "kernel void one(global int *p) { *p = 1; }\n"


@pytest.fixture
def no_tools(monkeypatch):
    """A machine without a spirv-val."""
    monkeypatch.setattr(tools, "find_tools", lambda: None)


@pytest.fixture
def some_tools():
    if tools.find_tools() is None:
        pytest.skip("no spirv-val that knows SPV_KHR_cooperative_matrix")


@pytest.mark.parametrize(("source", "matrices"), [(NATIVE, "one"), (NATIVE, "lanes"), (PLAIN, "native")])
def test_a_module_without_native_matrices_needs_no_validator(source, matrices, no_tools):
    module = coopmat.compile(source, ["--matrices", matrices])
    assert module.spirv[:4] == b"\x03\x02\x23\x07" and not module.validated and not module.diagnostics


@pytest.mark.parametrize("options", [[], ["--matrices", "one", "--validate"], ["--no-validate", "--validate"]])
def test_what_must_be_valid_needs_one(options, no_tools):
    with pytest.raises(ToolsMissing, match="coopmat doctor --install spirv-tools"):
        coopmat.compile(NATIVE, options).spirv  # noqa: B018


def test_nothing_is_validated_where_nobody_wants_it(no_tools):
    for matrices in ("native", "one"):
        module = coopmat.compile(NATIVE, ["--no-validate", "--matrices", matrices])
        assert module.spirv and not module.validated


def test_modules_of_others_are_validated_on_their_way_in(no_tools):
    lowered = coopmat.compile(NATIVE, ["--matrices", "one"]).spirv
    with pytest.raises(ToolsMissing):
        coopmat.compile(lowered, language="spv")
    assert coopmat.compile(lowered, ["--no-validate"], language="spv").spirv


@pytest.mark.parametrize("matrices", ["native", "one"])
def test_every_module_is_validated_where_a_validator_is_at_hand(matrices, some_tools):
    module = coopmat.compile(NATIVE, ["--matrices", matrices])
    assert module.spirv and module.validated


def test_a_lowered_module_that_is_found_wrong_is_an_error(some_tools, monkeypatch):
    monkeypatch.setattr(tools, "validate", lambda *_: ["no good"])
    with pytest.raises(coopmat.InternalError):
        coopmat.compile(NATIVE, ["--matrices", "one"]).spirv  # noqa: B018


def test_the_command_line_says_nothing_of_what_it_did_not_validate(no_tools, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cl").write_text(NATIVE, encoding="utf-8")
    assert app.run_command(["compile", "--matrices", "one", "k.cl"]) == 0
    assert capsys.readouterr() == ("", "") and (tmp_path / "k.spv").is_file()
    assert app.run_command(["compile", "--matrices", "one", "--validate", "k.cl"]) == 1
    assert "coopmat doctor --install spirv-tools" in capsys.readouterr().err


def test_the_doctor_tells_what_is_not_validated(no_tools, capsys):
    app.run_command(["doctor"])
    assert "lowered modules are not validated" in capsys.readouterr().out
