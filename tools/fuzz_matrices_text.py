"""The OpenCL C text of the matrix fuzzer's programs."""

from __future__ import annotations

from collections.abc import Iterable

import fuzz_matrices_tree as tree
from fuzz_matrices_types import DOUBLE, FLOAT, Component, MatrixType

_LAYOUTS = {"ROW": "ROW_MAJOR", "COL": "COLUMN_MAJOR", "PACKED": "PACKED"}
_MASKS = ("MATRIX_A_SIGNED", "MATRIX_B_SIGNED", "MATRIX_C_SIGNED", "MATRIX_RESULT_SIGNED", "SATURATING_ACCUMULATION")
_REDUCE = {"row": ("ROW",), "column": ("COLUMN",), "all": ("ROW", "COLUMN"), "2x2": ("2X2",)}


def number(component: Component, value: float, plain: bool = False) -> str:
    """Return the text of a number of a component type; if `plain`, as a literal without a cast."""
    if component.floating:
        literal = repr(float(value))
        literal = f"({literal}f)" if value < 0 else f"{literal}f"
        if component is DOUBLE:
            literal = literal.replace("f", "")
        return literal if plain or component in (FLOAT, DOUBLE) else f"({component.name}){literal}"
    value = int(value)
    wide = "l" if component.bits == 64 else ""
    unsigned = "u" if component.kind == "unsigned" and component.bits >= 32 else ""
    if component.kind == "signed" and component.bits >= 32 and value == component.low:
        return f"(-{component.high}{wide} - 1)"
    literal = f"(-{-value}{wide})" if value < 0 else f"{value}{unsigned}{wide}"
    if plain and component.bits < 64:
        return f"({value})" if value < 0 else str(value)
    return literal if component.bits >= 32 else f"({component.name}){literal}"


