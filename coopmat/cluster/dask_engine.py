"""Units of work on dask.distributed: its scheduler gives them to workers that have this version and the device.

The scheduler has as many units at a time as can run, so that a worker that comes later gets its part, and little is
given up when the user interrupts. A worker that dies may have had several units, of which one is to blame at most: each
is run again by itself, when the others are done, and is `Lost` if a worker dies of it then.
"""

from __future__ import annotations

import logging
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coopmat.devices.select import RESOURCE
from coopmat.options import UsageError

from .identity import VERSION, Identity, version
from .processes import DEATHS, Done, Failed, Lost, ProcessPool, call

# Seconds to wait for a scheduler, and for the first worker that fits.
_CONNECT, _WORKER = 10.0, 60.0
LOCAL = "local:"
_ADDRESS = re.compile(r"(\w+://)?([\w.-]+|\[[0-9a-fA-F:]+\]):\d{1,5}/?")
SETTINGS = {
    # Workers have processes of their own, which daemons may not have.
    "distributed.worker.daemon": False,
    "distributed.scheduler.allowed-failures": 0,
    "distributed.admin.tick.limit": "60s",
    # Libraries of a matrix's functions and drivers take memory that is not a unit's.
    "distributed.worker.memory.terminate": False,
}


class DaskEngine:
    """A `DaskEngine` is a client of a scheduler's: at an address, or with N workers of its own for "local:N", which
    have the one `device` that is named, by default all of this machine's. `tell` is called with lines for the user.

    Raises UsageError where there is none, and where dask.distributed is not installed.
    """

    def __init__(self, cluster: str, tell: Callable[[str], None] = lambda text: None, device: str = "") -> None:
        try:
            import dask
            import distributed
        except ImportError:
            raise UsageError("--cluster needs dask.distributed: pip install 'coopmat[cluster]'") from None
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self._tell = tell
        self._refused: set[str] = set()
        self._own: Any = None
        if not cluster.startswith(LOCAL) and not _ADDRESS.fullmatch(cluster):
            raise UsageError(f"there is no cluster at {cluster}: it takes tcp://HOST:PORT, tls://HOST:PORT or local:N")
        # For good: a worker that is started again is started with what holds then.
        dask.config.set(SETTINGS)
        try:
            address = self._started(cluster, device) if cluster.startswith(LOCAL) else cluster
            self._client = distributed.Client(address, timeout=_CONNECT, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            self.close()
            raise UsageError(f"there is no cluster at {cluster}: {error}") from None
        self._client.run_on_scheduler(_limit_deaths)

    def _started(self, cluster: str, device: str) -> Any:
        import distributed

        text = cluster.removeprefix(LOCAL)
        if not text.isdecimal() or not 0 < int(text) <= 1024:
            raise UsageError(f"--cluster local:N has a number of workers, not '{text}'")
        resources = {VERSION + version(): 1e6, device: 1} if device else local_identity().resources()
        self._own = distributed.LocalCluster(
            n_workers=int(text),
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            resources=resources,
        )
        return self._own

    # --- the lab

    def workers(self) -> dict[str, Mapping[str, Any]]:
        """Return the workers of this version, by their addresses; others are told of once."""
        every = self._client.scheduler_info(n_workers=-1)["workers"]
        fitting = {}
        for address, facts in every.items():
            versions = [name.removeprefix(VERSION) for name in facts["resources"] if name.startswith(VERSION)]
            if versions == [version()]:
                fitting[address] = facts
            elif address not in self._refused:
                self._refused.add(address)
                has = f"coopmat {versions[0]}" if versions else "no version of coopmat"
                self._tell(f"the worker {address} gets no work: it has {has}, this is {version()}")
        return fitting

    def devices(self) -> dict[str, Identity]:
        """Return what each worker of this version says of itself."""
        workers = self.workers()
        if self._own is not None:
            return dict.fromkeys(workers, local_identity())
        every: dict[str, Identity] = self._client.run(local_identity, workers=list(workers)) if workers else {}
        # A worker may offer some of its machine's devices only.
        return {
            address: replace(own, devices=tuple(d for d in own.devices if d.resource in workers[address]["resources"]))
            for address, own in every.items()
        }

    def _slots(self, device: str) -> int:
        """Return how many units can run at a time."""
        facts = self.workers().values()
        if device:
            return int(sum(worker["resources"].get(device, 0) for worker in facts))
        return sum(worker["nthreads"] for worker in facts)

    def _await_worker(self, device: str) -> None:
        import time

        end = time.monotonic() + _WORKER
        while not self._slots(device):
            if time.monotonic() > end:
                what = f"with {device.removeprefix(RESOURCE)}" if device else "of this version"
                raise UsageError(f"the cluster has no worker {what}")
            time.sleep(0.2)

    def share(self, root: Path, folders: Sequence[str], imported: Sequence[str]) -> None:
        """Send folders of a root to all workers, which import modules from some of them."""
        from .modules import Modules

        self._client.register_plugin(Modules(root, folders, imported))

    # --- work

    def run(
        self,
        function: Callable[[Any], Any],
        units: Sequence[Any],
        done: Done,
        *,
        device: str = "",
        is_isolated: bool = False,
    ) -> None:
        """See `Engine.run`. Raises UsageError where no worker has the device."""
        suspects: list[int] = []

        def first(number: int, result: Any) -> None:
            if isinstance(result, _Killed):
                suspects.append(number)
            else:
                done(number, result)

        def second(number: int, result: Any) -> None:
            lost = Lost(f"{DEATHS} workers died of it, the last one at {getattr(result, 'address', '')}")
            done(number, lost if isinstance(result, _Killed) else result)

        self._run(function, units, range(len(units)), first, device, is_isolated)
        for number in suspects:
            self._run(function, units, [number], second, device, is_isolated)

    def _run(
        self,
        function: Callable[[Any], Any],
        units: Sequence[Any],
        chosen: Sequence[int],
        done: Done,
        device: str,
        is_isolated: bool,
    ) -> None:
        from distributed import as_completed

        self._await_worker(device)
        queue = deque(chosen)
        numbers: dict[str, int] = {}
        with self._client.as_current():
            waiting = as_completed()
        with self._given_up_at_an_exception(numbers):
            while queue or numbers:
                while queue and len(numbers) < max(1, self._slots(device)):
                    future = self._submitted(function, units[queue[0]], device, is_isolated)
                    numbers[future.key] = queue.popleft()
                    waiting.add(future)
                future = next(waiting)
                done(numbers.pop(future.key), _result(future))

    def _submitted(self, function: Callable[[Any], Any], unit: Any, device: str, is_isolated: bool) -> Any:
        resources = {VERSION + version(): 1.0, **({device: 1.0} if device else {})}
        task = call if is_isolated else call_apart
        return self._client.submit(task, function, unit, resources=resources, pure=False)

    @contextmanager
    def _given_up_at_an_exception(self, numbers: Mapping[str, int]) -> Iterator[None]:
        from distributed import Future

        try:
            yield
        except BaseException:
            self._client.cancel([Future(key, self._client) for key in numbers], force=True)
            raise

    def close(self) -> None:
        """Leave the cluster, and end its own workers."""
        for part in (getattr(self, "_client", None), self._own):
            if part is not None:
                part.close()


@dataclass(frozen=True)
class _Killed:
    """The result of a unit whose worker, at this address, died."""

    address: str


def _result(future: Any) -> Any:
    from distributed.scheduler import KilledWorker

    error = future.exception() if future.status != "finished" else None
    if isinstance(error, KilledWorker):
        return _Killed(error.last_worker.address)
    if error is not None:
        return Failed(f"{type(error).__name__}: {error}")
    return future.result()


def _limit_deaths(dask_scheduler: Any) -> None:
    """The scheduler may be another's, with settings of its own."""
    dask_scheduler.allowed_failures = 0


# --- in workers --------------------------------------------------------------------------------------


_pool: ProcessPool | None = None
_identity: dict[str, Identity] = {}


def call_apart(function: Callable[[Any], Any], unit: Any) -> Any:
    """Call the function in a process of the worker's, which is kept for the next unit."""
    global _pool
    if _pool is None:
        _pool = ProcessPool(1)
    results: dict[int, Any] = {}
    _pool.run(function, [unit], results.__setitem__)
    return results[0]


def local_identity(choice: str = "") -> Identity:
    """Return what this machine is, asked by a process of its own, once. Raises UsageError where that dies."""
    from .identity import identity

    if choice not in _identity:
        pool = ProcessPool(1)
        results: dict[int, Any] = {}
        pool.run(identity, [choice], results.__setitem__)
        pool.close()
        found = results[0]
        if isinstance(found, (Lost, Failed)):
            reason = found.reason if isinstance(found, Lost) else found.traceback.strip().splitlines()[-1]
            raise UsageError(f"the devices of this machine cannot be listed: {reason}")
        _identity[choice] = found
    return _identity[choice]


def serve(address: str, resources: Mapping[str, float], threads: int, name: str | None) -> None:
    """Be a worker of the scheduler at an address until that ends, or Ctrl-C. Raises UsageError where there is none."""
    import asyncio

    import dask
    import distributed

    async def run() -> None:
        options = {"nthreads": threads, "name": name, "memory_limit": 0, "resources": dict(resources)}
        async with distributed.Nanny(address, dashboard=False, **options) as nanny:
            await nanny.finished()

    dask.config.set(SETTINGS)
    try:
        asyncio.run(run())
    except KeyboardInterrupt:
        return
    except (OSError, TimeoutError) as error:
        raise UsageError(f"there is no scheduler at {address}: {error}") from None
