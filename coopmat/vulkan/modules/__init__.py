"""Vulkan modules: small passes that turn a Kernel module of SPIR-V into one that Vulkan accepts."""
