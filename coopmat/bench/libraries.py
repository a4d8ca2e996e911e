"""The other contenders: numpy, onnxruntime, PyTorch, and libclblast (in clblast.py)."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .cases import Array, Case, float_inputs, reference
from .clblast import clblast_call, library_path

# What runs a call until its end, and what returns the result of the last run, in the layout of `reference`.
Call = tuple[Callable[[], object], Callable[[], Array]]
LIBRARIES = ("numpy", "onnxruntime", "torch", "libclblast")


@dataclass(frozen=True)
class Setup:
    """What the processes of all contenders share.

    device: "platform:device" numbers of the OpenCL device. is_gpu: whether it is a GPU.
    threads: the number of threads of a contender on the CPU.
    clblast: the file name of libclblast.
    """

    device: str
    is_gpu: bool
    threads: int
    clblast: str


@dataclass(frozen=True)
class Contender:
    """A library, and the type in which it computes."""

    library: str
    computed: str

    @property
    def name(self) -> str:
        return f"{self.library} {self.computed}" if self.computed else self.library


def installed(libraries: Sequence[str], clblast: str) -> dict[str, str]:
    """Return library -> version for those that are installed, of `libraries`. A file name is libclblast's version."""
    found = {}
    for name in libraries:
        if name == "libclblast":
            path = library_path(clblast)
            if path:
                found[name] = path
        elif importlib.util.find_spec(name) and (name != "onnxruntime" or importlib.util.find_spec("onnx")):
            try:
                found[name] = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:  # a variant of the package has another name
                found[name] = "of unknown version"
    return found


def missing(libraries: Sequence[str], found: Mapping[str, str]) -> list[str]:
    """Return the packages to install for those of `libraries` that are not in `found`."""
    names = [name for name in libraries if name not in found]
    # onnxruntime runs graphs that the package onnx makes.
    has_runtime = "onnxruntime" in names and importlib.util.find_spec("onnxruntime") is not None
    return ["onnx (for onnxruntime)" if has_runtime and name == "onnxruntime" else name for name in names]


def contenders_of(case: Case, libraries: Sequence[str]) -> list[Contender]:
    """Return the contenders for the operation and type of a case.

    Those that lack the type, or are slower in it, compute in float; of PyTorch, both take part.
    """
    computed = {"numpy": ["f32"], "onnxruntime": ["f32"], "torch": ["f32"], "libclblast": []}
    if case.type in ("f16", "bf16"):
        computed["torch"].append(case.type)
    if case.type in ("s8", "u8"):
        computed["onnxruntime"] = ["u8 x s8"]
        computed["torch"] = ["s8"] if case.operation == "gemm" and case.type == "s8" else []
    if case.operation == "gemm_quantized":
        computed["onnxruntime"] = ["4 bits"] if case.type == "q4_0" else []
    if case.operation in ("gemm", "gemv") and case.type in ("f32", "f16"):
        computed["libclblast"] = [case.type]
    return [Contender(library, name) for library in libraries for name in computed[library]]


def numpy_call(case: Case, inputs: Sequence[Array], _computed: str, _setup: Setup) -> Call:
    floats = float_inputs(case, inputs)
    out = reference(case, *floats)
    return lambda: reference(case, *floats, out=out), lambda: out


# --- onnxruntime ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Node:
    """An operation of ONNX. `shape` is that of its result, whose type is int32 if `is_integer`, else float."""

    operation: str
    inputs: Mapping[str, Array]
    constants: Mapping[str, Array]
    shape: tuple[int, ...]
    attributes: Mapping[str, Any]
    domain: str = ""
    is_integer: bool = False


def onnxruntime_call(case: Case, inputs: Sequence[Array], computed: str, setup: Setup) -> Call:
    node = _onnx_node(case, inputs, computed)
    out = np.empty(node.shape, np.int32 if node.is_integer else np.float32)
    run = _session(node, out, setup.threads)
    if case.operation == "attention":
        heads, rows, size = case.shape
        return run, lambda: out.reshape(rows, heads, size).swapaxes(0, 1)
    return run, lambda: np.moveaxis(out, 1, 3) if case.operation == "conv2d" else out


