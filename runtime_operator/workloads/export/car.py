"""A model as an image that can be mounted or served: a "model car" with its files in /models.

Each larger file is a layer of its own, small ones share the first; the tars are made as they are sent, from
the files alone, with nothing of this machine or this minute in them. So the same model is always the same
image, and what a registry holds of it already is not sent again. There is nothing in it to run.
"""

from __future__ import annotations

import hashlib
import json
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .bundle import Bundle, File

FOLDER = "models"
SMALL = 1 << 20
PIECE = 1 << 20
BLOCK = 512
ARCHITECTURES = ("amd64", "arm64")
LAYER = "application/vnd.oci.image.layer.v1.tar"
CONFIG = "application/vnd.oci.image.config.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"


@dataclass(frozen=True)
class Layer:
    """A tar of some files; iterated over, it is its bytes, as often as one likes."""

    files: tuple[File, ...]

    def __iter__(self) -> Iterator[bytes]:
        yield _head(FOLDER, 0, folder=True)
        for folder in sorted({parent for file in self.files for parent in _parents(file.path)}):
            yield _head(f"{FOLDER}/{folder}", 0, folder=True)
        for file in self.files:
            yield _head(f"{FOLDER}/{file.path}", file.size, folder=False)
            with file.source.open("rb") as source:
                while piece := source.read(PIECE):
                    yield piece
            yield bytes(-file.size % BLOCK)
        yield bytes(2 * BLOCK)

    @cached_property
    def facts(self) -> tuple[str, int]:
        """Its digest and its size."""
        total, size = hashlib.sha256(), 0
        for piece in self:
            total.update(piece)
            size += len(piece)
        return f"sha256:{total.hexdigest()}", size

    @property
    def described(self) -> dict[str, Any]:
        """Its descriptor."""
        digest, size = self.facts
        return {"mediaType": LAYER, "digest": digest, "size": size}


@dataclass(frozen=True, slots=True)
class Image:
    """All that a registry is given."""

    layers: tuple[Layer, ...]
    configs: tuple[bytes, ...]
    manifests: tuple[bytes, ...]
    index: bytes


def image_of(bundle: Bundle) -> Image:
    """The image of a model, for each kind of machine the same layers."""
    small = tuple(file for file in bundle.files if file.size < SMALL)
    large = [file for file in bundle.files if file.size >= SMALL]
    layers = (*([Layer(small)] if small else []), *(Layer((file,)) for file in large))
    configs = tuple(_config(layers, architecture, bundle.digest) for architecture in ARCHITECTURES)
    manifests = tuple(_manifest(layers, config) for config in configs)
    index = _json(
        {
            "schemaVersion": 2,
            "mediaType": INDEX,
            "manifests": [
                {**described(MANIFEST, body), "platform": {"os": "linux", "architecture": architecture}}
                for architecture, body in zip(ARCHITECTURES, manifests, strict=True)
            ],
        }
    )
    return Image(layers, configs, manifests, index)


def described(kind: str, body: bytes) -> dict[str, Any]:
    """The descriptor of a document."""
    return {"mediaType": kind, "digest": f"sha256:{hashlib.sha256(body).hexdigest()}", "size": len(body)}


def _config(layers: tuple[Layer, ...], architecture: str, digest: str) -> bytes:
    return _json(
        {
            "architecture": architecture,
            "os": "linux",
            "config": {"Labels": {"io.github.kfp-trainer.model.digest": digest}},
            "rootfs": {"type": "layers", "diff_ids": [layer.facts[0] for layer in layers]},
        }
    )


def _manifest(layers: tuple[Layer, ...], config: bytes) -> bytes:
    return _json(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": described(CONFIG, config),
            "layers": [layer.described for layer in layers],
        }
    )


def _parents(path: str) -> Iterator[str]:
    parts = path.split("/")
    for length in range(1, len(parts)):
        yield "/".join(parts[:length])


def _head(name: str, size: int, *, folder: bool) -> bytes:
    head = tarfile.TarInfo(f"{name}/" if folder else name)
    head.size, head.mtime = size, 0
    head.mode = 0o755 if folder else 0o644
    head.type = tarfile.DIRTYPE if folder else tarfile.REGTYPE
    return head.tobuf(format=tarfile.GNU_FORMAT)


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True).encode()
