"""The generic address space and program-scope variables give what the device's own compiler makes of them."""

from __future__ import annotations

import numpy as np
from differential import PLAIN_AND_OPTIMISED, Launch, compare

import coopmat
from coopmat.devices import DeviceInfo

N = 16


def test_generic_pointers(device: DeviceInfo) -> None:
    source = """
    struct Pair { int first; float second; };
    float sum(const float *p, int n) { float s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }
    void set(struct Pair *p, int i) { p->first = i; p->second = i * 0.5f; }
    int *larger(int *a, int *b) { return *a > *b ? a : b; }
    kernel void k(global float *o, global int *n, global const float *x, local float *l) {
        int i = get_local_id(0);
        float own[4] = { i, i + 1, i + 2, i + 3 };
        l[i] = x[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        const float *chosen = i & 1 ? (const float *)own : (const float *)l;
        global float *out = o + i * 4;
        out[0] = sum(own, 4);
        out[1] = sum(l, 4) + sum(x + i, 1);
        out[2] = sum(chosen, 3);
        float whole, part = fract(x[i], &whole);
        float *to = &out[3];
        *to = whole;
        struct Pair pair;
        set(&pair, i);
        n[i * 4] = pair.first + (int)pair.second;
        int own_int = i * 3;
        *larger(&n[i * 4], &own_int) += 100;
        n[i * 4 + 1] = own_int;
        n[i * 4 + 2] = (chosen == own) + 2 * (to - out) + 8 * (int)(chosen + 2 - chosen);
        n[i * 4 + 3] = (to != 0) + (l + 1 > l) * 2 + !to * 4;
    }"""
    arguments = [np.zeros((N, 4), np.float32), np.zeros((N, 4), np.int32), np.arange(N, dtype=np.float32) * 1.25]
    launch = Launch("k", [*arguments, np.zeros(N, np.float32)], (N,), (N,))
    text = source.replace("local float *l) {", "global float *unused) { local float l[16];")
    compare(device, text, [launch], PLAIN_AND_OPTIMISED)


def test_program_scope_variables(device: DeviceInfo) -> None:
    source = """
    extern global int later[];
    int total;
    global float table[4] = { 1.5f, 2.5f };
    static struct { char c; long l[2]; } record = { 'x', { 7 } };
    global int4 vector = (int4)(1, 2, 3, 4);
    constant int *constant where = 0;
    int calls(void) { static int count = 10; return ++count; }
    kernel void write(global long *o) {
        total += 5; table[3] = 9; later[1] = 77; record.l[1] = total; vector.y = 20;
        o[0] = calls() * 1000 + calls();
    }
    kernel void read(global long *o) {
        o[0] = total; o[1] = table[0] * 4 + table[3]; o[2] = later[0] + later[1]; o[3] = record.c + record.l[0];
        o[4] = record.l[1]; o[5] = vector.x + vector.y; o[6] = calls(); o[7] = where == 0;
    }
    global int later[2] = { 33 };
    """
    launches = [Launch(name, [np.zeros(8, np.int64)]) for name in ("read", "write", "write", "read")]
    compare(device, source, launches, PLAIN_AND_OPTIMISED)


def test_pointers_without_an_address_space_are_private_before_opencl_2() -> None:
    source = "int f(int *p) { return *p; } kernel void k(global int *o) { int x = 3; o[0] = f(&x); }"
    assert "addrspace(4)" not in coopmat.compile(source, "-cl-std=CL1.2 --no-validate").llvm_ir
    assert "addrspace(4)" in coopmat.compile(source, "-cl-std=CL3.0 --no-validate").llvm_ir
