%"struct.cm_int_7x5_a" = type {[35 x i32]}
%"struct.cm_long_5x64_b" = type {[20 x <16 x i64>]}
%"struct.cm_ushort_7x64_accumulator" = type {[28 x <16 x i16>]}
define spir_kernel void @"test"(ptr addrspace(1) %"a", ptr addrspace(1) %"b", ptr addrspace(1) %"c", ptr addrspace(1) %"out") convergent nounwind
{
entry:
  %"a.addr" = alloca ptr addrspace(1), align 8
  %"b.addr" = alloca ptr addrspace(1), align 8
  %"c.addr" = alloca ptr addrspace(1), align 8
  %"out.addr" = alloca ptr addrspace(1), align 8
  %"m1" = alloca %"struct.cm_int_7x5_a", align 4
  %"m2" = alloca %"struct.cm_long_5x64_b", align 128
  %"m3" = alloca %"struct.cm_ushort_7x64_accumulator", align 64
  %"m4" = alloca %"struct.cm_ushort_7x64_accumulator", align 64
  store ptr addrspace(1) %"a", ptr %"a.addr", align 8
  store ptr addrspace(1) %"b", ptr %"b.addr", align 8
  store ptr addrspace(1) %"c", ptr %"c.addr", align 8
  store ptr addrspace(1) %"out", ptr %"out.addr", align 8
  %".10" = getelementptr inbounds %"struct.cm_int_7x5_a", ptr %"m1", i32 0, i32 0
  %".11" = getelementptr inbounds [35 x i32], ptr %".10", i64 0, i64 0
  %".12" = load ptr addrspace(1), ptr %"a.addr", align 8
  %".13" = getelementptr inbounds i32, ptr addrspace(1) %".12", i64 17
  call spir_func void @"cm_load_7x5_A_s32_global_rowm"(ptr %".11", ptr addrspace(1) %".13", i64 8)
  %".15" = getelementptr inbounds %"struct.cm_long_5x64_b", ptr %"m2", i32 0, i32 0
  %".16" = getelementptr inbounds [20 x <16 x i64>], ptr %".15", i64 0, i64 0
  %".17" = load ptr addrspace(1), ptr %"b.addr", align 8
  %".18" = getelementptr inbounds i64, ptr addrspace(1) %".17", i64 19
  call spir_func void @"cm_load_5x64_B_s64_global_colm"(ptr %".16", ptr addrspace(1) %".18", i64 5)
  %".20" = getelementptr inbounds %"struct.cm_ushort_7x64_accumulator", ptr %"m3", i32 0, i32 0
  %".21" = getelementptr inbounds [28 x <16 x i16>], ptr %".20", i64 0, i64 0
  %".22" = load ptr addrspace(1), ptr %"c.addr", align 8
  %".23" = getelementptr inbounds i16, ptr addrspace(1) %".22", i64 17
  call spir_func void @"cm_load_7x64_C_u16_global_colm"(ptr %".21", ptr addrspace(1) %".23", i64 9)
  %".25" = getelementptr inbounds %"struct.cm_ushort_7x64_accumulator", ptr %"m4", i32 0, i32 0
  %".26" = getelementptr inbounds [28 x <16 x i16>], ptr %".25", i64 0, i64 0
  %".27" = getelementptr inbounds %"struct.cm_int_7x5_a", ptr %"m1", i32 0, i32 0
  %".28" = getelementptr inbounds [35 x i32], ptr %".27", i64 0, i64 0
  %".29" = getelementptr inbounds %"struct.cm_long_5x64_b", ptr %"m2", i32 0, i32 0
  %".30" = getelementptr inbounds [20 x <16 x i64>], ptr %".29", i64 0, i64 0
  %".31" = getelementptr inbounds %"struct.cm_ushort_7x64_accumulator", ptr %"m3", i32 0, i32 0
  %".32" = getelementptr inbounds [28 x <16 x i16>], ptr %".31", i64 0, i64 0
  call spir_func void @"cm_mul_add_7x64x5_s32xs64_u16_3"(ptr %".26", ptr %".28", ptr %".30", ptr %".32")
  %".34" = load ptr addrspace(1), ptr %"out.addr", align 8
  %".35" = getelementptr inbounds i16, ptr addrspace(1) %".34", i64 17
  %".36" = getelementptr inbounds %"struct.cm_ushort_7x64_accumulator", ptr %"m4", i32 0, i32 0
  %".37" = getelementptr inbounds [28 x <16 x i16>], ptr %".36", i64 0, i64 0
  call spir_func void @"cm_store_7x64_C_u16_global_colm"(ptr addrspace(1) %".35", ptr %".37", i64 8)
  ret void
}

