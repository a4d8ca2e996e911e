"""The results as lines of text, in the form of upstream's runner."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from ..outcome import Outcome, Results, Status
from ..schedule import Settings

# The characters that XML 1.0 cannot represent; the HTML page leaves them out, too.
_NOT_PRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class TextReport:
    """A printer of a line before each variant (the command that repeats it), its outcome after it, and a summary.

    With several `jobs`, the line before a variant is printed together with its outcome, so that lines of different
    variants do not mix. With `counts`, each outcome contains the number of variants that are done.
    """

    def __init__(self, settings: Settings, jobs: int, echo: Callable[[str], None], counts: bool = False) -> None:
        self._settings = settings
        self._early = jobs == 1
        self._echo = echo
        self._last_command = ""
        self._counts = counts
        self._planned, self._done = 0, 0

    def begin(self, planned: int) -> None:
        """Set the number of variants of the run."""
        self._planned = planned

    def started(self, test: str, variant: str, route: str) -> None:
        if self._early:
            self._report(test, variant, route)

    def done(self, outcome: Outcome) -> None:
        self._report(outcome.test, outcome.variant, outcome.route)
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

    def _report(self, test: str, variant: str, route: str) -> None:
        command = self._settings.command(test, variant, route)
        if command != self._last_command:
            self._echo(command)
            self._last_command = command

    def summary(self, results: Results) -> None:
        """Print the failures and unsupported variants again, the numbers, and the verdict."""
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
    """Return `PASSED n of n tests.`, `FAILED k of n tests.` or `No test was run.`.

    Tests are counted as upstream counts them: a test is all of its variants. Unsupported tests count as upstream's
    skipped tests do: they have not failed. If all tests are unsupported, no test was run.
    """
    if not results.tested:
        return "No test was run."
    tests = results.tests()
    failed = sum(status is Status.FAILED for status in tests.values())
    if failed:
        return f"FAILED {failed} of {len(tests)} tests."
    return f"PASSED {len(tests)} of {len(tests)} tests."


def printable(text: str) -> str:
    """Return the text with U+FFFD for characters that drivers may print but XML cannot represent."""
    return _NOT_PRINTABLE.sub("\ufffd", text)
