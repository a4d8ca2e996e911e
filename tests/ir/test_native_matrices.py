"""Native matrices: what becomes of accesses and conversions that are more than one plain instruction."""

from __future__ import annotations

import re

import pytest

from coopmat.compiler import Module, compile
from coopmat.diagnostics import CompileError

HEAD = "#define MATRIX(T, NAME, USE) " + (
    "typedef T NAME __attribute__((coop_mat(memory_scope_sub_group, 16, 16, CLK_COOPERATIVE_MATRIX_##USE)));\n"
)
TYPES = {
    "half": "H",
    "float": "F",
    "double": "D",
    **{t: t.upper() for signed in ("char", "short", "int", "long") for t in (signed, f"u{signed}")},
}
HEAD += "".join(f"MATRIX({t}, {name}, ACCUMULATOR)\n" for t, name in TYPES.items()) + "MATRIX(char, B, B)\n"


def module(
    body: str, *options: str, parameters: str = "global float *p, global float *q", attributes: str = ""
) -> Module:
    return compile(f"{HEAD}kernel {attributes} void k({parameters}) {{ {body} }}", list(options))


def valid(made: Module) -> str:
    text = made.spirv_text
    assert made.validated
    return text


def lines(text: str, *words: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if all(word in line for word in words)]


def room(text: str) -> int:
    """Components of the staged tiles."""
    (variable,) = lines(text, "OpVariable", "%coop_mat_tiles")
    return int(re.search(r"_uint_(\d+) Workgroup", variable)[1])  # type: ignore[index]


def test_volatile_pointers_are_volatile_accesses() -> None:
    text = valid(
        module(
            "F m = coop_mat_load(p, 0, 16ul); coop_mat_store(q, m, 0, 16ul); m = coop_mat_load(q, 1, 16ul);"
            "coop_mat_store(q, m, 1, 16ul);",
            parameters="volatile global float *p, global float *q",
        )
    )
    assert [line.endswith(" Volatile") for line in lines(text, "OpCooperativeMatrixLoadKHR")] == [True, False]
    assert not lines(text, "OpCooperativeMatrixStoreKHR", "Volatile")


def test_accesses_are_aligned_as_the_device_wants_it() -> None:
    body = "local float t[512]; F m = coop_mat_load(p, 0, 16ul); coop_mat_store(t, m, 1, 16ul); "
    body += "m = coop_mat_load_checked(q, 0, 16ul, 1, 1, 64, 64); D d = coop_mat_load((global double *)q, 0, 16ul);"
    parameters = "volatile global float *p, global float *q"
    options = ["--matrix-pointer-alignment", "4", "--matrix-stride-multiple", "64"]
    for wanted, local in ((["4", "8"], "4"), (["64"], "64")):
        options[1] = wanted[-1] if wanted == ["64"] else "4"
        text = valid(module(body, *options, parameters=parameters))
        accesses = lines(text, "OpCooperativeMatrixLoadKHR") + lines(text, "OpCooperativeMatrixStoreKHR")
        assert len(accesses) == 5
        assert {line.partition("Aligned ")[2] for line in accesses} == set(wanted)
        assert lines(text, "OpCooperativeMatrixLoadKHR", "Volatile|Aligned")
        assert lines(text, "OpDecorate %k_t Alignment")[0].endswith(f" {local}")
    assert "Aligned" not in "".join(lines(valid(module(body, parameters=parameters)), "CooperativeMatrix"))


def test_checked_accesses_branch_to_the_instruction_or_a_staged_tile() -> None:
    text = valid(
        module(
            "F m = coop_mat_load_checked(p, 0, 64ul, 3u, 5u, 60u, 60u);"
            "coop_mat_store_checked(q, m, 1, 64ul, 3u, 5u, 60u, 60u);"
        )
    )
    loads, stores = lines(text, "OpCooperativeMatrixLoadKHR"), lines(text, "OpCooperativeMatrixStoreKHR")
    # One through local memory, row after row, and one through the pointer.
    assert len(loads) == len(stores) == 2
    assert sum("%ulong_16" in line for line in loads) == sum("%ulong_16" in line for line in stores) == 1
    # Two barriers of the subgroup around each tile's filling.
    assert len(lines(text, "OpControlBarrier %uint_3 %uint_3")) == 4
    assert len(lines(text, "OpBranchConditional")) >= 6
    assert not lines(text, "OpSelect", "spirv_CooperativeMatrixKHR")
    assert room(text) == 256 * 16


