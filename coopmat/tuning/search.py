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


def require_kernel_tuner() -> None:
    """Raise UsageError if kernel_tuner is not installed."""
    try:
        import constraint  # noqa: F401
        import kernel_tuner.searchspace  # noqa: F401
    except ImportError as error:
        raise UsageError(f"`coopmat tune` needs kernel_tuner: pip install 'coopmat[tune]' ({error})") from None


def search(
    parameters: Parameters,
    restriction: Callable[[Mapping[str, int]], bool],
    evaluate: Evaluate,
    start: Values | None = None,
    seed: int = 0,
) -> None:
    """Evaluate candidates until the space is exhausted, or `evaluate` ends the search.

    start: the candidate with which the search begins; by default a random one. The order of candidates depends on the
    seed and the seconds of those before.
    """
    from constraint import FunctionConstraint
    from kernel_tuner.interface import Options
    from kernel_tuner.searchspace import Searchspace
    from kernel_tuner.util import TuningBudget

    # kernel_tuner takes a function apart that is no constraint.
    constraint = FunctionConstraint(lambda *values: restriction(dict(zip(parameters, values, strict=True))))
    space = Searchspace(parameters, [constraint], max_threads=1 << 30)
    if space.size <= _SMALL:
        evaluate([tuple(map(int, candidate)) for candidate in space.list])
        return
    runner = _Runner(list(parameters), evaluate)
    strategy = importlib.import_module(f"kernel_tuner.strategies.{_STRATEGY}")
    is_valid = start is not None and space.is_param_config_valid(start)
    given = {"max_fevals": space.size, **({"x0": start} if is_valid else {})}
    # The strategy ends when it has converged.
    while not runner.has_ended and len(runner.tried) < space.size:
        random.seed(seed)
        np.random.seed(seed)
        options = Options(
            tune_params=parameters,
            strategy_options=Options({**_OPTIONS, **given}),
            objective=["time"],
            objective_higher_is_better=[False],
            budget=TuningBudget(),
            verbose=False,
        )
        strategy.tune(space, runner, options)
        seed += 1


class _Runner:
    """A runner, as strategies of kernel_tuner call it: it evaluates candidates.

    tried: the candidates so far. has_ended: whether the search has ended.
    """

    def __init__(self, names: Sequence[str], evaluate: Evaluate) -> None:
        self.tried: set[Values] = set()
        self.has_ended = False
        self._names, self._evaluate = names, evaluate

    def run(self, candidates: Sequence[Sequence[int]], _options: Any = None) -> list[dict[str, Any]]:
        """Return the results of candidates. Raises StopCriterionReached, which ends the strategy."""
        from kernel_tuner.util import RuntimeFailedConfig, StopCriterionReached

        every = [tuple(map(int, candidate)) for candidate in candidates]
        seconds = self._evaluate(every)
        if seconds is None:
            self.has_ended = True
            raise StopCriterionReached("the time is over")
        self.tried.update(every)
        results: list[dict[str, Any]] = [dict(zip(self._names, values, strict=True)) for values in every]
        for result, time in zip(results, seconds, strict=True):
            result |= {"time": time} if np.isfinite(time) else {"__error__": RuntimeFailedConfig()}
        return results

    def add_strategy_time(self, seconds: float) -> None:
        """Ignore how long the strategy took to choose candidates."""
