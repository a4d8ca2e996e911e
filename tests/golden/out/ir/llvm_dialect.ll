; ModuleID = '<string>'
source_filename = "<string>"

; Function Attrs: convergent nounwind
define spir_kernel void @columns(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %p, i64 %stride) #0 {
entry:
  %a.addr = alloca ptr addrspace(1), align 8
  %b.addr = alloca ptr addrspace(1), align 8
  %p.addr = alloca ptr addrspace(1), align 8
  %stride.addr = alloca i64, align 8
  %w = alloca [24 x float], align 4
  %s = alloca [16 x float], align 4
  %m = alloca [64 x float], align 4
  store ptr addrspace(1) %a, ptr %a.addr, align 8
  store ptr addrspace(1) %b, ptr %b.addr, align 8
  store ptr addrspace(1) %p, ptr %p.addr, align 8
  store i64 %stride, ptr %stride.addr, align 8
  %.10 = load ptr addrspace(1), ptr %a.addr, align 8
  %.11 = load <16 x float>, ptr addrspace(1) %.10, align 4
  %.12 = load ptr addrspace(1), ptr %b.addr, align 8
  %.13 = load <24 x float>, ptr addrspace(1) %.12, align 4
  %.14 = call <24 x float> @llvm.matrix.multiply.v24f32.v16f32.v24f32(<16 x float> %.11, <24 x float> %.13, i32 4, i32 4, i32 6)
  store <24 x float> %.14, ptr %w, align 4
  %.16 = load ptr addrspace(1), ptr %b.addr, align 8
  %.17 = load <24 x float>, ptr addrspace(1) %.16, align 4
  %.18 = fmul <24 x float> %.17, splat (float 2.000000e+00)
  %.19 = load <24 x float>, ptr %w, align 4
  %.20 = fadd <24 x float> %.19, %.18
  store <24 x float> %.20, ptr %w, align 4
  %.22 = getelementptr inbounds [24 x float], ptr %w, i64 0, i64 20
  %.23 = load float, ptr %.22, align 4
  %.24 = getelementptr inbounds [24 x float], ptr %w, i64 0, i64 9
  %.25 = load float, ptr %.24, align 4
  %.26 = fsub float %.25, %.23
  store float %.26, ptr %.24, align 4
  %.28 = load <24 x float>, ptr %w, align 4
  %.29 = load ptr addrspace(1), ptr %b.addr, align 8
  store <24 x float> %.28, ptr addrspace(1) %.29, align 4
  %.31 = load ptr addrspace(1), ptr %a.addr, align 8
  %.32 = load <16 x float>, ptr addrspace(1) %.31, align 4
  %.33 = load ptr addrspace(1), ptr %a.addr, align 8
  %.34 = load <16 x float>, ptr addrspace(1) %.33, align 4
  %.35 = call <16 x float> @llvm.matrix.transpose.v16f32(<16 x float> %.34, i32 4, i32 4)
  %.36 = getelementptr inbounds [24 x float], ptr %w, i64 0, i64 0
  %.37 = load float, ptr %.36, align 4
  %.38 = fcmp ogt float %.37, 0.000000e+00
  %.39 = zext i1 %.38 to i32
  %.40 = call spir_func <16 x float> @chosen(<16 x float> %.32, <16 x float> %.35, i32 %.39)
  %.41 = load ptr addrspace(1), ptr %a.addr, align 8
  store <16 x float> %.40, ptr addrspace(1) %.41, align 4
  %.43 = load ptr addrspace(1), ptr %p.addr, align 8
  %.44 = load i64, ptr %stride.addr, align 8
  %.45 = load <4 x float>, ptr addrspace(1) %.43, align 4
  %.46 = mul i64 %.44, 1
  %.47 = getelementptr inbounds float, ptr addrspace(1) %.43, i64 %.46
  %.48 = load <4 x float>, ptr addrspace(1) %.47, align 4
  %.49 = mul i64 %.44, 2
  %.50 = getelementptr inbounds float, ptr addrspace(1) %.43, i64 %.49
  %.51 = load <4 x float>, ptr addrspace(1) %.50, align 4
  %.52 = mul i64 %.44, 3
  %.53 = getelementptr inbounds float, ptr addrspace(1) %.43, i64 %.52
  %.54 = load <4 x float>, ptr addrspace(1) %.53, align 4
  %.55 = shufflevector <4 x float> %.45, <4 x float> %.48, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %.56 = shufflevector <4 x float> %.51, <4 x float> %.54, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %.57 = shufflevector <8 x float> %.55, <8 x float> %.56, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  store <16 x float> %.57, ptr %s, align 4
  %.59 = load <16 x float>, ptr %s, align 4
  %.60 = getelementptr inbounds [64 x float], ptr %m, i64 0, i64 0
  call void @llvm.matrix.column.major.store.v16f32.i64(<16 x float> %.59, ptr align 4 %.60, i64 8, i1 false, i32 4, i32 4)
  %.62 = getelementptr inbounds [64 x float], ptr %m, i64 0, i64 0
  %.63 = load i64, ptr %stride.addr, align 8
  %.64 = call <16 x float> @llvm.matrix.column.major.load.v16f32.i64(ptr align 4 %.62, i64 %.63, i1 false, i32 4, i32 4)
  %.65 = load ptr addrspace(1), ptr %p.addr, align 8
  %.66 = shufflevector <16 x float> %.64, <16 x float> undef, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  store <4 x float> %.66, ptr addrspace(1) %.65, align 4
  %.68 = shufflevector <16 x float> %.64, <16 x float> undef, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %.69 = getelementptr inbounds float, ptr addrspace(1) %.65, i64 4
  store <4 x float> %.68, ptr addrspace(1) %.69, align 4
  %.71 = shufflevector <16 x float> %.64, <16 x float> undef, <4 x i32> <i32 8, i32 9, i32 10, i32 11>
  %.72 = getelementptr inbounds float, ptr addrspace(1) %.65, i64 8
  store <4 x float> %.71, ptr addrspace(1) %.72, align 4
  %.74 = shufflevector <16 x float> %.64, <16 x float> undef, <4 x i32> <i32 12, i32 13, i32 14, i32 15>
  %.75 = getelementptr inbounds float, ptr addrspace(1) %.65, i64 12
  store <4 x float> %.74, ptr addrspace(1) %.75, align 4
  ret void
}

