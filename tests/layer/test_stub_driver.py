"""Every function that the layer overrides, against a driver that records what reaches it (stub_driver.c).

Every test ends with all its objects released: the driver must have no program and no kernel left then, and must not
have been called with one that is no more.
"""

from __future__ import annotations

import itertools
import math
import random
import struct
from pathlib import Path
from typing import Any

import pytest
from stub_application import BUILD_ERROR, BUILD_NONE, CL, Application, application, fnv, loaders
from stub_suite import (
    EXTENSION,
    EXTENSIONS,
    PLAIN,
    SIZE,
    SOURCE,
    Stub,
    built,
    matrix_module,
    pair,
    plain_module,
    status,
    sub_group_size,
    text,
)

import coopmat

# ---- devices


def test_extensions(stub: Stub) -> None:
    """The extension is behind the device's own, once, with a size that is right and a version."""
    app, bare = stub(), stub(with_layer=False)
    device = app.devices()[0]
    own = bare.info("clGetDeviceInfo", bare.devices()[0], CL.DEVICE_EXTENSIONS)[1]
    error, data = app.info("clGetDeviceInfo", device, CL.DEVICE_EXTENSIONS)
    assert (error, data) == (0, own[:-1] + b" " + EXTENSION + b"\0")
    assert app.info("clGetDeviceInfo", device, CL.DEVICE_EXTENSIONS, room=len(data) + 9)[1] == data
    assert app.info("clGetDeviceInfo", device, CL.DEVICE_EXTENSIONS, room=len(data) - 1)[0] == CL.INVALID_VALUE
    before = bare.info("clGetDeviceInfo", bare.devices()[0], CL.DEVICE_EXTENSIONS_WITH_VERSION)[1]
    error, data = app.info("clGetDeviceInfo", device, CL.DEVICE_EXTENSIONS_WITH_VERSION)
    assert error == 0 and data[: len(before)] == before and len(data) == len(before) + 68
    assert data[len(before) + 4 :].rstrip(b"\0") == EXTENSION
    what = CL.DEVICE_EXTENSIONS_WITH_VERSION
    assert app.info("clGetDeviceInfo", device, what, room=len(before))[0] == CL.INVALID_VALUE


def test_other_answers_of_devices_are_the_drivers(app: Application) -> None:
    device = app.devices()[0]
    assert app.info("clGetDeviceInfo", device, CL.DEVICE_NAME) == (0, b"Stub\0")
    assert app.info("clGetDeviceInfo", device, CL.DEVICE_NAME, room=4)[0] == CL.INVALID_VALUE
    assert app.info("clGetDeviceInfo", device, 0x7777)[0] == CL.INVALID_VALUE
    assert app.info("clGetDeviceInfo", device, CL.DEVICE_SPIRV_CAPABILITIES)[0] == CL.INVALID_VALUE
    assert app.info("clGetDeviceInfo", None, CL.DEVICE_EXTENSIONS)[0] == CL.INVALID_DEVICE
    assert app.info("clGetDeviceInfo", None, CL.DEVICE_POINTER_ALIGNMENT)[0] == CL.INVALID_DEVICE


QUEUES_AND_PIPES = (0x1070, 0x104E, 0x104F, 0x1050, 0x1051, 0x1052, 0x1071, 0x1055, 0x1056, 0x1057)


def test_features_that_the_compiler_lacks(stub: Stub) -> None:
    """They are optional from OpenCL 3.0 on; answers are of the driver's size."""
    app, bare, older = stub(), stub(with_layer=False), stub(STUB_VERSION="2.2")
    for what in QUEUES_AND_PIPES:
        own = bare.info("clGetDeviceInfo", bare.devices()[0], what)
        assert own[0] == 0 and any(own[1]) and older.info("clGetDeviceInfo", older.devices()[0], what) == own
        assert app.info("clGetDeviceInfo", app.devices()[0], what) == (0, bytes(len(own[1])))
        assert app.info("clGetDeviceInfo", app.devices()[0], what, room=3)[0] == CL.INVALID_VALUE
    device = app.devices()[0]
    error, data = app.info("clGetDeviceInfo", device, CL.DEVICE_OPENCL_C_FEATURES)
    assert error == 0 and len(data) == 68 and data[4:].rstrip(b"\0") == b"__opencl_c_int64"
    assert app.info("clGetDeviceInfo", device, CL.DEVICE_OPENCL_C_FEATURES, room=67)[0] == CL.INVALID_VALUE
    native = stub(STUB_EXTENSIONS="cl_khr_cooperative_matrix")
    assert len(native.info("clGetDeviceInfo", native.devices()[0], CL.DEVICE_OPENCL_C_FEATURES)[1]) == 3 * 68


def test_demands_on_memory(app: Application) -> None:
    for what in (CL.DEVICE_POINTER_ALIGNMENT, CL.DEVICE_STRIDE_MULTIPLE):
        assert app.info("clGetDeviceInfo", app.devices()[0], what) == (0, b"\1\0\0\0")
        assert app.info("clGetDeviceInfo", app.devices()[0], what, room=3)[0] == CL.INVALID_VALUE


def test_variants(app: Application) -> None:
    """The query and the extension's function have the same records; the function refuses what it does not know."""
    device = app.devices()[0]
    error, records = app.info("clGetDeviceInfo", device, CL.DEVICE_DEFAULT_SUB_GROUP_VARIANTS)
    assert error == 0 and records and len(records) % 32 == 0
    assert app.matrix_info(device, CL.DEVICE_DEFAULT_SUB_GROUP_VARIANTS) == (0, records)
    room = len(records) - 1
    assert app.matrix_info(device, CL.DEVICE_DEFAULT_SUB_GROUP_VARIANTS, room=room)[0] == CL.INVALID_VALUE
    error, of_eight = app.matrix_info(device, CL.DEVICE_SUB_GROUP_VARIANTS, struct.pack("=I", 8))
    assert error == 0 and len(of_eight) % 32 == 0
    for given in (b"", struct.pack("=I", 0), struct.pack("=Q", 8)):
        assert app.matrix_info(device, CL.DEVICE_SUB_GROUP_VARIANTS, given)[0] == CL.INVALID_VALUE
    assert app.matrix_info(device, CL.DEVICE_NAME)[0] == CL.INVALID_VALUE
    assert app.matrix_info(0, CL.DEVICE_DEFAULT_SUB_GROUP_VARIANTS)[0] == CL.INVALID_DEVICE


def test_a_device_with_the_extension_is_left_alone(stub: Stub) -> None:
    """Its answers are its own, and what is built for it is what the application gave, with matrices or without."""

    def scenario(app: Application) -> Any:
        device = app.devices()[0]
        seen = [
            app.info("clGetDeviceInfo", device, what)
            for what in (*range(0x1078, 0x107C), CL.DEVICE_EXTENSIONS, CL.DEVICE_EXTENSIONS_WITH_VERSION)
        ]
        seen.append(app.matrix_info(device, CL.DEVICE_DEFAULT_SUB_GROUP_VARIANTS))
        seen.append(app.matrix_info(device, CL.DEVICE_SUB_GROUP_VARIANTS, struct.pack("=I", 8)))
        return [*seen, *life(app, SOURCE, "product"), *life(app, matrix_module(), "product")]

    extensions = f"{EXTENSIONS} cl_khr_cooperative_matrix"
    pair(stub, scenario, STUB_EXTENSIONS=extensions)
    app = application(STUB_EXTENSIONS=extensions)
    assert app.helpers() == 0
    assert any(fnv(matrix_module()) in line for line in app.lines())


# ---- functions by their names


