"""What Python users have of the package beside compile(): names, sources that are paths, modules in other processes."""

from __future__ import annotations

import copy
import inspect
import pickle
import pydoc
import re
from importlib import metadata
from pathlib import Path

import pytest

import coopmat

KERNELS = Path(__file__).parents[2] / "kernels"
GEMM = KERNELS / "gemm_f16.cl"
SIZES = ["-DM=128", "-DN=96", "-DK=64"]


def test_everything_public_is_listed_and_documented() -> None:
    assert set(coopmat.__all__) <= set(dir(coopmat))
    assert coopmat.__all__ == sorted(coopmat.__all__)
    text = pydoc.plain(pydoc.render_doc(coopmat))
    for name in coopmat.__all__:
        found = getattr(coopmat, name)
        assert name in text
        assert inspect.getdoc(found), name
    for error in (coopmat.ArgumentError, coopmat.LaunchError, coopmat.BuildError, coopmat.CompileError):
        assert issubclass(error, Exception)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        coopmat.nothing  # noqa: B018


def test_what_is_exported_is_what_the_package_gives(device: object) -> None:
    info = coopmat.compile(GEMM, SIZES).kernels["gemm_f16"]
    assert isinstance(info, coopmat.KernelInfo)
    device = coopmat.context().devices[0]
    assert all(isinstance(variant, coopmat.Variant) for variant in coopmat.variants(device))


def test_a_path_is_a_source(tmp_path: Path) -> None:
    (tmp_path / "size.h").write_text("#define SIZE 3\n", encoding="utf-8")
    path = tmp_path / "k.cl"
    path.write_text('#include "size.h"\nkernel void k(global int *p) { *p = SIZE; }\n', encoding="utf-8")
    module = coopmat.compile(path, ["--matrices", "one"])
    assert module.name == str(path) and "k" in module.kernels
    assert module.dependencies == [str(path), str(tmp_path / "size.h")]
    (tmp_path / "m.ll").write_text(module.llvm_ir, encoding="utf-8")
    (tmp_path / "m.spv").write_bytes(module.spirv)
    (tmp_path / "m.spvasm").write_text(module.spirv_text, encoding="utf-8")
    for name in ("m.ll", "m.spv", "m.spvasm"):
        assert list(coopmat.compile(tmp_path / name, ["--matrices", "one"]).kernels) == ["k"]
    assert "k" in coopmat.compile(tmp_path / "m.ll", name="other", language="ir").kernels
    with pytest.raises(coopmat.CompileError, match=r"k\.cl:1:4: error"):
        path.write_text("int", encoding="utf-8")
        coopmat.compile(path)
    with pytest.raises(OSError, match="nothing"):
        coopmat.compile(tmp_path / "nothing.cl")


@pytest.mark.parametrize("options", [[], ["--matrices", "one"], ["--matrices", "lanes"], ["--code", "c"]])
@pytest.mark.parametrize("made", [False, True])
def test_modules_can_be_pickled(options: list[str], made: bool) -> None:
    module = coopmat.compile(GEMM, [*SIZES, *options, "-Wunused-nothing"])
    if made:
        assert module.spirv and module.kernels
    found = pickle.loads(pickle.dumps(module))
    assert found.diagnostics == module.diagnostics and len(found.diagnostics) == 1
    assert (found.name, found.options, found.matrices) == (module.name, module.options, module.matrices)
    assert found.kernels == module.kernels
    assert found.spirv == module.spirv
    assert (found.llvm_ir, found.opencl_c, found.ast) == (module.llvm_ir, module.opencl_c, module.ast)
    assert found.validated == module.validated
    assert found.diagnostics == module.diagnostics


def test_a_pickled_module_needs_no_files(tmp_path: Path) -> None:
    header, path = tmp_path / "size.h", tmp_path / "k.cl"
    header.write_text("#define SIZE 3\n", encoding="utf-8")
    path.write_text('#include "size.h"\nkernel void k(global int *p) { *p = SIZE; }\n', encoding="utf-8")
    data = pickle.dumps(coopmat.compile(path, ["--matrices", "one"]))
    header.unlink()
    path.unlink()
    found = pickle.loads(data)
    assert "store i32 3" in found.llvm_ir and found.spirv


@pytest.mark.parametrize("matrices", ["native", "one"])
def test_modules_of_other_languages_can_be_pickled(matrices: str) -> None:
    native = coopmat.compile(GEMM, SIZES)
    for source, language in ((native.llvm_ir, "ir"), (native.spirv, "spv")):
        module = coopmat.compile(source, ["--matrices", matrices], language=language)
        found = pickle.loads(pickle.dumps(module))
        assert type(found) is type(module)
        assert (found.spirv, found.kernels) == (module.spirv, module.kernels)
        assert copy.copy(found).spirv == module.spirv
        if language == "ir":
            assert found.llvm_ir == module.llvm_ir


def test_a_module_of_another_version_is_refused() -> None:
    data = pickle.dumps(coopmat.compile("kernel void k(void) {}", ["--matrices", "one"]))
    version = metadata.version("coopmat")
    other = "9" * len(version)
    with pytest.raises(pickle.UnpicklingError, match=rf"pickled by coopmat {other}; coopmat {re.escape(version)} must"):
        pickle.loads(data.replace(version.encode(), other.encode(), 1))
    # Earlier versions name the class by the module that defined it then.
    for name in ("Module", "_unpickled"):
        with pytest.raises(pickle.UnpicklingError, match="pickled by an earlier coopmat"):
            pickle.loads(f"ccoopmat.compiler.compilation\n{name}\n.".encode())
