"""The seeds of mutations: kernels of this repository, their compiled forms, and sources in which a part can grow."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
_LONGEST = 20_000


@dataclass(frozen=True)
class Input:
    """A seed of mutations.

    language: the language, as for `coopmat compile -x`.
    grows: whether the seed is a sequence of lines that can be continued.
    """

    language: str
    text: str | bytes
    options: tuple[str, ...] = ()
    grows: bool = False


_HEAD = """#define S CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define R CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef float A __attribute__((coop_mat(S, 8, 8, CLK_COOPERATIVE_MATRIX_A)));
typedef float B __attribute__((coop_mat(S, 8, 8, CLK_COOPERATIVE_MATRIX_B)));
typedef float C __attribute__((coop_mat(S, 8, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
"""
_MODULE = """OpCapability Kernel
OpCapability Addresses
OpCapability Linkage
OpCapability CooperativeMatrixKHR
OpExtension "SPV_KHR_cooperative_matrix"
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k "k"
%void = OpTypeVoid
%u = OpTypeInt 32 0
%f = OpTypeFloat 32
%n = OpConstant %u 40
%w = OpConstant %u 16
%two = OpConstant %u 2
%three = OpConstant %u 3
%m = OpTypeCooperativeMatrixKHR %f %three %w %w %two
TYPES
%fn = OpTypeFunction %void
%k = OpFunction %void None %fn
%l = OpLabel
%v = USE
OpReturn
OpFunctionEnd
"""

# Sequences of lines that differ in their numbers, and text after them that refers to the last line.
_GROWING = (
    "#define X0 a\n#define X1 X0 + X0\n#define X2 X1 + X1\nkernel void k(global int *p) { int a = 1; p[0] = X2; }\n",
    "#define C(a, b) C_(a, b)\n#define C_(a, b) a##b\n#define X0 a\n#define X1 C(X0, X0)\n#define X2 C(X1, X1)\n"
    "kernel void k(global int *p) { int X2 = 1; p[0] = X2; }\n",
    "#define P0(x) x##x\n#define P1(x) P0(x##x)\n#define P2(x) P1(x##x)\nkernel void k(global int *P2(a)) { }\n",
    "#define S(a) #a\n#define T0(a) S(a)\n#define T1(a) T0(S(a) a)\n#define T2(a) T1(S(a) a)\n"
    'kernel void k() { constant char *s = T2("a"); }\n',
    "struct S0 { float x; };\nstruct S1 { struct S0 a, b; };\nstruct S2 { struct S1 a, b; };\n"
    "kernel void k(global struct S2 *p) { p[0].a = p[1].b; p[2] = p[3]; }\n",
    "struct S0 { char x[3]; };\nstruct S1 { struct S0 a[2]; int b; };\nstruct S2 { struct S1 a[2]; int b; };\n"
    "kernel void k(global struct S2 *p) { struct S2 s = {0}; p[0] = s; }\n",
    "typedef int T0;\ntypedef T0 T1[2];\ntypedef T1 T2[2];\nkernel void k(global int *p) { T2 t; p[0] = sizeof(t); }\n",
    "float f0(float x) { return x + 1; }\nfloat f1(float x) { return f0(f0(x)); }\n"
    "float f2(float x) { return f1(f1(x)); }\n"
    "kernel void k(global float *p) { p[0] = f2(p[1]); }\n",
    _HEAD + "C f0(C x) { return x + x; }\nC f1(C x) { return f0(f0(x)); }\nC f2(C x) { return f1(f1(x)); }\n"
    "kernel void k(global float *p) { C c = coop_mat_load(p, R, 8); coop_mat_store(p, f2(c), R, 8); }\n",
    _HEAD + "kernel void k(global float *p) {\nA a = coop_mat_load(p, R, 8); B b = coop_mat_load(p, R, 8);\n"
    "C c = coop_mat_load(p, R, 8);\nc = coop_mat_mulAdd(a, b, c);\nc = coop_mat_mulAdd(a, b, c);\n"
    "coop_mat_store(p, c, R, 8);\n}\n",
    _HEAD + "kernel void k(global float *p) {\n"
    "{ float c0 __attribute__((coop_mat(S, 2, 2, CLK_COOPERATIVE_MATRIX_A))) = coop_mat_load(p, R, 8); }\n"
    "{ float c1 __attribute__((coop_mat(S, 3, 3, CLK_COOPERATIVE_MATRIX_A))) = coop_mat_load(p, R, 8); }\n"
    "}\n",
    "typedef float M __attribute__((matrix_type(4, 4)));\nkernel void k(global float *p) {\n"
    "M a0 = *(global M *)p;\nM a1 = a0 * a0 + a0;\nM a2 = a1 * a1 + a1;\n*(global M *)p = a2;\n}\n",
    "kernel void k(global ulong *p) { p[0] = sizeof(struct { char a[sizeof(struct { char b[sizeof(int)]; })]; }); }\n",
    'kernel void k() { printf("%d"\n"a"\n"b"\n, 1); }\n',
    "kernel void k(global int *p) { int na\\\nme = 1; p[0] = na\\\nme; }\n",
    "kernel void k(global int *p) { switch (p[0]) {\ncase 0: p[1] = 0; break;\ncase 1: p[1] = 1; break;\n} }\n",
)
_GROWING_SPIRV = (
    ("%s0 = OpTypeStruct %f %f\n%s1 = OpTypeStruct %s0 %s0\n%s2 = OpTypeStruct %s1 %s1\n"
     "%p = OpTypePointer Function %s2",
     "OpVariable %p Function"),
    ("%s0 = OpTypeStruct %m %m\n%s1 = OpTypeStruct %s0 %s0\n%s2 = OpTypeStruct %s1 %s1\n"
     "%p = OpTypePointer Function %s2",
     "OpVariable %p Function"),
    ("%a0 = OpTypeArray %m %n\n%a1 = OpTypeArray %a0 %n\n%z = OpConstantNull %a1", "OpCopyObject %a1 %z"),
    ("%a0 = OpTypeArray %f %n\n%a1 = OpTypeArray %a0 %n\n%z = OpConstantNull %a1", "OpCopyObject %a1 %z"),
    ("%c0 = OpConstant %u 3\n%c1 = OpSpecConstantOp %u IMul %c0 %c0\n%c2 = OpSpecConstantOp %u IMul %c1 %c1\n"
     "%a = OpTypeArray %m %c2\n%p = OpTypePointer Function %a", "OpVariable %p Function"),
)  # fmt: skip


def load() -> list[Input]:
    """Return all seeds; foreign languages' seeds are made by the package that is tested."""
    import coopmat

    sources = [Input("cl", text, grows=True) for text in _GROWING]
    places = [*(ROOT / "kernels").glob("*.cl"), *(ROOT / "tests/golden/in").glob("*/*.cl")]
    for path in sorted([*places, *(ROOT / "tests/kernels").glob("*.cl")]):
        text = path.read_text(encoding="utf-8", errors="replace")
        sources.append(Input("cl", text, tuple(_defines(text))))
    found = [source for source in sources if len(source.text) <= _LONGEST]
    found += [Input("spv", _MODULE.replace("TYPES", types).replace("USE", use), grows=True)
              for types, use in _GROWING_SPIRV]  # fmt: skip
    for source in list(found):
        if source.language != "cl":
            continue
        for dialect in ("khr", "llvm"):
            try:
                options = ["-w", *source.options, "--dialect", dialect]
                text = coopmat.compile(source.text, options).llvm_ir
                binary = coopmat.compile(source.text, ["-w", "--no-validate", *source.options]).spirv
            except Exception:
                continue
            if len(text) <= _LONGEST:
                found.append(Input("ir", text))
            if dialect == "khr" and len(binary) <= _LONGEST:
                found.append(Input("spv", binary))
    for path in sorted((ROOT / "tests/golden/out").glob("*/*.spvasm")):
        found.append(Input("spv", path.read_text()))
    found += [Input("ir", path.read_text()) for path in sorted((ROOT / "tests/documents").glob("*.ll"))]
    return [seed for seed in found if len(seed.text) <= _LONGEST]


def _defines(text: str) -> list[str]:
    run = re.search(r"// run:.*(?:\n//      .*)*", text)
    words = shlex.split(run[0].replace("//", " ").replace("'", " ")) if run else []
    return [word for word in words if word.startswith("-D")]
