"""What an oci:// address means.

    oci://registry.example/org/name:tag             an image or artifact, by a tag that may move
    oci://registry.example/org/name@sha256:…        the same, pinned
    oci://registry.example/org/name:tag/sub/path    a folder of it; a `/` alone is the whole image
    oci://registry.example/org/name                 the tag latest

The registry is always named: which one a bare name means differs from tool to tool. Plain HTTP is spoken
with loopback alone, and with the registries that OCI_PLAIN_HTTP lists.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ....errors import SpecError
from ..hidden import Secrets
from ..uri import Uri
from .addresses import is_loopback

PLAIN_HTTP = "OCI_PLAIN_HTTP"
_COMPONENT = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_REST = re.compile(
    rf"(?P<repo>{_COMPONENT}(?:/{_COMPONENT})*)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?"
    r"(?:@(?P<digest>(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})))?"
    r"(?P<under>/.*)?"
)
_HOST = re.compile(r"[A-Za-z0-9.-]+(?::\d{1,5})?|\[[0-9a-fA-F:]+\](?::\d{1,5})?")
_DOCKER_HUB = ("docker.io", "index.docker.io")


@dataclass(frozen=True, slots=True)
class OciAddress:
    """One image or artifact in a registry."""

    registry: str
    repo: str
    reference: str
    """a tag or a digest"""
    under: str | None
    """the folder of an image that is meant; empty for all of it, None where the address does not say"""
    base: str
    """where the registry's API is, up to and with the repository"""

    @property
    def is_pinned(self) -> bool:
        """Whether the reference is a digest."""
        return ":" in self.reference


def parse_oci_address(uri: Uri, secrets: Secrets) -> OciAddress:
    """Read an oci:// address; SpecError with what it should look like."""
    form = _REST.fullmatch(uri.path)
    host = uri.host
    named = _HOST.fullmatch(host) and ("." in host or ":" in host or host == "localhost")
    if form is None or not named or uri.user:
        raise SpecError(
            f"{uri.text}: names no image, give oci://REGISTRY/NAME:TAG with the registry's host "
            "(docker.io/org/name for Docker Hub) and credentials apart from it"
        )
    if form["under"] and not (form["tag"] or form["digest"]):
        raise SpecError(f"{uri.text}: give a tag or a digest before a path, as in NAME:TAG/path")
    repo = form["repo"]
    if host in _DOCKER_HUB:
        host = "registry-1.docker.io"
        repo = repo if "/" in repo else f"library/{repo}"
    scheme = "http" if _is_plain(host, secrets) else "https"
    under = form["under"].strip("/") if form["under"] else None
    reference = form["digest"] or form["tag"] or "latest"
    return OciAddress(uri.host, repo, reference, under, f"{scheme}://{host}/v2/{repo}")


def _is_plain(host: str, secrets: Secrets) -> bool:
    told = [each.strip() for each in (secrets.get(PLAIN_HTTP) or "").split(",")]
    return is_loopback(host) or host in told
