"""`--emit header`: a module as a C header, for programs that embed their kernels."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coopmat.compiler import Module

_BYTES_IN_LINE = 16


def header(module: Module) -> str:
    """Return a C header with the SPIR-V as an array of bytes, and the sizes of each kernel as macros.

    The sizes are those of clGetKernelSubGroupInfo and clGetKernelWorkGroupInfo, in work-items: 0 if the device chooses.
    """
    name = re.sub(r"\W", "_", Path(module.name).stem.strip("<>"), flags=re.ASCII)
    name = f"_{name}" if name[:1].isdigit() else name
    spirv = module.spirv
    lines = [f"#ifndef {name}_spv_size", f"#define {name}_spv_size {len(spirv)}"]
    for kernel in module.kernels.values():
        local_size = ", ".join(map(str, kernel.reqd_work_group_size or (0, 0, 0)))
        lines.append(f"#define {name}_{kernel.name}_sub_group_size {kernel.sub_group_size or 0}")
        lines.append(f"#define {name}_{kernel.name}_local_size {local_size}")
    lines.append(f"static const unsigned char {name}_spv[] = {{")
    for at in range(0, len(spirv), _BYTES_IN_LINE):
        lines.append("    " + " ".join(f"0x{byte:02x}," for byte in spirv[at : at + _BYTES_IN_LINE]))
    return "\n".join([*lines, "};", "#endif", ""])
