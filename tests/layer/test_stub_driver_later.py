"""What the layer keeps and what it gives several devices, against the stub driver: binaries that know their kernels, a
cache that needs no helper, devices of different kinds, command buffers, cl_khr_spirv_queries, and sub-devices."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from stub_application import BUILD_ERROR, BUILD_NONE, CL, Application, fnv
from stub_suite import EXTENSION, EXTENSIONS, PLAIN, SIZE, SOURCE, Stub, built, matrix_module, status, text

EXECUTABLE = 4


def size_on(app: Application, kernel: int, device: int | None) -> int:
    what = CL.KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE
    return int(app.number("clGetKernelSubGroupInfo", kernel, device, what, 8, [64]))


# ---- binaries


@pytest.mark.parametrize("code", ["source", "il"])
def test_binaries_keep_what_kernels_are(stub: Stub, code: str) -> None:
    """In another process a kernel of a binary has its route's subgroups again, and no helper starts for it; the driver
    gets its own bytes."""
    _, program = built(first := stub(), SOURCE if code == "source" else matrix_module())
    (binary,) = first.binaries(program)
    assert not binary.startswith(b"stub binary")
    second = stub(STUB_PROCESS="2")
    context, device = second.context(), second.devices()[0]
    loaded, error, found = second.binary(context, [device], [binary])
    assert (error, found, second.build(loaded)) == (0, [0], 0)
    kernel, error = second.kernel(loaded, b"product")
    assert error == 0 and size_on(second, kernel, device) == SIZE
    assert size_on(second, second.kernel(loaded, b"plain")[0], device) == 4
    assert second.number("clGetKernelInfo", kernel, CL.KERNEL_PROGRAM) == loaded
    assert second.enqueue(second.queue(context), kernel, [64]) == 0
    assert second.calls("clEnqueue")[0].endswith(f"local={SIZE}")
    assert second.calls("  binary")[0].endswith("taken")
    assert second.helpers() == 0
    again, error, _ = second.binary(context, [device], second.binaries(loaded))
    assert (error, second.build(again)) == (0, 0)
    assert size_on(second, second.kernel(again, b"product")[0], device) == SIZE


def test_a_binary_is_used_before_it_is_built(app: Application) -> None:
    """Some applications ask a program of a binary for its binaries, or build it with options."""
    context, program = built(app)
    binaries = app.binaries(program)
    loaded, error, _ = app.binary(context, app.devices()[:1], binaries)
    assert error == 0 and app.kernel(loaded, b"product") == (0, CL.INVALID_PROGRAM_EXECUTABLE)
    assert app.build(loaded, b"-cl-fast-relaxed-math") == 0
    assert text(app, loaded, CL.PROGRAM_BUILD_OPTIONS) == "-cl-fast-relaxed-math"
    assert app.info("clGetProgramInfo", loaded, CL.PROGRAM_SOURCE)[1] in (b"", b"\0")
    assert app.number("clGetProgramBuildInfo", loaded, app.devices()[0], CL.PROGRAM_BINARY_TYPE) == EXECUTABLE


def test_sizes_of_binaries(app: Application) -> None:
    """The sizes are those of what CL_PROGRAM_BINARIES writes; a place that is NULL gets nothing."""
    _, program = built(app)
    error, sizes = app.info("clGetProgramInfo", program, CL.PROGRAM_BINARY_SIZES)
    (binary,) = app.binaries(program)
    assert error == 0 and struct.unpack("=Q", sizes) == (len(binary),)
    assert app.info("clGetProgramInfo", program, CL.PROGRAM_BINARIES, room=7)[0] == CL.INVALID_VALUE
    assert app.call("clGetProgramInfo", program, CL.PROGRAM_BINARIES, 8, [0], None, gives="error") == 0
    assert app.number("clGetProgramInfo", program, CL.PROGRAM_BINARIES) == 0


def test_compiled_binaries_are_linked(app: Application) -> None:
    """A binary of clCompileProgram's, and a library's, still know their kernels once they are linked."""
    context, device = app.context(), app.devices()[0]
    program = app.source(context, SOURCE)
    assert app.compile(program) == 0
    compiled, error, _ = app.binary(context, [device], app.binaries(program))
    assert error == 0
    library, error = app.link(context, [program], b"-create-library")
    assert error == 0
    of_library, error, _ = app.binary(context, [device], app.binaries(library))
    assert error == 0
    for given in (compiled, of_library):
        linked, error = app.link(context, [given])
        kernel, second = app.kernel(linked, b"product")
        assert (error, second) == (0, 0) and size_on(app, kernel, device) == SIZE


def test_linked_binaries(app: Application) -> None:
    context, device = app.context(), app.devices()[0]
    program, plain = app.source(context, SOURCE), app.source(context, PLAIN)
    assert app.compile(program) == app.compile(plain) == 0
    linked, error = app.link(context, [program, plain])
    assert error == 0
    loaded, error, _ = app.binary(context, [device], app.binaries(linked))
    assert error == 0 and app.build(loaded) == 0
    sizes = [size_on(app, app.kernel(loaded, name)[0], device) for name in (b"product", b"first")]
    assert sizes == [SIZE, 4]


def test_damaged_binaries(app: Application) -> None:
    """A binary that is cut short or changed is refused, or what it still is; the application lives."""
    context, program = built(app)
    (binary,) = app.binaries(program)
    device = app.devices()[0]
    for size in (0, 1, 7, 8, 16, 40, len(binary) // 2, len(binary) - 1):
        found = app.binary(context, [device], [binary[:size]])
        assert found[0] == 0 and found[1] in (CL.INVALID_BINARY, CL.INVALID_VALUE), size
        assert found[2] == [found[1]]
    for at in (*range(64), *range(64, len(binary), len(binary) // 40)):
        changed = bytes([*binary[:at], binary[at] ^ 0xFF, *binary[at + 1 :]])
        made, error, _ = app.binary(context, [device], [changed])
        assert bool(made) == (error == 0) and error in (0, CL.INVALID_BINARY)


def test_foreign_binaries(stub: Stub) -> None:
    """A binary that the driver made without the layer is taken; one of the layer's, without it, is refused."""
    app, bare = stub(), stub(with_layer=False)
    _, plain = built(bare, PLAIN)
    (own,) = bare.binaries(plain)
    context, program = built(app)
    loaded, error, _ = app.binary(context, app.devices()[:1], [own])
    assert error == 0 and app.build(loaded) == 0
    assert app.binaries(loaded) == [own]
    assert app.binary(context, app.devices()[:1], [b"nonsense"])[1] == CL.INVALID_BINARY
    found = bare.binary(bare.context(), bare.devices()[:1], app.binaries(program))
    assert found == (0, CL.INVALID_BINARY, [CL.INVALID_BINARY])