; Function Attrs: convergent nounwind
define spir_kernel void @padded(ptr addrspace(1) %r, ptr addrspace(1) %p, ptr addrspace(1) %v, i32 %i) #0 {
entry:
  %r.addr = alloca ptr addrspace(1), align 8
  %p.addr = alloca ptr addrspace(1), align 8
  %v.addr = alloca ptr addrspace(1), align 8
  %i.addr = alloca i32, align 4
  %x = alloca [8 x half], align 2
  store ptr addrspace(1) %r, ptr %r.addr, align 8
  store ptr addrspace(1) %p, ptr %p.addr, align 8
  store ptr addrspace(1) %v, ptr %v.addr, align 8
  store i32 %i, ptr %i.addr, align 4
  %.10 = load ptr addrspace(1), ptr %r.addr, align 8
  %.11 = load <3 x half>, ptr addrspace(1) %.10, align 2
  %.12 = getelementptr inbounds half, ptr addrspace(1) %.10, i64 4
  %.13 = load <3 x half>, ptr addrspace(1) %.12, align 2
  %.14 = shufflevector <3 x half> %.11, <3 x half> %.13, <6 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  call void @llvm.matrix.column.major.store.v6f16.i64(<6 x half> %.14, ptr align 2 %x, i64 4, i1 false, i32 3, i32 2)
  %.16 = call <6 x half> @llvm.matrix.column.major.load.v6f16.i64(ptr align 2 %x, i64 4, i1 false, i32 3, i32 2)
  %.17 = load ptr addrspace(1), ptr %r.addr, align 8
  %.18 = getelementptr inbounds [8 x half], ptr addrspace(1) %.17, i64 0, i64 4
  %.19 = load half, ptr addrspace(1) %.18, align 2
  %.20 = insertelement <6 x half> undef, half %.19, i32 0
  %.21 = shufflevector <6 x half> %.20, <6 x half> undef, <6 x i32> zeroinitializer
  %.22 = fmul contract <6 x half> %.16, %.21
  %.23 = call <6 x half> @llvm.matrix.column.major.load.v6f16.i64(ptr align 2 %x, i64 4, i1 false, i32 3, i32 2)
  %.24 = fadd contract <6 x half> %.22, %.23
  %.25 = fpext <6 x half> %.24 to <6 x float>
  %.26 = call <6 x float> @llvm.matrix.transpose.v6f32(<6 x float> %.25, i32 3, i32 2)
  %.27 = load ptr addrspace(1), ptr %p.addr, align 8
  store <6 x float> %.26, ptr addrspace(1) %.27, align 4
  %.29 = load ptr addrspace(1), ptr %p.addr, align 8
  %.30 = load <6 x float>, ptr addrspace(1) %.29, align 4
  %.31 = load i32, ptr %i.addr, align 4
  %.32 = sext i32 %.31 to i64
  %.33 = add i64 0, %.32
  %.34 = add i64 2, %.32
  %.35 = add i64 4, %.32
  %.36 = extractelement <6 x float> %.30, i64 %.33
  %.37 = insertelement <3 x float> undef, float %.36, i32 0
  %.38 = extractelement <6 x float> %.30, i64 %.34
  %.39 = insertelement <3 x float> %.37, float %.38, i32 1
  %.40 = extractelement <6 x float> %.30, i64 %.35
  %.41 = insertelement <3 x float> %.39, float %.40, i32 2
  %.42 = load ptr addrspace(1), ptr %v.addr, align 8
  %.43 = load i32, ptr %i.addr, align 4
  %.44 = sext i32 %.43 to i64
  %.45 = getelementptr inbounds <3 x float>, ptr addrspace(1) %.42, i64 %.44
  store <3 x float> %.41, ptr addrspace(1) %.45, align 16
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare <24 x float> @llvm.matrix.multiply.v24f32.v16f32.v24f32(<16 x float>, <24 x float>, i32 immarg, i32 immarg, i32 immarg) #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare <16 x float> @llvm.matrix.transpose.v16f32(<16 x float>, i32 immarg, i32 immarg) #1