def test_addresses(stub: Stub) -> None:
    """The functions of the driver, and the extension's; none that there is not."""
    app, bare = stub(), stub(with_layer=False)
    name = "clGetDeviceCooperativeMatrixInfoKHR"
    assert app.address(name) and not bare.address(name)
    for name in ("clCreateProgramWithILKHR", "clGetKernelSubGroupInfoKHR"):
        assert app.address(name) and bare.address(name)
        # A loader may have a function of its own for some.
        without = stub(with_layer=False, STUB_EXTENSIONS="cl_khr_fp16").address(name)
        assert bool(stub(STUB_EXTENSIONS="cl_khr_fp16").address(name)) == bool(without)
    assert app.address("clNothingOfTheKindKHR") == app.address("clCreateCommandBufferKHR") == 0


def test_addresses_by_name_alone(stub: Stub) -> None:
    """clGetExtensionFunctionAddress has the extension's function, too."""
    name = b"clGetDeviceCooperativeMatrixInfoKHR\0"
    assert stub().call("clGetExtensionFunctionAddress", name)
    assert not stub(with_layer=False).call("clGetExtensionFunctionAddress", name)
    assert not stub().call("clGetExtensionFunctionAddress", b"clNothingOfTheKindKHR\0")


def test_addresses_without_a_platform(app: Application) -> None:
    """OpenCL: NULL where the platform is none."""
    assert app.address("clGetDeviceCooperativeMatrixInfoKHR", 0) == 0


def test_old_names(app: Application) -> None:
    """The functions of cl_khr_il_program and cl_khr_subgroups do what those of OpenCL 2.1 do."""
    context = app.context()
    code = matrix_module()
    program, error = app.create("p", app.address("clCreateProgramWithILKHR"), context, code, len(code))
    assert (error, app.build(program)) == (0, 0)
    assert app.info("clGetProgramInfo", program, CL.PROGRAM_IL) == (0, code)
    kernel, error = app.kernel(program, b"product")
    function, what = app.address("clGetKernelSubGroupInfoKHR"), CL.KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE
    assert error == 0 and app.number(function, kernel, app.devices()[0], what, 8, [64]) == SIZE


@pytest.mark.parametrize("code", ["source", "il"])
def test_a_driver_of_opencl_1_2(stub: Stub, code: str) -> None:
    """It has no clCreateProgramWithIL; what it has is cl_khr_il_program's."""
    app = stub(STUB_VERSION="1.2")
    context = app.context()
    if code == "source":
        program = app.source(context, SOURCE)
    else:
        given = matrix_module()
        program, error = app.create("p", app.address("clCreateProgramWithILKHR"), context, given, len(given))
        assert error == 0
    assert app.build(program) == 0, text(app, program, CL.PROGRAM_BUILD_LOG)
    kernel, error = app.kernel(program, b"product")
    assert error == 0
    function, what = app.address("clGetKernelSubGroupInfoKHR"), CL.KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE
    assert app.number(function, kernel, app.devices()[0], what, 8, [64]) == SIZE


# ---- programs that the layer has no part in


def life(app: Application, code: bytes, name: str) -> list[Any]:
    """What an application sees of a program from its creation to its end, handles left out."""
    context, device = app.context(), app.devices()[0]
    is_il = code[:4] == b"\x03\x02\x23\x07"
    program = app.il(context, code) if is_il else app.source(context, code)
    seen: list[Any] = [app.kernel(program, name.encode())[1], app.kernels(program)[0]]
    seen += [app.call("clSetProgramSpecializationConstant", program, n, 4, b"\1\2\3\4") for n in (5, 6)]
    seen += [app.build(program, b"-DX=1", [device]), app.build(program, None), app.build(program, notify=True)]
    seen += [app.noticed(1) == [(program, None)], app.retain("p", program), app.release("p", program)]
    seen += [
        app.info("clGetProgramInfo", program, what) for what in range(0x1160, 0x116C) if what not in (0x1161, 0x1163)
    ]
    seen += [app.info("clGetProgramBuildInfo", program, device, what) for what in range(0x1181, 0x1187)]
    seen.append(app.binaries(program))
    kernel, error = app.kernel(program, name.encode())
    copy, second = app.create("k", "clCloneKernel", kernel)
    seen += [error, second, *(app.number("clGetKernelInfo", k, 0x1194) == program for k in (kernel, copy))]
    seen += [
        app.info("clGetKernelInfo", kernel, what) for what in range(0x1190, 0x1196) if what not in (0x1193, 0x1194)
    ]
    seen += [app.info("clGetKernelWorkGroupInfo", kernel, device, what) for what in range(0x11B0, 0x11B6)]
    for what, given in ((0x2033, [64]), (0x2034, [64, 2]), (0x11B8, [2]), (0x11B9, []), (0x11BA, []), (0x410A, [])):
        seen.append(app.info("clGetKernelSubGroupInfo", kernel, device, what, 8 * len(given), given or None))
    queue = app.queue(context)
    seen += [app.enqueue(queue, kernel, [60, 2], local) for local in (None, [4, 1])]
    seen += [app.retain("k", kernel), app.release("k", kernel), app.kernel_count(program)]
    seen += [app.release("k", k) for k in (kernel, copy)]
    error, found = app.kernels(program)
    return [*seen, error, len(found), *(app.release("k", k) for k in found), app.release("p", program)]


@pytest.mark.parametrize("code", ["source", "il"])
def test_plain_programs(stub: Stub, code: str) -> None:
    """The driver gets bit for bit, call by call, what it would get without the layer, and no helper starts."""
    given = PLAIN if code == "source" else plain_module()
    pair(stub, lambda app: life(app, given, "first"))
    own = application(STUB_EXTENSIONS=EXTENSIONS)
    assert any(f"code={fnv(given)}" in line for line in own.calls("clCreateProgram"))


def test_plain_programs_to_the_last_query(stub: Stub) -> None:
    """The layer asks nothing of programs without matrices, either."""
    pair(stub, lambda app: life(app, PLAIN, "first"), starts=("cl", "  "))


def test_source_in_pieces(stub: Stub) -> None:
    """Strings with lengths and without, some of them 0, are one text; one with matrices, too."""

    def scenario(app: Application) -> Any:
        program = app.source(
            app.context(), PLAIN[:10], PLAIN[10:] + b"never read", b"", lengths=[0, len(PLAIN) - 10, 0]
        )
        return app.info("clGetProgramInfo", program, CL.PROGRAM_SOURCE)

    pair(stub, scenario)
    app = stub()
    program = app.source(app.context(), SOURCE[:200], SOURCE[200:] + b"never read", lengths=[0, len(SOURCE) - 200])
    assert app.info("clGetProgramInfo", program, CL.PROGRAM_SOURCE) == (0, SOURCE + b"\0")
    assert app.build(program) == 0


def test_plain_compile_and_link(stub: Stub) -> None:
    def scenario(app: Application) -> Any:
        context, device = app.context(), app.devices()[0]
        header = app.source(context, b"typedef int number;")
        program = app.source(context, b'#include "n.h"\n' + PLAIN)
        seen: list[Any] = [app.link(context, [program])[1]]
        seen += [app.compile(program, b"-w", {b"n.h": header}), app.compile(program, notify=True), len(app.noticed(1))]
        seen.append(app.info("clGetProgramBuildInfo", program, device, CL.PROGRAM_BINARY_TYPE))
        library, error = app.link(context, [program], b"-create-library", [device])
        linked, second = app.link(context, [library], notify=True)
        seen += [error, second, app.noticed(2)[1] == (linked, None), app.link(context, [])[1]]
        kernel, third = app.kernel(linked, b"second")
        return [*seen, third, app.number("clGetKernelInfo", kernel, 0x1194) == linked]

    pair(stub, scenario)


def test_plain_errors(stub: Stub) -> None:
    """What the driver refuses, it refuses with the layer, too."""

    def scenario(app: Application) -> Any:
        context, device = app.context(), app.devices()[0]
        program = app.source(context, PLAIN + b"// stub_fails")
        seen: list[Any] = [app.build(program), status(app, program), app.build(program, b"-stub-invalid")]
        seen += [app.build(program, data=1), app.compile(program, data=1), app.compile(program)]
        seen += [app.create("p", "clCreateProgramWithSource", *arguments) for arguments in bad_sources(context)]
        seen += [app.create("p", "clCreateProgramWithIL", c, code, 20) for c, code in ((context, b"x" * 20), (0, b""))]
        seen.append(app.call("clSetProgramSpecializationConstant", program, 5, 4, b"\1\2\3\4"))
        seen.append(app.info("clGetProgramInfo", program, CL.PROGRAM_SOURCE, room=5))
        return [*seen, app.info("clGetProgramBuildInfo", program, device, CL.PROGRAM_BUILD_LOG, room=1)]

    pair(stub, scenario)


