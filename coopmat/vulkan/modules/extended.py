"""The instructions of OpenCL.std, replaced by those of GLSL.std.450 or by core instructions."""

from __future__ import annotations

from ...spirv.module import ENUM, OP, Instruction, decode_string, encode_string
from ...spirv.sections import Section
from .code import Code, rewrite
from .context import Context

_OPENCL = "OpenCL.std"
_NAMES = {number: name.removeprefix("OpenCL.std.") for name, number in ENUM.items() if name.startswith("OpenCL.std.")}


def extended(context: Context) -> None:
    """Replace the instructions of OpenCL.std in all functions."""
    imports = context.parts.sections[Section.IMPORT]
    opencl = next((item for item in imports if decode_string(item.operands)[0] == _OPENCL), None)
    if opencl is None:
        return
    glsl = Instruction(opencl.opcode, tuple(encode_string("GLSL.std.450")), None, opencl.result)
    rewrite(context.parts, {OP["OpExtInst"]: _Extended(context, opencl.result or 0).rewrite})
    imports[imports.index(opencl)] = glsl
    context.parts.definitions[opencl.result or 0] = glsl


class _Extended:
    def __init__(self, context: Context, opencl: int) -> None:
        self.context, self.parts, self.opencl = context, context.parts, opencl

    def rewrite(self, code: Code, item: Instruction) -> None:
        if item.operands[0] != self.opencl:
            code.keep(item)
            return
        name, operands = _NAMES[item.operands[1]], item.operands[2:]
        if name in GLSL:
            code.finish(item, "OpExtInst", self.opencl, GLSL[name], *operands)
        else:
            raise self.context.refused(f"the builtin function {name}")


# Function of OpenCL.std -> number of the instruction of GLSL.std.450 with the same meaning. Vulkan guarantees less
# accuracy for most functions of floats.
GLSL = {
    **{"acos": 17, "acosh": 23, "asin": 16, "asinh": 22, "atan": 18, "atan2": 25, "atanh": 24, "ceil": 9, "cos": 14},
    **{"cosh": 20, "exp": 27, "exp2": 29, "fabs": 4, "floor": 8, "fma": 50, "fmax": 80, "fmin": 79, "log": 28},
    **{"log2": 30, "rint": 2, "rsqrt": 32, "sin": 13, "sinh": 19, "sqrt": 31, "tan": 15, "tanh": 21, "trunc": 3},
    **{"fclamp": 81, "degrees": 12, "fmax_common": 40, "fmin_common": 37, "mix": 46, "radians": 11, "step": 48},
    **{"smoothstep": 49, "sign": 6, "cross": 68, "distance": 67, "length": 66, "normalize": 69, "fast_distance": 67},
    **{"fast_length": 66, "fast_normalize": 69, "s_clamp": 45, "u_clamp": 44, "s_max": 42, "u_max": 41, "s_min": 39},
    **{"u_min": 38, "native_cos": 14, "native_exp": 27, "native_exp2": 29, "native_log": 28, "native_log2": 30},
    **{"native_rsqrt": 32, "native_sin": 13, "native_sqrt": 31, "native_tan": 15, "half_cos": 14, "half_exp": 27},
    **{"half_exp2": 29, "half_log": 28, "half_log2": 30, "half_rsqrt": 32, "half_sin": 13, "half_sqrt": 31},
    **{"half_tan": 15},
}
