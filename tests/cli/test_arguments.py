"""The arguments of `coopmat compile` are read as clang reads them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coopmat.cli.arguments import Invocation, names_and_flags, parse_arguments
from coopmat.options import CompileOptions, UsageError

PLAIN = Invocation(inputs=("a.cl",))


@pytest.mark.parametrize(
    ("arguments", "changes"),
    [
        (["a.cl"], {}),
        (["-o", "b.spv", "a.cl"], {"output": "b.spv"}),
        (["a.cl", "-ob.spv"], {"output": "b.spv"}),
        (["a.cl", "-o", "-"], {"output": "-"}),
        (["--emit=ll,spv", "a.cl"], {"emit": "ll,spv"}),
        (["--emit", "ll", "a.cl"], {"emit": "ll"}),
        (["-E", "a.cl"], {"preprocess": True}),
        (["-fsyntax-only", "a.cl"], {"syntax_only": True}),
        (["-xcl", "a.cl"], {"language": "cl"}),
        (["-x", "spv", "a.cl"], {"language": "spv"}),
        (["-MD", "-MF", "d", "-MTt", "-MT", "u", "a.cl"], {
            "dependencies": "also", "dependency_file": "d", "dependency_targets": ("t", "u"),
        }),
        (["-MM", "a.cl"], {"dependencies": "only"}),
        (["--print-after=lower", "--print-after", "emit", "a.cl"], {"print_after": ("lower", "emit")}),
        (["-fno-color-diagnostics", "a.cl"], {"color": False}),
        (["--", "a.cl"], {}),
        # What is not the command's own goes to the compiler as it is.
        (["-cl-std=CL3.0", "-DX=1", "-Wno-unused", "-O2", "a.cl"], {
            "options": ("-cl-std=CL3.0", "-DX=1", "-Wno-unused", "-O2"),
        }),
        (["-D", "X", "-I", "dir", "a.cl", "--matrices", "one"], {
            "options": ("-D", "X", "-I", "dir", "--matrices", "one"),
        }),
        (["--matrix-variants", "8x8x8.f16xf16_f32_f32", "--sub-group-size", "8", "a.cl"], {
            "options": ("--matrix-variants", "8x8x8.f16xf16_f32_f32", "--sub-group-size", "8"),
        }),
        (["-Dfoo", "-oh"], {"inputs": (), "output": "h", "options": ("-Dfoo",)}),
    ],
)  # fmt: skip
def test_arguments(arguments, changes):
    assert parse_arguments(arguments) == replace(PLAIN, **changes)


def test_the_conformance_suites_contract():
    line = ["--source=a.cl", "--output=o.spv", "--cl-device-info=i", "--mode=spir-v", "--", "-cl-std=CL3.0", "-D", "X"]
    expected = replace(PLAIN, output="o.spv", device_info="i", mode="spir-v", options=("-cl-std=CL3.0", "-D", "X"))
    assert parse_arguments(line) == expected
    apart = ["--source", "a.cl", "--output", "o.spv", "--cl-device-info", "i", "--mode", "spir-v", "--"]
    assert parse_arguments([*apart, "-cl-std=CL3.0", "-D", "X"]) == expected


@pytest.mark.parametrize(
    "arguments", [["a.cl", "-o"], ["--emit"], ["-x", "fortran"], ["--diagnostics=xml"], ["--mode=ptx"]]
)
def test_a_missing_or_wrong_value_is_a_usage_error(arguments):
    with pytest.raises(UsageError):
        parse_arguments(arguments)


@pytest.mark.parametrize("flag", ["--matrices", "-D", "-o", "--emit", "-x", "-ferror-limit", "-cl-std=", "-W"])
@pytest.mark.parametrize("asking", ["-h", "--help"])
def test_help_is_no_value(flag, asking):
    assert parse_arguments([flag, asking]).help


@pytest.mark.parametrize(
    ("arguments", "names", "flags"),
    [
        (["--code", "c", "a.cl", "-"], ["a.cl", "-"], ["--code", "c"]),
        (["a.cl", "--code=c", "-cl-std=CL3.0", "-g"], ["a.cl"], ["--code=c", "-cl-std=CL3.0", "-g"]),
        (["-D", "N=1", "-isystem", "dir", "-DM", "a.cl"], ["a.cl"], ["-D", "N=1", "-isystem", "dir", "-DM"]),
        (["--matrix-variants", "", "a.cl"], ["a.cl"], ["--matrix-variants", ""]),
        (["a.cl", "--code"], ["a.cl"], ["--code"]),
        (["a.cl", "--code", "--help"], ["a.cl"], ["--code", "--help"]),
    ],
)
def test_flags_with_values_among_names(arguments, names, flags):
    assert names_and_flags(arguments) == (names, flags)


@pytest.mark.parametrize(
    ("flag", "example"),
    [("-ferror-limit", "-ferror-limit=20"), ("-cl-std=", "-cl-std=CL3.0"), ("-ffp-contract", "-ffp-contract=on")],
)
def test_a_flag_without_its_value_says_what_it_takes(flag, example):
    with pytest.raises(UsageError, match=f"needs a value, as in {example}"):
        CompileOptions.from_arguments([flag])