@pytest.mark.parametrize(
    ("attributes", "options", "sub_groups"),
    [
        ("__attribute__((reqd_work_group_size(64, 1, 1))) __attribute__((intel_reqd_sub_group_size(16)))", (), 4),
        ("__attribute__((reqd_work_group_size(20, 2, 1))) __attribute__((intel_reqd_sub_group_size(16)))", (), 3),
        ("__attribute__((reqd_work_group_size(64, 1, 1)))", ("--sub-group-size", "32"), 2),
        ("__attribute__((reqd_work_group_size(64, 1, 1)))", (), 8),
        ("", (), 16),
    ],
)
def test_there_is_a_tile_for_each_subgroup(attributes: str, options: tuple[str, ...], sub_groups: int) -> None:
    made = module("F m = coop_mat_load_checked(p, 0, 64ul, 3u, 5u, 60u, 60u);", *options, attributes=attributes)
    assert room(valid(made)) == 256 * sub_groups


def test_the_host_is_told_for_how_many_work_items_there_are_tiles() -> None:
    checked, plain = "F m = coop_mat_load_checked(p, 0, 64ul, 3u, 5u, 60u, 60u);", "F m = coop_mat_load(p, 0, 64ul);"
    size = "__attribute__((intel_reqd_sub_group_size(32)))"
    for body, attributes, most in ((checked, size, 16 * 32), (plain, size, None), (checked, "", None)):
        assert module(body, attributes=attributes).kernels["k"].max_work_items == most


def test_accesses_that_are_alike_share_a_function_and_a_tile() -> None:
    text = valid(
        module(
            "F m = coop_mat_load_checked(p, 0, 64ul, 3u, 5u, 60u, 60u);"
            "F n = coop_mat_load_checked(q, 0, 9ul, 0u, 0u, 9u, 9u);"
            "m += (F)coop_mat_load_checked(q, 1, 9ul, 0u, 0u, 9u, 9u);"
        )
    )
    assert room(text) == 256 * 16
    assert len(lines(text, "OpFunction ", "%coop_mat_load")) == 2
    assert len(lines(text, "OpFunctionCall", "%coop_mat_load")) == 3


@pytest.mark.parametrize("space", ["global", "local", "constant"])
def test_packed_tiles_are_staged(space: str) -> None:
    """Only a vendor's extension has the layout, and spirv-val does not know that."""
    made = module("B m = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED, 64ul);", parameters=f"{space} char *p")
    text = valid(made)
    assert lines(text, "OpCooperativeMatrixLoadKHR") == [
        line for line in lines(text, "OpCooperativeMatrixLoadKHR") if "%ulong_16" in line
    ]
    assert room(text) == 256 * 16


def test_private_memory_is_staged() -> None:
    text = valid(
        module(
            "float a[300]; for (int i = 0; i < 300; ++i) a[i] = p[i]; F m = coop_mat_load(a + 3, 0, 16ul);"
            "float4 b[64]; coop_mat_store(b, m, 1, 4ul); q[0] = b[3].y;"
        )
    )
    assert len(lines(text, "OpCooperativeMatrixLoadKHR")) == len(lines(text, "OpCooperativeMatrixStoreKHR")) == 1
    # Each work-item stores all of the matrix to its own memory, whatever its place in the subgroup.
    store = text[text.index("%coop_mat_store") :]
    assert len(lines(store, "OpLoad", "SubgroupLocalInvocationId")) == 1


@pytest.mark.parametrize(
    ("source", "target", "how", "found"),
    [
        ("float", "int", "_sat_rtp", ["SaturatedConversion", "FPRoundingMode RTP", "OpConvertFToS"]),
        ("float", "uchar", "_sat", ["SaturatedConversion", "OpConvertFToU"]),
        ("double", "float", "_rtn", ["FPRoundingMode RTN", "OpFConvert"]),
        ("float", "half", "_rte", ["FPRoundingMode RTE", "OpFConvert"]),
        ("int", "float", "_rtz", ["FPRoundingMode RTZ", "OpConvertSToF"]),
        ("ulong", "half", "_rtp", ["FPRoundingMode RTP", "OpConvertUToF"]),
        ("int", "char", "_sat", ["SaturatedConversion", "OpSConvert"]),
        ("ulong", "uint", "_sat", ["SaturatedConversion", "OpUConvert"]),
        ("char", "int", "_sat", ["OpSConvert"]),
        ("half", "float", "", ["OpFConvert"]),
        ("int", "uint", "", []),
    ],
)
def test_conversions(source: str, target: str, how: str, found: list[str]) -> None:
    text = valid(module(f"{TYPES[source]} m = coop_mat_init(0); {TYPES[target]} n = coop_mat_convert{how}(m);"))
    pattern = r"SaturatedConversion|FPRoundingMode \w+|Op[SUF]?Convert\w*(?= %spirv_CooperativeMatrixKHR)"
    assert re.findall(pattern, text) == found


