"""Files of an image or artifact in a registry: oci://registry/name[:tag|@digest][/path].

A tag is looked up once and becomes a digest; from there on everything is asked for by digest, so that a tag
that moves meanwhile changes nothing. The manifest is believed only if it hashes to that digest, the layers
only if they hash to what the manifest says. Layers of an image are fetched like any file, and unpacked
together when the last has come, since a later one may delete what an earlier one holds.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..http_client import Document, Http
from ..source import Digest, Entry, Listing, Member, Reader, Request, Unpack
from ..troubles import Changed, Expired, FetchError, NoRanges
from .layers import members, merged
from .oci_address import parse_oci_address
from .oci_auth import RegistryAuth
from .oci_manifest import ACCEPT, INDEXES, MANIFESTS, Layer, pick_manifest, read_document, read_layers

MODELS = "models"
"""where an image that carries a model keeps it"""
_MANIFEST_BYTES = 8 << 20


def open_source(request: Request) -> OciSource:
    """The source of an oci:// address."""
    return OciSource(request)


class OciSource:
    """One image or artifact."""

    def __init__(self, request: Request) -> None:
        self._address = parse_oci_address(request.uri, request.secrets)
        self._text = request.uri.text
        self._kind = request.kind
        self._http = Http(request.secrets, limits=request.limits)
        self._auth = RegistryAuth(self._address, self._http, request.secrets)
        self._lock = threading.Lock()
        self._layers = request.scratch / "layers"
        self._registry_refused = False
        self._serves_ranges = True

    def resolve(self) -> Listing:
        """Pin the tag to a digest and list the layers behind it."""
        digest, document = self._manifest(self._address.reference)
        if document.get("mediaType") in INDEXES or "manifests" in document:
            _, document = self._manifest(pick_manifest(document, self._text))
        layers = read_layers(document, self._text)
        return Listing(digest, tuple(self._entries(layers, digest)))

    def open(self, entry: Entry, start: int, stop: int | None) -> Reader:
        """The bytes of a layer."""
        layer = entry.handle
        assert isinstance(layer, Layer)
        url = f"{self._address.base}/blobs/{layer.digest}"
        try:
            return self._http.open_range(url, start, stop, headers=self._auth.headers(), size=layer.size)
        except Expired as error:
            self._remember(error)
            raise
        except NoRanges:
            self._serves_ranges = False
            raise Changed(f"{self._text}: the registry sends no parts of a layer, only all of it") from None
        except FetchError as error:
            if error.refusal is None or error.refusal.status not in (404, 410):
                raise
            raise FetchError(
                f"{self._text}: the registry lists the layer {layer.digest} and does not hold it, "
                "push the image again"
            ) from None

    def renew(self) -> None:
        """Get another token, and ask again where the blobs lie."""
        self._http.forget()
        with self._lock:
            if self._registry_refused:
                self._auth.renew()

    def close(self) -> None:
        """Close connections."""
        self._http.close()

    def _manifest(self, reference: str) -> tuple[str, Mapping[str, Any]]:
        """A manifest or index, and the digest of its bytes, which is checked where one was asked for."""
        found = self._get(f"{self._address.base}/manifests/{reference}")
        kind = "sha512" if reference.startswith("sha512:") else "sha256"
        digest = f"{kind}:{hashlib.new(kind, found.body).hexdigest()}"
        promised = reference if ":" in reference else found.headers.get("docker-content-digest", digest)
        if promised != digest and promised.startswith(f"{kind}:"):
            raise FetchError(
                f"{self._text}: the registry sends a manifest with {digest} for {promised}, ask who runs it"
            )
        document = read_document(found.body, self._text)
        kind_of = str(document.get("mediaType") or found.headers.get("content-type", ""))
        if kind_of not in (*INDEXES, *MANIFESTS):
            raise FetchError(
                f"{self._text}: its manifest is {kind_of!r}, push it as an OCI image or artifact"
            )
        return digest, document

    def _get(self, url: str) -> Document:
        """A small document, after having shown what the registry asks for."""
        try:
            return self._http.request("GET", url, headers=self._asking(), most=_MANIFEST_BYTES)
        except Expired as error:
            self._remember(error)
        except FetchError as error:
            raise self._explained(error) from None
        self._auth.renew()
        try:
            return self._http.request("GET", url, headers=self._asking(), most=_MANIFEST_BYTES)
        except Expired:
            raise FetchError(self._auth.refusal()) from None
        except FetchError as error:
            raise self._explained(error) from None

    def _asking(self) -> dict[str, str]:
        return {**self._auth.headers(), "Accept": ACCEPT}

    def _remember(self, error: Expired) -> None:
        """Keep who refused us: the registry, or the store that it sent us to."""
        refusal = error.refusal
        self._registry_refused = refusal is not None and refusal.url.startswith(self._address.base)
        if refusal is not None and self._registry_refused:
            self._auth.remember(refusal.headers.get("www-authenticate", ""))

    def _explained(self, error: FetchError) -> FetchError:
        if error.refusal is None or error.refusal.status != 404:
            return error
        address = self._address
        return FetchError(
            f"{self._text}: {address.registry} has no {address.repo} with {address.reference}, "
            "mind the spelling of name and tag"
        )

    def _entries(self, layers: list[Layer], pinned: str) -> Iterator[Entry]:
        image = [layer.digest for layer in layers if layer.how == "image"]
        listed: set[str] = set()
        for number, layer in enumerate(layers):
            key = layer.path or layer.digest
            if key in listed:
                continue  # the same blob again; `image` knows at which places it stands
            listed.add(key)
            kind, _, value = layer.digest.partition(":")
            digest = Digest("sha512" if kind == "sha512" else "sha256", value)
            unpack = self._unpack(layer, image) if layer.how != "file" else None
            # what comes out of a layer depends on those above it, and on which part is meant
            etag = f"{pinned} {self._kind} {self._address.under}" if layer.how == "image" else ""
            path = layer.path or f"layer-{number:03}.tar"
            yield Entry(path, layer.size, digest, etag, self._serves_ranges, unpack, handle=layer)

    def _unpack(self, layer: Layer, image: list[str]) -> Unpack:
        def archive(path: Path) -> Iterator[Member]:
            return members(path, self._text)

        def one_of_image(path: Path) -> Iterator[Member]:
            return self._of_image(layer.digest, path, image)

        return one_of_image if layer.how == "image" else archive

    def _of_image(self, digest: str, path: Path, image: list[str]) -> Iterator[Member]:
        """The whole image's files when its last layer is there; nothing before.

        The layers are kept by a second name, which outlives a run that is broken off.
        """
        with self._lock:
            self._keep(path, self._kept(digest))
            layers = [self._kept(each) for each in image]
            if not all(layer.exists() for layer in layers):
                return
        under = self._address.under
        if under is None:
            under = MODELS if self._kind == "model" and self._has_models(layers) else ""
        yield from _below(merged(layers, self._text), under)

    def _kept(self, digest: str) -> Path:
        return self._layers / digest.replace(":", "-")

    def _keep(self, layer: Path, name: Path) -> None:
        name.parent.mkdir(parents=True, exist_ok=True)
        name.unlink(missing_ok=True)
        try:
            os.link(layer, name)
        except OSError:  # a filesystem without hard links
            shutil.copyfile(layer, name.with_suffix(".part"))
            os.replace(name.with_suffix(".part"), name)

    def _has_models(self, layers: list[Path]) -> bool:
        """Whether the image is one that carries a model in the usual place."""
        return any(
            member.path.startswith(f"{MODELS}/") for layer in layers for member in members(layer, self._text)
        )


def _below(found: Iterator[Member], under: str) -> Iterator[Member]:
    """The members in a folder, named from there."""
    if not under:
        yield from found
        return
    for member in found:
        inside = member.path.removeprefix(f"{under}/")
        if inside != member.path:
            yield Member(inside, member.reader, member.what)
