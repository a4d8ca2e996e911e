"""An engine on dask.distributed, whose scheduler passes units of work to workers with this version and the device.

The scheduler holds only as many units as can run at a time. A worker that joins later therefore gets its share, and an
interruption abandons few units. A worker that dies may have held several units, of which at most one is to blame. Each
of these units runs again alone after the others. If a worker dies of a unit then, the unit is `Lost`.
"""

from __future__ import annotations

import logging
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coopmat.devices import DeviceInfo
from coopmat.devices.select import RESOURCE
from coopmat.options import UsageError

from .identity import VERSION, Identity, version
from .processes import DEATHS, Done, Failed, Lost, ProcessPool, call

# Time limits, in seconds, for the connection to a scheduler and for the first suitable worker.
_CONNECT, _WORKER = 10.0, 60.0
LOCAL = "local:"
_ADDRESS = re.compile(r"(\w+://)?([\w.-]+|\[[0-9a-fA-F:]+\]):\d{1,5}/?")
SETTINGS = {
    # Workers start child processes, which daemonic processes may not do.
    "distributed.worker.daemon": False,
    "distributed.scheduler.allowed-failures": 0,
    "distributed.admin.tick.limit": "60s",
    # The matrix library and the drivers use memory independently of the units.
    "distributed.worker.memory.terminate": False,
}


