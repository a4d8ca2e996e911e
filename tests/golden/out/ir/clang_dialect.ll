; ModuleID = '<string>'
source_filename = "<string>"

; Function Attrs: convergent nounwind
define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(3) %l, float %s) #0 {
entry:
  %p.addr = alloca ptr addrspace(1), align 8
  %l.addr = alloca ptr addrspace(3), align 8
  %s.addr = alloca float, align 4
  %a = alloca target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 0), align 8
  %b = alloca target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 1), align 8
  %c = alloca target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2), align 8
  %i = alloca target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1), align 8
  store ptr addrspace(1) %p, ptr %p.addr, align 8
  store ptr addrspace(3) %l, ptr %l.addr, align 8
  store float %s, ptr %s.addr, align 4
  %.8 = load ptr addrspace(1), ptr %p.addr, align 8
  %.9 = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 0) @__spirv_CooperativeMatrixLoadKHR_global_f32_sc3_16x16_u0(ptr addrspace(1) %.8, i32 0, i64 16)
  store target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 0) %.9, ptr %a, align 8
  %.11 = load ptr addrspace(1), ptr %p.addr, align 8
  %.12 = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 1) @__spirv_CooperativeMatrixLoadKHR_global_f32_sc3_16x16_u1(ptr addrspace(1) %.11, i32 0, i64 16)
  store target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 1) %.12, ptr %b, align 8
  %.14 = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) @__spirv_CompositeConstruct_f32_sc3_16x16_u2(float 5.000000e-01)
  store target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) %.14, ptr %c, align 8
  %.16 = load target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 0), ptr %a, align 8
  %.17 = load target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 1), ptr %b, align 8
  %.18 = load target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2), ptr %c, align 8
  %.19 = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) @__spirv_CooperativeMatrixMulAddKHR_f32_sc3_16x16_u0_f32_sc3_16x16_u1_f32_sc3_16x16_u2(target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 0) %.16, target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 1) %.17, target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) %.18, i32 0)
  store target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) %.19, ptr %c, align 8
  %.21 = load target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2), ptr %c, align 8
  %.22 = load target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2), ptr %c, align 8
  %.23 = load float, ptr %s.addr, align 4
  %.25 = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) @__spirv_CooperativeMatrixScalarMulKHR_f32_sc3_16x16_u2(target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) %.22, float %.23)
  %.26 = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) @__spirv_CooperativeMatrixFAdd_f32_sc3_16x16_u2(target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) %.21, target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) %.25)
  %.27 = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) @__spirv_CooperativeMatrixScalarNeg_f32_sc3_16x16_u2(target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) %.26)
  %.28 = load target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2), ptr %c, align 8
  %.29 = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) @__spirv_CooperativeMatrixFDiv_f32_sc3_16x16_u2(target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) %.27, target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) %.28)
  store target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) %.29, ptr %c, align 8
  %.31 = load ptr addrspace(1), ptr %p.addr, align 8
  %.32 = call spir_func i32 @__spirv_CooperativeMatrixLengthKHR_f32_sc3_16x16_u2(target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) undef)
  %.33 = zext i32 %.32 to i64
  %.34 = load target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2), ptr %c, align 8
  call spir_func void @__spirv_CooperativeMatrixStoreKHR_global_f32_sc3_16x16_u2(ptr addrspace(1) %.31, target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) %.34, i32 0, i64 %.33)
  %.36 = load ptr addrspace(3), ptr %l.addr, align 8
  %.37 = call spir_func target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1) @__spirv_CooperativeMatrixLoadKHR_local_i32_sc3_4x8_u1(ptr addrspace(3) %.36, i32 0, i64 8)
  store target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1) %.37, ptr %i, align 8
  %.39 = load target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1), ptr %i, align 8
  %.40 = load target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1), ptr %i, align 8
  %.41 = call spir_func target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1) @__spirv_CooperativeMatrixIMul_i32_sc3_4x8_u1(target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1) %.39, target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1) %.40)
  %.42 = load target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1), ptr %i, align 8
  %.43 = call spir_func target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1) @__spirv_CooperativeMatrixISub_i32_sc3_4x8_u1(target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1) %.41, target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1) %.42)
  store target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1) %.43, ptr %i, align 8
  %.45 = load ptr addrspace(3), ptr %l.addr, align 8
  %.46 = load target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1), ptr %i, align 8
  call spir_func void @__spirv_CooperativeMatrixStoreKHR_local_i32_sc3_4x8_u1(ptr addrspace(3) %.45, target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1) %.46, i32 0, i64 8)
  ret void
}

; Function Attrs: convergent nounwind
declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 0) @__spirv_CooperativeMatrixLoadKHR_global_f32_sc3_16x16_u0(ptr addrspace(1), i32, i64) #0

; Function Attrs: convergent nounwind
declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 1) @__spirv_CooperativeMatrixLoadKHR_global_f32_sc3_16x16_u1(ptr addrspace(1), i32, i64) #0

; Function Attrs: convergent nounwind
declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) @__spirv_CompositeConstruct_f32_sc3_16x16_u2(float) #0

; Function Attrs: convergent nounwind
declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) @__spirv_CooperativeMatrixMulAddKHR_f32_sc3_16x16_u0_f32_sc3_16x16_u1_f32_sc3_16x16_u2(target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 0), target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 1), target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2), i32) #0

; Function Attrs: convergent nounwind
declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) @__spirv_CooperativeMatrixScalarMulKHR_f32_sc3_16x16_u2(target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2), float) #0

; Function Attrs: convergent nounwind
declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) @__spirv_CooperativeMatrixFAdd_f32_sc3_16x16_u2(target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2), target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2)) #0

; Function Attrs: convergent nounwind
declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) @__spirv_CooperativeMatrixScalarNeg_f32_sc3_16x16_u2(target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2)) #0

; Function Attrs: convergent nounwind
declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) @__spirv_CooperativeMatrixFDiv_f32_sc3_16x16_u2(target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2), target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2)) #0

; Function Attrs: convergent nounwind
declare spir_func i32 @__spirv_CooperativeMatrixLengthKHR_f32_sc3_16x16_u2(target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2)) #0

; Function Attrs: convergent nounwind
declare spir_func void @__spirv_CooperativeMatrixStoreKHR_global_f32_sc3_16x16_u2(ptr addrspace(1), target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2), i32, i64) #0

; Function Attrs: convergent nounwind
declare spir_func target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1) @__spirv_CooperativeMatrixLoadKHR_local_i32_sc3_4x8_u1(ptr addrspace(3), i32, i64) #0

; Function Attrs: convergent nounwind
declare spir_func target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1) @__spirv_CooperativeMatrixIMul_i32_sc3_4x8_u1(target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1), target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1)) #0

; Function Attrs: convergent nounwind
declare spir_func target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1) @__spirv_CooperativeMatrixISub_i32_sc3_4x8_u1(target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1), target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1)) #0

; Function Attrs: convergent nounwind
declare spir_func void @__spirv_CooperativeMatrixStoreKHR_local_i32_sc3_4x8_u1(ptr addrspace(3), target("spirv.CooperativeMatrixKHR", i32, 3, 4, 8, 1), i32, i64) #0

attributes #0 = { convergent nounwind }

!opencl.ocl.version = !{!0}
!opencl.enable.FP_CONTRACT = !{}

!0 = !{i32 3, i32 0}
