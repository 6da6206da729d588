"""The webhooks of a part, turned from a Service in a cluster to a port on loopback."""

import re
from pathlib import Path
from typing import Any

import yaml

from .site import Site

KINDS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


def configurations(part: str, manifest: Path, site: Site, *, only: str) -> list[dict[str, Any]]:
    """The shipped configurations under the part's own name, calling the part where it listens."""
    made = []
    for document in yaml.load_all(manifest.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader):
        if document and document["kind"] in KINDS:
            wanted = [hook for hook in document["webhooks"] if re.search(only, _path(hook))]
            hooks = [_at_loopback(hook, part, site) for hook in wanted]
            made.append({**document, "metadata": {"name": part}, "webhooks": hooks})
    return made


def _path(hook: dict[str, Any]) -> str:
    return str(hook["clientConfig"]["service"]["path"])


def _at_loopback(hook: dict[str, Any], part: str, site: Site) -> dict[str, Any]:
    url = f"https://{site.address(f'{part}-webhook')}{_path(hook)}"
    return {**hook, "clientConfig": {"url": url, "caBundle": site.ca_bundle}}
