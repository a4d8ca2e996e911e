"""The writer of kernels as OpenCL C.

In the text, `@` is a placeholder for the kernel's name, so that many kernels can be part of one program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from coopmat.matrices.variants import OPENCL_C_LAYOUTS, ComponentType, Layout, MatrixType, Operands

from ..experiment import Argument, Experiment, Place
from ..functions import Function
from .base import KERNEL, Body, Parameter, Value, Variable, Writer, local_argument
from .c_functions import definition, of_neighbours
from .literals import literal

LAYOUTS = {layout: f"CLK_COOPERATIVE_MATRIX_LAYOUT_{layout.name}" for layout in OPENCL_C_LAYOUTS}
OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_REDUCTIONS = {1: "ROW", 2: "COLUMN", 4: "2X2"}
_OPERANDS = {
    Operands.A_SIGNED: "MATRIX_A_SIGNED",
    Operands.B_SIGNED: "MATRIX_B_SIGNED",
    Operands.C_SIGNED: "MATRIX_C_SIGNED",
    Operands.RESULT_SIGNED: "MATRIX_RESULT_SIGNED",
    Operands.SATURATING: "SATURATING_ACCUMULATION",
    Operands.TF32: "TF32",
}


class CWriter(Writer):
    """A writer of kernels as OpenCL C.

    outside: the lines before the kernel.
    lines: the lines of the current function's body. Operations that only OpenCL C has append to them directly.
    copies: a function that returns the number of work-items that hold each component of a matrix, None if it is
    unknown.
    """

    def __init__(
        self,
        experiment: Experiment,
        sub_group_size: int | None,
        copies: Callable[[MatrixType], int | None] = lambda matrix: None,
    ) -> None:
        super().__init__(experiment, sub_group_size)
        self.copies = copies
        self.outside: list[str] = []
        self.lines: list[str] = []
        self._depth = 0
        self._names = 0
        self._types: dict[MatrixType, str] = {}
        self._operands: dict[str, Function] = {}

    def text(self, kernel: str = KERNEL) -> str:
        parameters = ", ".join(self._parameter(argument) for argument in self.experiment.arguments)
        # Matrices of a work-group are distributed over all its work-items, so the compiler needs their number.
        size = self.experiment.sub_groups * (self.sub_group_size or 1)
        required = any(matrix.of_work_group for matrix in self._types)
        attribute = f"__attribute__((reqd_work_group_size({size}, 1, 1))) " if required else ""
        head = f"kernel {attribute}void @({parameters})"
        return "\n".join([*self.outside, head, "{", *_indented(self.lines), "}", ""]).replace("@", kernel)

    def line(self, text: str) -> None:
        """Append a line, indented for the current block."""
        self.lines.append("    " * self._depth + text)

    def lines_of(self, template: str, **names: object) -> None:
        """Append the lines of a template, whose fields in braces are replaced by `names`."""
        for text in template.format(**names).splitlines():
            self.line(text)

    def block(self, head: str, write: Callable[[], None]) -> None:
        """Append a block in braces after `head`; `write` appends the block's lines."""
        self.line(f"{head} {{")
        self._depth += 1
        write()
        self._depth -= 1
        self.line("}")

    def fresh(self, letter: str) -> str:
        """Return a name that neither the kernel nor its functions use."""
        self._names += 1
        return f"{letter}{self._names}"

    def _parameter(self, argument: Argument) -> str:
        const = "" if argument.is_output or argument.space == "constant" else "const "
        return f"{argument.space} {const}{self.pointee(argument)} *{argument.name}"

    @staticmethod
    def pointee(argument: Argument) -> str:
        scalar, width = argument.pointee
        return scalar.opencl_c + (str(width) if width > 1 else "")

    def type(self, matrix: MatrixType) -> str:
        """Return the name of a matrix type, with a typedef at the first use."""
        if matrix not in self._types:
            name = self._types[matrix] = f"@_{matrix.use.letter}{len(self._types)}"
            use = f"CLK_COOPERATIVE_MATRIX_{matrix.use.name}"
            scope = f"CLK_COOPERATIVE_MATRIX_SCOPE_{'WORKGROUP' if matrix.of_work_group else 'SUBGROUP'}"
            shape = f"{scope}, {matrix.rows}, {matrix.columns}, {use}"
            self.outside.append(f"typedef {matrix.component.opencl_c} {name} __attribute__((coop_mat({shape})));")
        return self._types[matrix]

    def variable(self, matrix: MatrixType, expression: str) -> Value:
        """Declare a variable of a matrix type, initialized with the expression, and return its name."""
        return self.declare(matrix, expression).name

    def address(self, argument: Argument) -> tuple[str, str, str]:
        """Return the pointer, layout and stride operands of a load or a store.

        If the pointee has another scalar type, the language requires a cast to the component type. Then the stride is
        counted in components.
        """
        place = argument.place
        assert place is not None, argument
        pointer, stride = f"{argument.name} + {place.at(place.offset)}", place.pointees(place.stride)
        if place.scalar is not None:
            qualifiers = argument.space if argument.is_output else f"{argument.space} const"
            pointer, stride = f"({qualifiers} {argument.component.opencl_c} *)({pointer})", place.stride
        return pointer, LAYOUTS[place.layout], str(stride)

    def load(self, argument: Argument) -> Value:
        assert argument.place is not None, argument
        return self.variable(argument.place.matrix, f"coop_mat_load({', '.join(self.address(argument))})")

    def store(self, argument: Argument, value: Value) -> None:
        pointer, layout, stride = self.address(argument)
        self.line(f"coop_mat_store({pointer}, {value}, {layout}, {stride});")
        assert argument.place is not None, argument
        has_address = argument.space == "global" and not argument.component.is_nibble
        if (self.copies(argument.place.matrix) or 1) > 1 and has_address:
            self.lines_of(copies_agree(argument.place, value), p=argument.name, i=self.fresh("i"))

    def local(self, name: str, place: Place) -> Argument:
        argument = local_argument(name, place)
        self.line(f"local {self.pointee(argument)} {name}[{place.room}];")
        return argument

    def copy_components(self, source: Argument, target: Argument) -> None:
        i = self.fresh("i")
        head = f"for (uint {i} = get_local_id(0); {i} < {target.items}; {i} += get_local_size(0))"
        self.block(head, lambda: self.line(f"{target.name}[{i}] = {source.name}[{i}];"))

    def copy_array(self, source: Argument, target: Argument) -> None:
        i = self.fresh("i")
        head = f"for (uint {i} = 0; {i} < {target.items}; {i}++)"
        self.line("if (get_sub_group_id() == 0 && get_sub_group_local_id() == 0)")
        self.block(head, lambda: self.line(f"{target.name}[{i}] = {source.name}[{i}];"))

    def barrier(self) -> None:
        self.line("barrier(CLK_LOCAL_MEM_FENCE);")

    # --- values

    def constant(self, matrix: MatrixType, value: int | float) -> Value:
        return self.variable(matrix, f"coop_mat_init({literal(matrix.component, value)})")

    def binary(self, operator: str, matrix: MatrixType, x: Value, y: Value) -> Value:
        return self.variable(matrix, f"{x} {OPERATORS[operator]} {y}")

    def negate(self, matrix: MatrixType, x: Value) -> Value:
        return self.variable(matrix, f"-{x}")

    def convert(self, source: MatrixType, target: MatrixType, x: Value) -> Value:
        return self.variable(target, f"({self.type(target)}){x}")

    def transpose(self, source: MatrixType, target: MatrixType, x: Value) -> Value:
        if source.component != target.component:
            x = self.convert(source, replace(source, component=target.component), x)
        return self.variable(target, f"coop_mat_transpose({x})")

    def multiply_add(self, types: Sequence[MatrixType], a: Value, b: Value, c: Value, operands: Operands) -> Value:
        words = [word for bit, word in _OPERANDS.items() if bit in operands] or ["NONE"]
        mask = " | ".join(f"CLK_COOPERATIVE_MATRIX_OPERAND_{word}" for word in words)
        return self.variable(types[2], f"coop_mat_mulAdd({a}, {b}, {c}, {mask})")

    # --- private memory

    def declare(self, matrix: MatrixType, value: Value) -> Variable:
        name = self.fresh("m")
        if (self.copies(matrix) or 1) > 1:
            # UNWRITTEN remains in each copy of a component that the operation fails to write.
            self.line(f"{self.type(matrix)} {name} = coop_mat_init({literal(matrix.component, UNWRITTEN)});")
            self.line(f"{name} = {value};")
        else:
            self.line(f"{self.type(matrix)} {name} = {value};")
        return Variable(matrix, name)

    def array(self, matrix: MatrixType, count: int) -> Callable[[Value], Variable]:
        name = self.fresh("n")
        self.line(f"{self.type(matrix)} {name}[{count}];")
        return lambda index: Variable(matrix, f"{name}[{index}]")

    def read(self, variable: Variable) -> Value:
        return self.variable(variable.matrix, variable.name)

    def assign(self, variable: Variable, value: Value) -> None:
        self.line(f"{variable.name} = {value};")

    def component(self, variable: Variable, index: Value) -> Value:
        name = self.fresh("s")
        self.line(f"{variable.matrix.component.opencl_c} {name} = {variable.name}[{index}];")
        return name

    def set_component(self, variable: Variable, index: Value, scalar: Value) -> None:
        self.line(f"{variable.name}[{index}] = {scalar};")

    def add_scalars(self, component: ComponentType, x: Value, y: Value) -> Value:
        return f"{x} + {y}"

    # --- control flow

    def number(self, value: int) -> Value:
        return str(value)

    def repeat(self, count: int, body: Callable[[Value], None]) -> None:
        self._loop(str(count), body)

    def each_component(self, matrix: MatrixType, body: Callable[[Value], None]) -> None:
        self._loop(f"coop_mat_length({self.type(matrix)})", body)

    def _loop(self, end: str, body: Callable[[Value], None]) -> None:
        i = self.fresh("i")
        self.block(f"for (uint {i} = 0; {i} < {end}; {i}++)", lambda: body(i))

    # --- functions

    def function(
        self, name: str, parameters: Sequence[Parameter], result: MatrixType | None, body: Body
    ) -> Callable[..., Value]:
        names = [self.fresh("p") for _ in parameters]
        types = [self.type(p.matrix) + (" *" if p.pointer else " ") for p in parameters]
        variables = [Variable(p.matrix, f"(*{n})" if p.pointer else n) for p, n in zip(parameters, names, strict=True)]
        kernel, self.lines, depth, self._depth = self.lines, [], self._depth, 0
        returned = body(variables)
        if returned is not None:
            self.line(f"return {returned};")
        lines, self.lines, self._depth = self.lines, kernel, depth
        head = "void" if result is None else self.type(result)
        signature = ", ".join(f"{t}{n}" for t, n in zip(types, names, strict=True))
        self.outside += [f"static {head} @_{name}({signature})", "{", *_indented(lines), "}"]

        def call(*arguments: Value | Variable) -> Value:
            operands = [f"&{a.name}" if isinstance(a, Variable) else a for a in arguments]
            expression = f"@_{name}({', '.join(operands)})"
            if result is not None:
                return self.variable(result, expression)
            self.line(f"{expression};")
            return ""

        return call

    # --- functions of scalars, as operands

    def operand(self, function: Function) -> str:
        """Return the name of a function, defined at the first use; for a builtin, return the builtin's name."""
        if function.builtin:
            return function.builtin
        name = f"@_{function.name}"
        if name not in self._operands:
            self._operands[name] = function
            self.outside += definition(name, function)
        assert self._operands[name] is function, name
        return name

    def map(self, matrix: MatrixType, function: Function, operands: Sequence[Value], further: Sequence[Value]) -> Value:
        arguments = [*operands, self.operand(function), *further]
        return self.variable(matrix, f"coop_mat_map({', '.join(arguments)})")

    def build(self, matrix: MatrixType, function: Function, further: Sequence[Value]) -> Value:
        return self.variable(matrix, f"coop_mat_build({', '.join([self.operand(function), *further])})")

    def neighbours(
        self, matrix: MatrixType, function: Function, operands: Sequence[Value], further: Sequence[Value], width: int
    ) -> Value:
        """Return a matrix from a function of neighbours: `width` in a row, or -`width` in a column if negative."""
        name, count, down = self.operand(function), abs(width), width < 0
        if count > 1:
            one, name = name, f"{name}_{'column' if down else 'row'}{count}"
            self.outside += of_neighbours(name, one, function, len(operands), count, down)
        builtin = "map" if operands else "build_columns" if down else "build"
        return self.variable(matrix, f"coop_mat_{builtin}({', '.join([*operands, name, *further])})")

    def reduce(self, source: MatrixType, target: MatrixType, how: int, function: Function, x: Value) -> Value:
        words = " | ".join(f"CLK_COOPERATIVE_MATRIX_REDUCE_{word}" for bit, word in _REDUCTIONS.items() if bit & how)
        return self.variable(target, f"coop_mat_reduce({x}, {words}, {self.operand(function)})")

    def scalar(self, argument: Argument, index: int, to: ComponentType) -> Value:
        return f"{argument.name}[{index}]"

    def copied(self, argument: Argument, space: str) -> Argument:
        if space not in ("local", "private"):
            return argument
        array = replace(argument, name=f"{space}_{argument.name}", space=space)
        self.line(f"{space} {self.pointee(array)} {array.name}[{array.items}];")
        if space == "local":
            self.copy_components(argument, array)
            self.barrier()
        else:
            i = self.fresh("i")
            head = f"for (uint {i} = 0; {i} < {array.items}; {i}++)"
            self.block(head, lambda: self.line(f"{array.name}[{i}] = {argument.name}[{i}];"))
        return array

    def pointer(self, argument: Argument) -> Value:
        return argument.name

    # --- single statements

    def store_length(self, argument: Argument, matrix: MatrixType, offset: int) -> None:
        self.line(f"{argument.name}[get_global_id(0) + {offset}] = coop_mat_length({self.type(matrix)});")