define internal spir_func void @"cm_load_7x5_A_s32_global_rowm"(ptr %"out", ptr addrspace(1) %"p", i64 %"stride") alwaysinline convergent nounwind
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
  %".11" = icmp slt i32 %".10", 7
  br i1 %".11", label %"for.body", label %"for.end"
for.body:
  store i32 0, ptr %"c", align 4
  br label %"for.cond.1"
for.cond.1:
  %".15" = load i32, ptr %"c", align 4
  %".16" = icmp slt i32 %".15", 5
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
  %".27" = load i32, ptr addrspace(1) %".26", align 4
  %".28" = load ptr, ptr %"out.addr", align 8
  %".29" = load i32, ptr %"r", align 4
  %".30" = mul i32 %".29", 5
  %".31" = load i32, ptr %"c", align 4
  %".32" = add i32 %".30", %".31"
  %".33" = sext i32 %".32" to i64
  %".34" = getelementptr inbounds i32, ptr %".28", i64 %".33"
  store i32 %".27", ptr %".34", align 4
  br label %"for.step.1"
for.step.1:
  %".37" = load i32, ptr %"c", align 4
  %".38" = add i32 %".37", 1
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

define internal spir_func void @"cm_load_5x64_B_s64_global_colm"(ptr %"out", ptr addrspace(1) %"p", i64 %"stride") alwaysinline convergent nounwind
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
  %".11" = icmp slt i32 %".10", 5
  br i1 %".11", label %"for.body", label %"for.end"
for.body:
  store i32 0, ptr %"c", align 4
  br label %"for.cond.1"
for.cond.1:
  %".15" = load i32, ptr %"c", align 4
  %".16" = icmp slt i32 %".15", 64
  br i1 %".16", label %"for.body.1", label %"for.end.1"
for.body.1:
  %".18" = load ptr addrspace(1), ptr %"p.addr", align 8
  %".19" = load i32, ptr %"c", align 4
  %".20" = sext i32 %".19" to i64
  %".21" = load i64, ptr %"stride.addr", align 8
  %".22" = mul i64 %".20", %".21"
  %".23" = load i32, ptr %"r", align 4
  %".24" = sext i32 %".23" to i64
  %".25" = add i64 %".22", %".24"
  %".26" = getelementptr inbounds i64, ptr addrspace(1) %".18", i64 %".25"
  %".27" = load i64, ptr addrspace(1) %".26", align 8
  %".28" = load ptr, ptr %"out.addr", align 8
  %".29" = load i32, ptr %"r", align 4
  %".30" = mul i32 %".29", 64
  %".31" = load i32, ptr %"c", align 4
  %".32" = add i32 %".30", %".31"
  %".33" = sext i32 %".32" to i64
  %".34" = getelementptr inbounds i64, ptr %".28", i64 %".33"
  store i64 %".27", ptr %".34", align 8
  br label %"for.step.1"
for.step.1:
  %".37" = load i32, ptr %"c", align 4
  %".38" = add i32 %".37", 1
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

define internal spir_func void @"cm_load_7x64_C_u16_global_colm"(ptr %"out", ptr addrspace(1) %"p", i64 %"stride") alwaysinline convergent nounwind
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
  %".11" = icmp slt i32 %".10", 7
  br i1 %".11", label %"for.body", label %"for.end"
for.body:
  store i32 0, ptr %"c", align 4
  br label %"for.cond.1"
for.cond.1:
  %".15" = load i32, ptr %"c", align 4
  %".16" = icmp slt i32 %".15", 64
  br i1 %".16", label %"for.body.1", label %"for.end.1"
