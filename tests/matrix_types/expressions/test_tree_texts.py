"""What plans decide, what the text of trees looks like, and what our compiler makes of it."""

from __future__ import annotations

import re

import numpy as np
import pytest

import coopmat
from coopmat.matrices.lowering import LOWERED_ROUTES, Target, instantiate
from coopmat.matrices.variants import COMPONENT_TYPES
from coopmat.matrix_types.expressions import (
    Broadcast,
    Converted,
    Elementwise,
    InMemory,
    Input,
    Machine,
    Object,
    Part,
    Product,
    Term,
    Transposed,
    Tree,
    WithElement,
)
from coopmat.matrix_types.expressions.plan import plan
from coopmat.matrix_types.expressions.term_reference import value, value_with_error
from coopmat.matrix_types.expressions.write import write
from coopmat.spirv.emit import EmitOptions, emit

F32, S8, F16 = (COMPONENT_TYPES[name] for name in ("f32", "s8", "f16"))


def _object(number: int, n: int, m: int | None = None) -> Object:
    return Object(F32, n, m or n, number)


def _add(left: Term, right: Term, operator: str = "add") -> Elementwise:
    return Elementwise(left.element, left.rows, left.columns, left, right, operator)  # type: ignore[arg-type]


def _product(left: Term, right: Term) -> Product:
    return Product(left.element, left.rows, right.columns, left, right)


def _tree(root: Term, count: int, n: int, space: str = "global", **more: object) -> Tree:
    where = InMemory(F32, space, n)
    return Tree(root, (where,) * count, where, **more)  # type: ignore[arg-type]


def _multiply_add(n: int, space: str = "global", **more: object) -> Tree:
    return _tree(_add(_product(_object(0, n), _object(1, n)), _object(2, n)), 3, n, space, **more)


def _optimised(tree: Tree, n: int) -> str:
    """IR of a kernel that calls it, after the passes."""
    kernel = f"""
kernel void k(global float *d, const global float *a, const global float *b, const global float *c) {{
    size_t i = get_global_id(0) * {n * n};
    {tree.function_name}(d + i, a + i, b + i, c + i);
}}
"""
    text = instantiate(Target(LOWERED_ROUTES["one"], 1), [tree]) + kernel
    result = emit(coopmat.compile(text, ["-w"]).llvm_ir, EmitOptions(passes="O1", want=frozenset({"llvm_ir"})))
    assert result.llvm_ir is not None
    return result.llvm_ir


@pytest.mark.parametrize("n", [3, 4, 8, 16])
def test_small_trees_need_no_memory(n: int) -> None:
    """d = a b + c from memory to memory, in registers; 16x16 does not fit them, but needs no array either."""
    ir = _optimised(_multiply_add(n, separate=n == 16), n)
    assert "alloca" not in ir
    assert len(re.findall(r"call spir_func void @_Z\d+vstore", ir)) >= min(n, 2)


def test_chains_of_private_matrices_stay_in_registers() -> None:
    tree = _multiply_add(4, "private", separate=False)
    text = f"""
kernel void k(global float *d, const global float *a) {{
    float x[16], y[16], z[16];
    for (int i = 0; i < 16; ++i) {{ x[i] = a[i]; y[i] = a[i + 16]; z[i] = a[i + 32]; }}
    for (int n = 0; n < 9; ++n)
        {tree.function_name}(x, x, y, z);
    for (int i = 0; i < 16; ++i) d[i] = x[i];
}}
"""
    text = instantiate(Target(LOWERED_ROUTES["one"], 1), [tree]) + text.replace(
        "for (int i", "__attribute__((opencl_unroll_hint)) for (int i"
    )
    result = emit(coopmat.compile(text, ["-w"]).llvm_ir, EmitOptions(passes="O1", want=frozenset({"llvm_ir"})))
    assert result.llvm_ir is not None and "alloca" not in result.llvm_ir
    assert "phi <4 x float>" in result.llvm_ir


def test_elementwise_trees_are_one_vector() -> None:
    text = write(plan(_tree(_add(_object(0, 4), Transposed(F32, 4, 4, _object(1, 4)), "sub"), 2, 4)))
    assert "float16" not in text
    text = write(plan(_tree(_add(_object(0, 4), _object(1, 4), "sub"), 2, 4)))
    assert len(re.findall("vload16", text)) == 2 and len(re.findall("vstore16", text)) == 1


def test_the_layout_follows_memory() -> None:
    for row_major, axis in ((False, "columns"), (True, "rows")):
        where = InMemory(F32, "global", 8, row_major)
        tree = Tree(_product(_object(0, 8), _object(1, 8)), (where, where), where)
        assert plan(tree).axis == axis


def test_large_shapes_are_tiled_to_the_registers() -> None:
    for machine in (Machine(), Machine(128, 8), Machine(512, 32)):
        chosen = plan(_multiply_add(64, machine=machine))
        step, lanes = chosen.steps[-1], machine.register_bits // 32
        assert not chosen.straight
        assert machine.registers / 4 <= step.lines * step.span / lanes < machine.registers
        assert len(write(chosen).splitlines()) < 400


