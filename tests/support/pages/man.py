"""The manual pages of the commands (`docs/man/*.1`), made from their help."""

from __future__ import annotations

import copy

import click

from coopmat.cli.app import COMMANDS, group
from coopmat.cli.compile import help_text

_WIDTH = 76


def pages() -> dict[str, str]:
    """Return the name of each file -> its text in roff."""
    root = click.Context(group, info_name="coopmat", terminal_width=_WIDTH, **group.context_settings)
    every = {"coopmat": _page("coopmat", group.get_help(root), "cooperative matrices for OpenCL C")}
    for name, (_, summary) in COMMANDS.items():
        command = group.get_command(root, name)
        assert command is not None
        text = help_text(_WIDTH) if name == "compile" else _help(command, name, root)
        every[f"coopmat-{name}"] = _page(f"coopmat-{name}", text, summary.rstrip("."))
    return {f"{name}.1": text for name, text in every.items()}


def _help(command: click.Command, name: str, parent: click.Context) -> str:
    """Return the help of a command, followed by that of its own commands."""
    command = copy.copy(command)  # click keeps its help option, whose names depend on the parent
    context = click.Context(command, info_name=name, parent=parent, terminal_width=_WIDTH)
    inner = command.commands if isinstance(command, click.Group) else {}
    return "\n\n".join([command.get_help(context), *(_help(inner[word], word, context) for word in sorted(inner))])


def _page(name: str, text: str, summary: str) -> str:
    usage, _, body = text.partition("\n\n")
    see = ", ".join(f"coopmat-{other}(1)" for other in COMMANDS) if name == "coopmat" else "coopmat(1)"
    return "".join(
        [
            f'.\\" Made by tools/pages from the help of the command; do not edit.\n.TH {name.upper()} 1\n',
            f".SH NAME\n{_escaped(name)} \\- {_escaped(summary)}\n",
            f".SH SYNOPSIS\n.nf\n{_escaped(usage.removeprefix('Usage: '))}\n.fi\n",
            f".SH DESCRIPTION\n.nf\n{_escaped(body)}\n.fi\n",
            f".SH SEE ALSO\n{_escaped(see)}\n",
        ]
    )


def _escaped(text: str) -> str:
    """Return text for roff, in which a backslash, a minus and a dot or quote at the beginning of a line are special."""
    lines = text.replace("\\", "\\e").replace("-", "\\-").splitlines()
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line.rstrip() for line in lines)
