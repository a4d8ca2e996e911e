"""The parts of the documentation site that are not pages of docs/: generated pages, Sphinx's settings, checks."""