class Writer:
    """A writer of one program."""

    def __init__(self, program: tree.Program) -> None:
        self.program = program
        self.memories = {memory.name: memory for memory in program.memories}
        self.lines: list[str] = []
        self.depth = 0
        self.count = 0
        # In a function, all names of memory are parameters.
        self.inside = False

    # Scalars and addresses

    def scalar(self, node: tree.Node) -> str:
        """Return the text of a scalar expression."""
        match node:
            case tree.Num():
                return number(node.t, node.value, node.plain)
            case tree.Name():
                return node.name
            case tree.Unary():
                return f"({node.op}{self.scalar(node.x)})"
            case tree.Binary():
                return f"({self.scalar(node.a)} {node.op} {self.scalar(node.b)})"
            case tree.Choose():
                return f"({self.scalar(node.c)} ? {self.scalar(node.a)} : {self.scalar(node.b)})"
            case tree.Cast():
                inner = self.scalar(node.x)
                return inner if node.silent else f"({node.t.name})({inner})"
            case tree.Builtin():
                return f"{node.name}({', '.join(map(self.scalar, node.args))})"
            case tree.Invoke():
                return f"{node.function.name}({', '.join(map(self.argument, node.args))})"
            case tree.Index():
                return f"{self.pointer(node.pointer)}[{self.scalar(node.index)}]"
            case tree.Member():
                return f"{node.name}.{node.member}"
        raise AssertionError(node)

    def pointer(self, name: str) -> str:
        """Return the text of a pointer to the current subgroup's part of an object in memory."""
        memory = self.memories.get(name)
        if self.inside or memory is None or memory.shared or memory.space in ("local", "private"):
            return name
        return f"({name} + sg * {memory.size})"

    def pointee(self, name: str, vector: int, generic: bool, store: bool) -> str:
        """Return the pointer type for a cast of an address."""
        memory = self.memories[name]
        words = [] if store else ["const"]
        if memory.volatile:
            words.append("volatile")
        if not generic:
            words.append("constant" if memory.space == "table" else memory.space)
        words.append(memory.component.name + (str(vector) if vector > 1 else ""))
        return " ".join(words) + " *"

    def address(self, at: tree.Address, vector: int = 1, store: bool = False) -> str:
        """Return the text of an address."""
        text = self.pointer(at.memory)
        if at.turn:
            size = self.memories[at.memory].size
            text = f"{at.memory}_ + (lsg + {at.turn}) % {self.program.subgroups} * {size}"
        text = f"{text} + {at.offset}" if at.offset else text
        if vector > 1 or at.generic:
            return f"({self.pointee(at.memory, vector, at.generic, store)})({text})"
        return text

    def place(self, node: tree.Place) -> str:
        """Return the text of a matrix place."""
        if not node.pointer:
            return node.name if node.index is None else f"{node.name}[{self.scalar(node.index)}]"
        head, _, rest = node.name.partition(".")
        if rest:
            return f"{head}->{rest}" if node.index is None else f"{head}->{rest}[{self.scalar(node.index)}]"
        return f"(*{head})" if node.index is None else f"{head}[{self.scalar(node.index)}]"

    def argument(self, node: tree.Node) -> str:
        """Return the text of an argument."""
        match node:
            case tree.Scalar():
                return self.scalar(node)
            case tree.Matrix():
                return self.matrix(node)
            case tree.Address():
                return self.address(node)
            case tree.Pair():
                return node.name
            case tree.To():
                if node.place.pointer and "." not in node.place.name and node.place.index is None:
                    return node.place.name
                return self.place(node.place) if node.array else f"&{self.place(node.place)}"
            case tree.Whole():
                return f"(*{node.name})" if node.pointer else node.name
        raise AssertionError(node)

    # Matrices

    def matrix(self, node: tree.Matrix) -> str:
        """Return the text of a matrix expression, in parentheses if operators need them."""
        name = node.type.name
        match node:
            case tree.Ref():
                return self.place(node.place)
            case tree.Load():
                return self.load(node)
            case tree.Fill():
                return _cast(name, f"coop_mat_init({self.scalar(node.value)})", node.cast)
            case tree.Map():
                rest = [node.function.name, *map(self.argument, node.captured)]
                parts = ", ".join([*map(self.matrix, node.matrices), *rest])
                return f"coop_mat_map({parts})" if node.matrices else _cast(name, f"coop_mat_build({parts})", node.cast)
            case tree.Negate():
                return f"(-{self.matrix(node.x)})"
            case tree.Arith():
                return f"({self.argument(node.a)} {node.op} {self.argument(node.b)})"
            case tree.Apply():
                return f"{node.name}({', '.join(map(self.argument, node.args))})"
            case tree.Convert():
                if not node.how:
                    return f"(({name}){self.matrix(node.x)})"
                return _cast(name, f"coop_mat_convert{node.how[1:]}({self.matrix(node.x)})", True)
            case tree.Transpose():
                return _cast(name, f"coop_mat_transpose({self.matrix(node.x)})", True)
            case tree.Reduce():
                how = " | ".join(f"CLK_COOPERATIVE_MATRIX_REDUCE_{word}" for word in _REDUCE[node.how])
                function = node.function if isinstance(node.function, str) else node.function.name
                return _cast(name, f"coop_mat_reduce({self.matrix(node.x)}, {how}, {function})", True)
            case tree.MulAdd():
                return self.multiply_add(node)
            case tree.CallM():
                return f"{node.function.name}({', '.join(map(self.argument, node.args))})"
            case tree.ChooseM():
                return f"({self.scalar(node.c)} ? {self.matrix(node.a)} : {self.matrix(node.b)})"
            case tree.Block():
                return self.block(node)
        raise AssertionError(node)

    def load(self, node: tree.Load) -> str:
        """Return the text of a load."""
        parts = [self.address(node.at, node.vector), node.layout, self.scalar(node.stride)]
        if node.checked is None:
            return _cast(node.type.name, f"coop_mat_load({', '.join(parts)})", node.cast)
        parts += map(str, node.checked)
        return _cast(node.type.name, f"coop_mat_load_checked({', '.join(parts)})", node.cast)

    def multiply_add(self, node: tree.MulAdd) -> str:
        """Return the text of a multiply-add."""
        parts = [self.matrix(node.a), self.matrix(node.b), self.matrix(node.c)]
        if node.mask is not None:
            bits = [word for bit, word in enumerate(_MASKS) if node.mask >> bit & 1] or ["NONE"]
            parts.append(" | ".join(f"CLK_COOPERATIVE_MATRIX_OPERAND_{word}" for word in bits))
        return f"{'coop_matmul_add' if node.alias else 'coop_mat_mulAdd'}({', '.join(parts)})"

    def block(self, node: tree.Block) -> str:
        """Return the text of a statement expression, in one line."""
        outer, self.lines = self.lines, []
        self.statements(node.body)
        inner, self.lines = " ".join(line.strip() for line in self.lines), outer
        return f"({{ {inner} {self.matrix(node.value)}; }})"

    # Statements

    def line(self, text: str) -> None:
        """Append a line."""
        self.lines.append("    " * self.depth + text)

    def statements(self, body: Iterable[tree.Node]) -> None:
        """Append statements."""
        for statement in body:
            self.statement(statement)

    def braces(self, head: str, body: Iterable[tree.Node], tail: str = "}") -> None:
        """Append a block."""
        self.line(head + " {")
        self.depth += 1
        self.statements(body)
        self.depth -= 1
        self.line(tail)

    def statement(self, node: tree.Node) -> None:
        """Append a statement."""
        match node:
            case tree.DeclareScalar():
                self.line(f"{node.t.name} {node.name} = {self.scalar(node.value)};")
            case tree.SetScalar():
                self.line(f"{node.name} = {self.scalar(node.value)};")
            case tree.Declare():
                self.declare(node)
            case tree.DeclareStruct():
                value = "" if node.value is None else f" = {self.argument(node.value)}"
                self.line(f"struct {node.struct.name} {node.name}{value};")
            case tree.CopyStruct():
                self.line(f"{node.name} = {self.argument(node.value)};")
            case tree.Assign():
                self.line(f"{self.place(node.place)} {node.op}= {self.argument(node.value)};")
            case tree.Store():
                self.store(node)
            case tree.Barrier():
                scope = "" if node.group else "sub_group_"
                self.line(f"{scope}barrier(CLK_{node.fence}_MEM_FENCE);")
            case tree.DeclareMemory():
                self.declare_memory(node.memory)
            case tree.Elements():
                self.elements(node)
            case tree.Prefetch():
                self.line(f"coop_mat_prefetch({node.type.name}, {self.address(node.at)}, ROW, 16);")
            case tree.Return():
                self.line("return;" if node.value is None else f"return {self.argument(node.value)};")
            case tree.Evaluate():
                self.line(f"{node.function.name}({', '.join(map(self.argument, node.args))});")
            case _:
                self.control(node)

    def control(self, node: tree.Node) -> None:
        """Append a statement of control flow."""
        match node:
            case tree.If():
                self.braces(f"if ({self.scalar(node.c)})", node.then, "} else {" if node.other else "}")
                if node.other:
                    self.depth += 1
                    self.statements(node.other)
                    self.depth -= 1
                    self.line("}")
            case tree.Switch():
                self.line(f"switch ({self.scalar(node.c)}) {{")
                for labels, body, falls in node.cases:
                    words = " ".join("default:" if label is None else f"case {label}:" for label in labels)
                    self.braces(words, body, "}" if falls else "break; }")
                self.line("}")
            case tree.Loop():
                self.loop(node)
            case tree.Break():
                self.line("break;")
            case tree.Continue():
                self.line("continue;")
            case _:
                raise AssertionError(node)

    def loop(self, node: tree.Loop) -> None:
        """Append a loop."""
        name, kind, count = node.name, node.t.name, self.scalar(node.count)
        if node.form == "for":
            self.braces(f"for ({kind} {name} = 0; {name} < {count}; {name}++)", node.body)
        elif node.form == "forever":
            self.line(f"for ({kind} {name} = 0;; {name}++) {{")
            self.line(f"    if ({name} >= {count}) break;")
            self.depth += 1
            self.statements(node.body)
            self.depth -= 1
            self.line("}")
        elif node.form == "while":
            self.braces(f"int {name} = -1; while (++{name} < {count})", node.body)
        else:
            self.braces(f"{kind} {name} = 0; do", node.body, f"}} while (++{name} < {count});")

    def declare(self, node: tree.Declare) -> None:
        """Append the declaration of a matrix variable or array."""
        if node.count:
            values = f" = {{{', '.join(map(self.matrix, node.values))}}}" if node.values else ""
            self.line(f"{node.type.name} {node.name}[{node.count}]{values};")
        else:
            value = "" if node.value is None else f" = {self.matrix(node.value)}"
            self.line(f"{node.type.name} {node.name}{value};")

    def store(self, node: tree.Store) -> None:
        """Append a store."""
        at = self.address(node.at, node.vector, True)
        parts = [at, self.matrix(node.value), node.layout, self.scalar(node.stride)]
        if node.checked is None:
            self.line(f"coop_mat_store({', '.join(parts)});")
        else:
            self.line(f"coop_mat_store_checked({', '.join([*parts, *map(str, node.checked)])});")

    def declare_memory(self, memory: tree.Memory) -> None:
        """Append an array in local or private memory, and the loop that fills it."""
        name, component = memory.name, memory.component
        word = ("volatile " if memory.volatile else "") + ("local " if memory.space == "local" else "")
        if memory.space == "local":
            count = memory.size * (self.program.subgroups if self.program.scope == "SUBGROUP" else 1)
            kind = f"{word}{component.name}"
            self.line(f"{kind} {name}_[{count}]; {kind} *{name} = {name}_ + lsg * {memory.size};")
        else:
            self.line(f"{word}{component.name} {name}[{memory.size}];")
        value = "q_ % 5" if component.kind == "unsigned" else "q_ % 5 - 2"
        if component.kind == "small":
            value = f"(float)({value})"
        self.line(f"for (int q_ = 0; q_ < {memory.size}; q_++) {name}[q_] = ({component.name})({value});")

    def elements(self, node: tree.Elements) -> None:
        """Append a loop over components."""
        self.count += 1
        index, place, kind = f"e{self.count}_", self.place(node.place), node.type.component.name
        of = node.type.name if node.by_type else place
        self.line(f"for (uint {index} = 0; {index} < coop_mat_length({of}); {index}++) {{")
        self.depth += 1
        if node.coordinates:
            self.line(f"uint2 at{index} = coop_mat_coord({of}, {index});")
            self.line(f"uint {node.row} = at{index}.x, {node.column} = at{index}.y;")
        self.line(f"{kind} {node.name} = {place}[{index}];")
        self.statements(node.body)
        self.line(f"{place}[{index}] = {node.name};")
        self.depth -= 1
        self.line("}")

    # Functions and the program

    def parameter(self, node: tree.Parameter) -> str:
        """Return the text of a parameter."""
        const = "const " if node.const else ""
        match node.kind:
            case "scalar":
                return f"{const}{node.what.name} {node.name}"
            case "pair":
                return f"{const}struct pair {node.name}"
            case "memory":
                memory: tree.Memory = node.what
                word = "constant" if memory.space == "table" else memory.space
                word = {"generic": ""}.get(word, word + " ")
                word = "volatile " + word if memory.volatile else word
                return f"const {word}{memory.component.name} *{node.name}"
            case "matrix":
                return f"{node.what.name} {node.name}"
            case "matrix pointer":
                return f"{node.what.name} *{node.name}"
            case "struct":
                return f"struct {node.what.name} {node.name}"
        return f"struct {node.what.name} *{node.name}"

    def function(self, node: tree.Function) -> None:
        """Append a function."""
        result = node.result
        if result is None:
            word = "void"
        else:
            word = f"struct {result.name}" if isinstance(result, tree.Struct) else result.name
        parameters = ", ".join(map(self.parameter, node.parameters))
        self.inside = True
        self.braces(f"{node.prefix}{word} {node.name}({parameters})", node.body)
        self.inside = False

    def kernel_parameters(self) -> str:
        """Return the kernel's parameters."""
        parts = []
        for memory in self.program.memories:
            if memory.space in ("global", "constant"):
                const = "" if memory.output or memory.space == "constant" else "const "
                word = "volatile " if memory.volatile else ""
                parts.append(f"{word}{const}{memory.space} {memory.component.name} *{memory.name}")
        parts += [f"{component.name} {name}" for name, (component, _) in self.program.scalars.items()]
        return ", ".join(parts)

    def tables(self) -> None:
        """Append the constant arrays at program scope."""
        for memory in self.program.memories:
            if memory.space == "table" and memory.data is not None:
                values = ", ".join(
                    number(memory.component, float(v) if memory.component.floating else int(v)) for v in memory.data
                )
                self.line(f"constant {memory.component.name} {memory.name}[{memory.size}] = {{{values}}};")

    def write(self) -> str:
        """Return the program's text."""
        program = self.program
        nodes = [node for statement in program.body for node in tree.walk(statement)]
        self.head(nodes)
        self.tables()
        for function in _ordered(program.body):
            self.function(function)
        size = "__attribute__((reqd_work_group_size(WX, WY, 1)))"
        self.line(f"kernel {size} void k({self.kernel_parameters()}) {{")
        self.depth = 1
        local = "get_sub_group_id()" if program.scope == "SUBGROUP" else "0"
        count = program.subgroups if program.scope == "SUBGROUP" else 1
        group = "(get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0)"
        self.line(f"size_t lsg = {local};")
        self.line(f"size_t sg = ({group}) * {count} + lsg;")
        if any(isinstance(node, tree.Pair) for node in nodes):
            self.line("struct pair pw = {1, 0};")
        self.statements(program.body)
        self.depth = 0
        self.line("}")
        return "\n".join(self.lines) + "\n"

    def head(self, nodes: list[tree.Node]) -> None:
        """Append macros, matrix types and struct types."""
        self.line("#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable")
        self.line("#pragma OPENCL EXTENSION cl_khr_fp16 : enable")
        for short, word in _LAYOUTS.items():
            self.line(f"#define {short} CLK_COOPERATIVE_MATRIX_LAYOUT_{word}")
        self.line(f"#define SCOPE CLK_COOPERATIVE_MATRIX_SCOPE_{self.program.scope}")
        if any(
            isinstance(node, tree.Pair) or (isinstance(node, tree.Parameter) and node.kind == "pair") for node in nodes
        ):
            self.line("struct pair { int first, second; };")
        for kind in _matrix_types(nodes):
            shape = f"SCOPE, {kind.rows}, {kind.columns}, CLK_COOPERATIVE_MATRIX_{kind.use}"
            self.line(f"typedef {kind.component.name} {kind.name} __attribute__((coop_mat({shape})));")
        for name, struct in {node.name: node for node in nodes if isinstance(node, tree.Struct)}.items():
            self.line(f"struct {name} {{ {' '.join(_members(struct))} }};")


