"""Trials of tilings in child processes that may die or hang, on this machine or on those of a cluster."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from coopmat.cluster import Engine, Failed, Lost, ProcessPool
from coopmat.devices import list_devices
from coopmat.linalg.parameters import Tiling
from coopmat.linalg.rates import Bench

# Seconds: the limit of a trial with its builds, and the time in which one tiling is measured.
_LIMIT, _MEASURING = 60.0, 0.4
# A tiling that is this many times slower than the best is not measured any longer.
_HOPELESS = 2.0
# Comparisons: the least and the largest number of turns, and the seconds after which no turn begins.
_LEAST_TURNS, _TURNS, _COMPARING = 7, 25, 5.0
# Seconds of products in a turn, and their least number.
_TURN, _PRODUCTS = 0.01, 3


@dataclass(frozen=True)
class Trial:
    """A measurement of tilings, in turns if there are several.

    device: `DeviceInfo.identity`.
    kind: the component type of A and B.
    shape: (matrices in the batch, m, n, k).
    tilings: None is the tiling that the library uses by its table.
    best: the seconds of the best tiling so far. A single tiling that is far slower is measured with less care.
    """

    device: tuple[str, ...]
    kind: str
    shape: tuple[int, int, int, int]
    tilings: tuple[Tiling | None, ...]
    best: float = float("inf")


@dataclass(frozen=True)
class Outcome:
    """The outcome of a trial: the seconds of each tiling in each turn, or how the trial failed."""

    seconds: tuple[tuple[float, ...], ...] = ()
    failure: str = ""

    @property
    def best(self) -> float:
        """The least seconds of the first tiling; infinite if the trial failed."""
        return min(self.seconds[0]) if self.seconds else float("inf")


Done = Callable[[int, Outcome], None]
Run = Callable[[Sequence[Trial], Done], None]
"""A function that performs trials, and calls the callback with the number and the outcome of each."""


def run_here(trials: Sequence[Trial], done: Done) -> None:
    """Perform trials on this machine, one after another."""
    for number, trial in enumerate(trials):
        done(number, perform(trial))


def run_on(engine: Engine, resource: str) -> Run:
    """Return the function that performs trials on the devices of a cluster with this resource name."""

    def run(trials: Sequence[Trial], done: Done) -> None:
        def received(number: int, result: Any) -> None:
            done(number, result if isinstance(result, Outcome) else _failed(result))

        engine.run(perform, trials, received, device=resource, is_isolated=True)

    return run


_pool: ProcessPool | None = None


def perform(trial: Trial) -> Outcome:
    """Perform a trial in a child process, which is kept for the next trial."""
    global _pool
    if _pool is None:
        _pool = ProcessPool(1, _LIMIT, deaths=1)
    results: dict[int, Any] = {}
    _pool.run(measure, [trial], results.__setitem__)
    result = results[0]
    return _failed(result) if isinstance(result, (Lost, Failed)) else Outcome(result)


def close() -> None:
    """End the child process of this process's trials."""
    if _pool is not None:
        _pool.close()


def _failed(result: Lost | Failed) -> Outcome:
    if isinstance(result, Lost):
        return Outcome(failure=result.reason.partition("; it printed:")[0])
    return Outcome(failure=result.traceback.strip().splitlines()[-1])


# --- in the child process ----------------------------------------------------------------------------


def measure(trial: Trial) -> tuple[tuple[float, ...], ...]:
    """Return the seconds of each tiling. Raises ArithmeticError if a result differs from numpy's."""
    bench = _bench(trial.device, trial.kind, trial.shape)
    for tiling in trial.tilings:
        bench.use(tiling)
    if len(trial.tilings) == 1:
        return (tuple(_until(bench, partial(_is_enough, trial.best, time.perf_counter()))),)
    end, turns = time.perf_counter() + _COMPARING, list[list[float]]()
    while len(turns) < _LEAST_TURNS or (time.perf_counter() < end and len(turns) < _TURNS):
        turns.append([_turn(bench, tiling) for tiling in trial.tilings])
    return tuple(zip(*turns, strict=True))


@lru_cache(maxsize=1)
def _bench(device: tuple[str, ...], kind: str, shape: tuple[int, int, int, int]) -> Bench:
    """Return the product of a trial. Raises LookupError if no device has this identity."""
    info = next((item for item in list_devices() if tuple(item.identity) == device), None)
    if info is None:
        raise LookupError(f"{' '.join(device)} is not listed on this machine")
    total = {"f64": "f64", "s8": "s32", "u8": "s32"}.get(kind, "f32")
    return Bench(info, (kind, kind, total), shape)


def _turn(bench: Bench, tiling: Tiling | None) -> float:
    """Return the median seconds of some products by a tiling, without the first."""
    bench.choose(tiling)
    bench.run()
    bench.queue.finish()
    return statistics.median(_until(bench, lambda times: len(times) >= _PRODUCTS and sum(times) >= _TURN))


def _is_enough(best: float, start: float, times: Sequence[float]) -> bool:
    """Return whether a tiling, whose products took these times, needs no further product."""
    is_hopeless = len(times) >= _PRODUCTS and min(times) > _HOPELESS * best and sum(times) > _MEASURING / 4
    return is_hopeless or (len(times) >= _PRODUCTS and time.perf_counter() - start >= _MEASURING)


def _until(bench: Bench, is_enough: Callable[[Sequence[float]], bool]) -> list[float]:
    """Return the seconds of products, the last of which is followed by `is_enough`."""
    times: list[float] = []
    for start in itertools.takewhile(lambda _: not is_enough(times), iter(time.perf_counter, None)):
        bench.run()
        bench.queue.finish()
        times.append(time.perf_counter() - start)
    return times
