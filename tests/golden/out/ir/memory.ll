define spir_kernel void @"k"(ptr addrspace(1) %"p") convergent nounwind
{
entry:
  %"p.addr" = alloca ptr addrspace(1), align 8
  %"own" = alloca [2 x float], align 4
  %"i" = alloca i64, align 8
  store ptr addrspace(1) %"p", ptr %"p.addr", align 8
  store [2 x float] zeroinitializer, ptr %"own", align 4
  %".5" = getelementptr inbounds [2 x float], ptr %"own", i64 0, i64 0
  store float 1.0, ptr %".5", align 4
  %".7" = call spir_func i64 @"_Z12get_local_idj"(i32 0)
  store i64 %".7", ptr %"i", align 8
  %".9" = load ptr addrspace(1), ptr %"p.addr", align 8
  %".10" = load i64, ptr %"i", align 8
  %".11" = getelementptr inbounds float, ptr addrspace(1) %".9", i64 %".10"
  %".12" = load float, ptr addrspace(1) %".11", align 4
  %".13" = load i64, ptr %"i", align 8
  %".14" = and i64 %".13", 3
  %".15" = getelementptr inbounds [3 x float], ptr addrspace(2) @"weights", i64 0, i64 %".14"
  %".16" = load float, ptr addrspace(2) %".15", align 4
  %".17" = fmul float %".12", %".16"
  %".18" = load i64, ptr %"i", align 8
  %".19" = and i64 %".18", 1
  %".20" = getelementptr inbounds [2 x float], ptr %"own", i64 0, i64 %".19"
  %".21" = load float, ptr %".20", align 4
  %".22" = fadd float %".17", %".21"
  %".23" = load i64, ptr %"i", align 8
  %".24" = getelementptr inbounds [8 x float], ptr addrspace(3) @"k.shared", i64 0, i64 %".23"
  store float %".22", ptr addrspace(3) %".24", align 4
  call spir_func void @"_Z22__spirv_ControlBarrierjjj"(i32 2, i32 2, i32 272)
  %".27" = load i64, ptr %"i", align 8
  %".28" = sub i64 7, %".27"
  %".29" = getelementptr inbounds [8 x float], ptr addrspace(3) @"k.shared", i64 0, i64 %".28"
  %".30" = load float, ptr addrspace(3) %".29", align 4
  %".31" = load ptr addrspace(1), ptr %"p.addr", align 8
  %".32" = load i64, ptr %"i", align 8
  %".33" = getelementptr inbounds float, ptr addrspace(1) %".31", i64 %".32"
  store float %".30", ptr addrspace(1) %".33", align 4
  ret void
}

declare spir_func i64 @"_Z12get_local_idj"(i32 %".1") nounwind readnone

@"weights" = internal addrspace(2) constant [3 x float] [float 0x3FD0000000000000, float 0x3FE0000000000000, float 0.0], align 4
@"k.shared" = internal addrspace(3) global [8 x float] undef, align 4
declare spir_func void @"_Z22__spirv_ControlBarrierjjj"(i32 %".1", i32 %".2", i32 %".3") convergent nounwind

!opencl.ocl.version = !{ !0 }
!opencl.enable.FP_CONTRACT = !{  }
!0 = !{ i32 3, i32 0 }
