"""The library functions that replace subgroup builtins on routes whose subgroups are not the device's."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from . import spelling
from .library_function import FromTemplate, LibraryFunction, Parameter, Signature
from .routes import LoweredRoute, Target
from .subgroup_table import ROWS, Row
from .variants import COMPONENT_TYPES, ComponentType

_INT = COMPONENT_TYPES["s32"]


def _uint(*names: str) -> tuple[Parameter, ...]:
    """Return parameters of type uint."""
    return tuple(Parameter(name, "uint") for name in names)


# section -> signature. `T` is the component type. `V`, in block reads and writes, is a vector of as many components as
# the number at the end of the builtin's name.
_VALUE = (Parameter("x", "T"),)
_PREDICATE = (Parameter("predicate", "int"),)
_MASK = (Parameter("mask", "uint4"),)
_ONE: dict[str, Signature] = {
    **{what: Signature("uint", ()) for what in ("SIZE", "LOCAL_ID", "ID", "COUNT", "ENQUEUED_COUNT")},
    "BARRIER": Signature("void", (Parameter("flags", "uint"),)),
    "VALUE": Signature("T", _VALUE),
    "IDENTITY": Signature("T", _VALUE),
    "NEIGHBOUR_BELOW": Signature("T", (Parameter("other", "T"), *_VALUE, Parameter("delta", "uint"))),
    "NEIGHBOUR_ABOVE": Signature("T", (*_VALUE, Parameter("other", "T"), Parameter("delta", "uint"))),
    "ALL_EQUAL": Signature("int", _VALUE),
    "ELECT": Signature("int", ()),
    "TRUTH": Signature("int", _PREDICATE),
    "TRUE": Signature("int", _PREDICATE),
    "FALSE": Signature("int", _PREDICATE),
    "BALLOT": Signature("uint4", _PREDICATE),
    "MASK_OF_IT": Signature("uint4", ()),
    "MASK_OF_OTHERS": Signature("uint4", ()),
    "INVERSE_BALLOT": Signature("int", _MASK),
    "BIT_COUNT": Signature("uint", _MASK),
    "BITS_BELOW": Signature("uint", _MASK),
    "BLOCK_READ": Signature("V", (Parameter("p", "T", "global", const=True),)),
    "BLOCK_WRITE": Signature("void", (Parameter("p", "T", "global"), Parameter("x", "V"))),
}
_SCRATCH: dict[str, Signature] = {
    **{what: Signature("uint", ()) for what in ("SIZE", "MAX_SIZE", "LOCAL_ID", "ID", "COUNT", "ENQUEUED_COUNT")},
    "BARRIER": Signature("void", _uint("flags")),
    "PICK": Signature("T", _VALUE),
    "NEIGHBOUR": Signature("T", (Parameter("low", "T"), Parameter("high", "T"), *_uint("n"))),
    "FOLD": Signature("T", _VALUE),
    "ALL_EQUAL": Signature("int", _VALUE),
    "ELECT": Signature("int", ()),
    "BALLOT": Signature("uint4", (Parameter("x", "int"),)),
    "MASK": Signature("uint4", ()),
    "LOOK": Signature("int", _MASK),
    "COUNT_BITS": Signature("uint", _MASK),
    "BLOCK_READ": Signature("V", (Parameter("p", "T", "global", const=True),)),
    "BLOCK_WRITE": Signature("void", (Parameter("p", "T", "global"), Parameter("x", "V"))),
}


@dataclass(frozen=True, slots=True)
class SubgroupBuiltin(FromTemplate):
    """A library function for a subgroup builtin on scalars.

    The function has the first parameters of the builtin; those that it does not need are omitted.

    component: the type of the scalars; None if the builtin takes no value.
    """

    name: str
    component: ComponentType | None

    @property
    def function_name(self) -> str:
        return f"cm_{self.name}" + (f"_{self.component}" if self.component else "")

    @property
    @abstractmethod
    def generic(self) -> Signature:
        """The signature with `T` and `V`."""

    @property
    def row(self) -> Row:
        return ROWS[self.name]

    @property
    def values(self) -> ComponentType:
        """The type of `T`."""
        return self.component or _INT

    @property
    def takes_values(self) -> bool:
        """Whether the function depends on the type of its values."""
        return any(t in ("T", "V") for t in (self.generic.returns, *(p.type for p in self.generic.parameters)))

    @property
    def signature(self) -> Signature:
        parameters = (Parameter(p.name, self._type(p.type), p.space, p.const) for p in self.generic.parameters)
        return Signature(self._type(self.generic.returns), tuple(parameters))

    def _type(self, spelled: str) -> str:
        """Return a type of a signature, with the values' type for `T` and `V`."""
        return spelling.vector(self.values, self.width if spelled == "V" else 1) if spelled in ("T", "V") else spelled

    @property
    def width(self) -> int:
        """The number at the end of the builtin's name, or 1."""
        return int(self.name[len(self.name.rstrip("0123456789")) :] or 1)

    def files(self, route: LoweredRoute) -> tuple[str, ...]:
        if route.builtins is None:
            raise ValueError(f"{route.name}: the device has {self.name}")
        return (route.builtins,)


