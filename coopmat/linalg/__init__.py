"""Products of matrices to call: `gemm` and `gemm_quantized`, on pyopencl's arrays."""

from __future__ import annotations

from .products import gemm as gemm
from .quantized import gemm_quantized as gemm_quantized