for.body.1:
  %".18" = load ptr addrspace(1), ptr %"p.addr", align 8
  %".19" = load i32, ptr %"c", align 4
  %".20" = sext i32 %".19" to i64
  %".21" = load i64, ptr %"stride.addr", align 8
  %".22" = mul i64 %".20", %".21"
  %".23" = load i32, ptr %"r", align 4
  %".24" = sext i32 %".23" to i64
  %".25" = add i64 %".22", %".24"
  %".26" = getelementptr inbounds i16, ptr addrspace(1) %".18", i64 %".25"
  %".27" = load i16, ptr addrspace(1) %".26", align 2
  %".28" = load ptr, ptr %"out.addr", align 8
  %".29" = load i32, ptr %"r", align 4
  %".30" = mul i32 %".29", 64
  %".31" = load i32, ptr %"c", align 4
  %".32" = add i32 %".30", %".31"
  %".33" = sext i32 %".32" to i64
  %".34" = getelementptr inbounds i16, ptr %".28", i64 %".33"
  store i16 %".27", ptr %".34", align 2
  br label %"for.step.1"
for.step.1:
  %".37" = load i32, ptr %"c", align 4
  %".38" = add i32 %".37", 1
  store i32 %".38", ptr %"c", align 4
  br label %"for.cond.1", !llvm.loop !5
for.end.1:
  br label %"for.step"
for.step:
  %".42" = load i32, ptr %"r", align 4
  %".43" = add i32 %".42", 1
  store i32 %".43", ptr %"r", align 4
  br label %"for.cond", !llvm.loop !6
for.end:
  ret void
}

