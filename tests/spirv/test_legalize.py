from __future__ import annotations

import re

import pytest
import spirv_samples as samples
from spirv_samples import C, matrix

from coopmat.diagnostics import InternalError
from coopmat.spirv import checks, tools
from coopmat.spirv.checks import lint
from coopmat.spirv.emit import EmitOptions, emit
from coopmat.spirv.legalize import PLACEHOLDERS, check_imports, legalize
from coopmat.spirv.module import OP, Module

_STORE = "@_Z33__spirv_CooperativeMatrixStoreKHRPU3AS1fu8mf16x16Cil"
_LOAD = "@_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1filu8mf16x16C"


def _emit(text: str, version: str = "1.4") -> bytes:
    spirv = emit(text, EmitOptions(version, samples.EXTENSIONS)).spirv
    assert spirv is not None
    return spirv


def _legal(text: str) -> str:
    """The legalized module's disassembly; valid for both kinds of target."""
    for version in ("1.2", "1.4"):
        assert tools.validate(legalize(_emit(text, version)), tools.target_env_for(version)) is None
    return tools.disassemble(legalize(_emit(text)))


def _kernel(body: str, declarations: str = "") -> str:
    head = f"{samples.DECLARATIONS}{declarations}\ndefine spir_kernel void @k(ptr addrspace(1) %p, i32 %i, i64 %n) {{\n"
    load = f"  %m = call spir_func {C} {_LOAD}(ptr addrspace(1) %p, i32 0, i64 16)\n"
    store = f"  call spir_func void {_STORE}(ptr addrspace(1) %p, {C} %r, i32 0, i64 16)\n  ret void\n}}\n"
    return head + load + body + "\n" + store


def _code(text: str, name: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if re.search(rf"\b{name}\b", line)]


def test_the_gemm_has_no_imports_and_no_calls_left_but_its_own() -> None:
    text = _legal(samples.GEMM)
    assert "Linkage" not in text and "__spirv_" not in text.replace("__spirv_BuiltIn", "") and "__cm_" not in text
    assert _code(text, "OpFunctionCall") == [line for line in _code(text, "OpFunctionCall") if "%relu" in line]
    assert len(_code(text, "OpFMul")) == 1
    assert len(_code(text, "OpCooperativeMatrixMulAddKHR")) == 1
    assert len(_code(text, "BuiltIn WorkgroupId")) == 1


def test_products_of_floats_have_no_mask() -> None:
    """The bits of the mask are for integers, and consumers differ in whether they take them with floats."""
    signed = samples.GEMM.replace("%acc, i32 0)", "%acc, i32 31)")
    assert signed != samples.GEMM
    (line,) = _code(_legal(signed), "OpCooperativeMatrixMulAddKHR")
    assert re.search(r"OpCooperativeMatrixMulAddKHR( %\S+){4}$", line)


def test_legalizing_twice_changes_nothing() -> None:
    once = legalize(_emit(samples.GEMM))
    assert legalize(once) == once


@pytest.mark.parametrize("name", [n for n, row in PLACEHOLDERS.items() if row.literals_from is None and n != "Bitcast"])
def test_every_operation_becomes_its_instruction(name: str) -> None:
    kind = matrix("float" if name.startswith("F") else "i32", 16, 16, 2)
    code, unary = "f" if name.startswith("F") else "i", name.endswith("Negate")
    spelled = f"__spirv_{name}"
    parameters, arguments = (kind, f"{kind} %m") if unary else (f"{kind}, {kind}", f"{kind} %m, {kind} %m")
    text = _kernel(
        f"  %r = call spir_func {kind} @_Z{len(spelled)}{spelled}_tag({arguments})",
        f"declare spir_func {kind} @_Z{len(spelled)}{spelled}_tag({parameters})",
    )
    text = text.replace(C, kind).replace("AS1f", f"AS1{code}")
    found = _code(_legal(text), f"Op{name}")
    assert len(found) == 1 and found[0].count("%") == (3 if unary else 4)


def test_extract_and_insert_take_literals() -> None:
    text = _legal(
        _kernel(
            f"""
  %x = call spir_func float @_Z24__spirv_CompositeExtract_f({C} %m, i32 0)
  %r = call spir_func {C} @_Z23__spirv_CompositeInsert_f(float %x, {C} %m, i32 3)""",
            f"""
declare spir_func float @_Z24__spirv_CompositeExtract_f({C}, i32)
declare spir_func {C} @_Z23__spirv_CompositeInsert_f(float, {C}, i32)""",
        )
    )
    assert _code(text, "OpCompositeExtract")[0].endswith(" 0")
    assert _code(text, "OpCompositeInsert")[0].endswith(" 3")


def test_a_literal_that_is_no_constant_is_an_internal_error() -> None:
    text = (
        _kernel(
            f"  %x = call spir_func float @_Z24__spirv_CompositeExtract_f({C} %m, i32 %i)\n  %r = freeze {C} %m",
            f"declare spir_func float @_Z24__spirv_CompositeExtract_f({C}, i32)",
        )
        .replace(f"  %r = freeze {C} %m", "")
        .replace("%r", "%m")
    )
    with pytest.raises(InternalError, match="needs a constant index"):
        legalize(_emit(text))