# A number that every component type can represent.
UNWRITTEN = 48
_COPIES_AGREE = """\
sub_group_barrier(CLK_GLOBAL_MEM_FENCE);
bool differ{{i}} = false;
for (uint {{i}} = 0; {{i}} < coop_mat_length({m}); {{i}}++) {{{{
    uint2 at = coop_mat_coord({m}, {{i}});
    {t} own = {m}[{{i}}];
    differ{{i}} |= ((volatile global {u} *){{p}})[{offset} + {index}] != *({u} *)&own;
}}}}
if (differ{{i}})
    ((volatile global {u} *){{p}})[0] = 0;"""


def copies_agree(place: Place, m: Value) -> str:
    """Return a template of statements that check that all work-items hold the same value of each component.

    The statements follow a store of the matrix `m` to the global buffer {{p}}, and use the names with {{i}}. Each
    work-item compares its components with those in memory. If a component differs, the work-item overwrites the guard
    before the matrix.
    """
    layout, t = place.layout, place.matrix.component
    row, column = ("at.y", "at.x") if layout is Layout.COLUMN_MAJOR else ("at.x", "at.y")
    f = layout.pack(t)
    index = f"{row} / {f} * {place.stride} + {column} * {f} + {row} % {f}"
    bits = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}[t.size]
    return _COPIES_AGREE.format(m=m, t=t.opencl_c, u=bits, offset=place.offset, index=index)


def _indented(lines: Sequence[str]) -> list[str]:
    return ["    " + line for line in lines]
