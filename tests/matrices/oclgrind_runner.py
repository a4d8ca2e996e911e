"""Runs kernels under Oclgrind and tells what it says of them: `python oclgrind_runner.py JOB RESULT`, pickled files.

A job is a list of (source, options, launches), a launch (kernel, global size, local size, buffers). The result is a
list of the launches' buffers as they were left. Oclgrind writes to standard error what it finds.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any


def main(job: Path, result: Path) -> None:
    import numpy as np
    import pyopencl as cl

    platform = next(p for p in cl.get_platforms() if p.name == "Oclgrind")
    context = cl.Context(platform.get_devices())
    queue = cl.CommandQueue(context)
    found: list[list[Any]] = []
    for source, options, launches in pickle.loads(job.read_bytes()):
        program = cl.Program(context, source).build(options, cache_dir=False)
        for name, global_size, local_size, arrays in launches:
            flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
            buffers = [cl.Buffer(context, flags, hostbuf=array) for array in arrays]
            getattr(program, name)(queue, global_size, local_size, *buffers)
            after = [np.empty_like(array) for array in arrays]
            for array, buffer in zip(after, buffers, strict=True):
                cl.enqueue_copy(queue, array, buffer)
            found.append(after)
    result.write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