def bad_sources(context: int) -> list[tuple[Any, ...]]:
    return [(context, 0, None, None), (context, 1, None, None), (context, 1, [0], None), (0, 1, [PLAIN], None)]


NOTHING = {
    CL.INVALID_PROGRAM: [
        ("clRetainProgram",),
        ("clReleaseProgram",),
        ("clSetProgramSpecializationConstant", 5, 4, b"\1\2\3\4"),
        ("clBuildProgram", 0, None, b"", None, None),
        ("clCompileProgram", 0, None, b"", 0, None, None, None, None),
        ("clGetProgramInfo", CL.PROGRAM_SOURCE, 0, None, None),
        ("clGetProgramBuildInfo", 0, CL.PROGRAM_BUILD_LOG, 0, None, None),
    ],
    CL.INVALID_KERNEL: [
        ("clRetainKernel",),
        ("clReleaseKernel",),
        ("clGetKernelInfo", CL.KERNEL_PROGRAM, 0, None, None),
        ("clGetKernelWorkGroupInfo", 0, CL.KERNEL_WORK_GROUP_SIZE, 0, None, None),
        ("clGetKernelSubGroupInfo", 0, CL.KERNEL_MAX_NUM_SUB_GROUPS, 0, None, 0, None, None),
    ],
}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [(words, error) for error, rows in NOTHING.items() for words in rows],
    ids=lambda w: str(w)[2:30],
)
def test_nothing_for_a_program_or_kernel(app: Application, arguments: tuple[Any, ...], error: CL) -> None:
    function, *others = arguments
    assert app.call(function, 0, *others, gives="error") == error


def test_nothing_for_what_is_made_of(app: Application) -> None:
    assert app.kernel(0, b"product") == (0, CL.INVALID_PROGRAM)
    assert app.kernels(0)[0] == CL.INVALID_PROGRAM
    assert app.create("k", "clCloneKernel", 0) == (0, CL.INVALID_KERNEL)
    assert app.link(0, [0])[1] == CL.INVALID_CONTEXT
    assert app.create("p", "clCreateProgramWithIL", 0, matrix_module(), len(matrix_module())) == (0, CL.INVALID_CONTEXT)
    assert app.create("p", "clCreateProgramWithSource", 0, 1, [SOURCE], None) == (0, CL.INVALID_CONTEXT)


# ---- programs with matrices


def test_build_of_source(app: Application) -> None:
    """The driver gets SPIR-V of the layer's, the application keeps its program: source, options, log, kernels."""
    context, program = built(app, options=b"-DFIRST=3 -w")
    assert app.info("clGetProgramInfo", program, CL.PROGRAM_SOURCE) == (0, SOURCE + b"\0")
    assert app.info("clGetProgramInfo", program, CL.PROGRAM_IL) == (0, b"")
    assert text(app, program, CL.PROGRAM_BUILD_OPTIONS) == "-DFIRST=3 -w"
    assert text(app, program, CL.PROGRAM_BUILD_LOG) == "stub: built\n"
    assert status(app, program) == 0
    assert app.number("clGetProgramBuildInfo", program, app.devices()[0], CL.PROGRAM_BINARY_TYPE) == 4
    assert app.number("clGetProgramBuildInfo", program, app.devices()[0], 0x1185) == 77
    assert app.info("clGetProgramInfo", program, CL.PROGRAM_KERNEL_NAMES) == (0, b"product;plain\0")
    assert app.number("clGetProgramInfo", program, CL.PROGRAM_NUM_KERNELS) == 2
    assert app.number("clGetProgramInfo", program, CL.PROGRAM_CONTEXT) == context
    assert app.number("clGetProgramInfo", program, CL.PROGRAM_REFERENCE_COUNT) == 1
    calls = app.calls("clCreateProgram", "clBuild")
    assert calls[0] == f"clCreateProgramWithSource c1 count=1 code={fnv(SOURCE)} -> p1"
    assert calls[1].startswith("clCreateProgramWithIL c1 code=") and calls[1].endswith("-> p2")
    assert calls[2:] == ['clBuildProgram p2 devices=NULL options="-w"'] or "p2" in calls[2]


def test_build_of_il(app: Application) -> None:
    """CL_PROGRAM_IL is what was given, also before the build; CL_PROGRAM_SOURCE is empty."""
    context = app.context()
    code = matrix_module()
    program = app.il(context, code)
    for _ in range(2):
        assert app.info("clGetProgramInfo", program, CL.PROGRAM_IL) == (0, code)
        assert app.info("clGetProgramInfo", program, CL.PROGRAM_IL, room=len(code) - 1)[0] == CL.INVALID_VALUE
        assert app.info("clGetProgramInfo", program, CL.PROGRAM_SOURCE) == (0, b"\0")
        assert app.build(program) == 0
    assert app.info("clGetProgramInfo", program, CL.PROGRAM_KERNEL_NAMES) == (0, b"product;plain\0")
    assert not any(fnv(code) in line for line in app.lines())


def test_queries_before_a_build(app: Application) -> None:
    program = app.source(app.context(), SOURCE)
    assert status(app, program) == BUILD_NONE
    assert text(app, program, CL.PROGRAM_BUILD_OPTIONS) == text(app, program, CL.PROGRAM_BUILD_LOG) == ""
    assert app.number("clGetProgramInfo", program, CL.PROGRAM_BINARY_SIZES) == 0
    assert app.info("clGetProgramInfo", program, CL.PROGRAM_NUM_KERNELS)[0] == CL.INVALID_PROGRAM_EXECUTABLE
    assert app.kernel(program, b"product") == (0, CL.INVALID_PROGRAM_EXECUTABLE)
    assert app.kernels(program)[0] == CL.INVALID_PROGRAM_EXECUTABLE


def test_sizes_of_queries(app: Application) -> None:
    """No answer is written to too little room."""
    _, program = built(app, options=b"-DFIRST=3")
    device = app.devices()[0]
    for what in (CL.PROGRAM_SOURCE, CL.PROGRAM_KERNEL_NAMES, CL.PROGRAM_NUM_KERNELS, CL.PROGRAM_BINARY_SIZES):
        error, data = app.info("clGetProgramInfo", program, what)
        assert error == 0 and app.info("clGetProgramInfo", program, what, room=len(data) + 1) == (0, data)
        assert app.info("clGetProgramInfo", program, what, room=len(data) - 1)[0] == CL.INVALID_VALUE
    for what in (CL.PROGRAM_BUILD_STATUS, CL.PROGRAM_BUILD_OPTIONS, CL.PROGRAM_BUILD_LOG):
        error, data = app.info("clGetProgramBuildInfo", program, device, what)
        assert error == 0 and app.info("clGetProgramBuildInfo", program, device, what, room=len(data) + 1) == (0, data)
        assert app.info("clGetProgramBuildInfo", program, device, what, room=len(data) - 1)[0] == CL.INVALID_VALUE
    assert app.info("clGetProgramInfo", program, 0x7777)[0] == CL.INVALID_VALUE
    assert app.info("clGetProgramBuildInfo", program, device, 0x7777)[0] == CL.INVALID_VALUE
    assert app.info("clGetProgramBuildInfo", program, 0, CL.PROGRAM_BUILD_LOG)[0] == CL.INVALID_DEVICE


