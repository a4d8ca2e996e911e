"""Small modules in assembly, and what the lowering makes of each or says of it."""

from __future__ import annotations

import numpy as np
import pytest
from third_party.execution import leftovers
from valid_modules import assert_valid

import coopmat
from coopmat.devices import DeviceInfo, opencl
from coopmat.matrices.numpy_reference import Array
from coopmat.spirv.module import Module
from coopmat.spirv.tools import validate

HEAD = """
OpCapability Kernel
OpCapability Addresses
OpCapability CooperativeMatrixKHR
OpCapability Int64
{capabilities}
OpExtension "SPV_KHR_cooperative_matrix"
{extensions}
OpMemoryModel Physical64 OpenCL
{entries}
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%float = OpTypeFloat 32
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%two = OpConstant %uint 2
%scope = OpConstant %uint 3
%four = OpConstant %uint 4
%eight = OpConstant %uint 8
%one_f = OpConstant %float 1
%C = OpTypeCooperativeMatrixKHR %float %scope %four %eight %two
%global = OpTypePointer CrossWorkgroup %float
%place = OpTypePointer Function %C
%kernel_type = OpTypeFunction %void %global
%ones = OpConstantComposite %C %one_f
"""
ENTRY = 'OpEntryPoint Kernel %k "k"'
KERNEL = """
%k = OpFunction %void None %kernel_type
%p = OpFunctionParameter %global
%entry = OpLabel
%m = OpCooperativeMatrixLoadKHR %C %p %zero %eight
"""
END = """
OpReturn
OpFunctionEnd
"""
STORE = "OpCooperativeMatrixStoreKHR %p %result %zero %eight"


def text(*body: str, entries: str = ENTRY, capabilities: str = "", extensions: str = "") -> str:
    return HEAD.format(entries=entries, capabilities=capabilities, extensions=extensions) + "\n".join(body)


def kernel(*body: str, before: str = "", **head: str) -> str:
    return text(before, KERNEL, *body, STORE, END, **head)


def lowered(source: str, *options: str) -> coopmat.Module:
    module = coopmat.compile(source, ["--matrices", *(options or ("lanes",))], language="spv", name="t.spvasm")
    assert not list(leftovers(module.spirv))
    return module


def names(spirv: bytes) -> list[str]:
    return [item.name for item in Module.parse(spirv).instructions]


def run(device: DeviceInfo, module: coopmat.Module, before: Array, kernel: str = "k") -> Array:
    cl = opencl()
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    program = cl.Program(context, module.spirv).build(cache_dir=False)
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=before)
    size = module.kernels[kernel].sub_group_size
    getattr(program, kernel)(queue, (size,), (size,), buffer)
    result = np.empty_like(before)
    cl.enqueue_copy(queue, result, buffer)
    return result


X = np.arange(32, dtype=np.float32)
# Values through what other modules seldom have, and what is stored then.
VALUES = {
    "select": ("", "%yes = OpConstantTrue %bool\n", "%result = OpSelect %C %yes %ones %m", None),
    "phi of a record": (
        "",
        "%record = OpTypeStruct %uint %C\n%null = OpConstantNull %record\n%true = OpConstantTrue %bool\n",
        """%full = OpCompositeConstruct %record %four %m
OpBranchConditional %true %yes %no
%yes = OpLabel
OpBranch %end
%no = OpLabel
OpBranch %end
%end = OpLabel
%chosen = OpPhi %record %full %yes %null %no
%result = OpCompositeExtract %C %chosen 1""",
        X,
    ),
    "undefined, then whole": (
        "",
        "%pair = OpTypeArray %C %two\n%nothing = OpUndef %pair\n",
        "%l = OpCompositeInsert %pair %m %nothing 1\n%result = OpCompositeExtract %C %l 1",
        X,
    ),
    "a component of a loaded array": (
        "",
        "%pair = OpTypeArray %C %two\n%null = OpConstantNull %pair\n",
        """%l = OpCompositeInsert %pair %m %null 0
%c = OpCompositeExtract %float %l 0 0
%d = OpFAdd %float %c %one_f
%n = OpCompositeInsert %pair %d %l 0 0
%e = OpCompositeInsert %pair %c %n 0 0
%result = OpCompositeExtract %C %e 0""",
        X,
    ),
    "a variable that starts as a constant": (
        "",
        "%function_pair = OpTypeArray %C %two\n%pairs = OpTypePointer Function %function_pair\n"
        "%both = OpConstantComposite %function_pair %ones %ones\n",
        "%at = OpInBoundsAccessChain %place %v %one\n%result = OpLoad %C %at",
        np.ones_like(X),
    ),
}