class DaskEngine:
    """An engine that is a client of a dask.distributed scheduler.

    cluster: the address of the scheduler, or "local:N" for N workers that this engine starts.
    report: a function that is called with lines for the user.
    device: the resource name of the only device of local workers; empty for all devices of this machine.

    Raises UsageError if no scheduler answers, or if dask.distributed is not installed.
    """

    def __init__(self, cluster: str, report: Callable[[str], None] = lambda text: None, device: str = "") -> None:
        try:
            import dask
            import distributed
        except ImportError:
            raise UsageError("--cluster needs dask.distributed: pip install 'coopmat[cluster]'") from None
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self._report = report
        self._refused: set[str] = set()
        self._hosts: tuple[str, ...] = ()  # the only hosts whose workers get work; empty for all
        self._own: Any = None
        if not cluster.startswith(LOCAL) and not _ADDRESS.fullmatch(cluster):
            raise UsageError(f"invalid cluster address '{cluster}': expected tcp://HOST:PORT, tls://HOST:PORT, local:N")
        # Not reset later, because dask restarts a worker with the settings at that time.
        dask.config.set(SETTINGS)
        try:
            address = self._started(cluster, device) if cluster.startswith(LOCAL) else cluster
            self._client = distributed.Client(address, timeout=_CONNECT, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            self.close()
            raise UsageError(f"cannot connect to the cluster at {cluster}: {error}") from None
        self._client.run_on_scheduler(_limit_deaths)

    def _started(self, cluster: str, device: str) -> Any:
        """Start the workers of "local:N", and return their cluster. Raises UsageError if N is no valid number."""
        import dask
        import distributed

        text = cluster.removeprefix(LOCAL)
        if not text.isdecimal() or not 0 < int(text) <= 1024:
            raise UsageError(f"--cluster local:N takes a number of workers from 1 to 1024, not '{text}'")
        resources = {VERSION + version(): 1e6, device: 1} if device else local_identity().resources()
        # Workers log the loss of the scheduler if it ends between two of their messages, as it may when a run ends.
        dask.config.set({"distributed.nanny.pre-spawn-environ.DASK_LOGGING__DISTRIBUTED": "critical"})
        self._own = distributed.LocalCluster(
            n_workers=int(text),
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            resources=resources,
        )
        return self._own

    # --- the workers

    def workers(self) -> dict[str, Mapping[str, Any]]:
        """Return the workers of this version: address -> the scheduler's facts about the worker.

        The user is informed once about each worker of another version.
        """
        every = self._client.scheduler_info(n_workers=-1)["workers"]
        fitting = {}
        for address, facts in every.items():
            versions = [name.removeprefix(VERSION) for name in facts["resources"] if name.startswith(VERSION)]
            if versions == [version()]:
                if not self._hosts or facts["host"] in self._hosts:
                    fitting[address] = facts
            elif address not in self._refused:
                self._refused.add(address)
                has = f"coopmat {versions[0]}" if versions else "no version of coopmat"
                self._report(f"the worker {address} gets no work: it has {has}, and this process has {version()}")
        return fitting

    def devices(self) -> dict[str, Identity]:
        """Return address -> identity of the workers of this version."""
        workers = self.workers()
        if self._own is not None:
            return dict.fromkeys(workers, local_identity())
        every: dict[str, Identity] = self._client.run(local_identity, workers=list(workers)) if workers else {}
        # A worker may offer only some of the devices of its machine.
        return {
            address: replace(own, devices=tuple(d for d in own.devices if d.resource in workers[address]["resources"]))
            for address, own in every.items()
        }

    def restrict(self, device: DeviceInfo) -> str:
        """Use only the hosts that have the same device with the same driver now. Return its resource name there.

        A resource name denotes different devices on different hosts. Raises UsageError if no host has the device.
        """
        hosts = {address: facts["host"] for address, facts in self.workers().items()}
        found = {
            (item.resource, hosts[address])
            for address, own in self.devices().items()
            for item in own.devices
            if address in hosts and item.info.identity == device.identity
        }
        if not found:
            raise UsageError(f"the cluster has no worker with {device.label} and its driver, {device.driver}")
        names = Counter(sorted(name for name, _host in found))
        ((resource, _count),) = names.most_common(1)
        self._hosts = tuple(sorted(host for name, host in found if name == resource))
        return resource

    def _slots(self, device: str) -> int:
        """Return how many units can run at a time on `device`, or on all workers if it is empty."""
        facts = self.workers().values()
        if device:
            return int(sum(worker["resources"].get(device, 0) for worker in facts))
        return sum(worker["nthreads"] for worker in facts)

    def _await_worker(self, device: str) -> None:
        """Wait for a worker with the device. Raises UsageError after `_WORKER` seconds."""
        import time

        end = time.monotonic() + _WORKER
        while not self._slots(device):
            if time.monotonic() > end:
                what = f"with {device.removeprefix(RESOURCE)}" if device else "of this version"
                raise UsageError(f"the cluster has no worker {what}")
            time.sleep(0.2)

    def share(self, root: Path, folders: Sequence[str], imported: Sequence[str]) -> None:
        """Send `folders` of a root folder to all workers.

        The workers import modules from the folders in `imported`.
        """
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
        """Call the function with each unit, as `Engine.run` does.

        Raises UsageError if no worker has the device.
        """
        suspects: list[int] = []

        def first(number: int, result: Any) -> None:
            if isinstance(result, _Killed):
                suspects.append(number)
            else:
                done(number, result)

        def second(number: int, result: Any) -> None:
            lost = Lost(f"{DEATHS} workers died while they ran this unit, the last at {getattr(result, 'address', '')}")
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
        """Call the function with the units of the numbers `chosen`, and `done` with each result."""
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
        """Submit a unit to the scheduler, and return its future."""
        resources = {VERSION + version(): 1.0, **({device: 1.0} if device else {})}
        task = call if is_isolated else call_apart
        # A worker that is restarted has another address, but the same host.
        hosts = list(self._hosts) or None
        return self._client.submit(task, function, unit, resources=resources, workers=hosts, pure=False)

    @contextmanager
    def _given_up_at_an_exception(self, numbers: Mapping[str, int]) -> Iterator[None]:
        """Cancel the units of `numbers` (key of the future -> number) if the context raises an exception."""
        from distributed import Future

        try:
            yield
        except BaseException:
            self._client.cancel([Future(key, self._client) for key in numbers], force=True)
            raise

    def close(self) -> None:
        """Disconnect from the scheduler, and end the workers that this engine started."""
        for part in (getattr(self, "_client", None), self._own):
            if part is not None:
                part.close()


@dataclass(frozen=True)
class _Killed:
    """The result of a unit whose worker died. `address` is the address of that worker."""

    address: str


def _result(future: Any) -> Any:
    """Return the result of a finished future, `Failed` for an exception, `_Killed` if its worker died."""
    from distributed.scheduler import KilledWorker

    error = future.exception() if future.status != "finished" else None
    if isinstance(error, KilledWorker):
        return _Killed(error.last_worker.address)
    if error is not None:
        return Failed(f"{type(error).__name__}: {error}")
    return future.result()


def _limit_deaths(dask_scheduler: Any) -> None:
    """Make the scheduler report a unit after the first worker that dies of it (allowed_failures = 0).

    A scheduler that others started may have another setting.
    """
    dask_scheduler.allowed_failures = 0


# --- in workers --------------------------------------------------------------------------------------


_pool: ProcessPool | None = None
_identity: dict[str, Identity] = {}


def call_apart(function: Callable[[Any], Any], unit: Any) -> Any:
    """Call the function with a unit in a child process, which is kept for the next unit, and return the result."""
    global _pool
    if _pool is None:
        _pool = ProcessPool(1)
    results: dict[int, Any] = {}
    _pool.run(function, [unit], results.__setitem__)
    return results[0]


def local_identity(choice: str = "") -> Identity:
    """Return the identity of this machine, which a separate process determines once.

    `choice` is as in `identity.identity`. Raises UsageError if that process dies or fails.
    """
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
    """Run a worker of the scheduler at an address until the scheduler ends, or Ctrl-C.

    `resources` and `threads` are those of the worker. Raises UsageError if no scheduler answers.
    """
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
        raise UsageError(f"cannot connect to the scheduler at {address}: {error}") from None
