"""`coopmat cts`: run the conformance tests of cooperative matrices on a device."""

from __future__ import annotations

import difflib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coopmat.matrices.routes import LISTED_ROUTES, ROUTES

from .completion import complete_routes, complete_tests
from .files import write_outputs
from .progress import progress
from .status import ExitStatus

if TYPE_CHECKING:
    from coopmat.cts.outcome import Outcome, Results
    from coopmat.cts.run import Place
    from coopmat.cts.schedule import Settings
    from coopmat.devices import DeviceInfo

    Render = Callable[[Results, Settings], str]

# Upstream's environment variables: the file for the results, and the selection of a few variants.
_RESULTS, _WIMPY = "CL_CONFORMANCE_RESULTS_FILENAME", "CL_WIMPY_MODE"


def _routes(ctx: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for word in value.split(",") if value else ():
        found = [name for name in ROUTES if fnmatchcase(name, word)]
        if not found:
            text = f"'{word}' is not one of {', '.join(LISTED_ROUTES)}, or one of their generations (docs/vendors.md)"
            near = difflib.get_close_matches(word, ROUTES, n=1)
            raise click.BadParameter(text + "".join(f"; did you mean '{name}'?" for name in near), ctx, parameter)
        names |= dict.fromkeys(found)
    return tuple(names)


_ROUTES = f"Test these routes, separated by commas: {', '.join(LISTED_ROUTES)}, NAME@GENERATION, or a pattern with `*`."


@click.command()
@click.argument("tests", nargs=-1, metavar="[TEST]...", shell_complete=complete_tests)
@click.option("--variant", "variants", multiple=True, metavar="V", help="Run only this variant; `*` matches any text.")
@click.option("-l", "--list", "as_list", is_flag=True, help="List the tests; with TEST or --variant, the variants.")
@click.option("-w", "--wimpy", is_flag=True, help=f"Run a few variants of each test; so does {_WIMPY}=1.")
@click.option("--exhaustive", is_flag=True, help="Run every variant instead of a covering selection.")
@click.option("--route", "routes", callback=_routes, metavar="R", help=_ROUTES, shell_complete=complete_routes)
@click.option("--device", metavar="D", help="Use this device: part of its or its platform's name, or vulkan:NAME.")
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, metavar="N", help="Run N variants at a time.")
@click.option("--resume", metavar="REPORT", help="Continue the run of this JSON report; skip its variants.")
@click.option("--compare", type=(str, str), metavar="A B", help="Print the differences between two JSON reports.")
@click.option("--cluster", metavar="ADDRESS", help="Run on a cluster: scheduler or local:N (docs/cluster.md).")
@click.option("--seed", type=click.IntRange(0), default=0, metavar="S", help="Draw inputs and variants with this seed.")
@click.option(
    "--timeout",
    type=click.FloatRange(0.1),
    default=60.0,
    metavar="S",
    help="End a variant after S seconds (default 60).",
)
@click.option(
    "--tolerance",
    type=click.Choice(["strict", "upstream"]),
    default="strict",
    help="Set the tolerance of multiply-adds.",
)
@click.option(
    "--code", type=click.Choice(["auto", "spirv", "c"]), default="auto", help="Pass SPIR-V or C to the device."
)
@click.option("--fail-fast", is_flag=True, help="Stop at the first failure.")
@click.option("--keep", default="cts-failures", metavar="DIR", help="Store the files of failing variants in DIR.")
@click.option("--json", "json_file", metavar="FILE", help="Write the results as JSON.")
@click.option("--html", "html_file", metavar="FILE", help="Write the results as an HTML page.")
@click.option("--junit", "junit_file", metavar="FILE", help="Write the results as JUnit's XML.")
def command(**options: Any) -> int:
    """Run the conformance tests of cooperative matrices on a device: all, or those named.

    Example: coopmat cts 'c_*' --wimpy -j 2
    """
    from coopmat.devices import require_health
    from coopmat.targets import find_device, is_vulkan

    if options["compare"]:
        a, b = options["compare"]
        return _compare(a, b, options["json_file"])
    if options["wimpy"] and options["exhaustive"]:
        raise click.UsageError("--wimpy and --exhaustive exclude each other")
    if options["cluster"] and options["as_list"]:
        raise click.UsageError("--list and --cluster exclude each other")
    if options["cluster"] and is_vulkan(options["device"]):
        raise click.UsageError("Vulkan devices are not supported on a cluster yet; use -j N")
    if options["cluster"] and not options["cluster"].startswith("local:"):
        return _on_cluster(options)
    device = find_device(options["device"])
    if not options["as_list"]:
        require_health(device)
    if options["cluster"]:
        return _on_local_cluster(options, device)
    return conduct(settings_for(device, options), device, options)


def _compare(a: str, b: str, json_file: str | None) -> int:
    """Print a table of the differences between two reports, and return INPUT if B has a failure that A lacks.

    `json_file` is the file for the differences as JSON, which replace the table if it is "-".
    """
    from coopmat.cts.report.differences import compare, render, render_json
    from coopmat.cts.report.read import read

    comparison = compare(read(a), read(b))
    if json_file:
        write_outputs({json_file: render_json(comparison).encode()})
    if json_file != "-":
        click.echo(render(comparison), nl=False)
    return ExitStatus.INPUT if comparison.is_worse else ExitStatus.DONE


