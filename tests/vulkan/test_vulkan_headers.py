"""The structures and constants of interface.txt against Vulkan's C headers, by a C program that is made from them."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path
from shutil import which

import pytest

from coopmat.vulkan import devices, driver, interface, loader

# Structures of interface.txt whose members are those of a structure inside: name -> the member in C.
_INSIDE = {"VkPhysicalDeviceProperties2": "properties", "VkPhysicalDeviceFeatures": "features"}
_IN_C = {"VkPhysicalDeviceFeatures": "VkPhysicalDeviceFeatures2"}
# Members with shorter names here: name -> the name in C.
_MEMBERS = {
    **{letter: f"{letter.upper()}Size" for letter in "mnk"},
    **{letter: f"{letter.upper()}Type" for letter in "abc"},
    "result": "ResultType",
    "saturating": "saturatingAccumulation",
    "invocations": "workgroupInvocations",
}
_FLEXIBLE = {"m": "MGranularity", "n": "NGranularity", "k": "KGranularity"}
_SIZES, _TILINGS = ("width", "height", "depth"), ("linear", "optimal")
_RANGE = {
    name: f"subresourceRange.{name}"
    for name in ("aspectMask", "baseMipLevel", "levelCount", "baseArrayLayer", "layerCount")
}
_LAYERS = ("aspectMask", "mipLevel", "baseArrayLayer", "layerCount")
# Structure -> member here -> its path in C, of members of structures inside and of shorter names.
_PATHS = {
    "VkQueueFamilyProperties": {name: f"minImageTransferGranularity.{name}" for name in _SIZES},
    "VkImageCreateInfo": {name: f"extent.{name}" for name in _SIZES},
    "VkImageViewCreateInfo": _RANGE,
    "VkImageMemoryBarrier": _RANGE,
    "VkBufferImageCopy": {
        **{name: f"imageSubresource.{name}" for name in _LAYERS},
        "offset": "imageOffset",
        **{name: f"imageExtent.{name}" for name in _SIZES},
    },
    "VkFormatProperties3": {
        **{name: f"{name}TilingFeatures" for name in _TILINGS},
        "buffer": "bufferFeatures",
    },
    "VkFormatProperties2": {
        **{name: f"formatProperties.{name}TilingFeatures" for name in _TILINGS},
        "buffer": "formatProperties.bufferFeatures",
    },
}
# Constants of driver.py and devices.py -> their names in C.
_CONSTANTS = {
    "_COMPUTE_QUEUE": "VK_QUEUE_COMPUTE_BIT",
    "_COMPUTE_STAGE": "VK_SHADER_STAGE_COMPUTE_BIT",
    "_STORAGE_BUFFER": "VK_BUFFER_USAGE_STORAGE_BUFFER_BIT",
    "_HAS_ADDRESS": "VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT",
    "_DEVICE_LOCAL": "VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT",
    "_HOST_VISIBLE": "VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT",
    "_HOST_COHERENT": "VK_MEMORY_PROPERTY_HOST_COHERENT_BIT",
    "_ALLOCATE_WITH_ADDRESS": "VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT",
    "_REQUIRE_FULL_SUBGROUPS": "VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT",
    "_TIMESTAMPS": "VK_QUERY_TYPE_TIMESTAMP",
    "_RESULT_64_BITS": "VK_QUERY_RESULT_64_BIT",
    "_RESULT_WAIT": "VK_QUERY_RESULT_WAIT_BIT",
    "_TOP_OF_PIPE": "VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT",
    "_COMPUTE_SHADER": "VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT",
    "_BOTTOM_OF_PIPE": "VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT",
    "_HOST": "VK_PIPELINE_STAGE_HOST_BIT",
    "_SHADER_WRITE": "VK_ACCESS_SHADER_WRITE_BIT",
    "_HOST_READ": "VK_ACCESS_HOST_READ_BIT",
    "_RESETTABLE_COMMANDS": "VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT",
}


def _member(structure: str, member: str) -> str:
    """Return a member's path in C."""
    flexible = "Flexible" in structure
    if member not in ("sType", "pNext"):
        if "CooperativeMatrix" in structure and not structure.endswith(("FeaturesKHR", "FeaturesNV")):
            member = (_FLEXIBLE if flexible else {}).get(member) or _MEMBERS.get(member, member)
        if member in _PATHS.get(structure, {}):
            return _PATHS[structure][member]
        if structure in _INSIDE:
            return f"{_INSIDE[structure]}.{member}"
    return member


