"""Documents on disk: a reader sees the old or the new one, never half of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write_json(path: Path, document: Any) -> None:
    """Write a document in the place of another."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(json.dumps(document))
    fresh.replace(path)


def read_json(path: Path) -> dict[str, Any] | None:
    """Return a document, None when there is none or the disk was full when it was written."""
    try:
        return dict(json.loads(path.read_text()))
    except (FileNotFoundError, json.JSONDecodeError):
        return None
