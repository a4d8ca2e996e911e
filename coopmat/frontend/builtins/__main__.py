"""`python -m coopmat.frontend.builtins` prints the documentation of the table."""

from .documentation import document

print(document(), end="")