@pytest.mark.parametrize("name", [name for name in VALUES if name != "select"])
@pytest.mark.parametrize("route", [("one",), ("lanes", "--sub-group-size", "8"), ("scratch", "--sub-group-size", "4")])
def test_values(device: DeviceInfo, route: tuple[str, ...], name: str) -> None:
    _, before, body, expected = VALUES[name]
    source = kernel(body, before=before)
    if "%v " in body:
        source = source.replace("%entry = OpLabel\n", "%entry = OpLabel\n%v = OpVariable %pairs Function %both\n")
    assert np.array_equal(run(device, lowered(source, *route), X), expected)


def test_a_select_is_refused_by_spirv_val_and_lowered_without() -> None:
    source = kernel(VALUES["select"][2], before=VALUES["select"][1])
    with pytest.raises(coopmat.CompileError, match="spirv-invalid"):
        lowered(source)
    module = lowered(source, "one", "--no-validate")
    assert validate(module.spirv, "spv1.6") is None


def test_kernels_of_several_subgroup_sizes_get_functions_of_their_own(device: DeviceInfo) -> None:
    double = """
%type = OpTypeFunction %C %C
%twice = OpFunction %C None %type
%x = OpFunctionParameter %C
%start = OpLabel
%sum = OpFAdd %C %x %x
OpReturnValue %sum
OpFunctionEnd
"""
    body = f"%result = OpFunctionCall %C %twice %m\n{STORE}\n{END}"
    other = (KERNEL + body).replace("%k ", "%other ")
    for name in ("p", "entry", "m", "result"):
        other = other.replace(f"%{name} ", f"%{name}_2 ").replace(f"%{name}\n", f"%{name}_2\n")
    entries = (
        'OpEntryPoint Kernel %k "k"\nOpEntryPoint Kernel %other "other"\n'
        "OpExecutionMode %k SubgroupSize 8\nOpExecutionMode %other SubgroupSize 16"
    )
    source = text(double, KERNEL, body, other, entries=entries, capabilities="OpCapability SubgroupDispatch")
    module = lowered(source)
    assert {name: kernel.sub_group_size for name, kernel in module.kernels.items()} == {"k": 8, "other": 16}
    for name in ("k", "other"):
        assert np.array_equal(run(device, module, X, name), 2 * X)
    with pytest.raises(coopmat.CompileError, match="asks for subgroups of 16"):
        lowered(source, "lanes", "--sub-group-size", "8")
    # A subgroup of one needs no size, and says so.
    one = lowered(source, "one")
    assert "SubgroupSize" not in one.spirv_text
    assert [found.code for found in one.diagnostics] == ["sub-group-size"] * 2


def test_sizes_are_stated_where_they_matter() -> None:
    source = kernel("%result = OpFAdd %C %m %m")
    text_ = lowered(source).spirv_text
    assert "OpExecutionMode %1 SubgroupSize 16" in text_ and "OpCapability SubgroupDispatch" in text_
    scratch = lowered(source, "scratch")
    assert "Subgroup" not in scratch.spirv_text
    assert scratch.kernels["k"].sub_group_size == 16 and scratch.kernels["k"].max_work_items == 256


def test_an_id_is_not_taken_for_a_letter_of_the_kernel_s_name() -> None:
    """The name k is encoded as 107, which is some variable's id for one of these."""
    for padding in range(56, 76):
        more = "\n".join(f"%more{n} = OpConstant %uint {100 + n}" for n in range(padding))
        source = kernel("%result = OpFAdd %C %m %m", before=more)
        assert_valid(lowered(source, "scratch"))


def test_a_kernel_may_have_two_names() -> None:
    entries = 'OpEntryPoint Kernel %k "k"\nOpEntryPoint Kernel %k "other"'
    module = lowered(kernel("%result = OpFAdd %C %m %m", entries=entries))
    assert {name: info.sub_group_size for name, info in module.kernels.items()} == {"k": 16, "other": 16}
    assert module.spirv_text.count("OpExecutionMode") == 1


def test_only_what_is_needed_comes_along() -> None:
    text_ = lowered(kernel("%result = OpFAdd %C %m %m")).spirv_text
    for absent in ("Float64", "Float16", "Vector16", "GenericPointer", "Linkage", "OpCapability Groups"):
        assert absent not in text_
    assert text_.count("OpFunction ") == 4  # the kernel, load, add, store


