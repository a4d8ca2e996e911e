define spir_kernel void @"saxpy"(float %"a", ptr addrspace(1) noalias %"x", ptr addrspace(1) noalias %"y") convergent nounwind
{
entry:
  %"a.addr" = alloca float, align 4
  %"x.addr" = alloca ptr addrspace(1), align 8
  %"y.addr" = alloca ptr addrspace(1), align 8
  %"i" = alloca i64, align 8
  store float %"a", ptr %"a.addr", align 4
  store ptr addrspace(1) %"x", ptr %"x.addr", align 8
  store ptr addrspace(1) %"y", ptr %"y.addr", align 8
  %".8" = call spir_func i64 @"_Z13get_global_idj"(i32 0)
  store i64 %".8", ptr %"i", align 8
  %".10" = load float, ptr %"a.addr", align 4
  %".11" = load ptr addrspace(1), ptr %"x.addr", align 8
  %".12" = load i64, ptr %"i", align 8
  %".13" = getelementptr inbounds float, ptr addrspace(1) %".11", i64 %".12"
  %".14" = load float, ptr addrspace(1) %".13", align 4
  %".15" = fmul float %".10", %".14"
  %".16" = load ptr addrspace(1), ptr %"y.addr", align 8
  %".17" = load i64, ptr %"i", align 8
  %".18" = getelementptr inbounds float, ptr addrspace(1) %".16", i64 %".17"
  %".19" = load float, ptr addrspace(1) %".18", align 4
  %".20" = fadd float %".15", %".19"
  %".21" = load ptr addrspace(1), ptr %"y.addr", align 8
  %".22" = load i64, ptr %"i", align 8
  %".23" = getelementptr inbounds float, ptr addrspace(1) %".21", i64 %".22"
  store float %".20", ptr addrspace(1) %".23", align 4
  ret void
}

declare spir_func i64 @"_Z13get_global_idj"(i32 %".1") nounwind readnone

!opencl.ocl.version = !{ !0 }
!opencl.enable.FP_CONTRACT = !{  }
!0 = !{ i32 3, i32 0 }