def test_binaries_of_other_devices(stub: Stub) -> None:
    """A driver that refuses the bytes inside refuses the whole, and says for which device."""
    app = stub(STUB_DEVICES="2", STUB_KINDS="2")
    devices = app.devices()
    program = app.source(app.context(devices[:1]), SOURCE)
    assert app.build(program) == 0
    (binary,) = app.binaries(program)
    context = app.context(devices)
    assert app.binary(context, devices[1:], [binary])[1:] == (CL.INVALID_BINARY, [CL.INVALID_BINARY])
    assert app.binary(context, devices, [binary, binary])[1:] == (CL.INVALID_BINARY, [0, CL.INVALID_BINARY])
    loaded, error, found = app.binary(context, devices[:1], [binary])
    assert (error, found, app.build(loaded, devices=devices[:1])) == (0, [0], 0)


# ---- the cache


@pytest.mark.parametrize("code", ["source", "il"])
def test_a_second_start_needs_no_helper(stub: Stub, tmp_path: Path, code: str) -> None:
    """What was compiled before is the same again in a new process, its log and its kernels' subgroups too."""
    given = SOURCE + b"#warning look here\n" if code == "source" else matrix_module()
    seen = []
    for number in ("first", "second"):
        own = stub(STUB_PROCESS=f"{number} {code}", COOPMAT_CACHE_DIR=str(tmp_path))
        _, program = built(own, given, b"-DFIRST=4" if code == "source" else b"")
        kernel, error = own.kernel(program, b"product")
        assert error == 0 and size_on(own, kernel, None) == SIZE
        seen.append((own.calls("clCreateProgram", "clBuild"), text(own, program, CL.PROGRAM_BUILD_LOG)))
    assert seen[0] == seen[1]
    assert own.helpers() == 0


