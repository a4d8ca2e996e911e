"""Build the documentation site: `tools/docs [FOLDER]`, by default in build/docs.

The pages of docs/ and those that are generated from the package are written to a temporary folder, from which Sphinx
makes HTML. A warning is an error, and so is a link that leads nowhere or loads something from the network.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
ROOT = TOOLS.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from docs_site import links, staging  # noqa: E402


def build(folder: Path, sources: Path) -> int:
    """Write the site to `folder`, with the pages' sources in `sources`; return 1 if something is wrong."""
    staging.write_pages(sources)
    output = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(output, ignore_errors=True)
    words = ["-W", "--keep-going", "-q", "-j", "auto", "-b", "html", "-c", str(TOOLS / "docs_site" / "sphinx")]
    words += ["-d", str(sources.with_name("doctrees")), str(sources), str(output)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(TOOLS)])}
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *words], env=environment, capture_output=True, text=True, check=False
    )
    print((done.stdout + done.stderr).replace(f"{sources}/", ""), end="", file=sys.stderr)
    faults = links.faults(output) if output.is_dir() else []
    print("".join(f"{fault}\n" for fault in faults), end="", file=sys.stderr)
    if done.returncode or faults:
        return 1
    shutil.rmtree(output / ".doctrees", ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    output.rename(folder)
    print(f"{folder}: {len(list(folder.rglob('*.html')))} pages")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="tools/docs", description="Build the documentation site, and check its links."
    )
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "docs", help="default: build/docs")
    parser.add_argument("--keep-sources", type=Path, help="keep the pages that Sphinx reads in this folder")
    arguments = parser.parse_args()
    arguments.folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        sources = Path(temporary).resolve() / "pages"
        status = build(arguments.folder.resolve(), sources)
        if arguments.keep_sources:
            shutil.copytree(sources, arguments.keep_sources, dirs_exist_ok=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
