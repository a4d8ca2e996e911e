"""The text of a plan's function in plain OpenCL C 1.2, with the macros CM_FUNCTION and CM_ROLL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .access import Access, Memory
from .code import Code, Place, Span
from .evaluate import Evaluator
from .layout import Plan, Step
from .terms import InMemory, Object

_CHECK_COST = 8


def write(plan: Plan) -> str:
    """Return the text of the function."""
    tree = plan.tree
    parameters = ", ".join(_parameter(p.name, p.type, p.space, p.const, p.volatile) for p in tree.signature.parameters)
    head = f"CM_FUNCTION void {tree.function_name}({parameters})"
    pragma = [] if tree.contract else ["#pragma OPENCL FP_CONTRACT OFF"]
    code = body(plan)
    typedefs = [f"    {text}" for text in code.typedefs.values()]
    return "\n".join([head, "{", *pragma, *typedefs, *code.lines, "}", ""])


def _parameter(name: str, type_name: str, space: str | None, const: bool, volatile: bool) -> str:
    """Return a parameter's declaration."""
    if space is None:
        return f"{type_name} {name}"
    return " ".join([f"__{space}", *["const"] * const, *["volatile"] * volatile, type_name, f"*{name}"])


def body(plan: Plan, *, checks: bool = True) -> Code:
    """Return the function's lines and their cost.

    `checks` states whether the lines include the case of overlapping memory.
    """
    code = Code(plan.tree.machine)
    evaluator = Evaluator(plan, code)
    for step in plan.steps[:-1]:
        memory = _array(plan, code, step)
        # A volatile matrix must be read once, so it is read in the order of its memory.
        reading = isinstance(step.term, Object)
        _step(plan, code, evaluator, replace(step, lines=1) if reading else step, memory)
        evaluator.store(step.term, memory)
    last = plan.steps[-1]
    out = Memory("out", plan.work.out, last.term.rows, last.term.columns)
    code.cost += _CHECK_COST * len((*plan.exact, *plan.disjoint))
    if plan.disjoint and plan.work.out.space == "private":
        # If a variable is on both sides, as in a = a * b, the value is copied once more.
        elements = last.term.rows * last.term.columns
        code.cost += 2 * elements * last.term.element.bits / plan.tree.machine.register_bits
    if not plan.checked or not checks:
        _step(plan, code, evaluator, last, out)
        return code
    with code.block(f"if ({_overlap(plan)})"):
        memory = _array(plan, code, last)
        _step(plan, code, evaluator, last, memory)
        _copy(plan, code, last, memory, out)
    with code.block("else"):
        _step(plan, code, evaluator, last, out)
    return code


def _array(plan: Plan, code: Code, step: Step) -> Memory:
    """Return a private array for a step's value."""
    name, term = code.fresh("t"), step.term
    code.line(f"__private {term.element.library_c} {name}[{term.rows * term.columns}];")
    return Memory(name, plan.array(term), term.rows, term.columns)


# --- tiles ---------------------------------------------------------------------------------------


def _step(plan: Plan, code: Code, evaluator: Evaluator, step: Step, out: Memory) -> None:
    """Write the evaluation of a step, whose value is stored to `out`."""
    lines, length = step.shape(plan.axis)
    if plan.straight:
        whole, tile = Span(Place(), length), []
        for first in range(0, lines, step.lines):
            some = Span(Place(first), min(step.lines, lines - first))
            tile += evaluator.tile(step.term, plan.axis, some, whole)
        evaluator.access.store(out, plan.axis, Span(Place(), lines), whole, tile)
        return

    def along(outer: Span) -> None:
        _each(code, length, step.span, "r", lambda span: block(outer, span))

    def block(outer: Span, span: Span) -> None:
        tile = evaluator.tile(step.term, plan.axis, outer, span)
        evaluator.access.store(out, plan.axis, outer, span, tile)

    _each(code, lines, step.lines, "c", along)


def _each(code: Code, total: int, size: int, prefix: str, body: Callable[[Span], None]) -> None:
    """Write `body` in a loop over spans of `size`, and once more for the remainder."""
    even = total // size * size
    if even == size:
        with code.block(""):
            body(Span(Place(), size))
    elif even:
        name = code.fresh(prefix)
        with code.loop(name, 0, even, size):
            body(Span(Place(base=name), size))
    if even < total:
        with code.block(""):
            body(Span(Place(even), total - even))


def _copy(plan: Plan, code: Code, step: Step, source: Memory, out: Memory) -> None:
    """Write a copy of a step's value from one matrix in memory to another."""
    access, (lines, length) = Access(code, False, False), step.shape(plan.axis)

    def block(outer: Span, span: Span) -> None:
        access.store(out, plan.axis, outer, span, access.load(source, plan.axis, outer, span))

    _each(code, lines, 1, "c", lambda outer: _each(code, length, step.span, "r", lambda span: block(outer, span)))


# --- overlap -------------------------------------------------------------------------------------


def _overlap(plan: Plan) -> str:
    """Return the condition under which an input overlaps the destination so that a store would change a later read."""
    tree, tests = plan.work, []
    shapes = {term.number: term for term in tree.root.walk() if isinstance(term, Object)}
    out = Memory("out", tree.out, tree.root.rows, tree.root.columns)
    out_first, out_end = _range(out)
    for number in sorted((*plan.exact, *plan.disjoint)):
        where = tree.inputs[number]
        assert isinstance(where, InMemory)
        memory = Memory(f"p{number}", where, shapes[number].rows, shapes[number].columns)
        first, end = _range(memory)
        text = f"{first} < {out_end} && {out_first} < {end}"
        if number in plan.exact:
            differs = [f"{first} != {out_first}"]
            if memory.stride != out.stride:
                differs.append(f"{memory.stride} != {out.stride}")
            text += f" && ({' || '.join(differs)})"
        tests.append(f"({text})")
    return " || ".join(tests)


def _range(memory: Memory) -> tuple[str, str]:
    """Return expressions for the address of the first element, and for the address after the last element."""
    last = memory.address(Place(memory.rows - 1), Place(memory.columns - 1))
    return f"(ulong)({memory.name})", f"(ulong)({last} + 1)"
