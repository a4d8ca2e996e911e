"""`coopmat export`: products of matrices as a C header, for programs without Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from coopmat.matrices.routes import ROUTES
from coopmat.options import CODES, UsageError

from .files import read_source, write_outputs
from .status import ExitStatus

if TYPE_CHECKING:
    from coopmat.linalg.listing import Listing


@click.command()
@click.argument("operation", type=click.Choice(["gemm"]))
@click.option("--types", multiple=True, required=True, help="The component types of A, B and C; or one for A and B.")
@click.option("-o", "--output", required=True, metavar="FILE|-", help="Write the header to FILE.")
@click.option("--device", metavar="D", help="A part of the name of a platform or device, or PLATFORM:DEVICE numbers.")
@click.option("--device-info", metavar="FILE", help="Compile for the device in a KEY=VALUE file.")
@click.option("--matrices", metavar="HOW", default="auto", show_default=True, help="Use this route (docs/routes.md).")
@click.option("--code", type=click.Choice(CODES), default="auto", show_default=True, help="Write this form of kernels.")
@click.option("--name", metavar="NAME", help="Begin all names in C with NAME (default: FILE's, without its suffix).")
@click.option("--trans-b", is_flag=True, help="Take B as n x k, which is the transpose of the product's B.")
def command(
    operation: str,
    types: tuple[str, ...],
    output: str,
    device: str | None,
    device_info: str | None,
    matrices: str,
    code: str,
    name: str | None,
    trans_b: bool,
) -> int:
    """Write a C header that multiplies matrices by the kernels of coopmat.linalg, with nothing but OpenCL.

    --types may be repeated: the header has a function for each. A file (--device-info) does not say which
    matrix instructions the device computes correctly: none are used, unless --matrices names their route.

    Example: coopmat export gemm --types f16 --types s8,s8,s32 -o gemm.h
    """
    from coopmat.devices import from_key_values, select
    from coopmat.export import Library, header_text, require_name
    from coopmat.linalg.parameters import TableError
    from coopmat.runtime.ahead import AheadTarget

    if device is not None and device_info is not None:
        raise UsageError("--device and --device-info exclude each other")
    if matrices not in ("auto", *ROUTES):
        raise UsageError(f"--matrices takes a route of docs/routes.md, not '{matrices}'")
    stem = name if name is not None else operation if output == "-" else Path(output).stem
    try:
        require_name(stem)
    except ValueError as error:
        raise UsageError(f"--{error}") from error
    listings = [_listing(words, trans_b) for words in types]
    if device_info is not None:
        described = from_key_values(read_source(device_info).decode(), device_info)
    else:
        described = select(device)
    try:
        library = Library.of(AheadTarget.of(described, matrices, code), listings)
    except TableError as error:
        raise UsageError(str(error)) from error
    write_outputs({output: header_text(library, stem).encode()})
    return ExitStatus.DONE


def _listing(words: str, transposes_b: bool) -> Listing:
    """Return the products of the types in a value of `--types`. Raises UsageError."""
    from coopmat.linalg.listing import Listing

    try:
        return Listing.of(tuple(words.split(",")), transposes_b)
    except (TypeError, ValueError) as error:
        raise UsageError(f"--types {words}: {str(error).partition(': ')[2]}") from error
