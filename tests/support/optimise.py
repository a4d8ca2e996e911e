"""LLVM's passes on IR text, in a child process: `python optimise.py sroa|O1|O2 < IN > OUT`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm

_TRIPLE = "spirv64v1.4-unknown-unknown"


def optimised(ir: str, passes: str) -> str:
    """Return the IR after passes: sroa (with simplifycfg, which makes selects), O1 or O2, without the vectorizers."""
    command = [sys.executable, str(Path(__file__)), passes]
    return subprocess.run(command, input=ir, capture_output=True, text=True, check=True, timeout=120).stdout


def _run(ir: str, passes: str) -> str:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(_TRIPLE).create_target_machine(opt=0)
    head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{_TRIPLE}"\n'
    module = llvm.parse_assembly(head + ir)
    module.verify()
    options = llvm.create_pipeline_tuning_options(int(passes[1]) if passes.startswith("O") else 0)
    options.loop_vectorization = options.slp_vectorization = options.loop_interleaving = False
    builder = llvm.create_pass_builder(machine, options)
    if passes.startswith("O"):
        manager = builder.getModulePassManager()
    else:
        manager = llvm.create_new_module_pass_manager()
        manager.add_sroa_pass()
        manager.add_simplify_cfg_pass()
    manager.run(module, builder)
    return str(module)


if __name__ == "__main__":
    sys.stdout.write(_run(sys.stdin.read(), sys.argv[1]))
