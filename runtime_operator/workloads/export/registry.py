"""oci://REGISTRY/NAME:TAG: a model car in a registry; the tag moves when everything else is there.

A registry itself checks each blob against its digest when the upload ends. Blobs that it holds are not sent
again. When the index stands under the tag it is read back, and must be, byte for byte, what was sent.
"""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urljoin

from ...errors import Retryable, SpecError
from ..fetch.hidden import shown
from ..fetch.http_client import Http
from ..fetch.sources.addresses import is_private, place_of
from ..fetch.sources.oci_address import PLAIN_HTTP, parse_oci_address
from ..fetch.sources.oci_auth import RegistryAuth
from ..fetch.troubles import FetchError
from .bundle import Bundle
from .car import CONFIG, INDEX, MANIFEST, described, image_of
from .place import ExportError, Put, Target

STALL = 300.0
LOGIN = (
    "give REGISTRY_USERNAME and REGISTRY_PASSWORD of somebody who may push there, or a docker config.json by "
    "DOCKER_CONFIG or REGISTRY_AUTH_FILE"
)
MOST = 8 << 20


@dataclass(frozen=True, slots=True)
class Answer:
    """What a registry said."""

    status: int
    headers: Mapping[str, str]
    """by lower-case name"""
    body: bytes


def open_place(target: Target) -> Registry:
    """The repository of an address."""
    return Registry(target)


class Registry:
    """One name and tag of a registry."""

    def __init__(self, target: Target) -> None:
        self._address = parse_oci_address(target.uri, target.secrets)
        self._text, self._secrets = target.text, target.secrets
        if self._address.is_pinned or self._address.under is not None:
            raise SpecError(f"{self._text}: names no tag to push, give oci://REGISTRY/NAME:TAG")
        self._http = Http(target.secrets)
        self._auth = RegistryAuth(self._address, self._http, target.secrets)

    def check(self) -> None:
        """Begin an upload and give it up again."""
        where = self._begin()
        self._ask("DELETE", where, allowed=(202, 204, 404, 405))

    def put(self, bundle: Bundle) -> Put:
        """Push the blobs that are missing, then the manifests, then the tag."""
        image = image_of(bundle)
        sent = 0
        for layer in image.layers:
            digest, size = layer.facts
            sent += len(layer.files) * self._push(digest, size, layer)
        for config in image.configs:
            about = described(CONFIG, config)
            self._push(about["digest"], about["size"], [config])
        for manifest in image.manifests:
            self._push_manifest(described(MANIFEST, manifest)["digest"], MANIFEST, manifest)
        self._push_manifest(self._address.reference, INDEX, image.index)
        digest = described(INDEX, image.index)["digest"]
        self._prove(image.index)
        return Put(f"oci://{self._address.registry}/{self._address.repo}@{digest}", sent)

    def close(self) -> None:
        """Close the connections to the token server."""
        self._http.close()

    def _push(self, digest: str, size: int, body: Iterable[bytes]) -> bool:
        """Bring a blob there; False where it was there already."""
        blob = f"{self._address.base}/blobs/{digest}"
        if self._ask("HEAD", blob, allowed=(200, 404)).status == 200:
            return False
        where = self._begin()
        join = "&" if "?" in where else "?"
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
        self._ask("PUT", f"{where}{join}digest={digest}", headers=headers, body=body, allowed=(201,))
        return True

    def _push_manifest(self, reference: str, kind: str, body: bytes) -> None:
        headers = {"Content-Type": kind, "Content-Length": str(len(body))}
        url = f"{self._address.base}/manifests/{reference}"
        self._ask("PUT", url, headers=headers, body=[body], allowed=(201,))

    def _prove(self, index: bytes) -> None:
        url = f"{self._address.base}/manifests/{self._address.reference}"
        if self._ask("GET", url, headers={"Accept": INDEX}, allowed=(200,)).body != index:
            raise ExportError(f"{self._text}: the tag points to something else than was sent, push it again")

    def _begin(self) -> str:
        """Where a blob may be sent to."""
        url = f"{self._address.base}/blobs/uploads/"
        answer = self._ask("POST", url, headers={"Content-Length": "0"}, body=[], allowed=(202,))
        where = urljoin(url, answer.headers.get("location", ""))
        if place_of(where) != place_of(url) and not is_private(where):
            raise ExportError(
                f"{self._text}: the registry wants the model sent to {shown(where)} unencrypted, "
                f"use https, or name it in {PLAIN_HTTP}"
            )
        return where

    def _ask(
        self,
        method: str,
        url: str,
        *,
        allowed: tuple[int, ...],
        headers: Mapping[str, str] | None = None,
        body: Iterable[bytes] | None = None,
    ) -> Answer:
        """Ask, and once more with what the registry then wants to be shown."""
        answer = self._send(method, url, headers or {}, body)
        if answer.status == 401:
            self._auth.remember(answer.headers.get("www-authenticate", ""))
            try:
                self._auth.renew()
            except FetchError:
                raise ExportError(f"{self._text}: the registry does not let us in, {LOGIN}") from None
            answer = self._send(method, url, headers or {}, body)
        if answer.status in allowed:
            return answer
        if answer.status in (401, 403):
            raise ExportError(f"{self._text}: the registry does not let us write, {LOGIN}")
        if answer.status == 429 or answer.status >= 500:
            raise Retryable(f"{self._text}: the registry cannot serve now ({answer.status})", after=0)
        why = self._secrets.clean(answer.body[:200].decode("utf-8", "replace").strip())
        raise ExportError(f"{self._text}: the registry refuses {method} with {answer.status} {why}")

    def _send(
        self, method: str, url: str, headers: Mapping[str, str], body: Iterable[bytes] | None
    ) -> Answer:
        shows = self._auth.headers() if place_of(url) == place_of(self._address.base) else {}
        request = urllib.request.Request(url, body, {**headers, **shows}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=STALL) as got:
                return Answer(got.status, _lower(got.headers.items()), got.read(MOST))
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, _lower(error.headers.items()), error.read(MOST))
        except OSError as error:
            why = self._secrets.clean(str(getattr(error, "reason", error)))
            raise Retryable(f"{self._text}: no connection to the registry ({why})", after=0) from None


def _lower(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers}
