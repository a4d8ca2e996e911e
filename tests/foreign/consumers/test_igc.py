"""The profile igc: what native modules look like, from every source; tests/cts runs them."""

from __future__ import annotations

import re

import pytest

import coopmat
from coopmat.diagnostics import CompileError
from coopmat.foreign.consumers import legalize_for_consumer, standard
from coopmat.foreign.spirv.types import MATRIX
from coopmat.native_profiles import KHR, NATIVE_PROFILES
from coopmat.spirv import joint_matrix
from coopmat.spirv.module import OP, Instruction, Module
from coopmat.spirv.tools import assemble, disassemble, validate

IGC = NATIVE_PROFILES["igc"]
HEAD = """
#define MATRIX(T, NAME, R, C, USE) \\
    typedef T NAME __attribute__((coop_mat(memory_scope_sub_group, R, C, CLK_COOPERATIVE_MATRIX_##USE)));
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
MATRIX(half, A, 8, 16, A) MATRIX(half, B, 16, 16, B) MATRIX(float, C, 8, 16, ACCUMULATOR)
MATRIX(half, H, 8, 16, ACCUMULATOR) MATRIX(int, I, 8, 16, ACCUMULATOR) MATRIX(uint, U, 8, 16, ACCUMULATOR)
MATRIX(bfloat16, BA, 8, 16, A) MATRIX(bfloat16, BB, 16, 16, B) MATRIX(bfloat16, BC, 8, 16, ACCUMULATOR)
MATRIX(short, SA, 8, 16, A)
struct pair { C a; C b[2]; };
C twice(C m) { return m + m; }
C chosen(C m, int n) { switch (n) { case 0: return m; case 1: return twice(m); default: return m * 2.0f; } }
void clear(C *m) { *m = coop_mat_init(0.0f); (*m)[0] = 1.0f; }
struct pair swapped(struct pair p, int n) { if (n > 3) return p; p.b[n & 1] = p.a; return p; }
"""
BODIES = {
    "add": "m = m + m;",
    "sub": "m = m - coop_mat_init(3.0f);",
    "mul": "m *= m;",
    "div": "m /= m;",
    "negate": "m = -m;",
    "scalar": "m = m * 2.0f; m = n * m;",
    "integers": "I i = coop_mat_init(n); i = -(i + i * i - i / i); U u = coop_mat_init(3u); i = (I)(u / u); m = (C)i;",
    "conversion": "I i = (I)m; i = (I)m; m = (C)i; H h = (H)m; m = (C)h;",
    "modes": "H h = coop_mat_convert_rtz(m); I i = coop_mat_convert_sat(h); U u = coop_mat_convert_sat(i); m = (C)u;",
    "functions": "m = chosen(chosen(m, n), n + 1); for (int i = 0; i < n; i++) m = twice(m); clear(&m);",
    "structs": "struct pair s = { m, { m, m } }; s = swapped(s, n); m = s.b[n & 1];",
    "arrays": "C a[3]; for (int i = 0; i < 3; i++) a[i] = m; a[n][1] = 2.0f; a[n] = -a[n + 1]; clear(&a[n]); m = a[0];",
    "staged": "m = coop_mat_load_checked(p, ROW, 16ul, 1u, 2u, 7u, 15u);",
    "coordinates": "q[0] = coop_mat_coord(m, 1u).x;",
    "bfloat16": "BC b = (BC)m; b += b; b[1] = (bfloat16)n; m = (C)b; b = coop_mat_convert_rtp(m); q[1] = (float)b[2];",
    "bfloat16_multiply": "BA a = coop_mat_init(1.0f); BB b = coop_mat_init(2.0f); m = coop_mat_mulAdd(a, b, m);",
    "bfloat16_and_short": "BA a = coop_mat_init(1.0f); SA s = coop_mat_init(3); a[0] = (bfloat16)s[0]; *q = a[0];",
    "multiply": "A a = coop_mat_init(1.0h); B b = coop_mat_init(2.0h); m = coop_mat_mulAdd(a, b, m);",
}


def source(body: str) -> str:
    return (
        f"{HEAD}kernel void k(global float *p, global float *q, int n)\n"
        f"{{ C m = coop_mat_load(p, ROW, 16ul); {body} coop_mat_store(p, m, ROW, 16ul); }}"
    )


