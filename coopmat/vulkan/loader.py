"""Vulkan's loader: its library, its functions with checked results, and an instance with the devices that it lists."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from . import interface as vk

HOW_TO_GET = "install libvulkan1 and a driver, for example mesa-vulkan-drivers"
_LIBRARIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "win32": ("vulkan-1.dll",),
        "darwin": ("libvulkan.1.dylib", "libvulkan.dylib", "libMoltenVK.dylib"),
    }
)
# The highest API version that this package uses.
_HIGHEST = (1, 4)
SUCCESS, TIMEOUT, _INCOMPLETE = 0, 2, 5
_INCOMPATIBLE_DRIVER = -9
# The extension with which the loader also lists drivers of a subset of Vulkan, such as MoltenVK, and its flag.
_PORTABILITY, _ENUMERATE_PORTABILITY = b"VK_KHR_portability_enumeration", 1


class VulkanError(RuntimeError):
    """An exception that reports a Vulkan function that failed.

    function: the name of the function.
    result: its VkResult.
    """

    def __init__(self, function: str, result: int) -> None:
        self.function, self.result = function, result
        super().__init__(f"{function} failed: {vk.RESULTS.get(result, f'VkResult {result}')}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.function, self.result)


class NoVulkan(RuntimeError):
    """An exception that reports a machine without a Vulkan loader, or without a Vulkan driver."""


class Functions:
    """The functions of Vulkan for an instance or a device; a call of one that fails raises VulkanError.

    `find` maps an encoded name to an address, 0 if there is no such function.
    """

    def __init__(self, find: Callable[[bytes], int | None]) -> None:
        self._find = find

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in vk.FUNCTIONS:
            raise AttributeError(name)
        address = self._find(name.encode())
        if not address:
            raise VulkanError(name, -7)
        result, *types = vk.FUNCTIONS[name]
        function = ctypes.CFUNCTYPE(*types)(address)
        call = _checked(name, function) if result == "r" else function
        self.__dict__[name] = call
        return call

    def has(self, name: str) -> bool:
        return bool(self._find(name.encode()))


def _checked(name: str, function: Callable[..., int]) -> Callable[..., int]:
    """Return `function` with an exception for each result but success, the end of a wait, and an incomplete list."""

    def call(*arguments: Any) -> int:
        result = function(*arguments)
        if result not in (SUCCESS, TIMEOUT, _INCOMPLETE):
            raise VulkanError(name, result)
        return result

    return call


def library() -> Any:
    """Load Vulkan's loader. Raises NoVulkan."""
    names = _LIBRARIES.get(sys.platform, ("libvulkan.so.1", "libvulkan.so"))
    # On Linux, find_library would run a compiler, and finds nothing that the dynamic linker does not.
    found = None if sys.platform == "linux" else ctypes.util.find_library("vulkan")
    for name in (*names, *((found,) if found else ())):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise NoVulkan(f"no loader found; {HOW_TO_GET}")


class Instance:
    """A Vulkan instance, which lists devices. Raises NoVulkan without a loader or a driver."""

    def __init__(self) -> None:
        self.handle = 0
        loaded = library()
        find = loaded.vkGetInstanceProcAddr
        find.restype, find.argtypes = ctypes.c_void_p, [ctypes.c_uint64, ctypes.c_char_p]
        version = ctypes.c_uint32()
        start = Functions(lambda name: find(0, name))
        if not start.has("vkEnumerateInstanceVersion"):
            raise NoVulkan("the loader has Vulkan 1.0 only; coopmat needs 1.3")
        start.vkEnumerateInstanceVersion(ctypes.addressof(version))
        self.version = min(numbers_of(version.value)[:2], _HIGHEST)
        application = vk.VkApplicationInfo(apiVersion=self.version[0] << 22 | self.version[1] << 12)
        ask = start.vkEnumerateInstanceExtensionProperties
        rows = listed(vk.VkExtensionProperties, lambda count, array: ask(None, count, array))
        has_subsets = _PORTABILITY in {row.extensionName for row in rows}
        names = (ctypes.c_char_p * 1)(_PORTABILITY)
        info = vk.VkInstanceCreateInfo(
            flags=_ENUMERATE_PORTABILITY if has_subsets else 0,
            pApplicationInfo=ctypes.addressof(application),
            enabledExtensionCount=int(has_subsets),
            ppEnabledExtensionNames=ctypes.addressof(names),
        )
        handle = ctypes.c_uint64()
        try:
            start.vkCreateInstance(ctypes.addressof(info), None, ctypes.addressof(handle))
        except VulkanError as error:
            if error.result == _INCOMPATIBLE_DRIVER:
                raise NoVulkan(f"the loader found no driver; {HOW_TO_GET}") from error
            raise
        self.handle, self._process = handle.value, os.getpid()
        self.call = Functions(lambda name: find(self.handle, name))

    def physical_devices(self) -> list[int]:
        """Return the handles of the devices, in the loader's order."""
        enumerate_devices = self.call.vkEnumeratePhysicalDevices
        return listed(ctypes.c_uint64, lambda count, array: enumerate_devices(self.handle, count, array))

    def close(self) -> None:
        """Destroy the instance, unless this process is a fork of the one that created it."""
        if self.handle and self._process == os.getpid():
            self.call.vkDestroyInstance(self.handle, None)
        self.handle = 0

    def __enter__(self) -> Instance:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def listed(kind: Any, ask: Callable[[int, int | None], object]) -> list[Any]:
    """Return the elements of a list that Vulkan writes.

    kind: the ctypes type of an element.
    ask: a function of the addresses of the number of elements and of the array; without an array, it sets the number.
    """
    count = ctypes.c_uint32()
    ask(ctypes.addressof(count), None)
    array = (kind * count.value)()
    if hasattr(kind, "STYPE"):
        for element in array:
            element.sType = kind.STYPE
    ask(ctypes.addressof(count), ctypes.addressof(array))
    return list(array[: count.value])


def numbers_of(version: int) -> tuple[int, int, int]:
    """Return the major, minor and patch number of an encoded version."""
    return version >> 22 & 0x7F, version >> 12 & 0x3FF, version & 0xFFF
