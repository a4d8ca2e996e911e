"""One launch of the matrix program on Oclgrind: `python simulated.py JOB`. Says `right` if it is."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "runtime"))  # differential.py

import opencl_c_programs as programs
from differential import difference, execute
from opencl_c_devices import device_of


def main() -> None:
    text, options, size = pickle.loads(Path(sys.argv[1]).read_bytes())
    launch, expected = programs.matrix_launch(size)
    (found,) = execute(device_of("oclgrind"), text, [launch], options)
    wrong = [f"argument {n}: {difference(found[n], wanted)}" for n, wanted in expected.items()]
    print("\n".join(w for w in wrong if not w.endswith(": ")) or "right")


main()
