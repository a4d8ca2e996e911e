"""Values of bfloat in LLVM IR, as other front ends write them, on a device without the type, against numpy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from optimise import optimised

import coopmat
from coopmat.devices import DeviceInfo, opencl
from coopmat.matrices.numpy_reference import Array

COUNT = 256


def rounded(x: Array) -> Array:
    """Doubles to the nearest bfloat16, as doubles; infinities and normal numbers only."""
    bits = np.asarray(x, np.float64).view(np.uint64)
    half = np.uint64((1 << 44) - 1) + (bits >> np.uint64(45) & np.uint64(1))
    finite = ((bits + half) & ~np.uint64((1 << 45) - 1)).view(np.float64)
    with np.errstate(over="ignore"):
        return np.where(np.abs(finite) < 2.0**128, finite, np.copysign(np.inf, finite))


def bits(x: Array) -> Array:
    """Of numbers that are bfloat16s."""
    with np.errstate(over="ignore"):
        return (np.asarray(x, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def numbers(rng: np.random.Generator) -> dict[str, Array]:
    """Inputs by parameter: every kind of number that is brought to bfloat16."""
    some = (rng.standard_normal((3, COUNT)) * 2.0 ** rng.integers(-8, 9, (3, COUNT))).astype(np.float64)
    near = rounded(some[2]) * (1 + 2.0**-9)
    near[::2] += np.ldexp(1.0, -40) * np.sign(near[::2])
    wide = rng.integers(-(2**63), 2**63 - 1, COUNT) >> rng.integers(0, 63, COUNT)
    wide[:32] = ((0x101 + 2 * rng.integers(0, 64, 32)) << 40) + rng.integers(-1, 2, 32)
    return {
        "a": rounded(some[0]),
        "b": rounded(some[1]),
        "f": some[2].astype(np.float32),
        "d": near,
        "i": (wide >> 32).astype(np.int32),
        "l": wide,
    }


@dataclass(frozen=True)
class Operation:
    """`body` computes `%r`, a bfloat, from %a, %b (bfloat), %f, %d, %i, %l; `@` stands for the operation's number."""

    body: str
    expected: Callable[[dict[str, Array]], Array]


def _binary(opcode: str, compute: Callable[..., Array]) -> Operation:
    return Operation(f"%r = {opcode} bfloat %a, %b", lambda n: compute(n["a"], n["b"]))


def _call(name: str, compute: Callable[..., Array], operands: str = "a") -> Operation:
    arguments = ", ".join(f"bfloat %{name}" for name in operands)
    return Operation(f"%r = call bfloat @llvm.{name}.bf16({arguments})", lambda n: compute(*(n[x] for x in operands)))


