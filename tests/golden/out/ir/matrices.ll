define spir_kernel void @"k"(ptr addrspace(1) %"a", ptr addrspace(3) %"b", ptr addrspace(1) %"c", i32 %"stride") convergent nounwind
{
entry:
  %"a.addr" = alloca ptr addrspace(1), align 8
  %"b.addr" = alloca ptr addrspace(3), align 8
  %"c.addr" = alloca ptr addrspace(1), align 8
  %"stride.addr" = alloca i32, align 4
  %"ta" = alloca target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0), align 8
  %"tb" = alloca target("spirv.CooperativeMatrixKHR", half, 3, 16, 8, 1), align 8
  %"sum" = alloca target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2), align 8
  store ptr addrspace(1) %"a", ptr %"a.addr", align 8
  store ptr addrspace(3) %"b", ptr %"b.addr", align 8
  store ptr addrspace(1) %"c", ptr %"c.addr", align 8
  store i32 %"stride", ptr %"stride.addr", align 4
  %".10" = load ptr addrspace(1), ptr %"a.addr", align 8
  %".11" = load i32, ptr %"stride.addr", align 4
  %".12" = zext i32 %".11" to i64
  %".13" = call spir_func target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0) @"_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1Dhilu8mDh8x16A"(ptr addrspace(1) %".10", i32 0, i64 %".12")
  store target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0) %".13", ptr %"ta", align 8
  %".15" = load ptr addrspace(3), ptr %"b.addr", align 8
  %".16" = call spir_func target("spirv.CooperativeMatrixKHR", half, 3, 16, 8, 1) @"_Z32__spirv_CooperativeMatrixLoadKHRPU3AS3Dhilu8mDh16x8B"(ptr addrspace(3) %".15", i32 1, i64 16)
  store target("spirv.CooperativeMatrixKHR", half, 3, 16, 8, 1) %".16", ptr %"tb", align 8
  %".18" = load target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0), ptr %"ta", align 8
  %".19" = load target("spirv.CooperativeMatrixKHR", half, 3, 16, 8, 1), ptr %"tb", align 8
  %".20" = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) @"_Z26__spirv_CompositeConstruct_mf8x8C"(float 0.0)
  %".21" = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) @"_Z34__spirv_CooperativeMatrixMulAddKHR_mDh8x16A_mDh16x8B_mf8x8C"(target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0) %".18", target("spirv.CooperativeMatrixKHR", half, 3, 16, 8, 1) %".19", target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) %".20", i32 0)
  store target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) %".21", ptr %"sum", align 8
  %".23" = load target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2), ptr %"sum", align 8
  %".24" = load target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2), ptr %"sum", align 8
  %".25" = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) @"_Z12__spirv_FAdd_mf8x8C"(target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) %".23", target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) %".24")
  %".26" = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) @"_Z26__spirv_CompositeConstruct_mf8x8C"(float 0x3FE0000000000000)
  %".27" = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) @"_Z12__spirv_FMul_mf8x8C"(target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) %".25", target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) %".26")
  store target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) %".27", ptr %"sum", align 8
  %".29" = call spir_func float @"__cm_get_mf8x8C"(ptr %"sum", i32 1)
  %".30" = fneg float %".29"
  call spir_func void @"__cm_set_mf8x8C"(ptr %"sum", i32 0, float %".30")
  %".32" = load ptr addrspace(1), ptr %"c.addr", align 8
  %".33" = load target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2), ptr %"sum", align 8
  call spir_func void @"_Z33__spirv_CooperativeMatrixStoreKHRPU3AS1fu6mf8x8Cil"(ptr addrspace(1) %".32", target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) %".33", i32 0, i64 8)
  ret void
}

declare spir_func target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0) @"_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1Dhilu8mDh8x16A"(ptr addrspace(1) %".1", i32 %".2", i64 %".3") convergent nounwind

declare spir_func target("spirv.CooperativeMatrixKHR", half, 3, 16, 8, 1) @"_Z32__spirv_CooperativeMatrixLoadKHRPU3AS3Dhilu8mDh16x8B"(ptr addrspace(3) %".1", i32 %".2", i64 %".3") convergent nounwind

declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) @"_Z26__spirv_CompositeConstruct_mf8x8C"(float %".1") convergent nounwind

declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) @"_Z34__spirv_CooperativeMatrixMulAddKHR_mDh8x16A_mDh16x8B_mf8x8C"(target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0) %".1", target("spirv.CooperativeMatrixKHR", half, 3, 16, 8, 1) %".2", target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) %".3", i32 %".4") convergent nounwind

declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) @"_Z12__spirv_FAdd_mf8x8C"(target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) %".1", target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) %".2") convergent nounwind

declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) @"_Z12__spirv_FMul_mf8x8C"(target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) %".1", target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) %".2") convergent nounwind

declare spir_func float @"__cm_get_mf8x8C"(ptr %".1", i32 %".2") convergent nounwind

declare spir_func void @"__cm_set_mf8x8C"(ptr %".1", i32 %".2", float %".3") convergent nounwind

declare spir_func void @"_Z33__spirv_CooperativeMatrixStoreKHRPU3AS1fu6mf8x8Cil"(ptr addrspace(1) %".1", target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) %".2", i32 %".3", i64 %".4") convergent nounwind

!opencl.ocl.version = !{ !0 }
!opencl.enable.FP_CONTRACT = !{  }
!0 = !{ i32 3, i32 0 }
