"""Random statement expressions, and random functions with matrices and calls of them."""

from __future__ import annotations

import fuzz_matrices_tree as tree
from fuzz_matrices_expressions import Expressions, Scope, Variable, standard
from fuzz_matrices_functions import prefix
from fuzz_matrices_types import (
    INT,
    MatrixType,
    Range,
)


class Calls(Expressions):
    """A maker of functions with matrices; its subclass makes statements."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.functions: list[tuple[tree.Function, list[Range]]] = []

    def type(self) -> MatrixType:
        """Return a matrix type of the program, or a new one."""
        raise NotImplementedError

    def statements(self, scope: Scope, count: int, depth: int) -> list[tree.Node]:
        """Return statements."""
        raise NotImplementedError

    def assign(self, variable: Variable, scope: Scope, depth: int) -> list[tree.Node]:
        """Assign to a variable."""
        raise NotImplementedError

    def elements(self, variable: Variable, scope: Scope) -> list[tree.Node]:
        """Loop over the components of a variable."""
        raise NotImplementedError

    # Statement expressions and functions

    def block(self, kind: MatrixType, scope: Scope, depth: int) -> tree.Matrix:
        """Return a statement expression."""
        rng = self.rng
        inner = scope.inner(value=True)
        name = self.names.variable(inner.taken, 0.3)
        bounds = standard(rng, kind.component)
        first = self.tame(self.expression(kind, scope, depth), bounds)
        body: list[tree.Node] = [tree.Declare(kind, name, first)]
        variable = Variable(name, kind, bounds)
        inner.variables.append(variable)
        for _ in range(rng.choice([0, 1, 2])):
            body += self.assign(variable, inner, 1)
        if rng.random() < 0.3:
            body += self.elements(variable, inner)
        value = self.expression(kind, inner, 1) if rng.random() < 0.5 else tree.Ref(kind, bounds, tree.Place(name))
        return tree.Block(kind, value.range, body, value)

    def call(self, kind: MatrixType, scope: Scope, depth: int) -> tree.Matrix:
        """Return a call of a function with matrices, an existing or a new one."""
        if scope.memories is not None:
            return self.leaf(kind, scope)
        found = [item for item in self.functions if item[0].result == kind]
        if not found or self.rng.random() < 0.5:
            found = [self.new_function(kind, scope)]
        function, bounds = self.rng.choice(found)
        arguments = self.arguments(function, bounds, scope, depth)
        if arguments is None:
            return self.leaf(kind, scope)
        return tree.CallM(kind, bounds[-1], function, arguments)

    def arguments(
        self, function: tree.Function, bounds: list[Range], scope: Scope, depth: int
    ) -> list[tree.Node] | None:
        """Return arguments for a function, or None if no variable fits a pointer parameter."""
        arguments: list[tree.Node] = []
        pointed: list[str] = []
        for parameter, limit in zip(function.parameters, bounds, strict=False):
            if parameter.kind == "matrix":
                arguments.append(self.tame(self.expression(parameter.what, scope, depth), limit))
            elif parameter.kind == "matrix pointer":
                target = self.pointed(parameter, limit, scope, pointed)
                if target is None:
                    return None
                arguments.append(target)
            elif parameter.kind == "memory":
                memory = self.fitting(parameter.what)
                arguments.append(tree.Address(memory.name, 0))
            else:
                arguments.append(tree.Num(INT, self.rng.choice([0, 1, 2, 3]), True))
        return arguments

    def pointed(self, parameter: tree.Parameter, limit: Range, scope: Scope, pointed: list[str]) -> tree.Node | None:
        """Return the address of a variable for a pointer parameter, or None; no two parameters get the same one."""
        found = [
            item
            for item in scope.variables
            if item.type == parameter.what and item.range == limit and item.writable and item.name not in pointed
        ]
        if not found or scope.value:
            return None
        variable = self.rng.choice(found)
        pointed.append(variable.name)
        place = self.place(variable, scope)
        return tree.To(place)

    def fitting(self, wanted: tree.Memory) -> tree.Memory:
        """Return an object in memory for a pointer parameter, a new one if no existing one fits."""
        for memory in self.memories:
            same = memory.component is wanted.component and memory.space == wanted.space and not memory.output
            if same and memory.size >= wanted.size and memory.range.within(wanted.range) and not memory.volatile:
                return memory
        return self.new_memory(wanted.component, wanted.space, wanted.size, wanted.range)

    def new_function(self, kind: MatrixType | None, scope: Scope) -> tuple[tree.Function, list[Range]]:
        """Make a function with matrices; if `kind` is None, its result is stored through a pointer."""
        rng = self.rng
        inner = Scope(memories=[])
        parameters: list[tree.Parameter] = []
        bounds: list[Range] = []
        pointers = [item for item in scope.variables if item.writable] if not scope.value else []
        if pointers and (kind is None or rng.random() < 0.4):
            target = rng.choice(pointers)
            name = self.names.variable(inner.taken)
            parameters.append(tree.Parameter("matrix pointer", name, target.type))
            bounds.append(target.range)
            inner.variables.append(Variable(name, target.type, target.range, 0, True))
        for _ in range(rng.choice([0, 1, 1, 2])):
            of = kind if kind is not None and rng.random() < 0.6 else self.type()
            name = self.names.variable(inner.taken)
            parameters.append(tree.Parameter("matrix", name, of))
            bounds.append(standard(rng, of.component))
            inner.variables.append(Variable(name, of, bounds[-1]))
        if rng.random() < 0.4:
            self.memory_parameter(kind or self.type(), inner, parameters, bounds)
        name = self.names.variable(inner.taken)
        parameters.append(tree.Parameter("scalar", name, INT))
        bounds.append(Range(0, 3))
        inner.counters.append(name)
        return self.finish_function(kind, inner, parameters, bounds)

    def memory_parameter(
        self, kind: MatrixType, inner: Scope, parameters: list[tree.Parameter], bounds: list[Range]
    ) -> None:
        """Add a pointer to memory."""
        rng = self.rng
        space = rng.choice(["global", "global", "constant", "local"])
        size = min(700, kind.rows * kind.columns + 9)
        limit = standard(rng, kind.component)
        if space == "local":
            limit = Range(-2, 2) if kind.component.kind != "unsigned" else Range(0, 4)
        name = self.names.variable(inner.taken)
        memory = tree.Memory(name, kind.component, space, size, limit, True)
        parameters.append(tree.Parameter("memory", name, memory))
        bounds.append(limit)
        assert inner.memories is not None
        inner.memories.append(memory)

    def finish_function(
        self, kind: MatrixType | None, inner: Scope, parameters: list[tree.Parameter], bounds: list[Range]
    ) -> tuple[tree.Function, list[Range]]:
        """Make the body of a function and keep the function."""
        rng = self.rng
        at_first = inner.inner()
        body = self.statements(inner, rng.choice([0, 1, 2]), 1)
        name = self.names.function()
        result = standard(rng, kind.component) if kind is not None else Range(0, 0)
        if kind is not None:
            if rng.random() < 0.3:
                early = self.tame(self.expression(kind, at_first, 1), result)
                body.insert(0, tree.If(self.condition(at_first), [tree.Return(early)], []))
            body.append(tree.Return(self.tame(self.expression(kind, inner, 2), result)))
        function = tree.Function(name, parameters, kind, body, prefix(rng))
        made = (function, [*bounds, result])
        self.functions.append(made)
        return made
