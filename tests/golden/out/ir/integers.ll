define spir_kernel void @"k"(ptr addrspace(1) %"i", ptr addrspace(1) %"u", ptr addrspace(1) %"l", ptr addrspace(1) %"c") convergent nounwind
{
entry:
  %"i.addr" = alloca ptr addrspace(1), align 8
  %"u.addr" = alloca ptr addrspace(1), align 8
  %"l.addr" = alloca ptr addrspace(1), align 8
  %"c.addr" = alloca ptr addrspace(1), align 8
  %"b" = alloca i8, align 1
  store ptr addrspace(1) %"i", ptr %"i.addr", align 8
  store ptr addrspace(1) %"u", ptr %"u.addr", align 8
  store ptr addrspace(1) %"l", ptr %"l.addr", align 8
  store ptr addrspace(1) %"c", ptr %"c.addr", align 8
  %".10" = load ptr addrspace(1), ptr %"i.addr", align 8
  %".11" = getelementptr inbounds i32, ptr addrspace(1) %".10", i64 1
  %".12" = load i32, ptr addrspace(1) %".11", align 4
  %".13" = load ptr addrspace(1), ptr %"i.addr", align 8
  %".14" = getelementptr inbounds i32, ptr addrspace(1) %".13", i64 2
  %".15" = load i32, ptr addrspace(1) %".14", align 4
  %".16" = sdiv i32 %".12", %".15"
  %".17" = load ptr addrspace(1), ptr %"i.addr", align 8
  %".18" = getelementptr inbounds i32, ptr addrspace(1) %".17", i64 3
  %".19" = load i32, ptr addrspace(1) %".18", align 4
  %".20" = and i32 %".19", 31
  %".21" = ashr i32 %".16", %".20"
  %".22" = load ptr addrspace(1), ptr %"i.addr", align 8
  %".23" = getelementptr inbounds i32, ptr addrspace(1) %".22", i64 0
  store i32 %".21", ptr addrspace(1) %".23", align 4
  %".25" = load ptr addrspace(1), ptr %"u.addr", align 8
  %".26" = getelementptr inbounds i32, ptr addrspace(1) %".25", i64 1
  %".27" = load i32, ptr addrspace(1) %".26", align 4
  %".28" = load ptr addrspace(1), ptr %"u.addr", align 8
  %".29" = getelementptr inbounds i32, ptr addrspace(1) %".28", i64 2
  %".30" = load i32, ptr addrspace(1) %".29", align 4
  %".31" = urem i32 %".27", %".30"
  %".32" = load ptr addrspace(1), ptr %"u.addr", align 8
  %".33" = getelementptr inbounds i32, ptr addrspace(1) %".32", i64 3
  %".34" = load i32, ptr addrspace(1) %".33", align 4
  %".35" = and i32 %".34", 31
  %".36" = lshr i32 %".31", %".35"
  %".37" = load ptr addrspace(1), ptr %"u.addr", align 8
  %".38" = getelementptr inbounds i32, ptr addrspace(1) %".37", i64 0
  store i32 %".36", ptr addrspace(1) %".38", align 4
  %".40" = load ptr addrspace(1), ptr %"i.addr", align 8
  %".41" = getelementptr inbounds i32, ptr addrspace(1) %".40", i64 4
  %".42" = load i32, ptr addrspace(1) %".41", align 4
  %".43" = icmp slt i32 %".42", 0
  %".44" = zext i1 %".43" to i32
  %".45" = sext i32 %".44" to i64
  %".46" = load ptr addrspace(1), ptr %"l.addr", align 8
  %".47" = getelementptr inbounds i64, ptr addrspace(1) %".46", i64 0
  store i64 %".45", ptr addrspace(1) %".47", align 8
  %".49" = load ptr addrspace(1), ptr %"u.addr", align 8
  %".50" = getelementptr inbounds i32, ptr addrspace(1) %".49", i64 4
  %".51" = load i32, ptr addrspace(1) %".50", align 4
  %".52" = load ptr addrspace(1), ptr %"u.addr", align 8
  %".53" = getelementptr inbounds i32, ptr addrspace(1) %".52", i64 5
  %".54" = load i32, ptr addrspace(1) %".53", align 4
  %".55" = icmp ult i32 %".51", %".54"
  %".56" = zext i1 %".55" to i32
  %".57" = sext i32 %".56" to i64
  %".58" = load ptr addrspace(1), ptr %"l.addr", align 8
  %".59" = getelementptr inbounds i64, ptr addrspace(1) %".58", i64 1
  store i64 %".57", ptr addrspace(1) %".59", align 8
  %".61" = load ptr addrspace(1), ptr %"c.addr", align 8
  %".62" = getelementptr inbounds i8, ptr addrspace(1) %".61", i64 1
  %".63" = load i8, ptr addrspace(1) %".62", align 1
  %".64" = zext i8 %".63" to i32
  %".65" = load ptr addrspace(1), ptr %"c.addr", align 8
  %".66" = getelementptr inbounds i8, ptr addrspace(1) %".65", i64 2
  %".67" = load i8, ptr addrspace(1) %".66", align 1
  %".68" = zext i8 %".67" to i32
  %".69" = add nsw i32 %".64", %".68"
  %".70" = trunc i32 %".69" to i8
  %".71" = load ptr addrspace(1), ptr %"c.addr", align 8
  %".72" = getelementptr inbounds i8, ptr addrspace(1) %".71", i64 0
  store i8 %".70", ptr addrspace(1) %".72", align 1
  %".74" = load ptr addrspace(1), ptr %"l.addr", align 8
  %".75" = getelementptr inbounds i64, ptr addrspace(1) %".74", i64 2
  %".76" = load i64, ptr addrspace(1) %".75", align 8
  %".77" = icmp ne i64 %".76", 0
  %".78" = zext i1 %".77" to i8
  store i8 %".78", ptr %"b", align 1
  %".80" = load i8, ptr %"b", align 1
  %".81" = zext i8 %".80" to i32
  %".82" = load ptr addrspace(1), ptr %"i.addr", align 8
  %".83" = getelementptr inbounds i32, ptr addrspace(1) %".82", i64 6
  %".84" = load i32, ptr addrspace(1) %".83", align 4
  %".85" = icmp ne i32 %".84", 0
  %".86" = xor i1 %".85", 1
  %".87" = zext i1 %".86" to i32
  %".88" = add nsw i32 %".81", %".87"
  %".89" = load ptr addrspace(1), ptr %"i.addr", align 8
  %".90" = getelementptr inbounds i32, ptr addrspace(1) %".89", i64 5
  store i32 %".88", ptr addrspace(1) %".90", align 4
  ret void
}

!opencl.ocl.version = !{ !0 }
!opencl.enable.FP_CONTRACT = !{  }
!0 = !{ i32 3, i32 0 }