@pytest.mark.parametrize("options", [b"", b"-DFIRST=nonsense"])
@pytest.mark.parametrize("what", [CL.PROGRAM_BUILD_STATUS, CL.PROGRAM_BUILD_OPTIONS, CL.PROGRAM_BUILD_LOG])
def test_a_build_asked_for_a_device_of_another_context(stub: Stub, what: CL, options: bytes) -> None:
    app = stub(STUB_DEVICES="2")
    first, second = app.devices()
    program = app.source(app.context([first]), SOURCE)
    assert app.build(program, options) == (CL.BUILD_PROGRAM_FAILURE if options else 0)
    assert app.info("clGetProgramBuildInfo", program, second, what)[0] == CL.INVALID_DEVICE
    assert app.info("clGetProgramBuildInfo", program, None, what)[0] == CL.INVALID_DEVICE


def test_our_warnings_and_the_drivers_log(app: Application) -> None:
    """CL_PROGRAM_BUILD_LOG is the compiler's, then the driver's."""
    _, program = built(app, SOURCE + b"#warning look here\n")
    log = text(app, program, CL.PROGRAM_BUILD_LOG)
    assert "warning" in log and "look here" in log and log.endswith("stub: built\n")
    room = len(log)
    what = CL.PROGRAM_BUILD_LOG
    assert app.info("clGetProgramBuildInfo", program, app.devices()[0], what, room=room)[0] == CL.INVALID_VALUE


def test_a_build_that_our_compiler_refuses(app: Application) -> None:
    """Its status and log tell, no kernel is there any more, and the next build is right."""
    _, program = built(app)
    assert app.build(program, b"-DFIRST=nonsense") == CL.BUILD_PROGRAM_FAILURE
    assert status(app, program) == BUILD_ERROR
    assert "nonsense" in text(app, program, CL.PROGRAM_BUILD_LOG)
    assert text(app, program, CL.PROGRAM_BUILD_OPTIONS) == "-DFIRST=nonsense"
    assert app.number("clGetProgramInfo", program, CL.PROGRAM_BINARY_SIZES) == 0
    assert app.kernel(program, b"product") == (0, CL.INVALID_PROGRAM_EXECUTABLE)
    assert app.live() == [1, 0]
    assert app.build(program) == 0 and status(app, program) == 0
    assert app.kernel(program, b"product")[1] == 0


def test_a_build_that_the_driver_refuses(app: Application) -> None:
    program = app.source(app.context(), SOURCE)
    assert app.build(program, b"-Dproduct=stub_fails") == CL.BUILD_PROGRAM_FAILURE
    assert status(app, program) == BUILD_ERROR
    assert text(app, program, CL.PROGRAM_BUILD_LOG) == "stub: failed\n"
    assert app.kernel(program, b"plain") == (0, CL.INVALID_PROGRAM_EXECUTABLE)
    assert app.build(program) == 0


@pytest.mark.parametrize("code", ["plain", "matrices"])
def test_arguments_of_clBuildProgram(app: Application, code: str) -> None:
    program = app.source(app.context(), PLAIN if code == "plain" else SOURCE)
    device = app.devices()[0]
    assert app.call("clBuildProgram", program, 1, None, b"", None, None) == CL.INVALID_VALUE
    assert app.call("clBuildProgram", program, 0, [device], b"", None, None) == CL.INVALID_VALUE
    assert app.build(program, data=1) == CL.INVALID_VALUE
    assert app.build(program, None) == 0
    assert app.build(program, b"", [device]) == 0
    assert app.build(program, b"", [device, device]) == 0


@pytest.mark.parametrize("code", ["plain", "matrices"])
def test_no_device_to_build_for(app: Application, code: str) -> None:
    program = app.source(app.context(), PLAIN if code == "plain" else SOURCE)
    assert app.build(program, devices=[0]) == CL.INVALID_DEVICE
    assert app.compile(program, devices=[0]) == CL.INVALID_DEVICE
    assert status(app, program) == BUILD_NONE


@pytest.mark.parametrize("code", ["plain", "matrices"])
def test_a_build_for_a_device_of_another_context(stub: Stub, code: str) -> None:
    app = stub(STUB_DEVICES="2")
    first, second = app.devices()
    program = app.source(app.context([first]), PLAIN if code == "plain" else SOURCE)
    assert app.build(program, devices=[second]) == CL.INVALID_DEVICE
    assert app.build(program, devices=[first]) == 0


@pytest.mark.parametrize("route", ["lanes", "scratch"])
@pytest.mark.parametrize("code", ["plain", "matrices"])
def test_a_kernel_asked_for_a_device_of_another_context(stub: Stub, code: str, route: str) -> None:
    app = stub(STUB_DEVICES="2", COOPMAT_ROUTE=route)
    first, second = app.devices()
    program = app.source(app.context([first]), PLAIN if code == "plain" else SOURCE)
    assert app.build(program) == 0
    kernel, _ = app.kernel(program, b"first" if code == "plain" else b"product")
    for what in (CL.KERNEL_WORK_GROUP_SIZE, CL.KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE):
        assert app.info("clGetKernelWorkGroupInfo", kernel, second, what)[0] == CL.INVALID_DEVICE
    for what, given in ((CL.KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, [64]), (CL.KERNEL_MAX_NUM_SUB_GROUPS, [])):
        arguments = (kernel, second, what, 8 * len(given), given or None)
        assert app.info("clGetKernelSubGroupInfo", *arguments)[0] == CL.INVALID_DEVICE


@pytest.mark.parametrize("code", ["plain", "matrices"])
def test_a_build_while_there_are_kernels(app: Application, code: str) -> None:
    """OpenCL: CL_INVALID_OPERATION if there are kernel objects attached to the program."""
    _, program = built(app, PLAIN if code == "plain" else SOURCE)
    kernel, _ = app.kernel(program, b"first" if code == "plain" else b"product")
    assert app.build(program) == CL.INVALID_OPERATION
    assert app.compile(program) == CL.INVALID_OPERATION
    assert app.release("k", kernel) == 0
    assert app.build(program) == 0


@pytest.mark.parametrize("options", [b"-stub-invalid", b"-cl-std=CL9.9", b"-D"])
def test_options_that_are_none(app: Application, options: bytes) -> None:
    """OpenCL: CL_INVALID_BUILD_OPTIONS, be it the driver or the compiler that does not know them."""
    program = app.source(app.context(), SOURCE)
    assert app.build(program, options) == CL.INVALID_BUILD_OPTIONS


def test_the_drivers_own_options_reach_it(app: Application) -> None:
    options = b"-cl-uniform-work-group-size -cl-denorms-are-zero -cl-kernel-arg-info"
    program = app.source(app.context(), SOURCE)
    assert app.build(program, b"-cl-fast-relaxed-math -DFIRST=1 " + options) == 0
    (line,) = app.calls("clBuildProgram")
    assert "FIRST" not in line
    assert all(word in line for word in options.decode().split())


def test_a_second_build_takes_the_place_of_the_first(app: Application) -> None:
    _, program = built(app)
    assert app.live() == [2, 0]
    assert app.build(program, b"-DFIRST=2") == 0
    assert app.live() == [2, 0]
    assert text(app, program, CL.PROGRAM_BUILD_OPTIONS) == "-DFIRST=2"


def test_builds_for_one_device_after_the_other(stub: Stub) -> None:
    """A build for a second device leaves the first one's as it was."""
    app = stub(STUB_DEVICES="2")
    devices = app.devices()
    context = app.context(devices)
    program = app.source(context, SOURCE)
    assert app.build(program, b"-DFIRST=1", [devices[0]]) == 0
    assert status(app, program, devices[1]) == BUILD_NONE
    assert text(app, program, CL.PROGRAM_BUILD_OPTIONS, devices[1]) == ""
    assert app.build(program, b"-DFIRST=2", [devices[1]]) == 0
    assert [status(app, program, device) for device in devices] == [0, 0]
    options = [text(app, program, CL.PROGRAM_BUILD_OPTIONS, device) for device in devices]
    assert options == ["-DFIRST=1", "-DFIRST=2"]
    kernel, error = app.kernel(program, b"product")
    assert error == 0
    assert [app.enqueue(app.queue(context, device), kernel, [64]) for device in devices] == [0, 0]