; Function Attrs: convergent nounwind
define internal spir_func <16 x float> @chosen(<16 x float> %a, <16 x float> %b, i32 %c) #0 {
entry:
  %a.addr = alloca [16 x float], align 4
  %b.addr = alloca [16 x float], align 4
  %c.addr = alloca i32, align 4
  store <16 x float> %a, ptr %a.addr, align 4
  store <16 x float> %b, ptr %b.addr, align 4
  store i32 %c, ptr %c.addr, align 4
  %.8 = load i32, ptr %c.addr, align 4
  %.9 = icmp ne i32 %.8, 0
  br i1 %.9, label %choice.then, label %choice.else

choice.then:                                      ; preds = %entry
  %.11 = load <16 x float>, ptr %a.addr, align 4
  br label %choice.end

choice.else:                                      ; preds = %entry
  %.13 = load <16 x float>, ptr %b.addr, align 4
  br label %choice.end

choice.end:                                       ; preds = %choice.else, %choice.then
  %.15 = phi <16 x float> [ %.11, %choice.then ], [ %.13, %choice.else ]
  ret <16 x float> %.15
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: write)
declare void @llvm.matrix.column.major.store.v16f32.i64(<16 x float>, ptr writeonly captures(none), i64, i1 immarg, i32 immarg, i32 immarg) #2

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: read)
declare <16 x float> @llvm.matrix.column.major.load.v16f32.i64(ptr captures(none), i64, i1 immarg, i32 immarg, i32 immarg) #3

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: write)
declare void @llvm.matrix.column.major.store.v6f16.i64(<6 x half>, ptr writeonly captures(none), i64, i1 immarg, i32 immarg, i32 immarg) #2

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: read)
declare <6 x half> @llvm.matrix.column.major.load.v6f16.i64(ptr captures(none), i64, i1 immarg, i32 immarg, i32 immarg) #3

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare <6 x float> @llvm.matrix.transpose.v6f32(<6 x float>, i32 immarg, i32 immarg) #1

attributes #0 = { convergent nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nofree nosync nounwind willreturn memory(argmem: write) }
attributes #3 = { nocallback nofree nosync nounwind willreturn memory(argmem: read) }

!opencl.ocl.version = !{!0}

!0 = !{i32 3, i32 0}
