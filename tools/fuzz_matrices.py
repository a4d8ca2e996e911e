"""Compare random programs with cooperative matrices, by every route, with an interpreter in numpy.

    tools/fuzz-matrices --count 1000                      # programs 0 to 999, each by 6 routes
    tools/fuzz-matrices --seed 17 --count 1 --routes all  # one program by all routes
    tools/fuzz-matrices --seed 17 --show                  # its source
    tools/fuzz-matrices --seed 17 --routes one/c --reduce # a smaller program with the same fault

A program that gives wrong results, does not build, crashes or hangs is stored in a directory, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import queue
import random
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fuzz_matrices_text as text
from fuzz_matrices_programs import generate
from fuzz_matrices_run import MORE_ROUTES, ROUTES

_HERE = Path(__file__).resolve().parent
_GOOD = ("same", "refused", "skipped", "unsuitable")


class Worker:
    """A worker process, which is restarted after it died."""

    def __init__(self, device: str, limit: float) -> None:
        self.device = device
        self.limit = limit
        self.process: subprocess.Popen[str] | None = None
        self.events: queue.Queue[dict[str, Any] | None] = queue.Queue()

    def start(self) -> None:
        """Start the process, and a thread that reads the events that it reports."""
        command = [sys.executable, str(_HERE / "fuzz_matrices_run.py"), self.device]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.events = queue.Queue()

        def read(process: subprocess.Popen[str], events: queue.Queue[dict[str, Any] | None]) -> None:
            assert process.stdout is not None
            for line in process.stdout:
                events.put(json.loads(line))
            events.put(None)

        threading.Thread(target=read, args=(self.process, self.events), daemon=True).start()
        # On a loaded machine this may take minutes. A later answer would be taken for one about a route.
        if not (self.next(600) or {}).get("ready"):
            raise SystemExit(f"the worker does not start: is there a device {self.device!r}?")

    def next(self, limit: float) -> dict[str, Any] | None:
        """Return the next event, None if the process died, or {"late": True} if no event came in `limit` seconds."""
        try:
            return self.events.get(timeout=limit)
        except queue.Empty:
            return {"late": True}

    def stop(self) -> int:
        """End the process and return its status."""
        if self.process is None:
            return 0
        process, self.process = self.process, None
        if process.poll() is None:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
        return process.wait()

    def run(self, job: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the results of a job; after a crash or a time-out, a new process runs the remaining routes."""
        routes = list(job["routes"])
        while True:
            if self.process is None:
                self.start()
            assert self.process is not None and self.process.stdin is not None
            self.process.stdin.write(json.dumps({**job, "routes": routes}) + "\n")
            self.process.stdin.flush()
            current = ""
            while True:
                event = self.next(self.limit)
                if event is None or "late" in event:
                    break
                if "done" in event:
                    return
                current = event["route"]
                if "result" in event:
                    if current:
                        routes.remove(current)
                    yield event
            late = event is not None
            if late:
                self.process.kill()
            status = self.stop()
            word = "time-out" if late else "crash"
            detail = f"nothing for {self.limit:.0f} s" if late else f"the process ended with status {status}"
            yield {"seed": job["seed"], "route": current, "result": word, "detail": detail}
            if current not in routes:
                return
            routes.remove(current)


def choose(seed: int, asked: str, per_program: int) -> list[str]:
    """Return the routes of a program: all, those that `asked` names, or `per_program` random ones."""
    if asked == "all":
        return [*ROUTES, *MORE_ROUTES]
    if asked:
        known = [*ROUTES, *MORE_ROUTES]
        return [route for part in asked.split(",") for route in known if route == part or route.split("/")[0] == part]
    rng = random.Random(f"routes {seed}")
    return rng.sample(ROUTES, min(per_program, len(ROUTES)))


def keep(directory: Path, event: dict[str, Any], source: str, known: str) -> None:
    """Write the source and the description of a finding to a directory below `directory`."""
    route = event["route"].translate(str.maketrans("/:@", "---"))
    name = f"{event['seed']}-{route}"
    folder = directory / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "source.cl").write_text(source)
    again = f"tools/fuzz-matrices --seed {event['seed']} --count 1 --routes {event['route']}"
    (folder / "finding.txt").write_text(f"{event['result']}{known}\n{again}\n\n{event['detail']}\n")


