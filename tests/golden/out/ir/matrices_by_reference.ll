%"struct.cm_int_2x2_accumulator" = type {[2 x <2 x i32>]}
define spir_kernel void @"k"(ptr addrspace(1) %"c") convergent nounwind
{
entry:
  %"c.addr" = alloca ptr addrspace(1), align 8
  %"m" = alloca %"struct.cm_int_2x2_accumulator", align 8
  store ptr addrspace(1) %"c", ptr %"c.addr", align 8
  %".4" = getelementptr inbounds %"struct.cm_int_2x2_accumulator", ptr %"m", i32 0, i32 0
  %".5" = getelementptr inbounds [2 x <2 x i32>], ptr %".4", i64 0, i64 0
  %".6" = load ptr addrspace(1), ptr %"c.addr", align 8
  call spir_func void @"cm_load_2x2_C_s32_global_rowm"(ptr %".5", ptr addrspace(1) %".6", i64 2)
  %".8" = load ptr addrspace(1), ptr %"c.addr", align 8
  %".9" = getelementptr inbounds %"struct.cm_int_2x2_accumulator", ptr %"m", i32 0, i32 0
  %".10" = getelementptr inbounds [2 x <2 x i32>], ptr %".9", i64 0, i64 0
  call spir_func void @"cm_store_2x2_C_s32_global_rowm"(ptr addrspace(1) %".8", ptr %".10", i64 2)
  ret void
}

define internal spir_func void @"cm_load_2x2_C_s32_global_rowm"(ptr %"out", ptr addrspace(1) %"p", i64 %"stride") alwaysinline convergent nounwind
{
entry:
  %"out.addr" = alloca ptr, align 8
  %"p.addr" = alloca ptr addrspace(1), align 8
  %"stride.addr" = alloca i64, align 8
  %"r" = alloca i32, align 4
  %"c" = alloca i32, align 4
  store ptr %"out", ptr %"out.addr", align 8
  store ptr addrspace(1) %"p", ptr %"p.addr", align 8
  store i64 %"stride", ptr %"stride.addr", align 8
  store i32 0, ptr %"r", align 4
  br label %"for.cond"
for.cond:
  %".10" = load i32, ptr %"r", align 4
  %".11" = icmp slt i32 %".10", 2
  br i1 %".11", label %"for.body", label %"for.end"
for.body:
  store i32 0, ptr %"c", align 4
  br label %"for.cond.1"
for.cond.1:
  %".15" = load i32, ptr %"c", align 4
  %".16" = icmp slt i32 %".15", 2
  br i1 %".16", label %"for.body.1", label %"for.end.1"
for.body.1:
  %".18" = load ptr addrspace(1), ptr %"p.addr", align 8
  %".19" = load i32, ptr %"r", align 4
  %".20" = sext i32 %".19" to i64
  %".21" = load i64, ptr %"stride.addr", align 8
  %".22" = mul i64 %".20", %".21"
  %".23" = load i32, ptr %"c", align 4
  %".24" = sext i32 %".23" to i64
  %".25" = add i64 %".22", %".24"
  %".26" = getelementptr inbounds i32, ptr addrspace(1) %".18", i64 %".25"
  %".27" = call spir_func <2 x i32> @"_Z6vload2mPU3AS1Ki"(i64 0, ptr addrspace(1) %".26")
  %".28" = load ptr, ptr %"out.addr", align 8
  %".29" = load i32, ptr %"r", align 4
  %".30" = mul i32 %".29", 2
  %".31" = load i32, ptr %"c", align 4
  %".32" = add i32 %".30", %".31"
  %".33" = sext i32 %".32" to i64
  %".34" = getelementptr inbounds i32, ptr %".28", i64 %".33"
  store <2 x i32> %".27", ptr %".34", align 8
  br label %"for.step.1"
for.step.1:
  %".37" = load i32, ptr %"c", align 4
  %".38" = add i32 %".37", 2
  store i32 %".38", ptr %"c", align 4
  br label %"for.cond.1", !llvm.loop !1
for.end.1:
  br label %"for.step"
for.step:
  %".42" = load i32, ptr %"r", align 4
  %".43" = add i32 %".42", 1
  store i32 %".43", ptr %"r", align 4
  br label %"for.cond", !llvm.loop !2
for.end:
  ret void
}

