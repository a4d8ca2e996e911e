"""The subgroup builtins for subgroups of consecutive work-items, which exchange values through local memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from . import spelling
from .instance import FromTemplate, Parameter, Signature
from .strategies import Strategy, Target
from .variants import COMPONENT_TYPES, ComponentType

_INT = COMPONENT_TYPES["s32"]


def _uint(*names: str) -> tuple[Parameter, ...]:
    """Return parameters of type uint."""
    return tuple(Parameter(name, "uint") for name in names)


# section -> signature. `T` is the component type, `V` a vector with the number of components at the end of the name.
_X, _MASK = (Parameter("x", "T"),), (Parameter("mask", "uint4"),)
_SECTIONS: dict[str, Signature] = {
    **{what: Signature("uint", ()) for what in ("SIZE", "MAX_SIZE", "LOCAL_ID", "ID", "COUNT", "ENQUEUED_COUNT")},
    "BARRIER": Signature("void", _uint("flags")),
    "PICK": Signature("T", _X),
    "NEIGHBOUR": Signature("T", (Parameter("low", "T"), Parameter("high", "T"), *_uint("n"))),
    "FOLD": Signature("T", _X),
    "ALL_EQUAL": Signature("int", _X),
    "ELECT": Signature("int", ()),
    "BALLOT": Signature("uint4", (Parameter("x", "int"),)),
    "MASK": Signature("uint4", ()),
    "LOOK": Signature("int", _MASK),
    "COUNT_BITS": Signature("uint", _MASK),
    "BLOCK_READ": Signature("V", (Parameter("p", "T", "global", const=True),)),
    "BLOCK_WRITE": Signature("void", (Parameter("p", "T", "global"), Parameter("x", "V"))),
}
# section -> number of values that each lane puts into local memory
_EXCHANGED = {"PICK": 1, "NEIGHBOUR": 2, "FOLD": 1, "ALL_EQUAL": 1, "BALLOT": 1}


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table of builtins.

    section: the name of the library's section.
    more: parameters after those of the section's signature.
    macros: the macros of the section.
    operation: the operation of a FOLD.
    """

    section: str
    more: tuple[str, ...] = ()
    macros: Mapping[str, str] = field(default_factory=dict)
    operation: str = ""

    @property
    def integer(self) -> bool:
        """Whether the values are ints, regardless of the type in the call."""
        return self.operation.startswith("logical_") or self.section == "BALLOT"


def _picks() -> dict[str, Row]:
    """Return builtin -> row for builtins that read the value of another lane."""
    rows = {
        "sub_group_broadcast_first": ("0", ()),
        "sub_group_clustered_rotate": ("lane / cluster * cluster + (lane + n) % cluster", ("n", "cluster")),
    }
    for prefix in ("sub_group", "intel_sub_group"):
        rows |= {f"{prefix}_{name}": ("n", ("n",)) for name in ("broadcast", "non_uniform_broadcast", "shuffle")}
        rows[f"{prefix}_shuffle_xor"] = ("lane ^ n", ("n",))
    rows["sub_group_shuffle_up"] = ("lane - n", ("n",))
    rows["sub_group_shuffle_down"] = ("lane + n", ("n",))
    rows["sub_group_rotate"] = ("(lane + (uint)((int)n % (int)CM_SIZE + (int)CM_SIZE)) % CM_SIZE", ("n",))
    return {name: Row("PICK", more, {"SOURCE": source}) for name, (source, more) in rows.items()}


_RANGES = {
    "reduce": ("0", "size"),
    "scan_inclusive": ("0", "lane + 1"),
    "scan_exclusive": ("0", "lane"),
    "clustered": ("lane / cluster * cluster", "min(lane / cluster * cluster + cluster, size)"),
}


def _folds() -> dict[str, Row]:
    """Return builtin -> row for reductions and scans with all prefixes; some of these builtins do not exist."""
    rows: dict[str, Row] = {}
    operations = ("add", "mul", "min", "max", "and", "or", "xor", "logical_and", "logical_or", "logical_xor")
    for operation in operations:
        for kind, (first, end) in _RANGES.items():
            macros = {"FIRST": first, "END": end}
            if kind == "clustered":
                rows[f"sub_group_clustered_reduce_{operation}"] = Row("FOLD", ("cluster",), macros, operation)
                continue
            for prefix in ("sub_group", "sub_group_non_uniform", "intel_sub_group"):
                rows[f"{prefix}_{kind}_{operation}"] = Row("FOLD", (), macros, operation)
    for name, operation in (("any", "logical_or"), ("all", "logical_and")):
        for prefix in ("sub_group", "sub_group_non_uniform"):
            rows[f"{prefix}_{name}"] = Row("FOLD", (), {"FIRST": "0", "END": "size"}, operation)
    return rows


