"""Damaged and overgrown inputs through the whole compiler: see tools/fuzz-inputs."""