def test_operands_of_products_go_to_private_memory_where_there_are_loops() -> None:
    root = _product(_product(_object(0, 64), _object(1, 64)), _object(2, 64))
    chosen = plan(_tree(root, 3, 64))
    assert [step.term for step in chosen.steps] == [root.left, root]
    assert "private array" in chosen.describe()


def test_overlap_is_checked_only_where_it_matters() -> None:
    loops = plan(_multiply_add(64, separate=False))
    assert (loops.disjoint, loops.exact) == ((0, 1), (2,))
    assert "alias check: p0, p1, p2" in loops.describe()
    assert not plan(_multiply_add(64, separate=True)).checked
    assert not plan(_multiply_add(4, separate=False)).checked
    local = InMemory(F32, "local", 64)
    tree = _multiply_add(64, separate=False)
    assert plan(Tree(tree.root, (local, local, local), tree.out, separate=False)).checked is False


def test_volatile_memory_is_accessed_once_an_element() -> None:
    where = InMemory(F32, "global", 4, volatile=True)
    tree = Tree(_product(_object(0, 4), _object(1, 4)), (where, where), where)
    text = write(plan(tree))
    for name in ("p0", "p1"):
        accesses = re.findall(rf"\*\({name}(?: \+ \d+)?\)", text)
        assert len(accesses) == len(set(accesses)) == 16
    assert len(re.findall(r"\*\(out(?: \+ \d+)?\) =", text)) == 16
    assert "vload" not in text and "vstore" not in text


def test_contraction_is_kept_off_in_the_function() -> None:
    assert "#pragma OPENCL FP_CONTRACT OFF" in write(plan(_multiply_add(8, contract=False)))
    assert "fma(" not in write(plan(_multiply_add(8, contract=False)))
    assert "fma(" in write(plan(_multiply_add(8, contract=True)))


def test_a_text_is_the_same_whenever_it_is_made() -> None:
    assert write(plan(_multiply_add(17))) == write(plan(_multiply_add(17)))


def test_long_chains() -> None:
    root: Term = _object(0, 4)
    for number in range(1, 200):
        root = _add(root, _object(number, 4))
    text = write(plan(_tree(root, 200, 4)))
    assert text.count("vload16") == 200
    for number in range(200, 3000):
        root = _add(root, _object(number, 4))
    tree = _tree(root, 3000, 4)
    assert tree == _tree(root, 3000, 4) and hash(tree) == hash(_tree(root, 3000, 4))
    assert tree.function_name != _tree(root, 3000, 4, contract=False).function_name


def test_vectors_have_lengths_that_there_are() -> None:
    trees = [_multiply_add(n) for n in (1, 3, 5, 9, 17)]
    text = instantiate(Target(LOWERED_ROUTES["one"], 1), trees)
    assert set(re.findall(r"\bfloat(\d+)", text)) <= {"2", "3", "4", "8", "16"}
    assert coopmat.compile(text, ["-cl-std=CL1.2", "-w"]).diagnostics == []


# --- the reference -------------------------------------------------------------------------------


def test_products_are_added_in_order() -> None:
    a = np.array([[1e8, 1, -1e8]], np.float32)
    b = np.ones((3, 1), np.float32)
    root = Product(F32, 1, 1, Object(F32, 1, 3, 0), Object(F32, 3, 1, 1))
    assert value(root, [a, b])[0, 0] == 0
    assert value_with_error(root, [a, b]).error[0, 0] > 1
    zero = np.array([[-0.0]], np.float32)
    root = Product(F32, 1, 1, Object(F32, 1, 1, 0), Object(F32, 1, 1, 1))
    assert not np.signbit(value(root, [zero, np.ones((1, 1), np.float32)]))[0, 0]


def test_integers_wrap_and_halves_are_rounded_each_time() -> None:
    a = np.array([[100, 100]], np.int8)
    root = Product(S8, 1, 1, Object(S8, 1, 2, 0), Transposed(S8, 2, 1, Object(S8, 1, 2, 1)))
    assert value(root, [a, a])[0, 0] == np.int32(20000).astype(np.int8)
    h = np.array([[2048, 1, 1]], np.float16)
    root = Product(F16, 1, 1, Object(F16, 1, 3, 0), Broadcast(F16, 3, 1, 1))
    assert value(root, [h, np.float16(1)])[0, 0] == 2048


def test_rows_and_elements() -> None:
    m = np.arange(6, dtype=np.float32).reshape(2, 3)
    root = Part(F32, 1, 3, Object(F32, 2, 3, 0), "row", 1)
    assert value(root, [m, 1]).tolist() == [[3, 4, 5]]
    changed = WithElement(F32, 2, 3, Object(F32, 2, 3, 0), 1, 2, 3)
    assert value(changed, [m, 1, 2, np.float32(9)]).tolist() == [[0, 1, 2], [3, 4, 9]]
    converted = Converted(S8, 2, 3, _add(Object(F32, 2, 3, 0), Broadcast(F32, 2, 3, 1)))
    assert value(converted, [m, np.float32(0.75)]).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert Input(None).element is None
