"""Work in many independent units, on this machine or on several.

    engine = engine_for("local:2")       # or an address of dask.distributed's scheduler; None: this machine
    engine.run(function, units, done)    # done(number, result) as each arrives; Lost: a unit that killed its process
    engine.close()

`function` is one of a module's, and is called in another process, which may crash, hang or run out of memory.
"""

from .engine import Engine as Engine, engine_for as engine_for
from .processes import Failed as Failed, Lost as Lost, ProcessPool as ProcessPool