define internal spir_func void @"cm_mul_add_7x64x5_s32xs64_u16_3"(ptr %"out", ptr %"a", ptr %"b", ptr %"c") alwaysinline convergent nounwind
{
entry:
  %"out.addr" = alloca ptr, align 8
  %"a.addr" = alloca ptr, align 8
  %"b.addr" = alloca ptr, align 8
  %"c.addr" = alloca ptr, align 8
  %"top" = alloca i32, align 4
  %"left" = alloca i32, align 4
  %"sum" = alloca [7 x [2 x <16 x i32>]], align 64
  %"i" = alloca i32, align 4
  %"j" = alloca i32, align 4
  %"k" = alloca i32, align 4
  %"y" = alloca [2 x <16 x i32>], align 64
  %"j.1" = alloca i32, align 4
  %"i.1" = alloca i32, align 4
  %"x" = alloca <16 x i32>, align 64
  %"j.2" = alloca i32, align 4
  %"i.2" = alloca i32, align 4
  %"j.3" = alloca i32, align 4
  %"at" = alloca i32, align 4
  store ptr %"out", ptr %"out.addr", align 8
  store ptr %"a", ptr %"a.addr", align 8
  store ptr %"b", ptr %"b.addr", align 8
  store ptr %"c", ptr %"c.addr", align 8
  store i32 0, ptr %"top", align 4
  br label %"for.cond"
for.cond:
  %".12" = load i32, ptr %"top", align 4
  %".13" = icmp slt i32 %".12", 7
  br i1 %".13", label %"for.body", label %"for.end"
for.body:
  store i32 0, ptr %"left", align 4
  br label %"for.cond.1"
for.cond.1:
  %".17" = load i32, ptr %"left", align 4
  %".18" = icmp slt i32 %".17", 4
  br i1 %".18", label %"for.body.1", label %"for.end.1"
for.body.1:
  store i32 0, ptr %"i", align 4
  br label %"for.cond.2"
for.cond.2:
  %".22" = load i32, ptr %"i", align 4
  %".23" = icmp slt i32 %".22", 7
  br i1 %".23", label %"for.body.2", label %"for.end.2"
for.body.2:
  store i32 0, ptr %"j", align 4
  br label %"for.cond.3"
for.cond.3:
  %".27" = load i32, ptr %"j", align 4
  %".28" = icmp slt i32 %".27", 2
  br i1 %".28", label %"for.body.3", label %"for.end.3"
for.body.3:
  %".30" = load ptr, ptr %"c.addr", align 8
  %".31" = load i32, ptr %"top", align 4
  %".32" = load i32, ptr %"i", align 4
  %".33" = add i32 %".31", %".32"
  %".34" = mul i32 %".33", 64
  %".35" = load i32, ptr %"left", align 4
  %".36" = load i32, ptr %"j", align 4
  %".37" = add i32 %".35", %".36"
  %".38" = mul i32 %".37", 16
  %".39" = add i32 %".34", %".38"
  %".40" = sext i32 %".39" to i64
  %".41" = getelementptr inbounds i16, ptr %".30", i64 %".40"
  %".42" = load <16 x i16>, ptr %".41", align 32
  %".43" = zext <16 x i16> %".42" to <16 x i32>
  %".44" = load i32, ptr %"i", align 4
  %".45" = sext i32 %".44" to i64
  %".46" = getelementptr inbounds [7 x [2 x <16 x i32>]], ptr %"sum", i64 0, i64 %".45"
  %".47" = load i32, ptr %"j", align 4
  %".48" = sext i32 %".47" to i64
  %".49" = getelementptr inbounds [2 x <16 x i32>], ptr %".46", i64 0, i64 %".48"
  store <16 x i32> %".43", ptr %".49", align 64
  br label %"for.step.3"
for.step.3:
  %".52" = load i32, ptr %"j", align 4
  %".53" = add i32 %".52", 1
  store i32 %".53", ptr %"j", align 4
  br label %"for.cond.3", !llvm.loop !7
for.end.3:
  br label %"for.step.2"
for.step.2:
  %".57" = load i32, ptr %"i", align 4
  %".58" = add i32 %".57", 1
  store i32 %".58", ptr %"i", align 4
  br label %"for.cond.2", !llvm.loop !8
for.end.2:
  store i32 0, ptr %"k", align 4
  br label %"for.cond.4"
for.cond.4:
  %".63" = load i32, ptr %"k", align 4
  %".64" = icmp slt i32 %".63", 5
  br i1 %".64", label %"for.body.4", label %"for.end.4"
for.body.4:
  store i32 0, ptr %"j.1", align 4
  br label %"for.cond.5"
for.cond.5:
  %".68" = load i32, ptr %"j.1", align 4
  %".69" = icmp slt i32 %".68", 2
  br i1 %".69", label %"for.body.5", label %"for.end.5"
for.body.5:
  %".71" = load ptr, ptr %"b.addr", align 8
  %".72" = load i32, ptr %"k", align 4
  %".73" = mul i32 %".72", 64
  %".74" = load i32, ptr %"left", align 4
  %".75" = add i32 %".73", %".74"
  %".76" = load i32, ptr %"j.1", align 4
  %".77" = mul i32 %".76", 16
  %".78" = add i32 %".75", %".77"
  %".79" = sext i32 %".78" to i64
  %".80" = getelementptr inbounds i64, ptr %".71", i64 %".79"
  %".81" = load <16 x i64>, ptr %".80", align 128
  %".82" = trunc <16 x i64> %".81" to <16 x i32>
  %".83" = load i32, ptr %"j.1", align 4
  %".84" = sext i32 %".83" to i64
  %".85" = getelementptr inbounds [2 x <16 x i32>], ptr %"y", i64 0, i64 %".84"
  store <16 x i32> %".82", ptr %".85", align 64
  br label %"for.step.5"
for.step.5:
  %".88" = load i32, ptr %"j.1", align 4
  %".89" = add i32 %".88", 1
  store i32 %".89", ptr %"j.1", align 4
  br label %"for.cond.5", !llvm.loop !9
for.end.5:
  store i32 0, ptr %"i.1", align 4
  br label %"for.cond.6"
for.cond.6:
  %".94" = load i32, ptr %"i.1", align 4
  %".95" = icmp slt i32 %".94", 7
  br i1 %".95", label %"for.body.6", label %"for.end.6"
for.body.6:
  %".97" = load ptr, ptr %"a.addr", align 8
  %".98" = load i32, ptr %"top", align 4
  %".99" = load i32, ptr %"i.1", align 4
  %".100" = add i32 %".98", %".99"
  %".101" = mul i32 %".100", 5
  %".102" = load i32, ptr %"k", align 4
  %".103" = add i32 %".101", %".102"
  %".104" = sext i32 %".103" to i64
  %".105" = getelementptr inbounds i32, ptr %".97", i64 %".104"
  %".106" = load i32, ptr %".105", align 4
  %".107" = insertelement <16 x i32> undef, i32 %".106", i32 0
  %".108" = shufflevector <16 x i32> %".107", <16 x i32> undef, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  store <16 x i32> %".108", ptr %"x", align 64
  store i32 0, ptr %"j.2", align 4
  br label %"for.cond.7"
for.cond.7:
  %".112" = load i32, ptr %"j.2", align 4
  %".113" = icmp slt i32 %".112", 2
  br i1 %".113", label %"for.body.7", label %"for.end.7"
for.body.7:
  %".115" = load <16 x i32>, ptr %"x", align 64
  %".116" = load i32, ptr %"j.2", align 4
  %".117" = sext i32 %".116" to i64
  %".118" = getelementptr inbounds [2 x <16 x i32>], ptr %"y", i64 0, i64 %".117"
  %".119" = load <16 x i32>, ptr %".118", align 64
  %".120" = mul <16 x i32> %".115", %".119"
  %".121" = load i32, ptr %"i.1", align 4
  %".122" = sext i32 %".121" to i64
  %".123" = getelementptr inbounds [7 x [2 x <16 x i32>]], ptr %"sum", i64 0, i64 %".122"
  %".124" = load i32, ptr %"j.2", align 4
  %".125" = sext i32 %".124" to i64
  %".126" = getelementptr inbounds [2 x <16 x i32>], ptr %".123", i64 0, i64 %".125"
  %".127" = load <16 x i32>, ptr %".126", align 64
  %".128" = add <16 x i32> %".120", %".127"
  %".129" = load i32, ptr %"i.1", align 4
  %".130" = sext i32 %".129" to i64
  %".131" = getelementptr inbounds [7 x [2 x <16 x i32>]], ptr %"sum", i64 0, i64 %".130"
  %".132" = load i32, ptr %"j.2", align 4
  %".133" = sext i32 %".132" to i64
  %".134" = getelementptr inbounds [2 x <16 x i32>], ptr %".131", i64 0, i64 %".133"
  store <16 x i32> %".128", ptr %".134", align 64
  br label %"for.step.7"
for.step.7:
  %".137" = load i32, ptr %"j.2", align 4
  %".138" = add i32 %".137", 1
  store i32 %".138", ptr %"j.2", align 4
  br label %"for.cond.7", !llvm.loop !10
for.end.7:
  br label %"for.step.6"
for.step.6:
  %".142" = load i32, ptr %"i.1", align 4
  %".143" = add i32 %".142", 1
  store i32 %".143", ptr %"i.1", align 4
  br label %"for.cond.6", !llvm.loop !11
for.end.6:
  br label %"for.step.4"
for.step.4:
  %".147" = load i32, ptr %"k", align 4
  %".148" = add i32 %".147", 1
  store i32 %".148", ptr %"k", align 4
  br label %"for.cond.4", !llvm.loop !12
for.end.4:
  store i32 0, ptr %"i.2", align 4
  br label %"for.cond.8"
for.cond.8:
  %".153" = load i32, ptr %"i.2", align 4
  %".154" = icmp slt i32 %".153", 7
  br i1 %".154", label %"for.body.8", label %"for.end.8"
for.body.8:
  store i32 0, ptr %"j.3", align 4
  br label %"for.cond.9"
for.cond.9:
  %".158" = load i32, ptr %"j.3", align 4
  %".159" = icmp slt i32 %".158", 2
  br i1 %".159", label %"for.body.9", label %"for.end.9"
for.body.9:
  %".161" = load i32, ptr %"top", align 4
  %".162" = load i32, ptr %"i.2", align 4
  %".163" = add i32 %".161", %".162"
  %".164" = mul i32 %".163", 64
  %".165" = load i32, ptr %"left", align 4
  %".166" = load i32, ptr %"j.3", align 4
  %".167" = add i32 %".165", %".166"
  %".168" = mul i32 %".167", 16
  %".169" = add i32 %".164", %".168"
  store i32 %".169", ptr %"at", align 4
  %".171" = load i32, ptr %"i.2", align 4
  %".172" = sext i32 %".171" to i64
  %".173" = getelementptr inbounds [7 x [2 x <16 x i32>]], ptr %"sum", i64 0, i64 %".172"
  %".174" = load i32, ptr %"j.3", align 4
  %".175" = sext i32 %".174" to i64
  %".176" = getelementptr inbounds [2 x <16 x i32>], ptr %".173", i64 0, i64 %".175"
  %".177" = load <16 x i32>, ptr %".176", align 64
  %".178" = trunc <16 x i32> %".177" to <16 x i16>
  %".179" = load ptr, ptr %"out.addr", align 8
  %".180" = load i32, ptr %"at", align 4
  %".181" = sext i32 %".180" to i64
  %".182" = getelementptr inbounds i16, ptr %".179", i64 %".181"
  store <16 x i16> %".178", ptr %".182", align 32
  br label %"for.step.9"
for.step.9:
  %".185" = load i32, ptr %"j.3", align 4
  %".186" = add i32 %".185", 1
  store i32 %".186", ptr %"j.3", align 4
  br label %"for.cond.9", !llvm.loop !13
for.end.9:
  br label %"for.step.8"
for.step.8:
  %".190" = load i32, ptr %"i.2", align 4
  %".191" = add i32 %".190", 1
  store i32 %".191", ptr %"i.2", align 4
  br label %"for.cond.8", !llvm.loop !14
for.end.8:
  br label %"for.step.1"
for.step.1:
  %".195" = load i32, ptr %"left", align 4
  %".196" = add i32 %".195", 2
  store i32 %".196", ptr %"left", align 4
  br label %"for.cond.1", !llvm.loop !16
for.end.1:
  br label %"for.step"
for.step:
  %".200" = load i32, ptr %"top", align 4
  %".201" = add i32 %".200", 7
  store i32 %".201", ptr %"top", align 4
  br label %"for.cond", !llvm.loop !17
for.end:
  ret void
}

