"""Engines that run many independent units of work, on this machine or on several.

    engine = engine_for("local:2")       # or the address of a dask.distributed scheduler; None: this machine
    engine.run(function, units, done)    # calls done(number, result) for each result
    engine.close()

The result is `Lost` if the unit killed its process. `function` is defined at the top level of a module, and is called
in another process, because it may crash, hang or run out of memory.
"""

from .engine import Engine as Engine, engine_for as engine_for
from .processes import Failed as Failed, Lost as Lost, ProcessPool as ProcessPool
