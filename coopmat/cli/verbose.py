"""The output of `-v`, `-###` and `--version`: versions, paths, and the whole command for each input."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path

from .arguments import Invocation


def version() -> str:
    """Return the package's name and version, as `coopmat --version` prints them."""
    from coopmat import __version__

    return f"coopmat {__version__}"


def shipped() -> Path:
    """Return the directory that holds kernels/ and examples/: a part of the installed package, or the checkout."""
    import coopmat

    package = Path(coopmat.__file__).parent
    return package / "share" if (package / "share").is_dir() else package.parent


def head() -> str:
    """Return lines with the versions of coopmat, Python and llvmlite, and the paths of coopmat and the SPIR-V tools."""
    from importlib import metadata

    import coopmat
    from coopmat.spirv import tools

    toolchain = tools.find_tools()
    rows = {
        "Python": platform.python_version(),
        "llvmlite": metadata.version("llvmlite"),
        "SPIR-V tools": str(toolchain.directory) if toolchain is not None else "none (see `coopmat doctor`)",
        "Installed in": str(Path(coopmat.__file__).parent),
        "Kernels and examples in": str(shipped()),
    }
    return f"{version()}\n" + "".join(f"{name}: {value}\n" for name, value in rows.items())


def command(invocation: Invocation, outputs: Mapping[str, str]) -> str:
    """Return the command line for one input, with all defaults, every argument in quotation marks."""
    from coopmat import compiler

    name = invocation.inputs[0]
    kinds = ",".join(kind for kind in outputs if kind not in ("d", "preprocessed"))
    words = ["coopmat", "compile", "-x", invocation.language or compiler.language_of(name)]
    words += ["-E"] if invocation.preprocess else ["-fsyntax-only"] if invocation.syntax_only else []
    words += {"only": ["-M"], "also": ["-MD"]}.get(invocation.dependencies, [])
    words += ["--emit", kinds] if kinds else []
    words += ["-MF", outputs["d"]] if "d" in outputs and len(outputs) > 1 else []
    words += [*invocation.options, name]
    own = [output for kind, output in outputs.items() if kind != "d" or len(outputs) == 1]
    words += ["-o", own[0]] if len(own) == 1 else []
    escapes = str.maketrans({"\\": "\\\\", '"': '\\"'})
    return "".join(f' "{word.translate(escapes)}"' for word in words) + "\n"
