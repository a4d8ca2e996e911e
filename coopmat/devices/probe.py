"""Questions to a device that may crash or hang: asked in a process of its own, the answers kept in the cache.

    ask(device, "package.module:function", "argument")    # what function(device, "argument") gives, as JSON has it

An answer holds for the device, its driver, this machine's processor, and the environment that drivers look at.
"""

from __future__ import annotations

import importlib
import json
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from coopmat.cache import Cache, Entry, key_of, package_version

from .environment import driver_environment, prepare, processor
from .query import DeviceInfo, list_devices

TIME_LIMIT = 60.0
"""Seconds that a process has for its answer, unless told otherwise."""

# The process has the modules that this one has, whatever its working directory holds.
_START = (
    "import sys; sys.path[:] = sys.argv[1].split('\\n'); from coopmat.devices import probe; probe.main(sys.argv[2:])"
)
# Lines of the process's output, which may hold what a driver prints.
_BEGUN, _SAID, _RAISED = "coopmat probe begins", "coopmat probe said ", "coopmat probe raised "
_LONGEST = 2000
# Answers of this process, where nothing is kept on disk.
_unkept: dict[str, Entry] = {}


class NotAsked(RuntimeError):
    """The question did not reach the device: nothing is known of it, and nothing is kept."""


@dataclass(frozen=True, slots=True)
class Answer:
    """`value` is what the function gave; `failure`, if any, how it ended instead: an exception, a signal, the time
    limit, with the last that the process printed."""

    value: Any = None
    failure: str = ""


def ask(
    device: DeviceInfo,
    function: str,
    argument: str = "",
    *,
    time_limit: float = TIME_LIMIT,
    cache: Cache | None = None,
    anew: bool = False,
) -> Answer:
    """Call `function`, "package.module:name", with the device and `argument`, in a process of its own, unless the
    answer is stored; `anew` asks all the same. `time_limit` is in seconds.

    Raises NotAsked where the process does not come as far as the device.
    """
    store, key = Cache.of_environment() if cache is None else cache, _key(device, function, argument)

    def build() -> Entry:
        answer = _try(device, function, argument, time_limit)
        return Entry(b"", {"value": answer.value, "failure": answer.failure})

    if store.directory is None:
        if anew or key not in _unkept:
            _unkept[key] = build()
        return _answer(_unkept[key])
    if not anew:
        return _answer(store.get_or_build(key, build, _answer))
    entry = build()
    store.put(key, entry)
    return _answer(entry)


def known(device: DeviceInfo, function: str, argument: str = "") -> Answer | None:
    """Return the answer if it is stored; nothing is asked."""
    key, store = _key(device, function, argument), Cache.of_environment()
    entry = _unkept.get(key) if store.directory is None else store.get(key, _answer)
    return None if entry is None else _answer(entry)


def _key(device: DeviceInfo, function: str, argument: str) -> str:
    return key_of(
        {
            "kind": "probe",
            "version": package_version(),
            "question": [function, argument],
            "device": device.identity,
            "processor": list(processor()),
            "environment": driver_environment(),
        }
    )


def _answer(entry: Entry) -> Answer:
    """Return the answer that an entry holds. Raise LookupError, TypeError or ValueError for facts of another form."""
    if not isinstance(entry.facts["failure"], str):
        raise TypeError("failure is no text")
    return Answer(entry.facts["value"], entry.facts["failure"])


def _try(device: DeviceInfo, function: str, argument: str, time_limit: float) -> Answer:
    prepare()
    question = [json.dumps([*device.identity, device.index]), function, argument]
    command = [sys.executable, "-c", _START, "\n".join(filter(None, sys.path)), *question]
    try:
        process = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=time_limit, check=False, errors="replace"
        )
    except subprocess.TimeoutExpired as error:
        late = f"it did not end within {time_limit:g} s"
        if _BEGUN.encode() not in (error.stdout or b""):
            raise NotAsked(late) from error
        return Answer(failure=late)
    except OSError as error:
        raise NotAsked(f"no process could be started: {error}") from error
    lines = process.stdout.splitlines()
    for line in reversed(lines):
        if line.startswith(_SAID):
            return Answer(json.loads(line.removeprefix(_SAID)))
        if line.startswith(_RAISED):
            return Answer(failure=json.loads(line.removeprefix(_RAISED))[:_LONGEST])
    if _BEGUN not in lines:
        raise NotAsked(_end(process))
    return Answer(failure=_end(process))


def _end(process: subprocess.CompletedProcess[str]) -> str:
    """Describe how a process ended that did not answer."""
    try:
        how = f"the process was ended by {signal.Signals(-process.returncode).name}"
    except ValueError:
        how = f"the process ended with {process.returncode}"
    return "; ".join([how, *process.stderr.strip().splitlines()[-1:]])[:_LONGEST]


# --- in the process of its own ---------------------------------------------------------------------


def main(arguments: list[str]) -> None:
    """Answers one question on the standard output."""
    which, function, argument = arguments
    *identity, index = json.loads(which)
    devices = [device for device in list_devices() if device.identity == identity]
    # Of several that are alike, the one that was meant, if platforms are listed here as they are there.
    device = min(devices, key=lambda device: device.index != index, default=None)
    if device is None:
        raise LookupError(f"{' '.join(identity)} is not listed here")
    module, _, name = function.partition(":")
    call = getattr(importlib.import_module(module), name)
    print(f"\n{_BEGUN}", flush=True)
    try:
        answer = json.dumps(call(device, argument))
    except Exception as error:
        print(f"\n{_RAISED}{json.dumps(str(error) or type(error).__name__)}", flush=True)
    else:
        print(f"\n{_SAID}{answer}", flush=True)