def test_other_options_are_not_in_the_cache(stub: Stub, tmp_path: Path) -> None:
    codes = []
    for number, options in enumerate((b"-DFIRST=4", b"-DFIRST=5")):
        own = stub(STUB_PROCESS=f"options {number}", COOPMAT_CACHE_DIR=str(tmp_path))
        built(own, options=options)
        codes.append(own.calls("clCreateProgramWithIL"))
    assert codes[0] != codes[1]


# ---- devices of different kinds


KINDS = {"STUB_DEVICES": "2", "STUB_KINDS": "2"}


def sizes_alone(app: Application) -> list[int]:
    """The subgroups of the kernel where each device has a context of its own."""
    result = []
    for device in app.devices():
        program = app.source(app.context([device]), SOURCE)
        assert app.build(program) == 0
        result.append(size_on(app, app.kernel(program, b"product")[0], device))
    return result


@pytest.mark.parametrize("named", [True, False])
def test_devices_of_two_kinds(stub: Stub, named: bool) -> None:
    """One build gives each device code that was made for it, and its kernels' facts."""
    app = stub(**KINDS)
    devices = app.devices()
    alone = sizes_alone(app)
    assert alone[0] != alone[1]
    app.end()
    app.begin()
    context = app.context(devices)
    program = app.source(context, SOURCE)
    assert app.build(program, b"-DFIRST=2", devices if named else None) == 0, text(app, program, CL.PROGRAM_BUILD_LOG)
    assert [status(app, program, device) for device in devices] == [0, 0]
    assert [text(app, program, CL.PROGRAM_BUILD_OPTIONS, device) for device in devices] == ["-DFIRST=2"] * 2
    taken = sorted(line.split() for line in app.calls("  binary"))
    assert [(words[1], words[-1]) for words in taken] == [("d1", "taken"), ("d2", "taken")]
    codes = {line.split()[2] for line in app.calls("clCreateProgramWithIL")}
    assert len(codes) == 2
    kernel, error = app.kernel(program, b"product")
    assert error == 0 and [size_on(app, kernel, device) for device in devices] == alone
    assert app.number("clGetKernelInfo", kernel, CL.KERNEL_PROGRAM) == program
    assert app.info("clGetProgramInfo", program, CL.PROGRAM_SOURCE) == (0, SOURCE + b"\0")
    assert app.info("clGetProgramInfo", program, CL.PROGRAM_KERNEL_NAMES) == (0, b"product;plain\0")
    assert [app.enqueue(app.queue(context, device), kernel, [64]) for device in devices] == [0, 0]
    assert [line.split("local=")[1] for line in app.calls("clEnqueue")] == list(map(str, alone))
    assert app.release("k", kernel) == 0
    before = app.live()
    assert app.build(program, b"-DFIRST=3") == 0 and app.live() == before


