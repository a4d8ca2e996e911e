"""The table of language versions, extensions and OpenCL C 3.0 features, and the effect of -cl-std and -cl-ext on it.

An enabled name may be required by the analysis (`Features`) and by a row of the table of builtins (`needs`). The
program can test the macro of that name (OpenCL C 3.0, sections 6.2.1 and 6.10). `-cl-ext=-NAME` disables a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

#: Value of -cl-std= -> value of __OPENCL_C_VERSION__.
LANGUAGE_VERSIONS = {"CL1.0": 100, "CL1.1": 110, "CL1.2": 120, "CL2.0": 200, "CL3.0": 300, "CL3.1": 310}

GENERIC = "__opencl_c_generic_address_space"
PROGRAM_SCOPE = "__opencl_c_program_scope_global_variables"
IMAGES = "__opencl_c_images"


@dataclass(frozen=True, slots=True)
class Feature:
    """An extension or feature that this compiler supports.

    since: the first __OPENCL_C_VERSION__ that has the feature.
    macro_since: the first __OPENCL_C_VERSION__ that predefines the macro of that name.
    needs: the extension or feature on which this one depends, or None.
    """

    name: str
    since: int = 100
    macro_since: int = 100
    needs: str | None = None


def _extensions(names: str, needs: str | None = None) -> tuple[Feature, ...]:
    return tuple(Feature(name, needs=needs) for name in names.split())


def _features(names: str, needs: str | None = None, since: int = 200) -> tuple[Feature, ...]:
    """Return rows of OpenCL C 3.0 features, which OpenCL C 2.0 has without a macro.

    `since` is the first __OPENCL_C_VERSION__ that has the features, if not 200.
    """
    return tuple(Feature(name, since, 300, needs) for name in names.split())


TABLE: tuple[Feature, ...] = (
    *_extensions(
        "cl_khr_byte_addressable_store cl_khr_cooperative_matrix cl_khr_fp16 cl_khr_fp64 cl_khr_subgroups"
        " cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics"
        " cl_khr_local_int32_extended_atomics cl_khr_int64_base_atomics cl_khr_int64_extended_atomics"
        " cl_khr_extended_bit_ops cl_khr_integer_dot_product cl_khr_extended_async_copies"
        " cl_khr_work_group_uniform_arithmetic cl_khr_3d_image_writes cl_khr_depth_images cl_ext_float_atomics"
        " cl_khr_kernel_clock cl_ext_float8 cl_ext_microscaling_types cl_coopmat_int4"
    ),
    *_extensions(
        "cl_khr_subgroup_ballot cl_khr_subgroup_clustered_reduce cl_khr_subgroup_extended_types"
        " cl_khr_subgroup_non_uniform_arithmetic cl_khr_subgroup_non_uniform_vote cl_khr_subgroup_rotate"
        " cl_khr_subgroup_shuffle cl_khr_subgroup_shuffle_relative cl_intel_subgroups"
        " cl_intel_subgroups_short",
        "cl_khr_subgroups",
    ),
    Feature("__opencl_c_ext_cooperative_matrix", needs="cl_khr_cooperative_matrix"),
    Feature("__opencl_c_fp64", needs="cl_khr_fp64"),
    Feature("__opencl_c_int64"),
    Feature("__opencl_c_subgroups", needs="cl_khr_subgroups"),
    Feature(IMAGES, macro_since=300),
    *_features(
        f"{GENERIC} {PROGRAM_SCOPE} __opencl_c_work_group_collective_functions __opencl_c_atomic_order_acq_rel"
        " __opencl_c_atomic_order_seq_cst __opencl_c_atomic_scope_device __opencl_c_atomic_scope_all_devices"
    ),
    *_features("__opencl_c_read_write_images __opencl_c_3d_image_writes", IMAGES),
    *_features(
        "__opencl_c_integer_dot_product_input_4x8bit __opencl_c_integer_dot_product_input_4x8bit_packed",
        "cl_khr_integer_dot_product",
        since=100,
    ),
    *_features(
        "__opencl_c_kernel_clock_scope_device __opencl_c_kernel_clock_scope_work_group"
        " __opencl_c_kernel_clock_scope_sub_group",
        "cl_khr_kernel_clock",
        since=100,
    ),
    *_features(
        "__opencl_c_ext_fp32_global_atomic_add __opencl_c_ext_fp32_local_atomic_add"
        " __opencl_c_ext_fp32_global_atomic_min_max __opencl_c_ext_fp32_local_atomic_min_max"
        " __opencl_c_ext_fp64_global_atomic_add __opencl_c_ext_fp64_local_atomic_add"
        " __opencl_c_ext_fp64_global_atomic_min_max __opencl_c_ext_fp64_local_atomic_min_max",
        "cl_ext_float_atomics",
    ),
)


@dataclass(frozen=True, slots=True)
class Features:
    """The language version, extensions and features that are enabled in one compilation.

    version: the value of __OPENCL_C_VERSION__.
    on: the enabled names. Language versions are names too: "CL1.2" is enabled from OpenCL C 1.2 on.
    """

    version: int
    on: frozenset[str]

    def __contains__(self, name: object) -> bool:
        return name in self.on

    @property
    def generic(self) -> bool:
        """Whether a pointer without an address space points to the generic address space."""
        return GENERIC in self.on

    def missing(self, needs: str) -> str | None:
        """Return the first name of `needs`, separated by blanks, that is not enabled.

        If all names are enabled, return None.
        """
        return next((name for name in needs.split() if name not in self.on), None)

    def macros(self) -> list[str]:
        """Return the names of the macros that are predefined as 1."""
        return [row.name for row in TABLE if row.name in self.on and self.version >= row.macro_since]

    @classmethod
    def of(cls, cl_std: str = "CL3.0", extensions: Mapping[str, bool] | None = None) -> Features:
        """Return the features of a language version with the choices of -cl-ext.

        `extensions` maps the names in -cl-ext to whether they are enabled. The entry of "all" holds for names without
        an entry.
        """
        choices = extensions or {}
        version = LANGUAGE_VERSIONS[cl_std]
        on = {name for name, value in LANGUAGE_VERSIONS.items() if value <= version}
        for row in TABLE:
            # A name without an entry follows the entry of the extension that it needs.
            name = row.needs if row.needs and row.needs in choices and row.name not in choices else row.name
            if version >= row.since and is_on(name, choices) and (row.needs is None or row.needs in on):
                on.add(row.name)
        return cls(version, frozenset(on))


def is_on(name: str, extensions: Mapping[str, bool]) -> bool:
    """Return whether -cl-ext leaves an extension or feature enabled.

    The entry of `name` decides, then the entry of "all". Without both, the name is enabled.
    """
    return extensions.get(name, extensions.get("all", True))
