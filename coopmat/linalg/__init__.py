"""Functions on pyopencl's arrays, by the matrix unit of the queue's device: products (`gemm`) and `attention`."""

from __future__ import annotations

from .attention import attention as attention
from .products import gemm as gemm
