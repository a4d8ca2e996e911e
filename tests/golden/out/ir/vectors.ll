define spir_kernel void @"k"(ptr addrspace(1) %"p", ptr addrspace(1) %"q", float %"s") convergent nounwind
{
entry:
  %"p.addr" = alloca ptr addrspace(1), align 8
  %"q.addr" = alloca ptr addrspace(1), align 8
  %"s.addr" = alloca float, align 4
  %"v" = alloca <4 x float>, align 16
  store ptr addrspace(1) %"p", ptr %"p.addr", align 8
  store ptr addrspace(1) %"q", ptr %"q.addr", align 8
  store float %"s", ptr %"s.addr", align 4
  %".8" = load ptr addrspace(1), ptr %"p.addr", align 8
  %".9" = getelementptr inbounds <4 x float>, ptr addrspace(1) %".8", i64 0
  %".10" = load <4 x float>, ptr addrspace(1) %".9", align 16
  store <4 x float> %".10", ptr %"v", align 16
  %".12" = load ptr addrspace(1), ptr %"p.addr", align 8
  %".13" = getelementptr inbounds <4 x float>, ptr addrspace(1) %".12", i64 1
  %".14" = load <4 x float>, ptr addrspace(1) %".13", align 16
  %".15" = shufflevector <4 x float> %".14", <4 x float> undef, <2 x i32> <i32 0, i32 1>
  %".16" = load float, ptr %"s.addr", align 4
  %".17" = insertelement <2 x float> undef, float %".16", i32 0
  %".18" = shufflevector <2 x float> %".17", <2 x float> undef, <2 x i32> <i32 0, i32 0>
  %".19" = fmul <2 x float> %".15", %".18"
  %".20" = extractelement <2 x float> %".19", i32 0
  %".21" = extractelement <2 x float> %".19", i32 1
  %".22" = load <4 x float>, ptr %"v", align 16
  %".23" = insertelement <4 x float> %".22", float %".20", i32 2
  %".24" = insertelement <4 x float> %".23", float %".21", i32 0
  store <4 x float> %".24", ptr %"v", align 16
  %".26" = load <4 x float>, ptr %"v", align 16
  %".27" = load ptr addrspace(1), ptr %"p.addr", align 8
  %".28" = getelementptr inbounds <4 x float>, ptr addrspace(1) %".27", i64 2
  %".29" = load <4 x float>, ptr addrspace(1) %".28", align 16
  %".30" = fcmp olt <4 x float> %".26", %".29"
  %".31" = sext <4 x i1> %".30" to <4 x i32>
  %".32" = icmp slt <4 x i32> %".31", <i32 0, i32 0, i32 0, i32 0>
  %".33" = load ptr addrspace(1), ptr %"q.addr", align 8
  %".34" = getelementptr inbounds <4 x i32>, ptr addrspace(1) %".33", i64 1
  %".35" = load <4 x i32>, ptr addrspace(1) %".34", align 16
  %".36" = load ptr addrspace(1), ptr %"q.addr", align 8
  %".37" = getelementptr inbounds <4 x i32>, ptr addrspace(1) %".36", i64 2
  %".38" = load <4 x i32>, ptr addrspace(1) %".37", align 16
  %".39" = sub <4 x i32> <i32 0, i32 0, i32 0, i32 0>, %".38"
  %".40" = select  <4 x i1> %".32", <4 x i32> %".35", <4 x i32> %".39"
  %".41" = load ptr addrspace(1), ptr %"q.addr", align 8
  %".42" = getelementptr inbounds <4 x i32>, ptr addrspace(1) %".41", i64 0
  store <4 x i32> %".40", ptr addrspace(1) %".42", align 16
  %".44" = load <4 x float>, ptr %"v", align 16
  %".45" = shufflevector <4 x float> %".44", <4 x float> undef, <2 x i32> <i32 2, i32 3>
  %".46" = load <4 x float>, ptr %"v", align 16
  %".47" = extractelement <4 x float> %".46", i32 1
  %".48" = extractelement <2 x float> %".45", i32 0
  %".49" = extractelement <2 x float> %".45", i32 1
  %".50" = insertelement <4 x float> undef, float %".48", i32 0
  %".51" = insertelement <4 x float> %".50", float %".49", i32 1
  %".52" = insertelement <4 x float> %".51", float 1.0, i32 2
  %".53" = insertelement <4 x float> %".52", float %".47", i32 3
  %".54" = load ptr addrspace(1), ptr %"p.addr", align 8
  %".55" = getelementptr inbounds <4 x float>, ptr addrspace(1) %".54", i64 3
  store <4 x float> %".53", ptr addrspace(1) %".55", align 16
  ret void
}

!opencl.ocl.version = !{ !0 }
!opencl.enable.FP_CONTRACT = !{  }
!0 = !{ i32 3, i32 0 }