def _expected() -> dict[str, int]:
    """Return C expression -> the value that ctypes has for it."""
    expected: dict[str, int] = {}
    classes = {
        name: kind
        for name, kind in interface._TYPES.items()
        if isinstance(kind, type) and issubclass(kind, ctypes.Structure)
    }
    for name, kind in classes.items():
        in_c = _IN_C.get(name, name)
        expected[f"sizeof({in_c})"] = ctypes.sizeof(kind)
        for member, *_ in kind._fields_:
            path = _member(name, member)
            expected[f"offsetof({in_c}, {path})"] = getattr(kind, member).offset
            expected[f"sizeof((({in_c} *)0)->{path})"] = getattr(kind, member).size
        if hasattr(kind, "STYPE"):
            expected[f"(({in_c}) TYPE_OF({in_c})).sType"] = kind.STYPE
    for name, (kind, offset, count) in interface.LIMITS.items():
        expected[f"offsetof(VkPhysicalDeviceLimits, {name})"] = offset
        expected[f"sizeof(((VkPhysicalDeviceLimits *)0)->{name})"] = ctypes.sizeof(kind) * count
    for number, text in interface.RESULTS.items():
        expected[text.split()[0]] = number
    for name, in_c in _CONSTANTS.items():
        expected[in_c] = getattr(driver, name)
    expected["VK_SHADER_STAGE_COMPUTE_BIT"] = devices._COMPUTE_STAGE
    expected["VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR"] = loader._ENUMERATE_PORTABILITY
    for number, name in devices._SCOPES.items():
        expected[f"VK_SCOPE_{'QUEUE_FAMILY' if name == 'queuefamily' else name.upper()}_KHR"] = number
    return expected


def _structure_type(name: str) -> str:
    """Return the enumerator of a structure's sType: VkSubmitInfo -> VK_STRUCTURE_TYPE_SUBMIT_INFO."""
    suffix = next((vendor for vendor in ("KHR", "EXT", "NV") if name.endswith(vendor)), "")
    words, previous = "", ""
    for letter in name.removeprefix("Vk").removesuffix(suffix):
        starts = letter.isupper() or (letter.isdigit() and not previous.isdigit())
        words += f"_{letter}" if words and starts else letter
        previous = letter
    text = re.sub(r"VULKAN_(\d)(\d)", r"VULKAN_\1_\2", words.upper())
    text = text.replace("BFLOAT_16", "BFLOAT16").replace("FLOAT_8", "FLOAT8")
    return f"VK_STRUCTURE_TYPE_{text}{f'_{suffix}' if suffix else ''}"


@pytest.fixture(scope="module")
def compiler() -> str:
    """Return the C compiler."""
    found = which("cc") or which("gcc") or which("clang")
    if found is None:
        pytest.skip("there is no C compiler")
    return found


@pytest.fixture(scope="module")
def header(compiler: str) -> str:
    """Return the text of Vulkan's header."""
    words = [compiler, "-E", "-dD", "-include", "vulkan/vulkan_core.h", "-x", "c", "/dev/null"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("Vulkan's headers are not installed")
    return done.stdout


def test_structures_and_constants_are_those_of_the_headers(compiler: str, header: str, tmp_path: Path) -> None:
    expected = {
        _structure_type(text.partition(")")[0].strip("(")) if "TYPE_OF(" in text else text: value
        for text, value in _expected().items()
    }
    lines = "".join(f'    printf("%lld\\n", (long long)({text}));\n' for text in expected)
    source, program = tmp_path / "layout.c", tmp_path / "layout"
    includes = "".join(f"#include <{name}.h>\n" for name in ("stddef", "stdio", "vulkan/vulkan_core"))
    source.write_text(f"{includes}int main(void)\n{{\n{lines}    return 0;\n}}\n")
    done = subprocess.run([compiler, str(source), "-o", str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    values = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.split()
    found = dict(zip(expected, map(int, values), strict=True))
    assert len(found) > 700
    assert {text: value for text, value in found.items() if value != expected[text]} == {}


def test_functions_have_the_parameters_of_the_headers(header: str) -> None:
    handles = set(re.findall(r"typedef struct (\w+)_T ?\* ?\1;", header))
    assert {"VkDevice", "VkQueue", "VkBuffer"} <= handles
    letters = {"void": "-", "VkResult": "r", "size_t": "z", **dict.fromkeys(("VkDeviceSize", "VkDeviceAddress"), "q")}

    def letter(text: str) -> str:
        """Return the letter of a type in C; enumerations, flags and truth values are u."""
        name = text.replace("const ", "").replace("struct ", "").split()[0]
        if "*" in text:
            return "p"
        wide = name in handles or name in ("uint64_t",)
        return letters.get(name) or ("q" if wide else "u")

    for name, (result, *_) in interface.FUNCTIONS.items():
        match = re.search(rf"(\w+)\s+{name}\(([^)]*)\);", header)
        assert match is not None, name
        row = next(row for row in interface._rows["functions"] if row[0] == name)
        in_c = [letter(match[1]), "".join(letter(parameter) for parameter in match[2].split(","))]
        assert row[1:] == in_c, name
        assert result == in_c[0]
