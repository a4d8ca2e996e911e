"""An evaluator of the expressions in run headers: arithmetic, indexing and a few names of numpy.

The evaluator visits each node of the syntax tree, and never calls `eval`. A node, name, method or attribute that is not
in a table of this module is an error. So is a value that would be too large. Therefore, a header cannot read files,
hang or fill the memory.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

_KINDS = {"f": "float", "i": "int", "s": "int", "u": "uint"}
TYPES: dict[str, np.dtype[Any]] = {
    f"{letter}{bits}": np.dtype(f"{kind}{bits}")
    for letter, kind in _KINDS.items()
    for bits in (8, 16, 32, 64)
    if (letter, bits) != ("f", 8)
}

MAX_ELEMENTS = 1 << 27
_MAX_MULTIPLICATIONS = 1 << 40
_MAX_INTEGER_BITS = 128
_MAX_LENGTH, _MAX_NODES, _MAX_DEPTH = 4000, 1000, 100


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FUNCTIONS = _words("""
    abs absolute sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan arctan2
    sinh cosh tanh arcsinh arccosh arctanh hypot floor ceil trunc rint sign copysign maximum minimum fmax fmin
    where clip sum prod mean max min argmax argmin cumsum cumprod sort dot matmul transpose swapaxes reshape ravel
    concatenate stack roll flip isnan isfinite isinf any all zeros_like ones_like array
    zeros ones full eye arange repeat tile outer
