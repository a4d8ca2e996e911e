"""Matrices as values of a program: in functions, pointers, arrays, structs, loops and branches, for every type."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from coopmat.cts import values
from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import Array
from coopmat.matrices.variants import ComponentType, Use

from .axes import draw_matrix, types
from .rows import Row, Writer, key

# Forms on three matrices a, b and c and, with `two`, a run-time int of this value: text before the kernel, text in the
# kernel, and the expected results.
Value = Callable[[Array, Array, Array], Array]
Add = Callable[[Array, Array], Array]
FORMS: dict[str, tuple[str, str, str, Callable[[Add, Array, Array, Array], Array]]] = {
    "passed and returned": ("@M @f(@M m) { m = m + m; return m; }", "", "@f(a) + a", lambda s, a, b, c: s(s(a, a), a)),
    "returned early": (
        "@M @g(@M x, @M y, int n) { for (int i = 0; i < n; ++i) { if (i == 1) return y; x = x + y; } return x; }",
        "",
        "@g(a, b, two)",
        lambda s, a, b, c: b,
    ),
    "through a pointer": (
        "void @p(@M *out, @M m) { *out = *out + m; }",
        "@M p = a; @p(&p, b);",
        "p",
        lambda s, a, b, c: s(a, b),
    ),
    "exchanged through pointers": (
        "void @x(@M *x, @M *y) { @M t = *x; *x = *y; *y = t; }",
        "@M x = a, y = b; @x(&x, &y);",
        "x + c",
        lambda s, a, b, c: s(b, c),
    ),
    "array": ("", "@M l[3] = {a, b, c}; l[two - 1] = l[two] + l[0];", "l[1]", lambda s, a, b, c: s(c, a)),
    "array of arrays": (
        "",
        "@M g[2][2]; for (int i = 0; i < 4; ++i) g[i / 2][i % 2] = i < two ? a : b; g[0][two / 2] = c;",
        "g[two / 2][0] + g[0][1]",
        lambda s, a, b, c: s(b, c),
    ),
    "record": (
        "typedef struct { char tag; @M m; float s; } @R; @R @r(@M m) { @R r; r.m = m; r.tag = 1; return r; }",
        "@R r = @r(a), q = r; q.m = b;",
        "r.m + q.m",
        lambda s, a, b, c: s(a, b),
    ),
    "records in arrays in records": (
        "typedef struct { int tag; @M m; } @I; typedef struct { @I parts[2]; @M last; } @O;",
        "@O o; o.parts[0].m = a; o.parts[1].m = b; o.last = c; @O w = o; w.parts[two - 1].m = w.last;",
        "w.parts[1].m + o.parts[two - 1].m",
        lambda s, a, b, c: s(c, b),
    ),
    "chosen": ("", "@M u = two == 2 ? a : b;", "two > 2 ? a : u + c", lambda s, a, b, c: s(a, c)),
    "branches": (
        "",
        "@M d; if (two > 2) d = a; else if (two == 2) d = b + c; else d = c;",
        "d",
        lambda s, a, b, c: s(b, c),
    ),
    "loop": (
        "",
        "@M e = a, f = b; for (int i = 0; i < two + 2; ++i) {"
        " if (i == 1) continue; @M t = e; e = f; f = t; if (i == two) break; }",
        "e + c",
        lambda s, a, b, c: s(a, c),
    ),
    "switch": (
        "",
        "@M h = a; switch (two) { case 1: h = b; break; case 2: h = h + b; case 3: h = h + c; break; default: h = c; }",
        "h",
        lambda s, a, b, c: s(s(a, b), c),
    ),
    "loaded for an argument": (
        "@M @h(@M m) { return m + m; }",
        "",
        "@h(coop_mat_load(pb, ROW, COLUMNS))",
        lambda s, a, b, c: s(b, b),
    ),
    "loaded for a result": (
        "@M @l(const global TYPE *p) { return coop_mat_load(p, ROW, COLUMNS); }",
        "",
        "@l(pb) + a",
        lambda s, a, b, c: s(b, a),
    ),
    "loaded into elements": (
        "typedef struct { @M m; } @E;",
        "@M k[2] = {a, a}; k[1] = coop_mat_load(pb, ROW, COLUMNS); @E n; n.m = coop_mat_load(pb, ROW, COLUMNS);",
        "k[1] + n.m",
        lambda s, a, b, c: s(b, b),
    ),
}


def rows() -> Iterator[Row]:
    for n, component in enumerate(types()):
        for half in range(2):
            yield _row(component, Use((n + half) % 3), list(FORMS)[half::2])


def _row(component: ComponentType, use: Use, names: list[str]) -> Row:
    keys = {name: key(name, type=component) for name in names}

    def write(w: Writer) -> None:
        matrix = draw_matrix(w, component, use, 0.05)
        a, b, c = (values.moderate(w.rng, component, matrix.rows, matrix.columns) for _ in range(3))
        w.type("M", matrix)
        for name, array in (("a", a), ("b", b), ("c", c)):
            w.line(f"const global {component.opencl_c} *p{name} = {w.buffer(array.ravel(), component.opencl_c)};")
            w.line(f"@M {name} = coop_mat_load(p{name}, ROW, {matrix.columns});")
        w.line(f"int two = {w.buffer(np.array([2], np.int32), 'int')}[0];")
        for name, case in keys.items():
            outside, inside, expression, meant = FORMS[name]
            texts = [
                text.replace("COLUMNS", str(matrix.columns)).replace("TYPE", component.opencl_c)
                for text in (outside, inside, expression)
            ]
            w.outside.append(texts[0])
            w.line(texts[1])
            wanted = meant(lambda x, y: numpy_reference.binary(component, "add", x, y), a, b, c)
            w.result(case, texts[2], matrix, wanted)

    return Row(f"programs {component} {' / '.join(names[:1])}", tuple(keys.values()), write)