def native(body: str, *options: str) -> bytes:
    module = coopmat.compile(source(body), ["-w", "--native-profile", "igc", *options])
    spirv = module.spirv
    assert module.validated
    return spirv


def matrix_instructions(module: Module) -> list[Instruction]:
    """Those that give matrices."""
    matrices = {item.result for item in module.instructions if item.opcode == MATRIX}
    return [item for item in module.instructions if item.result_type in matrices]


ALLOWED = {
    *("OpCooperativeMatrixLoadKHR", "OpCooperativeMatrixMulAddKHR", "OpCompositeConstruct", "OpLoad", "OpPhi"),
    *("OpUndef", "OpConstantNull", "OpConstantComposite", "OpCompositeExtract"),
}


def check_form(spirv: bytes) -> None:
    module = Module.parse(spirv)
    definitions = module.definitions()
    assert {item.name for item in matrix_instructions(module)} <= ALLOWED

    def reaches(kind: int) -> bool:
        item = definitions[kind]
        inner = {"OpTypePointer": item.operands[1:], "OpTypeArray": item.operands[:1], "OpTypeStruct": item.operands}
        return item.opcode == MATRIX or any(map(reaches, inner.get(item.name, ())))

    for item in module.instructions:
        if item.opcode == OP["OpFunction"]:
            assert not any(map(reaches, definitions[item.operands[1]].operands))
        if item.opcode == MATRIX:
            assert (
                definitions[item.operands[0]].operands != (16, 0) or definitions[item.operands[0]].name == "OpTypeInt"
            )
        assert item.name != "OpConstantNull" or definitions[item.result_type or 0].name != "OpTypeInt"
    assert validate(standard(spirv), "spv1.4") is None


@pytest.mark.parametrize("name", BODIES)
def test_every_operation_has_the_form(name: str) -> None:
    check_form(native(BODIES[name]))


@pytest.mark.parametrize("name", ["functions", "structs", "arrays", "conversion", "bfloat16"])
def test_without_optimisation_too(name: str) -> None:
    check_form(native(BODIES[name], "-cl-opt-disable"))


@pytest.mark.parametrize("name", [name for name in BODIES if name not in ("staged", "arrays")])
def test_ir_becomes_the_same_form(name: str) -> None:
    ir = coopmat.compile(source(BODIES[name]), ["-w", "--native-profile", "maint1"]).llvm_ir
    module = coopmat.compile(ir, ["--native-profile", "igc"], language="ir", name="k.ll")
    check_form(module.spirv)


@pytest.mark.parametrize("name", BODIES)
def test_foreign_spirv_becomes_the_same_form(name: str) -> None:
    given = coopmat.compile(source(BODIES[name]), ["-w", "--native-profile", "maint1"]).spirv
    module = coopmat.compile(given, ["--native-profile", "igc"], language="spv", name="k.spv")
    check_form(module.spirv)
    assert module.validated and not module.diagnostics


def test_what_has_nothing_to_change_stays_as_it_is() -> None:
    plain = coopmat.compile("kernel void k(global float *p) { p[0] += 1.0f; }", ["--native-profile", "igc"]).spirv
    assert plain == coopmat.compile("kernel void k(global float *p) { p[0] += 1.0f; }").spirv
    given = coopmat.compile(source(BODIES["functions"]), ["-w"]).spirv
    assert legalize_for_consumer(given, KHR) == given
    assert coopmat.compile(given, ["--native-profile", "khr"], language="spv").spirv == given


def test_adapting_twice_changes_nothing() -> None:
    once = native(BODIES["bfloat16_multiply"] + BODIES["functions"])
    assert legalize_for_consumer(once, IGC) == once


def test_the_profile_is_khr_where_nobody_says_and_no_device_is_known() -> None:
    text = coopmat.compile(source(BODIES["add"])).spirv_text
    assert re.search(r"OpFAdd %spirv_CooperativeMatrixKHR", text)


# --- loops over components


