"""`coop_mat_mulAdd_scaled` against numpy: component types, blocks, scales and address spaces on each route."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.matrices import numpy_reference
from coopmat.matrices.native_library import spelled
from coopmat.matrices.numpy_reference import in_memory
from coopmat.matrices.variants import COMPONENT_TYPES, EVERY_COMPONENT_TYPE, MatrixType, Use
from coopmat.options import CompileOptions
from coopmat.runtime import Program, launch, parse_header
from coopmat.runtime.launch import compile_for, resolve_options

ROUTES = (
    *("one", "lanes", "scratch", "x86", "native"),
    *(f"{name}:emulated" for name in ("x86", "mma", "wmma", "mfma", "dpas")),
)
ROW_MAJOR = "CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR"
FACTORS = tuple(name for name, t in EVERY_COMPONENT_TYPE.items() if not t.is_integer and t.bits <= 8)


@dataclass(frozen=True)
class Product:
    """A scaled product: its shape, the component types of A, B and C, and how many scales follow those of a row."""

    m: int = 16
    n: int = 16
    k: int = 32
    a: str = "e4m3"
    b: str = "e5m2"
    c: str = "f32"
    padding: int = 3

    @property
    def types(self) -> tuple[MatrixType, MatrixType, MatrixType]:
        a, b, c = (EVERY_COMPONENT_TYPE[name] for name in (self.a, self.b, self.c))
        return (
            MatrixType(a, self.m, self.k, Use.A),
            MatrixType(b, self.k, self.n, Use.B),
            MatrixType(c, self.m, self.n, Use.ACCUMULATOR),
        )

    @property
    def blocks(self) -> int:
        return -(-self.k // 32)

    def source(self, space: str = "global", scale: str = "floate8m0_t", attributes: str = "") -> str:
        a, b, c = self.types
        stride, prefix, copies = self.blocks + self.padding, "", ""
        if space != "global":
            prefix = "x"
            for name, lines in (("sa", self.m), ("sb", self.n)):
                size = lines * stride
                copies += f"{space} {scale} x{name}[{size}]; for (int i = 0; i < {size}; ++i) x{name}[i] = {name}[i];"
        return f"""
// run: kernel=k global=(sg) local=(sg)
typedef {spelled(a)} A;
typedef {spelled(b)} B;
typedef {spelled(c)} C;
{attributes}
kernel void k(const global {a.component.opencl_c} *a, const global {scale} *sa,
              const global {b.component.opencl_c} *b, const global {scale} *sb, global {c.component.opencl_c} *c)
{{
    {copies}
    A x = coop_mat_load(a, {ROW_MAJOR}, {self.k});
    B y = coop_mat_load(b, {ROW_MAJOR}, {self.n});
    C z = coop_mat_load(c, {ROW_MAJOR}, {self.n});
    z = coop_mat_mulAdd_scaled(x, {prefix}sa, {stride}, y, {prefix}sb, {stride}, z);
    coop_mat_store(c, z, {ROW_MAJOR}, {self.n});
}}
"""

    def inputs(self, rng: np.random.Generator, scales: range = range(117, 137)) -> dict[str, np.ndarray]:
        """Random numbers, and random scales among `scales`; what follows the scales of a row is no scale."""
        a, b, c = self.types
        arrays = {
            name: numpy_reference.narrow(t.component, rng.uniform(-4, 4, (t.rows, t.columns)).astype(np.float32))
            for name, t in (("a", a), ("b", b), ("c", c))
        }
        for name, lines in (("sa", self.m), ("sb", self.n)):
            arrays[name] = np.full((lines, self.blocks + self.padding), 255, np.uint8)
            arrays[name][:, : self.blocks] = rng.integers(scales.start, scales.stop, (lines, self.blocks))
        return arrays

    def expected(self, arrays: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """The exact result in double, and how far the device's may be from it: block after block, by the definition."""
        a, b, c = self.types
        x, y, total = (
            numpy_reference.widen(t.component, arrays[name]).astype(np.float64)
            for name, t in (("a", a), ("b", b), ("c", c))
        )
        bound = np.abs(total)
        for block in range(self.blocks):
            part = slice(32 * block, 32 * block + 32)
            exponents = (arrays[name][:, block].astype(int) - 127 for name in ("sa", "sb"))
            scale = np.ldexp(1.0, np.add.outer(*exponents))
            for name, axis in (("sa", 0), ("sb", 1)):
                np.moveaxis(scale, axis, 0)[arrays[name][:, block] == 255] = np.nan
            total = total + scale * (x[:, part] @ y[part])
            bound = bound + scale * (np.abs(x[:, part]) @ np.abs(y[part]))
        eps = max(2.0**-23, 2.0 ** -(COMPONENT_TYPES[self.c].mantissa + 1))
        return total, bound * eps * (self.k + 2)


