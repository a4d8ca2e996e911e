"""The pages of the command line, from click's definitions and from the flags of `coopmat compile`."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator

import click

from coopmat.cli import compile as compile_command
from coopmat.cli.app import COMMANDS
from coopmat.cli.status import ExitStatus

FOLDER = "reference/command-line"


def pages() -> dict[str, str]:
    """Return path -> text of the index and of the page of each command."""
    result = {f"{FOLDER}/index.md": "\n".join(_index())}
    for name, (module, _) in COMMANDS.items():
        command: click.Command = importlib.import_module(module).command
        result[f"{FOLDER}/{name}.md"] = "\n".join(_page(f"coopmat {name}", command))
    return result


def _index() -> Iterator[str]:
    yield from ("# Command line", "", "| command | purpose |", "|---|---|")
    yield from (f"| [`coopmat {name}`]({name}.md) | {_cell(text)} |" for name, (_, text) in COMMANDS.items())
    yield from ("", "`@FILE` on a command line stands for the arguments in a file.", "", "## Exit status", "")
    yield from ("| status | meaning |", "|---|---|")
    meanings = dict(re.findall(r"^([A-Z]+): (.*)$", inspect.getdoc(ExitStatus) or "", re.MULTILINE))
    yield from (f"| {status.value} | {meanings[status.name]} |" for status in ExitStatus)
    yield from ("", "```{toctree}", ":hidden:", "", *COMMANDS, "```", "")


def _page(name: str, command: click.Command, level: int = 1) -> Iterator[str]:
    context = click.Context(command, info_name=name)
    yield from (f"{'#' * level} {name}", "")
    if command is compile_command.command:
        yield from _compile()
        return
    yield from ("```text", " ".join([name, *command.collect_usage_pieces(context)]), "```", "")
    yield from (_prose(command.help or ""), "")
    options = [p for p in command.get_params(context) if isinstance(p, click.Option) and not p.hidden]
    if options:
        yield from ("| option | meaning |", "|---|---|")
        yield from (_option(option, context) for option in options)
        yield ""
    if isinstance(command, click.Group):
        for part in command.list_commands(context):
            yield from _page(f"{name} {part}", command.commands[part], level + 1)


def _option(option: click.Option, context: click.Context) -> str:
    record = option.get_help_record(context)
    assert record is not None
    return f"| `{_bars(record[0])}` | {_cell(record[1])} |"


def _compile() -> Iterator[str]:
    """Yield the sections of the help of `coopmat compile`, which has a parser of its own."""
    yield from ("```text", f"coopmat compile {compile_command.USAGE}", "```", "", _prose(compile_command.SUMMARY), "")
    for title, rows in compile_command.help_sections().items():
        yield from (f"## {title}", "", "| option | meaning |", "|---|---|")
        yield from (f"| `{_bars(names)}` | {_cell(text)} |" for names, text in rows)
        yield ""


def _prose(text: str) -> str:
    """Return a command's help as Markdown: paragraphs, with an example as a block."""
    parts = []
    for part in inspect.cleandoc(text).replace("\b\n", "").split("\n\n"):
        match = re.fullmatch(r"Example: (.*)", part, re.DOTALL)
        parts.append(f"Example:\n\n```text\n{match[1]}\n```" if match else _escaped(part))
    return "\n\n".join(parts)


def _cell(text: str) -> str:
    return _escaped(_bars(" ".join(text.split())))


def _bars(text: str) -> str:
    return text.replace("|", "\\|")


def _escaped(text: str) -> str:
    """Escape the characters that Markdown would read as markup, outside of code, and link to the pages of docs/."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else _linked(re.sub(r"([*_<])", r"\\\1", part)) for part in parts)


def _linked(text: str) -> str:
    return re.sub(r"docs/([a-z-]+)\.md(#[a-z-]+)?", r"[\1](../../\1.md\2)", text)