def _bits() -> dict[str, Row]:
    """Return builtin -> row for builtins on ballots and lane masks."""
    relations = {"eq": "==", "ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
    rows = {
        f"get_sub_group_{name}_mask": Row("MASK", (), {"TAKES": f"i {how} lane"}) for name, how in relations.items()
    }
    rows["sub_group_inverse_ballot"] = Row("LOOK", (), {"SOURCE": "lane"})
    rows["sub_group_ballot_bit_extract"] = Row("LOOK", ("n",), {"SOURCE": "n"})
    counts = {
        "bit_count": ("1", "++count"),
        "inclusive_scan": ("i <= lane", "++count"),
        "exclusive_scan": ("i < lane", "++count"),
        "find_lsb": ("1", "return i"),
        "find_msb": ("1", "count = i"),
    }
    for name, (takes, what) in counts.items():
        rows[f"sub_group_ballot_{name}"] = Row("COUNT_BITS", (), {"TAKES": takes, "FOUND": what})
    return rows


ROWS: Mapping[str, Row] = MappingProxyType(
    {
        "get_sub_group_size": Row("SIZE"),
        "get_max_sub_group_size": Row("MAX_SIZE"),
        "get_sub_group_local_id": Row("LOCAL_ID"),
        "get_sub_group_id": Row("ID"),
        "get_num_sub_groups": Row("COUNT"),
        "get_enqueued_num_sub_groups": Row("ENQUEUED_COUNT"),
        "sub_group_barrier": Row("BARRIER"),
        **_picks(),
        **_folds(),
        "intel_sub_group_shuffle_up": Row("NEIGHBOUR", (), {"SOURCE": "CM_SG + lane - n"}),
        "intel_sub_group_shuffle_down": Row("NEIGHBOUR", (), {"SOURCE": "lane + n"}),
        "sub_group_non_uniform_all_equal": Row("ALL_EQUAL"),
        "sub_group_elect": Row("ELECT"),
        "sub_group_ballot": Row("BALLOT"),
        **_bits(),
        **{
            f"intel_sub_group_block_{what.lower()}{suffix}{count}": Row(f"BLOCK_{what}")
            for what in ("READ", "WRITE")
            for suffix in ("", "_uc", "_us", "_ui", "_ul")
            for count in ("", "2", "4", "8", "16")
        },
    }
)


@dataclass(frozen=True, slots=True)
class ScratchBuiltin(FromTemplate):
    """A subgroup builtin on scalars of `component` (None: the builtin takes no value).

    The parameters are the first of the builtin's. If the builtin exchanges values, all work-items of the work-group
    must call it together.
    """

    name: str
    component: ComponentType | None

    @property
    def function_name(self) -> str:
        return f"cm_{self.name}" + (f"_{self.component}" if self.component else "")

    @property
    def _row(self) -> Row:
        """The builtin's row of the table."""
        return ROWS[self.name]

    @property
    def _values(self) -> ComponentType:
        """The type of the values that the builtin exchanges."""
        return _INT if self.component is None or self._row.integer else self.component

    @property
    def signature(self) -> Signature:
        plain = _SECTIONS[self._row.section]
        parameters = (Parameter(p.name, self._type(p.type), p.space, p.const) for p in plain.parameters)
        return Signature(self._type(plain.returns), (*parameters, *_uint(*self._row.more)))

    def _type(self, spelled: str) -> str:
        """Return a type of a signature, with the values' type for `T` and `V`."""
        return spelling.vector(self._values, self._width if spelled == "V" else 1) if spelled in ("T", "V") else spelled

    @property
    def _width(self) -> int:
        """The number at the end of the builtin's name, or 1."""
        digits = self.name[len(self.name.rstrip("0123456789")) :]
        return int(digits) if digits else 1

    def scratch_bytes(self, target: Target) -> int:
        values = _EXCHANGED.get(self._row.section, 0)
        return target.sub_groups * target.sub_group_size * values * self._values.size

    def definitions(self, target: Target) -> dict[str, str]:
        row, t = self._row, self._values
        out = {"OP": row.section, "SG": str(target.sub_group_size), **row.macros}
        out |= {"T": t.library_c, "MORE": "".join(f", uint {name}" for name in row.more)}
        if row.section == "FOLD":
            out |= _folding(row.operation, t)
        elif row.section.startswith("BLOCK_"):
            w = self._width
            places = [f"p[{j} * CM_SG + lane]" for j in range(w)]
            parts = [f"x.s{j:x}" if w > 1 else "x" for j in range(w)]
            stores = "; ".join(f"{place} = {part}" for place, part in zip(places, parts, strict=True))
            out |= {"V": spelling.vector(t, w), "PARTS": ", ".join(places) if "READ" in row.section else stores}
        return out

    def files(self, strategy: Strategy) -> tuple[str, ...]:
        assert strategy.builtins is not None
        return (strategy.builtins,)


def _folding(operation: str, t: ComponentType) -> dict[str, str]:
    """Return the macros of a FOLD for an operation on values of a type."""
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


def takes_values(name: str) -> bool:
    """Return whether the builtin's function depends on the type of its values."""
    row = ROWS[name]
    plain = _SECTIONS[row.section]
    return not row.integer and any(t in ("T", "V") for t in (plain.returns, *(p.type for p in plain.parameters)))
