"""The uniformity analysis of statements and functions: walks over the structured code, repeated until a fixpoint.

Functions are analysed callees first. A method that needs the result of another method is a generator that yields the
call. `_run` executes these generators with an explicit stack, so that deep trees do not overflow Python's stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...diagnostics import Diagnostics, Note
from ...frontend import typed
from ...frontend.calls import CallGraph
from ...frontend.nodes import walk
from .expressions import Expressions, Step, is_operation
from .state import (
    BARRIERS,
    SUB_GROUP,
    UNIFORM,
    WORK_GROUP,
    Cause,
    Finding,
    Frame,
    Group,
    Revisit,
    Summary,
    Value,
    add,
    has_one_sub_group,
    join,
)

_MOST_WALKS = 50
CODE = "coop-mat-nonuniform"


def check(unit: typed.Unit, diagnostics: Diagnostics, *, has_barriers: bool) -> None:
    """Warn about each divergent operation and nonuniform operand of a valid unit, if the warning is enabled.

    has_barriers: see `coopmat.analysis.check_uniformity`.
    """
    if not diagnostics.wants(CODE):
        return
    graph = CallGraph(unit)
    functions = graph.in_order()
    reported: set[object] = set()
    for group in (SUB_GROUP, WORK_GROUP, *([BARRIERS] if has_barriers else [])):
        operating = (f for f in functions if any(is_operation(node, group) for node in walk(f.body)))
        with_matrices = graph.users(operating)
        if with_matrices:
            for finding in _findings(group, functions, with_matrices):
                places = finding.span, (finding.cause.text, finding.cause.span)
                if group is not BARRIERS or reported.isdisjoint(places):
                    notes = [Note(cause.text, cause.span) for cause in finding.cause.path()]
                    diagnostics.warning(CODE, finding.message, finding.span, notes=notes)
                    reported.update(places)


def _findings(
    group: Group, functions: list[typed.FunctionDecl], with_matrices: set[typed.FunctionDecl]
) -> Iterator[Finding]:
    summaries: dict[typed.FunctionDecl, Summary] = {}
    for function in functions:
        if group is BARRIERS and has_one_sub_group(function):
            continue
        result = Analysis(group, function, summaries, with_matrices).run()
        summaries[function] = result.summary
        yield from result.findings


class Analysis(Expressions):
    """The analysis of one function; `run` repeats the walk until the state of back edges no longer changes."""

    def run(self) -> Analysis:
        for _ in range(_MOST_WALKS):
            self.changed = False
            self.begin()
            _run(self.statement(self.function.body))
            if not self.changed:
                break
        return self

    def statement(self, s: typed.Stmt | None) -> Step:
        if s is None:
            return UNIFORM
        return (yield _STATEMENTS[type(s)](self, s))

    def block(self, s: typed.Block) -> Step:
        for item in s.items:
            yield self.statement(item)

    def declaration(self, s: typed.DeclStmt) -> Step:
        decl = s.decl
        self.state.pop(decl, None)
        if decl.initializer is not None and decl.storage == "automatic":
            value = self.quick(decl.initializer) or (yield self.expression(decl.initializer))
            self.set(decl, value, decl.initializer.span, whole=True)

    def expression_statement(self, s: typed.ExprStmt) -> Step:
        yield self.expression(s.expr)

    def conditional_statement(self, s: typed.If) -> Step:
        condition = self.quick(s.condition) or (yield self.expression(s.condition))
        outside, self.control = self.control, self.under(condition, s.condition.span)
        before, dead = dict(self.state), self.dead
        yield self.statement(s.then)
        then, then_dead = self.state, self.dead
        self.state, self.dead = before, dead
        yield self.statement(s.otherwise)
        self.merge(*([] if then_dead else [then]))
        self.control = outside

    def loop(self, s: typed.While | typed.DoWhile | typed.For) -> Step:
        for item in s.init if isinstance(s, typed.For) else ():
            yield self.statement(item)
        revisit = self.revisits.setdefault(id(s), Revisit())
        add(self.state, revisit.state)
        outside = self.control
        frame = Frame(outside, revisit, broken=revisit.divergence)
        self.frames.append(frame)
        if not isinstance(s, typed.DoWhile):
            yield self.loop_condition(s, frame)
        yield self.statement(s.body)
        self.merge(*frame.turns)
        frame.continued = UNIFORM
        if isinstance(s, typed.DoWhile):
            # Work-items that leave the loop reconverge with the others after the loop.
            condition = self.quick(s.condition) or (yield self.expression(s.condition))
            control = self.under(condition, s.condition.span)
            if control is not outside:
                self.keep(revisit, {}, control)
            frame.exits.append(dict(self.state))
        elif isinstance(s, typed.For) and s.step is not None:
            yield self.expression(s.step)
        if not self.dead:
            self.keep(revisit, self.state)
            if frame.conditional:
                # The condition is evaluated again after the last iteration, so its state is an exit state. This saves
                # another walk.
                frame.exits.append(self.state)
        self.frames.pop()
        self.control = outside
        self.stop()
        self.merge(*frame.exits)

    def loop_condition(self, s: typed.While | typed.For, frame: Frame) -> Step:
        if s.condition is None:
            return
        condition = self.quick(s.condition) or (yield self.expression(s.condition))
        self.control = frame.control = self.under(condition, s.condition.span)
        constant = s.condition
        if not (isinstance(constant, typed.IntConst) and constant.value):
            frame.conditional = True
            frame.exits.append(dict(self.state))

    def switch(self, s: typed.Switch) -> Step:
        value = self.quick(s.value) or (yield self.expression(s.value))
        outside, self.control = self.control, self.under(value, s.value.span)
        frame = Frame(self.control, None, entry=dict(self.state))
        self.frames.append(frame)
        self.stop()
        yield self.statement(s.body)
        self.frames.pop()
        self.control = outside
        self.merge(*frame.exits, *([] if s.has_default else [frame.entry]))

    def case(self, s: typed.Case) -> Step:
        frame = next((frame for frame in reversed(self.frames) if frame.revisit is None), None)
        if frame is not None:
            self.merge(frame.entry)
        yield self.statement(s.body)

    def label(self, s: typed.Label) -> Step:
        self.labels.add(s.name)
        self.awaited.pop(s.name, None)
        revisit = self.revisits.setdefault(s.name, Revisit())
        self.merge(revisit.state)
        if not revisit.divergence.is_plain:
            self.around[s.name] = revisit.divergence
        yield self.statement(s.body)

    def goto(self, s: typed.Goto) -> Step:
        revisit = self.revisits.setdefault(s.label, Revisit())
        behind = s.label in self.labels
        self.around.pop(s.label, None)
        divergence = self.control
        self.keep(revisit, self.state, divergence if behind else UNIFORM)
        if not behind and not divergence.is_plain:
            self.awaited[s.label] = join(self.awaited.get(s.label, UNIFORM), divergence)
        self.stop()
        return UNIFORM
        yield

    def leave(self, s: typed.Break) -> Step:
        frame = self.frames[-1]
        if self.control is not frame.control and not self.dead:
            frame.broken = join(frame.broken, self.control)
            if frame.revisit is not None:
                self.keep(frame.revisit, {}, frame.broken)
        if not self.dead:
            frame.exits.append(self.state)
        self.stop()
        return UNIFORM
        yield

    def next_turn(self, s: typed.Continue) -> Step:
        at = next(n for n in range(len(self.frames) - 1, -1, -1) if self.frames[n].revisit is not None)
        frame = self.frames[at]
        if self.control is not frame.control and not self.dead:
            frame.continued = join(frame.continued, self.control)
        if not self.dead:
            frame.turns.append(self.state)
        self.stop()
        return UNIFORM
        yield

    def leave_function(self, s: typed.Return) -> Step:
        value = UNIFORM
        if s.value is not None:
            value = self.quick(s.value) or (yield self.expression(s.value))
        current = self.current()
        self.returns = join(self.returns, value, current)
        if not current.is_plain and not self.dead:
            cause = Cause("some work-items return here", s.span, current.cause) if current.cause else None
            self.early_returns = join(self.early_returns, Value(cause, current.parameters))
            for frame in self.frames:
                if frame.revisit is not None:
                    self.keep(frame.revisit, {}, self.early_returns)
        self.stop()


def _run(step: Step) -> Any:
    """Run a generator and the generators that it yields; return its result."""
    stack = [step]
    value: Any = None
    while stack:
        try:
            following = stack[-1].send(value)
        except StopIteration as stop:
            stack.pop()
            value = stop.value
        else:
            stack.append(following)
            value = None
    return value


_STATEMENTS: dict[type, Callable[[Analysis, Any], Step]] = {
    typed.Block: Analysis.block,
    typed.DeclStmt: Analysis.declaration,
    typed.ExprStmt: Analysis.expression_statement,
    typed.If: Analysis.conditional_statement,
    typed.While: Analysis.loop,
    typed.DoWhile: Analysis.loop,
    typed.For: Analysis.loop,
    typed.Switch: Analysis.switch,
    typed.Case: Analysis.case,
    typed.Label: Analysis.label,
    typed.Goto: Analysis.goto,
    typed.Break: Analysis.leave,
    typed.Continue: Analysis.next_turn,
    typed.Return: Analysis.leave_function,
}
