%"struct.entry" = type <{i8, i32}>
%"union.word" = type {[1 x i32]}
define spir_kernel void @"k"(ptr addrspace(1) %"p") convergent nounwind
{
entry:
  %"p.addr" = alloca ptr addrspace(1), align 8
  %"e" = alloca %"struct.entry", align 1
  %".4" = alloca %"struct.entry", align 1
  %"w" = alloca %"union.word", align 4
  store ptr addrspace(1) %"p", ptr %"p.addr", align 8
  call spir_func void @"make"(ptr %".4", i32 2)
  call void @"llvm.memcpy.p0.p0.i64"(ptr align 1 %"e", ptr align 1 %".4", i64 5, i1 0)
  store %"union.word" zeroinitializer, ptr %"w", align 4
  store float 1.0, ptr %"w", align 4
  %".9" = load i32, ptr %"w", align 4
  %".10" = getelementptr inbounds %"struct.entry", ptr %"e", i32 0, i32 1
  %".11" = load i32, ptr %".10", align 1
  %".12" = add i32 %".11", %".9"
  store i32 %".12", ptr %".10", align 1
  %".14" = load ptr addrspace(1), ptr %"p.addr", align 8
  %".15" = getelementptr inbounds %"struct.entry", ptr addrspace(1) %".14", i64 1
  call void @"llvm.memcpy.p1.p0.i64"(ptr addrspace(1) align 1 %".15", ptr align 1 %"e", i64 5, i1 0)
  ret void
}

define internal spir_func void @"make"(ptr sret(%"struct.entry") align 1 %"result", i32 %"n") convergent nounwind
{
entry:
  %"n.addr" = alloca i32, align 4
  %"e" = alloca %"struct.entry", align 1
  store i32 %"n", ptr %"n.addr", align 4
  %".5" = getelementptr inbounds %"struct.entry", ptr %"e", i32 0, i32 0
  store i8 1, ptr %".5", align 1
  %".7" = getelementptr inbounds %"struct.entry", ptr %"e", i32 0, i32 1
  %".8" = load i32, ptr %"n.addr", align 4
  store i32 %".8", ptr %".7", align 1
  call void @"llvm.memcpy.p0.p0.i64"(ptr align 1 %"result", ptr align 1 %"e", i64 5, i1 0)
  ret void
}

declare void @"llvm.memcpy.p0.p0.i64"(ptr %".1", ptr %".2", i64 %".3", i1 %".4") nounwind

declare void @"llvm.memcpy.p1.p0.i64"(ptr addrspace(1) %".1", ptr %".2", i64 %".3", i1 %".4") nounwind

!opencl.ocl.version = !{ !0 }
!opencl.enable.FP_CONTRACT = !{  }
!0 = !{ i32 3, i32 0 }
