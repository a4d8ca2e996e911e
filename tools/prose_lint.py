"""Report words in docstrings and comments of coopmat/ that a stranger cannot resolve; `tools/lint` runs this.

A pronoun or an everyday verb stands for a term that the field has. The table has what to write instead.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

# pattern -> what to write instead
INSTEAD = {
    r"what (are|it|they|there|stands|has|was)": "the noun: value, type, instruction, lane",
    r"where (it|that|there|one) ": "the condition first: If ..., ...",
    r"as it is": "unchanged",
    r"goes? on": "continues",
    r"of its own": "separate, private",
    r"so many": "N",
    r"stands? for": "represents, denotes",
    r"(is|are) told": "is passed, is reported",
    r"tells? (of|whether|which|what)": "reports, describes",
    r"by itself": "alone, by default",
    r"the way (of|there)": "the noun: path, route, order",
    r"(whoever|wherever it)": "the noun",
    r"mend(s|ed|ing)?": "fix",
    r"that is there": "the noun",
}
INSTEAD_PATTERNS = [(re.compile(rf"\b({pattern})", re.IGNORECASE), instead) for pattern, instead in INSTEAD.items()]


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of each docstring and comment of a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
            text = ast.get_docstring(node)
            if text is not None:
                yield node.body[0].lineno, text
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and "noqa" not in token.string:
            yield token.start[0], token.string


def faults(source: str) -> list[tuple[int, str]]:
    """Return (line, message) for each unclear phrase of a module."""
    return [
        (line, f"'{match[0].strip()}': write {instead}")
        for line, text in texts(source)
        for pattern, instead in INSTEAD_PATTERNS
        for match in pattern.finditer(text)
    ]


def main() -> int:
    """Print the faults of all modules; return 1 if there are any."""
    root = Path(__file__).resolve().parents[1]
    found = [
        f"{path.relative_to(root)}:{line}: {message}"
        for path in sorted((root / "coopmat").rglob("*.py"))
        for line, message in faults(path.read_text(encoding="utf-8"))
    ]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
