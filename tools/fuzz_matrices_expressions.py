"""Random matrix expressions with exact bounds."""

from __future__ import annotations

from dataclasses import replace

import fuzz_matrices_tree as tree
import numpy as np
from fuzz_matrices_functions import FunctionMaker, prefix, reduction
from fuzz_matrices_memory import SHAPES, USES, Memories, Scope, Variable, standard
from fuzz_matrices_types import (
    BFLOAT16,
    COMPONENTS,
    E4M3,
    E5M2,
    FLOATS,
    HALF,
    INT,
    INTEGERS,
    LONG,
    SHORT,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    Component,
    MatrixType,
    Range,
    fits,
    full,
    rounded_range,
)

_FLOAT_BUILTINS = """
    fmin fmax min max clamp fabs floor ceil rint trunc round sign copysign fma mad step fdim fmod maxmag minmag
"""
_INTEGER_BUILTINS = """
    add_sat sub_sat clz ctz popcount hadd rhadd rotate mul_hi mad_hi mad_sat clamp max min max min
"""


class Expressions(Memories):
    """A maker of random matrix expressions; its subclasses make functions and statements."""

    # Functions on components

    def captured(self, maker: FunctionMaker, scope: Scope) -> tuple[list[tree.Parameter], list[tree.Node]]:
        """Return captured parameters and their arguments, and register them as values for the maker."""
        parameters: list[tree.Parameter] = []
        arguments: list[tree.Node] = []
        for _ in range(self.rng.choice([0, 1, 1, 2, 3])):
            pick = self.rng.randrange(5)
            if pick == 0:
                name = maker.name(0.9)
                parameters.append(tree.Parameter("pair", name))
                arguments.append(tree.Pair())
                maker.values.integers += [tree.Cast(UINT, tree.Member(INT, name, part)) for part in ("first", "second")]
            elif pick == 1:
                self.captured_pointer(maker, scope, parameters, arguments)
            else:
                self.captured_scalar(maker, scope, parameters, arguments)
        if scope.memories is not None:
            kept = [(p, a) for p, a in zip(parameters, arguments, strict=True) if p.kind != "pair"]
            maker.values.integers = [v for v in maker.values.integers if "Member" not in repr(v)]
            return [p for p, _ in kept], [a for _, a in kept]
        return parameters, arguments

    def captured_scalar(
        self, maker: FunctionMaker, scope: Scope, parameters: list[tree.Parameter], arguments: list[tree.Node]
    ) -> None:
        """Add a captured scalar."""
        rng, name = self.rng, maker.name(0.9)
        const = rng.random() < 0.2
        if rng.random() < 0.4:
            component = maker.component
            number = rng.choice([0, 1, 2, 3])
            parameters.append(tree.Parameter("scalar", name, component, const))
            typed = component.kind == "small"
            argument = tree.Num(component, number) if typed else self.number(component, number)
            maker.values.components.append((name, component, Range(0, 3)))
        else:
            component = rng.choice([INT, UINT, USHORT, UCHAR, LONG, SHORT])
            argument_type = rng.choice([INT, component, UINT])
            argument = tree.Num(argument_type, rng.choice([0, 1, 2, 3]), argument_type is INT and rng.random() < 0.5)
            parameters.append(tree.Parameter("scalar", name, component, const))
            value = tree.Name(component, name)
            maker.values.integers.append(value if component is UINT else tree.Cast(UINT, value))
        if scope.memories is None and rng.random() < 0.3:
            scalar: tree.Scalar = tree.Name(INT, "n1")
            if not self.lone and rng.random() < 0.5:
                scalar = tree.Cast(INT, tree.Name(ULONG, "lsg"))
            arguments.append(tree.Cast(component, scalar) if component.kind == "small" else scalar)
        else:
            arguments.append(argument)

    def captured_pointer(
        self, maker: FunctionMaker, scope: Scope, parameters: list[tree.Parameter], arguments: list[tree.Node]
    ) -> None:
        """Add a captured pointer."""
        rng = self.rng
        component = rng.choice([maker.component, maker.component, INT, UCHAR])
        if maker.component.floating and not component.floating:
            component = maker.component
        size = rng.choice([1, 3, 8, 19])
        memory = self.readable(scope, component, size)
        # Loads of local and private memory are not tracked: the result may be any value in the object's bounds.
        if memory is None or memory.volatile or (component.floating and memory.range.most > 16):
            return
        name = maker.name(0.9)
        offset = rng.randrange(memory.size - size + 1)
        pointer = replace(memory, name=name, data=None, shared=True)
        parameters.append(tree.Parameter("memory", name, pointer))
        arguments.append(tree.Address(memory.name, offset))
        maker.values.pointers.append((name, component, size, memory.range))

    def map(self, kind: MatrixType, scope: Scope, count: int, depth: int) -> tree.Matrix:
        """Return a map of `count` matrices, or a build if it is 0."""
        rng, component = self.rng, kind.component
        target = standard(rng, component)
        matrices = []
        for _ in range(count):
            x = self.expression(kind, scope, depth)
            matrices.append(self.tame(x, target) if component.floating else x)
        maker = FunctionMaker(rng, self.names, component, set())
        row, column = maker.name(), maker.name()
        parameters = [tree.Parameter("scalar", row, UINT), tree.Parameter("scalar", column, UINT)]
        maker.values.integers += [tree.Name(UINT, row), tree.Name(UINT, column)]
        for x in matrices:
            name = maker.name()
            parameters.append(tree.Parameter("scalar", name, component, rng.random() < 0.1))
            maker.values.components.append((name, component, x.range))
        extra, captured = self.captured(maker, scope)
        function = tree.Function(self.names.function(), parameters + extra, component, maker.body(target), prefix(rng))
        bounds = target if component.floating else full(component)
        return tree.Map(kind, bounds, matrices, function, captured)

    # Operations

    def arith(self, kind: MatrixType, scope: Scope, depth: int) -> tree.Matrix:
        """Return an operator on matrices, or on a matrix and a scalar."""
        rng, component = self.rng, kind.component
        op = rng.choice("+-*" if rng.random() < 0.85 else "/")
        a = self.expression(kind, scope, depth)
        if op == "/":
            return self.quotient(kind, a)
        b: tree.Node = self.expression(kind, scope, depth)
        if rng.random() < 0.35:
            value = rng.choice([0, 1, 2, 3] if component.kind == "unsigned" else [-2, -1, 0, 1, 2, 3])
            b = self.number(component, value)
        bounds = self.sum(op, a, b)
        if not fits(component, bounds) and component.floating:
            a = self.small(a)
            b = self.small(b) if isinstance(b, tree.Matrix) else b
            bounds = self.sum(op, a, b)
        if rng.random() < 0.4 and not isinstance(b, tree.Matrix) and op != "-":
            return tree.Arith(kind, rounded_range(component, bounds), op, b, a)
        return tree.Arith(kind, rounded_range(component, bounds), op, a, b)

    def sum(self, op: str, a: tree.Matrix, b: tree.Node) -> Range:
        """Return the bounds of a sum, difference or product."""
        if isinstance(b, tree.Matrix):
            second = b.range
        else:
            assert isinstance(b, tree.Num)
            second = Range(b.value, b.value)
        if op == "*":
            return a.range.multiply(second)
        return a.range.add(second if op == "+" else second.negate())

    def quotient(self, kind: MatrixType, a: tree.Matrix) -> tree.Matrix:
        """Return a quotient by a scalar, which is a power of two for floating point."""
        rng, component = self.rng, kind.component
        divisor = rng.choice([1, 2, 4] if component.floating else [1, 2, 3, 5, 7])
        if component.floating:
            grown = Range(a.range.low, a.range.high, a.range.grain + 2)
            if not fits(component, grown):
                a = self.small(a)
            bounds = Range(a.range.low, a.range.high, a.range.grain + 2)
        else:
            bounds = Range(min(a.range.low, 0), max(a.range.high, 0))
        return tree.Arith(kind, rounded_range(component, bounds), "/", a, self.number(component, divisor))

    def apply(self, kind: MatrixType, scope: Scope, depth: int) -> tree.Matrix:
        """Return a builtin on matrices."""
        if kind.component.floating:
            return self.float_builtin(kind, scope, depth)
        return self.integer_builtin(kind, scope, depth)

    def float_builtin(self, kind: MatrixType, scope: Scope, depth: int) -> tree.Matrix:
        """Return a floating-point builtin whose result is exact."""
        rng = self.rng
        name = rng.choice(_FLOAT_BUILTINS.split())
        a = self.expression(kind, scope, depth)
        most = a.range
        if name in ("fabs", "floor", "ceil", "rint", "trunc", "round", "sign"):
            bounds = Range(float(np.floor(-most.most)), float(np.ceil(most.most)), most.grain)
            return tree.Apply(kind, rounded_range(kind.component, bounds), name, [a])
        if name == "copysign":
            return tree.Apply(
                kind, Range(-most.most, most.most, most.grain), name, [a, self.number(kind.component, -1)]
            )
        if name == "clamp":
            low, high = self.number(kind.component, -2), self.number(kind.component, 3)
            return tree.Apply(kind, most.joined(Range(-2, 3)), name, [a, low, high])
        if name == "fmod":
            return tree.Apply(kind, Range(-most.most, most.most, most.grain), name, [a, self.number(kind.component, 3)])
        b = self.expression(kind, scope, depth)
        if name in ("fma", "mad"):
            a, b, c = self.small(a), self.small(b), self.small(self.expression(kind, scope, depth))
            total = a.range.multiply(b.range).add(c.range)
            return tree.Apply(kind, rounded_range(kind.component, total), name, [a, b, c])
        if name == "fdim":
            a, b = self.small(a), self.small(b)
            return tree.Apply(kind, rounded_range(kind.component, Range(0, 16)), name, [a, b])
        bounds = a.range.joined(b.range).joined(Range(0, 1))
        return tree.Apply(kind, bounds, name, [a, b])

    def integer_builtin(self, kind: MatrixType, scope: Scope, depth: int) -> tree.Matrix:
        """Return a builtin of integers."""
        rng, component = self.rng, kind.component
        names = _INTEGER_BUILTINS.split()
        if component.kind == "unsigned":
            names += ["abs", "abs_diff"]
        if component in (INT, UINT):
            names += ["mul24", "mad24"]
        name = rng.choice(names)
        count = {"clz": 1, "ctz": 1, "popcount": 1, "abs": 1, "mad_hi": 3, "mad_sat": 3, "mad24": 3}.get(name, 2)
        args: list[tree.Node] = [self.expression(kind, scope, depth) for _ in range(count)]
        if name in ("mul24", "mad24"):
            args = [self.small(x) for x in args if isinstance(x, tree.Matrix)]
        if name == "clamp":
            args = [args[0], self.number(component, 0), self.number(component, 100)]
        elif count == 2 and rng.random() < 0.3:
            args[1] = self.number(component, rng.choice([0, 1, 2, 3, 5]))
        return tree.Apply(kind, full(component), name, args)

    def convert(self, kind: MatrixType, scope: Scope, depth: int) -> tree.Matrix:
        """Return a conversion from another component type or use."""
        rng, target = self.rng, kind.component
        source = target if rng.random() < 0.3 else rng.choice(COMPONENTS)
        x = self.expression(MatrixType(source, kind.rows, kind.columns, rng.choice(USES)), scope, depth)
        saturates = (not target.floating or target.bits == 8) and rng.random() < 0.4
        mode = rng.choice(["", "", "", "_rte", "_rtz", "_rtp", "_rtn"])
        how = f"-{'_sat' if saturates else ''}{mode}" if saturates or mode or rng.random() < 0.5 else ""
        if target.floating:
            if not fits(target, Range(x.range.low, x.range.high)):
                limit = 1000 if target.digits > 4 else 100
                if source.floating:
                    limit = min(limit, int(source.largest / 2))
                high = min(limit, source.high) if not source.floating else limit
                x = self.tame(x, Range(0 if source.kind == "unsigned" else -high, high, x.range.grain))
            if source is target:
                return tree.Convert(kind, x.range, x, how)
            return tree.Convert(kind, self.converted(target, x.range), x, how)
        if source.floating and not saturates:
            low = 0.0 if target.kind == "unsigned" else -100.0
            x = self.tame(x, Range(low, 100.0, x.range.grain))
        bounds = full(target)
        if source.floating or fits(target, x.range):
            low, high = float(np.floor(x.range.low)), float(np.ceil(x.range.high))
            bounds = Range(max(low, target.low), min(high, target.high))
        if not source.floating and fits(target, x.range):
            bounds = x.range
        if bounds.low > bounds.high:
            bounds = full(target)
        return tree.Convert(kind, bounds, x, how)

    def converted(self, target: Component, bounds: Range) -> Range:
        """Return bounds after a conversion to floating point in any rounding mode."""
        most = 1.0
        while most < bounds.most:
            most *= 2
        low = 0.0 if bounds.low >= 0 else -most
        return Range(low, most, bounds.grain)

    def transpose(self, kind: MatrixType, scope: Scope, depth: int) -> tree.Matrix:
        """Return a transpose."""
        x = self.expression(kind.turned(self.rng.choice(USES)), scope, depth)
        return tree.Transpose(kind, x.range, x)

    def reduce(self, kind: MatrixType, scope: Scope, depth: int) -> tree.Matrix:
        """Return a reduction."""
        rng, component = self.rng, kind.component
        how = rng.choice(["row", "column", "all", "2x2"])
        rows, columns = kind.rows, kind.columns
        if how == "2x2":
            if max(rows, columns) > 16:
                how = "row"
            rows, columns = rows * 2, columns * 2
        if how in ("row", "all"):
            columns = rng.choice(SHAPES)
        rows = kind.rows if how == "row" else rows
        if how in ("column", "all"):
            rows = rng.choice(SHAPES)
            columns = kind.columns if how == "column" else columns
        x = self.expression(MatrixType(component, rows, columns, "ACCUMULATOR"), scope, depth)
        return self.reduced(kind, x, how, {"row": columns, "column": rows, "all": rows * columns, "2x2": 4}[how])

    def reduced(self, kind: MatrixType, x: tree.Matrix, how: str, count: int) -> tree.Matrix:
        """Return a reduction by a function whose result is exact for `count` components."""
        rng, component = self.rng, kind.component
        if component.floating:
            total = Range(x.range.low * count, x.range.high * count, x.range.grain)
            exact = fits(component, total) and total.most * 2**total.grain <= 2**component.digits
            names = ["max", "min", "fmax", "fmin", "max()", "min()"] + ["sum"] * (4 if exact else 0)
        else:
            names = ["max", "min", "max()", "min()", "sum", "xor", "and", "or", "product"]
        name = rng.choice(names)
        bounds = x.range if component.floating or ("m" in name and name != "sum") else full(component)
        if name == "sum" and component.floating:
            bounds = total
        if name.startswith("f") or name.endswith(")"):
            if component.kind != "small":
                return tree.Reduce(kind, bounds, x, how, name.rstrip("()"))
            name = name.lstrip("f").rstrip("()")
        maker = FunctionMaker(rng, self.names, component, set())
        return tree.Reduce(kind, bounds, x, how, reduction(maker, name))

    def multiply_add(self, kind: MatrixType, scope: Scope, depth: int) -> tree.Matrix:
        """Return a multiply-add."""
        rng, component = self.rng, kind.component
        kinds = FLOATS if component.floating else INTEGERS
        left, right = rng.choice(kinds), rng.choice(kinds)
        inner = rng.choice(SHAPES)
        if rng.random() < 0.5:
            left, right = self.usual(component)
            if kind.rows == kind.columns == 16:
                inner = rng.choice([16, 16, 32, inner])
        a = self.expression(MatrixType(left, kind.rows, inner, "A"), scope, depth)
        b = self.expression(MatrixType(right, inner, kind.columns, "B"), scope, depth)
        c = self.expression(kind, scope, depth)
        alias = rng.random() < 0.1
        if not component.floating:
            return self.integer_multiply_add(kind, a, b, c, alias)
        total = self.dot(a, b, c, inner)
        if not fits(component, total):
            a, b, c = self.small(a), self.small(b), self.small(c)
            total = self.dot(a, b, c, inner)
        if not fits(component, total):
            a, b = (self.tame(x, Range(-2, 2)) for x in (a, b))
            total = self.dot(a, b, c, inner)
        return tree.MulAdd(kind, rounded_range(component, total), a, b, c, None, alias)

    def usual(self, component: Component) -> tuple[Component, Component]:
        """Return component types of A and B that devices have multiply-adds for."""
        rng = self.rng
        if component.floating:
            return rng.choice([(HALF, HALF), (BFLOAT16, BFLOAT16), (E4M3, E4M3), (E5M2, E4M3), (component, component)])
        signed = [INTEGERS[0], INTEGERS[1]]
        return rng.choice(signed), rng.choice(signed)

    def dot(self, a: tree.Matrix, b: tree.Matrix, c: tree.Matrix, count: int) -> Range:
        """Return the bounds of all partial sums of a multiply-add."""
        product = a.range.multiply(b.range)
        most = product.most * count
        return Range(-most, most, product.grain).add(c.range.joined(Range(0, 0)))

    def integer_multiply_add(
        self, kind: MatrixType, a: tree.Matrix, b: tree.Matrix, c: tree.Matrix, alias: bool
    ) -> tree.Matrix:
        """Return a multiply-add of integers, with any mask, or with the operands' signs and saturation."""
        rng, component = self.rng, kind.component
        signs = [x.type.component.kind == "signed" for x in (a, b, c, c)]
        fitting = sum(1 << bit for bit, signed in enumerate(signs) if signed)
        pick = rng.random()
        if pick < 0.4:
            return tree.MulAdd(kind, full(component), a, b, c, None, alias)
        if pick < 0.65:
            return tree.MulAdd(kind, full(component), a, b, c, rng.choice([fitting, fitting, rng.randrange(16)]), alias)
        inner = a.type.columns
        a, b = self.small(a), self.small(b)
        if a.range.most * b.range.most * inner > component.high:
            a, b = (self.tame(x, Range(0 if x.type.component.kind == "unsigned" else -1, 1)) for x in (a, b))
        negative = min(a.range.low, b.range.low) < 0
        if component.kind == "unsigned" and negative:
            a, b = self.tame(a, Range(0, 1)), self.tame(b, Range(0, 1))
        return tree.MulAdd(kind, full(component), a, b, c, fitting | 16, alias)

    # The choice

    def expression(self, kind: MatrixType, scope: Scope, depth: int) -> tree.Matrix:
        """Return an expression of a matrix type."""
        rng = self.rng
        self.work -= kind.rows * kind.columns // 8 + 8
        if depth <= 0 or self.work < 0 or rng.random() < 0.15:
            return self.leaf(kind, scope)
        makers: list[tuple[str, int]] = [
            ("leaf", 3), ("arith", 5), ("negate", 2), ("apply", 4), ("convert", 4), ("transpose", 2), ("map", 4),
            ("choose", 1), ("block", 1), ("call", 2),
        ]  # fmt: skip
        if kind.use == "ACCUMULATOR":
            makers += [("reduce", 3), ("multiply_add", 5)]
        name = rng.choices([item for item, _ in makers], [weight for _, weight in makers])[0]
        return self.make(name, kind, scope, depth - 1)

    def make(self, name: str, kind: MatrixType, scope: Scope, depth: int) -> tree.Matrix:
        """Return an expression by the maker `name`."""
        rng = self.rng
        if name == "map":
            return self.map(kind, scope, rng.choice([1, 1, 2, 3]), depth)
        if name == "negate":
            x = self.expression(kind, scope, depth)
            return tree.Negate(kind, rounded_range(kind.component, x.range.negate()), x)
        if name == "choose":
            a, b = self.expression(kind, scope, depth), self.expression(kind, scope, depth)
            return tree.ChooseM(kind, a.range.joined(b.range), self.condition(scope), a, b)
        if name == "leaf":
            return self.leaf(kind, scope)
        maker = getattr(self, name)
        result: tree.Matrix = maker(kind, scope, depth)
        return result

    def condition(self, scope: Scope, divergent: bool = False) -> tree.Scalar:
        """Return a condition that is the same in all subgroups, or differs between them."""
        rng = self.rng
        if divergent:
            odd = tree.Binary(ULONG, "&", tree.Name(ULONG, "lsg"), tree.Num(ULONG, 1))
            return tree.Binary(INT, rng.choice(["==", "!="]), odd, tree.Num(ULONG, 0))
        names = [*scope.counters, *(["n1"] if scope.memories is None else [])]
        if not names:
            return tree.Binary(INT, "<", tree.Num(INT, rng.randrange(3), True), tree.Num(INT, 1, True))
        return tree.Binary(
            INT,
            rng.choice(["<", "==", "!=", ">="]),
            tree.Name(INT, rng.choice(names)),
            tree.Num(INT, rng.randrange(4), True),
        )

    def block(self, kind: MatrixType, scope: Scope, depth: int) -> tree.Matrix:
        """Return a statement expression."""
        raise NotImplementedError

    def call(self, kind: MatrixType, scope: Scope, depth: int) -> tree.Matrix:
        """Return a call of a function."""
        raise NotImplementedError


__all__ = ["SHAPES", "USES", "Expressions", "Scope", "Variable", "standard"]
