"""What there is to test on a device: its multiply-adds and matrix types, in subgroups of which sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from coopmat.devices import DeviceInfo
from coopmat.matrices.supported import Supported
from coopmat.matrices.variants import MatrixType, Variant


@dataclass(frozen=True)
class Profile:
    """`route`: native, or a lowering. Each multiply-add comes with the subgroup size, in work-items, that it is for;
    None where the device chooses.

    `matrix_types` are what operations on single matrices are tested with. Places in memory start at multiples of
    `pointer_alignment` bytes, and strides are multiples of `stride_multiple` bytes.
    """

    device: DeviceInfo
    route: str
    multiply_adds: tuple[tuple[Variant, int | None], ...]
    matrix_types: tuple[tuple[MatrixType, int | None], ...]
    pointer_alignment: int = 1
    stride_multiple: int = 1

    @property
    def is_native(self) -> bool:
        return self.route == "native"

    @cached_property
    def _supported(self) -> dict[int | None, Supported]:
        found: dict[int | None, list[Variant]] = {}
        for variant, size in self.multiply_adds:
            found.setdefault(size, []).append(variant)
        return {size: Supported(tuple(variants)) for size, variants in found.items()}

    def has_type(self, matrix: MatrixType, sub_group_size: int | None) -> bool:
        """Whether a kernel may use it: a lowering has every type."""
        if not self.is_native:
            return True
        supported = self._supported.get(sub_group_size)
        return supported is not None and supported.has_type(matrix)

    def suffix(self, sub_group_size: int | None) -> str:
        """What the name of a variant ends with, so that it says in subgroups of which size it runs."""
        return f".sg{sub_group_size}" if sub_group_size is not None and self.route != "one" else ""

    def types(self) -> Iterator[tuple[MatrixType, int | None]]:
        yield from self.matrix_types
