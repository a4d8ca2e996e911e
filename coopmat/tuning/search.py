"""The search of a space by a strategy of kernel_tuner, whose evaluations are ours."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from coopmat.options import UsageError

from .space import Parameters

# Of kernel_tuner's strategies, this one needed the fewest trials for tiles of floats on a CPU.
_STRATEGY, _OPTIONS = "genetic_algorithm", {"popsize": 20, "mutation_chance": 10, "method": "uniform"}
_SMALL = 40  # a space that is searched completely

Values = tuple[int, ...]
Evaluate = Callable[[Sequence[Values]], "list[float] | None"]
"""A function that returns the seconds of candidates, infinite if one fails; None ends the search."""


def search(
    parameters: Parameters,
    restriction: Callable[[Mapping[str, int]], bool],
    evaluate: Evaluate,
    start: Values | None = None,
    seed: int = 0,
) -> None:
    """Evaluate candidates until the space is exhausted, or `evaluate` ends the search.

    start: the candidate with which the search begins; by default a random one. The order of candidates depends on the
    seed and the seconds of those before. Raises UsageError if kernel_tuner is not installed.
    """
    try:
        from kernel_tuner.interface import Options
        from kernel_tuner.searchspace import Searchspace
        from kernel_tuner.util import TuningBudget
    except ImportError as error:
        raise UsageError(f"`coopmat tune` needs kernel_tuner: pip install 'coopmat[tune]' ({error})") from None
    random.seed(seed)
    np.random.seed(seed)
    space = Searchspace(parameters, restriction, max_threads=1 << 30)
    if space.size <= _SMALL:
        evaluate(space.list)
        return
    is_valid = start is not None and space.is_param_config_valid(start)
    options = Options(
        tune_params=parameters,
        strategy_options=Options({**_OPTIONS, "max_fevals": space.size, **({"x0": start} if is_valid else {})}),
        objective=["time"],
        objective_higher_is_better=[False],
        budget=TuningBudget(),
        verbose=False,
    )
    strategy = importlib.import_module(f"kernel_tuner.strategies.{_STRATEGY}")
    strategy.tune(space, _Runner(list(parameters), evaluate), options)


class _Runner:
    """A runner, as strategies of kernel_tuner call it: it evaluates candidates."""

    def __init__(self, names: Sequence[str], evaluate: Evaluate) -> None:
        self._names, self._evaluate = names, evaluate

    def run(self, candidates: Sequence[Sequence[int]], _options: Any) -> list[dict[str, Any]]:
        from kernel_tuner.util import RuntimeFailedConfig, StopCriterionReached

        seconds = self._evaluate([tuple(map(int, candidate)) for candidate in candidates])
        if seconds is None:
            raise StopCriterionReached("the time is over")
        results: list[dict[str, Any]] = [dict(zip(self._names, values, strict=True)) for values in candidates]
        for result, time in zip(results, seconds, strict=True):
            result |= {"time": time} if np.isfinite(time) else {"__error__": RuntimeFailedConfig()}
        return results

    def add_strategy_time(self, seconds: float) -> None:
        """Ignore how long the strategy took to choose candidates."""
