"""How a registry lets us in: by name and password, or by a token that another server gives for them.

A registry refuses the first request and says what it wants: Basic, or Bearer with the address of a token
server. Name and password come from REGISTRY_USERNAME and REGISTRY_PASSWORD, or from the file that
`docker login` and `podman login` write. They go to the token server the registry names, as every client
sends them there, but never unencrypted to another machine.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from ..hidden import Secrets, shown
from ..http_client import Http
from ..troubles import Expired, FetchError
from .addresses import is_private, place_of
from .oci_address import PLAIN_HTTP, OciAddress

_PARAMETER = re.compile(r'([a-zA-Z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))')
_TOKEN = re.compile(r"[\x21-\x7e]+")
_DOCKER_HUB_KEYS = ("https://index.docker.io/v1/", "index.docker.io", "docker.io", "registry-1.docker.io")


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a person's login left."""

    user: str = ""
    password: str = field(default="", repr=False)
    identity_token: str = field(default="", repr=False)

    @property
    def basic(self) -> str:
        """The value of an Authorization header."""
        pair = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        return f"Basic {pair}"


class RegistryAuth:
    """The Authorization header for one repository, and how to get another one."""

    def __init__(self, address: OciAddress, http: Http, secrets: Secrets) -> None:
        self._address = address
        self._http = http
        self._secrets = secrets
        self._header = ""
        self._challenge = ""

    def headers(self) -> dict[str, str]:
        """What to send with a request; nothing until the registry has asked."""
        return {"Authorization": self._header} if self._header else {}

    def remember(self, challenge: str) -> None:
        """Keep what the registry said it wants."""
        self._challenge = challenge or self._challenge

    def renew(self) -> None:
        """Get what the last challenge asks for; FetchError where we have nothing to show."""
        kind, _, rest = self._challenge.partition(" ")
        found = {name.lower(): quoted or bare for name, quoted, bare in _PARAMETER.findall(rest)}
        credentials = self._credentials()
        if kind.lower() == "bearer" and found.get("realm"):
            self._header = f"Bearer {self._token(found, credentials)}"
        elif kind.lower() == "basic" and credentials.user:
            self._check_encrypted(self._address.base)
            self._header = credentials.basic
        else:
            raise FetchError(self.refusal())
        self._secrets.hide(self._header.partition(" ")[2])

    def refusal(self) -> str:
        """That we were not let in, and what would help."""
        where = f"oci://{self._address.registry}/{self._address.repo}"
        return (
            f"{where}: the registry does not let us read it, check the name, and give REGISTRY_USERNAME and "
            "REGISTRY_PASSWORD, or a docker config.json by DOCKER_CONFIG or REGISTRY_AUTH_FILE"
        )

    def _token(self, wanted: Mapping[str, str], credentials: Credentials) -> str:
        realm = wanted["realm"]
        scope = wanted.get("scope") or f"repository:{self._address.repo}:pull"
        asked = {"service": wanted.get("service", ""), "scope": scope}
        if credentials.user or credentials.identity_token:
            self._check_encrypted(realm)
        try:
            if credentials.identity_token:
                form = asked | {"grant_type": "refresh_token", "client_id": "kfp-trainer"}
                body = urlencode(form | {"refresh_token": credentials.identity_token}).encode()
                kind = {"Content-Type": "application/x-www-form-urlencoded"}
                answer = self._http.request("POST", realm, headers=kind, body=body)
            else:
                headers = {"Authorization": credentials.basic} if credentials.user else {}
                join = "&" if "?" in realm else "?"
                answer = self._http.request("GET", f"{realm}{join}{urlencode(asked)}", headers=headers)
        except Expired:
            raise FetchError(self.refusal()) from None
        return self._read_token(answer.body, realm)

    def _read_token(self, body: bytes, realm: str) -> str:
        try:
            said: Any = json.loads(body)
        except (ValueError, RecursionError):
            said = None
        token = (said.get("token") or said.get("access_token")) if isinstance(said, dict) else None
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            raise FetchError(f"{shown(realm)}: the registry's token server gives no token, ask who runs it")
        return token

    def _check_encrypted(self, url: str) -> None:
        """Refuse to send a password over the wire where anybody could read it."""
        _, host = place_of(url)
        told = [each.strip() for each in (self._secrets.get(PLAIN_HTTP) or "").split(",")]
        if not is_private(url) and host not in told:
            raise FetchError(
                f"{shown(url)}: a password is not sent unencrypted, use https, or name {host} in {PLAIN_HTTP}"
            )

    def _credentials(self) -> Credentials:
        user, password = self._secrets.get("REGISTRY_USERNAME"), self._secrets.get("REGISTRY_PASSWORD")
        if user and password:
            found = Credentials(user, password)
        else:
            found = next((each for each in self._logins() if each is not None), Credentials())
        for secret in (found.password, found.identity_token, found.basic.partition(" ")[2]):
            self._secrets.hide(secret)
        return found

    def _logins(self) -> Iterator[Credentials | None]:
        for file in _login_files(self._secrets):
            yield read_login(file, self._address.registry, self._address.repo)


def read_login(file: Path, registry: str, repo: str) -> Credentials | None:
    """The login for a repository in a docker config.json; the longest name that fits wins."""
    try:
        auths = json.loads(file.read_text(encoding="utf-8")).get("auths") or {}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError, AttributeError):
        raise FetchError(f"{file}: is no docker config.json, write one by `docker login`") from None
    for name in _names(registry, repo):
        entry = auths.get(name)
        if isinstance(entry, dict) and (found := _login(entry)):
            return found
    return None


def _login_files(secrets: Secrets) -> Iterator[Path]:
    if given := secrets.get("REGISTRY_AUTH_FILE"):
        yield Path(given)
    if runtime := secrets.get("XDG_RUNTIME_DIR"):
        yield Path(runtime) / "containers/auth.json"
    home = Path(secrets.get("HOME") or "~").expanduser()
    yield Path(secrets.get("DOCKER_CONFIG") or home / ".docker").expanduser() / "config.json"


def _names(registry: str, repo: str) -> Iterator[str]:
    """The keys under which a login for the repository may stand, the most exact first."""
    parts = repo.split("/")
    for length in range(len(parts), 0, -1):
        yield "/".join((registry, *parts[:length]))
    yield from (registry, f"https://{registry}", f"https://{registry}/v1/", f"https://{registry}/v2/")
    if registry in _DOCKER_HUB_KEYS:
        yield from _DOCKER_HUB_KEYS


def _login(entry: Mapping[str, Any]) -> Credentials | None:
    if entry.get("identitytoken"):
        return Credentials(identity_token=str(entry["identitytoken"]))
    if entry.get("username") and entry.get("password"):
        return Credentials(str(entry["username"]), str(entry["password"]))
    try:
        user, found, password = base64.b64decode(str(entry.get("auth", ""))).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return Credentials(user, password.rstrip("\0")) if found and user else None
