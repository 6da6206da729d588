"""What a manifest says: which layers make up the files, and how each is to be read.

Three ways of packing are known, told apart by what each layer says of itself:

    image      layers of tar, the later over the earlier, with whiteouts; model cars keep the model in /models
    files      a layer is a file and its title annotation its path (ORAS, ModelPack's raw layers)
    archives   a layer is a tar of files (ModelPack, KitOps, ORAS with its mark for folders)

A layer that is neither, or that lies elsewhere than in the registry, is refused by its media type.
"""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..troubles import FetchError

INDEXES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
MANIFESTS = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
ACCEPT = ", ".join((*INDEXES, *MANIFESTS))
EMPTY = "application/vnd.oci.empty.v1+json"
TITLE = "org.opencontainers.image.title"
FILE_PATH = "org.cncf.model.filepath"
UNPACK = "io.deis.oras.content.unpack"
_IMAGE_LAYER = re.compile(
    r"application/vnd\.(?:oci\.image\.layer\.(?:nondistributable\.)?v1\.tar|docker\.image\.rootfs\.diff\.tar)"
    r"(?:[.+](?:gzip|zstd))?"
)
_ARCHIVE = re.compile(r"[.+-]tar(?:[.+](?:gz|gzip|zst|zstd))?$")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}

How = Literal["image", "file", "archive"]


@dataclass(frozen=True, slots=True)
class Layer:
    """One blob that holds files."""

    digest: str
    size: int
    media_type: str
    how: How
    path: str
    """of a file: where it goes"""


def read_layers(manifest: Mapping[str, Any], text: str) -> list[Layer]:
    """The layers of a manifest in their order; FetchError where one cannot be read."""
    found = _mappings(manifest.get("layers"))
    if not found:
        raise FetchError(f"{text}: its manifest lists no layers, push it as an OCI image or artifact")
    layers = [_layer(each, text) for each in found if each.get("mediaType") != EMPTY]
    hows = {layer.how for layer in layers}
    if "image" in hows and len(hows) > 1:
        # a tar among titled files is one more archive, not the root of an image
        layers = [_as_archive(layer) for layer in layers]
    return layers


def pick_manifest(index: Mapping[str, Any], text: str) -> str:
    """The digest of the manifest of an index that is for this machine."""
    manifests = [each for each in _mappings(index.get("manifests")) if each.get("mediaType") in MANIFESTS]
    real = [each for each in manifests if _platform(each)[0] != "unknown"]
    machine = ("linux", _ARCHITECTURES.get(platform.machine(), platform.machine()))
    fitting = [each for each in real if _platform(each) == machine]
    chosen = fitting or (real if len(real) == 1 else [])
    if not chosen:
        there = ", ".join("/".join(_platform(each)) for each in real) or "nothing"
        raise FetchError(
            f"{text}: has no manifest for {'/'.join(machine)} (it holds {there}), name one by its digest"
        )
    return checked_digest(chosen[0].get("digest"), text)


def checked_digest(digest: object, text: str) -> str:
    """A digest that we can verify."""
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise FetchError(f"{text}: a digest in its manifest is {digest!r}, push it with sha256")
    return digest


def read_document(body: bytes, text: str) -> Mapping[str, Any]:
    """A manifest or index as a mapping."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise FetchError(f"{text}: the registry's answer is no manifest, check the registry's address")
    return value


def _layer(described: Mapping[str, Any], text: str) -> Layer:
    digest = checked_digest(described.get("digest"), text)
    kind, size = str(described.get("mediaType", "")), described.get("size")
    notes = _mapping(described.get("annotations"))
    if type(size) is not int or size < 0:
        raise FetchError(f"{text}: layer {digest} has the size {size!r}, push it again")
    title = str(notes.get(TITLE) or notes.get(FILE_PATH) or "")
    packed = str(notes.get(UNPACK, "")).lower() == "true"
    raw = kind.endswith(".raw") or not _ARCHIVE.search(kind)
    if _IMAGE_LAYER.fullmatch(kind):
        how: How = "archive" if packed else "file" if notes.get(TITLE) else "image"
    elif raw and title and not packed:
        how = "file"
    elif packed or not raw:
        how = "archive"
    else:
        raise FetchError(
            f"{text}: layer {digest} is {kind or 'of no media type'} without a title, so that its name is "
            "unknown, push it with ORAS, KitOps or ModelPack"
        )
    return Layer(digest, size, kind, how, title if how == "file" else "")


def _as_archive(layer: Layer) -> Layer:
    return (
        layer
        if layer.how != "image"
        else Layer(layer.digest, layer.size, layer.media_type, "archive", layer.path)
    )


def _platform(manifest: Mapping[str, Any]) -> tuple[str, str]:
    found = _mapping(manifest.get("platform"))
    return str(found.get("os", "")), str(found.get("architecture", ""))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
