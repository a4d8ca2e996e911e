"""Compare random trees of matrix operations on an OpenCL device with numpy.

tests/matrix_types/expressions draws the trees. Each runs through the device's OpenCL C compiler or, with --ours,
through ours. Results must be equal bit for bit, or within the bound of contraction. Failures are reported by their
seed.
"""

from __future__ import annotations

from random import Random

import click
from tree_cases import Case, draw
from tree_programs import run

from coopmat.devices import DeviceInfo, list_devices


@click.command(help=__doc__)
@click.option("--first", default=0, show_default=True, help="the first seed")
@click.option("--count", default=1000, show_default=True)
@click.option("--batch", default=50, show_default=True, help="trees of a program")
@click.option("--ours/--device", default=False, help="whose compiler")
@click.option("--large", default=0.3, show_default=True, help="how many have one of the larger shapes")
def main(first: int, count: int, batch: int, ours: bool, large: float) -> None:
    found = [d for d in list_devices() if d.sub_groups and d.fp16 and d.fp64]
    if not found:
        raise click.ClickException("no OpenCL device with half and double: pip install 'coopmat[cpu]'")
    failed = 0
    for start in range(first, first + count, batch):
        cases = []
        for seed in range(start, min(start + batch, first + count)):
            cases.append(draw(Random(seed), large=large))
            cases[-1].label = f"seed {seed}"
        # A module is contracted as a whole, or not at all.
        for contract in (False, True):
            failed += _batch(found[0], [case for case in cases if case.tree.contract == contract], ours)
        click.echo(f"{min(start + batch, first + count) - first} of {count}, {failed} failed")
    raise SystemExit(failed > 0)


def _batch(device: DeviceInfo, cases: list[Case], ours: bool) -> int:
    """Return the number of trees that fail; if a whole program fails, its trees are tried one by one."""
    try:
        if cases:
            run(device, cases, ours=ours)
        return 0
    except Exception as error:
        if len(cases) == 1:
            click.echo(f"{cases[0].label}: {type(error).__name__}: {str(error)[:2000]}")
            return 1
    return sum(_batch(device, [case], ours) for case in cases)


if __name__ == "__main__":
    main()
