"""The instructions of OpenCL.std, replaced by those of GLSL.std.450 or by core instructions."""

from __future__ import annotations

from ...spirv.module import ENUM, OP, Instruction, decode_string, encode_string
from ...spirv.sections import Section
from . import floats, integers
from .arithmetic import Arithmetic
from .code import Code, rewrite
from .context import Context
from .vector_data import VectorData

_OPENCL, _GLSL = "OpenCL.std", "GLSL.std.450"
_NAMES = {number: name.removeprefix("OpenCL.std.") for name, number in ENUM.items() if name.startswith("OpenCL.std.")}
_FUNCTIONS = {**floats.FUNCTIONS, **integers.FUNCTIONS}


def vector_data(context: Context) -> None:
    """Replace the functions that load and store vectors, and those that permute components."""
    opencl = _opencl(context)
    if opencl is not None:
        rule = _Extended(context, opencl).memory
        rewrite(context.parts, {OP["OpExtInst"]: rule})


def extended(context: Context) -> None:
    """Replace all other instructions of OpenCL.std, and those core instructions for them that Vulkan lacks."""
    imports = context.parts.sections[Section.IMPORT]
    opencl = _opencl(context)
    if opencl is None:
        opencl = context.parts.module.new_id()
        imports.append(Instruction(OP["OpExtInstImport"], tuple(encode_string(_OPENCL)), None, opencl))
    rules = _Extended(context, opencl)
    rewrite(
        context.parts,
        {
            OP["OpExtInst"]: rules.function,
            **{OP[f"Op{name}"]: rules.relation for name in ("Ordered", "Unordered", "LessOrGreater")},
            **{OP[f"Op{name}"]: rules.classify for name in ("IsFinite", "IsNormal", "SignBitSet")},
            OP["OpBitCount"]: rules.bit_count,
        },
    )
    at = next(n for n, item in enumerate(imports) if item.result == opencl)
    imports[at] = Instruction(OP["OpExtInstImport"], tuple(encode_string(_GLSL)), None, opencl)
    context.parts.definitions[opencl] = imports[at]
    context.glsl = opencl


def _opencl(context: Context) -> int | None:
    imports = context.parts.sections[Section.IMPORT]
    return next((item.result for item in imports if decode_string(item.operands)[0] == _OPENCL), None)


