"""Run the blocks of a page in docs/start or docs/howto, in order, as a reader would.

Comments above a block say what it is, one a line:

    <!-- file: NAME -->      the reader saves the block as this file
    <!-- skip: REASON -->    nobody runs the block
    <!-- needs: WORD -->     without this program or device, the page is not run any further
    <!-- status: N -->       the commands of the block end with this exit status; 0 by default

A block of the language sh or python is run. A text block behind it shows the output, in which `...` is any text.
Times, errors, and the tile that a warning names may differ: they depend on the processor.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

SECONDS = 300
_BLOCK = re.compile(r"((?:^<!-- [^\n]* -->\n)*)^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"^<!-- (\w+): (.*) -->$", re.MULTILINE)
_WORDS = {"file", "skip", "needs", "status"}
_VARYING = (
    (r"[\d.]+ ms", "TIME ms"),
    (r"error [\d.e+-]+", "error SIZE"),
    (r"use a tile of [\dx ]+, [\dto ]+ times as fast", "use a TILE"),
    (r"[\d.]+ G(FL)?OP", "RATE GOP"),
    (r"[ \t]+$", ""),
)


class PageError(AssertionError):
    """A block that has no meaning, or whose commands or output are not as the page says."""


@dataclass
class Block:
    """A fenced block.

    notes: the comments above it, as word -> text.
    line: the line of its fence.
    start: the offset of the text in the page.
    """

    language: str
    text: str
    line: int
    start: int
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def is_run(self) -> bool:
        """Whether the test executes the block."""
        return self.language in ("sh", "python") and not {"file", "skip"} & self.notes.keys()


def blocks(page: str) -> Iterator[Block]:
    """Yield the blocks of a page. Raises PageError for a block that is neither saved, run, shown output nor skipped."""
    previous = None
    for match in _BLOCK.finditer(page):
        notes = dict(_COMMENT.findall(match[1]))
        block = Block(match[2], match[3], page.count("\n", 0, match.start(2)) + 1, match.start(3), notes)
        if notes.keys() - _WORDS:
            raise PageError(f"line {block.line}: unknown comment {notes.keys() - _WORDS}")
        is_output = block.language == "text" and previous is not None and previous.is_run
        if not (block.is_run or is_output or {"file", "skip"} & notes.keys()):
            raise PageError(f"line {block.line}: is this {block.language} a file, or not run, and why?")
        yield block
        previous = block


def matches(shown: str, output: str) -> bool:
    """Return whether an output is as shown, except for times, errors and `...`."""
    for pattern, instead in _VARYING:
        shown, output = (re.sub(pattern, instead, text, flags=re.MULTILINE).strip() for text in (shown, output))
    parts = re.split(r"\.\.\.", shown)
    return re.fullmatch(".*?".join(map(re.escape, parts)), output, re.DOTALL) is not None


def environment(home: Path, root: Path) -> dict[str, str]:
    """Return the variables of a new user: an empty home, and `coopmat` and `python` of this process in the path."""
    binaries = home.parent / "bin"
    home.mkdir()
    binaries.mkdir()
    for name, words in (("coopmat", " -m coopmat"), ("python", "")):
        program = binaries / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n')
        program.chmod(0o755)
    ours = re.compile("COOPMAT_|PYTHON|PYOPENCL_|OCL_|VIRTUAL_ENV|XDG_")
    kept = {name: value for name, value in os.environ.items() if not ours.match(name)}
    path = os.pathsep.join([str(binaries), os.environ["PATH"]])
    return {**kept, "HOME": str(home), "PATH": path, "PYTHONPATH": str(root), "COLUMNS": "120"}


@dataclass
class Run:
    """The execution of a page in a folder. `lacks` returns why this machine has not what a word names, or nothing."""

    place: Path
    variables: dict[str, str]
    lacks: Callable[[str], str]
    stopped: str = ""

    def page(self, page: str) -> str:
        """Run the blocks. Return the page with its outputs replaced where they are not as shown. Raises PageError."""
        new, end, done = "", 0, None
        for block in blocks(page):
            missing = next(filter(None, map(self.lacks, block.notes.get("needs", "").split())), "")
            if missing:
                self.stopped = f"line {block.line}: {missing}"
                break
            if "skip" in block.notes:
                done = None
            elif "file" in block.notes:
                path = self.place / block.notes["file"]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, encoding="utf-8")
            elif block.is_run:
                done = self._run(block)
            elif done is not None and not matches(block.text, done):
                new += page[end : block.start] + f"{done.rstrip()}\n"
                end = block.start + len(block.text)
        return new + page[end:]

    def _run(self, block: Block) -> str:
        """Run a block and return what it printed."""
        words = ["bash", "-e", "-c", block.text] if block.language == "sh" else [sys.executable, "-c", block.text]
        done = subprocess.run(
            words, cwd=self.place, env=self.variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=SECONDS,
        )  # fmt: skip
        if done.returncode != int(block.notes.get("status", "0")):
            raise PageError(f"line {block.line}: exit status {done.returncode}\n{done.stdout}")
        return done.stdout