def _on_cluster(options: Mapping[str, Any]) -> int:
    from coopmat.cluster.dask_engine import DaskEngine
    from coopmat.cluster.identity import chosen
    from coopmat.cts.remote import ClusterDevice

    engine = DaskEngine(options["cluster"], lambda text: click.echo(text, err=True))
    try:
        found = chosen(engine.devices().values(), options["device"])
        place = ClusterDevice(engine, found.resource)
        return conduct(settings_for(found.info, options), found.info, options, place)
    finally:
        engine.close()


def settings_for(device: DeviceInfo, options: Mapping[str, Any]) -> Settings:
    """Return the settings of a run, from the command's options and the environment."""
    from coopmat.cts.schedule import Settings
    from coopmat.devices import route_for

    wimpy = options["wimpy"] or _WIMPY in os.environ
    return Settings(
        device=device.index,
        default_route=route_for(device).matrices,
        selection="exhaustive" if options["exhaustive"] else "wimpy" if wimpy else "default",
        device_name=options["device"] or "",
        **{name: options[name] for name in ("seed", "tolerance", "timeout", "keep", "code")},
    )


def _on_local_cluster(options: Mapping[str, Any], device: DeviceInfo) -> int:
    from coopmat.cluster.dask_engine import DaskEngine
    from coopmat.cts.remote import ClusterDevice
    from coopmat.devices import list_devices
    from coopmat.devices.select import resource_names

    every = list_devices()
    names = {info.index: name for name, info in zip(resource_names(every), every, strict=True)}
    resource = names[device.index]
    engine = DaskEngine(options["cluster"], device=resource)
    try:
        place = ClusterDevice(engine, resource, device)
        return conduct(settings_for(device, options), device, options, place)
    finally:
        engine.close()


def conduct(settings: Settings, device: DeviceInfo, options: Mapping[str, Any], place: Place | None = None) -> int:
    """List or run the selected tests, write the reports, and return the exit status."""
    from coopmat.cts.report.read import read
    from coopmat.cts.report.text import TextReport
    from coopmat.cts.run import run

    if options["as_list"]:
        return _list(settings, device, options)
    reports = _reports(options)
    resume = read(options["resume"]) if options["resume"] else None
    # If a report is written to standard output, the text goes to standard error.
    stream = sys.stderr if "-" in reports else sys.stdout
    on_terminal = stream.isatty()
    text = TextReport(settings, 2 if place else options["jobs"], partial(click.echo, file=stream), on_terminal)

    def begin(planned: int) -> None:
        text.begin(planned)
        bar.begin(planned)

    # On a terminal, the lines of the variants contain a count, so that no progress bar is needed.
    with progress(not on_terminal) as bar:

        def done(outcome: Outcome) -> None:
            text.done(outcome)
            bar.advance()

        results = run(
            settings,
            device,
            **{name: options[name] for name in ("tests", "variants", "routes", "jobs", "fail_fast")},
            arguments=sys.argv[1:],
            place=place,
            resume=resume,
            planned=begin,
            started=text.started,
            done=done,
        )
    with _no_interrupts():
        write_outputs({name: render(results, settings).encode() for name, render in reports.items()})
        text.summary(results)
    if results.interrupted:
        return ExitStatus.INTERRUPTED
    return ExitStatus.INPUT if results.failures or not results.tested else ExitStatus.DONE


def _list(settings: Settings, device: DeviceInfo, options: Mapping[str, Any]) -> int:
    from coopmat.cts.operations.sentences import SENTENCES
    from coopmat.cts.run import select_items
    from coopmat.cts.schedule import Catalogue

    catalogue = Catalogue(settings, device)
    tests = catalogue.tests()
    width = max(map(len, tests), default=0)
    lines = [f"{test:{width}}  {SENTENCES.get(test.partition('_')[2], '')}".rstrip() for test in tests]
    if options["tests"] or options["variants"]:
        selected = select_items(catalogue, options["tests"], options["routes"], options["variants"])
        lines = [settings.command(test, i.variant, route) for (test, route), items in selected.items() for i in items]
    click.echo("\n".join(lines))
    return ExitStatus.DONE


def _reports(options: Mapping[str, Any]) -> dict[str, Render]:
    """Return file name -> renderer for the requested reports.

    Raises OSError if a file cannot be written, so that a run does not fail at its end.
    """
    from coopmat.cts.report import html, json, junit

    renderers: tuple[tuple[str | None, Render], ...] = (
        (options["json_file"], json.render),
        (options["html_file"], partial(html.render, folder=_folder(options["html_file"]))),
        (options["junit_file"], junit.render),
        (os.environ.get(_RESULTS), json.render_upstream),
    )
    names = [name for name, _ in renderers if name]
    for name in names:
        if names.count(name) > 1:
            raise click.UsageError(f"two reports cannot both go to {'standard output' if name == '-' else name}")
    reports = {name: render for name, render in renderers if name}
    for name in reports:
        if name != "-" and not Path(name).absolute().parent.is_dir():
            raise FileNotFoundError(2, "its directory does not exist", name)
        if Path(name).is_dir():
            raise IsADirectoryError(21, "is a directory", name)
    return reports


def _folder(html_file: str | None) -> Path:
    """Return the directory of the HTML page, or the working directory for standard output."""
    return Path(html_file).absolute().parent if html_file and html_file != "-" else Path.cwd()


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C inside the context, so that a second one does not keep the reports from being written."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