def test_binaries_for_two_kinds(stub: Stub) -> None:
    app = stub(**KINDS)
    devices = app.devices()
    context = app.context(devices)
    program = app.source(context, SOURCE)
    assert app.build(program) == 0
    binaries = app.binaries(program)
    assert len(set(binaries)) == 2
    loaded, error, found = app.binary(context, devices, binaries)
    assert (error, found, app.build(loaded)) == (0, [0, 0], 0)
    kernels = [app.kernel(one, b"product")[0] for one in (program, loaded)]
    sizes = [[size_on(app, kernel, device) for device in devices] for kernel in kernels]
    assert sizes[0] == sizes[1] and 4 not in sizes[0]


def test_errors_for_two_kinds(stub: Stub) -> None:
    """Each device has a status and a log; a build with callback tells once."""
    app = stub(**KINDS)
    devices = app.devices()
    program = app.source(app.context(devices), SOURCE)
    assert app.build(program, b"-DFIRST=nonsense", notify=True) == CL.BUILD_PROGRAM_FAILURE
    assert app.noticed(1) == [(program, None)]
    for device in devices:
        assert status(app, program, device) == BUILD_ERROR
        assert "nonsense" in text(app, program, CL.PROGRAM_BUILD_LOG, device)
    assert app.build(program, b"-Dproduct=stub_fails") == CL.BUILD_PROGRAM_FAILURE
    assert [status(app, program, device) for device in devices] == [BUILD_ERROR] * 2
    assert app.build(program, notify=True) == 0
    assert app.noticed(2) == [(program, None)] * 2
    assert [status(app, program, device) for device in devices] == [0, 0]


def test_compile_and_link_for_two_kinds(stub: Stub) -> None:
    app = stub(**KINDS)
    devices = app.devices()
    alone = sizes_alone(app)
    context = app.context(devices)
    program, plain = app.source(context, SOURCE), app.source(context, PLAIN)
    assert [app.compile(program), app.compile(plain)] == [0, 0]
    linked, error = app.link(context, [program, plain])
    assert error == 0
    kernel, error = app.kernel(linked, b"product")
    assert error == 0 and [size_on(app, kernel, device) for device in devices] == alone


def test_one_of_two_kinds(stub: Stub) -> None:
    """A build for one device that is named needs no binaries."""
    app = stub(**KINDS)
    devices = app.devices()
    context = app.context(devices)
    program = app.source(context, SOURCE)
    assert app.build(program, devices=devices[1:]) == 0
    assert not app.calls("clCreateProgramWithBinary")
    kernel, error = app.kernel(program, b"product")
    assert error == 0 and app.enqueue(app.queue(context, devices[1]), kernel, [64]) == 0


@pytest.mark.parametrize("code", ["source", "il"])
def test_a_device_with_matrices_beside_one_without(stub: Stub, code: str) -> None:
    """The one that has them gets what the application gave, the other one what the layer makes of it."""
    app = stub(STUB_DEVICES="2", STUB_KINDS="native")
    devices = app.devices()
    context = app.context(devices)
    given = SOURCE if code == "source" else matrix_module()
    program = app.source(context, given) if code == "source" else app.il(context, given)
    app.begin()
    assert app.build(program, b"-w") == 0
    assert [status(app, program, device) for device in devices] == [0, 0]
    calls = [line for line in app.calls("clCreateProgram") if "WithBinary" not in line]
    assert len([line for line in calls if fnv(given) in line]) == 1 and len(calls) == 2
    kernel, error = app.kernel(program, b"product")
    assert error == 0 and [size_on(app, kernel, device) for device in devices] == [SIZE, 4]
    queues = [app.queue(context, device) for device in devices]
    assert [app.enqueue(queue, kernel, [64]) for queue in queues] == [0, 0]
    assert [line.split("local=")[1] for line in app.calls("clEnqueue")] == ["16", "NULL"]


