"""Lower llvm.matrix.* by LLVM's own pass, for `bench_matrix_types.py --llvm`: LLVM IR on stdin, SPIR-V on stdout.

    llvm_matrix_types.py CPU

The pass splits columns into the vectors of CPU, an x86-64 processor, or of the SPIR-V target if CPU is "spirv". The
script runs in a process of its own, because LLVM's backend may abort.
"""

from __future__ import annotations

import sys

import llvmlite.binding as llvm

from coopmat.spirv import emitter, llvm_text
from coopmat.spirv.emit import WRAP_EXTENSION, EmitOptions


def lower(text: str, cpu: str) -> bytes:
    """Return the SPIR-V of a module whose matrix operations LLVM's pass lowers."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    # Without vector-combine, <1 x T> remains, and in loops vectors of whole matrices.
    for option in {*emitter.LLVM_OPTIONS, "--enable-matrix"} - {"--disable-vector-combine"}:
        llvm.set_option("emitter", option)
    triple = EmitOptions().triple
    machine = emitter._target_machine(triple, [WRAP_EXTENSION])
    module = llvm.parse_assembly(emitter._with_target(text, triple, str(machine.target_data)))
    target = llvm.Target.from_triple("x86_64-unknown-linux-gnu")
    passes = machine if cpu == "spirv" else target.create_target_machine(cpu=cpu, opt=0)
    emitter._run_passes(module, passes, "O1")
    fixed = llvm.parse_assembly(llvm_text.fix_backend_bugs(str(module)))
    return bytes(machine.emit_object(fixed))


if __name__ == "__main__":
    sys.stdout.buffer.write(lower(sys.stdin.read(), sys.argv[1]))