define internal spir_func void @"cm_store_2x2_C_s32_global_rowm"(ptr addrspace(1) %"p", ptr %"m", i64 %"stride") alwaysinline convergent nounwind
{
entry:
  %"p.addr" = alloca ptr addrspace(1), align 8
  %"m.addr" = alloca ptr, align 8
  %"stride.addr" = alloca i64, align 8
  %"r" = alloca i32, align 4
  %"c" = alloca i32, align 4
  store ptr addrspace(1) %"p", ptr %"p.addr", align 8
  store ptr %"m", ptr %"m.addr", align 8
  store i64 %"stride", ptr %"stride.addr", align 8
  store i32 0, ptr %"r", align 4
  br label %"for.cond"
for.cond:
  %".10" = load i32, ptr %"r", align 4
  %".11" = icmp slt i32 %".10", 2
  br i1 %".11", label %"for.body", label %"for.end"
for.body:
  store i32 0, ptr %"c", align 4
  br label %"for.cond.1"
for.cond.1:
  %".15" = load i32, ptr %"c", align 4
  %".16" = icmp slt i32 %".15", 2
  br i1 %".16", label %"for.body.1", label %"for.end.1"
for.body.1:
  %".18" = load ptr, ptr %"m.addr", align 8
  %".19" = load i32, ptr %"r", align 4
  %".20" = mul i32 %".19", 2
  %".21" = load i32, ptr %"c", align 4
  %".22" = add i32 %".20", %".21"
  %".23" = sext i32 %".22" to i64
  %".24" = getelementptr inbounds i32, ptr %".18", i64 %".23"
  %".25" = load <2 x i32>, ptr %".24", align 8
  %".26" = load ptr addrspace(1), ptr %"p.addr", align 8
  %".27" = load i32, ptr %"r", align 4
  %".28" = sext i32 %".27" to i64
  %".29" = load i64, ptr %"stride.addr", align 8
  %".30" = mul i64 %".28", %".29"
  %".31" = load i32, ptr %"c", align 4
  %".32" = sext i32 %".31" to i64
  %".33" = add i64 %".30", %".32"
  %".34" = getelementptr inbounds i32, ptr addrspace(1) %".26", i64 %".33"
  call spir_func void @"_Z7vstore2Dv2_imPU3AS1i"(<2 x i32> %".25", i64 0, ptr addrspace(1) %".34")
  br label %"for.step.1"
for.step.1:
  %".37" = load i32, ptr %"c", align 4
  %".38" = add i32 %".37", 2
  store i32 %".38", ptr %"c", align 4
  br label %"for.cond.1", !llvm.loop !3
for.end.1:
  br label %"for.step"
for.step:
  %".42" = load i32, ptr %"r", align 4
  %".43" = add i32 %".42", 1
  store i32 %".43", ptr %"r", align 4
  br label %"for.cond", !llvm.loop !4
for.end:
  ret void
}

declare spir_func <2 x i32> @"_Z6vload2mPU3AS1Ki"(i64 %".1", ptr addrspace(1) %".2") nounwind

declare spir_func void @"_Z7vstore2Dv2_imPU3AS1i"(<2 x i32> %".1", i64 %".2", ptr addrspace(1) %".3") nounwind

!opencl.ocl.version = !{ !5 }
!opencl.enable.FP_CONTRACT = !{  }
!0 = !{ !"llvm.loop.unroll.full" }
!1 = distinct !{ !1, !0 }
!2 = distinct !{ !2, !0 }
!3 = distinct !{ !3, !0 }
!4 = distinct !{ !4, !0 }
!5 = !{ i32 3, i32 0 }