@pytest.mark.parametrize("options", [b"-DFIRST=nonsense", b"-Dproduct=stub_fails"])
def test_a_failed_build_for_another_device(stub: Stub, options: bytes) -> None:
    """What failed for one device does not keep another one from its build."""
    app = stub(STUB_DEVICES="2")
    devices = app.devices()
    context = app.context(devices)
    program = app.source(context, SOURCE)
    assert app.build(program, options, devices[:1]) == CL.BUILD_PROGRAM_FAILURE
    assert app.build(program, b"", devices[1:]) == 0
    assert [status(app, program, device) for device in devices] == [BUILD_ERROR, 0]
    kernel, error = app.kernel(program, b"product")
    assert error == 0 and app.enqueue(app.queue(context, devices[1]), kernel, [64]) == 0


def test_one_build_serves_devices_of_one_kind(stub: Stub) -> None:
    app = stub(STUB_DEVICES="2")
    devices = app.devices()
    program = app.source(app.context(devices), SOURCE)
    assert app.build(program) == 0
    assert len(app.calls("clCreateProgramWithIL")) == 1 and len(app.calls("clBuildProgram")) == 1
    assert app.build(program, devices=devices) == 0
    assert [status(app, program, device) for device in devices] == [0, 0]


def test_a_driver_without_spirv(stub: Stub) -> None:
    """It gets OpenCL C; SPIR-V of the application's, too, is made that."""
    app = stub(STUB_IL="", COOPMAT_ROUTE="")
    _, program = built(app)
    assert app.info("clGetProgramInfo", program, CL.PROGRAM_SOURCE) == (0, SOURCE + b"\0")
    assert app.info("clGetProgramInfo", program, CL.PROGRAM_KERNEL_NAMES) == (0, b"product;plain\0")
    calls = app.calls("clCreateProgram")
    assert len(calls) == 2 and all(line.startswith("clCreateProgramWithSource") for line in calls)
    kernel, error = app.kernel(program, b"product")
    assert error == 0 and sub_group_size(app, kernel) == 1


@pytest.mark.parametrize("is_async", ["0", "1"])
@pytest.mark.parametrize("code", ["plain", "matrices", "refused", "failing"])
def test_callbacks_of_builds(stub: Stub, code: str, is_async: str) -> None:
    """A callback comes once for each build, with the application's program and data, whatever becomes of it."""
    app = stub(STUB_ASYNC=is_async)
    program = app.source(app.context(), PLAIN if code == "plain" else SOURCE)
    options = {"refused": b"-DFIRST=nonsense", "failing": b"-Dproduct=stub_fails"}.get(code, b"")
    app.build(program, options, data=1234, notify=True)
    assert app.noticed(1) == [(program, 1234)]
    assert status(app, program) == (BUILD_ERROR if options else 0)
    app.compile(program, options, data=99, notify=True)
    assert app.noticed(2) == [(program, 1234), (program, 99)]
    assert status(app, program) == (BUILD_ERROR if options else 0)


@pytest.mark.parametrize("code", ["plain", "matrices"])
def test_a_program_that_is_released_while_it_is_built(stub: Stub, code: str) -> None:
    app = stub(STUB_ASYNC="1")
    program = app.source(app.context(), PLAIN if code == "plain" else SOURCE)
    assert app.build(program, data=7, notify=True) == 0
    assert app.release("p", program) == 0
    assert app.noticed(1) == [(program, 7)]


def test_callbacks_of_links(app: Application) -> None:
    """A kernel that is made in the callback of clLinkProgram is one with matrices already."""
    context = app.context()
    program = app.source(context, SOURCE)
    assert app.compile(program) == 0
    linked, error = app.link(context, [program], notify=True, use="product")
    assert error == 0 and app.noticed(1) == [(linked, None)]
    kernel, _ = app.kernel(linked, b"product")
    assert sub_group_size(app, kernel) == SIZE
    assert app.callback_sub_group_sizes() == [SIZE]


def test_a_callback_of_a_build_that_is_refused(stub: Stub) -> None:
    """Arguments that are wrong are told by the error, and not by a callback, too."""
    app = stub(STUB_DEVICES="2")
    first, second = app.devices()
    context = app.context([first])
    programs = [app.source(context, text) for text in (PLAIN, SOURCE)]
    seen = []
    for program in programs:
        error = app.build(program, devices=[second], notify=True)
        seen.append((error, len([1 for known, _ in app.noticed(0) if known == program])))
    assert seen == [(CL.INVALID_DEVICE, 0)] * 2


# ---- specialisation constants


def test_specialisation_constants(app: Application) -> None:
    """The driver gets the last value of each for every build, after its program is made and before it is built."""
    program = app.il(app.context(), matrix_module())
    for value in (b"\1\2\3\4", b"\5\0\0\0"):
        assert app.call("clSetProgramSpecializationConstant", program, 5, 4, value) == 0
    assert app.lines()[-1].startswith("clCreateProgram")
    assert [app.build(program), app.build(program)] == [0, 0]
    kinds = [line.split()[0] for line in app.calls("clCreateProgramWithIL", "clSet", "clBuild")]
    assert kinds == 2 * ["clCreateProgramWithIL", "clSetProgramSpecializationConstant", "clBuildProgram"]
    line = app.calls("clCreateProgram", "clSet")[2]
    assert line == "clSetProgramSpecializationConstant p2 id=5 size=4 value=05000000"


def test_arguments_of_specialisation_constants(app: Application) -> None:
    program = app.il(app.context(), matrix_module())
    assert app.call("clSetProgramSpecializationConstant", program, 5, 4, None) == CL.INVALID_VALUE
    assert app.call("clSetProgramSpecializationConstant", program, 5, 16, bytes(16)) == CL.INVALID_VALUE
    of_source = app.source(app.context(), SOURCE)
    assert app.call("clSetProgramSpecializationConstant", of_source, 5, 4, bytes(4)) == CL.INVALID_PROGRAM


@pytest.mark.parametrize(
    ("number", "size", "error"), [(6, 4, CL.INVALID_SPEC_ID), (5, 8, CL.INVALID_VALUE), (5, 0, CL.INVALID_VALUE)]
)
def test_specialisation_constants_that_there_are_not(app: Application, number: int, size: int, error: CL) -> None:
    """OpenCL: CL_INVALID_SPEC_ID for a number that the module does not have, CL_INVALID_VALUE for another size."""
    program = app.il(app.context(), matrix_module())
    assert app.call("clSetProgramSpecializationConstant", program, number, size, bytes(8)) == error


# ---- compilation and linking


HEADER = SOURCE.split(b"kernel void product")[0]
WITH_HEADER = b'#include "sub/matrix.h"\n' + SOURCE[len(HEADER) :]


def test_compile_and_link(app: Application) -> None:
    """Headers are programs; what was compiled is linked with what has no matrices; kernels know what they are."""
    context, device = app.context(), app.devices()[0]
    header, program = app.source(context, HEADER), app.source(context, WITH_HEADER)
    plain = app.source(context, PLAIN)
    assert app.compile(program, b"-DFIRST=9", {b"sub/matrix.h": header}) == 0
    assert text(app, program, CL.PROGRAM_BUILD_OPTIONS) == "-DFIRST=9"
    assert app.number("clGetProgramBuildInfo", program, device, CL.PROGRAM_BINARY_TYPE) == 1
    assert app.kernel(program, b"product") == (0, CL.INVALID_PROGRAM_EXECUTABLE)
    assert app.compile(plain) == 0
    linked, error = app.link(context, [program, plain])
    assert error == 0
    for one in (header, program, plain):
        assert app.release("p", one) == 0
    for name, size in ((b"product", SIZE), (b"plain", 4), (b"first", 4)):
        kernel, error = app.kernel(linked, name)
        assert error == 0 and sub_group_size(app, kernel) == size
        assert app.number("clGetKernelInfo", kernel, CL.KERNEL_PROGRAM) == linked
    assert app.number("clGetProgramBuildInfo", linked, device, CL.PROGRAM_BINARY_TYPE) == 4
    assert text(app, linked, CL.PROGRAM_BUILD_LOG) == "stub: built\n"
    assert app.number("clGetProgramInfo", linked, CL.PROGRAM_NUM_KERNELS) == 4
    (line,) = app.calls("clLinkProgram")
    assert "inputs=p1,p2" in line