def test_an_operation_of_the_same_types_is_written_once_and_inlined() -> None:
    text = disassemble(native("m = m + m; m = m + m;"))
    assert len(re.findall(r"OpFAdd %float", text)) == 2
    assert len(re.findall(r"OpFunction ", text)) == 1
    assert len(re.findall(r"OpCooperativeMatrixLengthKHR", text)) == 2


def test_rounding_and_saturation_are_of_the_components() -> None:
    text = disassemble(native(BODIES["modes"]))
    rounded = re.findall(r"OpDecorate (%\S+) (?:FPRoundingMode RTZ|SaturatedConversion)", text)
    assert len(rounded) == 2
    for name in rounded:
        assert re.search(rf"{re.escape(name)} = Op(?:FConvert|ConvertFToS) %(?:half|uint)", text)


# --- the words of SPV_INTEL_joint_matrix


@pytest.mark.parametrize(
    ("types", "mask"), [("BA BB C", 0x40), ("BA BB BC", 0x1C0), ("A B C", 0)], ids=["float", "bfloat16", "half"]
)
def test_multiply_adds_of_bfloat16_are_told_in_operands(types: str, mask: int) -> None:
    a, b, c = types.split()
    body = f"{a} a = coop_mat_load((global {'bfloat16' if 'B' in a else 'half'} *)p, ROW, 16ul);"
    body += f"{b} b = coop_mat_load((global {'bfloat16' if len(b) > 1 else 'half'} *)p, ROW, 16ul);"
    body += f"{c} c = coop_mat_init(1.0f); c = coop_mat_mulAdd(a, b, c); m = (C)c;"
    module = Module.parse(native(body))
    (product,) = (item for item in module.instructions if item.name == "OpCooperativeMatrixMulAddKHR")
    assert joint_matrix.operands(product) == mask
    capabilities = {item.operands[0] for item in module.instructions if item.name == "OpCapability"}
    assert (joint_matrix.BFLOAT16_COMPONENTS in capabilities) == bool(mask)
    assert "BFloat16" not in disassemble(standard(module.to_bytes()))


def test_coordinates_are_the_vendors_and_standard_again() -> None:
    spirv = native(BODIES["coordinates"])
    names = {item.name for item in Module.parse(spirv).instructions}
    assert "OpCooperativeMatrixGetElementCoordINTEL" in names and "OpCooperativeMatrixGetCoordinateEXT" not in names
    text = disassemble(standard(spirv))
    assert "OpCooperativeMatrixGetCoordinateEXT" in text and "joint_matrix" not in text


def test_the_text_of_such_a_module_says_that_it_is_not_the_module() -> None:
    module = coopmat.compile(source(BODIES["coordinates"]), ["-w", "--native-profile", "igc"])
    assert module.spirv_text.startswith("; The module has instructions of SPV_INTEL_joint_matrix")
    assert not coopmat.compile(source(BODIES["add"]), ["--native-profile", "igc"]).spirv_text.startswith("; The module")


def test_what_has_no_words_is_an_error() -> None:
    body = "BA a = coop_mat_init(1.0f); B b = coop_mat_init(2.0h); m = coop_mat_mulAdd(a, b, m);"
    with pytest.raises(CompileError, match="bfloat16 and another type") as caught:
        native(body)
    assert caught.value.diagnostics[0].code == "native-matrix"


# --- inlining, of what our own front end does not make

FUNCTIONS = """
OpCapability Addresses
OpCapability Kernel
OpCapability CooperativeMatrixKHR
OpCapability Int64
{capabilities}
OpExtension "SPV_KHR_cooperative_matrix"
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k "k"
OpName %f "f"
OpName %x "x"
{decorations}
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%float = OpTypeFloat 32
%0 = OpConstant %uint 0
%1 = OpConstant %uint 1
%2 = OpConstant %uint 2
%3 = OpConstant %uint 3
%8 = OpConstant %uint 8
%16 = OpConstant %ulong 16
%one = OpConstant %float 1
%C = OpTypeCooperativeMatrixKHR %float %3 %8 %8 %2
%ones = OpConstantComposite %C %one
%global = OpTypePointer CrossWorkgroup %float
%private = OpTypePointer Function %C
%kernel = OpTypeFunction %void %global %uint
%function = OpTypeFunction %C %C %uint
%k = OpFunction %void None %kernel
%p = OpFunctionParameter %global
%n = OpFunctionParameter %uint
%entry = OpLabel
%m = OpCooperativeMatrixLoadKHR %C %p %0 %16
%r = OpFunctionCall %C %f %m %n
OpCooperativeMatrixStoreKHR %p %r %0 %16
OpReturn
OpFunctionEnd
%f = OpFunction %C None %function
%x = OpFunctionParameter %C
%i = OpFunctionParameter %uint
%start = OpLabel
{body}
OpFunctionEnd
"""


