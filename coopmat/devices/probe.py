"""Questions to a device that may crash or hang: a separate process asks them, and the cache keeps the answers.

    ask(device, "package.module:function", "argument")    # the result of function(device, "argument"), as JSON

An answer is valid for the device, its driver, this machine's processor and the environment variables of drivers.
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
from .query import DeviceInfo

TIME_LIMIT = 60.0
"""The default time limit of a question, in seconds."""

# The process gets the import path of this process, so that it imports the same modules in any working directory.
_START = (
    "import sys; sys.path[:] = sys.argv[1].split('\\n'); from coopmat.devices import probe; probe.main(sys.argv[2:])"
)
# Beginnings of the lines that the process prints for this module; a driver may print other lines.
_BEGUN, _SAID, _RAISED = "coopmat probe begins", "coopmat probe said ", "coopmat probe raised "
_LONGEST = 2000
# Key -> answer for this process only, for the case that the cache on disk is off.
_unkept: dict[str, Entry] = {}


class NotAsked(RuntimeError):
    """An exception that reports a question that did not reach the device.

    Nothing is known about the device, and nothing is cached.
    """


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a question.

    value: the result of the function.
    failure: empty, or how the function failed: the text of an exception, a signal with the last line of the standard
        error, or the time limit.
    """

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
    """Return the answer of `function` to the device and `argument`, from the cache or a separate process.

    `function` is "package.module:name". `time_limit` is in seconds. `cache` is by default that of the environment.
    `anew` calls the function even if the answer is cached. Raises NotAsked if the process does not reach the device.
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
    """Return the answer if it is cached, otherwise None, without asking the device."""
    key, store = _key(device, function, argument), Cache.of_environment()
    entry = _unkept.get(key) if store.directory is None else store.get(key, _answer)
    return None if entry is None else _answer(entry)


def _key(device: DeviceInfo, function: str, argument: str) -> str:
    """Return the key under which the answer of `function(argument)` on the device is cached."""
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
    """Return the answer in a cache entry.

    Raises LookupError, TypeError or ValueError if the facts of the entry have another form.
    """
    if not isinstance(entry.facts["failure"], str):
        raise TypeError("failure is no text")
    return Answer(entry.facts["value"], entry.facts["failure"])


def _try(device: DeviceInfo, function: str, argument: str, time_limit: float) -> Answer:
    """Ask a question in a separate process. Raises NotAsked if the process does not reach the device."""
    prepare()
    question = [device.lister, json.dumps([*device.identity, device.index]), function, argument]
    command = [sys.executable, "-c", _START, "\n".join(filter(None, sys.path)), *question]
    try:
        process = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=time_limit, check=False, errors="replace"
        )
    except subprocess.TimeoutExpired as error:
        late = f"the process did not end within {time_limit:g} s"
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
    """Describe how a process without an answer ended."""
    try:
        how = f"the process was ended by {signal.Signals(-process.returncode).name}"
    except ValueError:
        how = f"the process ended with {process.returncode}"
    return "; ".join([how, *process.stderr.strip().splitlines()[-1:]])[:_LONGEST]


# --- in the separate process -----------------------------------------------------------------------


def main(arguments: list[str]) -> None:
    """Answer one question on the standard output.

    The arguments are the function that lists devices, the identity and index of the device as JSON, the function to
    call, and its argument. Raises LookupError if no device has this identity.
    """
    lister, which, function, argument = arguments
    *identity, index = json.loads(which)
    devices = [device for device in _function(lister)() if device.identity == identity]
    # Among devices with the same identity, prefer the device with the same index in the parent process.
    device = min(devices, key=lambda device: device.index != index, default=None)
    if device is None:
        raise LookupError(f"{' '.join(identity)} is not listed here")
    call = _function(function)
    print(f"\n{_BEGUN}", flush=True)
    try:
        answer = json.dumps(call(device, argument))
    except Exception as error:
        print(f"\n{_RAISED}{json.dumps(str(error) or type(error).__name__)}", flush=True)
    else:
        print(f"\n{_SAID}{answer}", flush=True)


def _function(path: str) -> Any:
    """Return the function with the path "package.module:name"."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)