class _Extended:
    """The rules for OpExtInst; `opencl` is the id of the instruction set, before and after."""

    def __init__(self, context: Context, opencl: int) -> None:
        self.context, self.parts, self.opencl = context, context.parts, opencl
        self.vectors = VectorData(context)

    def memory(self, code: Code, item: Instruction) -> None:
        name = _NAMES[item.operands[1]] if item.operands[0] == self.opencl else ""
        if name in self.vectors.names:
            self.vectors.rewrite(code, item, name)
        elif name in ("shuffle", "shuffle2"):
            self.shuffle(code, item)
        else:
            code.keep(item)

    def shuffle(self, code: Code, item: Instruction) -> None:
        """Choose each component by the lower bits of the mask, which is the last operand."""
        *vectors, mask = item.operands[2:]
        a = Arithmetic(code, self.opencl)
        count = a.width(code.type_of(vectors[0]))
        element, number = a.scalar(item.result_type or 0), a.scalar(code.type_of(mask))
        bool_ = self.parts.globals.intern("OpTypeBool")
        components = []
        for n in range(a.width(item.result_type or 0)):
            index = code.add("OpCompositeExtract", number, mask, n)
            inner = a.op("OpBitwiseAnd", index, a.same(index, count - 1))
            values = [code.add("OpVectorExtractDynamic", element, vector, inner) for vector in vectors]
            if len(values) > 1:
                bit = a.op("OpBitwiseAnd", index, a.same(index, count))
                is_second = code.add("OpINotEqual", bool_, bit, a.same(index, 0))
                values = [code.add("OpSelect", element, is_second, values[1], values[0])]
            components.append(values[0])
        code.finish(item, "OpCompositeConstruct", *components)

    def function(self, code: Code, item: Instruction) -> None:
        if item.operands[0] != self.opencl:
            code.keep(item)
            return
        name, operands = _NAMES[item.operands[1]], item.operands[2:]
        a = Arithmetic(code, self.opencl)
        if name in floats.WITH_POINTER and not (name == "sincos" and self.of_doubles(code, operands)):
            value, other = floats.WITH_POINTER[name](a, operands[0])
            code.add("OpStore", None, operands[1], other)
            code.finish(item, "OpCopyObject", value)
        elif name in _FUNCTIONS:
            code.finish(item, "OpCopyObject", _FUNCTIONS[name](a, *operands))
        elif name in GLSL and self.is_accurate(code, item, name):
            code.finish(item, "OpExtInst", self.opencl, GLSL[name], *operands)
        else:
            raise self.context.refused(
                f"the builtin function {name}{self.of_doubles(code, operands)}, which Vulkan lacks"
            )

    def is_accurate(self, code: Code, item: Instruction, name: str) -> bool:
        """Return whether GLSL has the function for the type: most have no variant for double."""
        a = Arithmetic(code, self.opencl)
        return name in OF_DOUBLES or not self.of_doubles(code, item.operands[2:]) or not a.is_float(item.operands[2])

    def of_doubles(self, code: Code, operands: tuple[int, ...]) -> str:
        a = Arithmetic(code, self.opencl)
        return " of double" if operands and a.is_float(operands[0]) and a.bits(operands[0]) == 64 else ""

    # --- core instructions

    def relation(self, code: Code, item: Instruction) -> None:
        a = Arithmetic(code, self.opencl)
        if item.name == "OpLessOrGreater":
            code.finish(item, "OpFOrdNotEqual", *item.operands)
            return
        first, second = (a.test("OpIsNan", value) for value in item.operands)
        either = code.add("OpLogicalOr", item.result_type, first, second)
        code.finish(item, "OpCopyObject" if item.name == "OpUnordered" else "OpLogicalNot", either)

    def classify(self, code: Code, item: Instruction) -> None:
        """Test the bits of a number."""
        a = Arithmetic(code, self.opencl)
        bits = a.as_integers(item.operands[0])
        width = a.bits(bits)
        if item.name == "OpSignBitSet":
            code.finish(item, "OpSLessThan", bits, a.same(bits, 0))
            return
        mantissa = {16: 10, 32: 23, 64: 52}[width]
        largest = (1 << width - 1) - (1 << mantissa)  # the exponent of infinity
        exponent = a.op("OpBitwiseAnd", bits, a.same(bits, largest))
        if item.name == "OpIsFinite":
            code.finish(item, "OpINotEqual", exponent, a.same(bits, largest))
            return
        one = 1 << mantissa
        # Subtract one from the exponent: those of zero and infinity become the largest.
        reduced = a.op("OpISub", exponent, a.same(bits, one))
        code.finish(item, "OpULessThan", reduced, a.same(bits, largest - one))

    def bit_count(self, code: Code, item: Instruction) -> None:
        a = Arithmetic(code, self.opencl)
        if a.bits(item.operands[0]) == 32:
            code.keep(item)
        else:
            code.finish(item, "OpCopyObject", a.bit_count(item.operands[0]))


# Function of OpenCL.std -> number of the instruction of GLSL.std.450 with the same meaning. Vulkan guarantees less
# accuracy for most functions of floats.
GLSL = {
    **{"acos": 17, "acosh": 23, "asin": 16, "asinh": 22, "atan": 18, "atan2": 25, "atanh": 24, "ceil": 9, "cos": 14},
    **{"cosh": 20, "exp": 27, "exp2": 29, "fabs": 4, "floor": 8, "fmax": 80, "fmin": 79, "log": 28},
    **{"log2": 30, "rint": 2, "rsqrt": 32, "sin": 13, "sinh": 19, "sqrt": 31, "tan": 15, "tanh": 21, "trunc": 3},
    **{"fclamp": 81, "fmax_common": 40, "fmin_common": 37, "mix": 46, "step": 48},
    **{"smoothstep": 49, "distance": 67, "length": 66, "normalize": 69, "fast_distance": 67},
    **{"fast_length": 66, "fast_normalize": 69, "s_clamp": 45, "u_clamp": 44, "s_max": 42, "u_max": 41, "s_min": 39},
    **{"u_min": 38, "native_cos": 14, "native_exp": 27, "native_exp2": 29, "native_log": 28, "native_log2": 30},
    **{"native_rsqrt": 32, "native_sin": 13, "native_sqrt": 31, "native_tan": 15, "half_cos": 14, "half_exp": 27},
    **{"half_exp2": 29, "half_log": 28, "half_log2": 30, "half_rsqrt": 32, "half_sin": 13, "half_sqrt": 31},
    **{"half_tan": 15, "ldexp": 53},
}
OF_DOUBLES = frozenset(
    (
        *("ceil", "fabs", "floor", "fmax", "fmin", "rint", "rsqrt", "sqrt", "trunc", "fclamp", "fmax_common"),
        *("fmin_common", "mix", "step", "smoothstep", "distance", "length", "normalize", "ldexp"),
    )
)