define internal spir_func void @"cm_store_7x64_C_u16_global_colm"(ptr addrspace(1) %"p", ptr %"m", i64 %"stride") alwaysinline convergent nounwind
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
  %".11" = icmp slt i32 %".10", 7
  br i1 %".11", label %"for.body", label %"for.end"
for.body:
  store i32 0, ptr %"c", align 4
  br label %"for.cond.1"
for.cond.1:
  %".15" = load i32, ptr %"c", align 4
  %".16" = icmp slt i32 %".15", 64
  br i1 %".16", label %"for.body.1", label %"for.end.1"
for.body.1:
  %".18" = load ptr, ptr %"m.addr", align 8
  %".19" = load i32, ptr %"r", align 4
  %".20" = mul i32 %".19", 64
  %".21" = load i32, ptr %"c", align 4
  %".22" = add i32 %".20", %".21"
  %".23" = sext i32 %".22" to i64
  %".24" = getelementptr inbounds i16, ptr %".18", i64 %".23"
  %".25" = load i16, ptr %".24", align 2
  %".26" = load ptr addrspace(1), ptr %"p.addr", align 8
  %".27" = load i32, ptr %"c", align 4
  %".28" = sext i32 %".27" to i64
  %".29" = load i64, ptr %"stride.addr", align 8
  %".30" = mul i64 %".28", %".29"
  %".31" = load i32, ptr %"r", align 4
  %".32" = sext i32 %".31" to i64
  %".33" = add i64 %".30", %".32"
  %".34" = getelementptr inbounds i16, ptr addrspace(1) %".26", i64 %".33"
  store i16 %".25", ptr addrspace(1) %".34", align 2
  br label %"for.step.1"
