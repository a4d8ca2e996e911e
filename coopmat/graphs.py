"""Walks over graphs, such as call graphs; `successors` returns the nodes to which a node's edges lead."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

N = TypeVar("N", bound=Hashable)


def reachable(starts: Iterable[N], successors: Callable[[N], Iterable[N]]) -> set[N]:
    """Return the starts and all nodes that they reach; `successors` is called once for each."""
    found = set(starts)
    work = list(found)
    while work:
        new = set(successors(work.pop())) - found
        found |= new
        work += new
    return found


def reaching(ends: Iterable[N], edges: Mapping[N, Iterable[N]]) -> set[N]:
    """Return `ends` and all nodes that reach one of them, for example functions and their indirect callers."""
    predecessors: defaultdict[N, list[N]] = defaultdict(list)
    for node, targets in edges.items():
        for target in targets:
            predecessors[target].append(node)
    return reachable(ends, lambda node: predecessors.get(node, ()))


def postorder(starts: Iterable[N], successors: Callable[[N], Iterable[N]]) -> list[N]:
    """Return the starts and all nodes that they reach, each after its successors; cycles are cut."""
    order: list[N] = []
    begun: set[N] = set()
    work = [(start, False) for start in reversed(list(starts))]
    while work:
        node, is_ready = work.pop()
        if is_ready:
            order.append(node)
        elif node not in begun:
            begun.add(node)
            work.append((node, True))
            work += [(target, False) for target in reversed(list(successors(node))) if target not in begun]
    return order


def immediate_dominators(order: Sequence[N], predecessors: Mapping[N, Iterable[N]]) -> dict[N, N]:
    """Return each node's immediate dominator; the first node is its own.

    `order` has the nodes that the first node reaches, in reverse postorder. The algorithm is that of Cooper, Harvey and
    Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
    """
    index = {node: n for n, node in enumerate(order)}
    result = {order[0]: order[0]}
    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            known = [p for p in predecessors[node] if p in result]
            new = known[0]
            for other in known[1:]:
                while new != other:
                    if index[new] > index[other]:
                        new = result[new]
                    else:
                        other = result[other]
            if result.get(node) != new:
                result[node] = new
                changed = True
    return result
