// Execution modes: LocalSize, SubgroupSize, LocalSizeHint, VecTypeHint.
kernel __attribute__((reqd_work_group_size(8, 4, 1), intel_reqd_sub_group_size(16))) void a(void) { }
kernel __attribute__((work_group_size_hint(64, 1, 1), vec_type_hint(float4))) void b(void) { }
