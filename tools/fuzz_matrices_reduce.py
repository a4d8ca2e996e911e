"""A reducer of the matrix fuzzer's programs: it removes everything that is not needed for a fault."""

from __future__ import annotations

import pickle
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Protocol

import fuzz_matrices_text as text
import fuzz_matrices_tree as tree
from fuzz_matrices_programs import generate, prune
from fuzz_matrices_types import INT, Range

Slot = tuple[Any, Any]


class Runs(Protocol):
    """An executor that runs a job in a separate process and yields events."""

    def run(self, job: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the results of a job."""


def _get(slot: Slot) -> Any:
    """Return the value of a field or list element."""
    owner, key = slot
    return owner[key] if isinstance(owner, list) else getattr(owner, key)


def _set(slot: Slot, value: Any) -> None:
    """Replace the value of a field or list element."""
    owner, key = slot
    if isinstance(owner, list):
        owner[key] = value
    else:
        setattr(owner, key, value)


def slots(value: Any, seen: set[int]) -> Iterator[Slot]:
    """Yield the fields and list elements that hold nodes, parents before children."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, tree.Node):
        parts: list[Slot] = [(value, item.name) for item in fields(value)]
    elif isinstance(value, list):
        parts = [(value, index) for index in range(len(value))]
    else:
        for part in value:
            if isinstance(part, (list, tuple, tree.Node)):
                yield from slots(part, seen)
        return
    for slot in parts:
        part = _get(slot)
        if isinstance(part, tree.Node):
            yield slot
        if isinstance(part, (list, tuple, tree.Node)):
            yield from slots(part, seen)


def lists(value: Any, seen: set[int]) -> Iterator[list[Any]]:
    """Yield the lists of statements, parents before children."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if (
        isinstance(value, list)
        and value
        and isinstance(value[0], tree.Node)
        and not isinstance(value[0], tree.Parameter)
    ):
        yield value
    parts = [getattr(value, item.name) for item in fields(value)] if isinstance(value, tree.Node) else list(value)
    for part in parts:
        if isinstance(part, (list, tuple, tree.Node)):
            yield from lists(part, seen)


def _simpler(node: tree.Node) -> Iterator[tree.Node]:
    """Yield replacements for an expression, the simplest first."""
    if isinstance(node, tree.Matrix):
        if not isinstance(node, tree.Fill):
            yield tree.Fill(node.type, Range(0, 3), tree.Num(INT, 1, True))
        for inner in tree.walk(node):
            if isinstance(inner, tree.Matrix) and inner is not node and inner.type == node.type:
                yield inner
    elif isinstance(node, tree.Scalar) and not isinstance(node, tree.Num):
        yield tree.Num(node.t, 1)
        for child in tree.children(node):
            if isinstance(child, tree.Scalar) and child.t is node.t:
                yield child


def _inlined(node: tree.Node) -> Iterator[list[tree.Node]]:
    """Yield lists of statements that can replace a statement: the bodies inside it."""
    if isinstance(node, tree.If):
        yield node.then
        yield node.other
    elif isinstance(node, tree.Loop):
        yield node.body
    elif isinstance(node, tree.Switch):
        for _, body, _ in node.cases:
            yield body


class Reducer:
    """A reducer of one program; `fails` returns whether a program still has the fault."""

    def __init__(self, program: tree.Program, fails: Callable[[tree.Program], bool]) -> None:
        self.program = program
        self.fails = fails
        self.tests = 0

    def holds(self) -> bool:
        """Return whether the changed program still fails."""
        self.tests += 1
        return self.fails(self.program)

    def shorten(self) -> bool:
        """Remove statements and list elements, halves of the lists first; return whether any was removed."""
        changed = False
        for items in list(lists(self.program.body, set())):
            size = max(1, len(items) // 2)
            while size:
                index = 0
                while index < len(items):
                    saved = items[:]
                    # A function must keep its return statement.
                    items[index : index + size] = [i for i in saved[index : index + size] if isinstance(i, tree.Return)]
                    if len(items) < len(saved) and self.holds():
                        changed = True
                    else:
                        items[:] = saved
                        index += size
                size //= 2
        return changed

    def flatten(self) -> bool:
        """Replace statements by the statements inside them; return whether any was replaced."""
        changed = False
        for items in list(lists(self.program.body, set())):
            for index in reversed(range(len(items))):
                saved = items[:]
                for body in list(_inlined(items[index])):
                    items[index : index + 1] = body
                    if self.holds():
                        changed = True
                        break
                    items[:] = saved
        return changed

    def simplify(self) -> bool:
        """Replace expressions by simpler ones; return whether any was replaced."""
        changed = False
        for slot in list(slots(self.program.body, set())):
            try:
                old = _get(slot)
            except IndexError:
                continue
            for new in list(_simpler(old)):
                _set(slot, new)
                if self.holds():
                    changed = True
                    break
                _set(slot, old)
        return changed

    def shrink(self) -> None:
        """Try fewer subgroups and work-groups."""
        program = self.program
        for name, value in (("groups", (1, 1, 1)), ("subgroups", 1), ("subgroups", 2), ("flat", True)):
            old = getattr(program, name)
            if old != value and not (name == "subgroups" and old < value):
                setattr(program, name, value)
                if not self.holds():
                    setattr(program, name, old)

    def run(self) -> None:
        """Reduce the program until no step changes it."""
        self.shrink()
        while any([self.shorten(), self.flatten(), self.simplify()]):
            pass
        self.shrink()


def reduce_seed(worker: Runs, seed: int, route: str, plain: bool = False) -> int:
    """Reduce the program of a seed for a route, print the result, and return the exit status."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "program"

        def result(program: tree.Program) -> tuple[str, str]:
            pruned = replace(program)
            prune(pruned, program.memories)
            path.write_bytes(pickle.dumps(pruned))
            job = {"seed": seed, "pickle": str(path), "routes": [route], "strict": False, "renamed": plain}
            events = list(worker.run(job))
            if events[-1]["result"] == "crash":
                # The driver may have died of the previous program; after a crash, the process is a new one.
                events = list(worker.run(job))
            return events[-1]["result"], events[-1]["detail"]

        program = generate(seed)
        wanted, detail = result(program)
        print(f"{seed} {route}: {wanted}: {detail[:300]}", file=sys.stderr)
        if wanted in ("same", "refused", "skipped", "unsuitable"):
            return 0
        word = _kind(wanted, detail)
        reducer = Reducer(program, lambda changed: _kind(*result(changed)) == word)
        reducer.run()
        again = result(program)
        prune(program, program.memories)
        print(text.source(program))
        print(f"// {again[0]}: {' '.join(again[1].split())[:600]}")
        print(f"// subgroups {program.subgroups}, groups {program.groups}, {reducer.tests} programs tried")
    return 1


def _kind(result: str, detail: str) -> str:
    """Return the key that identifies a fault: the result and, for a failed build, the error code."""
    if result != "build":
        return result
    codes = [word for word in detail.replace("[", " [").split() if word.startswith("[") and word.endswith("]")]
    return f"build {codes[0] if codes else detail[:40]}"
