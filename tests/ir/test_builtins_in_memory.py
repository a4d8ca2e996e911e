"""Builtins that touch memory or other work-items, as lowered, on an OpenCL device."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from builtin_device import (
    ITEMS,
    NUMPY,
    ROUND,
    Array,
    Device,
    element_address,
    kernel_function,
    overload,
    random_values,
    rounded,
    work_item,
)
from builtin_modules import new_module
from llvmlite import ir

from coopmat.devices import DeviceInfo
from coopmat.frontend.builtins import Overload
from coopmat.frontend.types import (
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    SIZE_T,
    UINT,
    ULONG,
    AddressSpace,
    PointerType,
    Qualifiers,
    ScalarType,
    Type,
    align_of,
    element_count,
    with_count,
)
from coopmat.ir.type_map import I32, I64
from coopmat.spirv.emit import emit


def load(name: str, element: ScalarType, space: AddressSpace = AddressSpace.GLOBAL) -> Overload:
    return overload(name, SIZE_T, PointerType(element, Qualifiers(space, const=True)))


def store(name: str, data: Type, element: ScalarType, space: AddressSpace = AddressSpace.GLOBAL) -> Overload:
    return overload(name, data, SIZE_T, PointerType(element, Qualifiers(space)))


def test_vector_loads_and_stores(device: DeviceInfo) -> None:
    """Each kernel reads vector `id` of the first buffer by one function and stores it to the second by another."""
    module = new_module()
    cases: list[tuple[Overload, Overload, int, int]] = []
    for n in (2, 3, 4, 8, 16):
        for element in (CHAR, INT, FLOAT, DOUBLE, HALF):
            cases.append((load(f"vload{n}", element), store(f"vstore{n}", with_count(element, n), element), n, n))
        vector, step = with_count(FLOAT, n), 4 if n == 3 else n
        plain = (load(f"vload_half{n}", HALF), store(f"vstore_half{n}", vector, HALF))
        aligned = (load(f"vloada_half{n}", HALF), store(f"vstorea_half{n}", vector, HALF))
        cases += [
            (*plain, n, n),
            (*aligned, step, step),
            (plain[0], aligned[1], n, step),
            (aligned[0], plain[1], step, n),
        ]
    cases.append((load("vload_half", HALF), store("vstore_half", FLOAT, HALF), 1, 1))
    for number, (reading, writing, _, _) in enumerate(cases):
        function = kernel_function(module, f"k{number}", 2)
        source, target = function.function.args
        index = work_item(function)
        value = function.builtin(reading, [index, source])
        function.builtin(writing, [value, index, target])
        function.builder.ret_void()
    spirv = emit(module.finish()).spirv
    assert spirv is not None
    program = Device(device, spirv)
    for number, (reading, writing, read_step, write_step) in enumerate(cases):
        pointer = writing.parameters[2]
        assert isinstance(pointer, PointerType)
        n, kind = element_count(reading.result), NUMPY[str(pointer.pointee)]
        source = np.random.default_rng(number).integers(0, 100, ITEMS * read_step).astype(kind)
        blank = np.full(ITEMS * write_step + 16, 7, kind)
        after = program.launch(f"k{number}", ITEMS, 8, [source, blank])[1]
        expected = blank.copy()
        expected[: ITEMS * write_step].reshape(ITEMS, write_step)[:, :n] = source.reshape(ITEMS, read_step)[:, :n]
        np.testing.assert_array_equal(after, expected, f"{reading} and {writing}")


def test_stores_of_halves_round(device: DeviceInfo) -> None:
    module = new_module()
    types = [(source, count) for source in (FLOAT, DOUBLE) for count in (1, 4)]
    cases = [(s, n, r) for s, n in types for r in ROUND]
    for number, (source, count, rounding) in enumerate(cases):
        t = with_count(source, count)
        function = kernel_function(module, f"k{number}", 2)
        index = work_item(function)
        address = element_address(function, 0, t, index)
        value = function.builder.load(address, align=align_of(t), typ=function.types.of(t))
        name = f"vstore_half{count if count > 1 else ''}_{rounding}"
        function.builtin(store(name, t, HALF), [value, index, function.function.args[1]])
        function.builder.ret_void()
    spirv = emit(module.finish()).spirv
    assert spirv is not None
    program = Device(device, spirv)
    for number, (source, count, rounding) in enumerate(cases):
        x = random_values(with_count(source, count), -9, 9, number)
        after = program.launch(f"k{number}", ITEMS, 8, [x, np.zeros(x.shape, np.float16)])[1]
        expected = rounded(x.ravel().tolist(), HALF, rounding).reshape(x.shape)
        np.testing.assert_array_equal(after, expected, f"{source}{count} {rounding}")


# --- work-items, barriers, subgroups -------------------------------------------------------------


def test_work_items(device: DeviceInfo) -> None:
    """Launched as 64 items in groups of 8."""
    expected = {
        "get_global_id": np.arange(64),
        "get_global_size": np.full(64, 64),
        "get_local_id": np.arange(64) % 8,
        "get_local_size": np.full(64, 8),
        "get_enqueued_local_size": np.full(64, 8),
        "get_group_id": np.arange(64) // 8,
        "get_num_groups": np.full(64, 8),
        "get_global_offset": np.zeros(64),
    }
    module = new_module()
    for name in expected:
        function = kernel_function(module, name, 1)
        builder = function.builder
        first = function.builtin(overload(name, UINT), [ir.Constant(I32, 0)])
        # A dimension that there is not: 0 or 1, by the function.
        beyond = function.builtin(overload(name, UINT), [ir.Constant(I32, 5)])
        index = builder.shl(work_item(function), ir.Constant(I64, 1))
        builder.store(first, element_address(function, 0, ULONG, index), align=8)
        builder.store(beyond, element_address(function, 0, ULONG, builder.add(index, ir.Constant(I64, 1))), align=8)
        builder.ret_void()
    spirv = emit(module.finish()).spirv
    assert spirv is not None
    program = Device(device, spirv)
    for name, values in expected.items():
        (after,) = program.launch(name, 64, 8, [np.full((64, 2), 77, np.uint64)])
        np.testing.assert_array_equal(after[:, 0], values, name)
        beyond = 1 if name.endswith("size") or name == "get_num_groups" else 0
        np.testing.assert_array_equal(after[:, 1], np.full(64, beyond), name)


def test_a_barrier_makes_local_memory_visible(device: DeviceInfo) -> None:
    for name, extra in (("barrier", []), ("work_group_barrier", [ir.Constant(I32, 1)])):
        module = new_module()
        function = kernel_function(module, "reverse", 1)
        builder = function.builder
        array = ir.ArrayType(I32, 8)
        shared = ir.GlobalVariable(module.ir, array, "shared", addrspace=3)
        shared.linkage, shared.initializer = "internal", ir.Constant(array, ir.Undefined)
        local, index = work_item(function, "get_local_id"), work_item(function)
        zero = ir.Constant(I64, 0)
        builder.store(
            builder.trunc(index, I32), builder.gep(shared, [zero, local], source_etype=array, inbounds=True), align=4
        )
        function.builtin(overload(name, UINT, *[INT] * len(extra)), [ir.Constant(I32, 1), *extra])
        function.builtin(overload("mem_fence", UINT), [ir.Constant(I32, 3)])
        other = builder.sub(ir.Constant(I64, 7), local)
        address = builder.gep(shared, [zero, other], source_etype=array, inbounds=True)
        value = builder.load(address, align=4, typ=I32)
        builder.store(value, element_address(function, 0, UINT, index), align=4)
        builder.ret_void()
        spirv = emit(module.finish()).spirv
        assert spirv is not None
        (after,) = Device(device, spirv).launch("reverse", 64, 8, [np.zeros(64, np.uint32)])
        np.testing.assert_array_equal(after, np.arange(64).reshape(8, 8)[:, ::-1].ravel(), name)


SUB_GROUP: dict[str, Callable[[Array], Array]] = {
    "sub_group_reduce_add": lambda x: np.full_like(x, x.sum()),
    "sub_group_reduce_min": lambda x: np.full_like(x, x.min()),
    "sub_group_reduce_max": lambda x: np.full_like(x, x.max()),
    "sub_group_scan_inclusive_add": np.cumsum,
    "sub_group_scan_exclusive_add": lambda x: np.cumsum(x) - x,
    "sub_group_scan_inclusive_max": np.maximum.accumulate,
    "sub_group_scan_inclusive_min": np.minimum.accumulate,
    "sub_group_any": lambda x: np.full_like(x, int(x.any())),
    "sub_group_all": lambda x: np.full_like(x, int(x.all())),
    "sub_group_broadcast": lambda x: np.full_like(x, x[1]),
    "sub_group_shuffle": lambda x: np.full_like(x, x[1]),
    "sub_group_shuffle_xor": lambda x: x[np.arange(len(x)) ^ 1],
}


def test_subgroups(device: DeviceInfo) -> None:
    module = new_module()
    cases = [
        (name, t)
        for name in SUB_GROUP
        for t in (INT, UINT, LONG, FLOAT)
        if t is INT or name[10:13] not in ("any", "all")
    ]
    for number, (name, t) in enumerate(cases):
        function = kernel_function(module, f"k{number}", 3)
        builder, index = function.builder, work_item(function)
        value = builder.load(element_address(function, 0, t, index), align=align_of(t), typ=function.types.of(t))
        indexed = name.split("_")[2] in ("broadcast", "shuffle")
        types, more = ([t, UINT], [ir.Constant(I32, 1)]) if indexed else ([t], [])
        result = function.builtin(overload(name, *types), [value, *more])
        function.builtin(overload("sub_group_barrier", UINT), [ir.Constant(I32, 1)])
        size = function.builtin(overload("get_sub_group_size"), [])
        builder.store(result, element_address(function, 1, t, index), align=align_of(t))
        builder.store(size, element_address(function, 2, UINT, index), align=4)
        builder.ret_void()
    spirv = emit(module.finish()).spirv
    assert spirv is not None
    program = Device(device, spirv)
    for number, (name, t) in enumerate(cases):
        x = np.random.default_rng(number).integers(0, 9, ITEMS).astype(NUMPY[t.name])
        _, after, sizes = program.launch(f"k{number}", ITEMS, ITEMS, [x, x, np.zeros(ITEMS, np.uint32)])
        size = int(sizes[0])
        assert size > 1 and (sizes == size).all()
        expected = np.concatenate([SUB_GROUP[name](part) for part in x.reshape(-1, size)])
        np.testing.assert_array_equal(after, expected, f"{name} {t}")
