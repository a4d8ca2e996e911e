"""Cooperative matrices independent of devices: variants, a numpy reference, and routes that lower to OpenCL C."""
