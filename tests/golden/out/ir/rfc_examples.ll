; ModuleID = '<string>'
source_filename = "<string>"

; Function Attrs: convergent nounwind
define internal spir_func void @load(ptr addrspace(1) %A) #0 {
entry:
  %A.addr = alloca ptr addrspace(1), align 8
  %m = alloca target("spirv.CooperativeMatrixKHR", float, 8, 4, 0, 0), align 8
  store ptr addrspace(1) %A, ptr %A.addr, align 8
  %.4 = load ptr addrspace(1), ptr %A.addr, align 8
  %.5 = call target("spirv.CooperativeMatrixKHR", float, 8, 4, 0, 0) @_Z32__spirv_CooperativeMatrixLoadKHR(ptr addrspace(1) %.4, i32 0, i32 3)
  store target("spirv.CooperativeMatrixKHR", float, 8, 4, 0, 0) %.5, ptr %m, align 8
  ret void
}

; Function Attrs: convergent nounwind
define internal spir_func void @store(ptr addrspace(1) %A) #0 {
entry:
  %A.addr = alloca ptr addrspace(1), align 8
  %m = alloca target("spirv.CooperativeMatrixKHR", half, 2, 4, 0, 0), align 8
  store ptr addrspace(1) %A, ptr %A.addr, align 8
  %.4 = call target("spirv.CooperativeMatrixKHR", half, 2, 4, 0, 0) @_Z26__spirv_CompositeConstruct(half 0xH3C00)
  store target("spirv.CooperativeMatrixKHR", half, 2, 4, 0, 0) %.4, ptr %m, align 8
  %.6 = load ptr addrspace(1), ptr %A.addr, align 8
  %.7 = load target("spirv.CooperativeMatrixKHR", half, 2, 4, 0, 0), ptr %m, align 8
  call void @_Z33__spirv_CooperativeMatrixStoreKHR(ptr addrspace(1) %.6, target("spirv.CooperativeMatrixKHR", half, 2, 4, 0, 0) %.7, i32 0, i32 3)
  ret void
}

; Function Attrs: convergent nounwind
define internal spir_func void @multiply() #0 {
entry:
  %a = alloca target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0), align 8
  %b = alloca target("spirv.CooperativeMatrixKHR", float, 8, 2, 0, 1), align 8
  %c = alloca target("spirv.CooperativeMatrixKHR", float, 4, 2, 0, 2), align 8
  %d = alloca target("spirv.CooperativeMatrixKHR", float, 4, 2, 0, 2), align 8
  %.2 = call target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0) @_Z26__spirv_CompositeConstruct.1(float 1.000000e+00)
  store target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0) %.2, ptr %a, align 8
  %.4 = call target("spirv.CooperativeMatrixKHR", float, 8, 2, 0, 1) @_Z26__spirv_CompositeConstruct.2(float 2.000000e+00)
  store target("spirv.CooperativeMatrixKHR", float, 8, 2, 0, 1) %.4, ptr %b, align 8
  %.6 = call target("spirv.CooperativeMatrixKHR", float, 4, 2, 0, 2) @_Z26__spirv_CompositeConstruct.3(float 3.000000e+00)
  store target("spirv.CooperativeMatrixKHR", float, 4, 2, 0, 2) %.6, ptr %c, align 8
  %.8 = load target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0), ptr %a, align 8
  %.9 = load target("spirv.CooperativeMatrixKHR", float, 8, 2, 0, 1), ptr %b, align 8
  %.10 = load target("spirv.CooperativeMatrixKHR", float, 4, 2, 0, 2), ptr %c, align 8
  %.11 = call target("spirv.CooperativeMatrixKHR", float, 4, 2, 0, 2) @_Z34__spirv_CooperativeMatrixMulAddKHR(target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0) %.8, target("spirv.CooperativeMatrixKHR", float, 8, 2, 0, 1) %.9, target("spirv.CooperativeMatrixKHR", float, 4, 2, 0, 2) %.10, i8 8)
  store target("spirv.CooperativeMatrixKHR", float, 4, 2, 0, 2) %.11, ptr %d, align 8
  ret void
}