@dataclass(frozen=True, slots=True)
class BuiltinOfOne(SubgroupBuiltin):
    """A subgroup builtin for subgroups of one work-item.

    Parameters without meaning for a subgroup of one are omitted: a lane, a cluster's size or a barrier's memory scope.
    """

    @property
    def generic(self) -> Signature:
        return _ONE[self.row.one]

    def definitions(self, target: Target) -> dict[str, str]:
        section, w = self.row.one, self.width
        out = {"OP": f"SUB_GROUP_{section}"}
        if self.component is None:
            return out
        out["T"] = self.component.opencl_c
        if section == "IDENTITY":
            out["IDENTITY"] = spelling.identity(self.row.operation, self.component)
        elif section.startswith("BLOCK"):
            out["V"] = spelling.vector(self.component, w)
            out["VLOAD(p)"] = f"vload{w}(0, p)" if w > 1 else "*(p)"
            out["VSTORE(v, p)"] = f"vstore{w}(v, 0, p)" if w > 1 else "*(p) = (v)"
        return out


@dataclass(frozen=True, slots=True)
class ScratchBuiltin(SubgroupBuiltin):
    """A subgroup builtin for subgroups of consecutive work-items, which exchange values through local memory.

    If the builtin exchanges values, all work-items of the work-group must call it together.
    """

    @property
    def values(self) -> ComponentType:
        return _INT if self.component is None or self.row.integer else self.component

    @property
    def generic(self) -> Signature:
        plain = _SCRATCH[self.row.scratch]
        return Signature(plain.returns, (*plain.parameters, *_uint(*self.row.more)))

    @property
    def takes_values(self) -> bool:
        return not self.row.integer and super(ScratchBuiltin, self).takes_values

    def scratch_bytes(self, target: Target) -> int:
        return target.sub_groups * target.sub_group_size * self.row.exchanged * self.values.size

    def definitions(self, target: Target) -> dict[str, str]:
        row, t = self.row, self.values
        out = {"OP": row.scratch, "SG": str(target.sub_group_size), **row.macros}
        out |= {"T": t.library_c, "MORE": "".join(f", uint {name}" for name in row.more)}
        if row.scratch == "FOLD":
            out |= _folding(row.operation, t)
        elif row.scratch.startswith("BLOCK_"):
            w = self.width
            places = [f"p[{j} * CM_SG + lane]" for j in range(w)]
            parts = [f"x.s{j:x}" if w > 1 else "x" for j in range(w)]
            stores = "; ".join(f"{place} = {part}" for place, part in zip(places, parts, strict=True))
            out |= {"V": spelling.vector(t, w), "PARTS": ", ".join(places) if "READ" in row.scratch else stores}
        return out


def _folding(operation: str, t: ComponentType) -> dict[str, str]:
    """Return the macros with which the library section FOLD combines values of type `t` by an operation.

    For a logical operation, the macro VALUE maps a value to its truth.
    """
    logical = operation.startswith("logical_")
    operation = operation.removeprefix("logical_")
    if logical:
        value, identity = "((x) != 0)", "1" if operation == "and" else "0"
    else:
        value, identity = "(x)", spelling.identity(operation, t)
    symbols = {"and": "&", "or": "|", "xor": "^"}
    if operation in symbols:
        combine = f"({t.library_c})((x) {symbols[operation]} (y))"
    elif operation in ("min", "max"):
        combine = f"{'' if t.is_integer else 'f'}{operation}(x, y)"
    else:
        combine = spelling.binary(operation, t, 1)
    return {"VALUE(x)": value, "IDENTITY": identity, "COMBINE(x, y)": combine}


def substitute_builtin(
    route: LoweredRoute, name: str, component: ComponentType | None = None
) -> LibraryFunction | None:
    """Return the library function that replaces the builtin `name` on scalars of `component`.

    Return None if the builtin itself must be called.
    """
    if name not in ROWS or not (route.exchanges_in_local_memory or route.has_one_work_item):
        return None
    make = ScratchBuiltin if route.exchanges_in_local_memory else BuiltinOfOne
    plain = make(name, None)
    if not plain.takes_values:
        return plain
    return None if component is None else make(name, component)