OPERATIONS = {
    "fadd": _binary("fadd nsz", np.add),
    "fsub": _binary("fsub", np.subtract),
    "fmul": _binary("fmul", np.multiply),
    "fdiv": _binary("fdiv", np.divide),
    "frem": _binary("frem", np.fmod),
    "constant": Operation("%r = fadd bfloat %a, 0xR3F81", lambda n: n["a"] + 1.0078125),
    "fneg": Operation("%r = fneg bfloat %a", lambda n: -n["a"]),
    "fabs": _call("fabs", np.abs),
    "copysign": _call("copysign", np.copysign, "ab"),
    "minnum": _call("minnum", np.minimum, "ab"),
    "floor": _call("floor", np.floor),
    "fmuladd": _call("fmuladd", lambda a, b, c: rounded(a * b) + c, "aba"),
    "fptrunc float": Operation("%r = fptrunc float %f to bfloat", lambda n: n["f"]),
    "fptrunc double": Operation("%r = fptrunc double %d to bfloat", lambda n: n["d"]),
    "fpext": Operation("%w = fpext bfloat %a to double\n%r = fptrunc double %w to bfloat", lambda n: n["a"]),
    "sitofp i32": Operation("%r = sitofp i32 %i to bfloat", lambda n: n["i"]),
    "uitofp i32": Operation("%r = uitofp i32 %i to bfloat", lambda n: n["i"].view(np.uint32)),
    "sitofp i64": Operation("%r = sitofp i64 %l to bfloat", lambda n: exact(n["l"])),
    "uitofp i64": Operation("%r = uitofp i64 %l to bfloat", lambda n: exact(n["l"].view(np.uint64))),
    "sitofp i8": Operation("%n = trunc i32 %i to i8\n%r = sitofp i8 %n to bfloat", lambda n: n["i"].astype(np.int8)),
    "fptosi": Operation("%n = fptosi bfloat %a to i32\n%r = sitofp i32 %n to bfloat", lambda n: np.trunc(n["a"]) + 0.0),
    "select": Operation(
        "%t = fcmp olt bfloat %a, %b\n%r = select nnan i1 %t, bfloat 0xR4020, bfloat %b",
        lambda n: np.where(n["a"] < n["b"], 2.5, n["b"]),
    ),
    "phi": Operation(
        "%t = fcmp uge bfloat %a, 0xR0000\nbr i1 %t, label %yes, label %no\nyes:\nbr label %no\nno:\n"
        "%r = phi nnan bfloat [ 0xRC000, %entry ], [ %b, %yes ]",
        lambda n: np.where(n["a"] >= 0, n["b"], -2.0),
    ),
    "vectors": Operation(
        "%v = insertelement <2 x bfloat> <bfloat 1.0, bfloat 3.0>, bfloat %a, i32 0\n"
        "%w = fmul <2 x bfloat> %v, splat (bfloat 1.5)\n%s = fneg <2 x bfloat> %w\n"
        "%x = extractelement <2 x bfloat> %s, i32 0\n%y = extractelement <2 x bfloat> %w, i32 1\n"
        "%r = fadd bfloat %x, %y",
        lambda n: rounded(n["a"] * -1.5) + 4.5,
    ),
    "functions": Operation("%r = call spir_func nofpclass(nan) bfloat @twice(bfloat noundef %a)", lambda n: n["a"] * 2),
    "records": Operation(
        "%s = insertvalue { bfloat, i32 } { bfloat 0xR3F80, i32 2 }, bfloat %b, 0\n"
        "%r = extractvalue { bfloat, i32 } %s, 0",
        lambda n: n["b"],
    ),
    "memory": Operation(
        "%m = alloca [2 x bfloat]\nstore <2 x bfloat> <bfloat 2.0, bfloat 5.0>, ptr %m, align 2\n"
        "%q = getelementptr bfloat, ptr %m, i64 1\nstore volatile bfloat %a, ptr %q\n%x = load bfloat, ptr %m\n"
        "%t = getelementptr [3 x bfloat], ptr addrspace(2) @table, i64 0, i64 2\n"
        "%y = load bfloat, ptr addrspace(2) %t\n%z = load bfloat, ptr %q\n%u = fadd bfloat %x, %y\n"
        "%r = fmul bfloat %z, %u",
        lambda n: n["a"] * 6.5,
    ),
    "bits": Operation(
        "%n = bitcast bfloat %a to i16\n%x = xor i16 %n, -32768\n%r = bitcast i16 %x to bfloat", lambda n: -n["a"]
    ),
}


def exact(x: Array) -> Array:
    """64-bit integers as doubles that round to the same bfloat16."""
    values = [int(v) for v in x]
    shifts = [max(v.bit_length() - 50, 0) for v in map(abs, values)]
    odd = [(abs(v) >> s | (abs(v) & (1 << s) - 1 != 0)) << s for v, s in zip(values, shifts, strict=True)]
    return np.array([float(o) * (-1 if v < 0 else 1) for v, o in zip(values, odd, strict=True)])


