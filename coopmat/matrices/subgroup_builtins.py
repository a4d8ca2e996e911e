"""The subgroup builtins under a strategy whose subgroup is not the device's."""

from __future__ import annotations

from dataclasses import dataclass

from . import spelling
from .instances import Instance, Parameter, Signature
from .strategies import Strategy, Target
from .variants import ComponentType


@dataclass(frozen=True, slots=True)
class SubgroupBuiltin(Instance):
    """A subgroup builtin where the subgroup is one work-item, on scalars of `component` (None: it takes no value).

    A barrier takes its flags only: leave a memory scope out.
    """

    name: str
    section: str
    component: ComponentType | None

    @property
    def function_name(self) -> str:
        return f"cm_{self.name}" + (f"_{self.component}" if self.component else "")

    @property
    def signature(self) -> Signature:
        if self.component is None:
            if self.section == "SUB_GROUP_BARRIER":
                return Signature("void", (Parameter("flags", "uint"),))
            return Signature("uint", ())
        value = self.component.opencl_c
        lane = (Parameter("lane", "uint"),) if self.section == "SUB_GROUP_VALUE_OF" else ()
        return Signature(value, (Parameter("x", value), *lane))

    def definitions(self, target: Target) -> dict[str, str]:
        out = {"OP": self.section}
        if self.component is not None:
            out["T"] = self.component.opencl_c
            if self.section == "SUB_GROUP_IDENTITY":
                out["IDENTITY"] = spelling.identity(self.name.rpartition("_")[2], self.component)
        return out

    def file(self, strategy: Strategy) -> str:
        if strategy.builtins is None:
            raise ValueError(f"{strategy.name}: the device has {self.name}")
        return strategy.builtins


_PLAIN_BUILTINS = {
    "get_sub_group_size": "SUB_GROUP_SIZE",
    "get_max_sub_group_size": "SUB_GROUP_SIZE",
    "get_sub_group_local_id": "SUB_GROUP_LOCAL_ID",
    "get_sub_group_id": "SUB_GROUP_ID",
    "get_num_sub_groups": "NUM_SUB_GROUPS",
    "get_enqueued_num_sub_groups": "ENQUEUED_NUM_SUB_GROUPS",
    "sub_group_barrier": "SUB_GROUP_BARRIER",
}
_VALUE_BUILTINS = {
    "sub_group_all": "SUB_GROUP_VALUE",
    "sub_group_any": "SUB_GROUP_VALUE",
    "sub_group_broadcast": "SUB_GROUP_VALUE_OF",
    "sub_group_shuffle": "SUB_GROUP_VALUE_OF",
    "sub_group_shuffle_xor": "SUB_GROUP_VALUE_OF",
    "sub_group_shuffle_up": "SUB_GROUP_VALUE_OF",
    "sub_group_shuffle_down": "SUB_GROUP_VALUE_OF",
    **{f"sub_group_reduce_{op}": "SUB_GROUP_VALUE" for op in ("add", "min", "max")},
    **{f"sub_group_scan_inclusive_{op}": "SUB_GROUP_VALUE" for op in ("add", "min", "max")},
    **{f"sub_group_scan_exclusive_{op}": "SUB_GROUP_IDENTITY" for op in ("add", "min", "max")},
}


def substitute_builtin(strategy: Strategy, name: str, component: ComponentType | None = None) -> Instance | None:
    """The function to call for builtin `name` on scalars of `component`; None: call the builtin itself."""
    if not strategy.one_work_item:
        return None
    if name in _PLAIN_BUILTINS:
        return SubgroupBuiltin(name, _PLAIN_BUILTINS[name], None)
    if name in _VALUE_BUILTINS and component is not None:
        return SubgroupBuiltin(name, _VALUE_BUILTINS[name], component)
    return None
