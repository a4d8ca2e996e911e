"""A plan as the text of a function in plain OpenCL C 1.2, with the macros CM_FUNCTION and CM_ROLL."""

from __future__ import annotations

from collections.abc import Callable

from .code import COLUMNS, Code, Memory, Place, Span, chunks, component
from .evaluate import Evaluator, Tile
from .plan import Plan, Step
from .terms import InMemory, Object
from .tree import Tree


def write(plan: Plan) -> str:
    tree = plan.tree
    code = Code(tree.machine.widest)
    evaluator = Evaluator(tree, code)
    if not tree.contract:
        code.lines.append("#pragma OPENCL FP_CONTRACT OFF")
    for step in plan.steps[:-1]:
        memory = _array(code, step)
        _step(code, evaluator, step, memory)
        evaluator.stored[id(step.term)] = memory
    last, out = plan.steps[-1], Memory("out", tree.out)
    if not plan.checked:
        _step(code, evaluator, last, out)
    else:
        with code.block(f"if ({_overlap(plan)})"):
            memory = _array(code, last)
            _step(code, evaluator, last, memory)
            _copy(code, last, memory, out)
        with code.block("else"):
            _step(code, evaluator, last, out)
    parameters = ", ".join(_parameter(p.name, p.type, p.space, p.const, p.volatile) for p in tree.signature.parameters)
    return "\n".join([f"CM_FUNCTION void {tree.function_name}({parameters})", "{", *code.lines, "}", ""])


def _parameter(name: str, type_name: str, space: str | None, const: bool, volatile: bool) -> str:
    if space is None:
        return f"{type_name} {name}"
    return " ".join([f"__{space}", *["const"] * const, *["volatile"] * volatile, type_name, f"*{name}"])


def _array(code: Code, step: Step) -> Memory:
    """In private memory, for what a step evaluates."""
    name, columns = code.fresh("t"), step.axis == COLUMNS
    count, stride = step.term.rows * step.term.columns, step.term.rows if columns else step.term.columns
    code.line(f"__private {step.term.element.library_c} {name}[{count}];")
    return Memory(name, InMemory(step.term.element, "private", stride, not columns))


# --- tiles ---------------------------------------------------------------------------------------


def _step(code: Code, evaluator: Evaluator, step: Step, out: Memory) -> None:
    evaluator.straight, evaluator.k_step = step.straight, step.k_step
    lines, length = (step.term.columns, step.term.rows) if step.axis == COLUMNS else (step.term.rows, step.term.columns)
    if step.straight:
        whole = Span(Place(), lines), Span(Place(), length)
        _store(code, out, step.axis, *whole, evaluator.tile(step.term, step.axis, *whole))
        return

    def along(outer: Span) -> None:
        _each(code, length, step.span, "r", lambda inner: tile(outer, inner))

    def tile(outer: Span, inner: Span) -> None:
        _store(code, out, step.axis, outer, inner, evaluator.tile(step.term, step.axis, outer, inner))

    _each(code, lines, step.lines, "c", along)


def _each(code: Code, total: int, size: int, prefix: str, body: Callable[[Span], None]) -> None:
    """`body` over spans of `size`, in a loop, and over what is left."""
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


def _store(code: Code, out: Memory, axis: str, lines: Span, span: Span, tile: Tile) -> None:
    for place, line in zip(lines, tile, strict=True):
        for name, (start, w) in zip(line, chunks(span.count, code.widest), strict=True):
            first = span.first + start
            if w > 1 and out.along == axis and not out.where.volatile:
                row, column = (first, place) if axis == COLUMNS else (place, first)
                code.line(f"vstore{w}({name}, 0, {out.address(row, column)});")
                continue
            for lane in range(w):
                row, column = (first + lane, place) if axis == COLUMNS else (place, first + lane)
                code.line(f"*({out.address(row, column)}) = {component(name, w, lane)};")


def _copy(code: Code, step: Step, source: Memory, out: Memory) -> None:
    term = Object(step.term.element, step.term.rows, step.term.columns, 0)
    copier = Evaluator(Tree(term, (source.where,), out.where), code)
    copier.stored[id(term)] = source
    _step(code, copier, Step(term, out.where, step.axis, 1, step.span, False, 1), out)


# --- overlap -------------------------------------------------------------------------------------


def _overlap(plan: Plan) -> str:
    """Whether an input lies where the result goes, in a way that would let a store change what is read later."""
    tree, found = plan.tree, []
    shapes = {term.number: term for term in tree.root.walk() if isinstance(term, Object)}
    out = Memory("out", tree.out)
    out_range = _range(out, tree.root.rows, tree.root.columns)
    for number in sorted((*plan.exact, *plan.apart)):
        where = tree.inputs[number]
        assert isinstance(where, InMemory)
        memory = Memory(f"p{number}", where)
        first, end = _range(memory, shapes[number].rows, shapes[number].columns)
        text = f"{first} < {out_range[1]} && {out_range[0]} < {end}"
        if number in plan.exact:
            other = [f"{memory.stride} != {out.stride}"] * (
                memory.stride != out.stride and None in (where.stride, tree.out.stride)
            )
            text += f" && ({' || '.join([f'{first} != {out_range[0]}', *other])})"
        found.append(f"({text})")
    return " || ".join(found)


def _range(memory: Memory, rows: int, columns: int) -> tuple[str, str]:
    """The addresses of the first element and behind the last."""
    last = memory.address(Place(rows - 1), Place(columns - 1))
    return f"(ulong)({memory.name})", f"(ulong)({last} + 1)"