_BASES = {
    "variable": (f"  %v = alloca {C}", 0),
    "element": (f"  %a = alloca [3 x {C}]\n  %v = getelementptr inbounds [3 x {C}], ptr %a, i64 0, i64 %n", 0),
    "member": (
        f"  %a = alloca {{i32, [2 x {C}]}}\n"
        f"  %v = getelementptr inbounds {{i32, [2 x {C}]}}, ptr %a, i32 0, i32 1, i64 %n",
        0,
    ),
    "array itself": (f"  %v = alloca [3 x {C}]", 1),
    "nested struct itself": (f"  %v = alloca {{[2 x {C}], i32}}", 2),
}


@pytest.mark.parametrize("name", _BASES)
def test_component_access_is_an_access_chain(name: str) -> None:
    setup, zeros = _BASES[name]
    text = _legal(
        _kernel(
            f"""{setup}
  store {C} %m, ptr %v
  %x = call spir_func float @__cm_get_f(ptr %v, i32 %i)
  call spir_func void @__cm_set_f(ptr %v, i32 %i, float %x)
  %r = load {C}, ptr %v"""
        )
    )
    chains = _code(text, "OpAccessChain")
    assert len(chains) == 2
    assert all(len(chain.split("OpAccessChain")[1].split()) == 3 + zeros for chain in chains)
    assert len(_code(text, "OpTypePointer Function %float")) == 1
    assert "Aligned 4" in text and "__cm_" not in text


def test_matrices_of_one_component_type_share_the_placeholders() -> None:
    other = matrix("float", 16, 16, 0)
    text = _legal(
        _kernel(
            f"""
  %v = alloca {C}
  %w = alloca {other}
  store {C} %m, ptr %v
  store {other} zeroinitializer, ptr %w
  %x = call spir_func float @__cm_get_f(ptr %v, i32 %i)
  call spir_func void @__cm_set_f(ptr %w, i32 %i, float %x)
  %r = load {C}, ptr %v"""
        )
    )
    assert [re.search(r"%(\w+) %i", line)[1] for line in _code(text, "OpAccessChain")] == ["v", "w"]  # type: ignore[index]
    assert "OpBitcast" not in text


def test_component_access_in_a_chain_of_functions() -> None:
    inner = """
define internal spir_func void @inner(ptr %q, i32 %i) noinline {
  %x = call spir_func float @__cm_get_f(ptr %q, i32 %i)
  call spir_func void @__cm_set_f(ptr %q, i32 0, float %x)
  ret void
}
"""
    outer = """
define internal spir_func void @outer(ptr %q, i32 %i) noinline {
  call spir_func void @inner(ptr %q, i32 %i)
  ret void
}
"""
    kernel = _kernel(
        f"""
  %v = alloca {C}
  store {C} %m, ptr %v
  call spir_func void @outer(ptr %v, i32 %i)
  %r = load {C}, ptr %v"""
    )
    for text in (kernel + outer + inner, inner + kernel + outer):
        assert len(_code(_legal(text), "OpAccessChain")) == 2


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ("i32 1", "Volatile"),
        ("i32 0", ""),
        ("i32 2, i32 64", ""),
        ("i32 3, i32 64", "Volatile"),
        (f"i32 {2 | 6 << 24}", "Aligned 64"),
        (f"i32 {1 | 4 << 24}", "Volatile|Aligned 16"),
    ],
)
def test_memory_operands(arguments: str, shown: str) -> None:
    kinds = ", ".join("i32" for _ in arguments.split(","))
    text = _legal(
        _kernel(
            f"""
  %r = call spir_func {C} {_LOAD}x(ptr addrspace(1) %p, i32 0, i64 16, {arguments})
  call spir_func void {_STORE}x(ptr addrspace(1) %p, {C} %r, i32 0, i64 16, {arguments})""",
            f"""
declare spir_func {C} {_LOAD}x(ptr addrspace(1), i32, i64, {kinds})
declare spir_func void {_STORE}x(ptr addrspace(1), {C}, i32, i64, {kinds})""",
        )
    )
    load, store = _code(text, "OpCooperativeMatrixLoadKHR")[1], _code(text, "OpCooperativeMatrixStoreKHR")[0]
    for line in (load, store):
        assert re.search(r"%ulong_16 ?(.*)", line)[1] == shown  # type: ignore[index]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            f"  %z = call spir_func {C} {_LOAD}(ptr addrspace(1) %p, i32 1, i64 16)\n"
            f"  %c = icmp eq i32 %i, 0\n  %r = select i1 %c, {C} %m, {C} %z",
            "OpSelect",
        ),
        (f"  %r = call spir_func {C} {_LOAD}x(ptr addrspace(1) %p, i32 0, i32 16)", "stride is not a 64-bit"),
        (
            f"  %r = call spir_func {C} @_Z25__spirv_MatrixTimesScalar_x({C} %m, float 2.0)",
            "imports what no device has: _Z25__spirv_MatrixTimesScalar_x",
        ),
        (
            f"  %v = alloca {C}\n  %e = getelementptr float, ptr %v, i32 %i\n  store float 0.0, ptr %e\n"
            f"  %r = load {C}, ptr %v",
            "memory as another type",
        ),
        (f"  %v = alloca {C}\n  store float 0.0, ptr %v\n  %r = load {C}, ptr %v", "memory as another type"),
        (
            f"  %x = call spir_func float @__cm_get_f(ptr inttoptr (i64 64 to ptr), i32 0)\n  %r = load {C}, ptr null",
            "not to a cooperative matrix",
        ),
        (
            f"  %v = alloca {C}\n  store {C} %m, ptr %v\n  %x = call spir_func half @__cm_get_Dh(ptr %v, i32 0)\n"
            f"  %r = load {C}, ptr %v",
            "not the matrix's component type",
        ),
    ],
)
def test_what_devices_refuse_is_an_internal_error(body: str, message: str) -> None:
    declarations = f"""
declare spir_func {C} {_LOAD}x(ptr addrspace(1), i32, i32)
declare spir_func {C} @_Z25__spirv_MatrixTimesScalar_x({C}, float)
declare spir_func half @__cm_get_Dh(ptr, i32)"""
    with pytest.raises(InternalError, match=re.escape(message)):
        legalize(_emit(_kernel(body, declarations)))


