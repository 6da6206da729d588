"""The distribution project's registry, as a process, behind a server that may ask for bearer tokens.

The registry itself is real: it stores, checks digests and verifies tokens by the public key it was given.
In front of it stands a web server of ours, which forwards, remembers what was asked and can misbehave. A
second one gives out tokens, to those who show the right name and password or, for open repositories, to
anybody. A third is the blob store that a registry may redirect to; it refuses an Authorization header.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from .go_program import go_program
from .ports import free_port
from .web import OTHER_NAME, Answer, Asked, WebServer, forwarded, ranged

MODULE = Path(__file__).resolve().parent / "registry_program"
TOKEN_LIFE = 300
SERVICE, ISSUER, KEY = "the test registry", "the test issuer", "test"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
EMPTY = "application/vnd.oci.empty.v1+json"


class Registry:
    """A registry in a folder, for the length of a `with` block."""

    def __init__(self, folder: Path, *, user: str = "", password: str = "", cdn: bool = False) -> None:
        self.user, self.password = user, password
        self.redirect_blobs = cdn
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.web = WebServer(self._answer)
        self.tokens = WebServer(self._answer_of_tokens, name=OTHER_NAME)
        self.cdn = WebServer(self._answer_of_cdn, name=OTHER_NAME)
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def host(self) -> str:
        return self.web.host

    def __enter__(self) -> Registry:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._process = self._start()
        for each in (self.web, self.tokens, self.cdn):
            each.__enter__()
        self._wait()
        return self

    def __exit__(self, *error: object) -> None:
        for each in (self.cdn, self.tokens, self.web):
            each.__exit__(*error)
        if self._process:
            self._process.terminate()
            self._process.wait(30)

    def push_blob(self, repo: str, body: bytes) -> dict[str, Any]:
        """Store a blob and return its descriptor, without a media type."""
        digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
        begun = self._push("POST", f"/v2/{repo}/blobs/uploads/", b"", {})
        where = begun["Location"].partition(f":{self._port}")[2] or begun["Location"]
        join = "&" if "?" in where else "?"
        self._push("PUT", f"{where}{join}digest={digest}", body, {"Content-Type": "application/octet-stream"})
        return {"digest": digest, "size": len(body)}

    def push_manifest(self, repo: str, ref: str, manifest: dict[str, Any]) -> dict[str, Any]:
        """Store a manifest or an index under a tag and return its descriptor."""
        body = json.dumps(manifest).encode()
        digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
        media_type = manifest["mediaType"]
        self._push("PUT", f"/v2/{repo}/manifests/{ref or digest}", body, {"Content-Type": media_type})
        return {"mediaType": media_type, "digest": digest, "size": len(body)}

    def push(
        self,
        repo: str,
        ref: str,
        layers: list[tuple[str, bytes, dict[str, str]]],
        *,
        config_type: str = CONFIG,
        config: bytes = b"{}",
        **more: Any,
    ) -> dict[str, Any]:
        """Store an image or artifact: a layer is its media type, its bytes and its annotations."""
        described = [
            {"mediaType": kind, **self.push_blob(repo, body), "annotations": notes}
            for kind, body, notes in layers
        ]
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": {"mediaType": config_type, **self.push_blob(repo, config)},
            "layers": described,
            **more,
        }
        return self.push_manifest(repo, ref, manifest)

    def _start(self) -> subprocess.Popen[bytes]:
        program = go_program("registry", MODULE)
        config = self._folder / "config.json"
        config.write_text(json.dumps(self._config()), encoding="utf-8")
        with (self._folder / "registry.log").open("wb") as log:
            return subprocess.Popen([program, "serve", config], stdout=log, stderr=log)

    def _config(self) -> dict[str, Any]:
        config: dict[str, Any] = {
            "version": "0.1",
            "log": {"level": "warn"},
            "storage": {"filesystem": {"rootdirectory": str(self._folder / "blobs")}},
            "http": {"addr": f"127.0.0.1:{self._port}", "relativeurls": True, "secret": "of one test"},
        }
        if self.user:
            keys = self._folder / "keys.json"
            keys.write_text(json.dumps({"keys": [_public_jwk(self._key)]}), encoding="utf-8")
            config["auth"] = {
                "token": {
                    "realm": f"{self.tokens.url}/token",
                    "service": SERVICE,
                    "issuer": ISSUER,
                    "jwks": str(keys),
                    "signingalgorithms": ["ES256"],
                }
            }
        return config

    def _wait(self) -> None:
        """Until the registry answers; its process may end before, with the reason in its log."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self._port}/v2/", timeout=10).close()
                return
            except urllib.error.HTTPError as error:
                error.close()
                return
            except OSError:
                assert self._process
                if self._process.poll() is not None:
                    break
                time.sleep(0.1)
        raise RuntimeError((self._folder / "registry.log").read_text(encoding="utf-8")[-2000:])

    def _push(self, method: str, target: str, body: bytes, headers: dict[str, str]) -> dict[str, str]:
        repo = target.removeprefix("/v2/").partition("/blobs")[0].partition("/manifests")[0]
        headers = {**headers, "content-length": str(len(body))}
        if self.user:
            token = self._token([{"type": "repository", "name": repo, "actions": ["pull", "push"]}])
            headers["authorization"] = f"Bearer {token}"
        answer = forwarded(Asked(method, target, headers, body), f"http://127.0.0.1:{self._port}")
        if answer.status >= 400:
            raise RuntimeError(f"{method} {target}: {answer.status} {answer.body!r}")
        return answer.headers

    def _answer(self, asked: Asked) -> Answer:
        answer = forwarded(asked, f"http://127.0.0.1:{self._port}")
        if self.redirect_blobs and "/blobs/" in asked.path and answer.status in (200, 206):
            digest = asked.path.rpartition("/")[2]
            return Answer(307, {"Location": f"{self.cdn.url}/{digest}?signature=secret-of-the-address"})
        return answer

    def _answer_of_cdn(self, asked: Asked) -> Answer:
        if "authorization" in asked.headers:
            return Answer(400, {}, b"Only one auth mechanism allowed")
        digest = asked.path.rpartition(":")[2]
        folder = self._folder / "blobs/docker/registry/v2/blobs/sha256" / digest[:2] / digest
        return ranged(asked, folder / "data", {"ETag": f'"{digest}"'})

    def _answer_of_tokens(self, asked: Asked) -> Answer:
        wanted = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        given = asked.headers.get("authorization", "")
        kind, name, actions = asked.query.get("scope", "::").split(":")
        allowed = given == f"Basic {wanted}" or name.startswith("open/")
        if given and given != f"Basic {wanted}":
            return Answer(401, {}, b'{"errors":[{"code":"UNAUTHORIZED","message":"wrong password"}]}')
        granted = [{"type": kind, "name": name, "actions": actions.split(",")}] if allowed else []
        body = {"token": self._token(granted), "expires_in": TOKEN_LIFE}
        return Answer(200, {"Content-Type": "application/json"}, json.dumps(body).encode())

    def _token(self, access: list[dict[str, Any]]) -> str:
        now = int(time.time())
        claims = {
            "iss": ISSUER,
            "sub": self.user,
            "aud": SERVICE,
            "access": access,
            "jti": secrets.token_hex(8),
        }
        claims |= {"exp": now + TOKEN_LIFE, "nbf": now - 60, "iat": now - 60}
        head = {"typ": "JWT", "alg": "ES256", "kid": KEY}
        signed = f"{_encoded(json.dumps(head).encode())}.{_encoded(json.dumps(claims).encode())}"
        first, second = decode_dss_signature(self._key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{signed}.{_encoded(first.to_bytes(32, 'big') + second.to_bytes(32, 'big'))}"


def _public_jwk(key: ec.EllipticCurvePrivateKey) -> dict[str, str]:
    point = key.public_key().public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
    )
    x, y = _encoded(point[1:33]), _encoded(point[33:])
    return {"kty": "EC", "crv": "P-256", "kid": KEY, "alg": "ES256", "use": "sig", "x": x, "y": y}


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