def test_link_of_libraries(app: Application) -> None:
    context = app.context()
    program = app.source(context, SOURCE)
    assert app.compile(program) == 0
    library, error = app.link(context, [program], b"-create-library")
    assert error == 0
    linked, error = app.link(context, [library], b"")
    kernel, _ = app.kernel(linked, b"product")
    assert error == 0 and sub_group_size(app, kernel) == SIZE


FUNCTION = SOURCE.replace(b"kernel void product", b"void multiply").replace(b"kernel void plain", b"kernel void other")
CALL = b"kernel void product(global const int *a, global const int *b, global int *c) { multiply(a, b, c); }\n"
CALLER = b"void multiply(global const int *, global const int *, global int *);\n" + CALL
ENABLE = b"#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable\n"
REQUIRED = b"__attribute__((intel_reqd_sub_group_size(8))) kernel"


@pytest.mark.parametrize(("route", "size"), [("", SIZE), ("one", 1), ("scratch", SIZE)])
def test_kernels_that_call_functions_with_matrices(stub: Stub, route: str, size: int) -> None:
    """They have the function's subgroups, also from a library and from binaries; other kernels have the driver's."""
    app = stub(COOPMAT_ROUTE=route)
    context, device = app.context(), app.devices()[0]
    function, caller = app.source(context, FUNCTION), app.source(context, ENABLE + CALLER)
    assert app.compile(function) == app.compile(caller) == 0
    library, error = app.link(context, [function], b"-create-library")
    loaded, second, _ = app.binary(context, [device], app.binaries(library))
    assert error == second == 0
    for other in (function, library, loaded):
        linked, error = app.link(context, [caller, other])
        assert error == 0
        kernel, error = app.kernel(linked, b"product")
        assert error == 0 and sub_group_size(app, kernel) == size


def test_kernels_of_the_driver_that_call_functions_with_matrices(stub: Stub) -> None:
    app = stub(COOPMAT_ROUTE="one")
    context = app.context()
    function, caller, plain = app.source(context, FUNCTION), app.source(context, CALLER), app.source(context, PLAIN)
    assert app.compile(function) == app.compile(caller) == app.compile(plain) == 0
    linked, error = app.link(context, [caller, function])
    assert error == 0 and sub_group_size(app, app.kernel(linked, b"product")[0]) == 1
    linked, error = app.link(context, [plain, function])
    assert error == 0 and sub_group_size(app, app.kernel(linked, b"first")[0]) == 4


@pytest.mark.parametrize(
    ("caller", "log"),
    [
        (CALLER, "the function 'multiply' has matrices"),
        (ENABLE + CALLER.replace(b"kernel", REQUIRED), "different sizes"),
    ],
)
def test_links_for_other_subgroups(app: Application, caller: bytes, log: str) -> None:
    context = app.context()
    function, program = app.source(context, FUNCTION), app.source(context, caller)
    assert app.compile(function) == app.compile(program) == 0
    failed, error = app.link(context, [program, function])
    assert error == CL.LINK_PROGRAM_FAILURE and status(app, failed) == BUILD_ERROR
    assert log in text(app, failed, CL.PROGRAM_BUILD_LOG)
    assert app.calls("clLinkProgram") == []


def test_errors_of_compile_and_link(app: Application) -> None:
    context, device = app.context(), app.devices()[0]
    header, program = app.source(context, HEADER), app.source(context, WITH_HEADER)
    assert app.compile(program) == CL.COMPILE_PROGRAM_FAILURE
    assert "sub/matrix.h" in text(app, program, CL.PROGRAM_BUILD_LOG) and status(app, program) == BUILD_ERROR
    assert app.link(context, [program]) == (0, CL.INVALID_OPERATION)
    for arguments in ((1, None, [b"n.h"]), (1, [header], None), (0, [header], None), (0, None, [b"n.h"])):
        assert app.call("clCompileProgram", program, 0, None, b"", *arguments, None, None) == CL.INVALID_VALUE
    assert app.call("clCompileProgram", program, 0, [device], b"", 0, None, None, None, None) == CL.INVALID_VALUE
    assert app.compile(program, data=1) == CL.INVALID_VALUE
    assert app.compile(program, headers={b"sub/matrix.h": header}) == 0
    assert app.create("p", "clLinkProgram", context, 0, None, b"", 0, None, None, None) == (0, CL.INVALID_VALUE)
    assert app.link(context, []) == (0, CL.INVALID_VALUE)
    assert app.link(context, [0]) == (0, CL.INVALID_PROGRAM)
    failed, error = app.link(context, [program], b"-stub-fails")
    assert error == CL.LINK_PROGRAM_FAILURE
    assert app.kernel(failed, b"product") == (0, CL.INVALID_PROGRAM_EXECUTABLE)


def test_headers_that_are_none(app: Application) -> None:
    """OpenCL: CL_INVALID_PROGRAM for a header that is no program."""
    program = app.source(app.context(), WITH_HEADER)
    assert app.compile(program, headers={b"sub/matrix.h": 0}) == CL.INVALID_PROGRAM


def test_matrices_in_a_header_only(app: Application) -> None:
    """A program whose own source has no word of matrices in it, but whose header has."""
    context = app.context()
    header, program = app.source(context, SOURCE), app.source(context, b'#include "all.h"\n')
    assert app.compile(program, headers={b"all.h": header}) == 0
    linked, _ = app.link(context, [program])
    kernel, error = app.kernel(linked, b"product")
    assert error == 0 and sub_group_size(app, kernel) == SIZE
    # A driver that has no matrices would have refused the header.
    assert not app.calls("clCompileProgram p2")


# ---- kernels


def test_kernels(app: Application) -> None:
    """A kernel's program is the application's; its other answers are the driver's."""
    context, program = built(app)
    kernel, error = app.kernel(program, b"product")
    assert error == 0
    assert app.info("clGetKernelInfo", kernel, CL.KERNEL_PROGRAM) == (0, struct.pack("=Q", program))
    assert app.info("clGetKernelInfo", kernel, CL.KERNEL_PROGRAM, room=7)[0] == CL.INVALID_VALUE
    assert app.info("clGetKernelInfo", kernel, CL.KERNEL_FUNCTION_NAME) == (0, b"product\0")
    assert app.number("clGetKernelInfo", kernel, CL.KERNEL_CONTEXT) == context
    assert app.number("clGetKernelInfo", kernel, CL.KERNEL_REFERENCE_COUNT) == 1
    assert app.info("clGetKernelInfo", kernel, 0x7777)[0] == CL.INVALID_VALUE
    assert app.kernel(program, b"nothing") == (0, CL.INVALID_KERNEL_NAME)
    assert app.create("k", "clCreateKernel", program, None) == (0, CL.INVALID_VALUE)
    assert app.call("clCreateKernel", program, b"nothing", None, gives="handle") is None


def test_all_kernels_of_a_program(app: Application) -> None:
    _, program = built(app)
    assert app.kernel_count(program) == (0, 2)
    assert app.kernels(program, room=1) == (CL.INVALID_VALUE, [])
    error, found = app.kernels(program, room=5)
    assert error == 0 and [sub_group_size(app, kernel) for kernel in found] == [SIZE, 4]
    assert {app.number("clGetKernelInfo", kernel, CL.KERNEL_PROGRAM) for kernel in found} == {program}
    error = app.call("clCreateKernelsInProgram", program, 0, None, None, gives="error")
    assert error == 0 and app.live()[1] == 2


