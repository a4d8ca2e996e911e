define spir_kernel void @"a"() convergent nounwind !reqd_work_group_size !0 !intel_reqd_sub_group_size !1
{
entry:
  ret void
}

define spir_kernel void @"b"(ptr addrspace(3) %"p", ptr addrspace(2) %"q") convergent nounwind !work_group_size_hint !2 !vec_type_hint !3
{
entry:
  %"p.addr" = alloca ptr addrspace(3), align 8
  %"q.addr" = alloca ptr addrspace(2), align 8
  store ptr addrspace(3) %"p", ptr %"p.addr", align 8
  store ptr addrspace(2) %"q", ptr %"q.addr", align 8
  ret void
}

!opencl.ocl.version = !{ !4 }
!opencl.enable.FP_CONTRACT = !{  }
!0 = !{ i32 8, i32 4, i32 1 }
!1 = !{ i32 16 }
!2 = !{ i32 64, i32 1, i32 1 }
!3 = !{ <4 x float> undef, i32 1 }
!4 = !{ i32 3, i32 0 }
