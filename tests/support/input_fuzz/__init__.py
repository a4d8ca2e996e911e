"""Damaged and overgrown inputs for the whole compiler: see tools/fuzz-inputs."""
