"""Builtin functions that are called with a variable of another type, whose address is cast to the parameter's type.

LLVM's backend leaves such a variable its own type, which changes what an instruction counts (docs/backend.md).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import coopmat
from coopmat.frontend import builtins
from coopmat.frontend.types import AddressSpace, PointerType, ScalarType, VectorType
from coopmat.spirv.module import ENUM, Instruction, Module

# The types of the variables: no call below has a parameter that points to such a type.
STRUCT = "#define ONE { 1 }\ntypedef struct { uint x[40]; } __attribute__((aligned(128))) Variable;"
VECTOR = "#define ONE 1\ntypedef short16 Variable;"
# No parameter of a kernel can have these types. Those of 8-bit floats, such as floate4m3_t, begin with "floate".
_NO_PARAMETERS = ("bool", "half", "bfloat16", "floate", "signed4_t", "unsigned4_t")
_WITH_LITERAL = frozenset(
    ENUM[f"OpenCL.std.{name}"]
    for name in ("vloadn", "vload_halfn", "vloada_halfn", "vstore_half_r", "vstore_halfn_r", "vstorea_halfn_r")
)
_TAKE_ANY_POINTER = frozenset(
    (
        *("OpBitcast", "OpName", "OpDecorate", "OpEntryPoint", "OpLoad", "OpStore", "OpCopyMemorySized"),
        *("OpInBoundsPtrAccessChain", "OpPtrAccessChain", "OpInBoundsAccessChain", "OpAccessChain"),
    )
)


def _calls(family: str) -> Iterator[tuple[str, builtins.Overload]]:
    """Yield a call of each builtin for each choice of its pointers' address spaces; the other types take turns."""
    found: dict[tuple[object, ...], list[builtins.Overload]] = {}
    for module in builtins.FAMILIES:
        for row in module.TABLE if module.__name__.endswith(f".{family}") else ():
            for overload in builtins.overloads(row) if row.status == builtins.SUPPORTED else ():
                spaces = [p.qualifiers.space for p in overload.parameters if isinstance(p, PointerType)]
                if spaces and AddressSpace.GENERIC not in spaces:
                    found.setdefault((row.name, *spaces), []).append(overload)
    for number, ((name, *_), group) in enumerate(found.items()):
        yield str(name), group[number % len(group)]


def _kernel(number: int, name: str, overload: builtins.Overload) -> str:
    """Return a kernel that calls the function with pointers to variables, and with parameters of the kernel."""
    outside, inside, parameters, arguments = "", "", [], []
    for n, kind in enumerate(overload.parameters):
        if isinstance(kind, PointerType):
            space = kind.qualifiers.space
            variable = f"v{number}_{n}"
            arguments.append(f"({kind})&{variable}")
            if space in (AddressSpace.GLOBAL, AddressSpace.CONSTANT):
                outside += f"{space} Variable {variable}{' = ONE' if space == AddressSpace.CONSTANT else ''};\n"
            else:
                inside += f"{space} Variable {variable}; "
            continue
        arguments.append(f"a{n}")
        scalar = kind.element if isinstance(kind, VectorType) else kind
        if isinstance(scalar, ScalarType) and not str(scalar).startswith(_NO_PARAMETERS):
            parameters.append(f"{kind} a{n}")
        else:
            inside += f"{kind} a{n}{' = 0' if str(kind) == 'event_t' else ''}; "
    return f"{outside}kernel void k{number}({', '.join(parameters)}) {{ {inside}{name}({', '.join(arguments)}); }}\n"


def _takes_variable(item: Instruction, variables: set[int | None]) -> bool:
    """Whether an instruction of a function has a variable as an operand, other than to convert its type."""
    operands = item.operands
    if item.name == "OpExtInst":
        # The last operand of some is no id, but a count of components or a rounding mode.
        operands = operands[2:-1] if operands[1] in _WITH_LITERAL else operands[2:]
    return item.name not in _TAKE_ANY_POINTER and not variables.isdisjoint(operands)


@pytest.mark.parametrize("declared", [STRUCT, VECTOR], ids=["struct", "vector"])
@pytest.mark.parametrize("family", ["math", "vector_data", "atomics", "async_copies", "subgroup"])
def test_each_builtin_gets_pointers_of_its_own_type(family: str, declared: str) -> None:
    kernels = [_kernel(number, *call) for number, call in enumerate(_calls(family))]
    assert len(kernels) >= 10
    source = "\n".join(["#pragma OPENCL EXTENSION all : enable", declared, *kernels])
    options = ["-cl-std=CL3.0", "--sub-group-size", "16", "-w"]
    module = Module.parse(coopmat.compile(source, options, name="calls.cl").spirv)
    definitions = module.definitions()
    variables = set()
    for item in module.instructions:
        if item.name == "OpVariable" and item.operands[0] != ENUM["StorageClass.Input"]:
            pointee = definitions[definitions[item.result_type or 0].operands[1]]
            if pointee.name in ("OpTypeStruct", "OpTypeVector"):
                variables.add(item.result)
    start = next(n for n, item in enumerate(module.instructions) if item.name == "OpFunction")
    wrong = [str(item) for item in module.instructions[start:] if _takes_variable(item, variables)]
    assert variables and not wrong