def explain(worker: Worker, event: dict[str, Any], plain: bool) -> str:
    """Return the known cause of a finding, "" if there is none.

    A cause is found by running the program again, or with other names.
    """
    if event["result"] == "build" and re.search(r"\b\w+\.\d+\(", event["detail"]):
        return " (a name with a dot)"
    job: dict[str, Any] = {"seed": event["seed"], "routes": [event["route"]], "renamed": plain}
    if event["result"] == "crash" and list(worker.run(job))[-1]["result"] != "crash":
        return " (not again)"
    if plain:
        return ""
    job["renamed"] = True
    if all(result["result"] == "same" for result in list(worker.run(job))):
        return " (gone with other names)"
    return ""


def share(arguments: argparse.Namespace, seeds: list[int], totals: Counter[str], lock: threading.Lock) -> None:
    """Run the programs of `seeds` in one worker, count the results in `totals`, and store the findings."""
    worker = Worker(arguments.device, arguments.timeout)
    for seed in seeds:
        if arguments.until and time.time() > arguments.until:
            break
        routes = choose(seed, arguments.routes, arguments.per_program)
        for event in list(worker.run({"seed": seed, "routes": routes, "renamed": arguments.plain})):
            with lock:
                totals[event["result"]] += 1
            if event["result"] in _GOOD:
                continue
            known = explain(worker, event, arguments.plain)
            keep(arguments.output, event, text.source(generate(seed)), known)
            detail = " ".join(event["detail"].split())
            print(f"{seed} {event['route']}: {event['result']}{known}: {detail[:200]}", flush=True)
        with lock:
            totals["programs"] += 1
    worker.stop()


def parse() -> argparse.Namespace:
    """Return the arguments."""
    words = __doc__ or ""
    parser = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="the first program")
    parser.add_argument("--count", type=int, default=None, help="the number of programs (default: 100)")
    parser.add_argument("--routes", default="", help="routes, as lanes/c,one/spv or lanes; all: every one")
    parser.add_argument("--per-program", type=int, default=6, help="routes for each program, without --routes")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--device", default="Intel", help="a part of a device's or platform's name")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for a route of a program")
    parser.add_argument("--minutes", type=float, default=0, help="begin no program after so many minutes")
    parser.add_argument("--output", type=Path, default=Path("fuzz-matrices-findings"), help="where findings are kept")
    parser.add_argument("--plain", action="store_true", help="give all variables and functions names of their own")
    parser.add_argument("--show", action="store_true", help="print the program's source, and run nothing")
    parser.add_argument("--reduce", action="store_true", help="reduce the program for the first of the routes")
    return parser.parse_args()


def main() -> int:
    """Run the tool and return the exit status."""
    arguments = parse()
    if arguments.show:
        print(text.source(generate(arguments.seed)))
        return 0
    if arguments.reduce:
        from fuzz_matrices_reduce import reduce_seed

        return reduce_seed(
            Worker(arguments.device, arguments.timeout), arguments.seed, arguments.routes, arguments.plain
        )
    arguments.until = time.time() + 60 * arguments.minutes if arguments.minutes else 0
    count = 100 if arguments.count is None else arguments.count
    seeds = list(range(arguments.seed, arguments.seed + count))
    totals: Counter[str] = Counter()
    lock = threading.Lock()
    shares = [
        threading.Thread(target=share, args=(arguments, seeds[index :: arguments.jobs], totals, lock))
        for index in range(arguments.jobs)
    ]
    for thread in shares:
        thread.start()
    for thread in shares:
        thread.join()
    order = ["programs", "same", "refused", "skipped", "unsuitable"]
    words = [f"{totals[word]} {word}" for word in [*order, *sorted(set(totals) - set(order))]]
    print(", ".join(words))
    return int(any(totals[word] for word in set(totals) - set(order)))


if __name__ == "__main__":
    sys.exit(main())