def test_names_stay_with_what_is_left_of_values() -> None:
    entries = 'OpEntryPoint Kernel %k "k"\nOpName %k "k"\nOpName %m "matrix"\nOpName %ones "ones"'
    text_ = lowered(kernel("%result = OpFAdd %C %m %ones", entries=entries)).spirv_text
    assert '"matrix"' in text_ and '"ones"' not in text_


@pytest.mark.parametrize("route", [("one",), ("lanes", "--sub-group-size", "8")])
def test_packed_layouts(device: DeviceInfo, route: tuple[str, ...]) -> None:
    """Of floats one lies in a pack: packed is by rows then, packed A by columns."""
    for layout, order in (("two", "C"), ("three", "F")):
        source = kernel("%result = OpFAdd %C %m %m", before="%three = OpConstant %uint 3")
        source = source.replace(
            STORE, f"OpCooperativeMatrixStoreKHR %p %result %{layout} %{'eight' if order == 'C' else 'four'}"
        )
        assert np.array_equal(run(device, lowered(source, *route), X), 2 * X.reshape(4, 8).ravel(order))


@pytest.mark.parametrize("route", [("one",), ("lanes", "--sub-group-size", "8"), ("scratch",)])
def test_matrices_of_work_groups(device: DeviceInfo, route: tuple[str, ...]) -> None:
    """All work-items hold a part, whatever the subgroups; the kernel must say how many there are."""
    of_work_group = kernel("%result = OpFAdd %C %m %m").replace(
        "%scope = OpConstant %uint 3", "%scope = OpConstant %uint 2"
    )
    source = of_work_group.replace(ENTRY, f"{ENTRY}\nOpExecutionMode %k LocalSize 4 3 1")
    module = lowered(source, *route)
    (info,) = module.kernels.values()
    assert info.uses_matrices and info.reqd_work_group_size == (4, 3, 1)
    cl = opencl()
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    program = cl.Program(context, module.spirv).build(cache_dir=False)
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=X)
    program.k(queue, (4, 3), (4, 3), buffer)
    result = np.empty_like(X)
    cl.enqueue_copy(queue, result, buffer)
    assert np.array_equal(result, 2 * X)
    with pytest.raises(coopmat.CompileError, match="does not say how large its work-groups are"):
        lowered(of_work_group, *route, "--no-validate")


def test_specialisation_constants_keep_their_defaults() -> None:
    source = kernel("%result = OpFAdd %C %m %m").replace("%four = OpConstant ", "%four = OpSpecConstant ")
    source = source.replace("%void = OpTypeVoid", "OpDecorate %four SpecId 0\n%void = OpTypeVoid", 1)
    module = coopmat.compile(source, ["--matrices", "one"], language="spv", name="t.spvasm")
    (found,) = module.diagnostics
    assert found.code == "spirv-specialisation" and "SpecId 0" in found.message


BFLOAT16 = """
%bf = OpTypeFloat 16 BFloat16KHR
%B = OpTypeCooperativeMatrixKHR %bf %scope %four %eight %two
%short = OpTypeInt 16 0
%half_bits = OpConstant %short 0x3f00
%v2 = OpTypeVector %bf 2
%f2 = OpTypeVector %float 2
%half = OpConstant %bf 0.5
"""


@pytest.mark.parametrize("route", [("one",), ("lanes", "--sub-group-size", "8")])
def test_bfloat16_outside_of_matrices(device: DeviceInfo, route: tuple[str, ...]) -> None:
    body = """
%wide = OpLoad %float %p Aligned 4
%narrow = OpFConvert %bf %wide
%pair = OpCompositeConstruct %v2 %narrow %half
%wider = OpFConvert %f2 %pair
%x = OpCompositeExtract %float %wider 0
%y = OpCompositeExtract %float %wider 1
%sum = OpFAdd %float %x %y
%again = OpFConvert %bf %sum
%bits = OpBitcast %short %again
%same = OpBitcast %bf %bits
%filled = OpCompositeConstruct %B %same
%result = OpFConvert %C %filled
"""
    head = {
        "capabilities": "OpCapability Int16\nOpCapability BFloat16TypeKHR\nOpCapability BFloat16CooperativeMatrixKHR",
        "extensions": 'OpExtension "SPV_KHR_bfloat16"',
    }
    module = lowered(kernel(body, before=BFLOAT16, **head), *route)
    assert "BFloat16" not in module.spirv_text and "bfloat16" not in module.spirv_text
    before = X.copy()
    before[0] = 1.0 + 2.0**-8 + 2.0**-10  # rounds up to 1 + 2^-7, and with a half to what is exact
    assert np.array_equal(run(device, module, before), np.full_like(X, 1.5 + 2.0**-7))