for.step.1:
  %".37" = load i32, ptr %"c", align 4
  %".38" = add i32 %".37", 1
  store i32 %".38", ptr %"c", align 4
  br label %"for.cond.1", !llvm.loop !18
for.end.1:
  br label %"for.step"
for.step:
  %".42" = load i32, ptr %"r", align 4
  %".43" = add i32 %".42", 1
  store i32 %".43", ptr %"r", align 4
  br label %"for.cond", !llvm.loop !19
for.end:
  ret void
}

!opencl.ocl.version = !{ !20 }
!opencl.enable.FP_CONTRACT = !{  }
!0 = !{ !"llvm.loop.unroll.full" }
!1 = distinct !{ !1, !0 }
!2 = distinct !{ !2, !0 }
!3 = distinct !{ !3, !0 }
!4 = distinct !{ !4, !0 }
!5 = distinct !{ !5, !0 }
!6 = distinct !{ !6, !0 }
!7 = distinct !{ !7, !0 }
!8 = distinct !{ !8, !0 }
!9 = distinct !{ !9, !0 }
!10 = distinct !{ !10, !0 }
!11 = distinct !{ !11, !0 }
!12 = distinct !{ !12, !0 }
!13 = distinct !{ !13, !0 }
!14 = distinct !{ !14, !0 }
!15 = !{ !"llvm.loop.unroll.disable" }
!16 = distinct !{ !16, !15 }
!17 = distinct !{ !17, !15 }
!18 = distinct !{ !18, !0 }
!19 = distinct !{ !19, !0 }
!20 = !{ i32 3, i32 0 }
