"""The subgroup builtins for lowerings whose subgroups are not the device's."""

from __future__ import annotations

from dataclasses import dataclass

from . import scratch_builtins, spelling
from .instance import FromTemplate, Instance, Parameter, Signature
from .strategies import Strategy, Target
from .variants import ComponentType

# section of the library's file -> signature. `T` is the component type. `V`, in block reads and writes, is a vector of
# as many components as the number at the end of the builtin's name.
_VALUE = (Parameter("x", "T"),)
_PREDICATE = (Parameter("predicate", "int"),)
_MASK = (Parameter("mask", "uint4"),)
_SECTIONS: dict[str, Signature] = {
    **{f"SUB_GROUP_{what}": Signature("uint", ()) for what in ("SIZE", "LOCAL_ID", "ID", "COUNT", "ENQUEUED_COUNT")},
    "SUB_GROUP_BARRIER": Signature("void", (Parameter("flags", "uint"),)),
    "SUB_GROUP_VALUE": Signature("T", _VALUE),
    "SUB_GROUP_IDENTITY": Signature("T", _VALUE),
    "SUB_GROUP_NEIGHBOUR_BELOW": Signature("T", (Parameter("other", "T"), *_VALUE, Parameter("delta", "uint"))),
    "SUB_GROUP_NEIGHBOUR_ABOVE": Signature("T", (*_VALUE, Parameter("other", "T"), Parameter("delta", "uint"))),
    "SUB_GROUP_ALL_EQUAL": Signature("int", _VALUE),
    "SUB_GROUP_ELECT": Signature("int", ()),
    "SUB_GROUP_TRUTH": Signature("int", _PREDICATE),
    "SUB_GROUP_TRUE": Signature("int", _PREDICATE),
    "SUB_GROUP_FALSE": Signature("int", _PREDICATE),
    "SUB_GROUP_BALLOT": Signature("uint4", _PREDICATE),
    "SUB_GROUP_MASK_OF_IT": Signature("uint4", ()),
    "SUB_GROUP_MASK_OF_OTHERS": Signature("uint4", ()),
    "SUB_GROUP_INVERSE_BALLOT": Signature("int", _MASK),
    "SUB_GROUP_BIT_COUNT": Signature("uint", _MASK),
    "SUB_GROUP_BITS_BELOW": Signature("uint", _MASK),
    "SUB_GROUP_BLOCK_READ": Signature("V", (Parameter("p", "T", "global", const=True),)),
    "SUB_GROUP_BLOCK_WRITE": Signature("void", (Parameter("p", "T", "global"), Parameter("x", "V"))),
}


@dataclass(frozen=True, slots=True)
class SubgroupBuiltin(FromTemplate):
    """A subgroup builtin for subgroups of one work-item, on scalars of `component` (None: the builtin takes no value).

    Its parameters are the first of the builtin's. Parameters without meaning for a subgroup of one are omitted: a lane,
    a cluster's size or a barrier's memory scope.
    """

    name: str
    section: str
    component: ComponentType | None

    @property
    def function_name(self) -> str:
        return f"cm_{self.name}" + (f"_{self.component}" if self.component else "")

    @property
    def signature(self) -> Signature:
        plain = _SECTIONS[self.section]
        parameters = (Parameter(p.name, self._type(p.type), p.space, p.const) for p in plain.parameters)
        return Signature(self._type(plain.returns), tuple(parameters))

    def _type(self, spelled: str) -> str:
        """Return a type of a signature, with the component type for `T` and `V`."""
        if self.component is None or spelled not in ("T", "V"):
            return spelled
        return spelling.vector(self.component, self._width if spelled == "V" else 1)

    @property
    def _width(self) -> int:
        """The number at the end of the builtin's name, or 1."""
        last = self.name[-1]
        return int(last) if last.isdigit() else 1

    def definitions(self, target: Target) -> dict[str, str]:
        out = {"OP": self.section}
        if self.component is None:
            return out
        out["T"] = self.component.opencl_c
        if self.section == "SUB_GROUP_IDENTITY":
            out["IDENTITY"] = spelling.identity(self.name.rpartition("_")[2], self.component)
        elif self.section.startswith("SUB_GROUP_BLOCK"):
            w = self._width
            out["V"] = spelling.vector(self.component, w)
            out |= {
                "VLOAD(p)": f"vload{w}(0, p)" if w > 1 else "*(p)",
                "VSTORE(v, p)": f"vstore{w}(v, 0, p)" if w > 1 else "*(p) = (v)",
            }
        return out

    def files(self, strategy: Strategy) -> tuple[str, ...]:
        if strategy.builtins is None:
            raise ValueError(f"{strategy.name}: the device has {self.name}")
        return (strategy.builtins,)


