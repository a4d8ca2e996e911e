"""The kernels with matrices on Oclgrind: `python simulated.py JOB`. Says `right` if it is."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import opencl_c_programs as programs
from differential import difference, execute
from opencl_devices import device_of


def main() -> None:
    text, options, size = pickle.loads(Path(sys.argv[1]).read_bytes())
    launches = [programs.matrix_launch(size), programs.operators_launch(size)]
    found = execute(device_of("oclgrind"), text, [launch for launch, _ in launches], options)
    wrong = [
        f"{launch.kernel}, argument {n}: {difference(after[n], wanted)}"
        for after, (launch, expected) in zip(found, launches, strict=True)
        for n, wanted in expected.items()
    ]
    print("\n".join(w for w in wrong if not w.endswith(": ")) or "right")


main()
