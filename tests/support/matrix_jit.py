"""Run functions of a module with llvm.matrix.* intrinsics, after LLVM's own lowering of them, in a child process.

The option that enables this lowering is global in LLVM, hence the child process. Standard input: a pickle of the text
and of [(function, arrays), ...]. Standard output: a pickle of the lowered text and of the arrays of each call, as they
are afterwards.
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
    """Run the calls in a child process, and return the lowered text and the arrays.

    Raises RuntimeError if LLVM rejects the text.
    """
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
    # The host lacks the calling convention, and internal functions cannot be found by name.
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