def _onnx_node(case: Case, inputs: Sequence[Array], computed: str) -> _Node:
    floats = [] if computed == "4 bits" else float_inputs(case, inputs)
    if case.operation == "attention":
        heads, rows, size = case.shape
        flat = [np.ascontiguousarray(x.swapaxes(0, 1)).reshape(1, rows, heads * size) for x in floats]
        attributes = {"num_heads": heads, "unidirectional": int(case.is_causal)}
        named = dict(zip("qkv", flat, strict=True))
        return _Node("MultiHeadAttention", named, {}, flat[0].shape, attributes, "com.microsoft")
    if case.operation == "conv2d":
        x, w = (np.ascontiguousarray(np.moveaxis(array, 3, 1)) for array in floats)
        shape = (x.shape[0], w.shape[0], *x.shape[2:])
        return _Node("Conv", {"x": x}, {"w": w}, shape, {"pads": [case.shape[-1] // 2] * 4})
    if computed == "4 bits":
        return _blocks_node(case, *inputs)
    a, b = floats
    if computed == "u8 x s8":
        b = np.ascontiguousarray(b.T if case.operation == "gemv" else b).astype(np.int8)
        return _Node("MatMulInteger", {"a": a.astype(np.uint8)}, {"b": b}, (*a.shape[:-1], b.shape[-1]), {}, "", True)
    if case.operation == "gemv":
        return _Node("Gemm", {"a": a, "b": b}, {}, (len(a), len(b)), {"transB": 1})
    shape = (*a.shape[:-1], b.shape[-1])
    return _Node(
        "MatMul", {"a": a} if case.is_constant else {"a": a, "b": b}, {"b": b} if case.is_constant else {}, shape, {}
    )


def _blocks_node(case: Case, a: Array, blocks: Array) -> _Node:
    """Return the product with weights "q4_0". ONNX has consecutive weights in a byte, and scales in float."""
    m, n, k = case.shape
    data = blocks[..., 2:]
    nibbles = np.concatenate([data & 15, data >> 4], 2)
    packed = np.ascontiguousarray(nibbles[..., ::2] | nibbles[..., 1::2] << 4)
    scales = blocks[..., :2].copy().view(np.float16).astype(np.float32).ravel()
    attributes = {"K": k, "N": n, "bits": 4, "block_size": 32}
    return _Node("MatMulNBits", {"a": a}, {"b": packed, "scales": scales}, (m, n), attributes, "com.microsoft")


def _session(node: _Node, out: Array, threads: int) -> Callable[[], object]:
    """Return a function that runs a graph of one node, whose result goes to `out`."""
    import onnxruntime
    from onnx import helper, numpy_helper

    def info(name: str, array: Array) -> Any:
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)

    names = [*node.inputs, *node.constants]
    operation = helper.make_node(node.operation, names, ["out"], domain=node.domain, **node.attributes)
    constants = [numpy_helper.from_array(array, name) for name, array in node.constants.items()]
    inputs = [info(name, array) for name, array in node.inputs.items()]
    graph = helper.make_graph([operation], "case", inputs, [info("out", out)], constants)
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=9
    )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, array in node.inputs.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
    binding.bind_ortvalue_output("out", onnxruntime.OrtValue.ortvalue_from_numpy(out))
    return lambda: session.run_with_iobinding(binding)


# --- PyTorch --------------------------------------------------------------------------------------------


def torch_call(case: Case, inputs: Sequence[Array], computed: str, setup: Setup) -> Call:
    """Prepare a call of PyTorch: on its GPU if the OpenCL device is a GPU and PyTorch has one, else on the CPU."""
    import torch

    torch.set_num_threads(setup.threads)
    place = "cuda" if setup.is_gpu and torch.cuda.is_available() else "cpu"
    dtype = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "s8": torch.int8}[computed]
    tensors = [torch.from_numpy(array).to(place, dtype) for array in float_inputs(case, inputs)]
    call: Callable[..., Any] = _torch_function(case, torch)
    results: list[Any] = []

    def run() -> None:
        results[:] = [call(*tensors)]
        if place == "cuda":
            torch.cuda.synchronize()

    return run, lambda: results[0].to("cpu", torch.float32).numpy()


def _torch_function(case: Case, torch: Any) -> Any:
    functions = torch.nn.functional
    if case.operation == "attention":
        return lambda q, k, v: functions.scaled_dot_product_attention(q, k, v, is_causal=case.is_causal)
    if case.operation == "conv2d":
        padding = case.shape[-1] // 2

        def convolve(x: Any, w: Any) -> Any:
            # The views of NHWC as NCHW have PyTorch's layout "channels last", in which it convolves as well.
            return functions.conv2d(x.permute(0, 3, 1, 2), w.permute(0, 3, 1, 2), padding=padding).permute(0, 2, 3, 1)

        return convolve
    if case.type == "s8":
        return lambda a, b: torch._int_mm(a, b)
    return torch.matmul if case.operation == "gemm" else functions.linear


CALLS: Mapping[str, Callable[[Case, Sequence[Array], str, Setup], Call]] = {
    "numpy": numpy_call,
    "onnxruntime": onnxruntime_call,
    "torch": torch_call,
    "libclblast": lambda case, inputs, computed, setup: clblast_call(case, inputs, setup.device, setup.clblast),
}
