"""The drivers, in the order in which they are asked. docs/extending.md tells how to add one."""

from __future__ import annotations

from functools import cache

from cases import Driver

from coopmat.frontend.builtins import Overload

from . import (
    async_copies,
    atomics,
    barriers,
    clock,
    conversions,
    images,
    matrices,
    pointers,
    printing,
    second_results,
    subgroups,
    values,
    vector_data,
    work_groups,
    work_items,
)

DRIVERS: tuple[Driver, ...] = (
    *conversions.DRIVERS,
    *second_results.DRIVERS,
    *vector_data.DRIVERS,
    *work_items.DRIVERS,
    *barriers.DRIVERS,
    *subgroups.DRIVERS,
    *work_groups.DRIVERS,
    *atomics.DRIVERS,
    *async_copies.DRIVERS,
    *images.DRIVERS,
    *pointers.DRIVERS,
    *matrices.DRIVERS,
    *printing.DRIVERS,
    *clock.DRIVERS,
    *values.DRIVERS,
)


@cache
def driver_of(overload: Overload) -> Driver | None:
    """The driver that tests the overload; None where there is none, which the test suite does not allow."""
    return next((driver for driver in DRIVERS if driver.takes(overload)), None)