def run(source: str, route: str, device: DeviceInfo, arrays: dict[str, np.ndarray], *options: str) -> np.ndarray:
    """C after the launch; a native module is read and lowered."""
    flags = CompileOptions.from_arguments(["-w", "--matrices", "lanes" if route == "native" else route, *options])
    if route == "native":
        native = coopmat.compile(source, ["-w", "--native-profile", "maint1", *options])
        module = coopmat.compile(native.spirv, resolve_options(flags, device), language="spv")
        assert native.validated
        # SPIR-V's integers have no signs.
        arrays = {name: array.view(array.dtype.name.removeprefix("u")) for name, array in arrays.items()}
    else:
        module = compile_for(source.encode(), flags, device, name="scaled.cl")
    (header,) = parse_header(source, "scaled.cl")
    return launch(Program(module, device), header, arrays=arrays).after["c"]


def check(product: Product, device: DeviceInfo, route: str, scales: range = range(117, 137), **words: str) -> None:
    arrays = product.inputs(np.random.default_rng(5), scales)
    memory = {name: in_memory(t.component, arrays[name].ravel()) for name, t in zip("ab", product.types, strict=False)}
    out = run(product.source(**words), route, device, arrays | memory)
    result = numpy_reference.widen(COMPONENT_TYPES[product.c], out).astype(np.float64)
    expected, bound = product.expected(arrays)
    assert np.all(np.abs(result - expected) <= bound), np.abs(result - expected).max()
    assert np.abs(expected).max() > 100 * bound.max() or product.c != "f32"


@pytest.mark.parametrize("route", ROUTES)
def test_every_route(device: DeviceInfo, route: str) -> None:
    """Two blocks on routes that have vectors or lanes; the others multiply one as these do."""
    check(Product(k=64 if route in ("one", "lanes", "native", "x86:emulated") else 32), device, route)


@pytest.mark.parametrize(("a", "b"), list(zip(FACTORS, reversed(FACTORS), strict=True)))
def test_component_types(device: DeviceInfo, a: str, b: str) -> None:
    check(Product(a=a, b=b), device, "one")


