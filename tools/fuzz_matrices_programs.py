"""Random programs with matrices: statements, functions with matrices, structs, and the kernel around them."""

from __future__ import annotations

import fuzz_matrices_tree as tree
from fuzz_matrices_calls import Calls
from fuzz_matrices_expressions import SHAPES, USES, Scope, Variable, standard
from fuzz_matrices_functions import FunctionMaker, prefix
from fuzz_matrices_types import (
    BFLOAT16,
    CHAR,
    COMPONENTS,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    SHORT,
    UCHAR,
    UINT,
    MatrixType,
    Range,
    full,
)

_COMPONENTS = (*COMPONENTS, FLOAT, FLOAT, HALF, HALF, INT, CHAR, UCHAR, BFLOAT16)


class Generator(Calls):
    """A generator of one program."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        rng = self.rng
        self.seed = seed
        self.scope = "WORKGROUP" if rng.random() < 0.04 else "SUBGROUP"
        self.subgroups = rng.choice([1, 1, 2, 3])
        self.groups = rng.choice([(1, 1, 1), (1, 1, 1), (2, 1, 1), (1, 2, 1), (2, 1, 2)])
        self.lone = self.scope == "WORKGROUP" or self.subgroups == 1
        self.flat = rng.random() < 0.7
        self.total = self.groups[0] * self.groups[1] * self.groups[2]
        if self.scope == "SUBGROUP":
            self.total *= self.subgroups
        for name, component in (
            ("n1", INT),
            ("n2", rng.choice([UINT, LONG, SHORT])),
            ("fs", rng.choice([FLOAT, DOUBLE])),
        ):
            self.scalars[name] = (component, rng.choice([1, 2, 3]))
            self.kernel_names.add(name)
        self.kernel_names.add("k")
        self.kinds = [self.new_type() for _ in range(rng.choice([1, 2, 3]))]

    def new_type(self) -> MatrixType:
        """Return a matrix type."""
        rng = self.rng
        return MatrixType(rng.choice(_COMPONENTS), rng.choice(SHAPES), rng.choice(SHAPES), rng.choice(USES))

    def type(self) -> MatrixType:
        """Return a matrix type of the program, or a new one."""
        return self.rng.choice(self.kinds) if self.rng.random() < 0.85 else self.new_type()

    # Statements

    def statements(self, scope: Scope, count: int, depth: int) -> list[tree.Node]:
        """Return statements; variables that they declare are in the scope."""
        body: list[tree.Node] = []
        for _ in range(count):
            if self.work < 0:
                break
            body += self.statement(scope, depth)
        return body

    def statement(self, scope: Scope, depth: int) -> list[tree.Node]:
        """Return statements of a random kind."""
        rng = self.rng
        writable = [item for item in scope.variables if item.writable]
        kernel = scope.memories is None
        sorts: list[tuple[str, int]] = [("new", 5 if len(scope.variables) < 6 else 1)]
        if writable:
            sorts += [("change", 6), ("elements", 2)]
        if depth:
            sorts += [("branch", 3), ("repeat", 4), ("choice", 1)]
        if kernel and not scope.divergent:
            sorts += [("struct", 1), ("array", 2), ("store", 2), ("product", 2)]
            if writable:
                sorts += [("trip", 4), ("evaluate", 2)]
            if depth and not self.lone and scope.loops == 0:
                sorts += [("diverge", 1)]
        sort = rng.choices([item for item, _ in sorts], [weight for _, weight in sorts])[0]
        if sort in ("change", "elements", "trip"):
            variable = rng.choice(writable)
            maker = {"change": self.change, "elements": self.elements, "trip": self.trip}[sort]
            return maker(variable, scope)
        if sort in ("branch", "repeat", "choice", "diverge"):
            return self.control(sort, scope, depth - 1)
        simple = {
            "new": self.new,
            "product": self.product,
            "struct": self.struct,
            "array": self.array,
            "store": self.store,
            "evaluate": self.evaluate,
        }
        return simple[sort](scope)

    def new(self, scope: Scope) -> list[tree.Node]:
        """Declare a matrix variable."""
        kind = self.type()
        return self.declare(kind, self.expression(kind, scope, self.rng.choice([1, 2, 2, 3])), scope)

    def product(self, scope: Scope) -> list[tree.Node]:
        """Declare the result of a multiply-add in a shape for which GPUs have instructions."""
        kind = MatrixType(self.rng.choice([FLOAT, FLOAT, HALF, INT]), 16, 16, "ACCUMULATOR")
        return self.declare(kind, self.make("multiply_add", kind, scope, 1), scope)

    def declare(self, kind: MatrixType, value: tree.Matrix, scope: Scope) -> list[tree.Node]:
        """Declare a matrix variable with a value."""
        bounds = standard(self.rng, kind.component)
        value = self.tame(value, bounds)
        name = self.names.variable(scope.taken | self.kernel_names, 0.4)
        self.take(name, scope)
        scope.variables.append(Variable(name, kind, bounds))
        if self.rng.random() < 0.15:
            place = tree.Place(name)
            return [tree.Declare(kind, name, None), tree.Assign(place, "", self.bare(value))]
        return [tree.Declare(kind, name, self.bare(value))]

    def take(self, name: str, scope: Scope) -> None:
        """Mark a name as taken in a scope."""
        scope.taken.add(name)
        if scope.memories is None:
            self.kernel_names.add(name)

    def bare(self, value: tree.Matrix) -> tree.Matrix:
        """Return a value for an assignment, sometimes without the cast to its type."""
        if isinstance(value, (tree.Load, tree.Fill, tree.Map)) and self.rng.random() < 0.5:
            value.cast = False
        return value

    def change(self, variable: Variable, scope: Scope) -> list[tree.Node]:
        """Assign to a variable."""
        return self.assign(variable, scope, self.rng.choice([1, 2, 3]))

    def assign(self, variable: Variable, scope: Scope, depth: int) -> list[tree.Node]:
        """Assign to a variable, also by a compound operator."""
        rng, kind = self.rng, variable.type
        place = self.place(variable, scope)
        if rng.random() < 0.65:
            value = self.tame(self.expression(kind, scope, depth), variable.range)
            return [tree.Assign(place, "", self.bare(value))]
        op = rng.choice("+-*")
        old = tree.Ref(kind, variable.range, place)
        # C leaves open whether the variable is read before or after a call that changes it.
        inside = scope.inner(value=True)
        other: tree.Node = self.expression(kind, inside, depth - 1)
        if rng.random() < 0.4:
            value_type = FLOAT if kind.component.kind == "small" else kind.component
            other = tree.Num(kind.component if value_type is kind.component else FLOAT, rng.choice([1, 2, 3]), True)
            if kind.component.kind == "small":
                other = self.small(self.expression(kind, inside, depth - 1))
        if isinstance(other, tree.Matrix) and kind.component.floating:
            other = self.small(other)
        bounds = self.sum(op, old, other)
        if not kind.component.floating:
            bounds = full(kind.component)
        statements: list[tree.Node] = [tree.Assign(place, op, other)]
        if not bounds.within(variable.range):
            statements.append(tree.Assign(place, "", self.tame(tree.Ref(kind, bounds, place), variable.range)))
        return statements

    def elements(self, variable: Variable, scope: Scope) -> list[tree.Node]:
        """Loop over the components of a variable."""
        rng, kind = self.rng, variable.type
        bounds = variable.range
        maker = FunctionMaker(rng, self.names, kind.component, set(scope.taken) | self.kernel_names)
        name, row, column = maker.name(0.4), maker.name(0.3), maker.name(0.3)
        coordinates = rng.random() < 0.6
        maker.values.components.append((name, kind.component, bounds))
        if coordinates:
            maker.values.integers += [tree.Name(UINT, row), tree.Name(UINT, column)]
        if not kind.component.floating and bounds != full(kind.component):
            return []
        body: list[tree.Node] = []
        around = list(maker.values.components)
        inside = maker.body(bounds, 1)
        result = inside.pop()
        assert isinstance(result, tree.Return)
        if any(isinstance(node, tree.Return) for item in inside for node in tree.walk(item)):
            inside, result = [], tree.Return(maker.result(bounds, 1))
            return []
        assert isinstance(result.value, tree.Scalar)
        body = [*inside, tree.SetScalar(name, result.value)]
        if rng.random() < 0.3:
            maker.values.components = around
            body = [tree.If(maker.condition(), body, [])]
        place = self.place(variable, scope)
        return [tree.Elements(place, kind, name, row, column, body, coordinates, rng.random() < 0.3)]

    def array(self, scope: Scope) -> list[tree.Node]:
        """Declare an array of matrices."""
        rng, kind = self.rng, self.type()
        bounds, count = standard(rng, kind.component), rng.choice([2, 2, 3])
        values = [self.tame(self.expression(kind, scope, 2), bounds) for _ in range(count)]
        name = self.names.variable(scope.taken | self.kernel_names, 0.4)
        self.take(name, scope)
        scope.variables.append(Variable(name, kind, bounds, count))
        if rng.random() < 0.5:
            return [tree.Declare(kind, name, None, count, values)]
        body: list[tree.Node] = [tree.Declare(kind, name, None, count)]
        if rng.random() < 0.5:
            counter = self.names.variable(scope.taken | self.kernel_names, 0.2)
            self.take(counter, scope)
            place = tree.Place(name, tree.Name(INT, counter))
            fill = [tree.Assign(place, "", values[0])]
            return [*body, tree.Loop("for", counter, INT, tree.Num(INT, count, True), list(fill))]
        for index, value in enumerate(values):
            body.append(tree.Assign(tree.Place(name, tree.Num(INT, index, True)), "", value))
        return body

    def struct(self, scope: Scope) -> list[tree.Node]:
        """Declare a struct with matrices, member by member or by a function, and sometimes copy it."""
        rng = self.rng
        members: list[tuple[str, MatrixType, int]] = []
        for index in range(rng.choice([1, 2, 3])):
            path = rng.choice([f"one{index}", f"nested{index}.inside", f"array{index}"])
            members.append((path, self.type(), 2 if path.startswith("array") else 0))
        self.names.count += 1
        struct = tree.Struct(f"S{self.names.count}", members)
        name = self.names.variable(scope.taken | self.kernel_names, 0.4)
        self.take(name, scope)
        limits = [standard(rng, kind.component) for _, kind, _ in members]
        if rng.random() < 0.5:
            body: list[tree.Node] = [tree.DeclareStruct(struct, name, None)]
            body += self.fill_struct(struct, name, limits, scope)
        else:
            body = [tree.DeclareStruct(struct, name, self.maker(struct, limits, scope))]
        body += self.use_struct(struct, name, limits, scope)
        for (path, kind, count), limit in zip(members, limits, strict=True):
            scope.variables.append(Variable(f"{name}.{path}", kind, limit, count))
        return body

    def fill_struct(self, struct: tree.Struct, name: str, limits: list[Range], scope: Scope) -> list[tree.Node]:
        """Assign all members of a struct."""
        body: list[tree.Node] = []
        for (path, kind, count), limit in zip(struct.members, limits, strict=True):
            for index in range(count or 1):
                value = self.tame(self.expression(kind, scope, 1), limit)
                place = tree.Place(f"{name}.{path}", tree.Num(INT, index, True) if count else None)
                body.append(tree.Assign(place, "", self.bare(value)))
        return body

    def maker(self, struct: tree.Struct, limits: list[Range], scope: Scope) -> tree.Node:
        """Return a call of a function that makes a struct from the value of its first member."""
        _, kind, _ = struct.members[0]
        inner = Scope(memories=[])
        name, result = self.names.variable(inner.taken), self.names.variable(inner.taken)
        inner.variables.append(Variable(name, kind, limits[0]))
        body: list[tree.Node] = [tree.DeclareStruct(struct, result, None)]
        body += self.fill_struct(struct, result, limits, inner)
        body.append(tree.Return(tree.Whole(result)))
        parameters = [tree.Parameter("matrix", name, kind)]
        function = tree.Function(self.names.function(), parameters, struct, body, prefix(self.rng))
        value = self.tame(self.expression(kind, scope, 1), limits[0])
        return tree.CallM(kind, full(INT), function, [value])

    def use_struct(self, struct: tree.Struct, name: str, limits: list[Range], scope: Scope) -> list[tree.Node]:
        """Copy a struct, or change it by a function, or neither."""
        rng = self.rng
        body: list[tree.Node] = []
        if rng.random() < 0.3:
            copy = self.names.variable(scope.taken | self.kernel_names, 0.4)
            self.take(copy, scope)
            body.append(tree.DeclareStruct(struct, copy, tree.Whole(name)))
            body.append(tree.CopyStruct(struct, name, tree.Whole(copy)))
        if rng.random() < 0.5:
            inner = Scope(memories=[])
            parameter = self.names.variable(inner.taken)
            for (path, kind, count), limit in zip(struct.members, limits, strict=True):
                inner.variables.append(Variable(f"{parameter}.{path}", kind, limit, count, True))
            statements = self.statements(inner, rng.choice([1, 2]), 1)
            kinds = [tree.Parameter("struct pointer", parameter, struct)]
            function = tree.Function(self.names.function(), kinds, None, statements, prefix(rng))
            body.append(tree.Evaluate(function, [tree.To(tree.Place(name))]))
        return body

    def evaluate(self, scope: Scope) -> list[tree.Node]:
        """Call a function that changes the object of a pointer."""
        function, bounds = self.new_function(None, scope)
        arguments = self.arguments(function, bounds, scope, 1)
        return [] if arguments is None else [tree.Evaluate(function, arguments)]

    def store(self, scope: Scope) -> list[tree.Node]:
        """Store an expression to an output, sometimes after a prefetch."""
        variables = scope.variables
        if variables and self.rng.random() < 0.7:
            variable = self.rng.choice(variables)
            value: tree.Matrix = tree.Ref(variable.type, variable.range, self.place(variable, scope))
        else:
            value = self.expression(self.type(), scope, 2)
        return [self.output(value, scope)]

    def output(self, value: tree.Matrix, scope: Scope) -> tree.Node:
        """Return a store to a new output."""
        rng, kind = self.rng, value.type
        layout = self.layout(kind)
        stride = self.leading(kind, layout, rng.choice([0, 0, 1, 3]))
        offset = rng.choice([0, 1, 4])
        checked = None
        if rng.random() < 0.2:
            row, column = rng.choice([0, 1]), rng.choice([0, 2])
            height, width = (
                max(1, row + kind.rows - rng.choice([0, 1, 3])),
                max(1, column + kind.columns - rng.choice([0, 2])),
            )
            whole = MatrixType(kind.component, row + kind.rows, column + kind.columns, kind.use)
            stride = self.leading(whole, layout, rng.choice([0, 1]))
            checked = (row, column, height, width)
            size = self.extent(whole, layout, stride)
        else:
            size = self.extent(kind, layout, stride)
        name = self.names.variable(self.kernel_names, 0.2)
        memory = tree.Memory(
            name, kind.component, "global", offset + size + rng.choice([0, 5]), Range(0, 0), output=True
        )
        self.memories.append(memory)
        at = tree.Address(name, offset, self.generic and rng.random() < 0.2)
        return tree.Store(at, value, layout, self.count(scope, stride), 1, checked)

    def trip(self, variable: Variable, scope: Scope) -> list[tree.Node]:
        """Store a variable, or its negation, to memory and load it again, with or without a barrier between."""
        rng, kind = self.rng, variable.type
        space = rng.choice(["local", "local", "local", "global", "private"])
        layout = rng.choice(["ROW", "ROW", "COL"])
        stride = self.leading(kind, layout, rng.choice([0, 0, 1]))
        size = self.extent(kind, layout, stride)
        if kind.rows == kind.columns:
            size = stride * kind.rows
        if size > 1100:
            return []
        memory = self.new_memory(kind.component, space, size, variable.range)
        memory.shared = False
        if space == "global":
            memory.output, memory.data = True, None
        elif not memory.range.within(variable.range):
            memory.range = memory.range.joined(variable.range)
        else:
            memory.range = variable.range
        place = self.place(variable, scope)
        value: tree.Matrix = tree.Ref(kind, variable.range, place)
        body: list[tree.Node] = []
        if rng.random() < 0.4 and (kind.component.floating or variable.range == full(kind.component)):
            value = tree.Negate(
                kind, variable.range.joined(variable.range.negate()) if kind.component.floating else value.range, value
            )
            if rng.random() < 0.6 and value.range == variable.range:
                body.append(tree.Assign(place, "", value))
                value = tree.Ref(kind, variable.range, place)
        body.append(tree.Store(tree.Address(memory.name, 0), value, layout, self.count(scope, stride)))
        return body + self.back(variable, scope, memory, layout, stride)

    def back(self, variable: Variable, scope: Scope, memory: tree.Memory, layout: str, stride: int) -> list[tree.Node]:
        """Read stored memory: as a matrix, from another subgroup's part, or as a scalar."""
        rng, kind = self.rng, variable.type
        body: list[tree.Node] = []
        fence = memory.space.upper()
        turn = 0
        group = rng.random() < 0.5
        if memory.space == "local" and not self.lone and rng.random() < 0.4:
            turn, group = rng.randrange(1, self.subgroups) if self.subgroups > 1 else 0, True
        if memory.space == "global" or turn or (memory.space == "local" and rng.random() < 0.4):
            body.append(tree.Barrier(group, fence))
        place = self.place(variable, scope)
        if rng.random() < 0.25 and kind.component.kind != "small" and not turn:
            name = self.names.variable(scope.taken | self.kernel_names, 0.2)
            self.take(name, scope)
            body.append(
                tree.DeclareScalar(
                    kind.component, name, tree.Index(kind.component, memory.name, tree.Num(INT, 0, True))
                )
            )
            old = tree.Ref(kind, variable.range, place)
            added = tree.Arith(kind, self.sum("+", old, old), "+", old, tree.Name(kind.component, name))
            if not kind.component.floating:
                added.range = full(kind.component)
            body.append(tree.Assign(place, "", self.tame(added, variable.range)))
        else:
            other = "COL" if layout == "ROW" else "ROW"
            layout = other if kind.rows == kind.columns and rng.random() < 0.3 else layout
            at = tree.Address(memory.name, 0, False, turn)
            load = tree.Load(kind, memory.range, at, layout, self.count(scope, stride))
            body.append(tree.Assign(place, "", self.tame(load, variable.range)))
        if turn:
            body.append(tree.Barrier(True, fence))
        return body

    # Control flow

    def control(self, sort: str, scope: Scope, depth: int) -> list[tree.Node]:
        """Return a statement that contains statements."""
        rng = self.rng
        if sort == "branch":
            c = self.condition(scope)
            then = self.statements(scope.inner(), rng.choice([1, 2]), depth)
            other = self.statements(scope.inner(), 1, depth) if rng.random() < 0.5 else []
            return [tree.If(c, then, other)]
        if sort == "diverge":
            inner = scope.inner(divergent=True)
            return [tree.If(self.condition(scope, True), self.statements(inner, rng.choice([1, 2]), depth), [])]
        if sort == "choice":
            name = rng.choice([*scope.counters, *(["n1"] if scope.memories is None else [])] or ["n1"])
            if name == "n1" and scope.memories is not None:
                return []
            labels: list[int | None] = [0, 1, 2, 3, None]
            rng.shuffle(labels)
            cases: list[tuple[list[int | None], list[tree.Node], bool]] = []
            for label in labels[: rng.choice([2, 3])]:
                cases.append(([label], self.statements(scope.inner(), 1, depth), rng.random() < 0.3))
            return [tree.Switch(tree.Name(INT, name), cases)]
        return self.repeat(scope, depth)

    def repeat(self, scope: Scope, depth: int) -> list[tree.Node]:
        """Return a loop."""
        rng = self.rng
        counter = self.names.variable(scope.taken | self.kernel_names, 0.3)
        self.take(counter, scope)
        count: tree.Scalar = tree.Num(INT, rng.choice([1, 2, 3]), True)
        if scope.memories is None and rng.random() < 0.4:
            count = tree.Name(INT, "n1")
        inner = scope.inner(loops=scope.loops + 1)
        inner.counters.append(counter)
        work = self.work
        body = self.statements(inner, rng.choice([1, 2, 2]), depth)
        self.work -= 2 * (work - self.work)
        if rng.random() < 0.3:
            leave = [rng.choice([tree.Break(), tree.Continue()])]
            body.insert(rng.randrange(len(body) + 1), tree.If(self.condition(inner), list(leave), []))
        return [tree.Loop(rng.choice(["for", "for", "while", "do", "forever"]), counter, INT, count, body)]

    # The program

    def generate(self) -> tree.Program:
        """Return the program."""
        scope = Scope(taken=self.kernel_names)
        body = self.statements(scope, self.rng.choice([1, 1, 2, 3, 4]), 2)
        last = [self.output(tree.Ref(v.type, v.range, self.place(v, scope)), scope) for v in scope.variables]
        if not last:
            last = [self.output(self.expression(self.type(), scope, 3), scope)]
        program = tree.Program(
            self.seed, self.subgroups, self.groups, self.flat, self.scope, [], self.scalars, [*self.first, *body, *last]
        )
        prune(program, self.memories)
        return program


def prune(program: tree.Program, memories: list[tree.Memory]) -> None:
    """Remove the objects in memory that the program does not use."""
    used: set[str] = set()
    for statement in program.body:
        for node in tree.walk(statement):
            if isinstance(node, tree.Address):
                used.add(node.memory)
            elif isinstance(node, tree.Index):
                used.add(node.pointer)
    body: list[tree.Node] = []
    for statement in program.body:
        if isinstance(statement, tree.DeclareMemory) and statement.memory.name not in used:
            continue
        if isinstance(statement, tree.Barrier) and body and isinstance(body[-1], tree.Barrier):
            continue
        body.append(statement)
    program.body = body
    program.memories = [memory for memory in memories if memory.name in used]


def generate(seed: int) -> tree.Program:
    """Return the program of a seed."""
    return Generator(seed).generate()
