"""What printf prints, against the device's own OpenCL C compiler and Python's formatting.

Each program runs in a process of its own, whose standard output is what the device prints to.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from differential import PLAIN_AND_OPTIMISED, PROLOGUE

import coopmat
from coopmat.devices import DeviceInfo

RUNNER = """
import sys, numpy as np
from pathlib import Path
from differential import Launch, execute
from opencl_devices import full_device
device = full_device()
path = Path(sys.argv[1])
program = path.read_bytes() if path.suffix == ".spv" else path.read_text()
arguments = [np.array([1.5, -2.25, 1e10, 0.1], np.float32), np.arange(-3, 13, dtype=np.int32)]
execute(device, program, [Launch("k", arguments)])
"""
SOURCE = r"""
int helper(int x) { return printf("in a function: %d\n", x); }
kernel void k(global float *f, global int *i) {
    char c = -5; uchar uc = 250; short s = -300; ushort us = 65000; uint u = 4000000000u; long l = -5000000000L;
    ulong ul = 18000000000000000000UL; half h = (half)0.333h; double d = 3.141592653589793; bool b = true;
    float4 f4 = vload4(0, f); int4 i4 = vload4(0, i); int16 i16 = vload16(0, i); double2 d2 = (double2)(d, -d);
    char4 c4 = convert_char4(i4); uchar3 uc3 = (uchar3)(1, 2, 255);
    short8 s8 = convert_short8(i16.lo); long2 l2 = (long2)(l, 7); ulong2 ul2 = ul; uint2 u2 = u; float3 f3 = f4.xyz;
    printf("plain text, 100%%\n");
    printf("%d %i %u %o %x %X %c\n", i[0], i[1], u, u, u, u, 'A' + i[4]);
    printf("%hhd %hhu %hd %hu %d %d %d\n", c, uc, s, us, c, s, b);
    printf("%ld %lu %lx\n", l, ul, ul);
    printf("%f %e %g %a %F %E %G\n", f[0], f[1], f[2], d, f[3], d, f[3]);
    printf("%f %.3f %10.2f|%-10.2f|%+.1f|%010.3f|% f\n", h, f[3], d, d, d, d, d);
    printf("%5d|%-5d|%05d|%+d|% d|%#x|%#o|%.4d\n", i[5], i[5], i[5], i[5], i[5], u, u, i[5]);
    printf("%s and %s, %.2s, %8s|%-8s|\n", "one", "two" "three", "four", "right", "left");
    printf("%v4hlf|%v4hlg|%v3hle|%v2lf\n", f4, f4, f3, d2);
    printf("%v4hld|%v16hld|%v2hlu|%v2hlx\n", i4, i16, u2, u2);
    printf("%v4hhd|%v3hhu|%v8hd|%v2ld|%v2lu\n", c4, uc3, s8, l2, ul2);
    printf("%5v4hld|%-6.2v4hlf|%+v4hld|%#v2hlx\n", i4, f4, i4, u2);
    printf("%d %s %v4hlf %d\n", 1, "mixed", f4, 2);
    for (int n = 0; n < 3; n++) if (n != 1) printf("turn %d\n", n);
    printf(i[3] ? "yes %d\n" : "no %d\n", i[4]);
    int result = printf("x\n"); printf(" gave %d, %d\n", result, helper(i[6]));
    printf("null %d\n", f == 0); printf("%.3g %.0f\n", INFINITY, -0.0f);
}
"""


def printed(program: Path) -> str:
    path = [str(Path(__file__).parent), *sys.path]
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}\n{RUNNER}", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def own(device: DeviceInfo, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the program prints as the device's own compiler makes it."""
    source = tmp_path_factory.mktemp("own") / "k.cl"
    source.write_text(PROLOGUE + SOURCE)
    return printed(source)


@pytest.mark.parametrize("route", PLAIN_AND_OPTIMISED)
def test_what_is_printed(own: str, tmp_path: Path, route: str) -> None:
    module = coopmat.compile(SOURCE, ["--matrices", route], name="printf.cl")
    assert [d.code for d in module.diagnostics] == []
    (tmp_path / "k.spv").write_bytes(module.spirv)
    found = printed(tmp_path / "k.spv")
    assert found == own
    lines = found.splitlines()
    assert lines[0] == "plain text, 100%"
    u = 4000000000
    assert lines[1] == f"-3 -2 {u} {u:o} {u:x} {u:X} B"
    assert lines[2] == "-5 250 -300 65000 -5 -300 1"
    assert lines[3] == f"-5000000000 18000000000000000000 {18000000000000000000:x}"
    assert "in a function: 3" in lines and "turn 0" in lines and "turn 1" not in lines
