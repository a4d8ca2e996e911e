"""Functions on pyopencl's arrays, by the matrix unit of the queue's device: products, attention and convolutions."""

from __future__ import annotations

from .attention import attention as attention
from .contexts import forget as forget
from .convolution import conv2d as conv2d
from .packing import pack as pack
from .panels import Packed as Packed
from .plans import Plan as Plan, plan as plan
from .products import gemm as gemm
from .quantized import gemm_quantized as gemm_quantized
from .rates import NotMeasured as NotMeasured
from .vectors import gemv as gemv
