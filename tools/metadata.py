"""The computed part of the package's metadata: README.md, with links that work outside of the repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_RELATIVE = re.compile(r"\]\((?![a-z]+:|#)")


class Readme(MetadataHookInterface):
    """A hatchling hook that sets the package's description to README.md."""

    def update(self, metadata: dict[str, Any]) -> None:
        source = metadata["urls"]["Source"]
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = _RELATIVE.sub(f"]({source}/blob/main/", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