def _cast(name: str, text: str, cast: bool) -> str:
    """Return an expression, in a cast to a matrix type if `cast`."""
    return f"(({name}){text})" if cast else text


def _members(struct: tree.Struct) -> list[str]:
    """Return the declarations of a struct's members."""
    words = []
    for path, kind, count in struct.members:
        head, _, rest = path.partition(".")
        array = f"[{count}]" if count else ""
        inner = f"{kind.name} {rest or head}{array};"
        words.append(f"struct {{ int tag_; {inner} }} {head};" if rest else inner)
    return words


def _matrix_types(nodes: list[tree.Node]) -> list[MatrixType]:
    """Return the matrix types that nodes name, each once."""
    found: dict[str, MatrixType] = {}
    for node in nodes:
        kinds: list[object] = []
        if isinstance(node, (tree.Matrix, tree.Declare, tree.Elements, tree.Prefetch)):
            kinds = [node.type]
        elif isinstance(node, tree.Parameter):
            kinds = [node.what]
        elif isinstance(node, tree.Function):
            kinds = [node.result]
        elif isinstance(node, tree.Struct):
            kinds = [member[1] for member in node.members]
        found.update({kind.name: kind for kind in kinds if isinstance(kind, MatrixType)})
    return list(found.values())


def _ordered(body: list[tree.Node]) -> list[tree.Function]:
    """Return the functions that statements call, callees before callers."""
    done: dict[int, tree.Function] = {}

    def visit(node: tree.Node) -> None:
        if id(node) in done:
            return
        for child in tree.children(node):
            visit(child)
        if isinstance(node, tree.Function):
            done[id(node)] = node

    for statement in body:
        visit(statement)
    return list(done.values())


def source(program: tree.Program) -> str:
    """Return the OpenCL C text of a program."""
    return Writer(program).write()


__all__ = ["Writer", "number", "source"]