@pytest.mark.parametrize(
    ("route", "product"),
    [
        *(("one", Product(k=8)), ("lanes", Product(3, 5, 32)), ("one", Product(4, 4, 80, padding=0))),
        pytest.param("lanes", Product(8, 1, 96), marks=pytest.mark.slow),
        pytest.param("mma:emulated", Product(16, 16, 40), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_shapes_and_blocks(device: DeviceInfo, route: str, product: Product) -> None:
    check(product, device, route)


@pytest.mark.parametrize(("route", "c"), [("one", "bf16"), ("lanes", "f16")])
def test_narrow_accumulators(device: DeviceInfo, route: str, c: str) -> None:
    check(Product(c=c), device, route, range(124, 128))


@pytest.mark.parametrize(("space", "scale"), [("local", "uchar"), ("private", "floate8m0_t")])
def test_scales_in_other_memory(device: DeviceInfo, space: str, scale: str) -> None:
    check(Product(), device, "one", space=space, scale=scale)


@pytest.mark.parametrize("route", ["one", "dpas:emulated"])
def test_scales_of_the_whole_range(device: DeviceInfo, route: str) -> None:
    """Scales are applied to sums: what overflows alone does not if the other scale is small."""
    product = Product(padding=0)
    arrays = product.inputs(np.random.default_rng(6))
    arrays["sa"][:, 0] = [0, 1, 127, 254, 255, *range(0, 220, 20)]
    arrays["sb"][:, 0] = [254, 253, 127, 0, 255, *range(254, 34, -20)]
    arrays["c"][:] = 0
    out = run(product.source(), route, device, arrays)
    expected, bound = product.expected(arrays)
    assert np.isnan(out[4]).all() and np.isnan(out[:, 4]).all()
    with np.errstate(over="ignore"):
        infinite = np.isinf(expected.astype(np.float32))
    np.testing.assert_array_equal(np.isinf(out), infinite)
    # Devices may flush what is less than the least normal number.
    fine = np.isfinite(expected) & ~infinite
    assert fine.sum() > 100 and infinite.sum() > 20
    assert np.all(np.abs(out - expected)[fine] <= np.maximum(bound[fine], 2.0**-126))


HEAD = (
    "".join(f"typedef {spelled(t)} {name};\n" for name, t in zip("ABC", Product().types, strict=True))
    + f"typedef {spelled(replace(Product().types[0], component=COMPONENT_TYPES['f16']))} H;\n"
    + (f"typedef {spelled(replace(Product().types[2], component=COMPONENT_TYPES['f64']))} D;\n")
)


@pytest.mark.parametrize(
    ("parameters", "arguments", "code"),
    [
        ("A a, B b, C c, const global float *s", "a, s, 1, b, s, 1, c", "coop-mat-scaled"),
        ("A a, B b, C c, const global uchar *s", "a, s[0], 1, b, s, 1, c", "coop-mat-scaled"),
        ("A a, B b, D c, const global uchar *s", "a, s, 1, b, s, 1, c", "coop-mat-scaled"),
        ("H a, B b, C c, const global uchar *s", "a, s, 1, b, s, 1, c", "coop-mat-scaled"),
        ("A a, B b, C c, const global uchar *s", "b, s, 1, a, s, 1, c", "coop-mat-wrong-use"),
        ("A a, B b, C c, const global uchar *s", "a, s, -1, b, s, 1, c", "coop-mat-invalid-stride"),
        ("A a, B b, C c, const global uchar *s", "a, s, b, s, c", "argument-count"),
        ("A a, B b, C c, const global uchar *s", "s, a, 1, b, s, 1, c", "coop-mat-not-a-matrix"),
    ],
)
def test_wrong_calls(parameters: str, arguments: str, code: str) -> None:
    with pytest.raises(coopmat.CompileError) as caught:
        coopmat.compile(f"{HEAD}void f({parameters}) {{ coop_mat_mulAdd_scaled({arguments}); }}", ["-w"])
    assert caught.value.diagnostics[0].code == code


def test_pointers_that_differ_between_work_items_are_reported() -> None:
    source = f"{HEAD}C f(A a, B b, C c, const global uchar *s) {{ size_t i = get_local_id(0); return {{}}; }}"
    call = "coop_mat_mulAdd_scaled(a, s + i, 1, b, s, 1, c)"
    (item,) = coopmat.compile(source.replace("{}", call), ["-Wall"]).diagnostics
    assert item.code == "coop-mat-nonuniform" and "the pointer to the scales of A" in item.message


def test_remarks_are_at_the_call() -> None:
    module = coopmat.compile(Product().source(), ["--matrices", "dpas", "-Rpass=matrix"])
    module.opencl_c  # noqa: B018
    (remark,) = (item for item in module.diagnostics if item.severity.name == "REMARK")
    assert remark.span is not None and remark.span.line == 14 and "bf16" in remark.message


def test_matrices_of_a_work_group_are_refused_natively() -> None:
    source = Product().source(attributes="__attribute__((reqd_work_group_size(32, 1, 1)))")
    source = source.replace("SCOPE_SUBGROUP", "SCOPE_WORKGROUP")
    with pytest.raises(coopmat.CompileError, match="not supported natively") as caught:
        coopmat.compile(source, ["-w"]).spirv  # noqa: B018
    (item,) = caught.value.diagnostics
    assert item.code == "native-matrix"