def test_a_build_for_the_device_with_matrices(stub: Stub) -> None:
    """It is the driver's own, options and all; a build for the other one adds to it."""
    app = stub(STUB_DEVICES="2", STUB_KINDS="native")
    without, having = app.devices()
    context = app.context([without, having])
    program = app.source(context, SOURCE)
    assert app.build(program, b"-DX=1", [having]) == 0
    assert app.calls("clBuild")[0].endswith('options="-DX=1"')
    assert text(app, program, CL.PROGRAM_BUILD_OPTIONS, having) == "-DX=1"
    assert status(app, program, without) == BUILD_NONE
    kernel, error = app.kernel(program, b"product")
    assert error == 0 and size_on(app, kernel, having) == 4
    assert app.enqueue(app.queue(context, having), kernel, [64]) == 0
    assert app.release("k", kernel) == 0
    assert app.build(program, b"-DX=2", [without]) == 0
    kernel, error = app.kernel(program, b"product")
    assert error == 0 and [size_on(app, kernel, device) for device in (without, having)] == [SIZE, 4]
    assert [app.enqueue(app.queue(context, device), kernel, [64]) for device in (without, having)] == [0, 0]


# ---- command buffers


def test_command_buffers(stub: Stub) -> None:
    """A kernel in a command buffer gets the local size that it gets from a queue, and the same errors."""
    app = stub(STUB_EXTENSIONS=f"{EXTENSIONS} cl_khr_command_buffer")
    context, program = built(app)
    queue = app.queue(context)
    kernel, plain = (app.kernel(program, name)[0] for name in (b"product", b"plain"))
    for size in ([64], [32, 2], [60]):
        assert app.record(queue, kernel, size) == [0] * 5
    assert app.record(queue, kernel, [64], [32]) == app.record(queue, plain, [64]) == [0] * 5
    sizes = [line.split("local=")[1] for line in app.calls("clCommandNDRange")]
    assert sizes == ["16", "16,1", "NULL", "32", "NULL"]
    assert app.record(queue, kernel, [64], [8])[1] == CL.INVALID_WORK_GROUP_SIZE
    assert len(app.calls("clCommandNDRange")) == 5


def test_command_buffers_of_several_devices(stub: Stub) -> None:
    app = stub(STUB_EXTENSIONS=f"{EXTENSIONS} cl_khr_command_buffer", STUB_DEVICES="2")
    devices = app.devices()
    context = app.context(devices)
    program = app.source(context, SOURCE)
    assert app.build(program) == 0
    kernel, plain = (app.kernel(program, name)[0] for name in (b"product", b"plain"))
    queue = app.queue(context, devices[1])
    assert app.record(queue, kernel, [64]) == app.record(queue, plain, [64]) == [0] * 5
    assert [line.split("local=")[1] for line in app.calls("clCommandNDRange")] == ["16", "NULL"]


@pytest.mark.parametrize("devices", ["1", "2"])
def test_suggested_local_sizes(stub: Stub, devices: str) -> None:
    """cl_khr_suggested_local_work_size has the local size that a launch gets, and the driver's for other kernels."""
    app = stub(STUB_EXTENSIONS=f"{EXTENSIONS} cl_khr_suggested_local_work_size", STUB_DEVICES=devices)
    context = app.context(app.devices())
    program = app.source(context, SOURCE)
    assert app.build(program) == 0
    queue = app.queue(context)
    kernel, plain = (app.kernel(program, name)[0] for name in (b"product", b"plain"))
    assert app.suggested(queue, kernel, [64, 4]) == (0, [16, 1])
    assert app.suggested(queue, kernel, [60]) == (0, [2])
    assert app.suggested(queue, plain, [64, 4]) == (0, [2, 2])


def test_no_command_buffers(app: Application) -> None:
    """Where the driver has none, the layer has none."""
    assert app.address("clCommandNDRangeKernelKHR") == app.address("clCreateCommandBufferKHR") == 0


# ---- cl_khr_spirv_queries


