define void @example(i32* %Ptr, i64 %Stride) {
    %A = call <12 x i32> @llvm.experimental.matrix.load.v12i32(i32* %Ptr, i64 %Stride, i1 false, i32 3, i32 4, metadata !"matrix.columnmajor", metadata !"scope.subgroup")
    %B = call <20 x i32> @llvm.experimental.matrix.load.v20i32(i32* %Ptr, i64 %Stride, i1 false, i32 4, i32 5, metadata !"matrix.columnmajor", metadata !"scope.subgroup")
    %C = call <15 x i32> @llvm.experimental.matrix.load.v15i32(i32* %Ptr, i64 %Stride, i1 false, i32 3, i32 5, metadata !"matrix.rowmajor", metadata !"scope.subgroup")
    %D = call <15 x i32> @llvm.experimental.matrix.mad.v12i32.v20i32.v15i32(<12 x i32> %A, metadata !"matrix.columnmajor", <20 x i32> %B, metadata !"matrix.columnmajor", <15 x i32> %C, metadata !"matrix.rowmajor", i32 3, i32 4, i32 5, metadata !"scope.subgroup")
    call void @llvm.experimental.matrix.store.v15i32(<15 x i32> %D, i32* %Ptr, i64 %Stride, i1 0, i32 3, i32 5, metadata !"matrix.rowmajor", metadata !"scope.subgroup")
    ret void
}

declare <12 x i32> @llvm.experimental.matrix.load.v12i32(i32*, i64, i1, i32, i32, metadata, metadata);
declare <20 x i32> @llvm.experimental.matrix.load.v20i32(i32*, i64, i1, i32, i32, metadata, metadata);
declare <15 x i32> @llvm.experimental.matrix.load.v15i32(i32*, i64, i1, i32, i32, metadata, metadata);
declare <15 x i32> @llvm.experimental.matrix.mad.v12i32.v20i32.v15i32(<12 x i32>, metadata, <20 x i32>, metadata, <15 x i32>, metadata, i32, i32, i32, metadata)
declare void @llvm.experimental.matrix.store.v15i32(<15 x i32>, i32*, i64, i1, i32, i32, metadata, metadata);
