"""`coopmat completion`, and what a shell offers for the arguments that click does not know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import click
from click.shell_completion import CompletionItem, get_completion_class

_VARIABLE = "_COOPMAT_COMPLETE"
_SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS))
def command(shell: str) -> None:
    """Print the script by which SHELL completes commands, options, names of tests and routes.

    Example: eval "$(coopmat completion bash)"
    """
    from .app import group

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(group, {}, "coopmat", _VARIABLE).source())


def complete_tests(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the names of conformance tests that begin with `incomplete`."""
    from coopmat.cts.operations import OPERATIONS

    return _matching((f"{mode}_{each.name}" for each in OPERATIONS.values() for mode in each.modes), incomplete)


def complete_routes(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return routes; of a list with commas, the last one is completed."""
    from coopmat.matrices.routes import LISTED_ROUTES

    before, comma, last = incomplete.rpartition(",")
    return [CompletionItem(before + comma + item.value) for item in _matching(LISTED_ROUTES, last)]


def compile_items(before: Sequence[str], incomplete: str) -> list[CompletionItem]:
    """Return what may follow the arguments `before` of `coopmat compile`: a value, an option or a file."""
    # bash splits --flag=value at the equals sign.
    words = [word for word in before if word != "="]
    flag = words[-1] if words else ""
    if flag in _values():
        return _matching(_values()[flag], incomplete)
    if incomplete.startswith("-"):
        return _matching(_options(), incomplete)
    return [CompletionItem(incomplete, type="file")]


def _values() -> Mapping[str, Sequence[str]]:
    from coopmat import options
    from coopmat.native_profiles import NATIVE_PROFILES

    from .arguments import FLAGS
    from .compile import KINDS, STAGES

    own = {name: flag.choices for flag in FLAGS if flag.choices for name in flag.names}
    return own | {
        "--emit": tuple(KINDS),
        "--print-after": tuple(STAGES),
        "--matrices": options.MATRICES,
        "--native-profile": tuple(NATIVE_PROFILES),
        "--dialect": options.DIALECTS,
        "--code": options.CODES,
        "--spirv-version": options.SPIRV_VERSIONS,
        "-cl-std": options.CL_STANDARDS,
    }


def _options() -> list[str]:
    from coopmat.options import FLAGS as COMPILER_FLAGS
    from coopmat.warning_options import MEMBERS

    from .arguments import FLAGS

    own = [name for flag in FLAGS if flag.help for name in flag.names]
    compiler = [flag.spelling for flag in COMPILER_FLAGS]
    return [*own, *compiler, *(f"-W{no}{name}" for no in ("", "no-") for name in MEMBERS)]


def _matching(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in sorted(set(names)) if name.startswith(incomplete)]
