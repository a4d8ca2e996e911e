"""Records are laid out by LLVM as `frontend.types` says they are."""

from __future__ import annotations

import llvmlite.binding as llvm
from hypothesis import given, settings, strategies as st
from llvmlite import ir

from coopmat.diagnostics import Span
from coopmat.frontend.types import (
    BOOL,
    FLOATS,
    INTEGERS,
    VECTOR_SIZES,
    AddressSpace,
    ArrayType,
    Field,
    PointerType,
    Qualifiers,
    RecordType,
    Type,
    VectorType,
    size_of,
)
from coopmat.ir.lower.native_matrices import NativeMatrixTypes
from coopmat.ir.type_map import TypeMap
from coopmat.spirv.emit import EmitOptions

HERE = Span("<test>", 1, 1, 1, 1)
LAYOUT = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64-G1"
SCALARS = st.sampled_from([BOOL, *INTEGERS, *FLOATS])
VECTORS = st.builds(VectorType, st.sampled_from([*INTEGERS, *FLOATS]), st.sampled_from(VECTOR_SIZES))
POINTERS = st.builds(lambda t, space: PointerType(t, Qualifiers(space)), SCALARS, st.sampled_from(AddressSpace))


def record(kind: str, members: list[Type], packed: bool, alignment: int | None) -> RecordType:
    result = RecordType(kind, None, HERE, packed=packed, alignment=alignment)
    result.complete([Field(f"m{n}", t, Qualifiers(), HERE) for n, t in enumerate(members)])
    return result


def types() -> st.SearchStrategy[Type]:
    def inside(children: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
        arrays = st.builds(ArrayType, children, st.integers(1, 3))
        alignments = st.sampled_from([None, None, 8, 64])
        kinds = st.sampled_from(["struct", "struct", "union"])
        members = st.lists(children, min_size=1, max_size=4)
        return st.one_of(arrays, st.builds(record, kinds, members, st.booleans(), alignments))

    return st.recursive(st.one_of(SCALARS, VECTORS, POINTERS), inside, max_leaves=8)


@settings(max_examples=150)
@given(st.lists(types(), min_size=1, max_size=4), st.booleans(), st.sampled_from([None, 32]))
def test_layout(members: list[Type], packed: bool, alignment: int | None) -> None:
    struct = record("struct", members, packed, alignment)
    context = ir.Context()
    mapped = TypeMap(context, NativeMatrixTypes())
    module = ir.Module(context=context)
    ir.GlobalVariable(module, mapped.of(struct), "it")
    module.data_layout = LAYOUT
    with llvm.parse_assembly(str(module)) as parsed:
        data = llvm.create_target_data(LAYOUT)
        value_type = parsed.get_global_variable("it").global_value_type
        assert data.get_abi_size(value_type) == struct.size_bytes
        for index, item in enumerate(struct.fields or ()):
            at = mapped.field_index(struct, index)
            assert data.get_element_offset(value_type, at) == item.offset
    assert mapped.of(struct) is mapped.of(struct)


def test_layout_is_the_backends() -> None:
    import subprocess
    import sys

    triple = EmitOptions().triple
    script = (
        "import llvmlite.binding as b; b.initialize_all_targets(); "
        f"print(b.Target.from_triple({triple!r}).create_target_machine().target_data)"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()
    assert told == LAYOUT


def test_names_of_records_are_kept_apart() -> None:
    mapped = TypeMap(ir.Context(), NativeMatrixTypes())
    first, second = (RecordType("struct", "S", HERE) for _ in range(2))
    first.complete([Field("a", INTEGERS[0], Qualifiers(), HERE)])
    second.complete([Field("a", INTEGERS[4], Qualifiers(), HERE)])
    assert str(mapped.of(first)) != str(mapped.of(second))
    assert size_of(first) == 1
