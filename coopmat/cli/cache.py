"""`coopmat cache`: show the contents of the cache on disk, or remove them."""

from __future__ import annotations

import json
import os
from dataclasses import asdict

import click

from coopmat.cache import NO_CACHE, Cache, cache_directory, directories

from .status import ExitStatus


@click.group(no_args_is_help=True)
def command() -> None:
    """Show how large the cache of builds is, or empty it.

    COOPMAT_CACHE_DIR names its directory. COOPMAT_CACHE_SIZE limits the size of its builds (default 512M); the least
    recently used ones are removed first. COOPMAT_NO_CACHE=1 turns the cache off. A directory that others can open is
    not used.

    Example: coopmat cache info
    """


@command.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def info(as_json: bool) -> int:
    """Show the cache's directory and size, and whether the cache is used.

    Example: coopmat cache info --json
    """
    state = directories.state(cache_directory())
    is_off = Cache.of_environment().directory is None
    if as_json:
        click.echo(json.dumps({**asdict(state), "off": is_off}, indent=2))
        return ExitStatus.DONE
    unused = f"{NO_CACHE}={os.environ[NO_CACHE]}" if is_off else state.fault
    rows = {
        "directory": state.directory,
        "used": f"no: {unused}" if unused else "yes",
        "builds": f"{state.entries}, {_megabytes(state.size)} of {_megabytes(state.limit)}",
        "refused programs": f"{state.refused}, {_megabytes(state.refused_size)}",
    }
    for name, text in rows.items():
        click.echo(f"{name:16}  {text}")
    return ExitStatus.DONE


@command.command()
def clear() -> int:
    """Remove all builds and refused programs from the cache.

    Example: coopmat cache clear
    """
    before = directories.state(cache_directory())
    directories.clear(cache_directory())
    after = directories.state(cache_directory())
    count, freed = before.entries - after.entries, before.size - after.size
    click.echo(f"removed {count} builds, {_megabytes(freed)}, and {before.refused - after.refused} refused programs")
    return ExitStatus.DONE


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB"
