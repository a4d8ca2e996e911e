define spir_kernel void @"k"(ptr addrspace(1) %"p") convergent nounwind
{
entry:
  %"p.addr" = alloca ptr addrspace(1), align 8
  store ptr addrspace(1) %"p", ptr %"p.addr", align 8
  %".4" = load ptr addrspace(1), ptr %"p.addr", align 8
  %".5" = getelementptr inbounds i32, ptr addrspace(1) %".4", i64 1
  %".6" = load i32, ptr addrspace(1) %".5", align 4
  %".7" = load ptr addrspace(1), ptr %"p.addr", align 8
  %".8" = getelementptr inbounds i32, ptr addrspace(1) %".7", i64 2
  %".9" = load i32, ptr addrspace(1) %".8", align 4
  %".10" = call spir_func i32 @"f"(i32 %".6", i32 %".9")
  %".11" = load ptr addrspace(1), ptr %"p.addr", align 8
  %".12" = getelementptr inbounds i32, ptr addrspace(1) %".11", i64 0
  store i32 %".10", ptr addrspace(1) %".12", align 4
  ret void
}

define internal spir_func i32 @"f"(i32 %"n", i32 %"m") convergent nounwind
{
entry:
  %"n.addr" = alloca i32, align 4
  %"m.addr" = alloca i32, align 4
  %"s" = alloca i32, align 4
  %"i" = alloca i32, align 4
  store i32 %"n", ptr %"n.addr", align 4
  store i32 %"m", ptr %"m.addr", align 4
  store i32 0, ptr %"s", align 4
  store i32 0, ptr %"i", align 4
  br label %"for.cond"
for.cond:
  %".9" = load i32, ptr %"i", align 4
  %".10" = load i32, ptr %"n.addr", align 4
  %".11" = icmp slt i32 %".9", %".10"
  br i1 %".11", label %"land", label %"for.end"
land:
  %".13" = load i32, ptr %"m.addr", align 4
  %".14" = icmp ne i32 %".13", 0
  br i1 %".14", label %"for.body", label %"for.end"
for.body:
  %".16" = load i32, ptr %"i", align 4
  %".17" = icmp eq i32 %".16", 3
  br i1 %".17", label %"if.then", label %"if.end"
if.then:
  br label %"for.step"
if.end:
  %".20" = load i32, ptr %"i", align 4
  switch i32 %".20", label %"default" [i32 0, label %"case" i32 5, label %"case.1"]
case:
  store i32 1, ptr %"s", align 4
  br label %"case.1"
case.1:
  %".24" = load i32, ptr %"s", align 4
  %".25" = add nsw i32 %".24", 2
  store i32 %".25", ptr %"s", align 4
  br label %"switch.end"
default:
  br label %"label.out"
switch.end:
  br label %"for.step"
for.step:
  %".30" = load i32, ptr %"i", align 4
  %".31" = add nsw i32 %".30", 1
  store i32 %".31", ptr %"i", align 4
  br label %"for.cond"
for.end:
  br label %"label.out"
label.out:
  %".35" = load i32, ptr %"n.addr", align 4
  %".36" = icmp ne i32 %".35", 0
  br i1 %".36", label %"choice.then", label %"choice.else"
choice.then:
  %".38" = load i32, ptr %"s", align 4
  br label %"choice.end"
choice.else:
  %".40" = load i32, ptr %"s", align 4
  %".41" = sub nsw i32 0, %".40"
  br label %"choice.end"
choice.end:
  %".43" = phi  i32 [%".38", %"choice.then"], [%".41", %"choice.else"]
  ret i32 %".43"
}

!opencl.ocl.version = !{ !0 }
!opencl.enable.FP_CONTRACT = !{  }
!0 = !{ i32 3, i32 0 }
