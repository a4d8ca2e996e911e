"""Whole programs: a kernel with its functions and arguments, and sources of several programs."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .expressions import INT, NARROW, UINT, WIDE, Function, Scope, Variable
from .matrices import FAMILIES, TILE, TILES, Family, Matrices
from .preludes import OPENCL, TYPES, C
from .statements import SLOTS, Settings, Statements

Array = npt.NDArray[Any]
ITEMS, GROUP, INPUTS = 32, 8, 8  # work-items of a launch and of a work-group, and input values of each work-item


class Program(NamedTuple):
    """A kernel `p{seed}` and its functions; the argument with index 2 is a scalar, the first and last are output."""

    seed: int
    family: Family | None
    text: str

    @property
    def name(self) -> str:
        return f"p{self.seed}"

    def arguments(self) -> list[Array]:
        random, shape = np.random.default_rng(self.seed), (ITEMS, INPUTS)
        edges = random.choice(np.array([1, 2**31 - 1, 2**31, 2**32 - 1], np.uint32), shape)
        values = np.where(random.random(shape) < 0.15, edges, random.integers(0, 8, shape)).astype(np.uint32)
        found: list[Array] = [np.full(ITEMS * SLOTS, 0xCDCDCDCD, np.uint32), values.ravel()]
        found.append(random.integers(0, 6, 1).astype(np.uint32))
        if self.family:
            factor, sum_ = self.family.dtypes
            low = 0 if self.family.name == "U" else -1
            found += [random.integers(low, 2, TILES * TILE).astype(factor) for _ in range(2)]
            found.append(random.integers(8 * low, 9, TILES * TILE).astype(sum_))
            found.append(np.full(ITEMS // GROUP * TILES * TILE, 77, sum_))
        return found


def opencl_source(programs: list[Program]) -> str:
    return OPENCL + TYPES + "\n".join(program.text for program in programs)


def c_source(programs: list[Program]) -> str:
    """Return C with a function `run_p{seed}` for each program, which takes pointers to all arguments."""
    runs = list[str]()
    for program in programs:
        passed = [f"a{number}" for number in range(len(program.arguments()))]
        head = f"void run_{program.name}({', '.join(f'void *{name}' for name in passed)})"
        passed[2] = "*(uint *)a2"
        runs.append(
            f"{head} {{ for (current = 0; current < {ITEMS}; current++) {program.name}({', '.join(passed)}); }}"
        )
    return "\n".join([f"#define GROUP {GROUP}", C, TYPES, *(program.text for program in programs), *runs, ""])


def generate(seed: int, settings: Settings | None = None) -> Program:
    settings, random = settings or Settings(), Random(seed)
    family = random.choice(FAMILIES) if random.random() < settings.matrices else None
    draw = Statements(random, settings, Matrices(family) if family else None)
    draw.types += [*WIDE] * draw.chance(0.3) + [*NARROW] * draw.chance(0.3)
    texts = [_function(draw, f"p{seed}_f{number}") for number in range(draw.random.randint(0, 3))]
    if family:
        texts += [_matrix_function(draw, f"p{seed}_m{number}", family) for number in range(draw.random.randint(0, 2))]
    return Program(seed, family, "\n".join([f"// program {seed}", *texts, _kernel(draw, f"p{seed}", family)]))


def _definition(head: str, lines: list[str]) -> str:
    """Return the text of a function, indented by its braces."""
    text, depth = [f"{head} {{"], 1
    for line in [*lines, "}"]:
        depth -= line.startswith("}")
        text.append("    " * depth + line)
        depth += line.count("{") - line.count("}") + line.startswith("}")
    return "\n".join([*text, ""])


def _function(draw: Statements, name: str) -> str:
    parameters, pointee, array = draw.random.choices(draw.types, k=2), draw.random.choice(draw.types), draw.chance(0.3)
    function = Function(name, draw.random.choice(draw.types), parameters, pointee if draw.chance(0.6) else None, array)
    variables = [Variable(f"a{number}", type_) for number, type_ in enumerate(parameters)]
    declared = [f"{v.type.name} {v.name}" for v in variables]
    if function.pointee:
        variables.append(Variable("p" if array else "(*p)", pointee, array=array))
        declared.append(f"{pointee.name} *p")
    lines, scope = draw.declare(Scope(variables, kernel=False), False)
    draw.left, draw.most_times = draw.settings.statements // 3, 12
    draw.leave = lambda scope: f"return {draw.value(scope, function.result, False, 1)};"
    lines += [*draw.block(scope, 8), draw.leave(scope)]
    draw.functions.append(function)
    return _definition(f"{function.result.name} {name}({', '.join(declared)})", lines)


def _matrix_function(draw: Statements, name: str, family: Family) -> str:
    """Return a function from a matrix to a matrix, or one that changes a matrix."""
    assert draw.matrices
    matrices, pointer, type_ = draw.matrices, draw.chance(0.4), f"{family.name}C"
    before, own = matrices.bound, "(*q)" if pointer else "q"
    scope = Scope([Variable("number", UINT, True)], strict=True, kernel=False)
    lines, scope = draw.declare(scope, True)
    lines += [f"{family.name}A fa = {matrices.load(draw, scope, 'A')};", f"{type_} fc = {own};"]
    draw.left, draw.most_times = draw.settings.statements // 3, 6
    draw.leave = lambda _: "return;" if pointer else f"return {draw.random.choice(['q', 'fc'])};"
    lines += [*draw.block(replace(scope, matrices=((own, "C"), ("fa", "A"), ("fc", "C"))), 8), draw.leave(scope)]
    inputs = f"const global {family.factor} *pa, const global {family.factor} *pb, const global {family.sum} *pc"
    matrices.functions.append((name, pointer, matrices.bound - before))
    result = "void" if pointer else type_
    return _definition(f"{result} {name}({type_} {'*q' if pointer else 'q'}, uint number, {inputs})", lines)


def _kernel(draw: Statements, name: str, family: Family | None) -> str:
    strict, parameters = family is not None, "global uint *out, const global uint *in, uint n"
    first = f"item * {INPUTS} + " if strict or draw.chance(0.7) else ""
    inputs = [(f"d{i}", f"in[{first}{i}]", False) for i in range(draw.random.randint(2, 5))]
    uniform = ("n", "in[get_group_id(0)]", "in[5] + get_group_id(0)")
    inputs += [(f"u{i}", value, True) for i, value in enumerate(uniform) if strict]
    variables, lines = [Variable("item", UINT, fixed=True)] if first else [], list[str]()
    variables.append(Variable("n", UINT, True, fixed=True))
    for variable, value, is_uniform in inputs:
        variables.append(Variable(variable, draw.random.choice([UINT, INT] if is_uniform else draw.types), is_uniform))
        lines.append(f"{variables[-1].type.name} {variable} = {value};")
    more, scope = draw.declare(Scope(variables, strict=strict), strict)
    lines = ["const uint item = get_global_id(0);", *lines, *more]
    if family and draw.matrices:
        uses = [*draw.random.choices("ABC", k=2), *"C" * draw.random.randint(1, 3)]
        scope = replace(scope, matrices=tuple((f"m{number}", use) for number, use in enumerate(uses)))
        loads = [draw.matrices.load(draw, scope, use) for use in uses]
        lines += [f"{family.name}{use} m{number} = {loads[number]};" for number, use in enumerate(uses)]
        parameters += "".join(f", const global {family.factor} *{pointer}" for pointer in ("pa", "pb"))
        parameters += f", const global {family.sum} *pc, global {family.sum} *pm"
    draw.left, draw.most_times, draw.calls = draw.settings.statements * (1 + strict), 60 if family else 200, 6
    stored = f"{{{{ out[item * {SLOTS} + 12] = {{}}; return; }}}}"
    draw.leave = lambda scope: draw.random.choice(["return;", stored]).format(draw.leaf(scope, UINT, False))
    lines += draw.block(scope, 12) + _results(scope, family)
    return _definition(f"kernel void {name}({parameters})", lines)


def _results(scope: Scope, family: Family | None) -> list[str]:
    """Return statements that store all variables."""
    names = [f"{v.name}[{i}]" if v.array else v.name for v in scope.variables for i in range(4 if v.array else 1)]
    names += [f"({v.name} >> 32)" for v in scope.variables if v.type.bits == 64 and not v.array]
    lines = [f"out[item * {SLOTS} + {13 + i % 11}] += (uint){name};" for i, name in enumerate(names)]
    sums, pointer = (
        [name for name, use in scope.matrices if use == "C"],
        f"pm + (get_group_id(0) * {TILES} + {{}}) * {TILE}",
    )
    for number, name in enumerate(sums):
        lines.append(f"STORE({family.name if family else ''}C, {pointer.format(number % TILES)}, {name});")
    return lines