def test_the_instruction_matrix_times_scalar_is_refused() -> None:
    module = Module.parse(legalize(_emit(samples.GEMM)))
    scaled = next(item for item in module.instructions if item.opcode == OP["OpFMul"] and item.operands)
    scaled.opcode = OP["OpMatrixTimesScalar"]
    with pytest.raises(InternalError, match="OpMatrixTimesScalar"):
        lint(module)


@pytest.mark.parametrize("name", ["OpTypeCooperativeMatrixKHR", "OpCooperativeMatrixLoadKHR"])
def test_a_null_integer_is_refused_where_matrices_need_one(name: str) -> None:
    module = Module.parse(legalize(_emit(samples.GEMM)))
    definitions = module.definitions()
    operands = {word for item in module.instructions if item.name == name for word in item.operands}
    zero = next(
        definitions[word]
        for word in operands
        if word in definitions and definitions[word].name == "OpConstant" and definitions[word].operands[0] == 0
    )
    lint(module)
    zero.opcode, zero.operands = OP["OpConstantNull"], ()
    with pytest.raises(InternalError, match="OpConstantNull for an integer"):
        lint(module)
    checks.write_out_zeros(module.instructions)
    lint(module)


@pytest.mark.parametrize("name", ["_Z4sqrrf", "_Z11__spirv_FMul_x", "_Z12__spirv_FMux_x", "__cm_got_f"])
def test_a_misspelt_builtin_is_an_internal_error(name: str) -> None:
    text = f"""
define spir_kernel void @k(ptr addrspace(1) %p) {{
  %x = call spir_func float @{name}(float 1.0)
  store float %x, ptr addrspace(1) %p
  ret void
}}
declare spir_func float @{name}(float)
"""
    spirv = _emit(text)
    assert tools.validate(spirv, "spv1.4") is None  # which is why it must be noticed here
    with pytest.raises(InternalError, match=f"imports what no device has: {re.escape(name)}"):
        check_imports(Module.parse(spirv))
    with pytest.raises(InternalError, match="imports"):
        legalize(spirv)


def test_builtin_variables_are_no_imports() -> None:
    assert "Import" in tools.disassemble(_builtin())
    check_imports(Module.parse(_builtin()))


def _builtin() -> bytes:
    return _emit(
        """
@__spirv_BuiltInGlobalInvocationId = external addrspace(7) constant <3 x i64>, align 32
define spir_kernel void @k(ptr addrspace(1) %p) {
  %id = load <3 x i64>, ptr addrspace(7) @__spirv_BuiltInGlobalInvocationId, align 32
  %x = extractelement <3 x i64> %id, i64 0
  store i64 %x, ptr addrspace(1) %p
  ret void
}
"""
    )


def test_modules_without_matrices_only_lose_their_imports() -> None:
    before, after = tools.disassemble(_builtin()), tools.disassemble(legalize(_builtin()))
    assert [line for line in before.splitlines() if "Linkage" not in line] == after.splitlines()
    assert tools.validate(legalize(_builtin()), "spv1.4") is None


def test_a_library_module_keeps_its_linkage() -> None:
    text = "define spir_func float @twice(float %x) {\n  %y = fadd float %x, %x\n  ret float %y\n}\n"
    spirv = legalize(_emit(text))
    assert "Linkage" in tools.disassemble(spirv)
    assert tools.validate(spirv, "spv1.4") is None


def test_a_malformed_module_is_an_internal_error() -> None:
    with pytest.raises(InternalError, match="malformed"):
        legalize(b"not SPIR-V")