def _each(section: str, *names: str) -> dict[str, str]:
    """Return builtin -> section for blank-separated lists of names."""
    return {name: f"SUB_GROUP_{section}" for text in names for name in text.split()}


def _reductions() -> dict[str, str]:
    """Return builtin -> section for reductions and scans with all prefixes; some of these builtins do not exist."""
    sections: dict[str, str] = {}
    for prefix in ("sub_group", "sub_group_non_uniform", "sub_group_clustered", "intel_sub_group"):
        for operation in ("add", "mul", "min", "max", "and", "or", "xor"):
            sections |= _each("VALUE", *(f"{prefix}_{kind}_{operation}" for kind in ("reduce", "scan_inclusive")))
            sections |= _each("IDENTITY", f"{prefix}_scan_exclusive_{operation}")
        for operation in ("logical_and", "logical_or", "logical_xor"):
            sections |= _each("TRUTH", *(f"{prefix}_{kind}_{operation}" for kind in ("reduce", "scan_inclusive")))
            sections |= _each("TRUE" if operation == "logical_and" else "FALSE", f"{prefix}_scan_exclusive_{operation}")
    return sections


_BUILTINS: dict[str, str] = {
    **_each("SIZE", "get_sub_group_size get_max_sub_group_size"),
    **_each("LOCAL_ID", "get_sub_group_local_id"),
    **_each("ID", "get_sub_group_id"),
    **_each("COUNT", "get_num_sub_groups"),
    **_each("ENQUEUED_COUNT", "get_enqueued_num_sub_groups"),
    **_each("BARRIER", "sub_group_barrier"),
    **_each("TRUTH", "sub_group_all sub_group_any sub_group_non_uniform_all sub_group_non_uniform_any"),
    **_each(
        "VALUE",
        "sub_group_broadcast sub_group_non_uniform_broadcast sub_group_broadcast_first intel_sub_group_broadcast",
        "sub_group_shuffle sub_group_shuffle_xor sub_group_shuffle_up sub_group_shuffle_down",
        "sub_group_rotate sub_group_clustered_rotate intel_sub_group_shuffle intel_sub_group_shuffle_xor",
    ),
    **_each("NEIGHBOUR_BELOW", "intel_sub_group_shuffle_up"),
    **_each("NEIGHBOUR_ABOVE", "intel_sub_group_shuffle_down"),
    **_reductions(),
    **_each("ALL_EQUAL", "sub_group_non_uniform_all_equal"),
    **_each("ELECT", "sub_group_elect"),
    **_each("BALLOT", "sub_group_ballot"),
    **_each("MASK_OF_IT", "get_sub_group_eq_mask get_sub_group_ge_mask get_sub_group_le_mask"),
    **_each("MASK_OF_OTHERS", "get_sub_group_gt_mask get_sub_group_lt_mask"),
    **_each("INVERSE_BALLOT", "sub_group_inverse_ballot sub_group_ballot_bit_extract"),
    **_each("BIT_COUNT", "sub_group_ballot_bit_count sub_group_ballot_inclusive_scan"),
    **_each("BITS_BELOW", "sub_group_ballot_exclusive_scan sub_group_ballot_find_lsb sub_group_ballot_find_msb"),
    **{
        f"intel_sub_group_block_{what.lower()}{suffix}{count}": f"SUB_GROUP_BLOCK_{what}"
        for what in ("READ", "WRITE")
        for suffix in ("", "_ui", "_us")
        for count in ("", "2", "4", "8")
    },
}


def substitute_builtin(strategy: Strategy, name: str, component: ComponentType | None = None) -> Instance | None:
    """Return the library function that replaces the builtin `name` on scalars of `component`.

    Return None if the builtin itself must be called.
    """
    if strategy.exchanges_in_local_memory:
        if name not in scratch_builtins.ROWS:
            return None
        if not scratch_builtins.takes_values(name):
            return scratch_builtins.ScratchBuiltin(name, None)
        return None if component is None else scratch_builtins.ScratchBuiltin(name, component)
    section = _BUILTINS.get(name)
    if not strategy.has_one_work_item or section is None:
        return None
    plain = _SECTIONS[section]
    generic = any(t in ("T", "V") for t in (plain.returns, *(p.type for p in plain.parameters)))
    if not generic:
        return SubgroupBuiltin(name, section, None)
    return None if component is None else SubgroupBuiltin(name, section, component)
