"""Atomic functions: exact sequences against numpy and the device's own compiler, and results of contention that no
order of the work-items changes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from differential import NUMPY, PLAIN_AND_OPTIMISED, PROLOGUE, Launch, Value, compare, difference, execute

import coopmat
from coopmat.devices import DeviceInfo

INTEGERS = ("int", "uint", "long", "ulong")
FLOATS = ("float", "double")

# --- one work-item, one object -------------------------------------------------------------------

# What the object becomes; all but `store` give the old value.
BITWISE: dict[str, Callable[[Any, Any], Any]] = {
    "atomic_fetch_or": lambda old, value: old | value,
    "atomic_fetch_xor": lambda old, value: old ^ value,
    "atomic_fetch_and": lambda old, value: old & value,
}
ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "atomic_fetch_add": lambda old, value: old + value,
    "atomic_fetch_sub": lambda old, value: old - value,
    "atomic_fetch_min": min,
    "atomic_fetch_max": max,
}
MOVES: dict[str, Callable[[Any, Any], Any]] = {
    "atomic_exchange": lambda old, value: value,
    "atomic_store": lambda old, value: value,
    "atomic_load": lambda old, value: old,
}
FORMS = ("", "relaxed", "seq_cst", "release, memory_scope_work_group", "relaxed, memory_scope_all_svm_devices")
LOAD_FORMS = tuple(form.replace("release", "acquire") for form in FORMS)
# After success's value: orders and scopes of a compare and exchange.
ORDERS = (
    "",
    ", memory_order_acq_rel, memory_order_acquire",
    ", memory_order_relaxed, memory_order_relaxed, memory_scope_work_group",
)
# Where what is expected lies.
EXPECTED = ("T here; T *e = &here;", "global T *e = spare;")
# How the kernel comes to a pointer: the generic ones with an address space that shows, and with one that does not.
POINTERS = {
    "global": "global atomic_T *p = object;",
    "local": "local atomic_T there; local atomic_T *p = &there;",
    "shown": "atomic_T *p = object;",
    "hidden_global": "local atomic_T other; atomic_T *p = object; if (!n[0]) p = &other;",
    "hidden_local": "local atomic_T there; atomic_T *p = object; if (n[0]) p = &there;",
    "private": "atomic_T there; atomic_T *p = &there;",
    "volatile": "volatile global atomic_T *p = object;",
}


# Of these types the first three kinds only: tests/sweep has every overload.
FEWER = ("uint", "long", "double")


def values(name: str) -> list[Any]:
    if name in FLOATS:
        return [1.5, -0.0, 2.25, -3.5, 1e10, 0.5]
    span = np.iinfo(NUMPY[name])
    return [int(span.max), 1, int(span.min), 5, int(span.max) - 7, 0x33]


OPERATIONS = {name: ARITHMETIC | (BITWISE if name in INTEGERS else {}) | MOVES for name in (*INTEGERS, *FLOATS)}


def sequence(name: str, first: int) -> tuple[list[str], np.ndarray[Any, Any]]:
    """Statements on `p` that put what they give to `o`, and what comes there.

    Each operation has one of its forms: the `first` one, the next one, and so on.
    """
    dtype, given = NUMPY[name], values(name)
    current, lines, expected = dtype(given[0]), ["atomic_init(p, v[0]);"], []
    with np.errstate(over="ignore"):
        for number, (operation, compute) in enumerate(OPERATIONS[name].items(), first):
            at = number % len(given)
            form = (LOAD_FORMS if operation == "atomic_load" else FORMS)[number % len(FORMS)]
            arguments = ["p"] + [f"v[{at}]"] * (operation != "atomic_load") + [f"memory_order_{form}"] * bool(form)
            call = f"{operation}{'_explicit' * bool(form)}({', '.join(arguments)})"
            old, current = current, dtype(compute(current, dtype(given[at])))
            lines.append(f"{call}; o[i++] = atomic_load(p);" if operation == "atomic_store" else f"o[i++] = {call};")
            expected.append(current if operation == "atomic_store" else old)
    for number, (strength, hit) in enumerate(itertools.product(("strong", "weak"), (True, False)), first):
        at, orders = number % len(given), ORDERS[number % len(ORDERS)]
        function = f"atomic_compare_exchange_{strength}{'_explicit' * bool(orders)}"
        lines.append(f"*e = {'atomic_load(p)' if hit else '77'};")
        lines.append(f"o[i++] = {function}(p, e, v[{at}]{orders}); o[i++] = *e; o[i++] = atomic_load(p);")
        assert current != 77
        old, current = current, dtype(given[at]) if hit else current
        expected += [dtype(hit), old, current]
    return lines, np.array(expected, dtype)


def exact_program(names: tuple[str, ...]) -> tuple[str, list[Launch], list[np.ndarray[Any, Any]]]:
    """A kernel for every type and kind of pointer."""
    kernels, launches, expected = [], [], []
    for name, (first, (kind, pointer)) in itertools.product(names, enumerate(POINTERS.items())):
        if name in FEWER and first > 2:
            continue
        lines, wanted = sequence(name, first)
        body = "\n".join([pointer, EXPECTED[first % 2], "int i = 0;", *lines])
        parameters = "global T *o, global atomic_T *object, global const T *v, global const int *n, global T *spare"
        text = f"kernel void {name}_{kind}({parameters}) {{ {body} }}"
        kernels.append(text.replace("atomic_T", f"atomic_{name}").replace("T ", f"{name} "))
        dtype = NUMPY[name]
        buffers = [np.zeros(len(wanted), dtype), np.zeros(1, dtype), np.array(values(name), dtype)]
        launches.append(Launch(f"{name}_{kind}", [*buffers, np.ones(1, np.int32), np.zeros(1, dtype)]))
        expected.append(wanted)
    return "\n".join(kernels), launches, expected


def check_exact(device: DeviceInfo, source: str, launches: list[Launch], expected: list[Any]) -> None:
    """This compiler's modules and the device's own compiler give what is expected."""
    programs: dict[str, bytes | str] = {
        route: coopmat.compile(source, ["--matrices", route], name="exact.cl").spirv for route in PLAIN_AND_OPTIMISED
    }
    for route, program in (programs | {"the device's compiler": PROLOGUE + source}).items():
        for launch, found, wanted in zip(launches, execute(device, program, launches), expected, strict=True):
            assert difference(found[0], wanted) == "", (route, launch.kernel)


@pytest.mark.parametrize("names", [INTEGERS, FLOATS])
def test_every_function_gives_what_it_should(device: DeviceInfo, names: tuple[str, ...]) -> None:
    check_exact(device, *exact_program(names))


LEGACY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda old, value: old + value,
    "sub": lambda old, value: old - value,
    "xchg": lambda old, value: value,
    "inc": lambda old, value: old + old.dtype.type(1),
    "dec": lambda old, value: old - old.dtype.type(1),
    "min": min,
    "max": max,
    "and": lambda old, value: old & value,
    "or": lambda old, value: old | value,
    "xor": lambda old, value: old ^ value,
}


PLACES = {
    "local": "local T there; volatile local T *p = &there; *p = v[0];",
    "global": "volatile global T *p = o + N; *p = v[0];",
}


def test_functions_of_opencl_1(device: DeviceInfo) -> None:
    kernels, launches, expected = [], [], []
    for name, space in itertools.product(INTEGERS, ("global", "local")):
        dtype, data, wanted, lines = NUMPY[name], values(name), [], []
        current = dtype(data[0])
        with np.errstate(over="ignore"):
            for (operation, compute), prefix in itertools.product(LEGACY.items(), ("atomic", "atom")):
                if prefix == "atomic" and name in ("long", "ulong"):
                    continue
                at = len(lines) % len(data)
                value = "" if operation in ("inc", "dec") else f", v[{at}]"
                lines.append(f"o[{len(lines)}] = {prefix}_{operation}(p{value});")
                wanted.append(current)
                current = dtype(compute(current, dtype(data[at])))
            prefix = "atomic" if name in ("int", "uint") else "atom"
            for compared in (current, dtype(3)):
                lines.append(
                    f"o[{len(lines)}] = {prefix}_cmpxchg(p, ({name}){int(compared)}{'u' * (name[0] == 'u')}, v[3]);"
                )
                wanted.append(current)
                current = dtype(data[3]) if compared == current else current
        wanted.append(current)
        place = PLACES[space].replace("T ", f"{name} ").replace("N", str(len(lines)))
        body = place + " ".join(lines) + f" o[{len(lines)}] = *p;"
        kernels.append(f"kernel void {name}_{space}(global {name} *o, global const {name} *v) {{ {body} }}")
        launches.append(Launch(f"{name}_{space}", [np.zeros(len(wanted), dtype), np.array(data, dtype)]))
        expected.append(np.array(wanted, dtype))
    exchange = "o[1] = atomic_xchg(o, -0.0f); local float l; l = 2; o[2] = atomic_xchg(&l, 3.5f); o[3] = l;"
    kernels.append(f"kernel void f(global float *o) {{ {exchange} }}")
    launches.append(Launch("f", [np.array([7, 0, 0, 0], np.float32)]))
    expected.append(np.array([-0.0, 7, 2, 3.5], np.float32))
    source = "\n".join(kernels)
    check_exact(device, source, launches, expected)


def test_flags(device: DeviceInfo) -> None:
    source = """
    global atomic_flag shared = ATOMIC_FLAG_INIT;
    int both(atomic_flag *f) {
        int n = atomic_flag_test_and_set(f) * 4 + atomic_flag_test_and_set_explicit(f, memory_order_acquire) * 2;
        atomic_flag_clear_explicit(f, memory_order_release, memory_scope_device);
        return n + atomic_flag_test_and_set_explicit(f, memory_order_relaxed, memory_scope_work_group);
    }
    kernel void k(global atomic_flag *g, global int *o, global const int *n) {
        local atomic_flag l;
        atomic_flag p;
        atomic_flag_clear(&l); atomic_flag_clear(&p); atomic_flag_clear(g);
        atomic_flag *any = &l;
        if (n[0]) any = g;
        o[0] = both(g); o[1] = both(&l); o[2] = both(&p); o[3] = both(any);
        o[4] = both(&shared); atomic_flag_clear(&shared);
    }"""
    launch = Launch("k", [np.array([1], np.int32), np.zeros(5, np.int32), np.ones(1, np.int32)])
    check_exact(device, source, [Launch("k", launch.arguments)], [np.ones(1, np.int32)])
    for route in PLAIN_AND_OPTIMISED:
        found = execute(device, coopmat.compile(source, ["--matrices", route]).spirv, [launch])
        assert found[0][1].tolist() == [2, 2, 2, 6, 2]


def test_old_values_of_floats_keep_their_bits(device: DeviceInfo) -> None:
    """A driver loads a float by adding 0, which would make 0.0 of -0.0."""
    source = """
    kernel void k(global atomic_float *a, global float *o, global atomic_double *b, global double *p) {
        o[0] = atomic_load(a); o[1] = atomic_exchange(a, -0.0f); o[2] = atomic_load(a);
        p[0] = atomic_load(b); p[1] = atomic_exchange(b, -0.0); p[2] = atomic_load(b);
        float e = 0.0f; o[3] = atomic_compare_exchange_strong(a, &e, 1.0f); o[4] = e;
    }"""
    arguments = [np.array([-0.0], t) if n == 1 else np.zeros(n, t) for t in (np.float32, np.float64) for n in (1, 5)]
    for route in PLAIN_AND_OPTIMISED:
        (found,) = execute(device, coopmat.compile(source, ["--matrices", route]).spirv, [Launch("k", arguments)])
        assert difference(found[1], np.array([-0.0, -0.0, -0.0, 0, -0.0], np.float32)) == ""
        assert difference(found[3], np.array([-0.0, -0.0, -0.0, 0, 0])) == ""


# --- contention ----------------------------------------------------------------------------------

N, GROUP, BINS = 4096, 64, 16


def test_contention(device: DeviceInfo) -> None:
    """Sums, extrema and bits that no order changes; what fetch_add gives is each number once."""
    source = """
    kernel void k(global const int *x, global atomic_int *i, global atomic_uint *u, global atomic_ulong *m,
                  global int *unique, global atomic_float *f, global atomic_double *d) {
        int g = get_global_id(0), v = x[g];
        atomic_fetch_add(&i[0], v);
        atomic_fetch_sub_explicit(&i[1], v, memory_order_relaxed);
        atomic_fetch_min_explicit(&i[2], v, memory_order_acq_rel, memory_scope_device);
        atomic_fetch_max(&i[3], v);
        atomic_fetch_xor(&i[4], v);
        atomic_fetch_or(&u[0], 1u << (v & 31));
        atomic_fetch_and(&u[1], ~(1u << (g & 15)));
        atomic_fetch_min(&u[2], (uint)v);
        atomic_fetch_add(&m[0], (ulong)v * v);
        atomic_fetch_max(&m[1], (ulong)v);
        unique[atomic_fetch_add_explicit(&i[5], 1, memory_order_relaxed)] += 1;
        atomic_inc((volatile global int *)&i[6]);
        atomic_fetch_add(f, (float)(v & 15));
        atomic_fetch_max(d, (double)v);
    }"""
    x = np.random.default_rng(3).integers(-(2**30), 2**30, N, dtype=np.int32)
    start = [np.zeros(7, np.int32), np.array([0, 2**32 - 1, 2**32 - 1], np.uint32), np.zeros(2, np.uint64)]
    arguments = [x, *start, np.zeros(N, np.int32), np.zeros(1, np.float32), np.full(1, -np.inf)]
    unsigned = x.view(np.uint32)
    with np.errstate(over="ignore"):
        total = x.sum(dtype=np.int32)
        squares = (x.astype(np.int64).astype(np.uint64) ** 2).sum(dtype=np.uint64)
    ints = [total, -total, min(x.min(), 0), max(x.max(), 0), np.bitwise_xor.reduce(x), N, N]
    bits = [np.bitwise_or.reduce(np.uint32(1) << (unsigned & 31)), 0xFFFF0000, unsigned.min()]
    for route in PLAIN_AND_OPTIMISED:
        module = coopmat.compile(source, ["--matrices", route])
        (found,) = execute(device, module.spirv, [Launch("k", arguments, (N,), (GROUP,))])
        assert found[1].tolist() == [int(v) for v in ints]
        assert found[2].tolist() == [int(v) for v in bits]
        assert found[3].tolist() == [int(squares), int(x.astype(np.int64).astype(np.uint64).max())]
        assert (found[4] == 1).all()
        assert found[5][0] == (x & 15).sum() and found[6][0] == x.max()


def test_loops_that_compare_and_exchange(device: DeviceInfo) -> None:
    """Float addition as people write it, in both generations; the sums are exact in any order."""
    source = """
    inline float old_add(volatile global float *p, float v) {
        union { uint u; float f; } before, after;
        do { before.f = *p; after.f = before.f + v; }
        while (atomic_cmpxchg((volatile global uint *)p, before.u, after.u) != before.u);
        return before.f;
    }
    void new_add(volatile atomic_uint *p, float v) {
        uint before = atomic_load_explicit(p, memory_order_relaxed);
        while (!atomic_compare_exchange_weak_explicit(p, &before, as_uint(as_float(before) + v), memory_order_acq_rel,
                                                      memory_order_relaxed, memory_scope_device));
    }
    void multiply(volatile local atomic_ulong *p, ulong v) {
        ulong before = atomic_load(p);
        while (!atomic_compare_exchange_strong(p, &before, before * v));
    }
    kernel void k(global const float *x, global float *a, global atomic_uint *b, global float *c, global ulong *o) {
        local atomic_uint sum;
        local atomic_ulong product;
        int g = get_global_id(0), l = get_local_id(0);
        if (l == 0) { atomic_init(&sum, as_uint(0.0f)); atomic_init(&product, 1); }
        barrier(CLK_LOCAL_MEM_FENCE);
        old_add(a, x[g]);
        new_add(b, x[g]);
        new_add(&sum, x[g]);
        multiply(&product, 3);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l == 0) { c[get_group_id(0)] = as_float(atomic_load(&sum)); o[get_group_id(0)] = atomic_load(&product); }
    }"""
    x = np.random.default_rng(4).integers(-50, 50, 1024).astype(np.float32) * 0.25
    groups = len(x) // GROUP
    sums = [np.zeros(1, np.float32), np.zeros(1, np.uint32), np.zeros(groups, np.float32), np.zeros(groups, np.uint64)]
    launch = Launch("k", [x, *sums], (len(x),), (GROUP,))
    compare(device, source, [launch], PLAIN_AND_OPTIMISED)
    (found,) = execute(device, coopmat.compile(source).spirv, [launch])
    assert found[1][0] == x.sum() and found[2].view(np.float32)[0] == x.sum()
    assert found[3].tolist() == x.reshape(groups, GROUP).sum(1).tolist()
    assert (found[4] == pow(3, GROUP, 2**64)).all()


def test_histograms_and_group_counters(device: DeviceInfo) -> None:
    """Counts in local memory, the last group adding up what all have written, a counter at program scope."""
    source = """
    #define BINS 16
    global atomic_uint done;
    global atomic_long launches = ATOMIC_VAR_INIT(100);
    struct Bin { atomic_int count; int least; };
    kernel void k(global const uchar *x, global uint *partial, global uint *total, global int *least, global long *n) {
        local uint old[BINS];
        local struct Bin bins[BINS];
        local int last;
        int l = get_local_id(0), groups = get_num_groups(0);
        for (int i = l; i < BINS; i += get_local_size(0)) {
            old[i] = 0; bins[i].least = 1000; atomic_init(&bins[i].count, 0);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uchar v = x[get_global_id(0)];
        atomic_inc(&old[v % BINS]);
        atomic_min(&bins[v % BINS].least, (int)v);
        atomic_fetch_add_explicit(&bins[v % BINS].count, 1, memory_order_relaxed, memory_scope_work_group);
        work_group_barrier(CLK_LOCAL_MEM_FENCE);
        if (l < BINS) {
            partial[get_group_id(0) * BINS + l] = old[l] + 1000 * atomic_load(&bins[l].count);
            atomic_min(&least[l], bins[l].least);
        }
        work_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device);
        if (l == 0) {
            atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
            last = atomic_fetch_add_explicit(&done, 1u, memory_order_acq_rel) == groups - 1;
            if (last) { *n = atomic_fetch_add(&launches, 1l); atomic_store(&done, 0u); }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (last && l < BINS) {
            atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
            uint sum = 0;
            for (int i = 0; i < groups; i++) sum += ((volatile global uint *)partial)[i * BINS + l];
            total[l] = sum;
        }
    }"""
    x = np.random.default_rng(5).integers(0, 256, N, dtype=np.uint8)
    sizes = [np.zeros(N // GROUP * BINS, np.uint32), np.zeros(BINS, np.uint32), np.full(BINS, 999, np.int32)]
    launch = Launch("k", [x, *sizes, np.zeros(1, np.int64)], (N,), (GROUP,))
    compare(device, source, [launch, launch], PLAIN_AND_OPTIMISED)
    found = execute(device, coopmat.compile(source).spirv, [launch, launch])
    counts = np.bincount(x % BINS, minlength=BINS)
    assert [(f[2] == counts * 1001).all() for f in found] == [True, True]
    assert [int(f[4][0]) for f in found] == [100, 101]
    assert found[0][3].tolist() == [int(x[x % BINS == b].min()) for b in range(BINS)]


def test_orders_and_scopes_that_are_not_constant(device: DeviceInfo) -> None:
    source = """
    kernel void k(global atomic_int *a, global int *o, memory_order order, memory_scope scope, uint flags) {
        o[0] = atomic_fetch_add_explicit(a, 1, order, scope);
        int e = 1;
        o[1] = atomic_compare_exchange_strong_explicit(a, &e, 5, order, order, scope);
        atomic_work_item_fence(flags, order, scope);
        o[2] = atomic_load_explicit(a, order);
    }"""
    for order, scope in ((0, 1), (5, 2), (0, 3)):
        scalars = [Value(np.array(v, np.int32)) for v in (order, scope, 3)]
        launch = Launch("k", [np.zeros(1, np.int32), np.zeros(3, np.int32), *scalars])
        (found,) = execute(device, coopmat.compile(source).spirv, [launch])
        assert found[1].tolist() == [0, 1, 5]


def test_where_a_pointer_points(device: DeviceInfo) -> None:
    """Where the address space shows; a device whose spaces overlap may say yes to all of what does not."""
    source = """
    kernel void k(global int *g, global int *o) {
        local int l;
        int p;
        int *any = &p;
        if (o[0]) any = g;
        o[0] = to_global(g) == g; o[1] = to_local(g) == 0; o[2] = to_private(g) == 0;
        o[3] = to_local(&l) == &l; o[4] = to_global(&l) == 0;
        o[5] = to_private(&p) == (private int *)&p; o[6] = to_local(&p) == 0;
        o[7] = get_fence(g) == CLK_GLOBAL_MEM_FENCE; o[8] = get_fence(&l) == CLK_LOCAL_MEM_FENCE;
        *to_global(any) = 7; o[9] = to_global(any) != 0;
    }"""
    launch = Launch("k", [np.zeros(1, np.int32), np.ones(10, np.int32)])
    for route in PLAIN_AND_OPTIMISED:
        (found,) = execute(device, coopmat.compile(source, ["--matrices", route]).spirv, [launch])
        assert found[1].tolist() == [1] * 10 and found[0].tolist() == [7]


def test_pointers_to_the_start_of_something(device: DeviceInfo) -> None:
    """LLVM drops the way from an array or record to its first element; each access has its own type all the same."""
    source = """
    struct P { int a; long b; };
    global struct P object;
    kernel void k(global struct P *s, global double *d, global int *o) {
        local int h[16];
        local struct P l[2];
        h[0] = 1; h[1] = 0; l[0].a = 2; object.a = 3;
        o[0] = atomic_inc(&h[0]) + atom_add((volatile local long *)h, 1l);
        o[1] = atomic_add(&l[0].a, 5); o[2] = atomic_add(&s->a, 3); o[3] = atomic_sub(&object.a, 2);
        atomic_add((volatile global int *)d, 4); atom_add((volatile global long *)d, 1l << 32);
        o[4] = h[0] + l[0].a + s->a + object.a; *d += 1;
    }"""
    record = np.zeros(1, np.dtype([("a", np.int32), ("b", np.int64)], align=True))
    record["a"] = 40
    launch = Launch("k", [record, np.ones(1), np.zeros(5, np.int32)])
    compare(device, source, [launch], PLAIN_AND_OPTIMISED)