_KERNEL = """\
@table = internal addrspace(2) constant [3 x bfloat] [bfloat 1.0, bfloat 2.0, bfloat 4.5]
define internal spir_func bfloat @twice(bfloat noundef %x) noinline {
  %y = fadd bfloat %x, %x
  ret bfloat %y
}
FUNCTIONS
define spir_kernel void @k(PARAMETERS, ptr addrspace(1) %out) {
  %id = call spir_func i64 @_Z13get_global_idj(i32 0)
LOADS
STORES
  ret void
}
declare spir_func i64 @_Z13get_global_idj(i32)
declare bfloat @llvm.fabs.bf16(bfloat)
declare bfloat @llvm.floor.bf16(bfloat)
declare bfloat @llvm.copysign.bf16(bfloat, bfloat)
declare bfloat @llvm.minnum.bf16(bfloat, bfloat)
declare bfloat @llvm.fmuladd.bf16(bfloat, bfloat, bfloat)
"""
_TYPES = {"a": "bfloat", "b": "bfloat", "f": "float", "d": "double", "i": "i32", "l": "i64"}


def text() -> str:
    """A function for each operation, and a kernel that stores what they give one after the other."""
    typed = ", ".join(f"{kind} %{name}" for name, kind in _TYPES.items())
    functions, loads, stores = [], [], []
    for name, kind in _TYPES.items():
        loads.append(f"  %p{name} = getelementptr {kind}, ptr addrspace(1) %in.{name}, i64 %id")
        loads.append(f"  %{name} = load {kind}, ptr addrspace(1) %p{name}")
    for number, operation in enumerate(OPERATIONS.values()):
        body = "\n".join(f"  {line}" for line in operation.body.split("\n"))
        head = f"define internal spir_func bfloat @f{number}({typed})"
        functions.append(f"{head} {{\nentry:\n{body}\n  ret bfloat %r\n}}")
        stores += [
            f"  %r{number} = call spir_func bfloat @f{number}({typed})",
            f"  %at{number} = add i64 %id, {number * COUNT}",
            f"  %o{number} = getelementptr bfloat, ptr addrspace(1) %out, i64 %at{number}",
            f"  store bfloat %r{number}, ptr addrspace(1) %o{number}",
        ]
    parameters = ", ".join(f"ptr addrspace(1) %in.{name}" for name in _TYPES)
    parts = {"FUNCTIONS": functions, "PARAMETERS": [parameters], "LOADS": loads, "STORES": stores}
    result = _KERNEL
    for word, lines in parts.items():
        result = result.replace(word, "\n".join(lines))
    return result


@pytest.mark.parametrize(("route", "passes"), [("one", ""), ("lanes", "O2"), ("scratch", "O1")])
def test_values(device: DeviceInfo, route: str, passes: str) -> None:
    source = optimised(text(), passes) if passes else text()
    module = coopmat.compile(source, ["--matrices", route], name="values.ll", language="ir")
    assert "BFloat16" not in module.spirv_text
    inputs = numbers(np.random.default_rng(5))
    cl = opencl()
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        program = cl.Program(context, module.spirv).build()
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    arrays = [bits(array) if name in "ab" else array for name, array in inputs.items()]
    out = np.full((len(OPERATIONS), COUNT), 0xA5A5, np.uint16)
    buffers = [cl.Buffer(context, flags, hostbuf=np.ascontiguousarray(array)) for array in (*arrays, out)]
    program.k(queue, (COUNT,), None, *buffers)
    cl.enqueue_copy(queue, out, buffers[-1])
    for row, (name, operation) in zip(out, OPERATIONS.items(), strict=True):
        expected = bits(rounded(operation.expected(inputs).astype(np.float64)))
        wrong = np.flatnonzero(row != expected)
        assert not wrong.size, f"{name}: {[(hex(row[i]), hex(expected[i])) for i in wrong[:4]]} at {wrong[:4]}"


def test_native_modules_are_valid() -> None:
    """There the type stays, and only what has no instruction changes."""
    module = coopmat.compile(text(), [], name="values.ll", language="ir")
    assert module.spirv and module.validated and "BFloat16KHR" in module.spirv_text