def test_views_of_a_matrix_s_memory_are_for_nothing_but_lifetimes(device: DeviceInfo) -> None:
    before = "%char = OpTypeInt 8 0\n%bytes = OpTypePointer Function %char"
    body = """
%view = OpBitcast %bytes %v
OpLifetimeStart %view 4
OpStore %v %m
%back = OpBitcast %place %view
%result = OpLoad %C %back
OpLifetimeStop %view 4
"""
    source = kernel(body, before=before, capabilities="OpCapability Int8")
    source = source.replace("%entry = OpLabel\n", "%entry = OpLabel\n%v = OpVariable %place Function\n")
    module = lowered(source)
    assert not [name for name in names(module.spirv) if "Lifetime" in name]
    assert np.array_equal(run(device, module, X), X)
    with pytest.raises(coopmat.CompileError, match=r"OpLoad %\d+: accessing the memory of a matrix as another type"):
        lowered(source.replace("OpLifetimeStop %view 4", "%byte = OpLoad %char %view Aligned 1"))


REFUSED = {
    "a scope": ("%scope = OpConstant %uint 3", "%scope = OpConstant %uint 1", "scope 1"),
    "a memory model": ("Physical64 OpenCL", "Physical32 OpenCL", "Physical64"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_lowering_is_named(name: str) -> None:
    old, new, said = REFUSED[name]
    with pytest.raises(coopmat.CompileError, match=said) as caught:
        lowered(kernel("%result = OpFAdd %C %m %m").replace(old, new), "lanes", "--no-validate")
    assert caught.value.diagnostics[0].code == "spirv-not-supported"


def test_a_reduction_of_a_matrix_is_refused_by_name() -> None:
    source = kernel("%result = OpCooperativeMatrixTransposeNV %C %m")
    with pytest.raises(coopmat.CompileError, match="OpCooperativeMatrixTransposeNV") as caught:
        coopmat.compile(source, ["--matrices", "one", "--no-validate"], language="spv")
    assert caught.value.diagnostics[0].code == "spirv-not-supported"


def test_native_modules_are_looked_at() -> None:
    module = coopmat.compile(kernel("%result = OpFAdd %C %m %m"), language="spv", name="t.spvasm")
    (found,) = module.diagnostics
    assert found.code == "spirv-matrices" and "stride is not a 64-bit integer" in found.message
    assert module.validated and module.spirv


def test_what_the_device_lacks_is_told() -> None:
    source = kernel("%result = OpFAdd %C %m %m")
    have = ["--matrix-variants", "4x8x16.f16xf16_f32_f32.nosat"]
    assert coopmat.compile(source, ["-w", *have], language="spv").spirv
    with pytest.raises(coopmat.CompileError, match=r"does not support the matrix type 4x8\.C\.f32") as caught:
        coopmat.compile(source, ["-w", "--matrix-variants", "8x8x16.f16xf16_f32_f32.nosat"], language="spv")
    assert [d.code for d in caught.value.diagnostics] == ["coop-mat-target-type"]
    product = kernel(
        "%result = OpCooperativeMatrixMulAddKHR %C %a %b %m",
        before="%A = OpTypeCooperativeMatrixKHR %float %scope %four %four %zero\n"
        "%B = OpTypeCooperativeMatrixKHR %float %scope %four %eight %one\n"
        "%a = OpConstantNull %A\n%b = OpConstantNull %B",
    )
    options = ["-w", "--matrix-variants", "4x8x4.f32xf32_f32_f32.nosat"]
    assert coopmat.compile(product, options, language="spv").spirv
    options[-1] += " 4x8x8.f32xf32_f32_f32.nosat"
    options[-1] = options[-1].replace("4x8x4.f32xf32_f32", "4x8x4.f32xf32_f64") + " 4x4x4.f32xf32_f32_f32.nosat"
    with pytest.raises(coopmat.CompileError, match="multiply-add 4x8x4"):
        coopmat.compile(product, options, language="spv")
    assert coopmat.compile(product, [*options, "--matrices", "one"], language="spv").spirv


def test_text_and_stages() -> None:
    source = kernel("%result = OpFAdd %C %m %m")
    module = coopmat.compile(source, language="spv", name="t.spvasm")
    assert "OpTypeCooperativeMatrixKHR" in module.spirv_text and module.kernels["k"].uses_matrices
    for stage in ("llvm_ir", "ast", "typed_ast", "preprocessed"):
        with pytest.raises(coopmat.CompileError, match="no-such-stage"):
            getattr(module, stage)
    with pytest.raises(coopmat.CompileError, match="spirv-invalid"):
        coopmat.compile("%result = OpNonsense", language="spv")
