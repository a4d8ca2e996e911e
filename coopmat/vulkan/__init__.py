"""Vulkan: kernels compiled and run for its drivers."""
