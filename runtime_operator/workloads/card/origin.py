"""What a folder tells of itself: where it was fetched from, at which revision, under which licence.

Four records are looked for: what fetching leaves (MANIFEST.json), converting (conversion.json) and checking
rows (checked.json), and the head of a card (README.md) as hubs know it. What none of them says is unknown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ..fetch.manifest import Manifest, read_manifest
from ..files import CARD_FILE

CONVERSION_FILE, CHECKED_FILE = "conversion.json", "checked.json"
LOCAL = ("file:", "pvc:")
UNKNOWN = frozenset(("", "unknown", "not stated", "other"))
_HUB = re.compile(r"hf://(?:datasets/|models/)?([^/@]+/[^/@]+)")
_HEAD = re.compile(r"---\s*\n(.*?)\n---\s*(?:\n|$)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a model or a dataset comes from; None is unknown."""

    name: str
    source: str | None = None
    revision: str | None = None
    licence: str | None = None
    converted: str | None = None
    """what it was turned from, if it was"""

    @property
    def hub_name(self) -> str | None:
        """Its name on the hub that it was fetched from."""
        found = _HUB.match(self.source or "")
        return found.group(1) if found else None


def read_origin(path: Path) -> Origin:
    """The origin of a model's folder, of a dataset's folder or of a file of rows."""
    folder = path if path.is_dir() else path.parent
    kept = _json(folder / CHECKED_FILE).get("origin")
    if isinstance(kept, dict):
        known = {each: _text(kept, each) for each in ("source", "revision", "licence", "converted")}
        return Origin(_text(kept, "name") or path.absolute().name, **known)
    conversion, head = _json(folder / CONVERSION_FILE), _head(folder)
    source, revision = _fetched(folder, conversion)
    licences = (_licence(head, "license"), _licence(conversion, "licence"))
    return Origin(
        name=_text(head, "pretty_name") or _name(folder, conversion) or path.absolute().name,
        source=source,
        revision=revision,
        licence=next((each for each in licences if each), None),
        converted=_converted(conversion) if conversion else None,
    )


def _name(folder: Path, conversion: Mapping[str, Any]) -> str | None:
    """What it was called before it came into this folder."""
    if file := _text(conversion, "file"):
        return file.removesuffix(".gguf")
    manifest = read_manifest(folder)
    if manifest is None:
        return None
    hub = Origin("", manifest.source).hub_name
    return hub or manifest.source.rstrip("/").rpartition("/")[2].partition("@")[0] or None


def manifest_of(file: Path) -> Manifest | None:
    """The record of the fetch that brought a file, whichever folder above it was fetched."""
    for folder in file.absolute().parents:
        manifest = read_manifest(folder)
        if manifest and any(folder / fact.path == file.absolute() for fact in manifest.files):
            return manifest
    return None


def _fetched(folder: Path, conversion: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """From where, and at which revision; a folder of somebody's machine says nothing elsewhere."""
    manifest = read_manifest(folder)
    if manifest and not manifest.source.startswith(LOCAL):
        return manifest.source, manifest.revision or None
    return _text(conversion, "source"), _text(conversion, "revision")


def _converted(conversion: Mapping[str, Any]) -> str:
    kinds = conversion.get("roundings")
    rounded = [kind for kind in kinds if not kind.startswith("F")] if isinstance(kinds, dict) else []
    text = f"the GGUF file {conversion.get('file')}, SHA-256 {conversion.get('sha256')}"
    return f"{text}; its weights were rounded to {' and '.join(sorted(rounded))}" if rounded else text


def _licence(record: Mapping[str, Any], field: str) -> str | None:
    given = record.get(field)
    if isinstance(given, list):
        given = ", ".join(map(str, given))
    name = str(given or "").strip()
    if name.lower() in UNKNOWN:
        name = str(record.get("license_name") or "").strip()
    return name or None


def _text(record: Mapping[str, Any], field: str) -> str | None:
    given = record.get(field)
    return given.strip() or None if isinstance(given, str) else None


def _json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _head(folder: Path) -> dict[str, Any]:
    """The head of the folder's card, which anybody may have written."""
    try:
        found = _HEAD.match((folder / CARD_FILE).read_text(encoding="utf-8"))
        head = yaml.safe_load(found.group(1)) if found else None
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    return head if isinstance(head, dict) else {}
