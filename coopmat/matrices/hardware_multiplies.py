"""The multiply-adds for which a route's devices have instructions; each uses a section of the library."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import product

from . import spelling
from .lane_layouts import Fragments, Interleaved, LaneLayout, Tile
from .variants import (
    COMPONENT_TYPES,
    EVERY_COMPONENT_TYPE,
    ComponentType,
    MatrixType,
    Operands,
    Use,
    Variant,
    default_operands,
)
from .vendor_instructions import Instruction, Registers


@dataclass(frozen=True, slots=True)
class Product(ABC):
    """A multiply-add by an instruction of the device.

    name: unique in its route.
    section: the name of the section of the library.
    a, b, c: names of the component types of the operands; every combination is allowed.
    m, n, k: the instruction's shape. A matrix's shape must be a multiple of it.
    lanes: the size of the subgroups that execute it.
    """

    name: str
    section: str
    a: tuple[str, ...]
    b: tuple[str, ...]
    c: tuple[str, ...]
    m: int
    n: int
    k: int
    lanes: int = 1

    @property
    def keeps_state(self) -> bool:
        """Whether the instructions keep results in registers that a device's compiler does not assign to a work-item.

        The compiler must then not vectorize across work-items.
        """
        return False

    def takes(self, a: MatrixType, b: MatrixType, c: MatrixType, operands: Operands) -> bool:
        """Return whether repeating the instruction computes a multiply-add of these matrices with this mask."""
        return self.fits(a) and self.fits(b) and self.fits(c)

    @abstractmethod
    def lane_layout(self, matrix: MatrixType) -> LaneLayout | None:
        """Return the lane layout that the instruction requires of a matrix; None if it accepts any."""

    @abstractmethod
    def definitions(self, a: MatrixType, b: MatrixType, c: MatrixType, operands: Operands) -> dict[str, str]:
        """Return the macros by which the section uses the instruction: name without `CM_` -> body."""

    def variants(self, down: int = 1, along: int = 1, deep: int = 1) -> tuple[Variant, ...]:
        """Return one variant for each choice of component types; of 4 bits only if there are no others.

        The shape is `down`, `along` and `deep` times the instruction's M, N and K.
        """
        m, n, k = down * self.m, along * self.n, deep * self.k
        names = ([t for t in names if t in COMPONENT_TYPES] or names for names in (self.a, self.b, self.c))
        types = (map(EVERY_COMPONENT_TYPE.__getitem__, choice) for choice in product(*names))
        return tuple(
            Variant(m, n, k, a, b, c, c, saturating)
            for a, b, c in types
            for saturating in ((False, True) if c.is_integer else (False,))
        )

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """(rows, columns) of A, of B and of the accumulator in the instruction."""
        return (self.m, self.k), (self.k, self.n), (self.m, self.n)

    def fits(self, matrix: MatrixType) -> bool:
        """Return whether the matrix can be an operand of its use: by its component type and its shape."""
        (rows, columns), names = self.shapes[matrix.use], (self.a, self.b, self.c)[matrix.use]
        return matrix.component.name in names and not (matrix.rows % rows or matrix.columns % columns)


@dataclass(frozen=True, slots=True)
class DotProduct(Product):
    """A multiply-add by dot products of vectors.

    pack: the number of adjacent rows of B that are interleaved.
    features: the processor's features by Linux's names.
    """

    pack: int = 1
    features: tuple[str, ...] = ()

    def lane_layout(self, matrix: MatrixType) -> LaneLayout | None:
        if matrix.use is not Use.B or not self.fits(matrix):
            return None
        return Interleaved(matrix.rows, matrix.columns, 1, self.pack)

    def definitions(self, a: MatrixType, b: MatrixType, c: MatrixType, operands: Operands) -> dict[str, str]:
        # The instruction multiplies unsigned by signed bytes. If A and B have the same signedness, A's sign bits are
        # flipped. If B is unsigned, the operands are swapped.
        a_signed, b_signed = Operands.A_SIGNED in operands, Operands.B_SIGNED in operands
        return {
            "FLIP": "0x80808080u" if a_signed == b_signed else "0",
            "DOT(c, x, y)": "cm_vpdpbusd(c, x, y)" if b_signed else "cm_vpdpbusd(c, y, x)",
        }


_SIGNS = Operands.A_SIGNED | Operands.B_SIGNED


@dataclass(frozen=True, slots=True)
class TileProduct(DotProduct):
    """A multiply-add by dot products of whole tiles, which are registers.

    B is interleaved as for `DotProduct`. `signs` are the mask bits for the signs of bytes in A and B. The sums wrap, so
    saturating multiply-adds are left to `DotProduct`.
    """

    signs: Operands = Operands.NONE

    @property
    def keeps_state(self) -> bool:
        return True

    def takes(self, a: MatrixType, b: MatrixType, c: MatrixType, operands: Operands) -> bool:
        wanted = operands & (_SIGNS | Operands.SATURATING) if a.component.is_integer else Operands.NONE
        return wanted == self.signs and Product.takes(self, a, b, c, operands)

    def definitions(self, a: MatrixType, b: MatrixType, c: MatrixType, operands: Operands) -> dict[str, str]:
        return {"PACK": str(self.pack), "TILE_DOT": f"cm_{self.name}"}

    def variants(self, down: int = 1, along: int = 1, deep: int = 1) -> tuple[Variant, ...]:
        return tuple(
            row
            for row in Product.variants(self, down, along, deep)
            if not row.saturating and default_operands(row.a, row.b, row.c) & _SIGNS == self.signs
        )


@dataclass(frozen=True, slots=True)
class FragmentProduct(Product):
    """A multiply-add by a subgroup's matrix instructions.

    tiles: the lane layouts of the instruction's A, B and accumulator.
    instructions: these differ only in the component types of A and B.
    devices: the devices that have them (`Instruction.devices`).
    """

    tiles: tuple[Tile, ...] = ()
    instructions: tuple[Instruction, ...] = ()
    devices: tuple[str, ...] = ()

    def is_of(self, generation: str) -> bool:
        """Return whether devices of a generation have the instructions."""
        return self.instructions[0].is_of(generation)

    @property
    def is_of_tf32(self) -> bool:
        """Whether the instructions read 19 bits of floats; programs request them by `Operands.TF32`."""
        return self.instructions[0].a == "tf32"

    def lane_layout(self, matrix: MatrixType) -> LaneLayout | None:
        if not self.fits(matrix):
            return None
        return Fragments(matrix.rows, matrix.columns, self.lanes, self.tiles[matrix.use])

    def definitions(self, a: MatrixType, b: MatrixType, c: MatrixType, operands: Operands) -> dict[str, str]:
        row = self.instruction(a.component, b.component, operands)
        assert row is not None, "taken"
        out = {"INSTRUCTION(a, b, c)": f"{row.name}(a, b, c)", "BEGIN(c)": "(c)", "END(sum, c)": "(sum)"}
        if Operands.SATURATING in operands:
            w, registers = row.c_registers.count, row.c_registers.opencl_c
            uints, components = (spelling.vector(t, w) for t in (UINT, c.component))
            out["BEGIN(c)"] = f"({registers})(0)"
            out["SATURATED(sum, c)"] = spelling.saturating_end(c.component, operands, UINT, w)
            out["END(sum, c)"] = f"as_{registers}(CM_SATURATED(as_{uints}(sum), as_{components}(c)))"
        counts = {"M": c.rows // self.m, "N": c.columns // self.n, "K": a.columns // self.k}
        out |= {f"TILES_{name}": str(count) for name, count in counts.items()}
        for letter, tile, operand in zip("ABC", self.tiles, row.registers, strict=True):
            out |= {f"{letter}_TILE": str(tile.components), f"{letter}_REGISTERS": operand.opencl_c}
        bits = EVERY_COMPONENT_TYPE[row.factor].width
        out |= {f"{m.use.letter}_JOINED(p)": in_registers(m.component, row.registers[m.use], bits) for m in (a, b)}
        return out

    def takes(self, a: MatrixType, b: MatrixType, c: MatrixType, operands: Operands) -> bool:
        fit = self.fits(a) and self.fits(b) and self.fits(c) and self.is_of_tf32 == (Operands.TF32 in operands)
        return fit and self.instruction(a.component, b.component, operands) is not None

    def instruction(self, a: ComponentType, b: ComponentType, operands: Operands) -> Instruction | None:
        """Return the instruction for these component types, or None; the mask determines the signs of bytes."""
        types = ("tf32", "tf32") if self.is_of_tf32 else (a.name, b.name)
        if a.is_integer:
            a_signed, b_signed = Operands.A_SIGNED in operands, Operands.B_SIGNED in operands
            bits = EVERY_COMPONENT_TYPE[self.instructions[0].a].width
            types = f"{'s' if a_signed else 'u'}{bits}", f"{'s' if b_signed else 'u'}{bits}"
        return next((row for row in self.instructions if (row.a, row.b) == types), None)


def _integers(*bits: int) -> tuple[str, ...]:
    """Return the names of the integer component types of these numbers of bits."""
    return tuple(row.name for row in COMPONENT_TYPES.values() if row.is_integer and row.bits in bits)


# Components of 4 bits occupy a byte, so that instructions for bytes take them, too.
NIBBLES, WORDS, UINT = ("s4", "u4"), _integers(32), COMPONENT_TYPES["u32"]
BYTES = (*_integers(8), *NIBBLES)
# Intel's SDM, volume 2: VPDPBUSD adds four products of an unsigned and a signed byte to each of 16 integers of 32 bits.
# VDPBF16PS adds two products of bfloat16 to each of 16 floats. TDPBSSD and similar instructions (AMX) do the same for
# tiles of 16 rows of 64 bytes; their names contain the signs of A's and B's bytes.
_SIGNS_OF = {"ss": _SIGNS, "su": Operands.A_SIGNED, "us": Operands.B_SIGNED, "uu": Operands.NONE}
_TILES = tuple(
    TileProduct(
        *(f"tdpb{letters}d", "MUL_ADD_TILES", BYTES, BYTES, WORDS, 16, 16, 64),
        pack=4,
        features=("amx_tile", "amx_int8"),
        signs=signs,
    )
    for letters, signs in _SIGNS_OF.items()
)
X86 = (
    # Tiles first: each of their instructions computes as many multiply-adds as 256 of the others.
    *_TILES,
    TileProduct(
        *("tdpbf16ps", "MUL_ADD_TILES", ("bf16",), ("bf16",), ("f32",), 16, 16, 32),
        pack=2,
        features=("amx_tile", "amx_bf16"),
    ),
    DotProduct(
        "vpdpbusd", "MUL_ADD_BYTES", BYTES, BYTES, _integers(8, 16, 32), 1, 16, 4, pack=4, features=("avx512_vnni",)
    ),
    DotProduct(
        "vdpbf16ps", "MUL_ADD_BFLOAT16", ("bf16",), ("bf16",), ("f32",), 1, 16, 2, pack=2, features=("avx512_bf16",)
    ),
)


# Bytes of the processor's widest register, and of a cache line.
COPY_BYTES = 64


def piece(component: ComponentType) -> str:
    """Return an expression that loads COPY_BYTES at `p`, aligned only to a component, as 16 words.

    Compilers make one load of it.
    """
    count = COPY_BYTES // (16 * component.size)
    words = f"as_uint{16 // count}"
    return f"(uint16)({', '.join(f'{words}(vload16(0, (p) + {16 * i}))' for i in range(count))})"


def joined(component: ComponentType, pack: int) -> str:
    """Return an expression for 16 words, made of `pack` vectors of 16 components from consecutive rows of memory.

    Each word has the components of one column.
    """
    words = f"as_uint{16 // pack}"
    return f"cm_interleave{pack}({', '.join(f'{words}(vload16(0, p + CM_OFFSET(r + {i}, c)))' for i in range(pack))})"


def in_registers(component: ComponentType, registers: Registers, bits: int) -> str:
    """Return an expression for registers with the components at `p`, in order, `bits` of each.

    The components are joined as values: Intel's compiler keeps an array in memory if it is read as another type.
    """
    pack = registers.size * 8 // bits
    if bits < 8:
        words = (range(pack * i, pack * (i + 1)) for i in range(registers.count))
        joined = (" | ".join(f"(uint)((p)[{i}] & 15) << {bits * (i % pack)}" for i in word) for word in words)
        return f"({registers.opencl_c})({', '.join(joined)})"
    places = [[f"(p)[{pack * i + j}]" for j in range(pack)] for i in range(registers.count)]
    vectors = (f"({spelling.vector(component, pack)})({', '.join(row)})" if pack > 1 else row[0] for row in places)
    return f"({registers.opencl_c})({', '.join(f'as_{registers.element}({vector})' for vector in vectors)})"