def test_copies_of_kernels(app: Application) -> None:
    """A copy is a kernel with matrices, too, also once the first one and the program were released."""
    context, program = built(app)
    kernel, _ = app.kernel(program, b"product")
    copy, error = app.create("k", "clCloneKernel", kernel)
    assert error == 0
    assert app.release("k", kernel) == 0 and app.release("p", program) == 0
    assert app.live() == [2, 1]
    assert app.number("clGetKernelInfo", copy, CL.KERNEL_PROGRAM) == program
    assert app.info("clGetProgramInfo", program, CL.PROGRAM_SOURCE) == (0, SOURCE + b"\0")
    assert sub_group_size(app, copy) == SIZE
    assert app.enqueue(app.queue(context), copy, [64]) == 0
    assert app.calls("clEnqueue")[0].endswith(f"local={SIZE}")
    assert app.release("k", copy) == 0 and app.live() == [0, 0]


def test_references(app: Application) -> None:
    """Programs and kernels live as long as the application holds them, and are gone after that."""
    _, program = built(app)
    assert app.retain("p", program) == 0 and app.number("clGetProgramInfo", program, 0x1160) == 2
    assert app.release("p", program) == 0 and app.build(program) == 0
    kernel, _ = app.kernel(program, b"product")
    assert app.retain("k", kernel) == 0 and app.number("clGetKernelInfo", kernel, CL.KERNEL_REFERENCE_COUNT) == 2
    assert app.release("k", kernel) == 0 and sub_group_size(app, kernel) == SIZE
    assert app.release("p", program) == 0 and sub_group_size(app, kernel) == SIZE
    assert app.release("k", kernel) == 0
    assert app.live() == [0, 0]