MATRIX = 'target("spirv.CooperativeMatrixKHR", bfloat, 3, 8, 4, 2)'
HALVES = MATRIX.replace("bfloat", "half")
TAG = "bf16_sc3_8x4_u2"
OPERATORS = f"""\
define spir_kernel void @k(ptr addrspace(1) %p, bfloat %x) {{
  %1 = call {MATRIX} @__spirv_CooperativeMatrixLoadKHR_global_{TAG}(ptr addrspace(1) %p, i32 0, i64 4)
  %2 = call {MATRIX} @__spirv_CooperativeMatrixFDiv_{TAG}({MATRIX} %1, {MATRIX} %1)
  %3 = call {MATRIX} @__spirv_CooperativeMatrixScalarNeg_{TAG}({MATRIX} %2)
  %4 = call {MATRIX} @__spirv_CooperativeMatrixScalarMulKHR_{TAG}({MATRIX} %3, bfloat %x)
  %5 = call {HALVES} @__spirv_CooperativeMatrixFConvert_{TAG}_f16_sc3_8x4_u2({MATRIX} %4)
  %6 = call {MATRIX} @__spirv_CooperativeMatrixFConvert_f16_sc3_8x4_u2_{TAG}({HALVES} %5)
  call void @__spirv_CooperativeMatrixStoreKHR_global_{TAG}(ptr addrspace(1) %p, {MATRIX} %6, i32 0, i64 4)
  ret void
}}
declare {MATRIX} @__spirv_CooperativeMatrixLoadKHR_global_{TAG}(ptr addrspace(1), i32, i64)
declare {MATRIX} @__spirv_CooperativeMatrixFDiv_{TAG}({MATRIX}, {MATRIX})
declare {MATRIX} @__spirv_CooperativeMatrixScalarNeg_{TAG}({MATRIX})
declare {MATRIX} @__spirv_CooperativeMatrixScalarMulKHR_{TAG}({MATRIX}, bfloat)
declare {HALVES} @__spirv_CooperativeMatrixFConvert_{TAG}_f16_sc3_8x4_u2({MATRIX})
declare {MATRIX} @__spirv_CooperativeMatrixFConvert_f16_sc3_8x4_u2_{TAG}({HALVES})
declare void @__spirv_CooperativeMatrixStoreKHR_global_{TAG}(ptr addrspace(1), {MATRIX}, i32, i64)
"""


@pytest.mark.parametrize("route", ["native", "one", "lanes", "scratch"])
def test_operators_on_matrices(route: str) -> None:
    """Native matrices of bfloat16 have none: floats do it."""
    module = coopmat.compile(OPERATORS, ["--matrices", route], name="in.ll", language="ir")
    assert module.spirv and module.validated
    if route == "native":
        lines = module.spirv_text.split("\n")
        assert sum("OpFConvert" in line for line in lines) == 3 + 2 + 3 + 2 + 2
        assert all(sum(f"Op{name}" in line for line in lines) == 1 for name in ("FDiv", "FNegate", "FMul"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%r = call bfloat @llvm.fma.bf16(bfloat %x, bfloat %x, bfloat %x)", "'llvm.fma.bf16', which takes or returns"),
        ("%r = call bfloat @_Z3sinDF16b(bfloat %x)", "'_Z3sinDF16b', which takes or returns"),
        ("%r = atomicrmw fadd ptr addrspace(1) %p, bfloat %x monotonic", "atomicrmw of a bfloat"),
        ("%n = fptosi bfloat %x to i100\n%r = sitofp i100 %n to bfloat", "'fptosi' of i100"),
    ],
)
def test_what_is_not_supported(line: str, message: str) -> None:
    source = f"""define spir_kernel void @k(ptr addrspace(1) %p, bfloat %x) {{
{line}
store bfloat %r, ptr addrspace(1) %p
ret void
}}
declare bfloat @llvm.fma.bf16(bfloat, bfloat, bfloat)
declare bfloat @_Z3sinDF16b(bfloat)
"""
    source = "\n".join(item for item in source.split("\n") if not item.startswith("declare") or item[15:30] in line)
    with pytest.raises(coopmat.CompileError, match=message) as caught:
        coopmat.compile(source, ["--matrices", "one"], name="in.ll", language="ir").spirv  # noqa: B018
    (found,) = caught.value.diagnostics
    assert found.code == "ir-not-supported" and found.span is not None