@pytest.mark.parametrize(
    ("source", "target", "least", "most"),
    [
        ("int", "uchar", 0, 255),
        ("uint", "int", 0, 2**31 - 1),
        ("long", "ulong", 0, 2**63 - 1),
        ("char", "ulong", 0, 127),
    ],
)
def test_saturation_to_another_sign_clamps_each_component_first(
    source: str, target: str, least: int, most: int
) -> None:
    text = valid(module(f"{TYPES[source]} m = coop_mat_init(0); {TYPES[target]} n = coop_mat_convert_sat(m);"))
    (clamp,) = lines(text, "_clamp ")
    for operand, value in zip(clamp.split()[-2:], (least, most), strict=True):
        (definition,) = (line for line in lines(text, "OpConstant") if line.startswith(f"{operand} ="))
        assert definition.split()[-1] == str(value)


def test_an_integer_zero_is_no_null_constant() -> None:
    """A shipping GPU compiler dies of a null for a use, a layout, a stride or an index."""
    body = "F m = coop_mat_load(p, 0, 0ul); m[0] += 1.0f; F pair[2] = { m, m }; pair[(int)q[0]][0] = m[0];"
    text = valid(module(body + " coop_mat_store(p, pair[0], 0, 16ul);"))
    integers = {line.split()[0] for line in lines(text, "OpTypeInt")}
    nulls = [line for line in lines(text, "OpConstantNull") if line.split()[-1] in integers]
    assert not nulls and lines(text, "%uint_0 = OpConstant %uint 0")


def test_coordinates() -> None:
    body = "F m = coop_mat_init(0); uint2 x = coop_mat_coord(m, 3u); q[0] = x.x + x.y;"
    text = valid(module(body, "--native-profile", "maint1"))
    assert lines(text, 'OpExtension "SPV_EXT_cooperative_matrix_maintenance1"')
    assert lines(text, "OpCapability CooperativeMatrixGetCoordinateEXT")
    assert len(lines(text, "OpCooperativeMatrixGetCoordinateEXT %v2uint")) == 1
    for options in (["--native-profile", "maint1", "--spirv-version", "1.2"], []):
        with pytest.raises(CompileError) as refused:
            _ = module(body, *options).spirv
        (error,) = refused.value.diagnostics
        assert error.code == "native-matrix" and "--matrices one and --matrices lanes" in error.notes[-1].message


def test_generic_pointers_are_refused() -> None:
    with pytest.raises(CompileError) as refused:
        _ = module("float *g = p; F m = coop_mat_load(g, 0, 16ul);").spirv
    (error,) = refused.value.diagnostics
    assert error.code == "native-matrix" and error.span is not None and "address space" in error.notes[0].message


def test_bfloat16_computes_as_float() -> None:
    matrix = "__attribute__((coop_mat(memory_scope_sub_group, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));"
    source = f"""typedef bfloat16 W {matrix}\ntypedef half H {matrix}
    kernel void k(global bfloat16 *p, global bfloat16 *q) {{
        W m = coop_mat_load(p + 16, 0, 16ul); W n = m * m; n = -n; n = n * 2.0f; H h = (H)n;
        coop_mat_store(q, n, 1, 16ul);
    }}"""
    text = valid(compile(source))
    assert lines(text, "OpCapability BFloat16CooperativeMatrixKHR")
    # To float and back for each operation, and by way of float to half, which is as wide.
    assert len(lines(text, "OpFConvert")) == (2 + 1) + (1 + 1) + (2 + 1) + 2
    assert len(lines(text, "OpFMul")) == 2 and len(lines(text, "OpFNegate")) == 1
    # The stride counts what the pointer is to: two bytes.
    ushort = r"OpBitcast %_ptr_CrossWorkgroup_ushort|OpFunctionParameter %_ptr_CrossWorkgroup_ushort"
    pointers = {
        line.split("Load")[-1].split()[2] if "Load" in line else line.split()[1]
        for line in lines(text, "OpCooperativeMatrix")
        if "LoadKHR" in line or "StoreKHR" in line
    }
    assert len(pointers) == 2
    for pointer in pointers:
        assert re.search(rf"{pointer} = ({ushort})", text)


@pytest.mark.parametrize(
    "body", ["f = exp(f);", "f = fmax(f, 1.0f);", "U u = coop_mat_convert_sat(i); q = (global float *)q;"]
)
def test_loops_over_components_of_a_work_groups_matrices(body: str) -> None:
    """Builtins and clamps have functions of their own, whose types have the scope of what they are called with."""
    names = {"F": "float", "I": "int", "U": "uint"}
    matrix = "coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_WORKGROUP, 8, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)"
    types = "".join(f"typedef {t} {name} __attribute__(({matrix}));\n" for name, t in names.items())
    work = f"F f = coop_mat_init(0); I i = coop_mat_init(1); {body} coop_mat_store(q, f, 0, 16ul);"
    source = f"{types}kernel __attribute__((reqd_work_group_size(32, 1, 1))) void k(global float *q) {{ {work} }}"
    text = valid(compile(source, ["-w"]))
    assert lines(text, "OpCooperativeMatrixLengthKHR") and len(lines(text, "OpTypeCooperativeMatrixKHR")) >= 1
