"""`python -m coopmat.error_codes` prints the documentation of the table."""

from .documentation import document

print(document(), end="")
