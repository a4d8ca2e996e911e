"""The `coopmat` command in forks of one process, which has imported the package: starting Python is most of its time.

`python -m command_server` reads requests from its standard input, a JSON object a line, and answers each with a line.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Modules of the package that need what may not be installed, or start something.
SKIPPED = ("coopmat.__main__", "coopmat.cluster.dask_engine", "coopmat.runtime.build_server", "coopmat.spirv.emitter")


@dataclass(frozen=True)
class Result:
    """How a command ended; `seconds` are of processors: a machine with other work takes longer."""

    status: int
    out: bytes
    err: str
    seconds: float


class CommandServer:
    """The client's side. It may be used by one thread at a time."""

    def __init__(self) -> None:
        variables = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(Path(__file__).parent)))}
        command = [sys.executable, "-m", "command_server"]
        self._process = subprocess.Popen(command, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        atexit.register(self._process.kill)

    def run(self, arguments: list[str], stdin: bytes, directory: Path, environment: dict[str, str]) -> Result:
        """Run `coopmat` with these arguments, as a process of its own would."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.ExitStack() as stack:
            files = [stack.enter_context(tempfile.NamedTemporaryFile()) for _ in range(3)]
            files[0].write(stdin)
            files[0].flush()
            request = {
                "arguments": arguments,
                "directory": str(directory),
                "environment": environment,
                "files": [file.name for file in files],
            }
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            answer = json.loads(self._process.stdout.readline())
            out, err = (Path(file.name).read_bytes() for file in files[1:])
        return Result(answer["status"], out, err.decode(), answer["seconds"])


@cache
def shared_server() -> CommandServer:
    """Return the server of this process."""
    return CommandServer()


def _import_package() -> None:
    import coopmat

    for module in pkgutil.walk_packages(coopmat.__path__, "coopmat."):
        if module.name not in SKIPPED:
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)


def serve() -> None:
    """Answer requests until the standard input ends; in a child, return the command's arguments through `sys.argv`."""
    before = dict(os.environ)
    _import_package()
    gc.collect()
    gc.freeze()  # a collection in a child would copy all pages
    while line := sys.stdin.readline():
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            for number, (name, mode) in enumerate(
                zip(request["files"], (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY), strict=True)
            ):
                os.dup2(os.open(name, mode), number)
            sys.stdin = open(0, closefd=False)  # noqa: SIM115
            # Variables that the package sets while it is imported stay.
            for name in before.keys() - request["environment"].keys():
                os.environ.pop(name, None)
            os.environ.update(request["environment"])
            os.chdir(request["directory"])
            sys.argv = ["coopmat", *request["arguments"]]
            return
        _, status, used = os.wait4(child, 0)
        answer = {"status": os.waitstatus_to_exitcode(status), "seconds": used.ru_utime + used.ru_stime}
        print(json.dumps(answer), flush=True)
    sys.exit(0)


def _end(status: object) -> None:
    """End a child without taking the imported modules apart, which takes longer than most commands."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else 0 if status is None else 1)


if __name__ == "__main__":
    serve()
    from coopmat.cli import main

    try:
        main()
    except SystemExit as ended:
        _end(ended.code)
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        _end(1)
    _end(0)
