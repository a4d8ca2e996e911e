"""Lines on standard output, as upstream's runner prints them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from ..outcome import Outcome, Results, Status
from ..schedule import Settings

# The characters that XML 1.0 cannot represent, and no page should contain.
_NOT_PRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class TextReport:
    """A `TextReport` prints a line before each variant that repeats it, one after it, and the sum. With several `jobs`
    the line before is printed together with the one after, so that lines of other variants are not in between. With
    `counts`, the line after a variant has how many of the variants are done."""

    def __init__(self, settings: Settings, jobs: int, echo: Callable[[str], None], counts: bool = False) -> None:
        self._settings = settings
        self._early = jobs == 1
        self._echo = echo
        self._last_command = ""
        self._counts = counts
        self._planned, self._done = 0, 0

    def begin(self, planned: int) -> None:
        """Note how many variants there will be."""
        self._planned = planned

    def started(self, test: str, variant: str, route: str) -> None:
        if self._early:
            self._tell(test, variant, route)

    def done(self, outcome: Outcome) -> None:
        self._tell(outcome.test, outcome.variant, outcome.route)
        self._last_command = ""
        if outcome.status is Status.NOT_SUPPORTED:
            lines = ["test not supported" + (f" ({outcome.log})" if outcome.log else "")]
        else:
            lines = [outcome.status.value, *(f"    {line}" for line in outcome.log.splitlines())]
        self._done += 1
        if self._counts:
            lines[0] = f"{lines[0]}  [{self._done} of {self._planned}]"
        if outcome.directory:
            lines.append(f"    see {outcome.directory}")
        self._echo("\n".join(lines))

    def _tell(self, test: str, variant: str, route: str) -> None:
        command = self._settings.command(test, variant, route)
        if command != self._last_command:
            self._echo(command)
            self._last_command = command

    def summary(self, results: Results) -> None:
        """Print the last lines: failures and unsupported variants once more, numbers, the verdict."""
        if results.failures and len(results.outcomes) > 1:
            self._echo("\nfailed:")
            for outcome in results.failures:
                self._echo(f"    {self._settings.command(outcome.test, outcome.variant, outcome.route)}")
        unsupported = [outcome for outcome in results.outcomes if outcome.status is Status.NOT_SUPPORTED]
        if unsupported:
            self._echo("\nnot supported:")
            for (test, route, why), count in Counter((o.test, o.route, o.log) for o in unsupported).items():
                variants = f", {count} variants" if count > 1 else ""
                self._echo(f"    {test} --route {route}{variants}: {why}")
        counts = results.counts()
        numbers = ", ".join(f"{count} {status.value}" for status, count in counts.items())
        self._echo(
            f"\n{len(results.outcomes)} variants on {results.device.label}, routes {' '.join(results.routes)},"
            f" seed {results.options['seed']}, in {results.seconds:.1f} s: {numbers}"
        )
        if not results.complete:
            why = "interrupted" if results.interrupted else "stopped after the first failure"
            self._echo(f"{why}: {results.planned - len(results.outcomes)} of {results.planned} variants were not run")
        self._echo(verdict(results))


def verdict(results: Results) -> str:
    """Return `PASSED n of n tests.` or `FAILED k of n tests.`; tests are counted as upstream does, each with all of its
    variants. A test that is not supported counts like upstream's skipped ones: it has not failed. If all are, no test
    was run."""
    if not results.tested:
        return "No test was run."
    tests = results.tests()
    failed = sum(status is Status.FAILED for status in tests.values())
    if failed:
        return f"FAILED {failed} of {len(tests)} tests."
    return f"PASSED {len(tests)} of {len(tests)} tests."


def printable(text: str) -> str:
    """Return a text with replacements for characters that drivers may print but documents may not contain."""
    return _NOT_PRINTABLE.sub("\ufffd", text)
