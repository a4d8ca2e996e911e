"""The schema of the trees: every field is classified, and what follows from it reaches every node once."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from coopmat.compiler import Module
from coopmat.compiler.stages import TREE
from coopmat.frontend import syntax, typed
from coopmat.frontend.nodes import Node, child_fields, children, walk
from coopmat.options import CompileOptions

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "tests" / "golden" / "in" / "typed").glob("*.cl"))


def _kinds(kind: type[Node] = Node) -> Iterator[type[Node]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _kinds(subclass)


def _held(value: Any) -> Iterator[Node]:
    """The nodes in a field's value, however deep in lists and tuples."""
    if isinstance(value, Node):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _held(item)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_fields_that_hold_nodes_are_children_or_references(source: Path) -> None:
    module = Module(source.read_text(), source.name, CompileOptions.from_arguments(["-w"]))
    for root in (module.result(TREE), *module.unit.functions):
        for node in walk(root):
            inner = [
                child
                for item in fields(node)
                if not _refers(node, item.name)
                for child in _held(getattr(node, item.name))
            ]
            assert [id(child) for child in inner] == [id(child) for child in children(node)], type(node)


def _refers(node: Node, name: str) -> bool:
    return str(next(item for item in fields(node) if item.name == name).type).startswith("Reference[")


def test_every_kind_with_parts_has_child_fields() -> None:
    gc.collect()
    without = {kind.__name__ for kind in _kinds() if not child_fields(kind)}
    assert {"IntegerLiteral", "Word", "Goto", "IntConst", "VarRef", "MatrixLength", "Break"} <= without
    assert child_fields(typed.CompoundAssign) == ("target", "value")
    assert child_fields(typed.Aggregate) == ("items",)
    assert child_fields(typed.DeclStmt) == ("decl",) and child_fields(typed.Call) == ("arguments",)
    assert child_fields(syntax.InitializerItem) == ("designators", "value")
    assert child_fields(syntax.Compound) == ("items",)


def test_walk_is_in_source_order_and_deep_trees_are_no_problem() -> None:
    text = "int f(int a) { return " + "+".join(["a"] * 20_000) + "; }"
    module = Module(text, "deep.cl", CompileOptions.from_arguments([]))
    references = [node for node in walk(module.unit.functions[0].body) if isinstance(node, typed.VarRef)]
    columns = [node.span.column for node in references]
    assert len(columns) == 20_000 and columns == sorted(columns)
    assert max(Counter(map(id, references)).values()) == 1
