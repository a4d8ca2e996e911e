"""Cooperative matrices independent of devices: variants, a numpy reference, and lowerings to OpenCL C."""