; Function Attrs: convergent nounwind
define internal spir_func void @operators() #0 {
entry:
  %a = alloca target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0), align 8
  %c = alloca target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0), align 8
  %.2 = call target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0) @_Z26__spirv_CompositeConstruct.1(float 1.000000e+00)
  store target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0) %.2, ptr %a, align 8
  %.4 = load target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0), ptr %a, align 8
  %.6 = call target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0) @_Z34__spirv_CooperativeMatrixScalarMul(target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0) %.4, i32 4)
  store target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0) %.6, ptr %c, align 8
  %.8 = load target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0), ptr %c, align 8
  %.9 = call target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0) @_Z34__spirv_CooperativeMatrixScalarNeg(target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0) %.8)
  store target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0) %.9, ptr %c, align 8
  %.11 = load target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0), ptr %c, align 8
  %.12 = load target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0), ptr %c, align 8
  %.13 = call target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0) @_Z34__spirv_CooperativeMatrixBinaryAdd(target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0) %.11, target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0) %.12)
  store target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0) %.13, ptr %c, align 8
  ret void
}

; Function Attrs: convergent nounwind
define internal spir_func void @variables() #0 {
entry:
  %vmat1 = alloca target("spirv.CooperativeMatrixKHR", float, 8, 8, 0, 0), align 8
  %vmat2 = alloca target("spirv.CooperativeMatrixKHR", half, 4, 4, 0, 1), align 8
  ret void
}

; Function Attrs: convergent nounwind
declare target("spirv.CooperativeMatrixKHR", float, 8, 4, 0, 0) @_Z32__spirv_CooperativeMatrixLoadKHR(ptr addrspace(1), i32, i32) #0

; Function Attrs: convergent nounwind
declare target("spirv.CooperativeMatrixKHR", half, 2, 4, 0, 0) @_Z26__spirv_CompositeConstruct(half) #0

; Function Attrs: convergent nounwind
declare void @_Z33__spirv_CooperativeMatrixStoreKHR(ptr addrspace(1), target("spirv.CooperativeMatrixKHR", half, 2, 4, 0, 0), i32, i32) #0

; Function Attrs: convergent nounwind
declare target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0) @_Z26__spirv_CompositeConstruct.1(float) #0

; Function Attrs: convergent nounwind
declare target("spirv.CooperativeMatrixKHR", float, 8, 2, 0, 1) @_Z26__spirv_CompositeConstruct.2(float) #0

; Function Attrs: convergent nounwind
declare target("spirv.CooperativeMatrixKHR", float, 4, 2, 0, 2) @_Z26__spirv_CompositeConstruct.3(float) #0

; Function Attrs: convergent nounwind
declare target("spirv.CooperativeMatrixKHR", float, 4, 2, 0, 2) @_Z34__spirv_CooperativeMatrixMulAddKHR(target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0), target("spirv.CooperativeMatrixKHR", float, 8, 2, 0, 1), target("spirv.CooperativeMatrixKHR", float, 4, 2, 0, 2), i8) #0

; Function Attrs: convergent nounwind
declare target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0) @_Z34__spirv_CooperativeMatrixScalarMul(target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0), i32) #0

; Function Attrs: convergent nounwind
declare target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0) @_Z34__spirv_CooperativeMatrixScalarNeg(target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0)) #0

; Function Attrs: convergent nounwind
declare target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0) @_Z34__spirv_CooperativeMatrixBinaryAdd(target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0), target("spirv.CooperativeMatrixKHR", float, 4, 8, 0, 0)) #0

attributes #0 = { convergent nounwind }

!opencl.ocl.version = !{!0}
!opencl.enable.FP_CONTRACT = !{}

!0 = !{i32 3, i32 0}