def test_spirv_queries(stub: Stub) -> None:
    variables = {"STUB_EXTENSIONS": f"{EXTENSIONS} cl_khr_spirv_queries"}
    app, bare = stub(**variables), stub(with_layer=False, **variables)
    device, other = app.devices()[0], bare.devices()[0]
    what: int = CL.DEVICE_SPIRV_EXTENSIONS
    names = app.fields(app.info("clGetDeviceInfo", device, what)[1])
    assert names == [*bare.fields(bare.info("clGetDeviceInfo", other, what)[1]), b"SPV_KHR_cooperative_matrix"]
    what = CL.DEVICE_SPIRV_CAPABILITIES
    error, data = app.info("clGetDeviceInfo", device, what)
    own = bare.info("clGetDeviceInfo", other, what)[1]
    assert error == 0 and data == own + struct.pack("=I", 6022)
    assert app.info("clGetDeviceInfo", device, what, room=len(own))[0] == CL.INVALID_VALUE
    what = CL.DEVICE_SPIRV_EXTENSIONS
    assert app.info("clGetDeviceInfo", device, what, room=16)[0] == CL.INVALID_VALUE
    what = CL.DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS
    assert app.fields(app.info("clGetDeviceInfo", device, what)[1]) == [b"OpenCL.std"]


@pytest.mark.parametrize("extensions", ["", "cl_khr_spirv_queries cl_khr_cooperative_matrix"])
def test_spirv_queries_that_are_the_drivers(stub: Stub, extensions: str) -> None:
    """Without the extension there is no answer; a device with matrices of its own answers itself."""
    seen = []
    for with_layer in (True, False):
        app = stub(with_layer=with_layer, STUB_EXTENSIONS=f"{EXTENSIONS} {extensions}".strip())
        device = app.devices()[0]
        seen.append([app.info("clGetDeviceInfo", device, CL.DEVICE_SPIRV_CAPABILITIES)])
        error, data = app.info("clGetDeviceInfo", device, CL.DEVICE_SPIRV_EXTENSIONS)
        seen[-1].append((error, app.fields(data)))
    assert seen[0] == seen[1]
    assert (seen[0][0][0] == 0) == bool(extensions)


# ---- sub-devices


def test_sub_devices(app: Application) -> None:
    """Parts of a device have the extension and the same matrices as it, and are built for."""
    device = app.devices()[0]
    parts = app.sub_devices(device, 2)
    assert len(parts) == 2
    for part in parts:
        assert EXTENSION in app.info("clGetDeviceInfo", part, CL.DEVICE_EXTENSIONS)[1]
        what = CL.DEVICE_DEFAULT_SUB_GROUP_VARIANTS
        assert app.matrix_info(part, what) == app.matrix_info(device, what)
    context = app.context(parts)
    program = app.source(context, SOURCE)
    assert app.build(program) == 0
    kernel, error = app.kernel(program, b"product")
    assert error == 0 and [size_on(app, kernel, part) for part in parts] == [SIZE] * 2
    assert app.enqueue(app.queue(context, parts[1]), kernel, [64]) == 0
    assert app.calls("clEnqueue")[0].endswith(f"local={SIZE}")


def test_a_device_and_a_part_of_it(app: Application) -> None:
    """They are told apart by their compute units only; a context may have both."""
    device = app.devices()[0]
    devices = [device, app.sub_devices(device, 2)[0]]
    program = app.source(app.context(devices), SOURCE)
    assert app.build(program) == 0, text(app, program, CL.PROGRAM_BUILD_LOG)
    kernel, error = app.kernel(program, b"product")
    assert error == 0 and [size_on(app, kernel, one) for one in devices] == [SIZE] * 2


def test_sub_devices_come_and_go(app: Application) -> None:
    device = app.devices()[0]
    for units in (1, 2, 4):
        parts = app.sub_devices(device, units)
        program = app.source(app.context(parts[:1]), SOURCE)
        assert app.build(program, devices=parts[:1]) == 0
        assert app.kernel(program, b"product")[1] == 0
        app.end()
