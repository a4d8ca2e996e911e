"""Runs functions of a module with llvm.matrix.* after LLVM's own lowering of them, in a process of its own: the option
that turns it on is one for all of LLVM.

Standard input: a pickle of the text and of [(function, arrays), ...]. Standard output: one of the lowered text and of
the arrays of each call, as they are afterwards.
"""

from __future__ import annotations

import ctypes
import pickle
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import llvmlite.binding as llvm
import numpy as np

Calls = Sequence[tuple[str, Sequence[np.ndarray]]]


def run(text: str, calls: Calls) -> tuple[str, list[list[np.ndarray]]]:
    """For tests: in another process. RuntimeError where LLVM refuses the text."""
    given = pickle.dumps((text, [(name, list(arrays)) for name, arrays in calls]))
    done = subprocess.run([sys.executable, __file__], input=given, capture_output=True, timeout=120, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors="replace")[-4000:])
    return pickle.loads(done.stdout)


def _main() -> None:
    text, calls = pickle.load(sys.stdin.buffer)
    llvm.set_option("", "-enable-matrix")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    # The host knows neither the calling convention nor, for functions to be found by name, internal ones.
    text = text.replace("define internal spir_func", "define").replace("spir_func ", "")
    text = re.sub(r"^target .*\n", "", text, flags=re.MULTILINE)
    head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{llvm.get_default_triple()}"\n'
    module = llvm.parse_assembly(head + text)
    module.verify()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    builder.getModulePassManager().run(module, builder)
    lowered = str(module)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    results: list[list[Any]] = []
    for name, arrays in calls:
        copies = [np.array(array) for array in arrays]
        function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(copies))(engine.get_function_address(name))
        function(*(array.ctypes.data for array in copies))
        results.append(copies)
    sys.stdout.buffer.write(pickle.dumps((lowered, results)))


if __name__ == "__main__":
    _main()
