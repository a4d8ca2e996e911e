define spir_kernel void @"k"(ptr addrspace(1) %"p", ptr addrspace(1) %"h", ptr addrspace(1) %"n") convergent nounwind
{
entry:
  %"p.addr" = alloca ptr addrspace(1), align 8
  %"h.addr" = alloca ptr addrspace(1), align 8
  %"n.addr" = alloca ptr addrspace(1), align 8
  %"v" = alloca <4 x float>, align 16
  store ptr addrspace(1) %"p", ptr %"p.addr", align 8
  store ptr addrspace(1) %"h", ptr %"h.addr", align 8
  store ptr addrspace(1) %"n", ptr %"n.addr", align 8
  %".8" = load ptr addrspace(1), ptr %"p.addr", align 8
  %".9" = getelementptr inbounds <4 x float>, ptr addrspace(1) %".8", i64 0
  %".10" = load <4 x float>, ptr addrspace(1) %".9", align 16
  %".11" = load ptr addrspace(1), ptr %"p.addr", align 8
  %".12" = getelementptr inbounds <4 x float>, ptr addrspace(1) %".11", i64 1
  %".13" = load <4 x float>, ptr addrspace(1) %".12", align 16
  %".14" = load ptr addrspace(1), ptr %"p.addr", align 8
  %".15" = getelementptr inbounds <4 x float>, ptr addrspace(1) %".14", i64 2
  %".16" = load <4 x float>, ptr addrspace(1) %".15", align 16
  %".17" = call spir_func <4 x float> @"_Z3fmaDv4_fS_S_"(<4 x float> %".10", <4 x float> %".13", <4 x float> %".16")
  store <4 x float> %".17", ptr %"v", align 16
  %".19" = load <4 x float>, ptr %"v", align 16
  %".20" = extractelement <4 x float> %".19", i32 0
  %".21" = call spir_func float @"_Z3sinf"(float %".20")
  %".22" = load <4 x float>, ptr %"v", align 16
  %".23" = load <4 x float>, ptr %"v", align 16
  %".24" = call spir_func float @"_Z3dotDv4_fS_"(<4 x float> %".22", <4 x float> %".23")
  %".25" = fadd float %".21", %".24"
  %".26" = load <4 x float>, ptr %"v", align 16
  %".27" = insertelement <4 x float> %".26", float %".25", i32 0
  store <4 x float> %".27", ptr %"v", align 16
  %".29" = load <4 x float>, ptr %"v", align 16
  %".30" = call spir_func <4 x float> @"_Z4fminDv4_ff"(<4 x float> %".29", float 1.0)
  %".31" = load ptr addrspace(1), ptr %"p.addr", align 8
  %".32" = getelementptr inbounds <4 x float>, ptr addrspace(1) %".31", i64 3
  store <4 x float> %".30", ptr addrspace(1) %".32", align 16
  %".34" = load <4 x float>, ptr %"v", align 16
  %".35" = extractelement <4 x float> %".34", i32 1
  %".36" = call spir_func float @"_Z4rintf"(float %".35")
  %".37" = fcmp olt float %".36", 0xC1E0000000000000
  %".38" = fcmp oge float %".36", 0x41E0000000000000
  %".39" = or i1 %".37", %".38"
  %".40" = fcmp uno float %".36", %".36"
  %".41" = or i1 %".39", %".40"
  %".42" = select  i1 %".41", float 0.0, float %".36"
  %".43" = fptosi float %".42" to i32
  %".44" = select  i1 %".38", i32 2147483647, i32 %".43"
  %".45" = select  i1 %".37", i32 -2147483648, i32 %".44"
  %".46" = load ptr addrspace(1), ptr %"n.addr", align 8
  %".47" = getelementptr inbounds i32, ptr addrspace(1) %".46", i64 1
  %".48" = load i32, ptr addrspace(1) %".47", align 4
  %".49" = call spir_func i32 @"_Z3maxii"(i32 %".48", i32 2)
  %".50" = add nsw i32 %".45", %".49"
  %".51" = load ptr addrspace(1), ptr %"n.addr", align 8
  %".52" = getelementptr inbounds i32, ptr addrspace(1) %".51", i64 2
  %".53" = load i32, ptr addrspace(1) %".52", align 4
  %".54" = call spir_func i32 @"_Z8popcounti"(i32 %".53")
  %".55" = add nsw i32 %".50", %".54"
  %".56" = load ptr addrspace(1), ptr %"n.addr", align 8
  %".57" = getelementptr inbounds i32, ptr addrspace(1) %".56", i64 0
  store i32 %".55", ptr addrspace(1) %".57", align 4
  %".59" = load <4 x float>, ptr %"v", align 16
  %".60" = extractelement <4 x float> %".59", i32 2
  %".61" = load ptr addrspace(1), ptr %"h.addr", align 8
  call spir_func void @"_Z11vstore_halffmPU3AS1Dh"(float %".60", i64 0, ptr addrspace(1) %".61")
  %".63" = load ptr addrspace(1), ptr %"n.addr", align 8
  %".64" = getelementptr inbounds i32, ptr addrspace(1) %".63", i64 4
  %".65" = load i32, ptr addrspace(1) %".64", align 4
  %".66" = call spir_func i32 @"_Z20sub_group_reduce_addi"(i32 %".65")
  %".67" = load ptr addrspace(1), ptr %"n.addr", align 8
  %".68" = getelementptr inbounds i32, ptr addrspace(1) %".67", i64 3
  store i32 %".66", ptr addrspace(1) %".68", align 4
  ret void
}

declare spir_func <4 x float> @"_Z3fmaDv4_fS_S_"(<4 x float> %".1", <4 x float> %".2", <4 x float> %".3") nounwind readnone

declare spir_func float @"_Z3sinf"(float %".1") nounwind readnone

declare spir_func float @"_Z3dotDv4_fS_"(<4 x float> %".1", <4 x float> %".2") nounwind readnone

declare spir_func <4 x float> @"_Z4fminDv4_ff"(<4 x float> %".1", float %".2") nounwind readnone

declare spir_func float @"_Z4rintf"(float %".1") nounwind readnone

declare spir_func i32 @"_Z3maxii"(i32 %".1", i32 %".2") nounwind readnone

declare spir_func i32 @"_Z8popcounti"(i32 %".1") nounwind readnone

declare spir_func void @"_Z11vstore_halffmPU3AS1Dh"(float %".1", i64 %".2", ptr addrspace(1) %".3") nounwind

declare spir_func i32 @"_Z20sub_group_reduce_addi"(i32 %".1") convergent nounwind

!opencl.ocl.version = !{ !0 }
!opencl.enable.FP_CONTRACT = !{  }
!0 = !{ i32 3, i32 0 }
