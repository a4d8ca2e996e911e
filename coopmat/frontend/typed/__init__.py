"""The typed AST: semantic analysis builds it from the syntax tree, and every lowering starts from it.

Nothing in it is implicit: every conversion is a node, names are resolved, the operands of an operator have the
operator's type, and constants that the language requires are evaluated. An `LValue` denotes an object; `Load` reads its
value.
"""

from __future__ import annotations

from .base import Expr as Expr, LValue as LValue
from .cooperative import (
    MatrixBinary as MatrixBinary,
    MatrixBounds as MatrixBounds,
    MatrixComponentWise as MatrixComponentWise,
    MatrixConvert as MatrixConvert,
    MatrixCoordinates as MatrixCoordinates,
    MatrixElement as MatrixElement,
    MatrixFill as MatrixFill,
    MatrixLength as MatrixLength,
    MatrixLoad as MatrixLoad,
    MatrixMap as MatrixMap,
    MatrixMulAdd as MatrixMulAdd,
    MatrixMulAddScaled as MatrixMulAddScaled,
    MatrixNegate as MatrixNegate,
    MatrixPrefetch as MatrixPrefetch,
    MatrixPrint as MatrixPrint,
    MatrixReduce as MatrixReduce,
    MatrixScale as MatrixScale,
    MatrixStore as MatrixStore,
)
from .declarations import FunctionDecl as FunctionDecl, Unit as Unit, VarDecl as VarDecl
from .expressions import (
    AddressOf as AddressOf,
    Aggregate as Aggregate,
    Assign as Assign,
    Binary as Binary,
    BuiltinCall as BuiltinCall,
    Call as Call,
    Comma as Comma,
    CompoundAssign as CompoundAssign,
    CompoundLiteral as CompoundLiteral,
    Conditional as Conditional,
    Convert as Convert,
    ConvertKind as ConvertKind,
    Deref as Deref,
    ExtractMember as ExtractMember,
    ExtractSwizzle as ExtractSwizzle,
    FloatConst as FloatConst,
    IncDec as IncDec,
    Index as Index,
    IntConst as IntConst,
    Load as Load,
    Logical as Logical,
    Member as Member,
    PointerAdd as PointerAdd,
    PointerDifference as PointerDifference,
    StatementExpression as StatementExpression,
    StringConst as StringConst,
    Swizzle as Swizzle,
    Unary as Unary,
    VarRef as VarRef,
    VectorLiteral as VectorLiteral,
    VectorSelect as VectorSelect,
    Zero as Zero,
)
from .matrix_types import (
    MatrixBroadcast as MatrixBroadcast,
    MatrixCast as MatrixCast,
    MatrixElementwise as MatrixElementwise,
    MatrixMemoryLoad as MatrixMemoryLoad,
    MatrixMemoryStore as MatrixMemoryStore,
    MatrixOfVector as MatrixOfVector,
    MatrixPart as MatrixPart,
    MatrixProduct as MatrixProduct,
    MatrixSubscript as MatrixSubscript,
    MatrixTranspose as MatrixTranspose,
    MatrixWithPart as MatrixWithPart,
    VectorOfMatrix as VectorOfMatrix,
)
from .statements import (
    Block as Block,
    Break as Break,
    Case as Case,
    Continue as Continue,
    DeclStmt as DeclStmt,
    DoWhile as DoWhile,
    ExprStmt as ExprStmt,
    For as For,
    Goto as Goto,
    If as If,
    Label as Label,
    Return as Return,
    Stmt as Stmt,
    Switch as Switch,
    While as While,
)

#: The nodes that call a user's function, which is their field `function`.
CALLS = (Call, MatrixMap, MatrixReduce)
