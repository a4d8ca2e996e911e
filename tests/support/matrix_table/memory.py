"""Loads and stores: layouts, address spaces, strides, offsets, pointees; the other memory must not change."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coopmat.cts.values import whole_range
from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import Array
from coopmat.matrices.variants import OPENCL_C_LAYOUTS, ComponentType, Layout, MatrixType, Use

from .axes import LOAD_SPACES, PARTS, STORE_SPACES, draw_matrix, types
from .rows import LAYOUTS, Key, Row, Writer, key, reference_store

WIDTHS = (2, 3, 4, 8, 16)


def layouts(route: str) -> list[Layout]:
    return [layout for layout in OPENCL_C_LAYOUTS if layout != Layout.PACKED or PARTS["packed"].there(route)]


def rows() -> Iterator[Row]:
    for i, component in enumerate(types()):
        for j, layout in enumerate(OPENCL_C_LAYOUTS):
            for use in Use:
                yield from _row(component, use, layout, i + j + use)
            yield _same_rows(component, Use((i + j) % 3), layout)
            yield _vectors(component, Use((i + j) % 3), layout, WIDTHS[(i + j) % len(WIDTHS)])
            yield _checked(component, Use((i + j + 1) % 3), layout)
        yield _prefetch(component, Use(i % 3))
        yield _volatile(component, Use(i % 3))
        yield _generic(component, Use((i + 1) % 3))
        yield from _variables(component, Use((i + 2) % 3), i)


def _row(component: ComponentType, use: Use, layout: Layout, n: int) -> Iterator[Row]:
    """Yield a row for every route, and one for private memory, which the native route may lack."""
    loads = [LOAD_SPACES[(n + k) % 4] for k in range(2)]
    stores = ["global", STORE_SPACES[n % 3]]
    for private in (False, True):
        chosen = [("load", space) for space in loads if (space == "private") == private]
        chosen += [("store", space) for space in dict.fromkeys(stores) if (space == "private") == private]
        if chosen:
            keys = tuple(key(what, type=component, use=use.name, layout=layout.name, space=s) for what, s in chosen)

            def write(w: Writer, chosen: list[tuple[str, str]] = chosen, keys: tuple[Key, ...] = keys) -> None:
                matrix = draw_matrix(w, component, use, 0.2)
                for number, (case, (what, space)) in enumerate(zip(keys, chosen, strict=True)):
                    t = w.type(f"T{number}", matrix)
                    (_load if what == "load" else _store)(w, case, matrix, t, layout, space, number)

            name = f"memory {component} {use.name} {layout.name}{' private' if private else ''}"
            yield Row(name, keys, write)


def _load(w: Writer, case: Key, matrix: MatrixType, t: str, layout: Layout, space: str, number: int) -> None:
    component, offset, stride = matrix.component, int(w.rng.integers(4)), w.stride(matrix, layout)
    room = offset + w.room(matrix, layout, stride)
    memory = whole_range(w.rng, component, room)
    source = w.buffer(memory, component.opencl_c, "constant" if space == "constant" else "global")
    if space in ("local", "private"):
        source = _copied(w, source, component, room, space, f"copy{number}")
    w.line(f"{t} m{number} = coop_mat_load({source} + {w.number(offset)}, {LAYOUTS[layout]}, {w.number(stride)});")
    places = numpy_reference.offsets(matrix.shape, component, layout, stride)
    w.result(case, f"m{number}", matrix, memory[offset:][places])


def _copied(w: Writer, source: str, component: ComponentType, room: int, space: str, name: str) -> str:
    """Write an array in local or private memory with a copy of `source`, and return its name."""
    # Local variables must be declared at the outermost level of a kernel.
    w.line(f"{space} {component.opencl_c} {name}[{room}];")
    _fill(w, name, source, room, space)
    return name


def _fill(w: Writer, pointer: str, source: str, room: int, space: str) -> None:
    """Write a loop that fills local or private memory at `pointer` with the first `room` components of `source`."""
    first, step = ("get_local_id(0)", "get_local_size(0)") if space == "local" else ("0", "1")
    w.line(f"for (int i = {first}; i < {room}; i += {step}) {pointer}[i] = {source}[i];")
    if space == "local":
        w.line("barrier(CLK_LOCAL_MEM_FENCE);")


def _store(w: Writer, case: Key, matrix: MatrixType, t: str, layout: Layout, space: str, number: int) -> None:
    component, offset, stride = matrix.component, int(w.rng.integers(4)), w.stride(matrix, layout)
    room = offset + w.room(matrix, layout, stride) + 3
    values, before = whole_range(w.rng, component, matrix.rows, matrix.columns), w.pattern(room, component)
    source = w.buffer(values.ravel(), component.opencl_c)
    w.line(f"{t} m{number} = coop_mat_load({source}, ROW, {matrix.columns});")
    at, pace = w.number(offset), w.number(stride)
    expected = before.copy()
    reference_store(expected[offset:], values, matrix, layout, stride)
    out = len(w.buffers)
    target = w.buffer(before, component.opencl_c)
    if space == "private" and w.target.sub_group_size > 1:
        # Each work-item stores its components to its private array, and can load only these.
        name = _copied(w, target, component, room, space, f"copy{number}")
        w.line(f"coop_mat_store({name} + {at}, m{number}, {LAYOUTS[layout]}, {pace});")
        w.line(f"{t} again{number} = coop_mat_load({name} + {at}, {LAYOUTS[layout]}, {pace});")
        w.line(f"coop_mat_store({target} + {offset}, again{number}, {LAYOUTS[layout]}, {stride});")
    elif space == "global":
        w.line(f"coop_mat_store({target} + {at}, m{number}, {LAYOUTS[layout]}, {pace});")
    else:
        name = _copied(w, target, component, room, space, f"copy{number}")
        w.line(f"coop_mat_store(&{name}[{at}], m{number}, {LAYOUTS[layout]}, {pace});")
        first, step = "0", "1"
        if space == "local":
            w.line("barrier(CLK_LOCAL_MEM_FENCE);")
            first, step = "get_local_id(0)", "get_local_size(0)"
        w.line(f"for (int i = {first}; i < {room}; i += {step}) {target}[i] = {name}[i];")
    w.expect(case, out, component, expected)


def _same_rows(component: ComponentType, use: Use, layout: Layout) -> Row:
    """Return a row with stride 0: all rows, columns or groups of packed rows are equal."""
    case = key("load with stride 0", type=component, layout=layout.name)

    def write(w: Writer) -> None:
        matrix = draw_matrix(w, component, use)
        memory = whole_range(w.rng, component, w.room(matrix, layout, 0))
        source, t = w.buffer(memory, component.opencl_c), w.type("T", matrix)
        w.line(f"{t} m = coop_mat_load({source}, {LAYOUTS[layout]}, {w.number(0)});")
        w.result(case, "m", matrix, memory[numpy_reference.offsets(matrix.shape, component, layout, 0)])

    return Row(case.__str__(), (case,), write)


def _vectors(component: ComponentType, use: Use, layout: Layout, width: int) -> Row:
    """Return a row whose pointees are vectors, which the stride counts; three components have the size of four."""
    if component.is_bits:  # bfloat16 and 8-bit floats have no vectors
        width = 1
    keys = tuple(key(f"{what} by vectors", type=component, layout=layout.name) for what in ("load", "store"))
    step = 4 if width == 3 else width

    def write(w: Writer) -> None:
        matrix = draw_matrix(w, component, use)
        pointee = component.opencl_c + (str(width) if width > 1 else "")
        memories: list[Array] = []
        strides = [-(-w.stride(matrix, layout) // step) * step for _ in keys]
        for n, stride in enumerate(strides):
            size = -(-w.room(matrix, layout, stride) // step) * step
            memories.append(whole_range(w.rng, component, size) if n == 0 else w.pattern(size, component))
        source, t = w.buffer(memories[0], pointee), w.type("T", matrix)
        w.line(f"{t} m = coop_mat_load({source}, {LAYOUTS[layout]}, {w.number(strides[0] // step)});")
        values = memories[0][numpy_reference.offsets(matrix.shape, component, layout, strides[0])]
        w.result(keys[0], "m", matrix, values)
        out = len(w.buffers)
        target = w.buffer(memories[1].copy(), pointee)
        w.line(f"coop_mat_store({target}, m, {LAYOUTS[layout]}, {w.number(strides[1] // step)});")
        reference_store(memories[1], values, matrix, layout, strides[1])
        w.expect(keys[1], out, component, memories[1])

    return Row(f"vectors of {width} {component} {layout.name}", keys, write)


def _prefetch(component: ComponentType, use: Use) -> Row:
    """Return a row with prefetches by the type and by a value, which must not change anything."""
    kinds = [(layout, space) for layout in OPENCL_C_LAYOUTS for space in ("global", "local")]
    keys = {
        (layout, space): key("coop_mat_prefetch", type=component, layout=layout.name, space=space)
        for layout, space in kinds
    }

    def write(w: Writer) -> None:
        matrix = draw_matrix(w, component, use)
        t = w.type("T", matrix)
        for n, ((layout, space), case) in enumerate(keys.items()):
            stride = w.stride(matrix, layout)
            memory = whole_range(w.rng, component, w.room(matrix, layout, stride))
            source = w.buffer(memory, component.opencl_c)
            if space == "local":
                source = _copied(w, source, component, memory.size, space, f"copy{n}")
            what = t if n % 2 else f"m{n}"
            w.line(f"{t} m{n} = coop_mat_init(0);")
            w.line(f"coop_mat_prefetch({what}, {source}, {LAYOUTS[layout]}, {w.number(stride)});")
            w.line(f"m{n} = coop_mat_load({source}, {LAYOUTS[layout]}, {w.number(stride)});")
            w.result(case, f"m{n}", matrix, memory[numpy_reference.offsets(matrix.shape, component, layout, stride)])

    return Row(f"prefetches of {component}", tuple(keys.values()), write)


def _volatile(component: ComponentType, use: Use) -> Row:
    keys = tuple(key(f"{what} volatile", type=component) for what in ("load", "store"))

    def write(w: Writer) -> None:
        matrix = draw_matrix(w, component, use)
        values = whole_range(w.rng, component, matrix.rows, matrix.columns)
        source, t = w.buffer(values.ravel(), f"volatile {component.opencl_c}"), w.type("T", matrix)
        w.line(f"{t} m = coop_mat_load({source}, ROW, {matrix.columns});")
        w.result(keys[0], "m", matrix, values)
        out, before = len(w.buffers), w.pattern(values.size, component)
        target = w.buffer(before, f"volatile {component.opencl_c}")
        w.line(f"coop_mat_store({target}, m, COLUMN, {matrix.rows});")
        w.expect(keys[1], out, component, np.ascontiguousarray(values.T).ravel())

    return Row(f"volatile {component}", keys, write)


def _generic(component: ComponentType, use: Use) -> Row:
    """Return a row with generic pointers, to global or to local memory at run time."""
    keys = tuple(key(f"{what} by generic pointer", type=component) for what in ("load", "store"))

    def write(w: Writer) -> None:
        matrix = draw_matrix(w, component, use)
        values = whole_range(w.rng, component, matrix.rows, matrix.columns)
        name, size = component.opencl_c, values.size
        source, t = w.buffer(values.ravel(), name), w.type("T", matrix)
        here = _copied(w, source, component, size, "local", "copy")
        for n, case in enumerate((keys[0], None)):
            where = w.buffer(np.array([n], np.int32), "int")
            out, before = len(w.buffers), w.pattern(size, component)
            target = w.buffer(before, name)
            w.line(f"const {name} *from{n} = {where}[0] ? (const {name} *){here} : {source};")
            w.line(f"{t} m{n} = coop_mat_load(from{n}, ROW, {matrix.columns});")
            if case is not None:
                w.line(f"coop_mat_store({target}, m{n}, ROW, {matrix.columns});")
                w.expect(case, out, component, values.ravel())
            else:
                w.line(f"{name} *to = {where}[0] ? {target} : ({name} *){here};")
                w.line(f"coop_mat_store(to, m{n}, COLUMN, {matrix.rows});")
                w.expect(keys[1], out, component, np.ascontiguousarray(values.T).ravel())

    return Row(f"generic {component}", keys, write)


def _variables(component: ComponentType, use: Use, n: int) -> Iterator[Row]:
    """Yield a row for each address space: a load from a structure, a vector, or an array of vectors.

    The pointer is a cast of the variable's address, so that the stride counts components.
    """
    # An initial value of bfloat16 or an 8-bit float needs a cast, which constant memory cannot have.
    for k, space in enumerate(("local", "private") if component.is_bits else ("local", "private", "constant")):
        case = key("load from a variable of another type", type=component, space=space)
        # bfloat16 and 8-bit floats have no vectors
        kind = "structure" if component.is_bits else ("structure", "vector", "array")[(n + k) % 3]

        def write(w: Writer, kind: str = kind, space: str = space, case: Key = case) -> None:
            matrix = draw_matrix(w, component, use)
            while kind == "vector" and matrix.rows * matrix.columns > 16:
                matrix = draw_matrix(w, component, use)
            stride = matrix.columns if kind == "vector" else w.stride(matrix, Layout.ROW_MAJOR)
            places = numpy_reference.offsets(matrix.shape, component, Layout.ROW_MAJOR, stride)
            room = 16 if kind == "vector" else -(-w.room(matrix, Layout.ROW_MAJOR, stride) // 4) * 4
            name, t = component.opencl_c, w.type("T", matrix)
            if kind == "structure":
                w.outside.append(f"typedef struct {{ {name} first; {name} others[{room - 1}]; }} @V;")
            declared = {"structure": "@V v", "vector": f"{name}16 v", "array": f"{name}4 v[{room // 4}]"}[kind]
            pointer = f"(({space} {name} *){'v' if kind == 'array' else '&v'})"
            if space == "constant":
                memory = (np.arange(room) % 50).astype(component.numpy)
                values = [str(int(x)) for x in memory.tolist()]
                if kind == "array":
                    values = [f"({name}4)({', '.join(values[i : i + 4])})" for i in range(0, room, 4)]
                declared, pointer = declared.replace(" v", " @v"), pointer.replace("v", "@v")
                w.outside.append(f"constant {declared} = {{{', '.join(values)}}};")
            else:
                memory = whole_range(w.rng, component, room)
                w.line(f"{space} {declared};")
                _fill(w, pointer, w.buffer(memory, name), room, space)
            w.line(f"{t} m = coop_mat_load({pointer}, ROW, {w.number(stride)});")
            w.result(case, "m", matrix, memory[places])

        yield Row(f"variables {component} {space}", (case,), write)


def _checked(component: ComponentType, use: Use, layout: Layout) -> Row:
    """Return a row with checked accesses at a corner of a matrix in memory: inside, across an edge, outside."""
    keys = tuple(key(f"{what} checked", type=component, layout=layout.name) for what in ("load", "store"))

    def write(w: Writer) -> None:
        matrix = draw_matrix(w, component, use)
        # The shape of the matrix in memory, and the position of the tile.
        extent = [int(w.rng.integers(1, 2 * size + 3)) for size in (matrix.rows, matrix.columns)]
        start = [int(w.rng.integers(0, size + 2)) for size in extent]
        if layout == Layout.PACKED:
            # A tile begins at a whole group of packed rows.
            start[0] -= start[0] % max(1, 4 // component.size)
        whole = MatrixType(component, *extent, use)
        stride = w.stride(whole, layout)
        memory = whole_range(w.rng, component, w.room(whole, layout, stride))
        places = numpy_reference.offsets(whole.shape, component, layout, stride)
        inside = [
            max(0, min(size, e - s)) for size, e, s in zip((matrix.rows, matrix.columns), extent, start, strict=True)
        ]
        at = tuple(slice(s, s + n) for s, n in zip(start, inside, strict=True))
        values = np.zeros((matrix.rows, matrix.columns), component.numpy)
        values[: inside[0], : inside[1]] = memory[places][at]
        t = w.type("T", matrix)
        bounds = ", ".join(w.number(n) for n in (*start, *extent))
        source = w.buffer(memory, component.opencl_c)
        w.line(f"{t} m = coop_mat_load_checked({source}, {LAYOUTS[layout]}, {w.number(stride)}, {bounds});")
        w.result(keys[0], "m", matrix, values)
        stored, out = whole_range(w.rng, component, matrix.rows, matrix.columns), w.pattern(memory.size + 3, component)
        given = w.buffer(stored.ravel(), component.opencl_c)
        w.line(f"{t} s = coop_mat_load({given}, ROW, {matrix.columns});")
        number = len(w.buffers)
        target = w.buffer(out.copy(), component.opencl_c)
        w.line(f"coop_mat_store_checked({target}, s, {LAYOUTS[layout]}, {w.number(stride)}, {bounds});")
        out[places[at]] = stored[: inside[0], : inside[1]]
        w.expect(keys[1], number, component, out)

    return Row(f"checked {component} {layout.name}", keys, write)