""")
_CONSTANTS = {"inf": math.inf, "nan": math.nan, "pi": math.pi}
_METHODS = _words(
    "astype reshape ravel transpose swapaxes sum prod mean max min clip cumsum argmax argmin round any all copy view"
)
_ATTRIBUTES = frozenset({"T", "shape", "size", "ndim", "real"})
_TAKE_SIZES = _words("reshape zeros ones full eye repeat tile")
_BROADCASTING = _words("arctan2 hypot copysign maximum minimum fmax fmin where clip")

# Function whose result may be larger than its arguments -> the number of elements of the result, from the arguments.
_SIZES: dict[str, Callable[..., float]] = {
    "zeros": lambda shape, *_: _count(shape),
    "ones": lambda shape, *_: _count(shape),
    "full": lambda shape, *_: _count(shape),
    "eye": lambda n, m=None, *_: float(n) * float(n if m is None else m),
    "arange": lambda first, last=None, step=1, *_: abs(float(first if last is None else last - first) / (step or 1)),
    "repeat": lambda a, times, *_: float(np.size(a)) * float(np.max(times)),
    "tile": lambda a, times: float(np.size(a)) * _count(times),
    "outer": lambda a, b: float(np.size(a)) * float(np.size(b)),
}

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class EvaluationError(Exception):
    """An exception that reports an error in an expression, at the character offsets `start` to `end`."""

    def __init__(self, message: str, start: int, end: int) -> None:
        self.message, self.start, self.end = message, start, end
        super().__init__(message)


def parse(text: str) -> ast.expr:
    """Return the syntax tree of one expression.

    Raises EvaluationError for invalid syntax, for strings, and for an expression that is too long.
    """
    if len(text) > _MAX_LENGTH:
        raise EvaluationError(f"expression is longer than {_MAX_LENGTH} characters", 0, len(text))
    if quote := re.search(r"['\"\\]", text):
        raise EvaluationError("strings are not allowed in an expression", quote.start(), quote.end())
    try:
        # Each blank replaces one character, so that the offsets in the tree hold for `text`.
        tree = ast.parse(text.replace("\n", " ").replace("\t", " "), mode="eval").body
    except SyntaxError as error:
        at = min(max((error.offset or 1) - 1, 0), len(text))
        raise EvaluationError(f"expression cannot be read: {error.msg}", at, at + 1) from None
    except (ValueError, RecursionError, MemoryError):
        raise EvaluationError("expression cannot be read", 0, len(text)) from None
    if sum(1 for _ in ast.walk(tree)) > _MAX_NODES:
        raise EvaluationError("expression is too large", 0, len(text))
    return tree


def evaluate(text: str, names: Mapping[str, Any]) -> Any:
    """Return the value of an expression over `names`, the types and the names of numpy.

    `names` maps names to numpy arrays and numbers. Raises EvaluationError, with the offsets of the wrong part, for
    every fault.
    """
    tree = parse(text.lstrip())
    shift = len(text) - len(text.lstrip())
    try:
        return _Evaluator(text.lstrip(), names).value(tree)
    except EvaluationError as error:
        raise EvaluationError(error.message, error.start + shift, error.end + shift) from None


class _Evaluator:
    """A visitor of syntax trees with a method `visit_NODE` for each class of nodes that is allowed."""

    def __init__(self, text: str, names: Mapping[str, Any]) -> None:
        self._bytes = text.encode()
        self._names = names
        self._depth = 0

    def value(self, node: ast.expr) -> Any:
        """Return the value of a node. Raises EvaluationError."""
        handler = getattr(self, f"visit_{type(node).__name__}", None)
        if handler is None:
            raise self.error(node, f"{type(node).__name__} is not allowed in an expression")
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self.error(node, "expression is nested too deeply")
        try:
            # No warnings: a device does not report overflow and invalid operations either.
            with np.errstate(all="ignore"):
                value = handler(node)
            if isinstance(value, np.ndarray) and value.dtype == object:
                raise self.error(node, "the elements have no common numeric type")
            return value
        except EvaluationError:
            raise
        except Exception as error:  # numpy raises nearly every type of exception for invalid operands
            raise self.error(node, str(error) or type(error).__name__) from None
        finally:
            self._depth -= 1

    def error(self, node: ast.expr, message: str) -> EvaluationError:
        # Offsets in the tree count UTF-8 bytes; those of EvaluationError count characters.
        start = len(self._bytes[: node.col_offset].decode(errors="replace"))
        end = len(self._bytes[: node.end_col_offset or node.col_offset + 1].decode(errors="replace"))
        return EvaluationError(message, start, max(end, start + 1))

    def visit_Constant(self, node: ast.Constant) -> Any:
        if node.value is None or node.value is Ellipsis or isinstance(node.value, (bool, int, float)):
            return node.value
        raise self.error(node, f"a {type(node.value).__name__} is not allowed in an expression")

    def visit_Name(self, node: ast.Name) -> Any:
        for table in (self._names, TYPES, _CONSTANTS):
            if node.id in table:
                return table[node.id]
        if node.id in _FUNCTIONS:
            raise self.error(node, f"'{node.id}' is a function: call it")
        raise self.error(node, f"unknown name '{node.id}'")

    def visit_Tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.value(item) for item in node.elts)

    def visit_List(self, node: ast.List) -> Any:
        return [self.value(item) for item in node.elts]

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if type(node.op) not in _OPERATORS:
            raise self.error(node, "'not' is not allowed in an expression; use ~")
        return _OPERATORS[type(node.op)](self._number(node.operand))

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        left, right = self._number(node.left), self._number(node.right)
        if isinstance(left, int) and isinstance(right, int):
            self._limit_integers(node, left, right)
        elif isinstance(node.op, ast.MatMult):
            self._limit_product(node, left, right)
        else:
            self._limit_broadcast(node, left, right)
        return _OPERATORS[type(node.op)](left, right)

    def _limit_integers(self, node: ast.BinOp, left: int, right: int) -> None:
        """Raise EvaluationError if the result of integers would have too many bits."""
        bits = {
            ast.Pow: left.bit_length() * max(right, 1),
            ast.LShift: left.bit_length() + max(right, 0),
            ast.Mult: left.bit_length() + right.bit_length(),
        }.get(type(node.op), 0)
        if bits > _MAX_INTEGER_BITS:
            raise self.error(node, f"integer of more than {_MAX_INTEGER_BITS} bits")

    def _limit_elements(self, node: ast.expr, count: float) -> None:
        """Raise EvaluationError if an array would have more than `MAX_ELEMENTS` elements."""
        if not count <= MAX_ELEMENTS:
            raise self.error(node, f"array of more than {MAX_ELEMENTS} elements")

    def _limit_broadcast(self, node: ast.expr, *operands: Any) -> None:
        """Raise EvaluationError if the broadcast of the operands would have too many elements."""
        self._limit_elements(node, math.prod(np.broadcast_shapes(*map(np.shape, operands))))

    def _limit_product(self, node: ast.expr, left: Any, right: Any) -> None:
        """Raise EvaluationError if a matrix product would need too many multiplications or elements."""
        columns = np.shape(right)[-1:] or (1,)
        if np.size(left) * columns[0] > _MAX_MULTIPLICATIONS:
            raise self.error(node, f"matrix product of more than {_MAX_MULTIPLICATIONS} multiplications")
        inner = np.shape(left)[-1:] or (1,)
        self._limit_elements(node, np.size(left) * columns[0] / max(inner[0], 1))

    def visit_Compare(self, node: ast.Compare) -> Any:
        if len(node.ops) != 1 or type(node.ops[0]) not in _OPERATORS:
            raise self.error(node, "only one of == != < <= > >= at a time")
        left, right = self._number(node.left), self._number(node.comparators[0])
        self._limit_broadcast(node, left, right)
        return _OPERATORS[type(node.ops[0])](left, right)

    def _number(self, node: ast.expr) -> Any:
        """Return the value of a node that is a number or an array. Raises EvaluationError for any other."""
        value = self.value(node)
        if isinstance(value, (int, float, np.ndarray, np.generic)):
            return value
        raise self.error(node, "this is neither a number nor an array (a list is written array([...]))")

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        if node.attr not in _ATTRIBUTES:
            raise self.error(node, f"attribute '{node.attr}' is not allowed in an expression")
        return getattr(self._array(node.value), node.attr)

    def _array(self, node: ast.expr) -> Any:
        """Return the value of a node that is a numpy value. Raises EvaluationError for any other."""
        value = self.value(node)
        if not isinstance(value, (np.ndarray, np.generic)):
            raise self.error(node, "this is not an array")
        return value

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        value = self.value(node.value)
        if not isinstance(value, (np.ndarray, np.generic, tuple)):
            raise self.error(node, "this is neither an array nor a tuple")
        elements: Any = value
        return elements[self._index(node.slice)]

    def _index(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Slice):
            return slice(*(part and _whole(self.value(part)) for part in (node.lower, node.upper, node.step)))
        if isinstance(node, ast.Tuple):
            return tuple(self._index(item) for item in node.elts)
        return _whole(self.value(node))

    def visit_Call(self, node: ast.Call) -> Any:
        arguments = [self.value(argument) for argument in node.args]
        if any(keyword.arg is None for keyword in node.keywords):
            raise self.error(node, "** is not allowed in an expression")
        keywords = {str(keyword.arg): self.value(keyword.value) for keyword in node.keywords}
        if isinstance(node.func, ast.Attribute):
            if node.func.attr not in _METHODS:
                raise self.error(node, f"method '{node.func.attr}' is not allowed in an expression")
            if node.func.attr == "reshape":
                arguments = [_whole(argument) for argument in arguments]
            return getattr(self._array(node.func.value), node.func.attr)(*arguments, **keywords)
        name = node.func.id if isinstance(node.func, ast.Name) else None
        if name not in _FUNCTIONS:
            raise self.error(node, f"function '{name}' is not known" if name else "this cannot be called")
        if keywords.keys() - {"axis", "dtype", "keepdims"}:
            raise self.error(node, "the keywords of a call are axis, dtype and keepdims")
        if name in _TAKE_SIZES:
            arguments = [_whole(argument) for argument in arguments]
        if name in _SIZES:
            self._limit_elements(node, _SIZES[name](*arguments))
        elif name in ("dot", "matmul"):
            self._limit_product(node, *arguments)
        elif name in _BROADCASTING:
            self._limit_broadcast(node, *arguments)
        return getattr(np, name)(*arguments, **keywords)


def _whole(value: Any) -> Any:
    """Return a float with a whole value as an int, also in a tuple; any other value unchanged.

    Sizes and indices may be the results of divisions, such as `N/16`.
    """
    if isinstance(value, tuple):
        return tuple(_whole(item) for item in value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _count(shape: Any) -> float:
    """Return the number of elements of a shape."""
    return math.prod(float(extent) for extent in np.atleast_1d(shape))
