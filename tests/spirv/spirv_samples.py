"""LLVM IR that the tests of this room share."""

from __future__ import annotations

EXTENSIONS = ("SPV_KHR_cooperative_matrix",)


def matrix(component: str, rows: int, columns: int, use: int) -> str:
    return f'target("spirv.CooperativeMatrixKHR", {component}, 3, {rows}, {columns}, {use})'


A, B, C = matrix("half", 16, 16, 0), matrix("half", 16, 16, 1), matrix("float", 16, 16, 2)

DECLARATIONS = f"""
declare spir_func {A} @_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1Dhilu9mDh16x16A(ptr addrspace(1), i32, i64)
declare spir_func {B} @_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1Dhilu9mDh16x16B(ptr addrspace(1), i32, i64)
declare spir_func {C} @_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1filu8mf16x16C(ptr addrspace(1), i32, i64)
declare spir_func {C} @_Z26__spirv_CompositeConstruct_mf16x16C(float)
declare spir_func {C} @_Z34__spirv_CooperativeMatrixMulAddKHR_C({A}, {B}, {C}, i32)
declare spir_func void @_Z33__spirv_CooperativeMatrixStoreKHRPU3AS1fu8mf16x16Cil(ptr addrspace(1), {C}, i32, i64)
declare spir_func {C} @_Z12__spirv_FMul_mf16x16C({C}, {C})
declare spir_func float @__cm_get_f(ptr, i32)
declare spir_func void @__cm_set_f(ptr, i32, float)
"""

# C = relu(2 A B), one 16 x 16 tile a workgroup, K = 64, N = 48: loads, a loop with a phi, operators, components.
GEMM = f"""
@__spirv_BuiltInWorkgroupId = external addrspace(7) constant <3 x i64>, align 32
{DECLARATIONS}
define internal spir_func void @relu(ptr %m, i32 %i) noinline {{
  %x = call spir_func float @__cm_get_f(ptr %m, i32 %i)
  %positive = fcmp ogt float %x, 0.0
  %y = select i1 %positive, float %x, float 0.0
  call spir_func void @__cm_set_f(ptr %m, i32 %i, float %y)
  ret void
}}
define spir_kernel void @gemm(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, i32 %n)
    !intel_reqd_sub_group_size !1 {{
entry:
  %v = alloca {C}
  %wg = load <3 x i64>, ptr addrspace(7) @__spirv_BuiltInWorkgroupId, align 32
  %x = extractelement <3 x i64> %wg, i64 0
  %y = extractelement <3 x i64> %wg, i64 1
  %c0 = call spir_func {C} @_Z26__spirv_CompositeConstruct_mf16x16C(float 0.0)
  %row = mul i64 %y, 1024
  %col = mul i64 %x, 16
  br label %loop
loop:
  %k = phi i64 [0, %entry], [%k1, %loop]
  %acc = phi {C} [%c0, %entry], [%acc1, %loop]
  %oa = add i64 %row, %k
  %pa = getelementptr half, ptr addrspace(1) %a, i64 %oa
  %kb = mul i64 %k, 48
  %ob = add i64 %col, %kb
  %pb = getelementptr half, ptr addrspace(1) %b, i64 %ob
  %A = call spir_func {A} @_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1Dhilu9mDh16x16A(
      ptr addrspace(1) %pa, i32 0, i64 64)
  %B = call spir_func {B} @_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1Dhilu9mDh16x16B(
      ptr addrspace(1) %pb, i32 0, i64 48)
  %acc1 = call spir_func {C} @_Z34__spirv_CooperativeMatrixMulAddKHR_C({A} %A, {B} %B, {C} %acc, i32 0)
  %k1 = add i64 %k, 16
  %more = icmp ult i64 %k1, 64
  br i1 %more, label %loop, label %end
end:
  %two = call spir_func {C} @_Z26__spirv_CompositeConstruct_mf16x16C(float 2.0)
  %scaled = call spir_func {C} @_Z12__spirv_FMul_mf16x16C({C} %acc1, {C} %two)
  store {C} %scaled, ptr %v
  call spir_func void @relu(ptr %v, i32 %n)
  %r = load {C}, ptr %v
  %oy = mul i64 %y, 768
  %oc = add i64 %oy, %col
  %pc = getelementptr float, ptr addrspace(1) %c, i64 %oc
  call spir_func void @_Z33__spirv_CooperativeMatrixStoreKHRPU3AS1fu8mf16x16Cil(
      ptr addrspace(1) %pc, {C} %r, i32 0, i64 48)
  ret void
}}
!1 = !{{i32 16}}
"""

SMALL = """
define spir_kernel void @add_one(ptr addrspace(1) %p, i64 %i) {
  %q = getelementptr float, ptr addrspace(1) %p, i64 %i
  %x = load float, ptr addrspace(1) %q
  %y = fadd float %x, 1.0
  store float %y, ptr addrspace(1) %q
  ret void
}
"""

# The backend calls exit(1) on the first of these and abort() on the second.
EXITS = """
define spir_kernel void @fine(ptr addrspace(1) %p) {
  ret void
}
define spir_kernel void @variadic(ptr addrspace(1) %p, i32 %n) {
  %x = va_arg ptr addrspace(1) %p, i32
  ret void
}
"""
ABORTS = """
define spir_kernel void @k(ptr addrspace(1) %p) {
  %x = call spir_func i32 @_Z13get_global_idj()
  ret void
}
declare spir_func i32 @_Z13get_global_idj()
"""