def adapted(body: str, capabilities: str = "", decorations: str = "") -> str:
    given = assemble(FUNCTIONS.format(body=body, capabilities=capabilities, decorations=decorations), "spv1.4")
    assert validate(given, "spv1.4") is None
    spirv = legalize_for_consumer(given, IGC)
    assert validate(spirv, "spv1.4") is None
    return disassemble(spirv)


def count(text: str, name: str) -> int:
    return len(re.findall(rf"\b{name}\b", text))


def test_a_function_of_one_block_leaves_the_callers_block_whole() -> None:
    text = adapted("OpReturnValue %x")
    assert (count(text, "OpLabel"), count(text, "OpFunction"), count(text, "OpPhi")) == (1, 1, 0)
    assert "OpName %f" not in text and '"x"' not in text


def test_several_returns_meet_in_a_phi_and_an_initialiser_is_a_store() -> None:
    text = adapted(
        "%v = OpVariable %private Function %ones\n%z = OpIEqual %bool %i %0\nOpBranchConditional %z %yes %no\n"
        "%yes = OpLabel\n%l = OpLoad %C %v\nOpReturnValue %l\n%no = OpLabel\nOpReturnValue %x"
    )
    assert (count(text, "OpFunction"), count(text, "OpPhi"), count(text, "OpVariable")) == (1, 1, 1)
    assert re.search(r"OpVariable %\S+ Function$", text, re.MULTILINE) and count(text, "OpStore") == 1


def test_a_function_that_never_returns_gives_nothing() -> None:
    text = adapted("OpBranch %again\n%again = OpLabel\nOpBranch %again")
    assert count(text, "OpFunction") == 1 and count(text, "OpUndef") == 1


def test_a_function_that_calls_itself_stays_one() -> None:
    text = adapted("%y = OpFunctionCall %C %f %x %i\nOpReturnValue %y")
    assert count(text, "OpFunction") == 2 and count(text, "OpFunctionCall") == 2


def test_an_exported_function_stays_beside_its_copies() -> None:
    exported = 'OpDecorate %f LinkageAttributes "f" Export'
    text = adapted("OpReturnValue %x", "OpCapability Linkage", exported)
    assert count(text, "OpFunction") == 2 and count(text, "OpFunctionCall") == 0


def test_decorations_are_each_copys() -> None:
    body = "%y = OpIAdd %uint %i %1\n%z = OpIEqual %bool %y %0\nOpBranchConditional %z %yes %yes\n%yes = OpLabel"
    text = adapted(f"{body}\nOpReturnValue %x", "", "OpDecorate %y NoSignedWrap")
    (name,) = re.findall(r"OpDecorate (%\S+) NoSignedWrap", text)
    assert re.search(rf"{re.escape(name)} = OpIAdd", text)


@pytest.mark.parametrize("name", ["OpMatrixTimesScalar", "OpBitcast"])
def test_instructions_that_our_own_modules_do_not_have(name: str) -> None:
    if name == "OpBitcast":
        text = adapted("%y = OpBitcast %C %x\nOpReturnValue %y")
        assert re.search(r"OpBitcast %float", text)
        return
    given = assemble(
        FUNCTIONS.format(
            body=f"%y = {name} %C %x %one\nOpReturnValue %y", capabilities="OpCapability Matrix", decorations=""
        ),
        "spv1.4",
    )
    assert re.search(r"OpFMul %float", disassemble(legalize_for_consumer(given, IGC)))


def test_every_choice_of_the_option_is_a_row() -> None:
    assert list(NATIVE_PROFILES) == ["khr", "maint1", "vulkan", "vulkan-nv2", "vulkan-mesa", "igc"]
    assert KHR.takes_all and not IGC.takes_all