def test_sub_group_queries(app: Application) -> None:
    """They tell of the route's subgroups, and agree with each other."""
    _, program = built(app)
    kernel, _ = app.kernel(program, b"product")
    device = app.devices()[0]

    def ask(what: CL, given: list[int], room: int | None = None, size: int | None = None) -> tuple[int, list[int]]:
        size = 8 * len(given) if size is None else size
        error, data = app.info("clGetKernelSubGroupInfo", kernel, device, what, size, given or None, room=room)
        return error, list(struct.unpack(f"={len(data) // 8}Q", data))

    most, count = CL.KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, CL.KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE
    local, number = CL.KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, CL.KERNEL_MAX_NUM_SUB_GROUPS
    for sizes, groups in (([64], 4), ([16, 2], 2), ([3, 3, 3], 2), ([1], 1)):
        assert ask(most, sizes) == (0, [SIZE])
        assert ask(count, sizes) == (0, [groups])
    assert ask(number, []) == (0, [1024 // SIZE])
    assert ask(CL.KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL, []) == (0, [SIZE])
    assert ask(CL.KERNEL_COMPILE_NUM_SUB_GROUPS, []) == (0, [0])
    assert ask(local, [4]) == (0, [64, 1, 1])
    assert ask(local, [4], room=8) == (0, [64])
    assert ask(local, [1024 // SIZE]) == (0, [1024, 1, 1])
    assert ask(local, [1024 // SIZE + 1]) == ask(local, [1 << 62]) == (0, [0, 0, 0])
    for what in (most, count):
        assert ask(what, [])[0] == ask(what, [1, 1, 1, 1])[0] == ask(what, [8], size=7)[0] == CL.INVALID_VALUE
        assert ask(what, [8], room=7)[0] == CL.INVALID_VALUE
    assert ask(local, [])[0] == ask(local, [1, 1])[0] == CL.INVALID_VALUE
    assert ask(number, [], room=7)[0] == CL.INVALID_VALUE
    assert app.info("clGetKernelSubGroupInfo", kernel, device, 0x7777, 0, None)[0] == CL.INVALID_VALUE
    assert app.info("clGetKernelSubGroupInfo", kernel, None, most, 8, [64]) == (0, struct.pack("=Q", SIZE))
    plain, _ = app.kernel(program, b"plain")
    assert sub_group_size(app, plain) == 4


@pytest.mark.parametrize("code", ["plain", "matrices"])
def test_no_device_to_ask_of_two(stub: Stub, code: str) -> None:
    """OpenCL: a device that is NULL is CL_INVALID_DEVICE where the kernel has several."""
    app = stub(STUB_DEVICES="2")
    program = app.source(app.context(app.devices()), PLAIN if code == "plain" else SOURCE)
    assert app.build(program) == 0
    kernel, _ = app.kernel(program, b"first" if code == "plain" else b"product")
    what = CL.KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE
    assert app.info("clGetKernelWorkGroupInfo", kernel, None, what)[0] == CL.INVALID_DEVICE
    what = CL.KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE
    assert app.info("clGetKernelSubGroupInfo", kernel, None, what, 8, [64])[0] == CL.INVALID_DEVICE


def test_a_local_size_needs_room(app: Application) -> None:
    """Less than one size is too little room for CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT."""
    _, program = built(app)
    device = app.devices()[0]
    for name in (b"plain", b"product"):
        kernel, _ = app.kernel(program, name)
        arguments = (kernel, device, CL.KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, 8, [4])
        assert app.info("clGetKernelSubGroupInfo", *arguments, room=7)[0] == CL.INVALID_VALUE


def test_work_group_queries(app: Application) -> None:
    _, program = built(app)
    device = app.devices()[0]
    for name, multiple in ((b"product", SIZE), (b"plain", 4)):
        kernel, _ = app.kernel(program, name)
        what = CL.KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE
        assert app.number("clGetKernelWorkGroupInfo", kernel, device, what) == multiple
        assert app.number("clGetKernelWorkGroupInfo", kernel, None, what) == multiple
        assert app.info("clGetKernelWorkGroupInfo", kernel, device, what, room=7)[0] == CL.INVALID_VALUE
        assert app.number("clGetKernelWorkGroupInfo", kernel, device, CL.KERNEL_WORK_GROUP_SIZE) == 1024
        assert app.number("clGetKernelWorkGroupInfo", kernel, device, CL.KERNEL_LOCAL_MEM_SIZE) == 0
        assert app.info("clGetKernelWorkGroupInfo", kernel, device, 0x7777)[0] == CL.INVALID_VALUE


@pytest.mark.parametrize(("route", "size"), [("one", 1), ("scratch", 16)])
def test_routes(stub: Stub, route: str, size: int) -> None:
    """Subgroups of one work-item leave work-groups to the driver; local memory sets a limit, which all agree on."""
    app = stub(COOPMAT_ROUTE=route)
    context, program = built(app)
    kernel, _ = app.kernel(program, b"product")
    device, queue = app.devices()[0], app.queue(context)
    assert sub_group_size(app, kernel) == size
    most = app.number("clGetKernelWorkGroupInfo", kernel, device, CL.KERNEL_WORK_GROUP_SIZE)
    groups = app.number("clGetKernelSubGroupInfo", kernel, device, CL.KERNEL_MAX_NUM_SUB_GROUPS, 0, None)
    assert groups == most // size
    assert app.enqueue(queue, kernel, [4 * most]) == app.enqueue(queue, kernel, [4 * most], [most]) == 0
    assert [line.split("local=")[1] for line in app.calls("clEnqueue")] == [
        "NULL" if size == 1 else str(size),
        str(most),
    ]
    if most < 1024:
        assert app.enqueue(queue, kernel, [4 * most], [2 * most]) == CL.INVALID_WORK_GROUP_SIZE


# ---- enqueued kernels


def local_sizes(app: Application) -> list[str]:
    return [line.split("local=")[1] for line in app.calls("clEnqueue")]


def test_enqueue(app: Application) -> None:
    """Without a local size a work-group is one subgroup, where the global size lets it."""
    context, program = built(app)
    queue = app.queue(context)
    kernel, plain = (app.kernel(program, name)[0] for name in (b"product", b"plain"))
    errors = [app.enqueue(queue, kernel, size) for size in ([64], [32, 3], [16, 1, 2], [60])]
    assert errors == [0] * 4 and local_sizes(app) == ["16", "16,1", "16,1,1", "NULL"]
    app.begin()
    assert [app.enqueue(queue, kernel, [64, 4], local) for local in ([16, 1], [8, 2], [32, 4])] == [0] * 3
    assert [app.enqueue(queue, plain, [64], local) for local in (None, [3])] == [0] * 2
    assert local_sizes(app) == ["16,1", "8,2", "32,4", "NULL", "3"]


def test_errors_of_enqueue(app: Application) -> None:
    context, program = built(app)
    queue = app.queue(context)
    kernel, _ = app.kernel(program, b"product")
    for local in ([8, 1], [3, 4], [17, 1]):
        assert app.enqueue(queue, kernel, [64, 4], local) == CL.INVALID_WORK_GROUP_SIZE
    assert app.enqueue(queue, kernel, [64], [0]) == CL.INVALID_WORK_GROUP_SIZE
    for local in (None, [16]):
        assert app.enqueue(queue, kernel, [64], local, dimensions=0) == CL.INVALID_WORK_DIMENSION
        assert app.enqueue(queue, kernel, [64], local, dimensions=4) == CL.INVALID_WORK_DIMENSION
    assert app.enqueue(0, kernel, [64]) == CL.INVALID_COMMAND_QUEUE
    assert app.enqueue(queue, 0, [64]) == CL.INVALID_KERNEL
    assert app.enqueue(app.queue(app.context()), kernel, [64]) == CL.INVALID_CONTEXT


def test_a_work_group_of_a_fixed_size(app: Application) -> None:
    """reqd_work_group_size is the application's word on the size: none is chosen for it."""
    fixed = SOURCE.replace(
        b"kernel void product", b"__attribute__((reqd_work_group_size(32, 1, 1))) kernel void product"
    )
    context, program = built(app, fixed)
    kernel, _ = app.kernel(program, b"product")
    assert app.enqueue(app.queue(context), kernel, [64]) == 0
    assert local_sizes(app) == ["NULL"]


STAGED = (
    SOURCE
    + b"""
kernel void staged(global int *p) {
    MATRIX(int, ACCUMULATOR) m = coop_mat_load(p, 0, 8);
    m = coop_mat_transpose(m);
    coop_mat_store(p, m, 0, 8);
}
kernel void sums(global int *c) { c[get_global_id(0)] = sub_group_reduce_add(c[get_global_id(0)]); }
"""
)


@pytest.mark.parametrize("route", ["one", "scratch", "lanes"])
def test_no_launch_exceeds_local_memory(stub: Stub, route: str) -> None:
    """Whatever sizes are asked for, or none: what reaches the driver has as many work-items as there is room for."""
    rng = random.Random(33)
    app = stub(COOPMAT_ROUTE=route)
    code = coopmat.compile(STAGED.decode(), ["--matrices", "native"]).spirv
    infos = coopmat.compile(code, ["-w", "--matrices", route], language="spv").kernels
    context, program = built(app, code)
    queue, device = app.queue(context), app.devices()[0]
    for name, info in infos.items():
        kernel, most = app.kernel(program, name.encode())[0], info.max_work_items or 1024
        assert app.number("clGetKernelWorkGroupInfo", kernel, device, CL.KERNEL_WORK_GROUP_SIZE) == most
        app.begin()
        for _ in range(60):
            local = [rng.choice((1, 1, 2, 4, 8, 16, 48, 64, 256, 2**33, 2**63)) for _ in range(rng.randrange(1, 4))]
            size = [n * rng.randrange(1, 3) for n in local]
            error = app.enqueue(queue, kernel, size, rng.choice((local, None)))
            assert error in (0, CL.INVALID_WORK_GROUP_SIZE)
        if info.max_work_items:
            launched = [math.prod(map(int, sizes.split(","))) for sizes in local_sizes(app)]  # none is left open
            assert launched and max(launched) <= most


# ---- binaries


def test_plain_binaries(stub: Stub) -> None:
    """They are the driver's, there and back; what is none, is refused."""

    def scenario(app: Application) -> Any:
        context, program = built(app, PLAIN)
        (binary,) = app.binaries(program)
        device = app.devices()[0]
        second, error, found = app.binary(context, [device], [binary])
        seen = [binary, error, found, app.build(second), app.kernel(second, b"first")[1]]
        seen += [app.binary(context, [device], [wrong]) for wrong in (b"nonsense", b"")]
        seen.append(app.create("p", "clCreateProgramWithBinary", context, 0, None, None, None, None))
        return [*seen, app.binary(0, [device], [binary])[1]]

    pair(stub, scenario)


# ---- loaders


@pytest.mark.parametrize("loader", ["khronos", "pyopencl", "ocl-icd"])
def test_loaders(stub: Stub, loader: str) -> None:
    """All loaders take the layer: matrices are compiled, other programs are left alone, errors are the same."""
    if loader not in loaders():
        pytest.skip(f"this machine does not have the loader of {loader}: name it in COOPMAT_TEST_LOADERS")
    app = stub(loader)
    device = app.devices()[0]
    assert app.info("clGetDeviceInfo", device, CL.DEVICE_EXTENSIONS)[1].split(b"\0")[0].split()[-1] == EXTENSION
    assert app.matrix_info(device, CL.DEVICE_DEFAULT_SUB_GROUP_VARIANTS)[0] == 0
    for code in (SOURCE, matrix_module()):
        context, program = built(app, code)
        kernel, _ = app.kernel(program, b"product")
        assert sub_group_size(app, kernel) == SIZE
        assert app.number("clGetKernelInfo", kernel, CL.KERNEL_PROGRAM) == program
        assert app.enqueue(app.queue(context), kernel, [64]) == 0
    assert local_sizes(app) == ["16", "16"]
    assert app.build(program, b"-DFIRST=1", notify=True) in (0, CL.INVALID_OPERATION)
    assert app.call("clGetProgramInfo", 0, CL.PROGRAM_SOURCE, 0, None, None) == CL.INVALID_PROGRAM
    assert app.call("clGetKernelInfo", 0, CL.KERNEL_PROGRAM, 0, None, None) == CL.INVALID_KERNEL
    app.end()
    pair(stub, lambda own: life(own, PLAIN, "first"), loader)


# ---- threads


def _threads(stub: Stub, seconds: float, reuse: str, cache: Path) -> None:
    app = stub(STUB_REUSE=reuse, COOPMAT_CACHE_DIR=str(cache))
    result = app.threads(16, seconds, SOURCE)
    assert result["wrong"] == []
    assert result["threads"] == 16 and result["turns"] > 16
    assert app.helpers() == 1


def test_threads(stub: Stub, tmp_path: Path) -> None:
    """Sixteen threads with programs of their own, whose addresses come again: no wrong answer, and nothing is left."""
    _threads(stub, 3, "1", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("reuse", ["0", "1"])
def test_threads_for_a_minute(stub: Stub, tmp_path: Path, reuse: str) -> None:
    _threads(stub, 60, reuse, tmp_path)


def test_threads_that_build_one_program(stub: Stub) -> None:
    """A build is right, or refused while another one runs; the driver is not called with a program that is no more."""
    app = stub(STUB_BUILD_MS="20")
    errors = app.same_program(16, 20, SOURCE)
    assert len(errors) == 320 and set(errors) <= {0, CL.INVALID_OPERATION} and 0 in errors


def test_many_programs_at_once(app: Application) -> None:
    """Programs and kernels are told apart, however many there are."""
    context = app.context()
    programs = [app.source(context, SOURCE) for _ in range(20)]
    assert [app.build(program) for program in programs] == [0] * 20
    kernels = [app.kernel(program, b"product")[0] for program in programs]
    for program, kernel in itertools.islice(zip(programs, kernels, strict=True), 0, None, 3):
        assert app.number("clGetKernelInfo", kernel, CL.KERNEL_PROGRAM) == program
    assert app.live() == [40, 20]
