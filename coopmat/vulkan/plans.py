"""The multiply-add that a Vulkan device has for a product of matrices, as `coopmat plan` reports it.

`coopmat.linalg` does not support Vulkan devices, so that there is no tile and no time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from coopmat.matrices.variants import COMPONENT_TYPES

from .devices import Product, VulkanDevice

_REASON = "coopmat.linalg does not support Vulkan devices: there is no tile and no time"
_INSTEAD = (
    "write the product as a kernel, such as kernels/gemm_f16.cl, and run it with `coopmat run --device {}` or "
    "coopmat.vulkan; or name an OpenCL device"
)


@dataclass(frozen=True)
class Plan:
    """What a Vulkan device has for a product.

    supported: whether `coopmat.linalg` computes the product, which is false. reason: why. instead: what to do.
    shape: (matrices in the batch, m, n, k). types: the component types of A, B and C.
    route: the route of a kernel with these types: native if the device multiplies them.
    multiply_add: the device's multiply-add for the shape; empty if there is none.
    multiply_adds, flexible: all with these types, and those of which the device has the multiples of the shape.
    """

    device: str
    operation: str
    supported: bool
    reason: str
    instead: str
    shape: tuple[int, int, int, int]
    types: tuple[str, ...]
    route: str
    multiply_add: str
    multiply_adds: tuple[str, ...]
    flexible: tuple[str, ...]

    def to_record(self) -> dict[str, Any]:
        """Return the plan as values that JSON can represent."""
        return asdict(self)

    def __str__(self) -> str:
        batch, m, n, k = self.shape
        used = f"{self.multiply_add} of VK_KHR_cooperative_matrix" if self.multiply_add else "no matrix instruction"
        lines = [
            f"{self.operation} {m} x {n} x {k}{f', {batch} matrices' if batch > 1 else ''}, {', '.join(self.types)}",
            f"device       {self.device}",
            f"plan         not supported: {self.reason}",
            f"route        {self.route} of a kernel with these types, {used}",
            f"products     {', '.join(self.multiply_adds) or 'none'}",
        ]
        if self.flexible:
            lines.append(f"flexible     multiples of {', '.join(self.flexible)} (VK_NV_cooperative_matrix2)")
        return "\n".join([*lines, f"instead      {self.instead}"])


def plan(device: VulkanDevice, operation: str, *, m: int, n: int, k: int, batch: int, types: Sequence[str]) -> Plan:
    """Return what a device has for a product. Raises ValueError for other types than A's, B's and, if it is given, C's.

    The multiply-add is the largest whose shape divides the product's; if there is none, the largest.
    """
    if len(types) not in (2, 3) or any(name not in COMPONENT_TYPES for name in types):
        raise ValueError(f"types: expected those of A, B and C (one of {', '.join(sorted(COMPONENT_TYPES))})")
    fixed, flexible = ([row for row in rows if _has_types(row, types)] for rows in (device.products, device.flexible))
    candidates = fixed or flexible
    divisors = [row for row in candidates if not (m % row.m or n % row.n or k % row.k)]
    best = max(divisors or candidates, key=lambda row: row.m * row.n * row.k, default=None)
    return Plan(
        device.label,
        operation,
        supported=False,
        reason=_REASON,
        instead=_INSTEAD.format(device.index),
        shape=(batch, m, n, k),
        types=tuple(types),
        route="native" if candidates else "lanes",
        multiply_add=str(best) if best is not None else "",
        multiply_adds=tuple(map(str, fixed)),
        flexible=tuple(map(str, flexible)),
    )


def _has_types(row: Product, types: Sequence[str]) -> bool:
    """Return whether a multiply-add has the types; one that saturates is another operation."""
    is_equal = (row.a, row.b) == tuple(types[:2]) and (len(types) == 2 or types[2] == row.result)
    return is_equal and row.scope == "subgroup" and not row.saturating
