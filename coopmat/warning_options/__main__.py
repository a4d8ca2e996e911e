"""`python -m coopmat.warning_options` prints the documentation of the table."""

from .documentation import document

print(document(), end="")
